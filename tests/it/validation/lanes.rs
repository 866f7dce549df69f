//! Lanes that service levels and ways fix: what is asked of one of them is set against its own credits, not against those of all.

use crate::runs::{resolve, run};
use virtlane::routing::loads::bound::Place;
use virtlane::run::outcome::Verdict;
use virtlane::scenario::bounds::Bounds;
use virtlane::scenario::credit_loops;

/// A lane carries a third of a channel whose link takes 20 cycles.
const LOOP: &str = "of what its credits let through, 16 flits per credit round trip of 48 cycles";

/// Two switches with four hosts each, whose links take so long, and a cable of 20 cycles between them; flows of a class with two levels.
fn dumbbell(latency: u32, flows: &str, cycles: u64) -> String {
    format!(
        "Scenario(title: \"lanes\", seed: 1,
         fabric: (topology: EdgeList(switches: 2, links: [(0, 1, \"10 Gbit/s\", \"20 cycles\")], hosts: [0, 0, 0, 0, 1, 1, 1, 1]),
             flit: \"64 B\", link: (rate: \"10 Gbit/s\", latency: \"{latency} cycles\"), switch: (lanes: 2, lane_capacity: \"16 flits\")),
         routing: UpDown(), traffic: [(name: \"u\", size: \"8 flits\", sl: [0, 1], flows: [{flows}])],
         phases: (warmup: \"1000 cycles\", measure: \"{cycles} cycles\"))"
    )
}

/// Five switches in a ring with a host each, where its way gives a packet the first lane or the second.
fn ring(traffic: &str, cycles: u64) -> String {
    format!(
        "Scenario(title: \"ring\", seed: 1,
         fabric: (topology: Torus(radix: [5]), flit: \"64 B\", link: (rate: \"10 Gbit/s\", latency: \"20 cycles\"),
             switch: (lanes: 2, lane_capacity: \"16 flits\")),
         routing: DimensionOrder(), traffic: [(name: \"u\", size: \"8 flits\", sl: 0, {traffic})],
         phases: (warmup: \"1000 cycles\", measure: \"{cycles} cycles\"))"
    )
}

const NEIGHBORS: &str = "pairs: [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]";

fn told(text: &str) -> (Verdict, String) {
    let outcome = run(&resolve(text, &[]), [1, 1]);
    (outcome.verdict, outcome.reason)
}

fn flow(pair: &str, offers: &str) -> String {
    format!("(pairs: List(pairs: [{pair}]), {offers})")
}

/// The first flow and the third have the first level.
fn four(offers: [String; 2]) -> String {
    let pairs = ["(0, 4)", "(1, 5)", "(2, 6)", "(3, 7)"].iter();
    let flows = pairs.zip(offers.iter().cycle());
    let flows: Vec<String> = flows.map(|(pair, offers)| flow(pair, offers)).collect();
    flows.join(", ")
}

#[test]
fn flows_of_one_level_have_one_lane_of_a_channel_between_switches() {
    let limit = |rate: f64| format!("limit: Rate({rate})");
    let process = |load: f64| format!("process: ConstantRate(load: {load})");
    for cycles in [3000, 20_000, 100_000] {
        let told = |offers: [String; 2]| told(&dumbbell(1, &four(offers), cycles));
        let words = "channel S0 port 5 to S1 port 5 for 1.090 ";
        for (offers, who) in [
            ([limit(0.181_667), limit(0.01)], "the limits of 2 flows ask"),
            ([process(0.181_667), process(0.01)], "the traffic asks"),
        ] {
            let (verdict, reason) = told(offers);
            assert_eq!(verdict, Verdict::Saturated, "{cycles}: {reason}");
            let words = format!("{who} {words}{LOOP}");
            assert!(reason.contains(&words), "{cycles}: {reason}");
        }
        // below, and as much in each of both lanes
        for offers in [
            [limit(0.161_667), limit(0.01)],
            [process(0.15), process(0.01)],
            [limit(0.16), limit(0.16)],
        ] {
            let (verdict, reason) = told(offers);
            assert_eq!(verdict, Verdict::Steady, "{cycles}: {reason}");
        }
    }
}

#[test]
fn a_flow_has_one_lane_of_its_hosts_channel() {
    let limit = |rate: f64| format!("limit: Rate({rate})");
    for cycles in [3000, 20_000] {
        let over = dumbbell(20, &flow("(0, 4)", &limit(0.363_333)), cycles);
        let (verdict, reason) = told(&over);
        assert_eq!(verdict, Verdict::Saturated, "{cycles}: {reason}");
        assert!(reason.starts_with("the limit of 1 flow asks channel "));
        assert!(reason.contains(&format!("for 1.090 {LOOP}")), "{reason}");
        // two flows of one host have both lanes
        let two = ["(0, 4)", "(0, 5)"].map(|pair| flow(pair, &limit(0.32)));
        let (verdict, reason) = told(&dumbbell(20, &two.join(", "), cycles));
        assert_eq!(verdict, Verdict::Steady, "{cycles}: {reason}");
    }
    let endless = dumbbell(20, &flow("(0, 4)", "weight: 1"), 20_000);
    let (verdict, reason) = told(&endless);
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    let words = "let no more through than 16 flits per credit round trip of 48 cycles";
    assert!(reason.contains(words), "{reason}");
}

/// `check` and `routes` count the lanes that packets take.
#[test]
fn loops_are_told_of_the_lanes_that_a_class_takes_there() {
    let told = |text: &str| {
        let found = credit_loops::of_kinds(&resolve(text, &[]));
        let rounded = |part: f64| (part * 1e3).round() / 1e3;
        let found = found.iter().map(|of| (of.place, rounded(of.part)));
        found.collect::<Vec<_>>()
    };
    let kinds = |parts: [f64; 3]| {
        let places = [Place::Sender, Place::Receiver, Place::Inner];
        places.into_iter().zip(parts).collect::<Vec<_>>()
    };
    let alone = flow("(0, 4)", "limit: Rate(0.1)");
    let two = format!("{alone}, {}", flow("(0, 4)", "limit: Rate(0.1)"));
    assert_eq!(
        told(&dumbbell(20, &alone, 3000)),
        kinds([0.333, 0.34, 0.333])
    );
    assert_eq!(
        told(&dumbbell(20, &two, 3000)),
        kinds([0.667, 0.681, 0.667])
    );
    let near = ring(&format!("flows: [(pairs: List({NEIGHBORS}))]"), 3000);
    assert_eq!(told(&near), kinds([0.333, 0.34, 0.333]));
}

#[test]
fn ways_that_cross_a_dateline_or_not_have_one_lane_of_a_channel() {
    let limits = |rate: f64| format!("flows: [(pairs: List({NEIGHBORS}), limit: Rate({rate}))]");
    let pattern =
        |load: f64| format!("pattern: Pairs({NEIGHBORS}), process: ConstantRate(load: {load})");
    for cycles in [3000, 20_000, 100_000] {
        for (over, who) in [
            (limits(0.363_333), "the limit of 1 flow asks channel "),
            (pattern(0.363_333), "the traffic asks channel "),
        ] {
            let (verdict, reason) = told(&ring(&over, cycles));
            assert_eq!(verdict, Verdict::Saturated, "{cycles}: {reason}");
            assert!(reason.starts_with(who), "{cycles}: {reason}");
            let words = format!("for 1.090 {LOOP}");
            assert!(reason.contains(&words), "{cycles}: {reason}");
        }
        for under in [limits(0.323_333), pattern(0.3)] {
            let (verdict, reason) = told(&ring(&under, cycles));
            assert_eq!(verdict, Verdict::Steady, "{cycles}: {reason}");
        }
    }
    let resolved = resolve(&ring(&pattern(0.3), 3000), &[]);
    let bounds = Bounds::of(&resolved);
    let (_, bound) = &bounds.classes[0];
    assert!((bound.load - 1.0 / 3.0).abs() < 1e-9, "{bound:?}");
    assert!(bound.credit_loop.is_some(), "{bound:?}");
}
