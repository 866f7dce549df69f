//! OpenSM's `sssp`: weighted shortest paths, every destination avoiding the links of those before it.
//!
//! Guarantees: in order; equal to OpenSM's tables entry by entry. Not deadlock-free in general. Minimal in
//! practice, but not promised: the load of a path of many hops may exceed the weight of a channel.
//! Needs: any connected fabric, 1 lane.
//! Fails with: [`RoutingError::Unreachable`].
//! Cost: time O(hosts * channels); memory one byte per (switch, host).
//!
//! # Algorithm
//! 1. With `P` hosts and switches together every channel weighs `P^2`, so that fewer hops weigh less.
//! 2. Destinations: switches by number of hosts, most first, then in GUID order; the hosts of each by port.
//!    Management ports follow in the same order of switches.
//! 3. For each, a search from the destination (`weighted.rs`); every switch takes the link it was reached over.
//! 4. For every switch on the way of another one, its exit gains (hosts of that one + 1).
//!
//! # Deviations
//! OpenSM's distances have 32 bits and overflow above some 15 000 end ports; these have 64.
//!
//! References: [`SSSP`], OpenSM `osm_ucast_dfsssp.c`

use super::subnet::{LidTables, Subnet, route_on_one_lane};
use crate::references::SSSP;
use crate::registry::{Arguments, Entry};
use crate::routing::paths::links::NO_LINK;
use crate::routing::paths::weighted::WeightedSearch;
use crate::routing::{BuildEngine, Engine, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::Graph;
use serde::Deserialize;
use std::path::Path;

/// OpenSM's `sssp`; takes no parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenSmSssp {}

const NAME: &str = "OpenSmSssp";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["sssp"],
    summary: "the tables of OpenSM's sssp, entry by entry",
    parameters: &[],
    guarantees: &["in order", "not deadlock-free unless verified"],
    references: &[SSSP],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<OpenSmSssp>()?)),
};

impl RoutingEngine for OpenSmSssp {
    fn is_drawn(&self) -> bool {
        false
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        route_on_one_lane(graph, NAME, budget, false, |subnet| {
            Ok(tables(subnet, false))
        })
    }

    fn management(&self, graph: &Graph, _base: &Path) -> Option<Vec<u8>> {
        let subnet = Subnet::new(graph);
        tables(&subnet, true).switch_tables(&subnet)
    }
}

/// The tables, with management ports as destinations when `switches` is true.
pub(super) fn tables(subnet: &Subnet, switches: bool) -> LidTables {
    let mut tables = LidTables::new(subnet, switches);
    let ends = (subnet.host_count + subnet.len()) as u64;
    let mut weights = vec![ends * ends; subnet.links.all.len()];
    let mut search = WeightedSearch::new(&subnet.links);
    let mut passing = vec![0; subnet.len()];
    let order = subnet.by_hosts();
    for &place in &order {
        for &(port, host) in &subnet.hosts[place] {
            search.run(&subnet.links, &weights, place, true);
            enter(subnet, &search, &mut tables, host.index());
            tables.ports[place * tables.columns + host.index()] = port as u8;
            add_load(subnet, &search, &mut weights, &mut passing);
        }
    }
    for &place in order.iter().filter(|_| switches) {
        search.run(&subnet.links, &weights, place, false);
        let column = subnet.host_count + place;
        enter(subnet, &search, &mut tables, column);
        tables.ports[place * tables.columns + column] = 0;
        add_load(subnet, &search, &mut weights, &mut passing);
    }
    tables
}

/// Step 3: the column of one destination.
fn enter(subnet: &Subnet, search: &WeightedSearch, tables: &mut LidTables, column: usize) {
    for (place, &exit) in search.exit.iter().enumerate() {
        if exit != NO_LINK {
            let port = subnet.links.all[exit as usize].port as u8;
            tables.ports[place * tables.columns + column] = port;
        }
    }
}

/// Step 4, from the farthest switch to the nearest: what passes a switch is its own and what it is given.
fn add_load(subnet: &Subnet, search: &WeightedSearch, weights: &mut [u64], passing: &mut [u64]) {
    for (passing, hosts) in passing.iter_mut().zip(&subnet.hosts) {
        *passing = hosts.len() as u64 + 1;
    }
    for &place in search.order.iter().rev() {
        let exit = search.exit[place as usize] as usize;
        if let Some(link) = subnet.links.all.get(exit) {
            weights[exit] += passing[place as usize];
            passing[link.to as usize] += passing[place as usize];
        }
    }
}
