//! Adaptive engines and their proof against following every packet one by one.

use super::*;
use crate::ids::{ChannelId, SwitchId};
use crate::registry::Arguments;
use crate::rng::{Purpose, Stream, below, stream};
use crate::routing::test_graphs::{complete, grid, irregular, spine_leaf, tree, without_link};
use crate::routing::{
    ENGINES, Engine, LaneBudget, Proof, RoutingError, VerifyError, VerifyOptions,
};
use crate::topology::{BuildContext, Graph, TOPOLOGIES};
use std::collections::{BTreeMap, BTreeSet};

const TEXTS: [&str; 10] = [
    "AdaptiveAscent()",
    "AdaptiveAscent(choose: Random)",
    "Goal()",
    "Goal(adaptive_lanes: 3)",
    "Goal(inside: DimensionOrder)",
    "MinimalAdaptive()",
    "MinimalAdaptive(adaptive_lanes: 2)",
    "Ugal()",
    "Ugal(threshold: 8)",
    "Valiant()",
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
    let (name, _) = text.split_once('(').unwrap();
    let text = &text[name.len()..];
    let engine = (ENGINES.find(name).unwrap().build)(Arguments { text }).unwrap();
    let budget = LaneBudget {
        lanes: 15,
        service_levels: 1,
    };
    match engine {
        Engine::Adaptive(engine) => engine.adapt(graph, budget),
        Engine::Tables(_) => panic!("{name} computes tables"),
    }
}

fn prove(graph: &Graph, adaptive: &Adaptive) -> Result<Proof, VerifyError> {
    let options = VerifyOptions {
        service_levels: &[SlId(0)],
        lanes: 15,
        pool_shared: false,
        senders: None,
        receivers: None,
    };
    verify(graph, adaptive, &options)
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

/// Dependencies of committed packets, found by following every course of every pair.
#[derive(Default)]
struct Followed {
    after: BTreeMap<Vertex, BTreeSet<Vertex>>,
    longest: usize,
}

impl Followed {
    fn packet(
        &mut self,
        graph: &Graph,
        adaptive: &Adaptive,
        at: SwitchId,
        destination: HostId,
        course: Course,
        path: &mut Vec<Vertex>,
        seen: &mut BTreeSet<(SwitchId, Course, Option<Vertex>)>,
    ) {
        assert!(path.len() < 100, "a packet goes round");
        let mut found = Vec::new();
        adaptive
            .routing
            .candidates(at, destination, course, &mut found);
        let (home, port) = graph.attachment(destination).unwrap();
        self.longest = self.longest.max(path.len());
        if at == home {
            let ejection = Candidate {
                port,
                lane: 0,
                escape: false,
            };
            assert_eq!(found, [ejection]);
            return;
        }
        assert!(!found.is_empty());
        for candidate in found {
            assert!(candidate.lane < adaptive.routing.width());
            let channel = graph.port_channel(at, candidate.port).unwrap();
            let vertex = (channel, candidate.lane);
            self.after.entry(vertex).or_default();
            if let Some(&last) = path.last() {
                self.after.get_mut(&last).unwrap().insert(vertex);
            }
            let next = graph.channel(channel).to.switch().unwrap();
            let course = adaptive.routing.advance(next, destination, course);
            path.push(vertex);
            if seen.insert((next, course, Some(vertex))) {
                self.packet(graph, adaptive, next, destination, course, path, seen);
            }
            path.pop();
        }
    }
}

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
    for goal in graph.switch_ids().filter(|&goal| goal != source) {
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

#[test]
fn every_engine_keeps_its_promises_on_every_graph() {
    let mut proved = BTreeMap::new();
    for graph in graphs() {
        for text in TEXTS {
            let adaptive = match adapt(&graph, text) {
                Err(RoutingError::Unsupported { .. }) => continue,
                adaptive => adaptive.unwrap(),
            };
            let proof = prove(&graph, &adaptive).unwrap_or_else(|error| panic!("{text}: {error}"));
            let hosts = graph.hosts().len() as u64;
            assert_eq!(proof.reachable_pairs, hosts * (hosts - 1), "{text}");
            assert!(
                proof.acyclic || !adaptive.guarantees.deadlock_free,
                "{text}"
            );
            agrees_with_packets(&graph, &adaptive, &proof, text);
            *proved.entry(text).or_insert(0) += 1;
        }
    }
    assert!(TEXTS.iter().all(|text| proved[text] >= 4), "{proved:?}");
}

/// The proof's cycle, length and number of dependencies against packets followed one by one.
fn agrees_with_packets(graph: &Graph, adaptive: &Adaptive, proof: &Proof, text: &str) {
    let legs = adaptive.routing.legs().unwrap();
    let mut followed = Followed::default();
    let mut dice = Dice(stream(7, Purpose::Adaptive, 0).into());
    for destination in graph.host_ids() {
        let (home, _) = graph.attachment(destination).unwrap();
        for source in graph.host_ids() {
            let (source, _) = graph.attachment(source).unwrap();
            if source == home {
                continue;
            }
            let known = courses(graph, legs, source, home);
            for _ in 0..4 {
                let course = adaptive.routing.depart(source, destination, &mut dice);
                assert!(known.contains(&course), "{text}: {course:?}");
            }
            let mut seen = BTreeSet::new();
            for course in known {
                let path = &mut Vec::new();
                followed.packet(
                    graph,
                    adaptive,
                    source,
                    destination,
                    course,
                    path,
                    &mut seen,
                );
            }
        }
    }
    assert!(followed.longest <= proof.max_hops as usize, "{text}");
    let choices = proof.choices.as_ref().unwrap();
    if adaptive.routing.selection() == Selection::Open {
        assert_eq!(is_acyclic(extended(graph, legs)), proof.acyclic, "{text}");
        return;
    }
    let dependencies: usize = followed.after.values().map(BTreeSet::len).sum();
    assert!(dependencies as u64 <= proof.dependencies, "{text}");
    if !choices.detours {
        assert_eq!(dependencies as u64, proof.dependencies, "{text}");
        assert_eq!(followed.longest, proof.max_hops as usize, "{text}");
    }
    assert!(is_acyclic(followed.after) || !proof.acyclic, "{text}");
}

/// The extended dependency graph of the escape lanes, from its definition.
fn extended(graph: &Graph, legs: &dyn Legs) -> BTreeMap<Vertex, BTreeSet<Vertex>> {
    let mut after: BTreeMap<Vertex, BTreeSet<Vertex>> = BTreeMap::new();
    for goal in graph.switch_ids() {
        if graph.attached_hosts(goal).next().is_none() {
            continue;
        }
        let ways = |at: SwitchId, word: u16| {
            let mut found = Vec::new();
            if at != goal {
                legs.ways(at, goal, word, &mut found);
            }
            found.into_iter().map(move |candidate| {
                let channel = graph.port_channel(at, candidate.port).unwrap();
                (channel, candidate)
            })
        };
        for word in 0..legs.words() {
            let mut reached = BTreeSet::new();
            let mut open: Vec<SwitchId> = graph
                .switch_ids()
                .filter(|&source| {
                    let mut words = Vec::new();
                    if source != goal && graph.attached_hosts(source).next().is_some() {
                        legs.starts(source, goal, Leg::Last, &mut words);
                    }
                    words.contains(&word)
                })
                .collect();
            while let Some(at) = open.pop() {
                if reached.insert(at) {
                    open.extend(ways(at, word).filter_map(|(c, _)| graph.channel(c).to.switch()));
                }
            }
            for &at in &reached {
                for (channel, escape) in ways(at, word).filter(|(_, way)| way.escape) {
                    let mut met = BTreeSet::new();
                    let mut open = vec![graph.channel(channel).to.switch().unwrap()];
                    let next = after.entry((channel, escape.lane)).or_default();
                    while let Some(at) = open.pop() {
                        if !met.insert(at) {
                            continue;
                        }
                        for (channel, way) in ways(at, word) {
                            if way.escape {
                                next.insert((channel, way.lane));
                            } else {
                                open.extend(graph.channel(channel).to.switch());
                            }
                        }
                    }
                }
            }
        }
    }
    after
}

/// Shortest ways on an adaptive lane, and one escape each, drawn.
#[derive(Debug)]
struct Drawn {
    ports: Vec<Vec<u16>>,
    escape: Vec<(u16, u8)>,
    switches: usize,
    escape_lanes: u8,
}

impl Drawn {
    fn new(graph: &Graph, seed: u64, escape_lanes: u8) -> Self {
        let mut rng = stream(seed, Purpose::Routing, 0);
        let adjacency = crate::routing::paths::Adjacency::new(graph);
        let (mut ports, mut escape) = (Vec::new(), Vec::new());
        for goal in graph.switch_ids() {
            let hops = adjacency.distances(&[goal]);
            for at in graph.switch_ids() {
                let exits = adjacency.exits(at.index()).iter();
                let nearer = exits.filter(|exit| hops[exit.neighbor as usize] < hops[at.index()]);
                let nearer: Vec<u16> = nearer.map(|exit| exit.port).collect();
                let drawn = nearer.get(below(&mut rng, nearer.len().max(1) as u32) as usize);
                escape.push((
                    drawn.copied().unwrap_or(0),
                    below(&mut rng, u32::from(escape_lanes)) as u8,
                ));
                ports.push(nearer);
            }
        }
        Self {
            ports,
            escape,
            switches: graph.switches().len(),
            escape_lanes,
        }
    }
}

impl Legs for Drawn {
    fn width(&self) -> u8 {
        self.escape_lanes + 1
    }
    fn selection(&self) -> Selection {
        Selection::Open
    }
    fn words(&self) -> u16 {
        1
    }
    fn depart(&self, _: SwitchId, _: SwitchId, _: &mut dyn Local) -> Course {
        Course {
            via: Course::DIRECT,
            word: 0,
        }
    }
    fn starts(&self, _: SwitchId, _: SwitchId, leg: Leg, found: &mut Vec<u16>) {
        found.extend((leg == Leg::Last).then_some(0));
    }
    fn ways(&self, at: SwitchId, goal: SwitchId, _: u16, found: &mut Vec<Candidate>) {
        let place = goal.index() * self.switches + at.index();
        let lane = self.escape_lanes;
        let ports = self.ports[place].iter();
        found.extend(ports.map(|&port| Candidate {
            port,
            lane,
            escape: false,
        }));
        let (port, lane) = self.escape[place];
        found.push(Candidate {
            port,
            lane,
            escape: true,
        });
    }
}

#[test]
fn the_extended_graph_is_that_of_the_definition() {
    let budget = LaneBudget {
        lanes: 15,
        service_levels: 1,
    };
    let (mut acyclic, mut only_indirect, mut cyclic) = (0, 0, 0);
    for graph in [
        grid(&[3, 3], false, 1),
        grid(&[5], true, 1),
        grid(&[2, 3], false, 1),
        complete(5),
    ] {
        for seed in 0..60 {
            let legs = Drawn::new(&graph, seed, 1 + (seed % 4) as u8);
            let wanted = is_acyclic(extended(&graph, &legs));
            let adaptive = Adaptive::by_legs(&graph, "Drawn", legs, budget, [true, false]).unwrap();
            let proof = prove(&graph, &adaptive).unwrap();
            assert_eq!(proof.acyclic, wanted, "seed {seed}");
            match proof.cycle {
                None => acyclic += 1,
                Some(cycle) => {
                    cyclic += 1;
                    let turns = (0..cycle.len()).all(|i| {
                        let (from, to) = (cycle[i].0, cycle[(i + 1) % cycle.len()].0);
                        graph.channel(from).to.switch() == graph.channel(to).from.switch()
                    });
                    only_indirect += u32::from(!turns);
                }
            }
        }
    }
    assert!(
        acyclic > 20 && cyclic > 20 && only_indirect > 0,
        "{acyclic} {cyclic} {only_indirect}"
    );
}

/// What is wrong about a function, one way of being wrong after the other.
#[derive(Debug)]
struct Wrong(u8);

impl Legs for Wrong {
    fn width(&self) -> u8 {
        2
    }
    fn selection(&self) -> Selection {
        if self.0 == 4 {
            Selection::Open
        } else {
            Selection::First
        }
    }
    fn words(&self) -> u16 {
        1
    }
    fn depart(&self, _: SwitchId, _: SwitchId, _: &mut dyn Local) -> Course {
        Course {
            via: Course::DIRECT,
            word: 0,
        }
    }
    fn starts(&self, _: SwitchId, _: SwitchId, leg: Leg, found: &mut Vec<u16>) {
        found.extend((leg == Leg::Last).then_some(u16::from(self.0 == 5)));
    }
    fn ways(&self, at: SwitchId, goal: SwitchId, _: u16, found: &mut Vec<Candidate>) {
        // on a ring: + all the way round, unless something is wrong
        let port = match self.0 {
            1 if goal.0 == 3 => 1 + (at.0 % 2) as u16,
            2 => 3,
            _ => 1,
        };
        let lane = if self.0 == 3 { 2 } else { 0 };
        if self.0 != 0 {
            found.push(Candidate {
                port,
                lane,
                escape: false,
            });
        }
    }
}

#[test]
fn wrong_functions_are_named() {
    let graph = grid(&[5], true, 1);
    let budget = LaneBudget {
        lanes: 2,
        service_levels: 1,
    };
    let complaints = [
        "there is no way on",
        "packets may go round and come back",
        "port 3 leads to no switch",
        "lane 2 is used, a group has 2",
        "there is no escape lane",
        "word 1 is used, there are 1",
        "promises shortest paths",
    ];
    for (number, complaint) in (0..).zip(complaints) {
        let legs = Wrong(number);
        let adaptive = Adaptive::by_legs(&graph, "Wrong", legs, budget, [true, true]).unwrap();
        let error = prove(&graph, &adaptive).unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
    let adaptive = Adaptive::by_legs(&graph, "Wrong", Wrong(7), budget, [false, true]).unwrap();
    let error = prove(&graph, &adaptive).unwrap_err().to_string();
    assert!(error.contains("wait in a circle"), "{error}");
}

#[test]
fn lanes_hops_and_words_are_the_known_ones() {
    let lanes = |graph: &Graph, text| adapt(graph, text).unwrap().routing.width();
    let torus = grid(&[8, 8], true, 1);
    let mesh = grid(&[8, 8], false, 1);
    for (text, on_torus, on_mesh) in [
        ("Valiant()", 4, 2),
        ("Goal()", 3, 2),
        ("Goal(inside: DimensionOrder)", 2, 1),
        ("MinimalAdaptive(adaptive_lanes: 3)", 5, 4),
    ] {
        assert_eq!(
            (lanes(&torus, text), lanes(&mesh, text)),
            (on_torus, on_mesh),
            "{text}"
        );
    }
    let longest =
        |graph: &Graph, text| prove(graph, &adapt(graph, text).unwrap()).unwrap().max_hops;
    assert_eq!(longest(&mesh, "Goal()"), 14);
    assert_eq!(longest(&torus, "Goal()"), 14);
    assert_eq!(longest(&torus, "MinimalAdaptive()"), 8);
    assert_eq!(longest(&mesh, "Valiant()"), 28);
    let dragonfly = built("Dragonfly(p: 1, a: 4, h: 2)");
    assert_eq!(
        (lanes(&dragonfly, "Ugal()"), longest(&dragonfly, "Ugal()")),
        (3, 5)
    );
    let error = adapt(&mesh, "AdaptiveAscent()").unwrap_err();
    assert!(error.to_string().contains("not a regular tree"), "{error}");
}

/// C23: on a ring of 8 the long direction is taken with probability D / 8.
#[test]
fn goal_takes_the_long_direction_as_often_as_it_says() {
    let torus = grid(&[8, 8], true, 1);
    let adaptive = adapt(&torus, "Goal()").unwrap();
    let mut dice = Dice(stream(11, Purpose::Adaptive, 0).into());
    for hops in 1..=4u32 {
        let (mut long, draws) = (0, 40_000);
        for i in 0..draws {
            let source = SwitchId(i % 64);
            let there = (source.0 % 8 + hops) % 8 + source.0 / 8 * 8;
            let course = adaptive.routing.depart(source, HostId(there), &mut dice);
            long += u32::from(course.word & 1 == 0);
        }
        let share = f64::from(long) / f64::from(draws);
        let expected = f64::from(hops) / 8.0;
        // five standard deviations; the check asks for 0.02
        let tolerance = 5.0 * (expected * (1.0 - expected) / f64::from(draws)).sqrt();
        assert!((share - expected).abs() < tolerance, "{hops} hops: {share}");
    }
}
