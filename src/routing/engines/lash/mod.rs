//! Layered shortest paths (LASH): every pair of switches on a shortest path, in a layer without cycles.
//!
//! Guarantees: minimal (unless the escape lane is used), deadlock-free, in order.
//! Needs: any connected fabric, as many lanes as layers come out (1 on trees and complete graphs).
//! Fails with: [`RoutingError::TooFewLanes`] with the number of layers needed, [`RoutingError::Unreachable`].
//! Cost: time O(destination switches * channels) for the paths, then that of `layers.rs`; memory O(layers *
//! dependencies + switches^2). Granularity `Source` suits more than some hundred switches.
//!
//! # Algorithm
//! 1. One shortest path per pair by destination tables: the next switch is the one with the lowest id
//!    (`paths: Lowest`; parallel links take destination switches in turn), or the way with the least load
//!    (`paths: Balanced`, see `load_balance.rs`). All hosts of a switch share the ways to it.
//! 2. Pairs of switches with hosts are put into layers (see `layers.rs`); layer `l` is lane `l` of the group.
//! 3. With `escape: true` and too few lanes, the last lane is kept for up*/down* routing: the switches to
//!    which some pair found no layer are reached over it, from everywhere. All other pairs keep their layer.
//!
//! # Deviations
//! The published escape moves single pairs; tables by destination can only move all pairs of a destination.
//! Several addresses per host (multi-path LASH) are `MpLash`.
//!
//! References: [`LASH`]; [`REINEMO`] §3.3

pub(super) mod shortest;

use self::shortest::{ShortestPaths, distances, lowest, pairs_without_layer};
use super::legal::Legal;
use super::root::center;
use super::up_order::{Tree, UpOrder};
use crate::references::{LASH, PATH_BALANCING, REINEMO};
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::balance::{
    Balance, Destination, destinations, require_all_reachable, require_nameable_ports,
};
use crate::routing::layers::{self, Granularity, Layers, NO_LAYER, Order};
use crate::routing::load_balance::{Spreading, spread};
use crate::routing::paths::{Adjacency, UNREACHED};
use crate::routing::steps::Steps;
use crate::routing::{
    BuildEngine, Engine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables,
};
use crate::topology::Graph;
use serde::Deserialize;

/// Which shortest path a pair gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Choice {
    /// Over the switch with the lowest id.
    #[default]
    Lowest,
    /// The way with the least load.
    Balanced,
}

/// Layered shortest paths.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lash {
    granularity: Granularity,
    order: Order,
    paths: Choice,
    balance: bool,
    layers: Option<u8>,
    escape: bool,
}

impl Default for Lash {
    fn default() -> Self {
        Self {
            granularity: Granularity::Pair,
            order: Order::Index,
            paths: Choice::Lowest,
            balance: true,
            layers: None,
            escape: false,
        }
    }
}

const NAME: &str = "Lash";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["LASH", "lash"],
    summary: "layered shortest paths on any connected fabric: pairs of switches on lanes without cycles",
    parameters: &[
        Parameter {
            name: "granularity",
            kind: "Source, Destination, Pair, Both or Hybrid",
            default: Some("Pair"),
            summary: "pairs put into a layer at a time: all from a source (DAG), all to a destination, one, \
                      both directions, or sources split when they do not fit",
        },
        Parameter {
            name: "order",
            kind: "Index, Adjacent, Random, Longest or Shortest",
            default: Some("Index"),
            summary: "order in which they are put",
        },
        Parameter {
            name: "paths",
            kind: "Lowest or Balanced",
            default: Some("Lowest"),
            summary: "shortest path of a pair: over the lowest switch (fewest layers), or least load",
        },
        Parameter {
            name: "balance",
            kind: "true or false",
            default: Some("true"),
            summary: "move pairs from full to empty layers",
        },
        Parameter {
            name: "layers",
            kind: "integer or None",
            default: Some("None"),
            summary: "most layers; None = as many as there are lanes",
        },
        Parameter {
            name: "escape",
            kind: "true or false",
            default: Some("false"),
            summary: "with too few lanes keep the last for up*/down* routing of what does not fit",
        },
    ],
    guarantees: &[
        "minimal unless the escape lane is used",
        "deadlock-free",
        "in order",
    ],
    references: &[LASH, REINEMO, PATH_BALANCING],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<Lash>()?)),
};

impl RoutingEngine for Lash {
    fn route(&self, graph: &Graph, budget: LaneBudget, seed: u64) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        let adjacency = Adjacency::new(graph);
        let destinations = destinations(graph);
        let mut next = self.shortest(graph, &adjacency, &destinations);
        require_all_reachable(graph, &next)?;
        let ends = self.ends(&adjacency, &destinations);
        let paths = ShortestPaths::new(graph, &next, &ends);
        let available = self.layers.unwrap_or(u8::MAX).min(budget.lanes);
        let assign = |most: usize| {
            layers::assign(
                &paths,
                &layers::Options {
                    granularity: self.granularity,
                    order: self.order,
                    balance: self.balance,
                    most,
                    seed,
                },
            )
        };
        let mut found = assign(usize::from(NO_LAYER) - 1);
        let mut escaped = Vec::new();
        if found.fill.len() > usize::from(available) {
            if !self.escape || available == 0 {
                return Err(RoutingError::TooFewLanes {
                    engine: NAME,
                    needed: found.fill.len() as u8,
                    available,
                });
            }
            found = assign(usize::from(available) - 1);
            escaped = pairs_without_layer(&found, &ends);
            escape(graph, &adjacency, &destinations, &escaped, &mut next);
        }
        let lanes_needed = if escaped.is_empty() {
            found.fill.len().max(1) as u8
        } else {
            available
        };
        let guarantees = Guarantees {
            minimal: escaped.is_empty(),
            deadlock_free: true,
            in_order: true,
            lanes_needed,
        };
        let path_layer = path_layer(graph, &ends, &found, &escaped, available);
        let mut tables = Tables::on_layers(graph, NAME, next, path_layer, budget, guarantees);
        tables.remarks = remarks(&found, ends.len(), escaped.len());
        Ok(tables)
    }
}

impl Lash {
    /// Step 1: forwarding tables.
    fn shortest(
        self,
        graph: &Graph,
        adjacency: &Adjacency,
        destinations: &[Destination],
    ) -> Vec<u8> {
        let distances = distances(adjacency, destinations);
        if self.paths == Choice::Lowest {
            return lowest(graph, adjacency, destinations, &distances);
        }
        let steps = Steps::by_destination(graph, |_| true);
        let spreading = Spreading {
            passes: 2,
            by_switch: true,
        };
        let nearer = |i: usize, from: usize, to: usize| {
            let [here, there] = [from, to].map(|switch| distances[i][switch]);
            there != UNREACHED && there + 1 == here
        };
        spread(
            graph,
            &steps,
            destinations,
            |i| &distances[i],
            nearer,
            spreading,
        )
    }

    /// The destination switches in the order of step 2.
    fn ends<'a>(
        self,
        adjacency: &Adjacency,
        destinations: &'a [Destination],
    ) -> Vec<&'a Destination> {
        let mut ends: Vec<&Destination> = destinations.iter().collect();
        ends.sort_by_key(|end| end.switch);
        if self.order == Order::Adjacent
            && let Some(first) = ends.first()
        {
            let place = adjacency.breadth_first(first.switch);
            ends.sort_by_key(|end| place[end.switch.index()]);
        }
        ends
    }
}

/// Step 3: ways to the `escaped` destinations along up*/down* paths.
fn escape(
    graph: &Graph,
    adjacency: &Adjacency,
    destinations: &[Destination],
    escaped: &[&Destination],
    next: &mut [u8],
) {
    let order = UpOrder::new(adjacency, &[center(adjacency, destinations)], Tree::Breadth);
    let left: Vec<Destination> = escaped.iter().map(|&end| end.clone()).collect();
    let legal = Legal::new(adjacency, order, &left);
    let columns = Balance::Load.spread(
        graph,
        adjacency,
        &left,
        |i| legal.hops(i),
        |i, from, to| legal.leads_on(i, from, to),
        1,
    );
    let hosts = graph.hosts().len().max(1);
    for (row, columns) in next.chunks_mut(hosts).zip(columns.chunks(hosts)) {
        for (_, host) in left.iter().flat_map(|end| &end.hosts) {
            row[host.index()] = columns[host.index()];
        }
    }
}

/// Layers by source switch and destination host.
fn path_layer(
    graph: &Graph,
    ends: &[&Destination],
    found: &Layers,
    escaped: &[&Destination],
    lanes: u8,
) -> Vec<u8> {
    let switches = graph.switches().len();
    let mut path_layer = vec![0; switches * switches];
    for (i, source) in ends.iter().enumerate() {
        let row = &mut path_layer[source.switch.index() * switches..][..switches];
        for (j, destination) in ends.iter().enumerate() {
            let layer = found.layer[i * ends.len() + j];
            row[destination.switch.index()] = if layer == NO_LAYER { 0 } else { layer };
        }
        for destination in escaped {
            row[destination.switch.index()] = lanes - 1;
        }
    }
    Tables::path_layers_by_switch(graph, |source, destination| {
        path_layer[source.index() * switches + destination.index()]
    })
}

fn remarks(found: &Layers, ends: usize, escaped: usize) -> Vec<(String, String)> {
    let mut remarks = Vec::new();
    for (layer, pairs) in found.fill.iter().enumerate() {
        let value = format!("{pairs} pairs of switches");
        remarks.push((format!("layer {layer}"), value));
    }
    if escaped > 0 {
        let value = format!("up*/down* to {escaped} of {ends} switches");
        remarks.push(("escape lane".into(), value));
    }
    remarks
}
