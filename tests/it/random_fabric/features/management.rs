//! What a case with adaptive routing has of VL15, whose packets go by tables (D83).

use super::super::Case;
use crate::reference::Routing;
use virtlane::plan::{ClassPlan, Forwarding, InputSpeedup, InputTurns, Matching, Plan, Queues};
use virtlane::qos::vl_arbitration::Accept;
use virtlane::routing::adaptive::Selection;

/// What goes beside packets of VL15: choices of any kind, and of each, with packets as units and with single flits.
pub(crate) const VL15_BESIDE_CHOICES: [&str; 7] = [
    "VL15 beside choices",
    "VL15 beside choices of heads",
    "VL15 beside chosen queues",
    "VL15 beside open heads",
    "wormhole with VL15 beside choices of heads",
    "wormhole with VL15 beside chosen queues",
    "wormhole with VL15 beside open heads",
];

/// The same, and what cases have beside both.
pub(crate) const VL15_OF_CHOICES: [&str; 16] = [
    "VL15 beside open heads and input-first",
    "VL15 beside open heads and several places",
    "VL15 beside open heads and unlimited places",
    "wormhole with VL15 beside open heads and input-first",
    "wormhole with VL15 beside open heads and several places",
    "wormhole with VL15 beside open heads and kept inputs",
    "VL15 beside choices with VL tables",
    "VL15 beside choices, accepting by priority",
    "VL15 beside choices with output lanes",
    "VL15 beside choices with retry",
    "VL15 beside choices with slow sinks",
    "VL15 beside choices with marks",
    "VL15 beside choices that drops",
    "VL15 beside choices with a fork",
    "answers on VL15 beside choices",
    "probes on VL15 beside choices",
];

pub(super) fn management<R>(case: &Case<R>) -> Vec<(&'static str, bool)>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let Routing::Adaptive(routing) = (&case.routing).into() else {
        return Vec::new();
    };
    let plan = &case.plan;
    if plan.classes.iter().all(|class| !class.management) {
        return Vec::new();
    }
    let switch = &plan.switch;
    let is_open = routing.selection() == Selection::Open;
    let is_wormhole = switch.forwarding == Forwarding::Wormhole;
    let kind = match switch.queues {
        _ if is_open => 2,
        Queues::Voq => 1,
        Queues::Fifo => 0,
    };
    let kind = VL15_BESIDE_CHOICES[1 + kind + 3 * usize::from(is_wormhole)];
    let open = beside_open_heads(plan).map(|has| has && is_open);
    let mine = open.into_iter().chain(beside_choices(plan));
    let mine = mine.chain([case.fork.is_some()]);
    let mine = mine.chain(control_packets(plan));
    let mut found: Vec<_> = VL15_OF_CHOICES.into_iter().zip(mine).collect();
    found.extend([(VL15_BESIDE_CHOICES[0], true), (kind, true)]);
    found
}

fn beside_open_heads(plan: &Plan) -> [bool; 6] {
    let switch = &plan.switch;
    let is_wormhole = switch.forwarding == Forwarding::Wormhole;
    let input_first = switch.matching == Matching::InputFirst;
    let several = matches!(switch.input_speedup, InputSpeedup::Limited(2..)) && !input_first;
    [
        input_first && !is_wormhole,
        several && !is_wormhole,
        switch.input_speedup == InputSpeedup::Unlimited && !is_wormhole,
        input_first && is_wormhole,
        several && is_wormhole,
        switch.input_turns == InputTurns::Packets,
    ]
}

fn beside_choices(plan: &Plan) -> [bool; 7] {
    let switch = &plan.switch;
    let tables = switch.vl_arbitration.as_ref();
    [
        tables.is_some(),
        tables.is_some_and(|tables| tables.accept == Accept::HighFirst),
        switch.output_lane_buffer > 0,
        plan.link_retry.is_some(),
        plan.host.sink_cycles_per_flit > Some(1),
        switch.marking.is_some(),
        switch.drop.is_some(),
    ]
}

/// Answers, and probes, on VL15.
fn control_packets(plan: &Plan) -> [bool; 2] {
    let mut classes = plan.classes.iter();
    let answers = classes.any(|class| class.answers.is_some() && class.management);
    let probes = |class: &ClassPlan| {
        let control = class.control.as_ref();
        control.is_some_and(|control| {
            let is_on_vl15 = plan.classes[usize::from(control.answers)].management;
            control.algorithm.probes() && is_on_vl15
        })
    };
    [answers, plan.classes.iter().any(probes)]
}
