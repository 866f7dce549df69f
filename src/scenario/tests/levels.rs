//! Flows of classes with several service levels (D27 of the model).

use super::resolve_registered as resolve;
use crate::scenario::{Parts, print};

/// Flows of two entries on three levels, and answers without one of their own.
const LEVELS: &str = r#"
Scenario(
    fabric: (
        topology: Mesh(radix: [3]),
        link: (rate: "100 Gbit/s", latency: "3 cycles"),
        switch: (lanes: 4, lane_capacity: "32 flits"),
    ),
    routing: MinHop(),
    traffic: [
        (name: "plain", size: "8 flits", sl: [0, 1], pattern: Uniform, process: Bernoulli(load: 0.1)),
        (name: "flows", size: "8 flits", sl: [3, 1, 2], control: Window(window: 4), flows: [
            (pairs: Permutations(count: 1)),
            (pairs: RandomPairs(count: 4)),
        ]),
    ],
    phases: (warmup: "100 cycles", measure: "1000 cycles"),
)
"#;

#[test]
fn flows_have_the_levels_of_their_class_in_turn() {
    let resolved = resolve(LEVELS);
    let plan = &resolved.plan;
    let levels: Vec<u8> = plan.flows.iter().map(|flow| flow.level.0).collect();
    assert_eq!(levels, [3, 1, 2, 3, 1, 2, 3]);
    let answers = plan.classes.last().expect("answers");
    let of_answers = plan.flows.iter().map(|flow| answers.level_of(flow).0);
    assert_eq!(of_answers.collect::<Vec<_>>(), levels);
    let printed = print::plan(&resolved, &Parts::registered());
    let second = resolve(&printed);
    assert_eq!(format!("{plan:?}"), format!("{:?}", second.plan));
}
