//! Spreads destinations over equally good ports: by load, or as OpenSM does by counters local to each switch.
//!
//! Cost: time O(switches * (hosts + destination switches * ports)), parallel over switches; the result
//! does not depend on the number of threads, because every switch counts for itself.
//!
//! # Algorithm
//! (of the local counters; for the other see `by_load.rs`)
//! 1. Destination switches are taken by number of attached hosts, most first, ties in id order; the hosts
//!    of one in port order.
//! 2. A host attached to the switch itself is reached through its port, which is not counted.
//! 3. For any other host the candidate port with the fewest hosts so far is taken, the lowest on ties.
//!
//! References: OpenSM `osm_switch.c` and `osm_ucast_mgr.c`

pub(super) mod by_load;
mod destination;

use super::paths::Adjacency;
use super::paths::steps::Steps;
use super::{RoutingError, UNREACHABLE};
use crate::registry::Parameter;
use crate::topology::Graph;
pub(super) use destination::Destination;

use by_load::Spreading;
use rayon::prelude::*;
use serde::Deserialize;
use std::cmp::Reverse;

/// How an engine chooses among equally good ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum Balance {
    /// `Load` up to [`PATIENCE`] table entries, then `Ports`.
    #[default]
    Auto,
    /// Least load on the whole way.
    Load,
    /// Fewest hosts assigned to the port, counted at each switch alone.
    Ports,
}

/// Table entries (switches * hosts) up to which `Auto` balances the load: some seconds on one core.
const PATIENCE: usize = 1 << 24;

impl Balance {
    /// The parameter that names it.
    pub(super) const PARAMETER: Parameter = Parameter {
        name: "balance",
        kind: "Auto, Load or Ports",
        default: Some("Auto"),
        summary: "choice among equal ways: least load on the way, or OpenSM's counters of each switch; \
                  Auto: Load up to 2^24 switches times hosts",
    };

    /// The parameter that goes with [`Balance::Load`].
    pub(super) const PASSES: Parameter = Parameter {
        name: "passes",
        kind: "integer >= 1",
        default: Some("1"),
        summary: "times every destination chooses its ways again (path balancing, not with `balance: Ports`)",
    };

    /// Whether loads are balanced, in this fabric.
    fn is_by_load(self, graph: &Graph) -> bool {
        let entries = graph.switches().len() * graph.hosts().len();
        self == Self::Load || self == Self::Auto && entries <= PATIENCE
    }

    /// Times that every destination chooses its ways in this fabric, of so many that are asked for.
    pub(super) fn passes(self, graph: &Graph, asked: u8) -> u8 {
        if self.is_by_load(graph) { asked } else { 1 }
    }

    /// Forwarding tables `[switch][host]`; `hops(i)` are the hops left from every switch to the `i`-th
    /// destination switch, `candidate(i, switch, neighbor)` tells whether the way there may lead over
    /// `neighbor`, which must be one hop nearer.
    pub(super) fn spread<'h>(
        self,
        graph: &Graph,
        adjacency: &Adjacency,
        destinations: &[Destination],
        hops: impl Fn(usize) -> &'h [u16] + Sync,
        candidate: impl Fn(usize, usize, usize) -> bool + Sync,
        passes: u8,
    ) -> Vec<u8> {
        if !self.is_by_load(graph) {
            return spread(graph, adjacency, destinations, candidate);
        }
        let steps = Steps::by_destination(graph, |_| true);
        let spreading = Spreading {
            passes,
            by_switch: false,
        };
        by_load::spread(graph, &steps, destinations, hops, candidate, spreading)
    }
}

/// The destination switches in the order of step 1.
pub(super) fn destinations(graph: &Graph) -> Vec<Destination> {
    let mut destinations: Vec<Destination> = graph
        .switch_ids()
        .map(|switch| Destination {
            switch,
            hosts: graph.attached_hosts(switch).collect(),
        })
        .filter(|destination| !destination.hosts.is_empty())
        .collect();
    destinations.sort_by_key(|destination| Reverse(destination.hosts.len()));
    destinations
}

/// Switches that are done together: what is known of one destination is then read from the cache for all of them.
const TILE: usize = 256;

/// Forwarding tables `[switch][host]`; `candidate(i, switch, neighbor)` tells whether the way from `switch`
/// to the `i`-th destination switch may lead over `neighbor`.
pub(super) fn spread(
    graph: &Graph,
    adjacency: &Adjacency,
    destinations: &[Destination],
    candidate: impl Fn(usize, usize, usize) -> bool + Sync,
) -> Vec<u8> {
    let host_count = graph.hosts().len().max(1);
    let mut next = vec![UNREACHABLE; adjacency.len() * graph.hosts().len()];
    let tiles = next.par_chunks_mut(TILE * host_count).enumerate();
    tiles.for_each(|(tile, rows)| {
        let first = tile * TILE;
        let mut counters: Vec<Counters> = (first..)
            .take(rows.len() / host_count)
            .map(|switch| Counters::new(graph.switches()[switch].port_count))
            .collect();
        let mut candidates = Vec::new();
        for (i, destination) in destinations.iter().enumerate() {
            for (offset, row) in rows.chunks_mut(host_count).enumerate() {
                let switch = first + offset;
                if destination.switch.index() == switch {
                    for &(port, host) in &destination.hosts {
                        row[host.index()] = port as u8;
                    }
                    continue;
                }
                let exits = adjacency.exits(switch).iter();
                candidates.clear();
                candidates.extend(
                    exits
                        .filter(|exit| candidate(i, switch, exit.neighbor as usize))
                        .map(|exit| exit.port),
                );
                for (_, host) in &destination.hosts {
                    if let Some(port) = counters[offset].assign(&candidates) {
                        row[host.index()] = port as u8;
                    }
                }
            }
        }
    });
    next
}

/// Destinations that each port of a switch leads to.
struct Counters(Vec<u32>);

impl Counters {
    fn new(ports: u16) -> Self {
        Self(vec![0; usize::from(ports) + 1])
    }

    /// Counts one more destination at the least assigned candidate, the first of them on ties.
    fn assign(&mut self, candidates: &[u16]) -> Option<u16> {
        let least = candidates
            .iter()
            .min_by_key(|&&port| self.0[usize::from(port)]);
        let port = *least?;
        self.0[usize::from(port)] += 1;
        Some(port)
    }
}

/// Checks that every switch with hosts has a way to every host.
///
/// # Errors
/// [`RoutingError::Unreachable`] with the first pair in id order.
pub(super) fn require_all_reachable(graph: &Graph, next: &[u8]) -> Result<(), RoutingError> {
    let rows = next.chunks(graph.hosts().len().max(1));
    for (switch, row) in graph.switch_ids().zip(rows) {
        let missing = row.iter().position(|&port| port == UNREACHABLE);
        if let Some(host) = missing
            && graph.attached_hosts(switch).next().is_some()
        {
            return Err(RoutingError::Unreachable {
                from: graph.switches()[switch.index()].name.clone(),
                to: graph.hosts()[host].name.clone(),
            });
        }
    }
    Ok(())
}

/// Checks that forwarding tables can name every port.
///
/// # Errors
/// [`RoutingError::Unsupported`] for a switch with more than 254 ports.
pub(super) fn require_nameable_ports(
    graph: &Graph,
    engine: &'static str,
) -> Result<(), RoutingError> {
    let largest = graph.switches().iter().max_by_key(|node| node.port_count);
    match largest {
        Some(node) if node.port_count >= u16::from(UNREACHABLE) => Err(RoutingError::Unsupported {
            engine,
            reason: format!(
                "{} has {} ports, a forwarding table can name 254",
                node.name, node.port_count
            ),
        }),
        _ => Ok(()),
    }
}
