//! What a case has of input-first matching, output lanes and thresholds with wormhole switching (D79).

use super::super::Case;
use crate::reference::Routing;
use virtlane::plan::{
    DropRule, Forwarding, InputSpeedup, InputTurns, Marking, Matching, OutputArbitration, Plan,
    Queues,
};
use virtlane::qos::vl_arbitration::{Places, Rules};

/// What cases with wormhole switching and tables have of them.
pub(crate) const WORMHOLE_HALF_WAY: [&str; 27] = [
    "wormhole with input-first matching",
    "wormhole with input-first matching and small lanes",
    "wormhole with input-first matching and VOQ",
    "wormhole with input-first matching and VL tables",
    "wormhole with input-first matching and legacy tables",
    "wormhole with input-first matching and rounds",
    "wormhole with input-first matching and several places",
    "wormhole with input-first matching and kept inputs",
    "wormhole with input-first matching and output buffers",
    "wormhole with input-first matching and flits at random",
    "wormhole with input-first matching and flits in the order of requests",
    "wormhole with input-first matching, oldest flits first",
    "wormhole with input-first matching and VL15",
    "wormhole with output lanes",
    "wormhole with output lanes of one flit",
    "wormhole with output lanes and input-first matching",
    "wormhole with output lanes and VL tables",
    "wormhole with output lanes and legacy tables",
    "wormhole with output lanes and tables twice",
    "wormhole with output lanes and a crossbar delay",
    "wormhole with output lanes and VOQ",
    "wormhole with output lanes and InfiniBand's marking",
    "wormhole with output lanes and retry",
    "wormhole with output lanes and slow sinks",
    "wormhole with output lanes that drops",
    "wormhole that drops by a threshold",
    "wormhole that drops by a threshold with VOQ",
];

/// The same, with adaptive routing.
pub(crate) const HALF_WAY_OF_CHOICES: [&str; 5] = [
    "wormhole with choices and input-first matching",
    "wormhole with choices and output lanes",
    "wormhole with chosen queues and input-first matching",
    "wormhole with choices that drops by a threshold",
    "wormhole with chosen queues that drops by a threshold",
];

pub(super) fn wormhole_half_way<R>(case: &Case<R>) -> Vec<(&'static str, bool)>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let plan = &case.plan;
    if plan.switch.forwarding != Forwarding::Wormhole {
        return Vec::new();
    }
    let switch = &plan.switch;
    let is_voq = switch.queues == Queues::Voq;
    let is_input_first = switch.matching == Matching::InputFirst;
    let by_fill = drops_by_fill(plan);
    let mine = input_first(plan).into_iter().chain(output_lanes(plan));
    let mine = mine.chain([by_fill, by_fill && is_voq]);
    let mut found: Vec<_> = WORMHOLE_HALF_WAY.into_iter().zip(mine).collect();
    if let Routing::Adaptive(_) = (&case.routing).into() {
        let mine = [
            is_input_first,
            switch.output_lane_buffer > 0,
            is_input_first && is_voq,
            by_fill && !is_voq,
            by_fill && is_voq,
        ];
        found.extend(HALF_WAY_OF_CHOICES.into_iter().zip(mine));
    }
    found
}

fn drops_by_fill(plan: &Plan) -> bool {
    let rule = plan.switch.drop.as_ref().map(|drop| drop.rule);
    matches!(rule, Some(DropRule::Threshold(_)))
}

fn input_first(plan: &Plan) -> [bool; 13] {
    let switch = &plan.switch;
    let tables = switch.vl_arbitration.as_ref();
    [
        true,
        switch.lane_capacity < plan.largest_packet().into(),
        switch.queues == Queues::Voq,
        tables.is_some_and(|tables| tables.rules == Rules::InfiniBand),
        tables.is_some_and(|tables| tables.rules == Rules::Legacy),
        switch.allocation.iterations > 1,
        matches!(switch.input_speedup, InputSpeedup::Limited(2..)),
        switch.input_turns == InputTurns::Packets,
        switch.output_buffer > 0,
        switch.output_arbitration == OutputArbitration::Random,
        switch.output_arbitration == OutputArbitration::FirstComeFirstServed,
        switch.output_arbitration == OutputArbitration::OldestFirst,
        plan.classes.iter().any(|class| class.management),
    ]
    .map(|has| has && switch.matching == Matching::InputFirst)
}

fn output_lanes(plan: &Plan) -> [bool; 12] {
    let switch = &plan.switch;
    let tables = switch.vl_arbitration.as_ref();
    [
        true,
        switch.output_lane_buffer == 1,
        switch.matching == Matching::InputFirst,
        tables.is_some_and(|tables| tables.rules == Rules::InfiniBand),
        tables.is_some_and(|tables| tables.rules == Rules::Legacy),
        tables.is_some_and(|tables| tables.places == Places::InputsAndChannels),
        switch.crossbar_delay > 0,
        switch.queues == Queues::Voq,
        matches!(switch.marking, Some(Marking::InfiniBand { .. })),
        plan.link_retry.is_some(),
        plan.host.sink_cycles_per_flit > Some(1),
        switch.drop.is_some(),
    ]
    .map(|has| has && switch.output_lane_buffer > 0)
}
