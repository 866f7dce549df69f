//! The key `claims`: values, what it does not go with, and its place in the printed plan.

use super::{document, refusals, resolve_registered};
use crate::scenario::{Parts, print};

const CLAIMED: &str = r#"
Scenario(
    fabric: (
        topology: Torus(radix: [3, 3]), flit: "64 B",
        link: (rate: "100 Gbit/s", latency: "2 cycles"),
        switch: (lanes: 2, lane_capacity: "32 flits", output_lane_buffer: "8 flits", claims: Every("16 cycles")),
    ),
    qos: (),
    routing: UpDown(),
    traffic: [
        (name: "small", pattern: Uniform, process: Bernoulli(load: 0.1), size: "4 flits"),
        (name: "large", pattern: Uniform, process: Bernoulli(load: 0.1), size: "8 flits"),
    ],
    phases: (warmup: "100 cycles", measure: "1000 cycles"),
)
"#;

/// (what to replace, by what).
const WRONG: &[(&str, &str)] = &[
    ("Every(\"16 cycles\")", "Every(\"0 cycles\")"),
    ("Every(\"16 cycles\")", "Every(\"16 flits\")"),
    ("Every(\"16 cycles\")", "Every(2, 3)"),
    ("Every(\"16 cycles\")", "Every"),
    (
        "output_lane_buffer: \"8 flits\"",
        "output_lane_buffer: \"7 flits\"",
    ),
    ("output_lane_buffer: \"8 flits\"", "forwarding: Wormhole"),
    ("qos: ()", "qos: (management_lane: true)"),
    ("qos: ()", "qos: (vl_arbitration: (low: [(0, 1), (1, 1)]))"),
    (
        "qos: ()",
        "qos: (vl_arbitration: (low: [(0, 1), (1, 1)], rules: Legacy))",
    ),
    (
        "qos: ()",
        "qos: (vl_arbitration: (high: [(0, 1)], low: [(1, 1)], accept: HighFirst))",
    ),
];

#[test]
fn wrong_claims_are_named() {
    insta::assert_snapshot!(refusals("claims.ron", CLAIMED, WRONG));
}

#[test]
fn looks_are_any_time_from_a_cycle_on() {
    // 64 B at 100 Gbit/s are 5.12 ns
    for (written, cycles) in [("1 cycles", 1), ("16 cycles", 16), ("1 us", 195)] {
        let every = format!("Every({written:?})");
        let resolved = resolve_registered(&CLAIMED.replace("Every(\"16 cycles\")", &every));
        assert_eq!(resolved.plan.switch.allocation.claims, Some(cycles));
        let printed = print::plan(&resolved, &Parts::registered());
        assert!(printed.contains(&format!("claims: Every(\"{cycles} cycles\")")));
        let again = document(&printed).resolve(&Parts::registered()).unwrap();
        assert_eq!(again.plan.switch, resolved.plan.switch);
    }
}

#[test]
fn looks_are_far_apart_unless_said() {
    let claims = |text: &str| resolve_registered(text).plan.switch.allocation.claims;
    let unsaid = CLAIMED.replace(", claims: Every(\"16 cycles\")", "");
    assert_eq!(claims(&unsaid), Some(65_536));
    let off = CLAIMED.replace("Every(\"16 cycles\")", "Off");
    assert_eq!(claims(&off), None);
}

/// Where it does not go, `Auto` is `Off` without a word.
#[test]
fn auto_is_on_where_it_goes() {
    let auto = CLAIMED.replace("Every(\"16 cycles\")", "Auto");
    let claims = |text: &str| resolve_registered(text).plan.switch.allocation.claims;
    assert_eq!(claims(&auto), Some(65_536));
    for (right, wrong) in WRONG.iter().filter(|(right, _)| auto.contains(right)) {
        assert_eq!(claims(&auto.replacen(right, wrong, 1)), None, "{wrong}");
    }
}
