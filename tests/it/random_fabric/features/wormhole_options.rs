//! What a case has of rounds, output buffers, marks and occupancy with wormhole switching (D77), with adaptive routing as well.

use super::super::Case;
use crate::reference::Routing;
use virtlane::plan::{
    Forwarding, InputSpeedup, InputTurns, Marking, OutputArbitration, SwitchOptions,
};
use virtlane::qos::vl_arbitration::{Accept, Rules};
use virtlane::routing::adaptive::Selection;

/// What cases with wormhole switching have, whatever their routing.
pub(crate) const WORMHOLE_OPTIONS: [&str; 19] = [
    "wormhole with rounds",
    "wormhole with rounds and unlimited places",
    "wormhole with rounds and kept inputs",
    "wormhole with rounds and headers at random",
    "wormhole with rounds and VL tables",
    "wormhole with rounds accepting by priority",
    "wormhole with rounds and output buffers",
    "wormhole with output buffers",
    "wormhole with output buffers and unlimited places",
    "wormhole with output buffers and a crossbar delay",
    "wormhole with output buffers and channels of several paces",
    "wormhole with output buffers and legacy tables",
    "wormhole with output buffers and retry",
    "wormhole with marks by requests",
    "wormhole with RoCE's marking",
    "wormhole with marks that drops",
    "wormhole with marks and control",
    "wormhole with queues observed",
    "wormhole with queues observed that drops",
];

/// The same, with adaptive routing.
pub(crate) const WORMHOLE_OPTIONS_OF_CHOICES: [&str; 10] = [
    "wormhole with choices and rounds",
    "wormhole with choices and output buffers",
    "wormhole with choices and marks by requests",
    "wormhole with choices and RoCE's marking",
    "wormhole with choices and queues observed",
    "wormhole with open heads and rounds",
    "wormhole with open heads and output buffers",
    "wormhole with open heads and marks by requests",
    "wormhole with open heads and RoCE's marking",
    "wormhole with open heads and queues observed",
];

pub(super) fn wormhole_options<R>(case: &Case<R>) -> Vec<(&'static str, bool)>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let switch = &case.plan.switch;
    if switch.forwarding != Forwarding::Wormhole {
        return Vec::new();
    }
    let beside = beside(case);
    let has = rounds(switch).into_iter().chain(beside);
    let mut found: Vec<_> = WORMHOLE_OPTIONS.into_iter().zip(has).collect();
    if let Routing::Adaptive(routing) = (&case.routing).into() {
        let is_open = routing.selection() == Selection::Open;
        let names = WORMHOLE_OPTIONS_OF_CHOICES.into_iter();
        let has = of_choices(case);
        let has = has
            .map(|has| has && !is_open)
            .into_iter()
            .chain(has.map(|has| has && is_open));
        found.extend(names.zip(has));
    }
    found
}

/// Rounds, and what they go with.
fn rounds(switch: &SwitchOptions) -> [bool; 7] {
    let tables = switch.vl_arbitration.as_ref();
    [
        true,
        switch.input_speedup == InputSpeedup::Unlimited,
        switch.input_turns == InputTurns::Packets,
        switch.output_arbitration == OutputArbitration::Random,
        tables.is_some(),
        tables.is_some_and(|tables| tables.accept == Accept::HighFirst),
        switch.output_buffer > 0,
    ]
    .map(|has| has && switch.allocation.iterations > 1)
}

/// Output buffers, marks and occupancy, and what they go with.
fn beside<R>(case: &Case<R>) -> [bool; 12] {
    let (plan, switch) = (&case.plan, &case.plan.switch);
    let tables = switch.vl_arbitration.as_ref();
    let mut paces = case.graph.channels().iter();
    let first = case.graph.channels()[0].timing.cycles_per_flit;
    let is_buffered = switch.output_buffer > 0;
    let (is_marked, is_seen) = (switch.marking.is_some(), plan.observe.queues);
    let mut classes = plan.classes.iter();
    [
        is_buffered,
        is_buffered && switch.input_speedup == InputSpeedup::Unlimited,
        is_buffered && switch.crossbar_delay > 0,
        is_buffered && paces.any(|channel| channel.timing.cycles_per_flit != first),
        is_buffered && tables.is_some_and(|tables| tables.rules == Rules::Legacy),
        is_buffered && plan.link_retry.is_some(),
        matches!(switch.marking, Some(Marking::Requests(_))),
        matches!(switch.marking, Some(Marking::Ecn { .. })),
        is_marked && switch.drop.is_some(),
        is_marked && classes.any(|class| class.control.is_some()),
        is_seen,
        is_seen && switch.drop.is_some(),
    ]
}

/// What is told apart by how heads choose.
fn of_choices<R>(case: &Case<R>) -> [bool; 5] {
    let switch = &case.plan.switch;
    [
        switch.allocation.iterations > 1,
        switch.output_buffer > 0,
        matches!(switch.marking, Some(Marking::Requests(_))),
        matches!(switch.marking, Some(Marking::Ecn { .. })),
        case.plan.observe.queues,
    ]
}
