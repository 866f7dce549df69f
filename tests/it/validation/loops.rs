//! Credit loops that bind below what all lanes and the pace of channels would let through: of sinks, of buffers behind the crossbar, of the
//! one lane that packets take which choose their ways.

use crate::runs::{resolve, run};
use virtlane::run::outcome::Verdict;

/// Two switches with a host each, and a flow from one to the other; verdict and reason.
fn told(fabric: &str, routing: &str, traffic: &str) -> (Verdict, String) {
    let text = format!(
        "Scenario(title: \"loop\", seed: 1,
         fabric: (topology: Mesh(radix: [2]), flit: \"64 B\", {fabric}), routing: {routing}(),
         traffic: [(name: \"a\", sl: 0, {traffic})], phases: (warmup: \"1000 cycles\", measure: \"20000 cycles\"))"
    );
    let outcome = run(&resolve(&text, &[]), [1, 1]);
    (outcome.verdict, outcome.reason)
}

/// A flow with a limit, packets of so many flits.
fn limited(rate: f64, size: u32) -> String {
    format!("flows: [(pairs: List(pairs: [(0, 1)]), limit: Rate({rate}))], size: \"{size} flits\"")
}

/// Demands that `over` is saturated by a loop of so many flits in so many cycles, and `under` is steady.
fn check((fabric, routing): (&str, &str), size: u32, rates: [f64; 2], [flits, cycles]: [u32; 2]) {
    let [over, under] = rates;
    let (verdict, reason) = told(fabric, routing, &limited(over, size));
    assert_eq!(verdict, Verdict::Saturated, "{routing} {over}: {reason}");
    let words = format!("{flits} flits per credit round trip of {cycles} cycles");
    assert!(reason.contains(&words), "{words}: {reason}");
    let (verdict, reason) = told(fabric, routing, &limited(under, size));
    assert_eq!(verdict, Verdict::Steady, "{routing} {under}: {reason}");
}

/// Eight flits, their way there and back of 12 cycles each, and seven more that the sink takes four cycles each for: 8 in 52.
#[test]
fn credits_of_a_slow_sink_come_back_at_its_pace() {
    let fabric = "link: (rate: \"10 Gbit/s\", latency: \"12 cycles\"), host: (sink_rate: \"2.5 Gbit/s\"), \
                  switch: (lanes: 1, lane_capacity: \"8 flits\", routing_delay: \"1 cycles\")";
    check((fabric, "DimensionOrder"), 8, [0.16, 0.14], [8, 52]);
}

/// The last switch passes a packet of two at the pace of the slower channel, into its buffer too: 2 in 1 + 2 + 2 + 2 + 2.
#[test]
fn a_buffer_behind_the_crossbar_is_filled_at_the_pace_of_its_channel() {
    let fabric = "link: (rate: \"10 Gbit/s\", latency: \"2 cycles\"), host_link: (rate: \"5 Gbit/s\", latency: \"2 cycles\"), \
                  switch: (lanes: 1, lane_capacity: \"2 flits\", routing_delay: \"2 cycles\", crossbar_delay: \"1 cycles\", \
                  output_buffer: \"9 flits\")";
    check((fabric, "DimensionOrder"), 2, [0.46, 0.42], [2, 9]);
}

/// Packets of a flow take one of two lanes of their host's channel, 4 in 5 + 1 + 3 + 5, and on the last one the first lane, 4 in 13.
#[test]
fn a_flow_that_chooses_its_way_has_one_lane_at_its_ends() {
    let fabric = "link: (rate: \"10 Gbit/s\", latency: \"5 cycles\"), switch: (lanes: 2, lane_capacity: \"4 flits\")";
    check((fabric, "MinimalAdaptive"), 4, [0.3, 0.27], [4, 14]);
    let pattern = "hosts: List([0]), pattern: Pairs(pairs: [(0, 1)]), process: ConstantRate(load: 0.32), size: \"4 flits\"";
    let (verdict, reason) = told(fabric, "MinimalAdaptive", pattern);
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    assert!(
        reason.contains("to H1 for 1.040 of what its credits let through, 4 flits"),
        "{reason}"
    );
}

/// Nobody else sends: the words are not those of a flow behind others.
#[test]
fn a_flow_alone_is_behind_no_others() {
    let fabric = "link: (rate: \"10 Gbit/s\", latency: \"5 cycles\"), switch: (lanes: 2, lane_capacity: \"4 flits\")";
    let traffic = "flows: [(pairs: List(pairs: [(0, 1)]))], size: \"4 flits\"";
    let (verdict, reason) = told(fabric, "MinimalAdaptive", traffic);
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    assert!(
        reason.contains("4 flits per credit round trip of 14 cycles"),
        "{reason}"
    );
    assert!(!reason.contains("packets ahead"), "{reason}");
}
