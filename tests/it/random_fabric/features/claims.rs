//! What a case has beside claims (D72).

use super::super::Case;
use crate::reference::Routing;
use virtlane::plan::{
    BufferSharing, Forwarding, InputSpeedup, Marking, Matching, OutputArbitration, Queues,
};
use virtlane::routing::adaptive::Selection;

/// What cases with claims have, whatever their routing.
pub(crate) const CLAIMS: [&str; 12] = [
    "claims",
    "claims with a pool",
    "claims with several places",
    "claims with unlimited places",
    "claims with rounds",
    "claims with random arbitration",
    "claims with the oldest first",
    "claims with output buffers",
    "claims with output lanes",
    "claims with marking",
    "claims with slow sinks",
    "claims beside flows",
];

/// The same, of what adaptive routing excludes or seldom has.
pub(crate) const CLAIMS_ON_TABLES: [&str; 7] = [
    "claims with input-first",
    "claims with VOQ",
    "claims with VOQ and several places",
    "claims with input-first VOQ",
    "claims with store-and-forward",
    "claims beside dropping",
    "claims with marks by fill",
];

/// The same, of adaptive routing.
pub(crate) const CLAIMS_OF_CANDIDATES: [&str; 3] = [
    "claims with open heads",
    "claims with open heads and a pool",
    "claims with drawn choices",
];

pub(super) fn claims<R>(case: &Case<R>) -> Vec<(&'static str, bool)>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let (plan, switch) = (&case.plan, &case.plan.switch);
    if switch.allocation.claims.is_none() {
        return Vec::new();
    }
    let selection = match (&case.routing).into() {
        Routing::Adaptive(routing) => Some(routing.selection()),
        Routing::Tables(_) => None,
    };
    let is_open = selection == Some(Selection::Open);
    let is_drawn = matches!(selection, Some(Selection::Random | Selection::LeastLoad));
    let voq = switch.queues == Queues::Voq;
    let pool = switch.sharing == BufferSharing::PortPool;
    let several = matches!(switch.input_speedup, InputSpeedup::Limited(2..));
    let input_first = switch.matching == Matching::InputFirst;
    let choice = switch.output_arbitration;
    let by_fill = matches!(
        switch.marking,
        Some(Marking::InfiniBand { .. } | Marking::Ecn { .. })
    );
    vec![
        ("claims", true),
        ("claims with a pool", pool),
        ("claims with several places", several),
        (
            "claims with unlimited places",
            switch.input_speedup == InputSpeedup::Unlimited,
        ),
        ("claims with rounds", switch.allocation.iterations > 1),
        ("claims with input-first", input_first),
        (
            "claims with random arbitration",
            choice == OutputArbitration::Random,
        ),
        (
            "claims with the oldest first",
            choice == OutputArbitration::OldestFirst,
        ),
        ("claims with reserve", switch.reserve),
        ("claims with output buffers", switch.output_buffer > 0),
        ("claims with output lanes", switch.output_lane_buffer > 0),
        ("claims with marking", switch.marking.is_some()),
        (
            "claims with slow sinks",
            plan.host.sink_cycles_per_flit.is_some(),
        ),
        ("claims beside flows", !plan.flows.is_empty()),
        ("claims with VOQ", voq),
        ("claims with VOQ and several places", voq && several),
        ("claims with input-first VOQ", voq && input_first),
        (
            "claims with store-and-forward",
            switch.forwarding == Forwarding::StoreAndForward,
        ),
        ("claims beside dropping", switch.drop.is_some()),
        ("claims with marks by fill", by_fill),
        ("claims with open heads", is_open),
        ("claims with open heads and a pool", is_open && pool),
        ("claims with drawn choices", is_drawn),
        ("claims of a fork", case.fork.is_some()),
    ]
}
