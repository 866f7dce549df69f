//! What wormhole switching does not go with (D65 of the model).

use super::super::sections::Scenario;
use super::super::sections::fluid::Carry;
use super::super::syntax::Mistake;
use crate::plan::{
    BufferSharing, Control, DropRule, Forwarding, InputSpeedup, Marking, Matching, Plan, Queues,
};

/// The plan goes with wormhole switching, if it asks for it.
///
/// # Errors
/// The first option that does not.
pub(super) fn check(scenario: &Scenario, plan: &Plan) -> Result<(), Mistake> {
    let refused = of_switches(plan).chain(of_hosts(plan));
    let refused = refused.chain(of_routes(scenario, plan));
    refuse(scenario, plan, refused)
}

fn refuse(
    scenario: &Scenario,
    plan: &Plan,
    mut options: impl Iterator<Item = (&'static str, bool)>,
) -> Result<(), Mistake> {
    if plan.switch.forwarding != Forwarding::Wormhole {
        return Ok(());
    }
    match options.find(|(_, is_set)| *is_set) {
        None => Ok(()),
        Some((option, _)) => Err((scenario.fabric.switch.forwarding).mistake(format!(
            "`Wormhole` does not go with {option}: leave one of them out"
        ))),
    }
}

fn of_switches(plan: &Plan) -> impl Iterator<Item = (&'static str, bool)> {
    let switch = &plan.switch;
    let threshold = switch.drop.as_ref().map(|drop| drop.rule);
    let options = [
        ("`queues: Voq`", switch.queues == Queues::Voq),
        (
            "`sharing: PortPool`",
            switch.sharing == BufferSharing::PortPool,
        ),
        (
            "an input speed-up other than 1 and `Unlimited`",
            !matches!(
                switch.input_speedup,
                InputSpeedup::Limited(1) | InputSpeedup::Unlimited
            ),
        ),
        ("an output lane buffer", switch.output_lane_buffer > 0),
        (
            "`matching: InputFirst`",
            switch.matching == Matching::InputFirst,
        ),
        ("`reserve`", switch.reserve),
        (
            "`marking: InfiniBand(...)`",
            matches!(switch.marking, Some(Marking::InfiniBand { .. })),
        ),
        (
            "dropping by a threshold",
            matches!(threshold, Some(DropRule::Threshold(_))),
        ),
        ("a management lane", switch.management_lane),
    ];
    options.into_iter()
}

fn of_routes<'a>(
    scenario: &Scenario,
    plan: &'a Plan,
) -> impl Iterator<Item = (&'static str, bool)> + use<'a> {
    let carry = scenario.fluid.carry.value;
    let mut classes = plan.classes.iter();
    let options = [
        ("routes of flows (`fluid.carry`)", carry != Carry::Nothing),
        (
            "routes set up by packets (`control: SetUp`)",
            classes.any(|class| class.set_up().is_some()),
        ),
    ];
    options.into_iter()
}

fn of_hosts(plan: &Plan) -> impl Iterator<Item = (&'static str, bool)> {
    let controls = || {
        plan.classes
            .iter()
            .filter_map(|class| class.control.as_ref())
    };
    let looks = |control: &Control| control.algorithm.looks().is_some();
    let observe = &plan.observe;
    let options = [
        ("a sink rate", plan.host.sink_cycles_per_flit.is_some()),
        (
            "bounded queues of answers",
            controls().any(|control| control.queue.is_some()),
        ),
        (
            "control that looks at the own switch",
            controls().any(looks),
        ),
        ("messages of classes", !plan.workloads.is_empty()),
        (
            "flows that wait for others",
            plan.flows.iter().any(|flow| !flow.after.is_empty()),
        ),
        ("`observe.congestion`", observe.congestion.is_some()),
    ];
    options.into_iter()
}
