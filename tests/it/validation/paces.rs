//! Lone flows over links of several paces, and those that are active for a part of the measurement: what holds them back, by closed form.

use crate::runs::{resolve, run};
use virtlane::run::outcome::Verdict;

/// Verdict and reason of one flow from the first host to the second.
fn told(hosts: &str, switch: &str, flow: &str, phases: &str) -> (Verdict, String) {
    let text = format!(
        "Scenario(title: \"paces\", seed: 1,
         fabric: (topology: EdgeList({hosts}), flit: \"64 B\", link: (rate: \"10 Gbit/s\", latency: \"50 cycles\"), switch: ({switch})),
         routing: MinHop(), traffic: [(name: \"c\", flows: [(pairs: List(pairs: [(0, 1)]){flow}], phases: ({phases}))"
    );
    let outcome = run(&resolve(&text, &[]), [1, 1]);
    (outcome.verdict, outcome.reason)
}

/// A packet of 16 flits leaves the last switch at the 10 cycles per flit of the link of 7 Gbit/s: 51 + 15 * 10 + 50 cycles for one that
/// takes 112 of the link of its host; into a buffer behind the crossbar, too.
#[test]
fn a_packet_leaves_a_buffer_at_the_pace_of_the_slower_channel() {
    let hosts = "links: [(0, 1)], hosts: [0, (\"h1\", 1, \"7 Gbit/s\", \"3 cycles\")]";
    for (limit, buffer) in [(0.47, 0), (0.49, 0), (0.5, 0), (0.49, 64)] {
        let flow = format!(", limit: Rate({limit}))], size: \"16 flits\")");
        let (verdict, reason) = told(
            hosts,
            &format!("lanes: 1, lane_capacity: \"16 flits\", output_buffer: \"{buffer} flits\""),
            &flow,
            "warmup: \"3000 cycles\", measure: \"40000 cycles\"",
        );
        assert_eq!(verdict, Verdict::Saturated, "{limit}: {reason}");
        let words = "16 flits per credit round trip of 251 cycles";
        assert!(reason.contains(words), "{limit}: {reason}");
    }
}

/// What holds a flow back is judged by the time in which it is active.
#[test]
fn the_cause_is_that_of_the_time_in_which_a_flow_is_active() {
    for stop in [2500, 3600, 3695, 4400] {
        let flow = format!(", stop: \"{stop} cycles\")], size: \"1 flits\")");
        let (verdict, reason) = told(
            "links: [], hosts: [0, 0]",
            "lanes: 1, lane_capacity: \"32 flits\"",
            &flow,
            "warmup: \"0 cycles\", measure: \"5000 cycles\"",
        );
        assert_eq!(verdict, Verdict::Saturated, "{stop}: {reason}");
        assert!(
            reason.contains("let no more through than 32 flits per credit round trip"),
            "{stop}: {reason}"
        );
    }
}
