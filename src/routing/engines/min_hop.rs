//! Routes over shortest paths, destinations spread over equal ways by load or, as OpenSM's `minhop`, by local
//! counters.
//!
//! Guarantees: minimal, in order. Not deadlock-free in general: trees are, most fabrics with rings are not.
//! Needs: any connected fabric, 1 lane.
//! Fails with: [`RoutingError::Unreachable`].
//! Cost: time O(destination switches * channels + passes * switches * hosts); memory one byte per (switch, host) and
//! two per (destination switch, switch).
//!
//! # Algorithm
//! 1. Breadth-first distances from every destination switch.
//! 2. At each switch the candidates are the ports whose neighbour is one hop nearer.
//! 3. Among them the way with the least load (see `balance/by_load.rs`), or with `balance: Ports` the least
//!    assigned port (see `balance/mod.rs`), the lowest on ties.
//!
//! # Deviations
//! Switches are no destinations, so OpenSM's pass over management ports (which does not count) is left out.
//!
//! References: OpenSM `osm_ucast_mgr.c`

use crate::references::PATH_BALANCING;
use crate::registry::{Arguments, Entry};
use crate::routing::balance::{
    Balance, destinations, require_all_reachable, require_nameable_ports,
};
use crate::routing::paths::{Adjacency, UNREACHED};
use crate::routing::{
    BuildEngine, Engine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables,
};
use crate::topology::Graph;
use rayon::prelude::*;
use serde::Deserialize;

/// Shortest paths, balanced.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MinHop {
    balance: Balance,
    passes: u8,
}

impl Default for MinHop {
    fn default() -> Self {
        Self {
            balance: Balance::Auto,
            passes: 1,
        }
    }
}

const NAME: &str = "MinHop";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &[],
    summary: "shortest paths, destinations spread over equal ways by load or by OpenSM's local counters",
    parameters: &[Balance::PARAMETER, Balance::PASSES],
    guarantees: &["minimal", "in order", "not deadlock-free unless verified"],
    references: &[PATH_BALANCING],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<MinHop>()?)),
};

impl RoutingEngine for MinHop {
    fn is_drawn(&self) -> bool {
        false
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        let adjacency = Adjacency::new(graph);
        let destinations = destinations(graph);
        let distances: Vec<Vec<u16>> = destinations
            .par_iter()
            .map(|destination| adjacency.distances(&[destination.switch]))
            .collect();
        let next = self.balance.spread(
            graph,
            &adjacency,
            &destinations,
            |i| &distances[i],
            |i, switch, neighbor| {
                let [here, there] = [switch, neighbor].map(|s| distances[i][s]);
                here != UNREACHED && there != UNREACHED && there + 1 == here
            },
            self.passes,
        );
        require_all_reachable(graph, &next)?;
        let guarantees = Guarantees {
            minimal: true,
            ..Guarantees::IN_ORDER
        };
        Ok(Tables::on_one_lane(graph, NAME, next, budget, guarantees))
    }
}
