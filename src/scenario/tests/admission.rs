//! Slots and admission: what the plan says of them, and what is refused.

use super::{document, refusals, resolve_registered as resolve};
use crate::scenario::{Parts, print};

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
    insta::assert_snapshot!(refusals("admission.ron", ASKING, WRONG));
}

/// A class that is tried, one without a jitter bound, and one that reserves, with a class of answers.
const TRIED: &str = r#"
Scenario(
    fabric: (
        topology: Mesh(radix: [4]),
        link: (rate: "100 Gbit/s", latency: "3 cycles"),
        switch: (lanes: 3, lane_capacity: "32 flits"),
    ),
    routing: MinHop(),
    traffic: [
        (name: "calls", size: "8 flits", flows: [(pairs: Permutations(count: 1), copies: 2, weight: 3)],
         requests: (peak: 0.25, jitter: "15 cycles")),
        (name: "films", size: "8 flits", sl: 1, flows: [(pairs: Permutations(count: 1), start: "40 cycles")],
         requests: (peak: 0.125), control: Reservation(retry: "70 cycles"), answers: (sl: 2)),
        (name: "mail", size: "8 flits", flows: [(pairs: Permutations(count: 1))], requests: (peak: 0.25)),
    ],
    admission: (control: JitterProbing(packets: 4, sl: 2, gap: "9 cycles"), empty: 1),
    phases: (warmup: "100 cycles", measure: "1000 cycles"),
)
"#;

#[test]
fn flows_that_are_tried_have_probe_flows() {
    let resolved = resolve(TRIED);
    let plan = &resolved.plan;
    let names: Vec<_> = plan.classes.iter().map(|class| &*class.name).collect();
    let all = ["calls", "films", "mail", "calls probes", "films answers"];
    assert_eq!(names, all);
    let films = plan.classes[1].control.as_ref().unwrap();
    assert_eq!(films.answers, 4);
    let probes = &plan.classes[3];
    assert_eq!(probes.service_levels[0].0, 2);
    assert!(probes.requests.is_none() && plan.first_answers() == 4);
    // 8 calls, 4 films, 4 mails, 8 probe flows
    let pairs: Vec<_> = (0..8).map(|id| (id, 16 + id)).collect();
    assert_eq!(plan.probe_flows(), pairs);
    for (flow, probe) in pairs {
        let [flow, probe] = [flow, probe].map(|id| &plan.flows[id as usize]);
        assert_eq!(
            (probe.source, probe.destination),
            (flow.source, flow.destination)
        );
        assert_eq!((probe.class, probe.weight, probe.start), (3, 1, 0));
        assert!(!plan.is_backlogged(probe) && plan.is_backlogged(flow));
    }
    let tables = resolved.routes.tables().unwrap();
    let requests = plan.admission_requests(&resolved.layout.graph, tables);
    let desk = requests.iter().map(|request| request.class);
    let desk: std::collections::BTreeSet<u16> = desk.collect();
    assert!(desk.into_iter().eq([0, 2]), "films reserve by themselves");
}

#[test]
fn the_printed_scenario_of_trials_is_the_same_plan() {
    let resolved = resolve(TRIED);
    let text = print::plan(&resolved, &Parts::registered());
    let again = resolve(&text);
    assert_eq!(print::plan(&again, &Parts::registered()), text);
    assert_eq!(again.plan.probe_flows(), resolved.plan.probe_flows());
}

/// The same of trials and reservations.
const WRONG_TRIALS: &[(&str, &str)] = &[
    (", jitter: \"15 cycles\"", ""),
    ("name: \"mail\"", "name: \"calls probes\""),
    ("sl: 2, gap: \"9 cycles\"", "sl: 16"),
    ("sl: 2, gap: \"9 cycles\"", "gap: \"0 cycles\""),
    ("sl: 2, gap: \"9 cycles\"", "session: Shared"),
    (
        "JitterProbing(packets: 4, sl: 2, gap: \"9 cycles\")",
        "JitterProbin()",
    ),
    (
        "JitterProbing(packets: 4, sl: 2, gap: \"9 cycles\")",
        "LinkByLink(available: [0])",
    ),
    ("requests: (peak: 0.125), control", "control"),
    ("retry: \"70 cycles\"", "retry: \"0 cycles\""),
    ("retry: \"70 cycles\"", "share: 0.0"),
    ("retry: \"70 cycles\"", "utilisation: 1.5"),
    ("retry: \"70 cycles\"", "attempts: 0"),
    (
        "start: \"40 cycles\"",
        "start: \"40 cycles\", stop: \"90 cycles\"",
    ),
    ("peak: 0.125", "peak: 0.000000001"),
];

#[test]
fn wrong_trials_and_reservations_are_named() {
    insta::assert_snapshot!(refusals("admission.ron", TRIED, WRONG_TRIALS));
}

/// Classes that reserve need no desk; without routes by tables they are refused as well.
#[test]
fn classes_that_reserve_need_no_desk() {
    let desk =
        "admission: (control: JitterProbing(packets: 4, sl: 2, gap: \"9 cycles\"), empty: 1),";
    let alone = TRIED
        .replacen(desk, "", 1)
        .replacen("requests: (peak: 0.25, jitter: \"15 cycles\")", "", 1)
        .replacen(", requests: (peak: 0.25)", "", 1);
    let plan = resolve(&alone).plan;
    assert!(plan.admission.is_none() && plan.classes[1].reserves());
    let refused = |text: String| {
        let refused = document(&text).resolve(&Parts::registered());
        refused.map(|_| "accepted").unwrap_err().to_string()
    };
    let adaptive = refused(alone.replacen("MinHop()", "DimensionOrder(lanes: Any)", 1));
    assert!(
        adaptive.contains("`Reservation` does not go with `routing: DimensionOrder`"),
        "{adaptive}"
    );
    let idle = refused(alone.replacen("phases", "admission: (control: AdmitAll()), phases", 1));
    assert!(idle.contains("reserve by themselves"), "{idle}");
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
