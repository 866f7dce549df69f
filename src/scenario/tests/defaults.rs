//! Documented defaults: leaving a key out is the same as writing its default.

use super::document;
use crate::scenario::sections::SECTIONS;
use crate::scenario::syntax::parser::parse;
use crate::scenario::{Document, Parts, print};
use std::collections::BTreeSet;

/// Nothing but what must be given.
const LEAST: &str = r#"
Scenario(
    fabric: (
        topology: Torus(radix: [3, 3]),
        link: (rate: "100 Gbit/s", latency: "2 cycles"),
        switch: (lane_capacity: "32 flits"),
    ),
    routing: UpDown(),
    traffic: [(name: "all", pattern: Uniform, process: Bernoulli(load: 0.1), size: "64 B")],
    phases: (warmup: "100 cycles", measure: "1000 cycles"),
)
"#;

/// Every section: its name, where its keys are, and what makes it be there, an assignment a line.
const PRESENT: &[(&str, &str, &str)] = &[
    ("scenario", "", ""),
    ("fabric", "fabric.", ""),
    ("link", "fabric.link.", ""),
    (
        "except",
        "fabric.link.except[0].",
        "fabric.link.except=[(on: Dimension(1))]",
    ),
    (
        "link_retry",
        "fabric.link.retry.",
        "fabric.link.retry=(bit_error_rate: 1e-9)",
    ),
    ("host_link", "fabric.host_link.", "fabric.host_link=()"),
    ("switch", "fabric.switch.", ""),
    (
        "marking",
        "fabric.switch.marking.",
        "fabric.switch.marking=(threshold: \"4 flits\")",
    ),
    (
        "infiniband_marking",
        "fabric.switch.marking.",
        "fabric.switch.marking=InfiniBand()",
    ),
    (
        "ecn_marking",
        "fabric.switch.marking.",
        "fabric.switch.marking=Ecn(k_min: \"4 flits\", k_max: \"8 flits\")",
    ),
    (
        "drop",
        "fabric.switch.drop.",
        "fabric.switch.drop=(sl: [0])",
    ),
    ("host", "fabric.host.", "fabric.host=()"),
    ("faults", "faults.", "faults=()"),
    ("qos", "qos.", "qos=()"),
    (
        "vl_arbitration",
        "qos.vl_arbitration.",
        "qos.vl_arbitration=(low: [(0, 1)])",
    ),
    (
        "vl_arbitration",
        "qos.vl_arbitration.",
        "qos.vl_arbitration=(high: [(0, 1)])",
    ),
    ("traffic", "traffic[0].", ""),
    (
        "traffic",
        "traffic[0].",
        "traffic=[(name: \"all\", size: \"64 B\")]",
    ),
    (
        "flows",
        "traffic[0].flows[0].",
        "traffic=[(name: \"all\", size: \"64 B\", flows: [(pairs: RandomPairs(count: 3))])]",
    ),
    (
        "answers",
        "traffic[0].answers.",
        "traffic=[(name: \"all\", size: \"64 B\", flows: [(pairs: RandomPairs(count: 3))], control: RequestReply(), answers: ())]",
    ),
    (
        "out_of_band",
        "traffic[0].answers.transport.",
        "traffic=[(name: \"all\", size: \"64 B\", flows: [(pairs: RandomPairs(count: 3))], control: RequestReply(), \
         answers: (transport: OutOfBand(serialisation: \"1 cycles\", processing: \"0 cycles\", routing: \"0 cycles\", \
         propagation: \"1 cycles\")))]",
    ),
    (
        "slots",
        "traffic[0].slots.",
        "traffic=[(name: \"all\", size: \"64 B\", flows: [(pairs: RandomPairs(count: 3))], slots: (ticks: Bernoulli(load: 0.5), \
         count: 7))]",
    ),
    (
        "slots",
        "traffic[0].slots.",
        "traffic=[(name: \"all\", size: \"64 B\", flows: [(pairs: RandomPairs(count: 3))], slots: (ticks: Bernoulli(load: 0.5), \
         flow_load: 0.1))]",
    ),
    (
        "requests",
        "traffic[0].requests.",
        "admission=(control: AdmitAll())\ntraffic=[(name: \"all\", size: \"64 B\", flows: [(pairs: RandomPairs(count: 3))], \
         requests: (peak: 0.1))]",
    ),
    (
        "admission",
        "admission.",
        "traffic=[(name: \"all\", size: \"64 B\", flows: [(pairs: RandomPairs(count: 3))], requests: (peak: 0.1))]\n\
         admission=(control: AdmitAll())",
    ),
    ("phases", "phases.", ""),
    (
        "auto_warmup",
        "phases.warmup.",
        "phases.warmup=Auto(at_most: \"100 cycles\")",
    ),
    (
        "auto_measure",
        "phases.measure.",
        "phases.measure=Auto(at_most: \"1000 cycles\")",
    ),
    (
        "until_messages",
        "phases.measure.",
        "phases.measure=Messages(at_most: \"1000 cycles\")",
    ),
    (
        "until_flows",
        "phases.measure.",
        "phases.measure=Flows(at_most: \"1000 cycles\")",
    ),
    ("observe", "observe.", "observe=()"),
    ("fluid", "fluid.", "fluid=()"),
    (
        "sweep",
        "sweep.",
        "sweep=(axes: [(\"fabric.switch.lanes\", [1, 2])])",
    ),
    (
        "quick",
        "sweep.quick.",
        "sweep=(axes: [(\"fabric.switch.lanes\", [1, 2])], quick: ())",
    ),
    (
        "expect",
        "expect[0].",
        "expect=[(metric: \"load.accepted\", relation: AtLeast, value: 0.1)]",
    ),
];

/// All that a scenario means, or what is wrong with it.
fn meaning(document: &Document) -> String {
    match document.resolve(&Parts::registered()) {
        Ok(resolved) => format!(
            "{}{:?}{:?}",
            print::plan(&resolved, &Parts::registered()),
            resolved.plan,
            resolved.layout.graph.channels()
        ),
        // what was found in place of a missing key may be that key with `None`
        Err(error) => {
            let message = error.to_string();
            message
                .split(", found")
                .next()
                .unwrap_or_default()
                .to_owned()
        }
    }
}

#[test]
fn a_key_left_out_has_its_documented_default() {
    let mut compared = BTreeSet::new();
    for (name, prefix, assignment) in PRESENT {
        let mut without = document(LEAST);
        for assignment in assignment.lines() {
            without.set(assignment).unwrap();
        }
        let given = without.settings();
        let expected = meaning(&without);
        let section = SECTIONS.iter().find(|section| section.name == *name);
        for key in section.unwrap().keys {
            let path = format!("{prefix}{}", key.name);
            let Some(default) = key.default else { continue };
            let is_given = |other: &String| {
                let rest = other.strip_prefix(&path);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            if given.keys().any(is_given) {
                continue;
            }
            // a default in words, such as that of another key, stands for none
            let written = parse(default, 0).map_or("None", |_| default);
            let mut with = without.clone();
            with.assign(&path, written).unwrap();
            assert_eq!(meaning(&with), expected, "{path}: {written}");
            compared.insert((*name, key.name));
        }
    }
    for section in SECTIONS {
        for key in section.keys.iter().filter(|key| key.default.is_some()) {
            let known = compared.contains(&(section.name, key.name));
            assert!(
                known,
                "{} of section {}: not compared",
                key.name, section.name
            );
        }
    }
}

#[test]
fn a_switch_of_a_plan_has_the_documented_defaults() {
    let plan = document(LEAST).resolve(&Parts::registered()).unwrap().plan;
    let mut expected = crate::plan::SwitchOptions {
        lane_capacity: 32,
        ..crate::plan::SwitchOptions::default()
    };
    expected.allocation.claims = Some(65_536);
    assert_eq!(plan.switch, expected);
}
