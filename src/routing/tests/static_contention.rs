//! Published loads of static routes: shift and random permutations on fat trees, patterns on the 8x8 mesh.

use super::conformance::proof;
use super::shape_conformance::graph;
use crate::ids::{ChannelId, HostId, SwitchId, VlId};
use crate::rng::{Purpose, below, stream};
use crate::routing::loads::ChannelLoads;
use crate::routing::proof::dependency_graph::DependencyGraph;
use crate::routing::*;
use crate::topology::Shape;
use rayon::prelude::*;

/// Where no switch follows.
const END: u32 = u32::MAX;

/// Tables as channels, for many paths.
struct Routes {
    /// Channel out of `[switch][host]`.
    channels: Vec<u32>,
    /// Switch a channel leads to, or [`END`].
    targets: Vec<u32>,
    homes: Vec<u32>,
}

impl Routes {
    fn new(graph: &Graph, tables: &Tables) -> Self {
        let hosts = || graph.host_ids();
        let channel = |switch: SwitchId, host| {
            let port = tables.next_port(switch.index(), host).unwrap();
            graph.port_channel(switch, port).unwrap().0
        };
        let rows = graph.switch_ids();
        Self {
            channels: rows
                .flat_map(|switch| hosts().map(move |host| channel(switch, host)))
                .collect(),
            targets: graph
                .channels()
                .iter()
                .map(|channel| channel.to.switch().map_or(END, |switch| switch.0))
                .collect(),
            homes: hosts()
                .map(|host| graph.attachment(host).unwrap().0.0)
                .collect(),
        }
    }

    fn hosts(&self) -> u32 {
        self.homes.len() as u32
    }

    /// Channels from the switch of `source` to `destination`.
    fn path(&self, source: u32, destination: u32) -> impl Iterator<Item = usize> {
        let mut at = self.homes[source as usize];
        std::iter::from_fn(move || {
            if at == END {
                return None;
            }
            let channel = self.channels[at as usize * self.homes.len() + destination as usize];
            at = self.targets[channel as usize];
            Some(channel as usize)
        })
    }

    /// A channel that some shift permutation uses twice, with the shift.
    fn shared_by_a_shift(&self) -> Option<(usize, u32)> {
        let hosts = self.hosts();
        (1..hosts).into_par_iter().find_map_any(|shift| {
            let mut used = vec![false; self.targets.len()];
            (0..hosts).find_map(|source| {
                self.path(source, (source + shift) % hosts)
                    .find(|&channel| std::mem::replace(&mut used[channel], true))
                    .map(|channel| (channel, shift))
            })
        })
    }

    /// Destinations of a random permutation.
    fn permutation(&self, seed: u64) -> Vec<u32> {
        let mut rng = stream(seed, Purpose::Pattern, 0);
        let mut all: Vec<u32> = (0..self.hosts()).collect();
        for last in (1..all.len()).rev() {
            all.swap(last, below(&mut rng, last as u32 + 1) as usize);
        }
        all
    }
}

fn routes(text: &str) -> (Graph, Routes) {
    let graph = graph(text);
    let (tables, _) = proof(&graph, "FatTree()", 1);
    let routes = Routes::new(&graph, &tables);
    (graph, routes)
}

/// Check T3 of the model of Zdornov and Birk, all 4,095 shifts; and trees with parallel links.
#[test]
fn every_shift_permutation_is_free_of_contention() {
    for text in [
        "KAryNTree(k: 16, n: 3)",
        "Xgft(children: [8, 8, 8], parents: [1, 8, 8])",
        "EnrichedTree(k: 6, n: 3, width: 2)",
        "LeafSpine(leaves: 18, spines: 9, hosts_per_leaf: 18, parallel_links: 2)",
        "Xgft(children: [4, 4, 6], parents: [1, 2, 4], parallel: [1, 2, 2])",
        "Tree(arity: 2, levels: 4, parallel: [2, 4, 8])",
    ] {
        let (_, routes) = routes(text);
        assert_eq!(routes.shared_by_a_shift(), None, "{text}");
    }
    // more links up than down is no help: 7 is no divisor of 16
    let (_, unequal) = routes("Clos(n: 4, r: 4, form: StrictlyNonBlocking)");
    assert!(unequal.shared_by_a_shift().is_some());
}

/// Kinds of channels of a 16-ary 3-tree, by the levels of their ends (0 = roots).
fn levels(graph: &Graph) -> Vec<Option<(u32, u32)>> {
    let Shape::Tree(tree) = graph.shape() else {
        panic!("not a tree");
    };
    let level = |switch: SwitchId| tree.level(switch);
    let ends = |channel: &crate::topology::Channel| {
        Some((level(channel.from.switch()?), level(channel.to.switch()?)))
    };
    graph.channels().iter().map(ends).collect()
}

/// What random permutations make of the channels between two levels.
#[derive(Clone, Debug, Default)]
struct Contention {
    /// Channels by load, leaves to level 1 and level 1 to roots.
    up: [[u64; 16]; 2],
    most_down: u8,
    /// Sum over permutations of the largest and the mean contention of a flow.
    largest: f64,
    mean: f64,
}

impl Contention {
    fn of(routes: &Routes, levels: &[Option<(u32, u32)>], seed: u64) -> Self {
        let mut found = Self::default();
        let destinations = routes.permutation(seed);
        let flows = || (0..).zip(&destinations);
        let mut loads = vec![0u8; levels.len()];
        for (source, &destination) in flows() {
            routes
                .path(source, destination)
                .for_each(|channel| loads[channel] += 1);
        }
        for (&load, level) in loads.iter().zip(levels) {
            match level {
                Some((2, 1)) => found.up[0][usize::from(load)] += 1,
                Some((1, 0)) => found.up[1][usize::from(load)] += 1,
                Some(_) => found.most_down = found.most_down.max(load),
                None => {}
            }
        }
        let (mut largest, mut sum) = (0, 0.0);
        for (source, &destination) in flows() {
            let path = routes.path(source, destination);
            let worst = path.map(|channel| loads[channel]).max().unwrap();
            largest = largest.max(worst);
            sum += f64::from(worst);
        }
        found.largest = f64::from(largest);
        found.mean = sum / f64::from(routes.hosts());
        found
    }

    fn plus(mut self, other: &Self) -> Self {
        for (sum, more) in self.up.iter_mut().flatten().zip(other.up.iter().flatten()) {
            *sum += more;
        }
        self.most_down = self.most_down.max(other.most_down);
        self.largest += other.largest;
        self.mean += other.mean;
        self
    }
}

/// Chance of `hits` among `draws` of `all` things without putting back, of which `good` count.
fn hypergeometric(all: u32, good: u32, draws: u32, hits: u32) -> f64 {
    let [all, good, draws] = [all, good, draws].map(f64::from);
    let none = (0..draws as u32).map(|i| (all - good - f64::from(i)) / (all - f64::from(i)));
    (0..hits).map(f64::from).fold(none.product(), |chance, x| {
        chance * (good - x) * (draws - x) / ((x + 1.0) * (all - good - draws + x + 1.0))
    })
}

/// E1 and check T4: 1,000 random permutations of the 16-ary 3-tree.
///
/// A channel up from a leaf carries those of its 16 hosts' packets that go to one of the 255 hosts elsewhere
/// with its digit; one from level 1, those of 256 hosts that go to one of 15 hosts.
#[test]
fn random_permutations_contend_as_published() {
    const RUNS: u64 = 1000;
    let (graph, routes) = routes("KAryNTree(k: 16, n: 3)");
    let levels = levels(&graph);
    let total = (0..RUNS)
        .into_par_iter()
        .map(|seed| Contention::of(&routes, &levels, seed))
        .collect::<Vec<_>>()
        .iter()
        .fold(Contention::default(), Contention::plus);
    assert_eq!(total.most_down, 1);
    for (counts, good, draws) in [(total.up[0], 255, 16), (total.up[1], 15, 256)] {
        let samples = counts.iter().sum::<u64>() as f64;
        for (load, &count) in (0..).zip(&counts) {
            let expected = hypergeometric(4096, good, draws, load) * samples;
            let error = (count as f64 - expected).abs();
            assert!(
                error <= 6.0 * expected.sqrt() + 3.0,
                "{load}: {count} {expected}"
            );
        }
    }
    // the tail that the source shows ends at seven
    let share = total.up[0][7] as f64 / total.up[0].iter().sum::<u64>() as f64;
    assert!((share - 2e-5).abs() < 1e-5, "{share}");
    let (largest, mean) = (total.largest / RUNS as f64, total.mean / RUNS as f64);
    assert!((largest - 6.0).abs() < 0.3, "{largest}");
    assert!((mean - 2.335).abs() < 0.02, "{mean}");
}

/// Direction of a hop in an enriched tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hop {
    Up,
    Down,
    Next,
    Before,
}

/// Whether some packet may take `second` after `first`: up, then per level along the chain one way and down.
fn may_follow(first: Hop, second: Hop) -> bool {
    match (first, second) {
        (Hop::Up, _) | (_, Hop::Down) => true,
        (Hop::Down, next) => next != Hop::Up,
        (first, second) => first == second,
    }
}

/// Check T5: whatever a switch of an enriched tree chooses by the rules of its source, no channels wait in a
/// circle. Turning back in a chain, both ways, would do it.
#[test]
fn adaptive_routes_in_enriched_trees_cannot_wait_in_a_circle() {
    for (k, n, width) in [(3, 3, 2), (2, 4, 1), (4, 2, 3)] {
        let graph = graph(&format!("EnrichedTree(k: {k}, n: {n}, width: {width})"));
        let Shape::EnrichedTree(shape) = graph.shape() else {
            panic!("not an enriched tree");
        };
        let hop = |channel: ChannelId| {
            let ends = graph.channel(channel);
            let (from, to) = (ends.from.switch()?, ends.to.switch()?);
            Some(match shape.tree.level(from).cmp(&shape.tree.level(to)) {
                std::cmp::Ordering::Greater => Hop::Up,
                std::cmp::Ordering::Less => Hop::Down,
                std::cmp::Ordering::Equal if to > from => Hop::Next,
                std::cmp::Ordering::Equal => Hop::Before,
            })
        };
        let is_free = |allowed: &dyn Fn(Hop, Hop) -> bool| {
            let dependencies = DependencyGraph::new(&graph, 1);
            for first in graph.channel_ids() {
                let (Some(a), Some(at)) = (hop(first), graph.channel(first).to.switch()) else {
                    continue;
                };
                for (_, second, _) in graph.neighbors(at) {
                    if hop(second).is_some_and(|b| allowed(a, b)) {
                        dependencies.add_vertex(first, VlId(0));
                        dependencies.add_vertex(second, VlId(0));
                        dependencies.add(first, VlId(0), second, VlId(0));
                    }
                }
            }
            dependencies.find_cycle().is_none()
        };
        assert!(is_free(&may_follow));
        let turns = |a, b| matches!((a, b), (Hop::Next, Hop::Before) | (Hop::Before, Hop::Next));
        assert!(!is_free(&|a, b| may_follow(a, b) || turns(a, b)));
    }
}

/// Largest loads of the 8x8 mesh when every host sends one packet, as a separate program computes them.
#[test]
fn orders_load_the_8x8_mesh_as_computed_separately() {
    let mesh = graph("Mesh(radix: [8, 8])");
    let [dimension, direction] =
        ["DimensionOrder()", "DirectionOrder()"].map(|name| proof(&mesh, name, 1).0);
    let most = |tables: &Tables, to: fn(u32) -> u32| {
        let pairs = (0..64).map(|source| (HostId(source), HostId(to(source))));
        let pairs = pairs.filter(|(source, destination)| source != destination);
        ChannelLoads::of_pairs(&mesh, tables, pairs).max()
    };
    let shuffle = |s: u32| (s << 1 | s >> 5) & 63;
    let transpose = |s: u32| s >> 3 | (s & 7) << 3;
    let complement = |s: u32| 63 - s;
    assert_eq!(most(&dimension, shuffle), 4);
    assert_eq!(most(&dimension, transpose), 7);
    assert_eq!(most(&dimension, complement), 4);
    assert_eq!(most(&dimension, |s: u32| s.reverse_bits() >> 26), 7);
    let butterfly = |s: u32| (s & 0b01_1110) | s >> 5 | (s & 1) << 5;
    assert_eq!(most(&dimension, butterfly), 4);
    assert_eq!(most(&direction, shuffle), 4);
    assert_eq!(most(&direction, transpose), 7);
    assert_eq!(most(&direction, complement), 8);
    // 2.03 and 3.81 packets when each host's packet is shared by the 63 others
    assert_eq!(ChannelLoads::uniform(&mesh, &dimension).max(), 128);
    assert_eq!(ChannelLoads::uniform(&mesh, &direction).max(), 240);
}
