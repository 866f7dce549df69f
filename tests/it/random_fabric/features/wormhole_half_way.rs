//! What a case has of input-first matching, output lanes and thresholds with wormhole switching (D79), and of how inputs choose among
//! the requests of open heads there (D82).

use super::super::Case;
use crate::reference::Routing;
use virtlane::plan::{
    DropRule, Forwarding, InputSpeedup, InputTurns, Marking, Matching, OutputArbitration, Plan,
    Queues,
};
use virtlane::qos::vl_arbitration::{Accept, Places, Rules};
use virtlane::routing::adaptive::{AdaptiveRouting, Selection};

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

/// What cases with wormhole switching and heads that request several outputs have of places of inputs and input-first matching.
pub(crate) const OPEN_HALF_WAY: [&str; 14] = [
    "wormhole with open heads and several places",
    "wormhole with open heads and unlimited places",
    "wormhole with open heads and input-first matching",
    "wormhole with open heads, several places and rounds",
    "wormhole with open heads, several places and output lanes",
    "wormhole with open heads, several places and small lanes",
    "wormhole with open heads, several places, accepting by priority",
    "wormhole with open heads, places and escapes",
    "wormhole with open heads, input-first matching and several places",
    "wormhole with open heads, input-first matching and rounds",
    "wormhole with open heads, input-first matching and output lanes",
    "wormhole with open heads, input-first matching and VL tables",
    "wormhole with open heads, input-first matching and kept inputs",
    "wormhole with open heads, input-first matching and escapes",
];

/// The same, with adaptive routing, those of heads that choose but for output lanes and thresholds.
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
    if let Routing::Adaptive(routing) = (&case.routing).into() {
        let is_open = routing.selection() == Selection::Open;
        let mine = [
            is_input_first && !is_open,
            switch.output_lane_buffer > 0,
            is_input_first && is_voq,
            by_fill && !is_voq,
            by_fill && is_voq,
        ];
        found.extend(HALF_WAY_OF_CHOICES.into_iter().zip(mine));
        if is_open {
            found.extend(OPEN_HALF_WAY.into_iter().zip(open_heads(plan, routing)));
        }
    }
    found
}

fn open_heads(plan: &Plan, routing: &dyn AdaptiveRouting) -> [bool; 14] {
    let switch = &plan.switch;
    let input_first = switch.matching == Matching::InputFirst;
    let unlimited = switch.input_speedup == InputSpeedup::Unlimited;
    let several = matches!(switch.input_speedup, InputSpeedup::Limited(2..));
    let places = several && !input_first;
    let rounds = switch.allocation.iterations > 1;
    let lanes = switch.output_lane_buffer > 0;
    let tables = switch.vl_arbitration.as_ref();
    let by_priority = tables.is_some_and(|tables| tables.accept == Accept::HighFirst);
    // as `random_fabric::adaptive` names the function
    let escapes = format!("{routing:?}").starts_with("Escape");
    [
        places,
        unlimited,
        input_first,
        places && rounds,
        places && lanes,
        places && switch.lane_capacity < plan.largest_packet().into(),
        places && by_priority,
        (places || unlimited) && escapes,
        input_first && several,
        input_first && rounds,
        input_first && lanes,
        input_first && tables.is_some(),
        input_first && switch.input_turns == InputTurns::Packets,
        input_first && escapes,
    ]
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
