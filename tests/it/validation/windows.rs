//! Flows with a process behind a window, their own or that of requests: what that lets through in the empty fabric is known.

use super::stopped::length;
use crate::runs::{resolve, run};
use virtlane::run::outcome::Verdict;

/// Verdict and reason of classes on two switches with four hosts each and links of so many cycles.
fn told(seed: u64, latency: u32, traffic: &str, [warmup, cycles]: [u64; 2]) -> (Verdict, String) {
    let text = format!(
        "Scenario(title: \"windows\", seed: {seed},
         fabric: (topology: EdgeList(switches: 2, links: [(0, 1)], hosts: [0, 0, 0, 0, 1, 1, 1, 1]), flit: \"64 B\",
             link: (rate: \"10 Gbit/s\", latency: \"{latency} cycles\"), switch: (lanes: 2, lane_capacity: \"64 flits\")),
         routing: UpDown(), traffic: [{traffic}],
         phases: (warmup: \"{warmup} cycles\", measure: \"{cycles} cycles\", drain: \"0 cycles\"))"
    );
    let outcome = run(&resolve(&text, &[]), [1, 1]);
    (outcome.verdict, outcome.reason)
}

/// A flow of packets of 8 flits that offers a part of 8 flits in so many cycles.
fn flow(part: f64, cycles: f64, [window, control]: [&str; 2]) -> String {
    let load = part * 8.0 / cycles;
    format!(
        "(name: \"c\", size: \"8 flits\", sl: 0, flows: [(pairs: List(pairs: [(0, 4)]), process: Bernoulli(load: {load}){window})]{control})"
    )
}

const OWN: [&str; 2] = [", window: 1", ""];
const ASKS: [&str; 2] = [
    "",
    ", control: RequestReply(outstanding: 1), answers: (size: \"8 flits\", sl: 1)",
];

/// A packet takes 3 * 3 + 2 + 7 cycles, its acknowledgement 3 * 3 + 2; a request and its reply 3 * 5 + 2 + 7 each, and a cycle each.
#[test]
fn a_process_over_the_window_of_its_flow_saturates_in_any_length() {
    for (latency, cycles, kind) in [(3, 29.0, OWN), (5, 50.0, ASKS)] {
        for length in [1000, 5000] {
            for seed in 1..4 {
                let traffic = flow(1.2, cycles, kind);
                let (verdict, reason) = told(seed, latency, &traffic, [1000, length]);
                assert_eq!(verdict, Verdict::Saturated, "{traffic}: {reason}");
                let words = format!(
                    "the process of flow 0 (H0 to H4) offers 1.200 of what its window lets through, 1 per empty round trip of {cycles:.0} cycles; "
                );
                assert!(reason.starts_with(&words), "{reason}");
            }
        }
    }
}

#[test]
fn a_process_close_to_the_window_of_its_flow_is_undecided_and_below_it_steady() {
    for (latency, cycles, kind) in [(3, 29.0, OWN), (5, 50.0, ASKS)] {
        for (part, expected) in [(0.995, Verdict::Undecided), (0.7, Verdict::Steady)] {
            let traffic = flow(part, cycles, kind);
            let (verdict, reason) = told(1, latency, &traffic, [10_000, 400_000]);
            assert_eq!(verdict, expected, "{traffic}: {reason}");
        }
    }
}

/// Packets of 32 flits before its own make the round trip of a flow longer than its window can wait.
#[test]
fn a_window_that_other_traffic_fills_is_not_steady() {
    let own = flow(0.9, 29.0, OWN);
    let beside = "(name: \"b\", size: \"32 flits\", sl: 0, hosts: List([1]), pattern: Pairs(pairs: [(1, 5)]), process: Bernoulli(load: 0.6))";
    let traffic = format!("{own}, {beside}");
    for seed in 1..5 {
        let (verdict, reason) = told(seed, 3, &traffic, [1000, 2000]);
        assert_ne!(verdict, Verdict::Steady, "{reason}");
    }
}

/// A flow with this and packets of 8 flits.
fn of_class(rest: &str, control: &str) -> String {
    format!(
        "(name: \"c\", size: \"8 flits\", sl: 0, flows: [(pairs: List(pairs: [(0, 4)]){rest})]{control})"
    )
}

/// Where nothing, or little, was counted the length that is told is one in which requests come back often enough.
#[test]
fn lengths_know_that_packets_have_to_come_back() {
    let requests = ", control: RequestReply(outstanding: 1, think: \"100 cycles\")";
    for traffic in [
        of_class("", requests),
        of_class("", ", control: Window(window: 1)"),
    ] {
        for cycles in [30, 170, 450] {
            let (verdict, reason) = told(1, 50, &traffic, [1000, cycles]);
            assert_eq!(verdict, Verdict::Undecided, "{traffic}: {reason}");
            let (_, reason) = told(1, 50, &traffic, [1000, length(&reason)]);
            assert!(!reason.contains("too short"), "{traffic}: {reason}");
        }
    }
}

/// A job whose process makes more than its window lets through goes as the window lets it.
#[test]
fn the_length_of_a_job_with_a_process_knows_its_window() {
    let job = of_class(
        ", window: 1, process: Bernoulli(load: 0.3), bytes: \"400 flits\"",
        "",
    );
    let (verdict, reason) = told(1, 50, &job, [1000, 30]);
    assert_eq!(verdict, Verdict::Undecided, "{reason}");
    let (verdict, reason) = told(1, 50, &job, [1000, length(&reason)]);
    assert_eq!(verdict, Verdict::Complete, "{reason}");
}
