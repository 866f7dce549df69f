//! Flows with a process: what they offer is known, and what their limits and channels take of it.

use crate::runs::{resolve, run};
use virtlane::run::outcome::Verdict;

/// Verdict and reason of classes on one switch with some hosts.
fn told(seed: u64, hosts: &str, traffic: &str, phases: &str) -> (Verdict, String) {
    let text = format!(
        "Scenario(title: \"offered\", seed: {seed},
         fabric: (topology: EdgeList(links: [], hosts: [{hosts}]), flit: \"64 B\",
             link: (rate: \"10 Gbit/s\", latency: \"2 cycles\"), switch: (lanes: 1, lane_capacity: \"64 flits\")),
         routing: MinHop(), traffic: [{traffic}], phases: ({phases}))"
    );
    let outcome = run(&resolve(&text, &[]), [1, 1]);
    (outcome.verdict, outcome.reason)
}

/// A flow from the first host to the second, with packets of 4 flits.
fn flow(rest: &str) -> String {
    format!("(name: \"c\", size: \"4 flits\", flows: [(pairs: List(pairs: [(0, 1)]), {rest})])")
}

const SHORT: &str = "warmup: \"1000 cycles\", measure: \"20000 cycles\"";

#[test]
fn a_process_over_the_limit_of_its_flow_saturates_in_any_length() {
    let of_limit =
        |part: &str| format!("the process of flow 0 (H0 to H1) offers {part} of its limit; ");
    for (rest, part) in [
        ("process: Bernoulli(load: 0.102), limit: Rate(0.1)", "1.020"),
        (
            "process: ConstantRate(load: 0.102), limit: Rate(0.1)",
            "1.020",
        ),
        // a packet in 4 + 4 * 3 cycles
        (
            "process: Bernoulli(load: 0.275), limit: Delay(3, 0)",
            "1.100",
        ),
        // a limit that comes before the measurement
        (
            "process: Bernoulli(load: 0.2), changes: [(\"500 cycles\", Rate(0.1))]",
            "2.000",
        ),
    ] {
        for seed in 1..4 {
            let (verdict, reason) = told(seed, "0, 0", &flow(rest), SHORT);
            assert_eq!(verdict, Verdict::Saturated, "{rest}: {reason}");
            assert!(reason.starts_with(&of_limit(part)), "{reason}");
        }
    }
    // in the shadow of another class
    let masked = format!(
        "{}, (name: \"bg\", size: \"16 flits\", hosts: List([0]), pattern: Pairs(pairs: [(0, 1)]), process: Bernoulli(load: 0.5))",
        flow("process: Bernoulli(load: 0.02), limit: Rate(0.01)")
    );
    let (verdict, reason) = told(1, "0, 0", &masked, SHORT);
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    assert!(reason.starts_with(&of_limit("2.000")), "{reason}");
}

#[test]
fn a_process_close_to_the_limit_of_its_flow_is_undecided_and_below_it_steady() {
    for (load, expected) in [(0.0995, Verdict::Undecided), (0.08, Verdict::Steady)] {
        let rest = format!("process: Bernoulli(load: {load}), limit: Rate(0.1)");
        let (verdict, reason) = told(
            1,
            "0, 0",
            &flow(&rest),
            "warmup: \"10000 cycles\", measure: \"400000 cycles\"",
        );
        assert_eq!(verdict, expected, "{load}: {reason}");
    }
    // one whose limit falls in the measurement is judged by what was measured
    let falls = "process: Bernoulli(load: 0.2), changes: [(\"20000 cycles\", Rate(0.1))]";
    let (_, reason) = told(1, "0, 0", &flow(falls), SHORT);
    assert!(!reason.contains("of its limit"), "{reason}");
}

/// Flows with a process ask a channel for as much as a pattern does.
#[test]
fn flows_with_a_process_are_among_the_expected_loads_of_channels() {
    let slow = "0, (\"h1\", 0, \"1 Gbit/s\", \"2 cycles\")";
    for seed in [1, 7, 11] {
        for (load, expected) in [
            (0.07, Verdict::Steady),
            (0.1, Verdict::Undecided),
            (0.102, Verdict::Saturated),
            (0.105, Verdict::Saturated),
        ] {
            let process = format!("process: Bernoulli(load: {load})");
            let pattern = format!(
                "(name: \"c\", size: \"4 flits\", hosts: List([0]), pattern: Pairs(pairs: [(0, 1)]), {process})"
            );
            for traffic in [flow(&process), pattern] {
                let (verdict, reason) = told(
                    seed,
                    slow,
                    &traffic,
                    "warmup: \"10000 cycles\", measure: \"300000 cycles\"",
                );
                assert_eq!(verdict, expected, "{traffic}: {reason}");
            }
        }
    }
    // half a flow and half a pattern
    let (half, other) = (
        "process: Bernoulli(load: 0.0525)",
        "hosts: List([0]), pattern: Pairs(pairs: [(0, 1)])",
    );
    let both = format!(
        "{}, (name: \"d\", size: \"4 flits\", {other}, {half})",
        flow(half)
    );
    let (verdict, reason) = told(1, slow, &both, SHORT);
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    assert!(
        reason.contains(" to h1 for 1.050 of what it carries"),
        "{reason}"
    );
    // a flow that stops in the middle asks for half
    let stops = flow("process: Bernoulli(load: 0.16), stop: \"150000 cycles\"");
    let (_, reason) = told(
        1,
        slow,
        &stops,
        "warmup: \"0 cycles\", measure: \"300000 cycles\"",
    );
    assert!(!reason.contains("for 1."), "{reason}");
}

/// A slot that has a flow has its part of the load of the ticks.
#[test]
fn flows_in_slots_are_among_the_expected_loads_of_channels() {
    let beside = "(name: \"p\", size: \"4 flits\", hosts: List([0]), pattern: Uniform, process: Bernoulli(load: 0.7))";
    for (source, copies, expected, part) in [
        ("None", "Slots", Verdict::Saturated, "1.100"),
        ("None", "2", Verdict::Steady, "0.900"),
        ("SelfSimilar()", "Slots", Verdict::Saturated, "1.100"),
    ] {
        let slots = format!(
            "{beside}, (name: \"s\", size: \"4 flits\", flows: [(pairs: List(pairs: [(0, 2)]), copies: {copies})],
              slots: (ticks: Bernoulli(load: 0.4), count: 4, source: {source}))"
        );
        let (verdict, reason) = told(1, "0, 0, 0", &slots, SHORT);
        assert_eq!(verdict, expected, "{slots}: {reason}");
        assert!(
            verdict == Verdict::Steady
                || reason.contains(&format!("for {part} of what it carries")),
            "{reason}"
        );
    }
}
