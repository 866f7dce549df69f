//! What waits for what where hosts hold packets back whose answers would have no room (D57 of the model).
//!
//! Hosts that always consume are in no circle of waits. With a bounded queue of answers a packet that came over the last
//! lane of its way waits for answers, which wait for the first lane of theirs: message-dependent deadlock (Dally and Towles,
//! chapter 14). So the channels of hosts are vertices, and what is followed are the packets there are, not all pairs.
//!
//! Cost: O(hops) per pair of hosts and service level; memory that of the [`DependencyGraph`], with rows for the channels from
//! hosts.
//!
//! References: [`DALLY_TOWLES`](crate::references::DALLY_TOWLES)

use super::dependency_graph::DependencyGraph;
use super::own_routes::OwnRoute;
use crate::ids::{ChannelId, HostId, SlId, VlId};
use crate::routing::Tables;
use crate::topology::Graph;

/// The dependencies of packets that forwarding tables lead, those of hosts included.
pub struct HostDependencies<'a> {
    graph: &'a Graph,
    tables: &'a Tables,
    /// All lanes of a channel are one.
    is_merged: bool,
    dependencies: DependencyGraph<'a>,
}

impl<'a> HostDependencies<'a> {
    /// No packets yet; `pool_shared`: a full pool blocks all lanes of a channel.
    pub fn new(graph: &'a Graph, tables: &'a Tables, lanes: u8, pool_shared: bool) -> Self {
        let is_merged = pool_shared || lanes == 1;
        let lanes = if is_merged { 1 } else { lanes };
        Self {
            graph,
            tables,
            is_merged,
            dependencies: DependencyGraph::with_hosts(graph, lanes),
        }
    }

    /// There are packets of a service level from one host to another; returns their first and their last lane, nothing when
    /// there is no way.
    pub fn follow(&self, [from, to]: [HostId; 2], level: SlId) -> Option<[VlId; 2]> {
        let mut path = self.tables.path(self.graph, from, to, level)?;
        if self.is_merged {
            for (_, lane) in &mut path {
                *lane = VlId(0);
            }
        }
        self.add(&path)
    }

    /// The same over a route of their own.
    pub fn follow_route(&self, route: &OwnRoute<'_>) -> Option<[VlId; 2]> {
        let path: Vec<_> = route.lanes(self.tables, self.is_merged).collect();
        self.add(&path)
    }

    fn add(&self, path: &[(ChannelId, VlId)]) -> Option<[VlId; 2]> {
        for hop in path.windows(2) {
            let [(before, lane), (next, next_lane)] = [hop[0], hop[1]];
            self.dependencies.add(before, lane, next, next_lane);
        }
        Some([path.first()?.1, path.last()?.1])
    }

    /// Packets that come to hosts by a lane wait for packets that leave them by a lane: (host, lane in, lane out).
    pub fn hold(&mut self, waits: impl Iterator<Item = (HostId, VlId, VlId)>) {
        let pairs = waits.map(|(host, lane, answers)| {
            let out = self.graph.host_channel(host);
            let vertex = |channel, lane| self.dependencies.vertex(channel, lane) as u32;
            (vertex(out.reverse(), lane), vertex(out, answers))
        });
        let pairs = pairs.collect();
        self.dependencies.add_indirect(pairs);
    }

    /// Number of dependencies.
    pub fn count(&self) -> u64 {
        self.dependencies.dependencies()
    }

    /// A short cycle, when there is one.
    pub fn find_cycle(&self) -> Option<Vec<(ChannelId, VlId)>> {
        self.dependencies.find_cycle()
    }
}
