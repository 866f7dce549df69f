//! What a case has of wormhole switching (D65), with adaptive routing as well (D76).

use super::super::Case;
use crate::reference::Routing;
use virtlane::plan::{Forwarding, InputSpeedup, InputTurns, OutputArbitration, Plan};
use virtlane::qos::vl_arbitration::{Accept, Rules};
use virtlane::routing::adaptive::{AdaptiveRouting, Selection};

/// How outputs choose among the headers for a lane, but for round robin.
pub(crate) const WORMHOLE_REQUESTS: [&str; 3] = [
    "wormhole, first come first served",
    "wormhole, oldest first",
    "wormhole, headers at random",
];

/// What few cases with adaptive routing have; they go round (`strata`).
pub(crate) const SELDOM_CHOICES: [&str; 6] = [
    "claims with open heads and a pool",
    "wormhole with choices by what waits",
    "wormhole with choices and small lanes",
    "wormhole with choices and kept inputs",
    "wormhole with choices and unlimited places",
    "wormhole with choices and several places",
];

/// What cases with wormhole switching and adaptive routing have.
pub(crate) const WORMHOLE_CHOICES: [&str; 19] = [
    "wormhole with choices of heads",
    "wormhole with choices by what waits",
    "wormhole with drawn choices",
    "wormhole with choices and unlimited places",
    "wormhole with choices and kept inputs",
    "wormhole with choices and small lanes",
    "wormhole with choices and VL tables",
    "wormhole with choices that drops",
    "wormhole with open heads",
    "wormhole with escapes",
    "wormhole with open heads and kept inputs",
    "wormhole with open heads and small lanes",
    "wormhole with open heads and VL tables",
    "wormhole with open heads accepting by priority",
    "wormhole with open heads that drops",
    "wormhole with open heads and flows",
    "wormhole with open heads and channels of several paces",
    "wormhole with open heads and retry",
    "wormhole with open heads, not round robin",
];

/// What cases with wormhole switching have, whatever their routing.
pub(super) fn wormhole<R>(case: &Case<R>) -> [(&'static str, bool); 13] {
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
    let chooses = |choice| is_on && switch.output_arbitration == choice;
    let [first_come, oldest, at_random] = WORMHOLE_REQUESTS;
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
        (first_come, chooses(OutputArbitration::FirstComeFirstServed)),
        (oldest, chooses(OutputArbitration::OldestFirst)),
        (at_random, chooses(OutputArbitration::Random)),
    ]
}

/// What it has of choices of heads, or of heads that request all their candidates.
pub(super) fn choices<R>(case: &Case<R>) -> Vec<(&'static str, bool)>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let is_on = case.plan.switch.forwarding == Forwarding::Wormhole;
    match (&case.routing).into() {
        Routing::Adaptive(routing) if is_on => match routing.selection() {
            Selection::Open => open_heads(case, routing).into(),
            selection => heads_that_choose(&case.plan, selection).into(),
        },
        _ => Vec::new(),
    }
}

fn heads_that_choose(plan: &Plan, selection: Selection) -> [(&'static str, bool); 8] {
    let switch = &plan.switch;
    let is_small = switch.lane_capacity < plan.largest_packet().into();
    let is_drawn = [Selection::Random, Selection::LeastLoad].contains(&selection);
    [
        ("wormhole with choices of heads", true),
        (
            "wormhole with choices by what waits",
            selection == Selection::LeastLoad,
        ),
        ("wormhole with drawn choices", is_drawn),
        (
            "wormhole with choices and unlimited places",
            switch.input_speedup == InputSpeedup::Unlimited,
        ),
        (
            "wormhole with choices and kept inputs",
            switch.input_turns == InputTurns::Packets,
        ),
        ("wormhole with choices and small lanes", is_small),
        (
            "wormhole with choices and VL tables",
            switch.vl_arbitration.is_some(),
        ),
        ("wormhole with choices that drops", switch.drop.is_some()),
    ]
}

fn open_heads<R>(case: &Case<R>, routing: &dyn AdaptiveRouting) -> [(&'static str, bool); 12] {
    let (plan, switch) = (&case.plan, &case.plan.switch);
    let tables = switch.vl_arbitration.as_ref();
    let by_priority = tables.is_some_and(|tables| tables.accept == Accept::HighFirst);
    let channels = case.graph.channels().iter();
    let mut paces = channels.map(|channel| channel.timing.cycles_per_flit);
    let first = paces.next();
    [
        ("wormhole with open heads", true),
        ("wormhole with any lane", routing.any_lane().is_some()),
        // as `random_fabric::adaptive` names the function
        (
            "wormhole with escapes",
            format!("{routing:?}").starts_with("Escape"),
        ),
        (
            "wormhole with open heads and kept inputs",
            switch.input_turns == InputTurns::Packets,
        ),
        (
            "wormhole with open heads and small lanes",
            switch.lane_capacity < plan.largest_packet().into(),
        ),
        ("wormhole with open heads and VL tables", tables.is_some()),
        (
            "wormhole with open heads accepting by priority",
            by_priority,
        ),
        ("wormhole with open heads that drops", switch.drop.is_some()),
        ("wormhole with open heads and flows", !plan.flows.is_empty()),
        (
            "wormhole with open heads and channels of several paces",
            paces.any(|pace| Some(pace) != first),
        ),
        (
            "wormhole with open heads and retry",
            plan.link_retry.is_some(),
        ),
        (
            "wormhole with open heads, not round robin",
            switch.output_arbitration != OutputArbitration::RoundRobin,
        ),
    ]
}
