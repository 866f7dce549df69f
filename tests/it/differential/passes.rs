//! Fabrics in which nothing but the stages of the core, and mechanisms that may sleep, have something to do: the stages run in one
//! pass there. Any option of switches, traffic that hosts make by themselves, claims; stopped and resumed in the middle.

use super::coverage::SETS;
use super::{compare, is_usual};
use crate::random_fabric::{Adaptive, Case, adaptive_case, case};
use virtlane::measure::observe::Observe;
use virtlane::plan::{ClassPlan, Matching};
use virtlane::routing::{Routes, Tables};

/// What is left of a case without flows, messages, admission, and systems of switches that never sleep; `None`: no traffic.
fn alone<R>(mut case: Case<R>) -> Option<Case<R>> {
    let plan = &mut case.plan;
    let makes_its_own = |class: &ClassPlan| {
        class.flows.is_none() && class.messages.is_none() && class.answers.is_none()
    };
    plan.classes.retain(makes_its_own);
    let has_system = plan.switch.matching == Matching::InputFirst;
    if has_system || plan.classes.iter().all(|class| class.management) {
        return None;
    }
    plan.flows.clear();
    plan.workloads.clear();
    plan.app_phases.clear();
    (plan.routes_of_flows, plan.admission) = (None, None);
    (plan.switch.marking, plan.switch.drop) = (None, None);
    plan.observe = Observe::default();
    case.fork = None;
    Some(case)
}

/// The first case from a seed on of which something is left; of four in turn one whose options all are defaults.
fn first<R>(seed: u64, draw: fn(u64) -> Case<R>) -> Case<R> {
    let is_plain = seed.is_multiple_of(4);
    let from = 4 * seed + u64::from(!is_plain);
    let mut cases = (from..).step_by(2).map(draw);
    cases.find_map(alone).expect("some have traffic")
}

fn tables(seed: u64) -> Case {
    first(seed, case)
}

fn adaptive(seed: u64) -> Case<Adaptive> {
    first(seed, adaptive_case)
}

#[test]
fn stages_in_one_pass_do_what_they_do_slot_by_slot() {
    let routes = |tables: &Tables| Routes::Tables(tables.clone());
    let coverage = compare(tables, routes, 480);
    if is_usual() {
        coverage.require_pass(&["Plain"]);
        coverage.require_pass(&SETS);
    }
    let coverage = compare(adaptive, Adaptive::routes, 160);
    if is_usual() {
        coverage.require_pass(&["Adaptive", "Any"]);
    }
}
