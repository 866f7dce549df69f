//! Routes over shortest paths, destinations spread over equal ports by local counters (OpenSM `minhop`).
//!
//! Guarantees: minimal, in order. Not deadlock-free in general: trees are, most fabrics with rings are not.
//! Needs: any connected fabric, 1 lane.
//! Fails with: [`RoutingError::Unreachable`].
//! Cost: time O(switches * (channels + hosts)); memory one byte per (switch, host) and
//! two per (destination switch, switch).
//!
//! # Algorithm
//! 1. Breadth-first distances from every switch to the destination switches.
//! 2. At each switch the candidates are the ports whose neighbour is one hop nearer.
//! 3. Among them the least assigned port (see `balance.rs`), the lowest on ties.
//!
//! # Deviations
//! Switches are no destinations, so OpenSM's pass over management ports (which does not count) is left out.
//!
//! References: OpenSM `osm_ucast_mgr.c`

use crate::ids::SwitchId;
use crate::registry::{Arguments, Entry};
use crate::routing::balance::{
    destinations, require_all_reachable, require_nameable_ports, spread,
};
use crate::routing::paths::{Adjacency, UNREACHED};
use crate::routing::{BuildEngine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::Graph;
use rayon::prelude::*;
use serde::Deserialize;

/// Shortest paths with local balancing; takes no parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinHop {}

const NAME: &str = "MinHop";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["MINHOP", "minhop"],
    summary: "shortest paths, destinations spread over equal ports by local counters (OpenSM minhop)",
    parameters: &[],
    guarantees: &["minimal", "in order", "not deadlock-free unless verified"],
    references: &[],
    build: |arguments: Arguments<'_>| Ok(Box::new(arguments.parse::<MinHop>()?)),
};

impl RoutingEngine for MinHop {
    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        let adjacency = Adjacency::new(graph);
        let destinations = destinations(graph);
        // by switch first: a switch looks at all destinations in a row
        let distances: Vec<Vec<u16>> = (0..adjacency.len())
            .into_par_iter()
            .map(|switch| {
                let to = adjacency.distances(&[SwitchId::from(switch)]);
                let ends = destinations.iter();
                ends.map(|end| to[end.switch.index()]).collect()
            })
            .collect();
        let next = spread(graph, &adjacency, &destinations, |i, switch, neighbor| {
            let [here, there] = [switch, neighbor].map(|s| distances[s][i]);
            here != UNREACHED && there + 1 == here
        });
        require_all_reachable(graph, &next)?;
        let guarantees = Guarantees {
            minimal: true,
            deadlock_free: false,
            in_order: true,
            lanes_needed: 1,
        };
        Ok(Tables::on_one_lane(graph, NAME, next, budget, guarantees))
    }
}
