//! What holds a flow back is looked for in the time in which it may send, and in what others do then.

use crate::runs::{resolve, run};
use virtlane::run::outcome::Verdict;

fn told(hosts: &str, switch: &str, traffic: &str, cycles: u64) -> String {
    let text = format!(
        "Scenario(title: \"open\", seed: 1,
         fabric: (topology: EdgeList({hosts}), flit: \"64 B\", link: (rate: \"10 Gbit/s\", latency: \"50 cycles\"),
                  switch: (lanes: 2, {switch}), host: (scheduler: RoundRobin)),
         routing: MinHop(),
         traffic: [{traffic}],
         phases: (warmup: \"0 cycles\", measure: \"{cycles} cycles\"))"
    );
    let outcome = run(&resolve(&text, &[]), [1, 1]);
    assert_eq!(outcome.verdict, Verdict::Saturated, "{}", outcome.reason);
    outcome.reason
}

/// Credits let 32 flits per 102 cycles through for as long as the flow may send, and beside it goes little.
#[test]
fn a_limit_of_0_for_a_while_hides_no_credits() {
    for closed in [
        "stop: \"4402 cycles\", changes: [(\"3000 cycles\", Rate(0))]",
        "changes: [(\"2000 cycles\", Rate(0)), (\"4000 cycles\", None)]",
        "limit: Rate(0), changes: [(\"3000 cycles\", None)]",
    ] {
        let traffic = format!(
            "(name: \"l\", hosts: List([1]), pattern: Pairs(pairs: [(1, 0)]), process: ConstantRate(load: 0.02), size: \"4 flits\"),
             (name: \"f\", flows: [(pairs: List(pairs: [(1, 0)]), {closed})], size: \"1 flits\")"
        );
        let hosts = "links: [(0, 1)], hosts: [0, 1]";
        let reason = told(hosts, "lane_capacity: \"32 flits\"", &traffic, 5000);
        assert!(
            reason.contains("the credits of channel "),
            "{closed}: {reason}"
        );
    }
}

/// Another flow is slow at first and fills the channel later, when the one that is held back begins.
#[test]
fn a_channel_is_full_by_what_others_send_at_that_time() {
    for slow in ["Rate(0)", "Rate(0.002)"] {
        let traffic = format!(
            "(name: \"a\", flows: [(pairs: List(pairs: [(0, 2)]), limit: Rate(0), changes: [(\"900 cycles\", {slow}), (\"9000 cycles\", None)])],
              size: \"4 flits\", sl: 0),
             (name: \"b\", flows: [(pairs: List(pairs: [(1, 2)]), limit: Rate(0.45), start: \"14000 cycles\")], size: \"1 flits\", sl: 1)"
        );
        let hosts = "hosts: [0, 0, 0]";
        let switch = "lane_capacity: \"256 flits\", queues: Voq";
        let reason = told(hosts, switch, &traffic, 20_000);
        let words = "flow 1 (H1 to H2) gets 0.";
        assert!(reason.contains(words), "{slow}: {reason}");
        assert!(
            reason.contains(": channel S0 port 3 to H2 carries "),
            "{slow}: {reason}"
        );
    }
}
