//! Sinks that take less than their links bring: limits of several flows that ask for more, of which each gets nearly what it may send.

use crate::runs::{resolve, run};
use virtlane::run::outcome::Verdict;

#[test]
fn limits_that_ask_a_slow_sink_for_too_much_saturate_it_at_any_length() {
    let told = |limit: &str, cycles: u64| {
        let text = format!(
            "Scenario(title: \"sinks\", seed: 1,
             fabric: (topology: EdgeList(switches: 2, links: [(0, 1)], hosts: [0, 0, 1]), flit: \"64 B\",
                 link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"), switch: (lane_capacity: \"64 flits\"), host: (sink_rate: \"5 Gbit/s\")),
             routing: UpDown(),
             traffic: [(name: \"u\", size: \"8 flits\", flows: [(pairs: List(pairs: [(0, 2), (1, 2)]){limit})])],
             phases: (warmup: \"1000 cycles\", measure: \"{cycles} cycles\"))"
        );
        let outcome = run(&resolve(&text, &[]), [1, 1]);
        (outcome.verdict, outcome.reason)
    };
    for cycles in [3000, 20_000, 100_000] {
        let (verdict, reason) = told(", limit: Rate(0.255)", cycles);
        assert_eq!(verdict, Verdict::Saturated, "{cycles}: {reason}");
        let words = "the limits of 2 flows ask channel S1 port 1 to H2 for 1.020 of what the sink behind it takes";
        assert!(reason.contains(words), "{cycles}: {reason}");
        let (verdict, reason) = told(", limit: Rate(0.245)", cycles);
        assert_eq!(verdict, Verdict::Steady, "{cycles}: {reason}");
    }
    // without limits it is what holds each of them back
    let (verdict, reason) = told("", 20_000);
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    assert!(reason.contains("H2 takes 1.000 of what it can"), "{reason}");
}
