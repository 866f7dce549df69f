//! Congestion trees (D43, D79, D84) of whole runs of drawn scenarios: what every look finds, against the reference model.

use super::{is_usual, number};
use crate::random_fabric::Dice;
use crate::reference::{TreeSeen, TreesSeen, simulate};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use virtlane::measure::CongestionLook;
use virtlane::rng::{Purpose, stream};
use virtlane::run::{Settings, execute};
use virtlane::scenario::{Document, Parts, Resolved};

/// Keys of switches with their values, each written in so many of a hundred scenarios.
const SWITCH: [(u32, &[&str]); 11] = [
    (
        75,
        &[
            "forwarding: Wormhole",
            "forwarding: Wormhole",
            "forwarding: StoreAndForward",
        ],
    ),
    (40, &["queues: Voq"]),
    (10, &["sharing: PortPool"]),
    (
        40,
        &[
            "input_speedup: 2",
            "input_speedup: 3",
            "input_speedup: Unlimited",
        ],
    ),
    (25, &["input_turns: Packets"]),
    (
        30,
        &["output_buffer: \"3 flits\"", "output_buffer: \"9 flits\""],
    ),
    (25, &["iterations: 2"]),
    (25, &["matching: InputFirst"]),
    (
        40,
        &[
            "routing_delay: \"2 cycles\"",
            "allocation_delay: \"1 cycles\"",
            "crossbar_delay: \"2 cycles\"",
        ],
    ),
    (
        45,
        &[
            "marking: InfiniBand(threshold: 15)",
            "marking: InfiniBand(threshold: 9)",
            "marking: (threshold: \"4 flits\")",
        ],
    ),
    (
        25,
        &[
            "drop: (sl: [1])",
            "drop: (sl: [1], rule: Threshold(\"6 flits\"))",
            "drop: (sl: [0, 1], rule: Threshold(\"16 flits\"))",
        ],
    ),
];
/// Topology and routing.
const NETWORKS: [(&str, &str); 6] = [
    (
        "Torus(radix: [3, 2], hosts_per_switch: 2)",
        "DimensionOrder()",
    ),
    ("Torus(radix: [4, 3])", "DimensionOrder()"),
    ("Mesh(radix: [3, 3])", "DimensionOrder()"),
    ("Torus(radix: [3, 3])", "MinimalAdaptive()"),
    (
        "Mesh(radix: [4, 2], hosts_per_switch: 2)",
        "MinimalAdaptive()",
    ),
    ("Torus(radix: [3, 3])", "Ugal()"),
];

/// The same of engines whose packets stand in several queues with VOQ (D84), and what does not go with that.
const OPEN_NETWORKS: [(&str, &str); 3] = [
    ("Torus(radix: [3, 3])", "MinimalAdaptive()"),
    (
        "Mesh(radix: [4, 2], hosts_per_switch: 2)",
        "MinimalAdaptive()",
    ),
    ("Mesh(radix: [3, 3])", "UpDown(lanes: Any)"),
];
const NOT_STANDING: [&str; 2] = ["forwarding: Wormhole", "input_turns: Packets"];
const VOQ: &str = "queues: Voq";

/// A scenario with hot spots, and its looks; `stands`: packets stand in several queues.
fn text(dice: &mut Dice, stands: bool) -> String {
    let networks: &[(&str, &str)] = if stands { &OPEN_NETWORKS } else { &NETWORKS };
    let (topology, routing) = dice.pick(networks);
    let mut keys = vec![format!(
        "lane_capacity: \"{} flits\"",
        dice.pick(&[1, 2, 3, 4, 5, 8, 8, 13, 16, 16, 24])
    )];
    for (percent, values) in SWITCH {
        if dice.chance(percent) {
            keys.push(String::from(dice.pick(values)));
        }
    }
    if stands {
        keys.retain(|key| key != VOQ && !NOT_STANDING.contains(&key.as_str()));
        keys.push(String::from(VOQ));
    }
    let rate = dice.pick(&["", "", "sink_rate: \"40 Gbit/s\""]);
    let level = dice.pick(&["", ", management_lane: true"]);
    let lanes = dice.pick(&[8, 4, 12]);
    format!(
        "Scenario(title: \"trees\", seed: {}, fabric: (topology: {topology}, link: (rate: \"100 Gbit/s\", latency: \"{} cycles\"), \
         switch: (lanes: {lanes}, {}), host: ({rate})), qos: (vl_arbitration: None{level}), routing: {routing}, traffic: [\
         (name: \"even\", pattern: Uniform, process: Bernoulli(load: 0.{}), size: \"{} flits\", sl: 0), \
         (name: \"hot\", pattern: HotSpot(targets: [1, 4], fraction: 0.{}), process: Poisson(load: 0.{}), size: \"{} flits\", sl: 1)], \
         phases: (warmup: \"{} cycles\", measure: \"400 cycles\", drain: \"30 cycles\"), observe: (congestion: \"{} cycles\"), \
         allow_deadlock: true)",
        dice.between(1, 1_000_000),
        dice.between(1, 4),
        keys.join(", "),
        dice.between(1, 6),
        dice.between(1, 8),
        dice.between(2, 9),
        dice.between(1, 6),
        dice.between(1, 8),
        dice.between(0, 90),
        dice.between(1, 23),
    )
}

/// The first scenario that is one.
fn drawn(seed: u64, stands: bool) -> (String, Resolved) {
    let own = (1 << 56) + u64::from(stands);
    let mut dice = Dice(stream(seed, Purpose::Topology, own));
    loop {
        let text = text(&mut dice, stands);
        let document = Document::parse("trees.ron", &text, Path::new(".")).expect("RON");
        if let Ok(resolved) = document.resolve(&Parts::registered()) {
            return (text, resolved);
        }
    }
}

/// What the engine has seen, in the form of the reference model.
fn seen(look: &CongestionLook) -> TreesSeen {
    let tree = |tree: &virtlane::measure::CongestionTree| TreeSeen {
        root: (tree.channel.index(), tree.lane.into()),
        size: tree.size as usize,
        depth: tree.depth as usize,
        flits: tree.flits,
    };
    TreesSeen {
        cycle: look.cycle,
        victims: look.victims as usize,
        outside: look.outside as usize,
        trees: look.trees.iter().map(tree).collect(),
    }
}

/// Compares so many scenarios; the depth of the deepest tree by forwarding.
fn compare(count: u64, stands: bool) -> BTreeMap<String, usize> {
    let first = number("VIRTLANE_FIRST_CASE", 0);
    let mut failures = Vec::new();
    let mut deepest: BTreeMap<String, usize> = BTreeMap::new();
    for seed in first..first + number("VIRTLANE_CASES", count) {
        let (text, resolved) = drawn(seed, stands);
        let settings = Settings {
            threads: Some(1 + seed as usize % 2),
            shards: Some(1 + seed as usize % 3),
            check: true,
            ..Settings::default()
        };
        let found = execute(&resolved, settings, &mut |_| {}, &AtomicBool::new(false));
        let found = found.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let cycles = found.cycles.warmup + found.cycles.measure + found.cycles.drain;
        let expected = simulate(
            &resolved.plan,
            &resolved.layout.graph,
            &resolved.routes,
            cycles,
        );
        let looks = found.congestion.expect("it was asked for");
        let looks: Vec<TreesSeen> = looks.iter().map(seen).collect();
        for number in 0..looks.len().max(expected.trees.len()) {
            let both = (expected.trees.get(number), looks.get(number));
            if both.0 != both.1 {
                failures.push(format!("{seed}, look {number}: {both:?}\n{text}"));
                break;
            }
        }
        let trees = looks.iter().flat_map(|look| &look.trees);
        let depth = trees.map(|tree| tree.depth).max().unwrap_or(0);
        let kind = format!("{:?}", resolved.plan.switch.forwarding);
        let most = deepest.entry(kind).or_default();
        *most = depth.max(*most);
    }
    assert!(
        failures.is_empty(),
        "{} scenarios differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
    deepest
}

#[test]
fn every_look_finds_the_same_trees() {
    let deepest = compare(60, false);
    if is_usual() {
        assert!(
            deepest.len() == 3 && deepest.values().all(|&depth| depth > 2),
            "{deepest:?}"
        );
    }
}

#[test]
fn every_look_finds_the_same_trees_of_packets_that_stand() {
    let deepest = compare(40, true);
    if is_usual() {
        assert!(deepest.values().any(|&depth| depth > 1), "{deepest:?}");
    }
}
