//! OpenSM's `dor`: shortest paths over the first port, so that port numbers are the order of dimensions.
//!
//! Guarantees: minimal, in order; equal to OpenSM's tables entry by entry. Deadlock-free on meshes and
//! hypercubes whose ports are numbered by dimension, not on rings of 4 or more.
//! Needs: any connected fabric, 1 lane.
//! Fails with: [`RoutingError::Unreachable`].
//! Cost: as [`OpenSmMinHop`](super::min_hop::OpenSmMinHop).
//!
//! # Algorithm
//! 1. Hops as `minhop` counts them.
//! 2. The lowest port with the fewest hops fixes the neighbour. Candidates are the links to it, which differ
//!    only when they are parallel; among them the path counts decide (`counting.rs`).
//!
//! # Deviations
//! None for one LID per port and the options' defaults.
//!
//! References: OpenSM `osm_ucast_mgr.c`

use super::counting::count_paths;
use super::min_hop::{hops, nearer};
use super::subnet::{LidTables, Subnet, route_on_one_lane};
use crate::registry::{Arguments, Entry};
use crate::routing::{BuildEngine, Engine, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::Graph;
use serde::Deserialize;
use std::path::Path;

/// OpenSM's `dor`; takes no parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenSmDor {}

const NAME: &str = "OpenSmDor";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["dor"],
    summary: "the tables of OpenSM's dor, entry by entry: the order of ports is that of dimensions",
    parameters: &[],
    guarantees: &["minimal", "in order", "not deadlock-free unless verified"],
    references: &[],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<OpenSmDor>()?)),
};

impl RoutingEngine for OpenSmDor {
    fn is_drawn(&self) -> bool {
        false
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        route_on_one_lane(graph, NAME, budget, true, |subnet| {
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
    let hops = hops(subnet, switches);
    count_paths(subnet, switches, |destination, place, ports| {
        let mut nearer = nearer(subnet, &hops[destination], place);
        if let Some(first) = nearer.next() {
            ports.push(first.port as u8);
            let parallel = nearer.filter(|link| link.to == first.to);
            ports.extend(parallel.map(|link| link.port as u8));
        }
    })
}
