//! What a case has of wormhole switching (D65).

use super::super::Case;
use virtlane::plan::{Forwarding, InputTurns};
use virtlane::qos::vl_arbitration::{Accept, Rules};

/// What cases with wormhole switching have; adaptive routing excludes them.
pub(super) fn wormhole<R>(case: &Case<R>) -> [(&'static str, bool); 10] {
    let (plan, switch) = (&case.plan, &case.plan.switch);
    let is_on = switch.forwarding == Forwarding::Wormhole;
    let tables = switch.vl_arbitration.as_ref();
    let rules = tables.map(|tables| tables.rules);
    let by_priority = tables.is_some_and(|tables| tables.accept == Accept::HighFirst);
    let channels = case.graph.channels().iter();
    let mut paces = channels.map(|channel| channel.timing.cycles_per_flit);
    let first = paces.next();
    let are_several = paces.any(|pace| Some(pace) != first);
    let keeps = switch.input_turns == InputTurns::Packets;
    let is_small = switch.lane_capacity < plan.largest_packet().into();
    [
        ("wormhole", is_on),
        (
            "wormhole with lanes smaller than a packet",
            is_on && is_small,
        ),
        (
            "wormhole with VL tables",
            is_on && rules == Some(Rules::InfiniBand),
        ),
        (
            "wormhole with legacy tables",
            is_on && rules == Some(Rules::Legacy),
        ),
        ("wormhole accepting by priority", is_on && by_priority),
        ("wormhole with kept inputs", keeps),
        (
            "wormhole with kept inputs and lanes smaller than a packet",
            keeps && is_small,
        ),
        ("wormhole that drops", is_on && switch.drop.is_some()),
        ("wormhole with flows", is_on && !plan.flows.is_empty()),
        (
            "wormhole with channels of several paces",
            is_on && are_several,
        ),
    ]
}
