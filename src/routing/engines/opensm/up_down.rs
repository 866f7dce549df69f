//! OpenSM's `updn`, as it is: its paths may turn from down to up, so that it is not free of deadlock.
//!
//! Guarantees: in order; equal to OpenSM's tables entry by entry. Neither minimal nor deadlock-free: where
//! switches of one rank are linked its search mixes phases (use `UpDown`, which cannot).
//! Needs: any connected fabric, 1 lane.
//! Fails with: [`RoutingError::Unreachable`]; [`RoutingError::Unsupported`] for a root that does not exist, or
//! none found.
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
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::engines::root::{Root, named};
use crate::routing::paths::UNREACHED;
use crate::routing::{BuildEngine, Engine, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::Graph;
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use serde::Deserialize;
use std::collections::VecDeque;

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
    aliases: &[],
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
    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        route_on_one_lane(graph, NAME, budget, false, |subnet| {
            let roots = self.roots(graph, subnet)?;
            Ok(tables(subnet, &roots, false))
        })
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
