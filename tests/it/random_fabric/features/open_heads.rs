//! What a case has whose heads of FIFO queues request several outputs at a time, beside D20: places of inputs and input-first matching
//! (D80). With VOQ: `standing`.

use super::super::Case;
use crate::reference::Routing;
use virtlane::plan::{
    BufferSharing, Forwarding, InputSpeedup, Matching, OutputArbitration, Queues,
};
use virtlane::qos::vl_arbitration::Accept;
use virtlane::routing::adaptive::{AdaptiveRouting, Selection};

/// Open heads with packets as units, how inputs send several and how they propose.
pub(crate) const OPEN_HEADS: [&str; 14] = [
    "open heads with several places",
    "open heads with several places and rounds",
    "open heads with several places and output lanes",
    "open heads with unlimited places",
    "open heads with input-first",
    "open heads with input-first and rounds",
    "open heads with input-first and several places",
    "open heads with input-first and VL tables",
    "open heads with input-first and output lanes",
    "open heads with input-first and claims",
    "open heads with several places and claims",
    "open heads with places and a pool",
    "open heads with input-first, not round robin",
    "open heads with places and escapes",
];

pub(super) fn open_heads<R>(case: &Case<R>) -> Vec<(&'static str, bool)>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let Routing::Adaptive(routing) = (&case.routing).into() else {
        return Vec::new();
    };
    let switch = &case.plan.switch;
    let is_open = routing.selection() == Selection::Open;
    if !is_open || switch.queues == Queues::Voq || switch.forwarding == Forwarding::Wormhole {
        return Vec::new();
    }
    let input_first = switch.matching == Matching::InputFirst;
    let unlimited = switch.input_speedup == InputSpeedup::Unlimited;
    let several = matches!(switch.input_speedup, InputSpeedup::Limited(2..));
    let has_places = several || unlimited;
    let rounds = switch.allocation.iterations > 1;
    let lanes = switch.output_lane_buffer > 0;
    let claims = switch.allocation.claims.is_some();
    let tables = switch.vl_arbitration.as_ref();
    let by_priority = tables.is_some_and(|tables| tables.accept == Accept::HighFirst);
    let in_turn = switch.output_arbitration == OutputArbitration::RoundRobin;
    let output_first = several && !input_first;
    let has = [
        output_first,
        output_first && rounds,
        output_first && lanes,
        unlimited,
        input_first,
        input_first && rounds,
        input_first && several,
        input_first && tables.is_some(),
        input_first && lanes,
        input_first && claims,
        output_first && claims,
        has_places && switch.sharing == BufferSharing::PortPool,
        input_first && !in_turn,
        has_places && has_escapes(routing),
    ];
    let mut found: Vec<_> = OPEN_HEADS.into_iter().zip(has).collect();
    found.push((
        "open heads accepting by priority with several places",
        output_first && by_priority,
    ));
    found
}

/// Whether some head requests an escape.
pub(super) fn has_escapes(routing: &dyn AdaptiveRouting) -> bool {
    // as `random_fabric::adaptive` names the function
    format!("{routing:?}").starts_with("Escape")
}
