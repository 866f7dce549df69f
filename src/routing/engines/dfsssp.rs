//! Deadlock-free single-source shortest paths: balanced shortest paths, layered until no layer has a cycle.
//!
//! Guarantees: minimal, deadlock-free, in order; on any connected fabric.
//! Needs: as many lanes per group of service levels as layers come out: 1 on trees, 2 to 5 on fabrics of up to
//! some hundred switches.
//! Fails with: [`RoutingError::TooFewLanes`], [`RoutingError::Unreachable`].
//! Cost: as [`Sssp`](super::sssp::Sssp), and that of `layering.rs`: time O(source switches * hosts * path
//! length), memory four bytes per (source switch, host, hop).
//!
//! # Algorithm
//! 1. Forwarding tables as [`Sssp`](super::sssp::Sssp) computes them.
//! 2. Layers by `layering.rs`, from paths by destination, then by source switch.
//! 3. With `spread: true` the lanes left over are given one by one to the layer with the most pairs per lane;
//!    paths of a layer take its lanes in turn. Fewer paths on a lane mean less head-of-line blocking.
//!
//! References: [`DFSSSP`]

use super::sssp::{Balanced, balanced};
use crate::references::DFSSSP;
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::balance::{require_all_reachable, require_nameable_ports};
use crate::routing::layers::layering::{Exactness, Layers, Paths, assign};
use crate::routing::{
    BuildEngine, Engine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables,
};
use crate::topology::Graph;
use serde::Deserialize;

/// Balanced shortest paths in layers.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dfsssp {
    spread: bool,
}

const NAME: &str = "Dfsssp";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &[],
    summary: "balanced shortest paths on any connected fabric, deadlock-free by layers",
    parameters: &[Parameter {
        name: "spread",
        kind: "true or false",
        default: Some("false"),
        summary: "spread layers over all lanes instead of using as few as possible",
    }],
    guarantees: &["minimal", "deadlock-free", "in order"],
    references: &[DFSSSP],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<Dfsssp>()?)),
};

impl RoutingEngine for Dfsssp {
    fn is_drawn(&self) -> bool {
        false
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        let balanced = balanced(graph);
        require_all_reachable(graph, &balanced.next)?;
        let layers = layers(graph, &balanced);
        let lanes = usize::from(budget.lanes / budget.service_levels.max(1));
        if self.spread && layers.count < lanes {
            let (path_layer, count) = spread(graph, &balanced, layers, lanes);
            return layered(graph, NAME, budget, balanced.next, path_layer, count, true);
        }
        let count = layers.count;
        layered(
            graph,
            NAME,
            budget,
            balanced.next,
            layers.layer,
            count,
            true,
        )
    }
}

/// Step 2.
fn layers(graph: &Graph, balanced: &Balanced) -> Layers {
    let hosts = balanced.destinations.iter().flat_map(|destination| {
        let hosts = destination.hosts.iter();
        hosts.map(|(_, host)| host.index())
    });
    let destinations: Vec<usize> = hosts.collect();
    let sources: Vec<(usize, u32)> = balanced
        .destinations
        .iter()
        .map(|destination| (destination.switch.index(), destination.hosts.len() as u32))
        .collect();
    let paths = Paths {
        links: &balanced.links,
        ports: &balanced.next,
        columns: graph.hosts().len(),
        destinations: &destinations,
        sources: &sources,
    };
    assign(&paths, Exactness::Sound, |link| link)
}

/// Step 3: layers, and their number, after every layer was divided.
fn spread(graph: &Graph, balanced: &Balanced, layers: Layers, lanes: usize) -> (Vec<u8>, usize) {
    let hosts = graph.hosts().len();
    let mut pairs = vec![0u64; layers.count];
    for source in &balanced.destinations {
        let row = &layers.layer[source.switch.index() * hosts..][..hosts];
        for &layer in row {
            pairs[usize::from(layer)] += source.hosts.len() as u64;
        }
    }
    let mut held = vec![1u64; layers.count];
    for _ in layers.count..lanes {
        // most pairs per lane, compared without division; the first on ties
        let fullest = (0..layers.count).reduce(|best, other| {
            let more = u128::from(pairs[other]) * u128::from(held[best])
                > u128::from(pairs[best]) * u128::from(held[other]);
            if more { other } else { best }
        });
        if let Some(fullest) = fullest {
            held[fullest] += 1;
        }
    }
    let first: Vec<u64> = held
        .iter()
        .scan(0, |sum, &held| {
            *sum += held;
            Some(*sum - held)
        })
        .collect();
    let mut path_layer = layers.layer;
    for (entry, number) in path_layer.iter_mut().zip(0u64..) {
        let (switch, host) = (number / hosts as u64, number % hosts as u64);
        let layer = usize::from(*entry);
        *entry = (first[layer] + (switch + host) % held[layer]) as u8;
    }
    (path_layer, lanes)
}

/// Tables of an engine whose layers have no cycle.
///
/// # Errors
/// [`RoutingError::TooFewLanes`].
pub(super) fn layered(
    graph: &Graph,
    engine: &'static str,
    budget: LaneBudget,
    next: Vec<u8>,
    path_layer: Vec<u8>,
    layers: usize,
    minimal: bool,
) -> Result<Tables, RoutingError> {
    let needed = u8::try_from(layers).unwrap_or(u8::MAX);
    budget.require(engine, needed)?;
    let guarantees = Guarantees {
        minimal,
        deadlock_free: true,
        in_order: true,
        lanes_needed: needed,
    };
    let path_layer = if layers == 1 { Vec::new() } else { path_layer };
    Ok(Tables::on_layers(
        graph, engine, next, path_layer, budget, guarantees,
    ))
}
