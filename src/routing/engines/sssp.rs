//! Single-source shortest paths, every destination avoiding the channels that earlier ones load.
//!
//! Guarantees: minimal, in order. Not deadlock-free in general; [`Dfsssp`](super::dfsssp::Dfsssp) is.
//! Needs: any connected fabric, 1 lane.
//! Fails with: [`RoutingError::Unreachable`].
//! Cost: time O(hosts * channels), one destination after the other because each changes the weights of the
//! next; memory one byte per (switch, host).
//!
//! # Algorithm
//! 1. Every channel between switches weighs `switches * hosts^2 + 1`, more than all load that can gather on one
//!    path, so that fewer hops always weigh less.
//! 2. Destinations in rounds: the first host of every switch, then the second, ...; switches by number of hosts,
//!    most first, then by id. Consecutive destinations thus lie apart.
//! 3. For each, a search from the destination (`weighted.rs`); every switch takes the channel it was reached
//!    over. A channel gains one per host whose path uses it.
//!
//! # Deviations
//! OpenSM's `sssp` routes its switches too, counts them as senders and takes all hosts of a switch in a row:
//! [`OpenSmSssp`](super::opensm::sssp::OpenSmSssp).
//!
//! References: [`SSSP`]

use crate::references::SSSP;
use crate::registry::{Arguments, Entry};
use crate::routing::balance::{
    Destination, destinations, require_all_reachable, require_nameable_ports,
};
use crate::routing::paths::links::{Links, NO_LINK};
use crate::routing::paths::weighted::WeightedSearch;
use crate::routing::{
    BuildEngine, Engine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables, UNREACHABLE,
};
use crate::topology::Graph;
use serde::Deserialize;

/// Balanced shortest paths; takes no parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sssp {}

const NAME: &str = "Sssp";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &[],
    summary: "shortest paths, balanced over the whole fabric",
    parameters: &[],
    guarantees: &["minimal", "in order", "not deadlock-free unless verified"],
    references: &[SSSP],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<Sssp>()?)),
};

impl RoutingEngine for Sssp {
    fn is_drawn(&self) -> bool {
        false
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        let next = balanced(graph).next;
        require_all_reachable(graph, &next)?;
        let guarantees = Guarantees {
            minimal: true,
            ..Guarantees::IN_ORDER
        };
        Ok(Tables::on_one_lane(graph, NAME, next, budget, guarantees))
    }
}

/// Forwarding tables, and what they were made from.
pub(super) struct Balanced {
    /// Links by switch id.
    pub(super) links: Links,
    /// Switches with hosts, in the order of step 2.
    pub(super) destinations: Vec<Destination>,
    /// Output port of `[switch][host]`.
    pub(super) next: Vec<u8>,
}

/// All steps.
pub(super) fn balanced(graph: &Graph) -> Balanced {
    let order: Vec<_> = graph.switch_ids().collect();
    let links = Links::new(graph, &order);
    let destinations = destinations(graph);
    let hosts = graph.hosts().len();
    let mut senders = vec![0; order.len()];
    for destination in &destinations {
        senders[destination.switch.index()] = destination.hosts.len() as u64;
    }
    let mut next = vec![UNREACHABLE; order.len() * hosts];
    let mut weights = vec![order.len() as u64 * (hosts as u64).pow(2) + 1; links.all.len()];
    let mut search = WeightedSearch::new(&links);
    let mut passing = vec![0; order.len()];
    let rounds = destinations.first().map_or(0, |most| most.hosts.len());
    for round in 0..rounds {
        for destination in &destinations {
            let Some(&(port, host)) = destination.hosts.get(round) else {
                continue;
            };
            let home = destination.switch.index();
            search.run(&links, &weights, home, true);
            passing.copy_from_slice(&senders);
            for &switch in search.order.iter().rev() {
                let switch = switch as usize;
                let exit = search.exit[switch];
                if exit == NO_LINK {
                    continue;
                }
                let link = links.all[exit as usize];
                next[switch * hosts + host.index()] = link.port as u8;
                weights[exit as usize] += passing[switch];
                passing[link.to as usize] += passing[switch];
            }
            next[home * hosts + host.index()] = port as u8;
        }
    }
    Balanced {
        links,
        destinations,
        next,
    }
}
