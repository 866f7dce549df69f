//! What a case has whose packets stand in the queues of all outputs that they may take (D84).

use super::super::Case;
use super::open_heads::has_escapes;
use crate::reference::Routing;
use virtlane::plan::{
    BufferSharing, DropRule, Forwarding, InputSpeedup, Marking, Matching, OutputArbitration, Plan,
    Queues, SwitchOptions,
};
use virtlane::qos::vl_arbitration::Accept;
use virtlane::routing::adaptive::Selection;

/// What goes with packets that stand: places and matching, buffers, choices among requests, fabrics and traffic.
pub(crate) const STANDING: [&str; 28] = [
    "standing heads with several places",
    "standing heads with unlimited places",
    "standing heads with input-first",
    "standing heads with input-first and several places",
    "standing heads with rounds",
    "standing heads with output lanes",
    "standing heads with output buffers",
    "standing heads with a pool",
    "standing heads with VL tables",
    "standing heads accepting by priority",
    "standing heads with store-and-forward",
    "standing heads, first come first served",
    "standing heads, oldest first",
    "standing heads at random",
    "standing heads with InfiniBand's marking",
    "standing heads with RoCE's marking",
    "standing heads with marks by requests",
    "standing heads that are dropped when held",
    "standing heads that are dropped by a threshold",
    "standing heads with channels of several paces",
    "standing heads with escapes",
    "standing heads beside VL15",
    "standing heads with looks at switches",
    "standing heads with flows",
    "standing heads with messages",
    "standing heads of a fork",
    "standing heads with retry",
    "standing heads with slow sinks",
];

/// The same, of engines that are not drawn with all others.
pub(crate) const STANDING_ON_ANY_LANE: &str = "standing heads with any lane";

pub(super) fn standing<R>(case: &Case<R>) -> Vec<(&'static str, bool)>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let Routing::Adaptive(routing) = (&case.routing).into() else {
        return Vec::new();
    };
    let switch = &case.plan.switch;
    let is_open = routing.selection() == Selection::Open;
    if !is_open || switch.queues != Queues::Voq || switch.forwarding == Forwarding::Wormhole {
        return Vec::new();
    }
    let mut paces = case.graph.channels().iter();
    let first = case.graph.channels()[0].timing.cycles_per_flit;
    let are_several = paces.any(|channel| channel.timing.cycles_per_flit != first);
    let mine = crossbar(switch).into_iter().chain(decisions(switch));
    let mine = mine.chain([are_several, has_escapes(routing)]);
    let mine = mine.chain(traffic(&case.plan, case.fork.is_some()));
    let mut found: Vec<_> = STANDING.into_iter().zip(mine).collect();
    found.push((STANDING_ON_ANY_LANE, routing.any_lane().is_some()));
    found
}

/// Places, matching and buffers.
fn crossbar(switch: &SwitchOptions) -> [bool; 11] {
    let input_first = switch.matching == Matching::InputFirst;
    let several = matches!(switch.input_speedup, InputSpeedup::Limited(2..));
    let tables = switch.vl_arbitration.as_ref();
    [
        several && !input_first,
        switch.input_speedup == InputSpeedup::Unlimited,
        input_first,
        input_first && several,
        switch.allocation.iterations > 1,
        switch.output_lane_buffer > 0,
        switch.output_buffer > 0,
        switch.sharing == BufferSharing::PortPool,
        tables.is_some(),
        tables.is_some_and(|tables| tables.accept == Accept::HighFirst),
        switch.forwarding == Forwarding::StoreAndForward,
    ]
}

/// Choices among requests, marks and drops.
fn decisions(switch: &SwitchOptions) -> [bool; 8] {
    let chooses = |choice| switch.output_arbitration == choice;
    let rule = switch.drop.as_ref().map(|drop| drop.rule);
    [
        chooses(OutputArbitration::FirstComeFirstServed),
        chooses(OutputArbitration::OldestFirst),
        chooses(OutputArbitration::Random),
        matches!(switch.marking, Some(Marking::InfiniBand { .. })),
        matches!(switch.marking, Some(Marking::Ecn { .. })),
        matches!(switch.marking, Some(Marking::Requests(_))),
        rule == Some(DropRule::Held),
        matches!(rule, Some(DropRule::Threshold(_))),
    ]
}

/// What is sent, and how.
fn traffic(plan: &Plan, is_forked: bool) -> [bool; 7] {
    let mut controls = (plan.classes.iter()).filter_map(|class| class.control.as_ref());
    [
        plan.classes.iter().any(|class| class.management),
        controls.any(|control| control.algorithm.looks().is_some()),
        !plan.flows.is_empty(),
        !plan.workloads.is_empty(),
        is_forked,
        plan.link_retry.is_some(),
        plan.host.sink_cycles_per_flit > Some(1),
    ]
}
