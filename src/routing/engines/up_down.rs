//! Routes any connected fabric along up*/down* paths that are legal by construction.
//!
//! Guarantees: deadlock-free on 1 lane, in order; also with parallel links and hosts on any switch. Not
//! minimal in general; minimal on fat trees.
//! Needs: a connected fabric, 1 lane.
//! Fails with: [`RoutingError::Unreachable`]; [`RoutingError::Unsupported`] for a root that does not exist.
//! Cost: time O(destination switches * channels + switches * hosts), for root `Auto` one search per switch
//! more; memory one byte per (switch, host) and two per (destination switch, switch).
//!
//! # Algorithm
//! 1. Rank = hops from the nearest root. A step is *up* when it lowers (rank, id), otherwise *down*: upward
//!    steps follow a total order of the switches, so no cycle consists of upward (or downward) steps only.
//! 2. For a destination switch, `D(s)` = shortest way of downward steps only.
//! 3. Where `D` is finite, candidates are the downward neighbours with `D = D(s) - 1`.
//! 4. Elsewhere `T(s) = 1 + min T(w)` over the upward neighbours `w` (with `T = D` where `D` is finite),
//!    in ascending (rank, id) order; candidates are the upward neighbours that reach the minimum.
//! 5. Among the candidates the least assigned port (see `balance.rs`), the lowest on ties.
//!
//! A packet that has gone down once is at a switch with finite `D`, hence never goes up again: a table that
//! depends on the destination only needs no memory of the phase. OpenSM's own `updn` keeps one phase per
//! switch while it searches and may produce forbidden turns; this one cannot.
//!
//! Root `Auto` compares two choices and takes the one with fewer hops in total over all pairs of hosts, the
//! first on ties: (a) all switches that are farthest from any host (all top switches of a tree, so that all
//! are used), if that leaves a legal path for every pair; (b) the one switch with the smallest sum of
//! distances to all hosts, then least eccentricity, highest degree, lowest id.
//!
//! References: [`AUTONET`]

use super::root::{Root, candidates};
use crate::ids::SwitchId;
use crate::references::AUTONET;
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::balance::{
    Destination, destinations, require_all_reachable, require_nameable_ports, spread,
};
use crate::routing::paths::{Adjacency, UNREACHED};
use crate::routing::{BuildEngine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::Graph;
use rayon::prelude::*;
use serde::Deserialize;

/// Up*/down* routing from one or several roots.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UpDown {
    root: Root,
}

pub(super) const NAME: &str = "UpDown";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["UPDN", "updn"],
    summary: "up*/down* paths, legal by construction, on any connected fabric",
    parameters: &[Parameter {
        name: "root",
        kind: "Auto, switch name, switch number or a list of them",
        default: Some("Auto"),
        summary: "where ranks are counted from",
    }],
    guarantees: &["deadlock-free on 1 lane", "in order"],
    references: &[AUTONET],
    build: |arguments: Arguments<'_>| Ok(Box::new(arguments.parse::<UpDown>()?)),
};

impl RoutingEngine for UpDown {
    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        let adjacency = Adjacency::new(graph);
        let destinations = destinations(graph);
        let legal = candidates(&self.root, graph, &adjacency, &destinations)?
            .into_iter()
            .map(|roots| Legal::new(&adjacency, &roots, &destinations))
            .min_by_key(|legal| legal.total_hops(&destinations));
        let Some(legal) = legal else {
            return Err(RoutingError::Unsupported {
                engine: NAME,
                reason: "the list of roots is empty; name one or use `root: Auto`".into(),
            });
        };
        let next = spread(graph, &adjacency, &destinations, |i, switch, neighbor| {
            legal.leads_on(i, switch, neighbor)
        });
        require_all_reachable(graph, &next)?;
        let guarantees = Guarantees {
            minimal: false,
            deadlock_free: true,
            in_order: true,
            lanes_needed: 1,
        };
        Ok(Tables::on_one_lane(graph, NAME, next, budget, guarantees))
    }
}

/// Set in a label when the way begins with an upward step.
const UP: u16 = 1 << 15;

/// The legal ways from every switch to every destination switch.
struct Legal {
    /// Place of a switch in ascending (rank, id) order.
    place: Vec<u32>,
    /// `[destination][switch]`: hops left, with [`UP`] where `D` is infinite; [`UNREACHED`] = no way.
    labels: Vec<Vec<u16>>,
}

impl Legal {
    fn new(adjacency: &Adjacency, roots: &[SwitchId], destinations: &[Destination]) -> Self {
        let rank = adjacency.distances(roots);
        let mut order: Vec<usize> = (0..adjacency.len()).collect();
        order.sort_by_key(|&switch| (rank[switch], switch));
        let mut place = vec![0; order.len()];
        for (i, &switch) in order.iter().enumerate() {
            place[switch] = i as u32;
        }
        let labels = destinations
            .par_iter()
            .map(|destination| labels(adjacency, &order, &place, destination.switch))
            .collect();
        Self { place, labels }
    }

    /// Steps 3 and 4: whether `neighbor` is a candidate at `switch`.
    fn leads_on(&self, destination: usize, switch: usize, neighbor: usize) -> bool {
        let [here, there] = [switch, neighbor].map(|s| self.labels[destination][s]);
        let up = self.place[neighbor] < self.place[switch];
        let same_class = here != UNREACHED && there != UNREACHED && up == (here & UP != 0);
        // going down, the neighbour must be able to go down itself
        same_class && (up || there & UP == 0) && (there & !UP) + 1 == here & !UP
    }

    /// Hops over all ordered pairs of hosts, `u64::MAX` when a pair has no legal path.
    fn total_hops(&self, destinations: &[Destination]) -> u64 {
        let mut total = 0;
        for (to, label) in destinations.iter().zip(&self.labels) {
            for from in destinations {
                let label = label[from.switch.index()];
                if label == UNREACHED {
                    return u64::MAX;
                }
                let pairs = (from.hosts.len() * to.hosts.len()) as u64;
                total += pairs * u64::from(label & !UP);
            }
        }
        total
    }
}

/// Steps 2 and 4 for one destination switch.
fn labels(
    adjacency: &Adjacency,
    order: &[usize],
    place: &[u32],
    destination: SwitchId,
) -> Vec<u16> {
    // against the direction of travel: from the destination a downward step is climbed
    let mut label = adjacency.search(&[destination], |from, to| place[to] < place[from]);
    for &switch in order {
        if label[switch] != UNREACHED {
            continue;
        }
        let upward = adjacency.exits(switch).iter().filter_map(|exit| {
            let neighbor = exit.neighbor as usize;
            let usable = place[neighbor] < place[switch] && label[neighbor] != UNREACHED;
            usable.then_some(label[neighbor] & !UP)
        });
        if let Some(least) = upward.min() {
            label[switch] = (least + 1) | UP;
        }
    }
    label
}
