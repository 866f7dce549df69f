//! Dropping: what the plan says of it, and what is refused.

use super::{refusal, resolve_registered as resolve};
use crate::ids::SlId;
use crate::plan::{DropRule, Dropping};
use crate::scenario::{Parts, print};
use std::fmt::Write;

/// Packets of one service level are dropped, a class on another has whatever must not be.
const DROPPING: &str = r#"
Scenario(
    fabric: (
        topology: Mesh(radix: [4]),
        link: (rate: "100 Gbit/s", latency: "3 cycles"),
        switch: (lanes: 4, lane_capacity: "32 flits", drop: (sl: [3, 1], rule: Threshold("1 KiB"))),
    ),
    routing: MinHop(),
    traffic: [
        (name: "live", size: "8 flits", sl: 1, flows: [(pairs: Permutations(count: 1))]),
        (name: "more", size: "8 flits", sl: [2, 3], pattern: Uniform, process: Bernoulli(load: 0.1)),
        (name: "bulk", size: "8 flits", flows: [(pairs: Permutations(count: 1), bytes: "4 KiB", window: 4)]),
    ],
    phases: (warmup: "100 cycles", measure: "1000 cycles"),
)
"#;

#[test]
fn levels_are_in_order_and_a_threshold_is_in_flits() {
    let resolved = resolve(DROPPING);
    let expected = Dropping {
        service_levels: vec![SlId(1), SlId(3)],
        rule: DropRule::Threshold(16),
    };
    assert_eq!(resolved.plan.switch.drop, Some(expected));
    let printed = print::plan(&resolved, &Parts::registered());
    let again = resolve(&printed);
    assert_eq!(print::plan(&again, &Parts::registered()), printed);
    assert_eq!(again.plan.switch.drop, resolved.plan.switch.drop);
    let held = DROPPING.replace(", rule: Threshold(\"1 KiB\")", "");
    let held = resolve(&held).plan.switch.drop.map(|drop| drop.rule);
    assert_eq!(
        held,
        Some(DropRule::Held),
        "what is held, where nothing is said"
    );
    let none = DROPPING.replace(", drop: (sl: [3, 1], rule: Threshold(\"1 KiB\"))", "");
    assert_eq!(resolve(&none).plan.switch.drop, None);
}

#[test]
fn what_must_not_be_lost_is_refused() {
    let wrong = [
        ("sl: [3, 1]", "sl: []"),
        ("sl: [3, 1]", "sl: [1, 1]"),
        ("sl: [3, 1]", "sl: [16]"),
        ("sl: [3, 1]", "sl: 1"),
        ("sl: [3, 1]", "sl: [4]"),
        ("sl: [3, 1]", "sl: [0]"),
        ("Threshold(\"1 KiB\")", "Threshold(\"0 flits\")"),
        ("Threshold(\"1 KiB\")", "Threshold"),
        ("Threshold(\"1 KiB\")", "held"),
        ("sl: [3, 1], rule", "rule"),
        (
            "bytes: \"4 KiB\", window: 4)]),",
            "bytes: \"4 KiB\")], sl: 1, control: RequestReply()),",
        ),
        (
            "bytes: \"4 KiB\", window: 4)]),",
            "bytes: \"4 KiB\")], control: RequestReply(), answers: (sl: 1)),",
        ),
        (
            "bytes: \"4 KiB\", window: 4)]),",
            "bytes: \"4 KiB\", phase: (\"weather\", 0))], sl: 3),",
        ),
        (
            "bytes: \"4 KiB\", window: 4)]),",
            "bytes: \"4 KiB\")], sl: 3),",
        ),
    ];
    let mut text = String::new();
    for (number, (what, by)) in wrong.into_iter().enumerate() {
        let mut changed = DROPPING.replace(what, by);
        assert_ne!(changed, DROPPING, "{what}");
        if number + 1 == wrong.len() {
            let fixed = "measure: \"1000 cycles\"";
            changed = changed.replace(fixed, "measure: Flows(at_most: \"1000 cycles\")");
        }
        let message = refusal("dropping.ron", &changed);
        writeln!(text, "{by}\n    {message}").unwrap();
    }
    insta::assert_snapshot!(text);
}
