//! What switches drop, in verdicts: a part of what a class makes decides, at any length.

use crate::runs::{resolve, run};
use virtlane::run::outcome::Verdict;

/// A mesh of nine hosts whose switches drop what flow control would hold; half of the packets go to one host.
const MESH: &str = r#"Scenario(title: "losses", seed: 3,
    fabric: (topology: Mesh(radix: [3, 3]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             host: (sink_rate: "5 Gbit/s"),
             switch: (lanes: 4, lane_capacity: "16 flits", drop: (sl: [0], rule: Held))),
    routing: DimensionOrder(),
    traffic: [(name: "a", pattern: HotSpot(targets: [0], fraction: 0.5), process: Bernoulli(load: 0.1), size: "8 flits")],
    phases: (warmup: "500 cycles", measure: "1000 cycles", drain: "300 cycles"))"#;

/// Verdict and reason at a load, in so many cycles.
fn told(load: f64, capacity: u32, cycles: u64) -> (Verdict, String) {
    let changes = [
        format!("traffic.a.process.load={load}"),
        format!("fabric.switch.lane_capacity={capacity} flits"),
        format!("phases.measure={cycles} cycles"),
    ];
    let outcome = run(
        &resolve(MESH, &changes.each_ref().map(String::as_str)),
        [1, 1],
    );
    (outcome.verdict, outcome.reason)
}

const LENGTHS: [u64; 5] = [500, 1000, 4000, 20_000, 100_000];

#[test]
fn a_class_that_loses_much_is_saturated_in_any_length_that_decides() {
    for (load, capacity) in [(0.1, 16), (0.05, 16), (0.1, 32)] {
        let found = LENGTHS.map(|cycles| told(load, capacity, cycles));
        for (verdict, reason) in &found {
            assert_ne!(*verdict, Verdict::Steady, "{load}, {capacity}: {reason}");
        }
        let (verdict, reason) = &found[4];
        assert_eq!(*verdict, Verdict::Saturated, "{reason}");
        assert!(
            reason.starts_with("switches dropped ")
                && reason.contains(" % of what a made, more than 2 %; accepted "),
            "{reason}"
        );
    }
}

#[test]
fn a_class_that_loses_little_is_steady_and_the_reason_says_how_much() {
    let found = LENGTHS.map(|cycles| told(0.05, 24, cycles));
    for (verdict, reason) in &found {
        assert_ne!(*verdict, Verdict::Saturated, "{reason}");
    }
    let (verdict, reason) = &found[4];
    assert_eq!(*verdict, Verdict::Steady, "{reason}");
    assert!(
        reason.contains("follows offered load, but switches dropped 0.")
            && reason.contains(" % of what a made"),
        "{reason}"
    );
}

/// A part about 2 % is neither, until chance lets it be told.
#[test]
fn what_chance_does_not_let_tell_is_undecided_with_a_length() {
    let (verdict, reason) = told(0.05, 16, 1000);
    assert_eq!(verdict, Verdict::Undecided, "{reason}");
}
