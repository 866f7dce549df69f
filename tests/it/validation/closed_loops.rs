//! Flows that wait for what they have sent: what fills buffers once is no overload, however short a measurement is.

use crate::runs::{resolve, run};
use virtlane::run::outcome::Verdict;

/// Two hosts into a third, with lanes of so many flits.
fn told(lane: u32, class: &str, cycles: u64) -> (Verdict, String) {
    let text = format!(
        "Scenario(title: \"closed loops\", seed: 1,
         fabric: (topology: EdgeList(links: [], hosts: [0, 0, 0]), flit: \"64 B\",
             link: (rate: \"10 Gbit/s\", latency: \"2 cycles\"), switch: (lanes: 1, lane_capacity: \"{lane} flits\")),
         routing: MinHop(), traffic: [(name: \"c\", size: \"1 flits\", flows: [(pairs: List(pairs: [(0, 2), (1, 2)]){class}],
         phases: (warmup: \"0 cycles\", measure: \"{cycles} cycles\"))"
    );
    let outcome = run(&resolve(&text, &[]), [1, 1]);
    (outcome.verdict, outcome.reason)
}

#[test]
fn closed_loops_are_steady_in_every_length() {
    let answers = "answers: (size: \"1 flits\")";
    for (lane, class, least) in [
        (
            64,
            format!(")], control: Window(window: 127), {answers})"),
            5000,
        ),
        (
            64,
            format!(")], control: Window(window: 300), {answers})"),
            5000,
        ),
        (
            64,
            format!(")], control: RequestReply(outstanding: 200), {answers})"),
            20_000,
        ),
        (2000, String::from(", window: 1000)])"), 20_000),
    ] {
        for cycles in [2000, 5000, 20_000, 100_000] {
            let (verdict, reason) = told(lane, &class, cycles);
            // before that what is present still rises
            let is_right =
                verdict == Verdict::Steady || verdict == Verdict::Undecided && cycles < least;
            assert!(is_right, "{class} {cycles}: {verdict} {reason}");
        }
    }
}

/// A load beside them that is too much is told all the same.
#[test]
fn an_overload_beside_closed_loops_is_told() {
    let class = ")], control: Window(window: 127), answers: (size: \"1 flits\")), \
                 (name: \"o\", size: \"1 flits\", pattern: Pairs(pairs: [(0, 1)]), hosts: List([0]), process: Bernoulli(load: 0.95))";
    let (verdict, reason) = told(64, class, 100_000);
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
}
