//! Fabrics in which nothing but the stages of the core, and mechanisms that may sleep, have something to do: the stages run in one
//! pass there. Any option of switches, traffic that hosts make by themselves, claims; stopped and resumed in the middle. And the
//! mechanisms whose systems the pass stands for: flows, control, marking, observation.

use super::coverage::{ADAPTIVE_SETS, RIDERS, SETS, riding};
use super::{compare, is_usual};
use crate::random_fabric::{Adaptive, Case, adaptive_case, case};
use virtlane::measure::observe::Observe;
use virtlane::plan::{ClassPlan, Forwarding, Matching, Queues};
use virtlane::qos::VlArbitrationTables;
use virtlane::routing::adaptive::Selection;
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

/// The first case from a seed on of which something is left; of three in turn one whose options all are defaults.
fn first<R>(seed: u64, draw: fn(u64) -> Case<R>) -> Case<R> {
    let is_plain = seed.is_multiple_of(3);
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

/// Fabrics with every default but one.
fn with_one_option(seed: u64) -> Case {
    let mut cases = (2 * seed..).step_by(2).map(case);
    let mut case = cases.find_map(alone).expect("some have traffic");
    let switch = &mut case.plan.switch;
    match seed % 4 {
        0 => switch.allocation.iterations = 2,
        1 => switch.queues = Queues::Voq,
        2 => {
            switch.output_lane_buffer = 1 + switch.crossbar_delay + seed as u32 % 20;
            switch.allocation.claims = None;
        }
        _ => {
            switch.allocation.claims = None;
            let lanes = 0..switch.lanes;
            switch.vl_arbitration = Some(VlArbitrationTables {
                high: lanes.clone().step_by(2).map(|lane| (lane, 4)).collect(),
                low: lanes.map(|lane| (lane, 3)).collect(),
                ..VlArbitrationTables::default()
            });
        }
    }
    case
}

/// The same with adaptive routing and queues per output.
fn with_sorted_queues(seed: u64) -> Case<Adaptive> {
    let cases = (2 * seed..).step_by(2).map(adaptive_case);
    let mut cases = cases.filter_map(alone);
    let closed = cases.find(|case| case.routing.function.selection() != Selection::Open);
    let mut case = closed.expect("some heads request one candidate");
    case.plan.switch.queues = Queues::Voq;
    case
}

/// The same with flows, control, marking and observation; `None`: something that cannot be taken away has a system that is
/// no rider.
fn ridden<R>(mut case: Case<R>) -> Option<Case<R>> {
    let plan = &mut case.plan;
    let has_other_systems = |class: &ClassPlan| {
        let control = class.control.as_ref();
        let is_other = control.is_some_and(|control| control.queue.is_some() || control.is_apart());
        class.messages.is_some() || class.management || is_other
    };
    let is_ruled_out = plan.classes.iter().any(has_other_systems)
        || plan.flows.iter().any(|flow| !flow.after.is_empty())
        || !plan.app_phases.is_empty()
        || plan.admission.is_some()
        || plan.switch.forwarding == Forwarding::Wormhole;
    if is_ruled_out {
        return None;
    }
    plan.switch.drop = None;
    plan.switch.output_buffer = 0;
    plan.host.sink_cycles_per_flit = None;
    plan.observe = Observe {
        queues: plan.observe.queues,
        ..Observe::default()
    };
    case.fork = None;
    Some(case)
}

/// The first case from a seed on that has a certain rider, another for each of so many seeds.
fn first_ridden(seed: u64) -> Case {
    let rider = RIDERS[seed as usize % RIDERS.len()];
    let mut cases = (64 * seed..).map(case).filter_map(ridden);
    let found = cases.find(|case| riding(&case.plan).any(|name| name == rider));
    found.expect("all are drawn")
}

/// Sets of rules that are compiled for one option.
#[test]
fn fabrics_with_one_option_do_what_those_with_many_do() {
    let routes = |tables: &Tables| Routes::Tables(tables.clone());
    let coverage = compare(with_one_option, routes, 120);
    if is_usual() {
        coverage.require_pass(&["Rounds", "Tabled", "Queued", "Buffered"]);
    }
    let coverage = compare(with_sorted_queues, Adaptive::routes, 60);
    if is_usual() {
        coverage.require_pass(&["Sorted"]);
    }
}

#[test]
fn mechanisms_in_the_pass_do_what_their_systems_do() {
    let routes = |tables: &Tables| Routes::Tables(tables.clone());
    let coverage = compare(first_ridden, routes, 60);
    if is_usual() {
        coverage.require_riders(5);
    }
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
        coverage.require_pass(&ADAPTIVE_SETS);
    }
}
