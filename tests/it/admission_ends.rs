//! Flows that were admitted and end: what they had is there for those that were refused (A-6D).

use crate::program::virtlane;
use std::fs;

/// Six flows of 400 flits at 0.4 of a link, of which two have room, each done after about 1,000 cycles.
fn scenario(limit: &str, of_class: &str, admission: &str) -> String {
    format!(
        r#"Scenario(
    title: "in their turn", seed: 1,
    fabric: (topology: Complete(switches: 1, hosts_per_switch: 3), flit: "64 B",
             link: (rate: "100 Gbit/s", latency: "1 cycles"), switch: (lane_capacity: "64 flits")),
    routing: MinHop(),
    traffic: [
        (name: "calls", flows: [(pairs: List(pairs: [(0, 1)]), copies: 6, bytes: "400 flits"{limit})],
         requests: (peak: 0.4), size: "8 flits"{of_class}),
    ],
    {admission}
    phases: (warmup: "0 cycles", measure: "30000 cycles"),
    expect: [
        (metric: "admission.admitted", relation: Equals, value: 6),
        (metric: "admission.holding.mean", relation: AtLeast, value: 900),
        (metric: "admission.holding.mean", relation: AtMost, value: 1100),
        (metric: "admission.blocking", relation: AtLeast, value: 0.1),
    ],
)"#
    )
}

/// Rounds every so many cycles end after so many empty ones.
fn desk(control: &str, (gap, empty): (u32, u32)) -> String {
    let admission =
        format!("admission: (control: {control}, gap: \"{gap} cycles\", empty: {empty}),");
    scenario(", limit: Rate(0.4)", "", &admission)
}

fn holds(text: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("ends.ron"), text).expect("a writable folder");
    let run = ["run", "ends.ron", "--check", "--out", "ends"];
    let (code, output, errors) = virtlane(folder.path(), &run);
    assert_eq!(code, Some(0), "{text}\n{output}\n{errors}");
}

#[test]
fn all_flows_are_admitted_in_their_turn() {
    let mut cases = Vec::new();
    for control in [
        "LinkByLink(utilisation: 1.0, shares: [(0, 1)])",
        "CalibratedLoad(groups: [([0], 1.0)])",
        "ArbitrationTable()",
    ] {
        // two are admitted, three requests refused, and then the first is over
        cases.push(desk(control, (200, 20)));
        // fewer rounds than a flow takes
        cases.push(desk(control, (100, 1)));
    }
    for answers in [
        "size: \"1 flits\"",
        "transport: OutOfBand(serialisation: \"1 cycles\", processing: \"0 cycles\", routing: \"0 cycles\", propagation: \"3 cycles\")",
    ] {
        let control = format!(
            ", control: Reservation(utilisation: 1.0, retry: \"300 cycles\"), answers: ({answers})"
        );
        cases.push(scenario("", &control, ""));
    }
    for text in cases {
        holds(&text);
    }
}

/// Six flows that lose packets, the desk of which has room for two: a lost packet is not waited for.
fn losing(fabric: &str, how: &str, others: &str) -> String {
    format!(
        r#"Scenario(
    title: "lost on the way", seed: 1,
    fabric: (topology: Complete(switches: 1, hosts_per_switch: 3), flit: "64 B",
             link: (rate: "100 Gbit/s", latency: "1 cycles"), {fabric}),
    routing: MinHop(),
    traffic: [
        (name: "calls", flows: [(pairs: List(pairs: [(0, 1)]), copies: 6, bytes: "400 flits", {how})],
         requests: (peak: 0.4), size: "8 flits"),
        {others}
    ],
    admission: (control: CalibratedLoad(groups: [([0], 1.0)]), gap: "200 cycles", empty: 20),
    phases: (warmup: "0 cycles", measure: "30000 cycles"),
    expect: [
        (metric: "flows.complete", relation: AtMost, value: 5),
        (metric: "admission.admitted", relation: Equals, value: 6),
        (metric: "admission.released", relation: Equals, value: 6),
    ],
)"#
    )
}

#[test]
fn flows_that_have_lost_packets_are_over_too() {
    let rejected = losing(
        "host: (flow_queue: 1), switch: (lane_capacity: \"64 flits\")",
        "process: Poisson(load: 0.6)",
        "",
    );
    let dropped = losing(
        "switch: (lane_capacity: \"64 flits\", drop: (sl: [0], rule: Threshold(\"8 flits\")))",
        "limit: Rate(0.4)",
        "(name: \"others\", flows: [(pairs: List(pairs: [(2, 1)]))], size: \"8 flits\"),",
    );
    for text in [rejected, dropped] {
        holds(&text);
    }
}
