//! Phases of applications: their numbers, and what is refused.

use super::{document, resolve_registered as resolve};
use crate::scenario::{Parts, print};
use std::fmt::Write;

/// Two applications in two classes, and flows of none.
const PHASES: &str = r#"
Scenario(
    fabric: (
        topology: Mesh(radix: [4]),
        link: (rate: "100 Gbit/s", latency: "3 cycles"),
        switch: (lanes: 2, lane_capacity: "32 flits"),
    ),
    routing: MinHop(),
    traffic: [
        (name: "one", size: "8 flits", flows: [
            (pairs: Permutations(count: 1), bytes: "64 flits", start: "50 cycles", phase: ("weather", 1)),
            (pairs: Permutations(count: 1), bytes: "64 flits", start: "40 cycles", phase: ("weather", 1)),
            (pairs: Permutations(count: 1), bytes: "64 flits", phase: ("crash", 0)),
        ]),
        (name: "two", size: "8 flits", flows: [
            (pairs: AllToAll(), bytes: "16 flits", phase: ("weather", 0)),
            (pairs: RandomPairs(count: 2)),
        ]),
    ],
    phases: (warmup: "100 cycles", measure: "1000 cycles"),
)
"#;

#[test]
fn phases_of_an_application_stand_one_after_the_other() {
    let plan = resolve(PHASES).plan;
    let phases = plan.app_phases.iter();
    let phases: Vec<_> = phases
        .map(|phase| (phase.application.as_str(), phase.number, phase.first_start))
        .collect();
    assert_eq!(
        phases,
        [("crash", 0, 0), ("weather", 0, 0), ("weather", 1, 40)]
    );
    let of = |phase| {
        let flows = plan.flows.iter();
        flows.filter(|flow| flow.phase == phase).count()
    };
    assert_eq!([None, Some(0), Some(1), Some(2)].map(of), [2, 4, 12, 8]);
}

#[test]
fn the_printed_scenario_is_the_same_plan() {
    let first = resolve(PHASES);
    let printed = print::plan(&first, &Parts::registered());
    let second = resolve(&printed);
    assert_eq!(print::plan(&second, &Parts::registered()), printed);
    assert_eq!(format!("{:?}", first.plan), format!("{:?}", second.plan));
}

/// (what to replace, by what).
const WRONG: &[(&str, &str)] = &[
    ("(\"crash\", 0)", "\"crash\""),
    ("(\"crash\", 0)", "(crash, 0)"),
    ("(\"crash\", 0)", "(\"crash\", 65536)"),
    ("(\"crash\", 0)", "(\"crash\", 1)"),
    ("(\"weather\", 0)", "(\"whether\", 0)"),
    ("\"40 cycles\"", "\"2 cycles\""),
    ("start: \"40 cycles\", ", ""),
    (
        "bytes: \"64 flits\", phase: (\"crash\"",
        "phase: (\"crash\"",
    ),
    (
        "phase: (\"crash\"",
        "stop: \"100 cycles\", phase: (\"crash\"",
    ),
    (
        "phase: (\"crash\"",
        "process: Bernoulli(load: 0.1), phase: (\"crash\"",
    ),
    (
        "phase: (\"crash\"",
        "changes: [(\"9 cycles\", Rate(0.5))], phase: (\"crash\"",
    ),
];

#[test]
fn wrong_phases_are_refused() {
    let mut list = String::new();
    for (right, wrong) in WRONG {
        assert_eq!(PHASES.matches(right).count(), 1, "{right}");
        let text = PHASES.replace(right, wrong);
        let error = document(&text).resolve(&Parts::registered()).unwrap_err();
        writeln!(list, "{right} -> {wrong}\n    {error}\n").unwrap();
    }
    insta::assert_snapshot!(list);
}
