//! Service levels and lanes of imported tables.

use super::{Import, NAME, Owners, Strangers, at};
use crate::ids::HostId;
use crate::routing::dump::{read_path_sl, read_sl2vl};
use crate::routing::engines::table_lanes::lane_map;
use crate::routing::identities::EndPort;
use crate::routing::{LaneBudget, LaneMap, RoutingError, UNREACHABLE};

impl Import<'_> {
    /// Step 3: `[switch][host]`.
    pub(super) fn path_layers(
        &self,
        file: &str,
        owners: &Owners,
        next: &[u8],
    ) -> Result<Vec<u8>, RoutingError> {
        let hosts = self.graph.hosts().len();
        let size = self.graph.switches().len() * hosts;
        let mut layers: Vec<Option<(u8, usize)>> = vec![None; size];
        for path in self.read(file, read_path_sl)? {
            let host = |lid: u32| {
                let owner = owners
                    .get(&lid)
                    .ok_or_else(|| at(file, path.line, self.ownerless(lid)))?;
                Ok(match *owner {
                    EndPort::Host(host) => Some(host),
                    EndPort::Switch(_) => None,
                })
            };
            let (source, destination) = (host(path.source)?, host(path.destination)?);
            let (Some(source), Some(destination)) = (source, destination) else {
                continue;
            };
            let Some((switch, _)) = self.graph.attachment(source) else {
                continue;
            };
            let known = &mut layers[switch.index() * hosts + destination.index()];
            match *known {
                Some((level, line)) if level != path.level => {
                    return Err(at(file, path.line, self.conflict(source, level, line)));
                }
                _ => *known = Some((path.level, path.line)),
            }
        }
        self.require_listed(file, &layers, next)?;
        Ok(layers
            .into_iter()
            .map(|layer| layer.map_or(0, |(level, _)| level))
            .collect())
    }

    /// Checks that every path between different hosts has a level.
    fn require_listed(
        &self,
        file: &str,
        layers: &[Option<(u8, usize)>],
        next: &[u8],
    ) -> Result<(), RoutingError> {
        let graph = self.graph;
        let (mut missing, mut first) = (0, None);
        for switch in graph.switch_ids() {
            for destination in graph.host_ids() {
                let entry = switch.index() * graph.hosts().len() + destination.index();
                if layers[entry].is_some() || next[entry] == UNREACHABLE {
                    continue;
                }
                let sources = graph.attached_hosts(switch).map(|(_, host)| host);
                for source in sources.filter(|&source| source != destination) {
                    first.get_or_insert((source, destination));
                    missing += 1;
                }
            }
        }
        let Some(pair) = first else {
            return Ok(());
        };
        let ends = [pair.0, pair.1].map(|host| {
            let (name, lid) = (
                self.name(EndPort::Host(host)),
                self.identities.lid(EndPort::Host(host)),
            );
            format!("{name} (LID {lid})")
        });
        let [from, to] = ends;
        let reason = format!(
            "{missing} paths have no service level, the first from {from} to {to}; expected a line for every pair of hosts"
        );
        Err(at(file, 0, reason))
    }

    fn conflict(&self, source: HostId, level: u8, line: usize) -> String {
        let name = self.name(EndPort::Host(source));
        format!(
            "another host on the switch of {name} has service level {level} to the same destination (line \
             {line}); all hosts of a switch must have the same"
        )
    }

    /// Step 4.
    pub(super) fn lanes(
        &self,
        file: Option<&str>,
        budget: LaneBudget,
        layers: u8,
    ) -> Result<LaneMap, RoutingError> {
        let Some(file) = file else {
            budget.require(NAME, layers)?;
            let lane = |_, layer| layer;
            return Ok(LaneMap::grouped(self.graph, budget, layers, layers, lane));
        };
        let nodes = self.read(file, read_sl2vl)?;
        let mut found = Vec::with_capacity(nodes.len());
        let mut strangers = Strangers::default();
        for node in nodes {
            match self.find(Some(node.guid), node.name.as_deref()) {
                Some(end) => found.push((end, node)),
                None => strangers.add(node.line, node.guid),
            }
        }
        strangers.tell(file);
        lane_map(self.graph, &found, budget, layers)
            .map_err(|error| at(file, error.line, error.reason))
    }
}
