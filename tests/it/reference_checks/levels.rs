//! The reference model's flows of several service levels (D27), worked out by hand.

use super::control::{flow, flows_of};
use super::{plan, star};
use crate::reference::simulate;
use virtlane::ids::SlId;
use virtlane::plan::{FlowPlan, SwitchOptions};

/// Flows 0 and 2 are on lane 1, flow 1 is on lane 0, which has the first turn. Lane 1 follows, and goes on alone.
#[test]
fn flows_take_the_levels_of_their_class_in_turn() {
    let (graph, tables) = star(2, 2);
    let options = SwitchOptions {
        lanes: 2,
        ..SwitchOptions::default()
    };
    let mut plan = plan(vec![flows_of(4, 3)], options);
    plan.classes[0].service_levels = vec![SlId(1), SlId(0)];
    plan.flows = [1, 0, 1]
        .map(|level| FlowPlan {
            level: SlId(level),
            flits: Some(4),
            ..flow(0, 1)
        })
        .to_vec();
    let outcome = simulate(&plan, &graph, &tables, 100);
    let starts: Vec<_> = outcome.flows.iter().map(|flow| flow.first_start).collect();
    assert_eq!(starts, [Some(4), Some(0), Some(8)]);
}
