//! OpenSM's `updn`, as it is: its paths may turn from down to up, so that it is not free of deadlock.
//!
//! Guarantees: in order; equal to OpenSM's tables entry by entry. Neither minimal nor deadlock-free: where
//! switches of one rank are linked its search mixes phases (use `UpDown`, which cannot).
//! Needs: any connected fabric, 1 lane.
//! Fails with: [`RoutingError::Unreachable`]; [`RoutingError::Unsupported`] for a root that does not exist, none
//! found, or roots that leave a pair without a way.
//! Cost: time O(switches * channels) and more where switches are queued again; memory one bit per (switch,
//! link).
//!
//! # Algorithm
//! 1. Roots are given, or found: a switch is a root when its histogram of hops to hosts has exactly one bar
//!    above 90 % of all hosts and exactly one above 5 %.
//! 2. Rank = hops to the nearest root. A step is *up* between roots, to a smaller rank, or to a smaller GUID
//!    of equal rank.
//! 3. For every destination a queue starts with its switch, direction up. Of a switch `u` taken out, each link
//!    to a switch `w` is looked at, unless `u` was reached downward and the step to `w` is up. When
//!    `least(u) + 1` is below the hops stored for `w`'s port of that link they are stored, and `w` is queued
//!    with the direction of the step unless it is in the queue.
//! 4. Candidates are the ports with the fewest hops; among them the path counts decide (`counting.rs`).
//!
//! # Deviations
//! None for one LID per port and the options' defaults.
//!
//! References: OpenSM `osm_ucast_updn.c`

use super::counting::count_paths;
use super::subnet::{LidTables, Subnet, route_on_one_lane};
use crate::ids::SwitchId;
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::balance::require_nameable_ports;
use crate::routing::engines::root::{Root, named};
use crate::routing::paths::UNREACHED;
use crate::routing::{
    BuildEngine, Engine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables,
};
use crate::topology::Graph;
use crate::topology::survey::switch_distances;
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use serde::Deserialize;
use std::collections::VecDeque;
use std::path::Path;

/// OpenSM's `updn`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpenSmUpDown {
    root: Root,
}

const NAME: &str = "OpenSmUpDown";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["updn"],
    summary: "the tables of OpenSM's updn, entry by entry, unsafe turns included",
    parameters: &[Parameter {
        name: "root",
        kind: "Auto, switch name, switch number or a list of them",
        default: Some("Auto"),
        summary: "where ranks are counted from; Auto is OpenSM's histogram of hops",
    }],
    guarantees: &["in order", "not deadlock-free unless verified"],
    references: &[],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<OpenSmUpDown>()?)),
};

impl RoutingEngine for OpenSmUpDown {
    fn is_drawn(&self) -> bool {
        false
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        let mut names = Vec::new();
        let routed = route_on_one_lane(graph, NAME, budget, false, |subnet| {
            let roots = self.roots(graph, subnet)?;
            let name = |&place: &usize| {
                graph.switches()[subnet.switches[place].index()]
                    .name
                    .clone()
            };
            names = roots.iter().map(name).collect();
            Ok(tables(subnet, &roots, false))
        });
        match routed {
            Err(RoutingError::Unreachable { from, to }) if is_connected(graph) => {
                Err(RoutingError::unsupported(NAME, blame(&names, &from, &to)))
            }
            routed => routed,
        }
    }

    /// As OpenSM leaves it: also pairs of one part may have no way, with roots that leave none.
    fn route_reachable(
        &self,
        graph: &Graph,
        budget: LaneBudget,
        _seed: u64,
        _base: &Path,
    ) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        let subnet = Subnet::new(graph);
        let roots = self.roots(graph, &subnet)?;
        let next = tables(&subnet, &roots, false).host_tables(&subnet);
        let guarantees = Guarantees::IN_ORDER;
        Ok(Tables::on_one_lane(graph, NAME, next, budget, guarantees))
    }

    fn management(&self, graph: &Graph, _base: &Path) -> Option<Vec<u8>> {
        let subnet = Subnet::new(graph);
        let roots = self.roots(graph, &subnet).ok()?;
        tables(&subnet, &roots, true).switch_tables(&subnet)
    }
}

impl OpenSmUpDown {
    /// Step 1: the places of the roots.
    fn roots(&self, graph: &Graph, subnet: &Subnet) -> Result<Vec<usize>, RoutingError> {
        let roots = match named(&self.root, graph, NAME)? {
            Some(switches) => {
                let is_root = |place: &usize| switches.contains(&subnet.switches[*place]);
                (0..subnet.len()).filter(is_root).collect()
            }
            None => found_roots(subnet),
        };
        if roots.is_empty() {
            let reason = "no root switch was found; name one, such as `root: 0`, or use `UpDown()`";
            return Err(RoutingError::unsupported(NAME, reason));
        }
        Ok(roots)
    }
}

/// Step 1 without names.
pub(super) fn found_roots(subnet: &Subnet) -> Vec<usize> {
    let is_root = |&place: &usize| {
        let mut histogram = vec![0usize; subnet.len() + 1];
        for (hops, hosts) in subnet.links.distances(place).iter().zip(&subnet.hosts) {
            if *hops != UNREACHED {
                histogram[usize::from(*hops)] += hosts.len();
            }
        }
        let bars = |percent: usize| {
            let above = |count: &&usize| **count * 100 > subnet.host_count * percent;
            histogram.iter().filter(above).count()
        };
        bars(90) == 1 && bars(5) == 1
    };
    (0..subnet.len()).into_par_iter().filter(is_root).collect()
}

/// Whether every switch can reach every other, by whatever way.
fn is_connected(graph: &Graph) -> bool {
    let distances = switch_distances(graph, SwitchId(0));
    distances.iter().all(Option::is_some)
}

/// Why two hosts of a connected fabric have no way up and then down.
fn blame(roots: &[String], from: &str, to: &str) -> String {
    let named: Vec<String> = roots
        .iter()
        .take(4)
        .map(|root| format!("`{root}`"))
        .collect();
    let more = roots.len().saturating_sub(named.len());
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!(
        "with the roots {}{more} no way from {from} to {to} goes up and then down: choose other roots, use `UpDown()`, or leave \
         such pairs out with `allow_unreachable: true`",
        named.join(", ")
    )
}

/// The tables, with management ports as destinations when `switches` is true.
pub(super) fn tables(subnet: &Subnet, roots: &[usize], switches: bool) -> LidTables {
    let rank = ranks(subnet, roots);
    let least: Vec<FixedBitSet> = (0..subnet.len())
        .into_par_iter()
        .map(|place| {
            if switches || !subnet.hosts[place].is_empty() {
                search(subnet, &rank, place)
            } else {
                FixedBitSet::new()
            }
        })
        .collect();
    count_paths(subnet, switches, |destination, place, ports| {
        let range = subnet.links.range(place);
        let fewest = range.filter(|&link| least[destination].contains(link));
        ports.extend(fewest.map(|link| subnet.links.all[link].port as u8));
    })
}

/// Step 2.
fn ranks(subnet: &Subnet, roots: &[usize]) -> Vec<u16> {
    let mut rank = vec![UNREACHED; subnet.len()];
    for &root in roots {
        rank[root] = 0;
    }
    let mut queue = VecDeque::from(roots.to_vec());
    while let Some(from) = queue.pop_front() {
        for link in subnet.links.of(from) {
            let to = link.to as usize;
            if rank[to] == UNREACHED {
                rank[to] = rank[from] + 1;
                queue.push_back(to);
            }
        }
    }
    rank
}

/// Step 3: the links with the fewest hops to `destination`.
fn search(subnet: &Subnet, rank: &[u16], destination: usize) -> FixedBitSet {
    let guid = |place: usize| subnet.identities.switch_guids[subnet.switches[place].index()];
    let is_up = |from: usize, to: usize| match (rank[from], rank[to]) {
        (0, 0) => true,
        (here, there) if here != there => there < here,
        _ => guid(to) < guid(from),
    };
    let links = &subnet.links;
    let mut hops = vec![UNREACHED; links.all.len()];
    let mut least = vec![UNREACHED; subnet.len()];
    least[destination] = 0;
    let mut goes_up = vec![false; subnet.len()];
    goes_up[destination] = true;
    let mut queued = vec![false; subnet.len()];
    let mut queue = VecDeque::from([destination]);
    while let Some(u) = queue.pop_front() {
        queued[u] = false;
        for link in links.of(u) {
            let w = link.to as usize;
            let up = is_up(u, w);
            let back = link.reverse as usize;
            if (!goes_up[u] && up) || least[u] + 1 >= hops[back] {
                continue;
            }
            hops[back] = least[u] + 1;
            least[w] = least[w].min(hops[back]);
            if !queued[w] {
                queued[w] = true;
                goes_up[w] = up;
                queue.push_back(w);
            }
        }
    }
    let mut fewest = FixedBitSet::with_capacity(links.all.len());
    for (number, link) in links.all.iter().enumerate() {
        let here = least[link.from as usize];
        fewest.set(number, here != UNREACHED && hops[number] == here);
    }
    fewest
}

#[cfg(test)]
mod tests {
    use crate::ids::{HostId, SlId};
    use crate::routing::tests::conformance::{engine, options};
    use crate::routing::{LaneBudget, VerifyOptions, verify};
    use crate::topology::tests::{built, context};
    use std::path::Path;

    #[test]
    fn roots_that_leave_no_way_are_blamed() {
        let line = built(
            "EdgeList(hosts_per_switch: 1, links: [(0, 1), (1, 2)])",
            &context(),
        );
        let budget = LaneBudget {
            lanes: 1,
            service_levels: 1,
        };
        let route = |text: &str| engine(text).route(&line, budget, 1);
        assert!(route("OpenSmUpDown(root: 1)").is_ok());
        assert_eq!(
            route("OpenSmUpDown(root: [0, 2])").unwrap_err().to_string(),
            "OpenSmUpDown cannot route this fabric: with the roots `S0`, `S2` no way from S0 to H2 goes up and then \
             down: choose other roots, use `UpDown()`, or leave such pairs out with `allow_unreachable: true`"
        );
        let open =
            engine("OpenSmUpDown(root: [0, 2])").route_reachable(&line, budget, 1, Path::new(""));
        let options = VerifyOptions {
            allow_unreachable: true,
            service_levels: &[SlId(0)],
            ..options(1)
        };
        let proof = verify(&line, &open.unwrap(), &options).unwrap();
        let pairs = [(2, 0), (0, 2)].map(|(a, b)| (HostId(a), HostId(b)));
        assert_eq!(
            (proof.reachable_pairs, proof.unreachable),
            (4, pairs.to_vec())
        );
    }
}
