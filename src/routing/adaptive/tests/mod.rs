//! Adaptive engines and their proof against following every packet one by one.

use super::*;
use crate::ids::{ChannelId, SwitchId};
use crate::registry::Arguments;
use crate::rng::{Purpose, Stream, below, stream};
use crate::routing::paths::Adjacency;
use crate::routing::tests::conformance::options;
use crate::routing::tests::graphs::{complete, grid, irregular, spine_leaf, tree, without_link};
use crate::routing::{ENGINES, Engine, LaneBudget, Proof, RoutingError, VerifyError};
use crate::topology::{BuildContext, Graph, TOPOLOGIES};
use std::collections::{BTreeMap, BTreeSet};

mod any_lane;
mod chains;
mod escape;
mod known;
mod packets;

const TEXTS: [&str; 21] = [
    "AdaptiveAscent()",
    "AdaptiveAscent(choose: Random)",
    "Cqr()",
    "Cqr(threshold: 8, inside: DimensionOrder)",
    "Goal()",
    "Goal(adaptive_lanes: 3)",
    "Goal(inside: DimensionOrder)",
    "MinimalAdaptive()",
    "MinimalAdaptive(adaptive_lanes: 2)",
    "MpLash()",
    "MpLash(lmc: 2, choose: Random)",
    "MpLash(lmc: 1, choose: Pair, granularity: Source)",
    "PlanarAdaptive()",
    "PlanarAdaptive(choose: Random)",
    "Romm()",
    "Ugal()",
    "Ugal(threshold: 8)",
    "Valiant()",
    "XyYx()",
    "XyYx(choose: Pair)",
    "XyYx(choose: LeastLoad)",
];

fn built(text: &str) -> Graph {
    let (name, _) = text.split_once('(').unwrap();
    let text = &text[name.len()..];
    let topology = (TOPOLOGIES.find(name).unwrap().build)(Arguments { text }).unwrap();
    let context = BuildContext {
        seed: 1,
        clock: crate::units::Clock {
            flit_bytes: 64,
            reference_rate: 10_000_000_000,
        },
        switch_link: crate::topology::ChannelTiming::default(),
        host_link: crate::topology::ChannelTiming::default(),
        base: std::path::Path::new(""),
    };
    topology.build(&context).unwrap()
}

fn graphs() -> Vec<Graph> {
    let mut graphs = vec![
        tree(2, 3),
        tree(3, 2),
        spine_leaf(3, 4, 2),
        irregular(12, 4, 5),
        complete(2),
        complete(6),
        without_link(&grid(&[4, 4], true, 1), 3),
        built("Dragonfly(p: 1, a: 3, h: 1)"),
        built("Dragonfly(p: 1, a: 3, h: 1, g: 2)"),
        built("Dragonfly(p: 1, a: 4, h: 2, g: 3, arrangement: Absolute)"),
        built("Dragonfly(p: 2, a: 3, h: 1, g: 1)"),
        built("HyperX(sizes: [3, 2], multiplicity: [2, 1], hosts_per_switch: 2)"),
        built("Hypercube(dimensions: 3)"),
        built("Xgft(children: [2, 3], parents: [1, 2], parallel: [1, 2])"),
        built("EnrichedTree(k: 2, n: 3, width: 1)"),
        built("Kautz(degree: 2, k: 2)"),
    ];
    for wrap in [false, true] {
        for radix in [
            &[2][..],
            &[3],
            &[4],
            &[5],
            &[6],
            &[2, 3],
            &[4, 3],
            &[5, 1, 2],
        ] {
            graphs.push(grid(radix, wrap, 1));
        }
    }
    graphs
}

fn adapt(graph: &Graph, text: &str) -> Result<Adaptive, RoutingError> {
    let budget = LaneBudget {
        lanes: 15,
        service_levels: 1,
    };
    adapt_with(graph, text, budget)
}

fn adapt_with(graph: &Graph, text: &str, budget: LaneBudget) -> Result<Adaptive, RoutingError> {
    let (name, _) = text.split_once('(').unwrap();
    let text = &text[name.len()..];
    let engine = (ENGINES.find(name).unwrap().build)(Arguments { text }).unwrap();
    match engine {
        Engine::Adaptive(engine) => engine.adapt(graph, budget),
        Engine::Tables(_) => panic!("{name} computes tables"),
    }
}

fn prove(graph: &Graph, adaptive: &Adaptive) -> Result<Proof, VerifyError> {
    verify(graph, adaptive, &options(15))
}

/// A departing packet that sees random loads.
struct Dice(std::cell::RefCell<Stream>);

impl Local for Dice {
    fn load(&self, _port: u16, _lane: u8) -> u32 {
        below(&mut self.0.borrow_mut(), 4)
    }

    fn below(&mut self, bound: u32) -> u32 {
        below(self.0.get_mut(), bound)
    }
}

type Vertex = (ChannelId, u8);

fn is_acyclic<V: Ord + Copy>(mut after: BTreeMap<V, BTreeSet<V>>) -> bool {
    loop {
        let known: BTreeSet<V> = after.keys().copied().collect();
        let before = after.len();
        after.retain(|_, next| next.iter().any(|vertex| known.contains(vertex)));
        if after.len() == before {
            return after.is_empty();
        }
    }
}

/// Courses with which packets from `source` to `home` may set out.
fn courses(graph: &Graph, legs: &dyn Legs, source: SwitchId, home: SwitchId) -> BTreeSet<Course> {
    let mut courses = BTreeSet::new();
    let mut words = Vec::new();
    let adjacency = Adjacency::new(graph);
    let [from, to] = [source, home].map(|end| adjacency.distances(&[end]));
    let passes = |via: SwitchId| {
        let hops = from[via.index()] + to[via.index()];
        !legs.stays_between() || hops == from[home.index()]
    };
    let goals = graph.switch_ids().filter(|&goal| goal != source);
    for goal in goals.filter(|&goal| passes(goal)) {
        let leg = |leg, via| {
            let mut found = Vec::new();
            legs.starts(source, goal, leg, &mut found);
            found.into_iter().map(move |word| Course { via, word })
        };
        words.extend(leg(Leg::First, goal.0).filter(|_| goal != home));
        words.extend(leg(Leg::Last, Course::DIRECT).filter(|_| goal == home));
    }
    courses.extend(words);
    courses
}
