//! OpenSM's `minhop`: shortest paths, ports chosen by path counts local to each switch.
//!
//! Guarantees: minimal, in order; equal to OpenSM's tables entry by entry. Not deadlock-free in general.
//! Needs: any connected fabric, 1 lane.
//! Fails with: [`RoutingError::Unreachable`].
//! Cost: time O(switches * (channels + hosts)); memory one byte per (switch, host) and two per pair of
//! switches.
//!
//! # Algorithm
//! 1. Hops from every switch through every port, by breadth-first search.
//! 2. Candidates are the ports with the fewest hops; among them the path counts decide (`counting.rs`).
//!
//! # Deviations
//! None for one LID per port and the options' defaults.
//!
//! References: OpenSM `osm_ucast_mgr.c`

use super::counting::count_paths;
use super::subnet::{LidTables, Subnet, route_on_one_lane};
use crate::registry::{Arguments, Entry};
use crate::routing::paths::UNREACHED;
use crate::routing::paths::links::Link;
use crate::routing::{BuildEngine, Engine, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::Graph;
use rayon::prelude::*;
use serde::Deserialize;
use std::path::Path;

/// OpenSM's `minhop`; takes no parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenSmMinHop {}

const NAME: &str = "OpenSmMinHop";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["minhop"],
    summary: "the tables of OpenSM's minhop, entry by entry",
    parameters: &[],
    guarantees: &["minimal", "in order", "not deadlock-free unless verified"],
    references: &[],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<OpenSmMinHop>()?)),
};

impl RoutingEngine for OpenSmMinHop {
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

/// Hops between all switches, `[destination place][place]`; rows of switches that are no destination are
/// empty.
pub(super) fn hops(subnet: &Subnet, switches: bool) -> Vec<Vec<u16>> {
    (0..subnet.len())
        .into_par_iter()
        .map(|place| {
            if switches || !subnet.hosts[place].is_empty() {
                subnet.links.distances(place)
            } else {
                Vec::new()
            }
        })
        .collect()
}

/// Links of `place` to places one hop nearer to the destination of `hops`, in port order.
pub(super) fn nearer<'a>(
    subnet: &'a Subnet,
    hops: &'a [u16],
    place: usize,
) -> impl Iterator<Item = &'a Link> {
    let here = hops[place];
    let links = subnet.links.of(place).iter();
    links.filter(move |link| here != UNREACHED && hops[link.to as usize] + 1 == here)
}

/// The tables, with management ports as destinations when `switches` is true.
pub(super) fn tables(subnet: &Subnet, switches: bool) -> LidTables {
    let hops = hops(subnet, switches);
    count_paths(subnet, switches, |destination, place, ports| {
        let nearer = nearer(subnet, &hops[destination], place);
        ports.extend(nearer.map(|link| link.port as u8));
    })
}
