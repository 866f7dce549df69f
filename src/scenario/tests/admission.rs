//! Slots and admission: what the plan says of them, and what is refused.

use super::document;
use crate::scenario::{Parts, Resolved, print};
use std::fmt::Write;

/// Flows in slots that ask, and flows that do not.
const ASKING: &str = r#"
Scenario(
    fabric: (
        topology: Mesh(radix: [4]),
        link: (rate: "100 Gbit/s", latency: "3 cycles"),
        switch: (lanes: 2, lane_capacity: "32 flits", output_lane_buffer: "0 flits"),
    ),
    routing: MinHop(),
    traffic: [
        (name: "calls", size: "8 flits", flows: [(pairs: Permutations(count: 1), copies: Slots)],
         slots: (ticks: ConstantRate(load: 0.3), flow_load: 0.1, source: Chance(probability: 0.5)),
         requests: (peak: 0.25, delay: "100 cycles", delay_per_switch: "25 cycles")),
        (name: "bulk", size: "8 flits", flows: [(pairs: Permutations(count: 1), copies: 2)]),
    ],
    admission: (control: LinkByLink(shares: [(0, 1)]), gap: "10 cycles"),
    phases: (warmup: "100 cycles", measure: "1000 cycles"),
)
"#;

fn resolve(text: &str) -> Resolved {
    let resolved = document(text).resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn slots_are_as_many_as_flows_have_the_load_of_the_ticks() {
    let plan = resolve(ASKING).plan;
    let slots = plan.classes[0].slots.as_ref().unwrap();
    // 0.3 / 0.1 is below 3 in floats
    assert_eq!(slots.count, 3);
    assert_eq!(plan.flows.len(), 3 * 4 + 2 * 4);
    let requests = plan.classes[0].requests.unwrap();
    assert_eq!(requests.peak, 1 << 30);
    assert_eq!((requests.delay, requests.delay_per_switch), (Some(100), 25));
    let admission = plan.admission.unwrap();
    assert_eq!((admission.first, admission.gap), (0, 10));
    assert_eq!((admission.empty, admission.most), (10, u32::MAX));
}

#[test]
fn the_delay_bound_grows_with_the_switches() {
    let resolved = resolve(ASKING);
    let tables = resolved.routes.tables().unwrap();
    let graph = &resolved.layout.graph;
    let requests = resolved.plan.admission_requests(graph, tables);
    assert_eq!(requests.len(), 12, "only flows that ask");
    for request in requests {
        let switches = request.way.len() as u64 - 1;
        assert_eq!(request.delay, Some(100 + 25 * (switches - 1)));
        assert!(request.way.iter().all(|&(_, lanes)| lanes != 0));
    }
}

#[test]
fn the_printed_scenario_is_the_same_plan() {
    let resolved = resolve(ASKING);
    let text = print::plan(&resolved, &Parts::registered());
    let again = resolve(&text);
    assert_eq!(print::plan(&again, &Parts::registered()), text);
    insta::assert_snapshot!(text);
}

/// What is replaced, by what.
const WRONG: &[(&str, &str)] = &[
    ("flow_load: 0.1", "flow_load: 0.4"),
    ("flow_load: 0.1", "flow_load: 0.1, count: 3"),
    ("flow_load: 0.1,", ""),
    ("flow_load: 0.1", "count: 2000000"),
    ("copies: Slots", "copies: 4"),
    ("copies: 2", "copies: Slots"),
    ("copies: 2", "copies: 0"),
    ("ConstantRate(load: 0.3)", "Saturating()"),
    ("ConstantRate(load: 0.3)", "ConstantRat(load: 0.3)"),
    ("Chance(probability: 0.5)", "Chance(probability: 0)"),
    ("Chance(probability: 0.5)", "Chanc(probability: 0.5)"),
    (
        "copies: Slots",
        "copies: Slots, process: Bernoulli(load: 0.1)",
    ),
    (
        "copies: Slots",
        "copies: Slots, bytes: \"64 flits\", phase: (\"weather\", 0)",
    ),
    ("copies: Slots", "copies: Slots, stop: \"90 cycles\""),
    (
        "copies: Slots",
        "copies: Slots, changes: [(\"50 cycles\", None)]",
    ),
    ("peak: 0.25", "peak: 1.5"),
    ("gap: \"10 cycles\"", "gap: \"0 cycles\""),
    ("gap: \"10 cycles\"", "empty: 0"),
    ("LinkByLink(shares: [(0, 1)])", "LinkByLonk()"),
    ("LinkByLink(shares: [(0, 1)])", "LinkByLink()"),
    (
        "admission: (control: LinkByLink(shares: [(0, 1)]), gap: \"10 cycles\"),",
        "",
    ),
    (
        "requests: (peak: 0.25, delay: \"100 cycles\", delay_per_switch: \"25 cycles\")",
        "",
    ),
    ("MinHop()", "DimensionOrder(lanes: Any)"),
];

#[test]
fn wrong_values_are_named() {
    let mut list = String::new();
    for (right, wrong) in WRONG {
        assert!(ASKING.contains(right), "{right}");
        let text = ASKING.replacen(right, wrong, 1);
        let document = crate::scenario::Document::parse("admission.ron", &text, "".as_ref());
        let resolved = document.and_then(|document| document.resolve(&Parts::registered()));
        let message = resolved.map_or_else(|error| error.to_string(), |_| "accepted".into());
        writeln!(list, "{wrong}\n    {message}").unwrap();
    }
    assert!(!list.contains("accepted"), "{list}");
    insta::assert_snapshot!(list);
}

#[test]
fn loads_are_not_known_with_output_lanes() {
    let text = ASKING
        .replace(
            "output_lane_buffer: \"0 flits\"",
            "output_lane_buffer: \"8 flits\"",
        )
        .replace("LinkByLink", "MeasuredSum");
    let refused = document(&text).resolve(&Parts::registered());
    insta::assert_snapshot!(refused.map(|_| "accepted").unwrap_err().to_string());
}
