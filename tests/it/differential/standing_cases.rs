//! Random cases of open engines with VOQ (D84): some of each kind that `random_fabric::features` knows, and the same on any lane of the
//! ways of tables.

use super::{compare, is_usual};
use crate::random_fabric::{Adaptive, Case, STANDING, adaptive_case, standing_seed};
use std::path::Path;
use virtlane::ids::INFINIBAND_LANES;
use virtlane::registry::Arguments;
use virtlane::routing::{ENGINES, LaneBudget, Routes};

/// Those with the first of each kind are among the usual cases.
fn of_each_kind(number: u64) -> Case<Adaptive> {
    adaptive_case(standing_seed(STANDING.len() as u64 + number))
}

/// The same, up*/down* on any lane.
fn on_any_lane(number: u64) -> Case<Adaptive> {
    let mut case = of_each_kind(number);
    let entry = ENGINES.find("UpDown").expect("registered");
    let text = "(lanes: Any)";
    let engine = (entry.build)(Arguments { text }).expect("arguments fit");
    let budget = LaneBudget {
        lanes: case.plan.switch.lanes.min(INFINIBAND_LANES),
        service_levels: case.plan.service_level_count(),
    };
    case.routing.function = match engine.route(&case.graph, budget, 1, Path::new("")) {
        Ok(Routes::Adaptive(adaptive)) => adaptive.routing,
        other => panic!("{other:?}"),
    };
    case
}

#[test]
fn packets_that_stand_in_several_queues_do_not_differ() {
    let kinds = STANDING.len() as u64;
    let coverage = compare(of_each_kind, Adaptive::routes, 2 * kinds);
    if is_usual() {
        coverage.require_standing();
    }
    let coverage = compare(on_any_lane, Adaptive::routes, kinds);
    if is_usual() {
        coverage.require_any_lane();
    }
}
