//! Layered shortest paths (LASH): every pair of switches on a shortest path, in a layer without cycles.
//!
//! Guarantees: minimal (unless the escape lane is used), deadlock-free, in order.
//! Needs: any connected fabric, as many lanes as layers come out (1 on trees and complete graphs).
//! Fails with: [`RoutingError::TooFewLanes`] with the number of layers needed, [`RoutingError::Unreachable`].
//! Cost: time O(destination switches * channels) for the paths, then that of `layers/assign.rs`; memory O(layers *
//! dependencies + switches^2). Granularity `Source` suits more than some hundred switches.
//!
//! # Algorithm
//! 1. One shortest path per pair by destination tables: the next switch is the one with the lowest id
//!    (`paths: Lowest`; parallel links take destination switches in turn, the hosts of a switch share the ways to it),
//!    or the way with the least load (`paths: Balanced`, see `balance/by_load.rs`; up to 2^22 pairs of a switch and
//!    a host every host has ways of its own). `paths: Auto` is whichever of the two loads its fullest channel less
//!    under uniform traffic, the lowest on ties; the other if only that fits the lanes.
//! 2. Pairs of a switch with hosts and the hosts reached over one way are put into layers (see `layers/assign.rs`); layer `l`
//!    is lane `l` of the group. With `width` there are so many layers at least, and balancing fills all of them.
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
use crate::routing::balance::by_load::{Spreading, spread};
use crate::routing::balance::{
    Balance, Destination, destinations, require_all_reachable, require_nameable_ports,
};
use crate::routing::layers::{self, Granularity, Layers, NO_LAYER, Order};
use crate::routing::loads::demand::Demand;
use crate::routing::loads::demand_loads::fullest;
use crate::routing::paths::steps::Steps;
use crate::routing::paths::{Adjacency, UNREACHED};
use crate::routing::{
    BuildEngine, Engine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables,
};
use crate::topology::Graph;
use serde::Deserialize;

/// Which shortest path a pair gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Choice {
    /// Whichever of the others has the lower load.
    #[default]
    Auto,
    /// Over the switch with the lowest id.
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
    width: Option<u8>,
    escape: bool,
}

impl Default for Lash {
    fn default() -> Self {
        Self {
            granularity: Granularity::Pair,
            order: Order::Index,
            paths: Choice::Auto,
            balance: true,
            layers: None,
            width: None,
            escape: false,
        }
    }
}

const NAME: &str = "Lash";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &[],
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
            kind: "Auto, Balanced or Lowest",
            default: Some("Auto"),
            summary: "shortest path of a pair: least load, or over the lowest switch (often fewest layers); Auto: \
                      lower load of the fullest channel that fits the lanes",
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
            name: "width",
            kind: "integer or None",
            default: Some("None"),
            summary: "layers of every network, also where fewer would do: lanes of each service level that do not depend \
                      on the network; None = as many as it takes",
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
    fn is_drawn(&self) -> bool {
        self.order == Order::Random
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, seed: u64) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        let adjacency = Adjacency::new(graph);
        let destinations = destinations(graph);
        let ends = self.ends(&adjacency, &destinations);
        let available = self.layers.unwrap_or(u8::MAX).min(budget.lanes);
        let most = usize::from(NO_LAYER) - 1;
        let mut needed = u8::MAX;
        let mut choices = self.choices(graph, &adjacency, &destinations, budget);
        for (choice, next) in &choices {
            require_all_reachable(graph, next)?;
            let (paths, target_of) = ShortestPaths::of_hosts(graph, &ends, next);
            let found = self.assign(&paths, most, seed);
            needed = needed.min(found.fill.len().max(1) as u8);
            if found.fill.len() <= usize::from(available) {
                let path_layer = path_layer(graph, &ends, &found, &target_of);
                let guarantees = guarantees(true, found.fill.len().max(1) as u8);
                let next = next.clone();
                let mut tables =
                    Tables::on_layers(graph, NAME, next, path_layer, budget, guarantees);
                tables.remarks = remarks(*choice, &found);
                return Ok(tables);
            }
        }
        if !self.escape || available == 0 {
            return Err(RoutingError::TooFewLanes {
                engine: NAME,
                needed,
                available,
            });
        }
        let (choice, mut next) = choices.swap_remove(0);
        let (paths, target_of) = ShortestPaths::of_hosts(graph, &ends, &next);
        let found = self.assign(&paths, usize::from(available) - 1, seed);
        let escaped = pairs_without_layer(&paths, &found);
        escape(graph, &adjacency, &destinations, &escaped, &mut next);
        let mut path_layer = path_layer(graph, &ends, &found, &target_of);
        let hosts = graph.hosts().len();
        for row in path_layer.chunks_mut(hosts.max(1)) {
            for &(_, host) in escaped.iter().flat_map(|end| &end.hosts) {
                row[host.index()] = available - 1;
            }
        }
        let guarantees = guarantees(escaped.is_empty(), available);
        let mut tables = Tables::on_layers(graph, NAME, next, path_layer, budget, guarantees);
        tables.remarks = remarks(choice, &found);
        let value = format!("up*/down* to {} of {} switches", escaped.len(), ends.len());
        tables.remarks.push(("escape lane".into(), value));
        Ok(tables)
    }
}

/// Pairs of a switch and a host up to which balanced ways are chosen host by host: a few seconds of layering.
const BY_HOST: usize = 1 << 22;

fn guarantees(minimal: bool, lanes_needed: u8) -> Guarantees {
    Guarantees {
        minimal,
        deadlock_free: true,
        in_order: true,
        lanes_needed,
    }
}

impl Lash {
    /// Step 1: forwarding tables to try, the best first.
    fn choices(
        self,
        graph: &Graph,
        adjacency: &Adjacency,
        destinations: &[Destination],
        budget: LaneBudget,
    ) -> Vec<(Choice, Vec<u8>)> {
        let distances = distances(adjacency, destinations);
        let lowest = || lowest(graph, adjacency, destinations, &distances);
        let balanced = || balanced(graph, destinations, &distances);
        match self.paths {
            Choice::Lowest => vec![(Choice::Lowest, lowest())],
            Choice::Balanced => vec![(Choice::Balanced, balanced())],
            Choice::Auto => {
                let both = [(Choice::Lowest, lowest()), (Choice::Balanced, balanced())];
                let demand = Demand::uniform(graph);
                let mut both = both.map(|(choice, next)| {
                    let guarantees = guarantees(true, 1);
                    let tables = Tables::on_one_lane(graph, NAME, next.clone(), budget, guarantees);
                    (fullest(graph, &tables, &demand), choice, next)
                });
                both.sort_by_key(|&(load, ..)| load);
                both.map(|(_, choice, next)| (choice, next)).into()
            }
        }
    }

    /// Step 2, with `most` layers.
    fn assign(self, paths: &ShortestPaths<'_>, most: usize, seed: u64) -> Layers {
        let options = layers::Options {
            granularity: self.granularity,
            order: self.order,
            balance: self.balance,
            most,
            least: usize::from(self.width.unwrap_or(0)).min(most),
            seed,
        };
        layers::assign(paths, &options)
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

/// Shortest ways of least load.
fn balanced(graph: &Graph, destinations: &[Destination], distances: &[Vec<u16>]) -> Vec<u8> {
    let steps = Steps::by_destination(graph, |_| true);
    let spreading = Spreading {
        passes: 2,
        by_switch: destinations.len() * graph.hosts().len() > BY_HOST,
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
fn path_layer(graph: &Graph, ends: &[&Destination], found: &Layers, target_of: &[u32]) -> Vec<u8> {
    let hosts = graph.hosts().len();
    let targets = found.layer.len() / ends.len().max(1);
    let mut path_layer = vec![0; graph.switches().len() * hosts];
    for (source, layers) in ends.iter().zip(found.layer.chunks(targets.max(1))) {
        let row = &mut path_layer[source.switch.index() * hosts..][..hosts];
        for &(_, host) in ends.iter().flat_map(|end| &end.hosts) {
            let layer = layers[target_of[host.index()] as usize];
            row[host.index()] = if layer == NO_LAYER { 0 } else { layer };
        }
    }
    path_layer
}

fn remarks(choice: Choice, found: &Layers) -> Vec<(String, String)> {
    let paths = match choice {
        Choice::Lowest => "over the lowest switches",
        Choice::Auto | Choice::Balanced => "balanced by load",
    };
    let mut remarks = vec![(String::from("shortest paths"), paths.to_owned())];
    for (layer, pairs) in found.fill.iter().enumerate() {
        remarks.push((format!("layer {layer}"), format!("{pairs} paths")));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use crate::routing::loads::ChannelLoads;
    use crate::routing::tests::conformance::{budget, engine, proof};
    use crate::routing::tests::graphs::{degraded_leaf_spine, grid, irregular, spine_leaf, tree};
    use crate::topology::Graph;

    /// Paths over the fullest channel.
    fn most(graph: &Graph, text: &str) -> u64 {
        let tables = engine(text).route(graph, budget(15), 1).unwrap();
        ChannelLoads::uniform(graph, &tables).max()
    }

    #[test]
    fn paths_are_balanced_without_being_asked() {
        for graph in [degraded_leaf_spine(), spine_leaf(3, 5, 2), tree(4, 3)] {
            let (tables, proof) = proof(&graph, "Lash()", 15);
            assert!(proof.minimal && proof.acyclic);
            let load = ChannelLoads::uniform(&graph, &tables).max();
            let free = most(&graph, "MinHop(passes: 2)");
            assert!(
                load * 10 <= free * 11,
                "{load} paths, {free} without layers"
            );
        }
        for seed in 0..8 {
            let graph = irregular(40, 5, seed);
            assert!(most(&graph, "Lash()") <= most(&graph, "UpDown(passes: 4)"));
        }
    }

    #[test]
    fn the_lowest_switches_are_taken_where_they_do_better_or_only_they_fit() {
        // dimension order
        let (mesh, cube) = (grid(&[4, 8], false, 1), grid(&[2, 2, 2, 2, 2], false, 1));
        let tables = engine("Lash()").route(&mesh, budget(1), 1).unwrap();
        assert_eq!(tables.guarantees.lanes_needed, 1);
        let layers = |text, lanes| {
            let tables = engine(text).route(&cube, budget(lanes), 1).unwrap();
            tables.guarantees.lanes_needed
        };
        assert!(layers("Lash(paths: Balanced)", 15) > 1);
        assert_eq!(layers("Lash()", 1), 1);
        assert_eq!(layers("Lash()", 15), layers("Lash(paths: Balanced)", 15));
    }

    /// Three lanes for each service level, whether a network needs two or three: pairs are on all of them.
    #[test]
    fn a_width_gives_every_network_equally_many_layers() {
        let mut needed = Vec::new();
        for seed in 0..8 {
            let graph = irregular(32, 5, seed);
            let (plain, _) = proof(&graph, "Lash()", 15);
            let (wide, found) = proof(&graph, "Lash(width: 3)", 15);
            needed.push(plain.guarantees.lanes_needed);
            assert!(found.minimal && found.acyclic);
            assert_eq!((wide.guarantees.lanes_needed, wide.lanes.layers), (3, 3));
            let mut fill = [0; 3];
            for layer in wide.path_layer.iter() {
                fill[usize::from(layer)] += 1;
            }
            fill.sort_unstable();
            let [least, _, most] = fill;
            assert!(least * 4 > most, "{least} {most}");
            assert_eq!(wide.next, plain.next);
        }
        assert!(needed.contains(&2), "{needed:?}");
        let graph = irregular(32, 5, 0);
        let error = engine("Lash(width: 4)")
            .route(&graph, budget(3), 1)
            .unwrap_err();
        assert!(error.to_string().contains('4'), "{error}");
    }
}
