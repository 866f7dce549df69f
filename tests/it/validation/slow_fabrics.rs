//! Fabrics whose cables are longer than any limit in cycles: what is under way is not stuck, and what is stuck is told.

use super::run;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use virtlane::plan::Times;
use virtlane::rng::{Purpose, Stream, below, stream};
use virtlane::run::outcome::{Outcome, Overload, Verdict};
use virtlane::run::{Checkpoint, Continuation, Keeping, Settings, Start, execute, execute_from};
use virtlane::scenario::{Document, Parts, Resolved};

fn resolve(text: &str, base: &Path) -> Resolved {
    let document = Document::parse("slow.ron", text, base).expect("a scenario");
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn run_text(text: &str) -> (Resolved, Outcome) {
    let resolved = resolve(text, Path::new("."));
    let outcome = run(&resolved);
    (resolved, outcome)
}

/// 64 KiB over 60 us of cable: 11,719 cycles of it, two hosts' cables of 20, 1,024 flits, routing and arbitration.
#[test]
fn a_flow_over_a_long_cable_is_complete() {
    let (resolved, outcome) = run_text(
        r#"Scenario(title: "long cable", seed: 1,
            fabric: (topology: EdgeList(links: [(0, 1, "60 us")], hosts_per_switch: 1), flit: "64 B",
                link: (rate: "100 Gbit/s", latency: "100 ns"), switch: (lanes: 1, lane_capacity: "65535 flits")),
            routing: UpDown(),
            traffic: [(name: "m", flows: [(pairs: List(pairs: [(0, 1)]), bytes: "64 KiB")], size: "2 KiB", sl: 0)],
            phases: (warmup: "0 cycles", measure: Flows(at_most: "10000000 cycles")))"#,
    );
    assert!(resolved.proof.acyclic);
    assert_ne!(outcome.verdict, Verdict::Deadlocked, "{}", outcome.reason);
    assert!(outcome.reason.contains("12784"), "{}", outcome.reason);
    let last = outcome.flow_counts[0].arrived.last_delivery;
    assert_eq!(last, Some(12_784));
}

#[test]
fn rare_packets_over_200_us_are_steady() {
    let (_, outcome) = run_text(
        r#"Scenario(title: "metro", seed: 1,
            fabric: (topology: EdgeList(links: [(0, 1, "200 us")], hosts_per_switch: 4), flit: "64 B",
                link: (rate: "100 Gbit/s", latency: "10 ns"), switch: (lanes: 1, lane_capacity: "65535 flits")),
            routing: UpDown(),
            traffic: [(name: "u", pattern: Uniform, process: Bernoulli(load: 0.0001), size: "1 KiB", sl: 0)],
            phases: (warmup: "1 ms", measure: "100 ms"))"#,
    );
    assert_eq!(outcome.verdict, Verdict::Steady, "{}", outcome.reason);
}

/// Cycles of a hundredth of a flit and less.
#[test]
fn links_of_many_rates_are_not_deadlocked() {
    let folder = tempfile::tempdir().expect("a folder");
    let edges = "switches 2\n0 1 42Gbit/s 15ns\n0 1 37.5Gbit/s 100ns\nhost a 0 64Gbit/s 5ns\nhost b 0 64Gbit/s 5ns\n\
                 host c 1 64Gbit/s 5ns\nhost d 1 64Gbit/s 5ns\n";
    std::fs::write(folder.path().join("rates.edges"), edges).expect("it can be written");
    let text = r#"Scenario(title: "mixed", seed: 1,
        fabric: (topology: EdgeList(file: "rates.edges"), flit: "64 B", link: (rate: "42 Gbit/s", latency: "5 ns"),
            switch: (lanes: 1, lane_capacity: "128 flits", routing_delay: "30 ns")),
        routing: UpDown(),
        traffic: [(name: "uniform", pattern: Uniform, process: Bernoulli(load: 0.1), size: "1 KiB", sl: 0)],
        phases: (warmup: "5 us", measure: "20 us"))"#;
    let outcome = run(&resolve(text, folder.path()));
    assert_ne!(outcome.verdict, Verdict::Deadlocked, "{}", outcome.reason);
    assert!(
        outcome
            .records
            .classes
            .iter()
            .any(|class| class.delivered_packets > 0)
    );
}

/// A ring that is dead, with hosts beside it whose packets meet none of it; `more`: at the end of `phases`.
fn ring(more: &str) -> String {
    format!(
        r#"Scenario(title: "a dead ring", seed: 1,
            fabric: (topology: Torus(radix: [3], hosts_per_switch: 3), flit: "64 B",
                link: (rate: "10 Gbit/s", latency: "1 cycles"), switch: (lanes: 1, lane_capacity: "16 flits")),
            routing: DimensionOrder(dateline: None, unidirectional: true),
            traffic: [
                (name: "ring", flows: [(pairs: List(pairs: [(0, 6), (3, 0), (6, 3)]))], size: "16 flits"),
                (name: "pair", flows: [(pairs: List(pairs: [(1, 2)]))], size: "16 flits"),
            ],
            phases: ({more}), allow_deadlock: true)"#
    )
}

/// The pair goes on at full rate: the watchdog does not wait for a standstill.
#[test]
fn a_dead_ring_beside_a_healthy_pair_is_told() {
    let (_, outcome) = run_text(&ring(r#"warmup: "2000 cycles", measure: "900000 cycles""#));
    assert_eq!(outcome.verdict, Verdict::Deadlocked, "{}", outcome.reason);
    assert_eq!(outcome.cycles.total, 10_000);
    let first = outcome.reason.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("6 heads can never move again at cycle 10000"),
        "{first}"
    );
    assert!(
        outcome.reason.contains("wait-for cycle of 3 packets"),
        "{}",
        outcome.reason
    );
    // too short for a look: it is told at the end
    let (_, outcome) = run_text(&ring(
        r#"warmup: "20 cycles", measure: "900 cycles", drain: "0 cycles""#,
    ));
    assert_eq!(outcome.verdict, Verdict::Deadlocked, "{}", outcome.reason);
    assert_eq!(outcome.cycles.total, 920);
}

/// The cycle does not depend on threads and shards, nor on a stop on the way.
#[test]
fn a_partial_deadlock_is_told_in_the_same_cycle_however_it_is_run() {
    let text = ring(r#"warmup: "2000 cycles", measure: "900000 cycles", watchdog: "7000 cycles""#);
    let resolved = resolve(&text, Path::new("."));
    let told = |threads, shards| {
        let settings = Settings {
            threads: Some(threads),
            shards: Some(shards),
            ..Settings::default()
        };
        let outcome = execute(&resolved, settings, &mut |_| {}, &AtomicBool::new(false));
        let outcome = outcome.expect("it runs");
        (outcome.cycles.total, outcome.reason)
    };
    let expected = told(1, 1);
    assert_eq!(expected.0, 7_000);
    assert_eq!(told(1, 3), expected);
    assert_eq!(told(2, 2), expected);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state");
    let keep = Continuation {
        keeping: Some(Keeping {
            file: folder.path().join("latest"),
            every: None,
            at_wall_time: false,
            warm: Some(file.clone()),
            last: 0,
        }),
        ..Continuation::default()
    };
    let run = |continuation| {
        let settings = Settings::default();
        let outcome = execute_from(
            &resolved,
            settings,
            continuation,
            &mut |_| {},
            &AtomicBool::new(false),
        );
        let outcome = outcome.expect("it runs");
        (outcome.cycles.total, outcome.reason)
    };
    assert_eq!(run(keep), expected);
    let state = Checkpoint::read(&file).expect("it was kept");
    for start in [
        Start::Resume(Box::new(state.clone())),
        Start::Fork(Box::new(state)),
    ] {
        let resumed = Continuation {
            start,
            ..Continuation::default()
        };
        assert_eq!(run(resumed), expected);
    }
}

fn pick<'a>(dice: &mut Stream, values: &[&'a str]) -> &'a str {
    values[below(dice, values.len() as u32) as usize]
}

/// Routes that are proved, cables up to 100,000 cycles, the smallest buffers, a watchdog that looks as often as it can.
#[test]
fn proved_fabrics_with_long_cables_are_never_told_deadlocked() {
    for seed in 0..40 {
        let mut dice = stream(seed, Purpose::Topology, 1 << 46);
        let switches = 2 + below(&mut dice, 4);
        let mut cable = |a: u32, b: u32| {
            let most = [10, 1_000, 100_000][below(&mut dice, 3) as usize];
            let latency = 1 + below(&mut dice, most);
            format!("({a}, {b}, \"{latency} cycles\")")
        };
        let mut links: Vec<String> = (1..switches).map(|to| cable(to - 1, to)).collect();
        links.push(cable(switches - 1, 0));
        let links = links.join(", ");
        let options = pick(
            &mut dice,
            &[
                "lane_capacity: \"16 flits\"",
                "lane_capacity: \"16 flits\", queues: Voq",
                "lane_capacity: \"16 flits\", reserve: true",
                "lane_capacity: \"16 flits\", output_lane_buffer: \"16 flits\"",
                "lane_capacity: \"2 flits\", forwarding: Wormhole",
                "lane_capacity: \"40 flits\", input_speedup: Unlimited",
            ],
        );
        let load = pick(&mut dice, &["0.00001", "0.0002", "0.3"]);
        let text = format!(
            r#"Scenario(title: "long", seed: {seed},
                fabric: (topology: EdgeList(links: [{links}], hosts_per_switch: 2), flit: "64 B",
                    link: (rate: "100 Gbit/s", latency: "10 ns"), switch: (lanes: 1, {options})),
                routing: UpDown(),
                traffic: [(name: "u", pattern: Uniform, process: Bernoulli(load: {load}), size: "16 flits", sl: 0)],
                phases: (warmup: "1000 cycles", measure: "400000 cycles", drain: "0 cycles", watchdog: "1 cycles"))"#
        );
        let (resolved, outcome) = run_text(&text);
        assert!(resolved.proof.acyclic);
        assert_ne!(
            outcome.verdict,
            Verdict::Deadlocked,
            "{text}\n{}",
            outcome.reason
        );
    }
}

/// Two switches with a host each and a long cable between them; one class and phases.
fn cable(capacity: u32, process: &str, phases: &str) -> Resolved {
    let text = format!(
        r#"Scenario(title: "cable", seed: 1,
            fabric: (topology: EdgeList(links: [(0, 1, "100000 cycles")], hosts_per_switch: 1), flit: "64 B",
                link: (rate: "100 Gbit/s", latency: "2 cycles"),
                switch: (lanes: 1, lane_capacity: "{capacity} flits", routing_delay: "5 cycles", allocation_delay: "1 cycles",
                    crossbar_delay: "4 cycles")),
            routing: UpDown(),
            traffic: [(name: "u", pattern: Uniform, process: {process}, size: "16 flits", sl: 0)],
            phases: ({phases}))"#
    );
    resolve(&text, Path::new("."))
}

/// Both latencies and the delays of a switch, and a packet of 16 flits.
const HOP: u64 = 2 * 100_000 + 5 + 1 + 4 + 16;

#[test]
fn limits_in_cycles_ask_the_fabric() {
    let phases = r#"warmup: "0 cycles", measure: "5000 cycles""#;
    let resolved = cable(60_000, "Bernoulli(load: 0.1)", phases);
    let times = Times::of(&resolved.plan, &resolved.layout.graph);
    assert_eq!(times.hop(), HOP);
    assert_eq!(times.between_looks(10_000), 2 * HOP);
    assert_eq!(times.between_looks(1_000_000), 1_000_000);
    // a drain in which nothing could arrive says nothing
    assert_eq!(resolved.plan.phases.drain_limit, 16 * HOP);
    let outcome = run(&resolved);
    let left = "were not delivered";
    assert!(!outcome.reason.contains(left), "{}", outcome.reason);
}

/// Nothing has been sent by cycle 4,096, so nothing grows: that is no end of a transient.
#[test]
fn a_warm_up_of_its_own_length_fills_the_cables() {
    let phases = r#"warmup: Auto(at_most: "50000000 cycles"), measure: "5000 cycles""#;
    let outcome = run(&cable(60_000, "Bernoulli(load: 0.00001)", phases));
    assert!(outcome.cycles.warmup >= 16 * HOP, "{:?}", outcome.cycles);
}

#[test]
fn cables_that_fill_are_no_overload() {
    let phases = r#"warmup: "0 cycles", measure: "600000 cycles""#;
    let resolved = cable(65_000, "Bernoulli(load: 0.3)", phases);
    let settings = Settings {
        overload: Some(Overload {
            part: 0.05,
            is_early: true,
        }),
        ..Settings::default()
    };
    let outcome = execute(&resolved, settings, &mut |_| {}, &AtomicBool::new(false));
    let outcome = outcome.expect("it runs");
    assert!(!outcome.is_cut, "{}", outcome.reason);
}

/// Each packet has gone two cables when it meets the next one: before that nobody can tell, and the first look is after it.
#[test]
fn a_ring_of_long_cables_is_told_at_the_first_look() {
    let text = ring(r#"warmup: "2000 cycles", measure: "9000000 cycles""#);
    let text = text.replace("\"1 cycles\"", "\"100000 cycles\"");
    let resolved = resolve(&text, Path::new("."));
    let times = Times::of(&resolved.plan, &resolved.layout.graph);
    let outcome = run(&resolved);
    assert_eq!(outcome.verdict, Verdict::Deadlocked, "{}", outcome.reason);
    assert_eq!(outcome.cycles.total, times.between_looks(10_000));
}
