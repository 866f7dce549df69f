//! OpenSM's `lash`: shortest paths between switches, pairs spread over layers without cycles.
//!
//! Guarantees: minimal, deadlock-free, in order; the forwarding tables equal OpenSM's entry by entry, the layers
//! OpenSM's before it balances them.
//! Needs: any connected fabric; as many lanes per group of service levels as layers come out.
//! Fails with: [`RoutingError::TooFewLanes`], [`RoutingError::Unreachable`].
//! Cost: paths O(switches^2 * longest path); layers O(switches^2 * layers * dependencies) at worst; memory four
//! bytes per pair of switches.
//!
//! # Algorithm
//! 1. For every switch `r` in GUID order: the breadth-first tree from `r`, neighbours in port order. For a switch
//!    `x` below the child `c` of `v`, `c` becomes the next switch from `v` to `x` unless an earlier tree has
//!    decided it. This makes minimal and consistent tables.
//! 2. A table leads over the lowest port to the next switch: parallel links are not shared out.
//! 3. Pairs of switches get layers, see `lash_layers.rs`. Hosts of one switch use layer 0 among themselves.
//!
//! # Deviations
//! OpenSM then moves pairs drawn at random from full to empty layers, differently in every run: left out. Every
//! switch is a destination for OpenSM, with hosts or not, and so it is here; that costs layers on trees of three
//! levels.
//!
//! References: [`LASH`], OpenSM `osm_ucast_lash.c`

use super::lash_layers::{Layering, Next, assign};
use super::subnet::{LidTables, Subnet};
use crate::references::LASH;
use crate::registry::{Arguments, Entry};
use crate::routing::balance::{require_all_reachable, require_nameable_ports};
use crate::routing::{
    BuildEngine, Engine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables,
};
use crate::topology::Graph;
use serde::Deserialize;
use std::path::Path;

/// OpenSM's `lash`; takes no parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenSmLash {}

const NAME: &str = "OpenSmLash";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["lash"],
    summary: "the tables and layers of OpenSM's lash, before it balances the layers",
    parameters: &[],
    guarantees: &["minimal", "deadlock-free", "in order"],
    references: &[LASH],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<OpenSmLash>()?)),
};

impl RoutingEngine for OpenSmLash {
    fn is_drawn(&self) -> bool {
        false
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        let subnet = Subnet::new(graph);
        let next = next_switches(&subnet);
        let tables = tables(&subnet, &next, false).host_tables(&subnet);
        require_all_reachable(graph, &tables)?;
        let layering = assign(&subnet, &next);
        let layers = layering.pairs.len().max(1);
        let needed = u8::try_from(layers).unwrap_or(u8::MAX);
        budget.require(NAME, needed)?;
        let guarantees = Guarantees {
            minimal: true,
            deadlock_free: true,
            in_order: true,
            lanes_needed: needed,
        };
        let path_layer = path_layers(graph, &subnet, &layering);
        Ok(Tables::on_layers(
            graph, NAME, tables, path_layer, budget, guarantees,
        ))
    }

    fn management(&self, graph: &Graph, _base: &Path) -> Option<Vec<u8>> {
        let subnet = Subnet::new(graph);
        tables(&subnet, &next_switches(&subnet), true).switch_tables(&subnet)
    }
}

fn path_layers(graph: &Graph, subnet: &Subnet, layering: &Layering) -> Vec<u8> {
    if layering.pairs.len() <= 1 {
        return Vec::new();
    }
    let mut place = vec![0; subnet.len()];
    for (number, switch) in subnet.switches.iter().enumerate() {
        place[switch.index()] = number;
    }
    Tables::path_layers_by_switch(graph, |source, destination| {
        layering.layers[place[source.index()] * subnet.len() + place[destination.index()]] as u8
    })
}

/// Step 1: the next switch of `[place][destination place]`.
pub(super) fn next_switches(subnet: &Subnet) -> Next {
    let count = subnet.len();
    let mut next = Next::new(count);
    let mut parent = vec![u32::MAX; count];
    for root in 0..count {
        parent.fill(u32::MAX);
        parent[root] = root as u32;
        let mut order = vec![root];
        let mut head = 0;
        while let Some(&from) = order.get(head) {
            head += 1;
            for link in subnet.links.of(from) {
                let to = link.to as usize;
                if parent[to] == u32::MAX {
                    parent[to] = from as u32;
                    order.push(to);
                }
            }
        }
        for &below in &order[1..] {
            let (mut child, mut node) = (below, parent[below] as usize);
            loop {
                next.decide(node, below, child);
                if node == root {
                    break;
                }
                (child, node) = (node, parent[node] as usize);
            }
        }
    }
    next
}

/// Step 2, with management ports as destinations when `switches` is true.
pub(super) fn tables(subnet: &Subnet, next: &Next, switches: bool) -> LidTables {
    let mut tables = LidTables::new(subnet, switches);
    let columns = tables.columns;
    for (place, row) in tables.ports.chunks_mut(columns.max(1)).enumerate() {
        let links = subnet.links.of(place);
        for destination in 0..subnet.len() {
            if destination == place {
                for &(port, host) in &subnet.hosts[place] {
                    row[host.index()] = port as u8;
                }
                if switches {
                    row[subnet.host_count + place] = 0;
                }
                continue;
            }
            let to = next.get(place, destination);
            let Some(link) = to.and_then(|to| links.iter().find(|link| link.to == to)) else {
                continue;
            };
            for (_, host) in &subnet.hosts[destination] {
                row[host.index()] = link.port as u8;
            }
            if switches {
                row[subnet.host_count + destination] = link.port as u8;
            }
        }
    }
    tables
}
