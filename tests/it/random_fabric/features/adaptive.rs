//! What a case with adaptive routing has of queues by output (D75) and marks by fill (D36).

use super::super::Case;
use crate::reference::Routing;
use virtlane::plan::{
    BufferSharing, DropRule, Forwarding, InputSpeedup, Marking, Matching, OutputArbitration,
    Queues, SwitchOptions,
};
use virtlane::routing::adaptive::Selection;

/// What cases with adaptive routing have, but for those with the options of the fast path; the rare ones first, as a
/// list that goes round may end half-way.
pub(crate) const BESIDE_CHOICES: [&str; 28] = [
    "chosen queues with unlimited places",
    "chosen queues with reserve",
    "chosen queues with a pool",
    "chosen queues with output lanes",
    "chosen queues with store-and-forward",
    "chosen queues with InfiniBand's marking",
    "chosen queues with RoCE's marking",
    "open heads with InfiniBand's marking",
    "open heads with RoCE's marking",
    "chosen queues",
    "chosen queues, those drawn",
    "chosen queues by what waits",
    "chosen queues with groups of lanes",
    "chosen queues with several groups",
    "chosen queues with input-first",
    "chosen queues with several places",
    "chosen queues with rounds",
    "chosen queues with random arbitration",
    "chosen queues with output buffers",
    "chosen queues with VL tables",
    "chosen queues with claims",
    "chosen queues with channels of several paces",
    "chosen queues with retry",
    "chosen queues with flows",
    "chosen queues with marks by requests",
    "choices of heads with InfiniBand's marking",
    "choices of heads with RoCE's marking",
    "marks by fill with control",
];

/// What switches drop (D58) whose packets choose: what they request is decided as they choose, or in queues of outputs.
pub(crate) const DROPPING_OF_CHOICES: [&str; 6] = [
    "dropping choices of heads that are held",
    "dropping choices of heads by a threshold",
    "dropping from chosen queues what is held",
    "dropping before chosen queues by a threshold",
    "dropping open heads that are held",
    "dropping open heads by a threshold",
];

/// Whether switches drop packets that choose, and how.
pub(super) fn dropping<R>(case: &Case<R>) -> Vec<(&'static str, bool)>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let switch = &case.plan.switch;
    let (Routing::Adaptive(routing), Some(drop)) = ((&case.routing).into(), &switch.drop) else {
        return Vec::new();
    };
    let kind = match (routing.selection(), switch.queues) {
        (Selection::Open, _) => 2,
        (_, Queues::Voq) => 1,
        (_, Queues::Fifo) => 0,
    };
    let place = 2 * kind + usize::from(drop.rule != DropRule::Held);
    let any = routing.any_lane().is_some();
    vec![
        (DROPPING_OF_CHOICES[place], true),
        ("dropping with any lane", any),
    ]
}

pub(super) fn adaptive<R>(case: &Case<R>) -> Vec<(&'static str, bool)>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let Routing::Adaptive(routing) = (&case.routing).into() else {
        return Vec::new();
    };
    let switch = &case.plan.switch;
    let infiniband = matches!(switch.marking, Some(Marking::InfiniBand { .. }));
    let ecn = matches!(switch.marking, Some(Marking::Ecn { .. }));
    let is_open = routing.selection() == Selection::Open;
    let voq = switch.queues == Queues::Voq;
    let of_heads = !is_open && !voq;
    let mut found = vec![
        (
            "choices of heads with InfiniBand's marking",
            of_heads && infiniband,
        ),
        ("choices of heads with RoCE's marking", of_heads && ecn),
        (
            "open heads with InfiniBand's marking",
            is_open && infiniband,
        ),
        ("open heads with RoCE's marking", is_open && ecn),
    ];
    if voq && !is_open {
        found.extend(chosen_queues(case, routing.selection()));
        found.extend(arbitrated(switch));
        let width = routing.width();
        found.extend([
            ("chosen queues with groups of lanes", width > 1),
            (
                "chosen queues with several groups",
                switch.lanes / width > 1,
            ),
            ("chosen queues with InfiniBand's marking", infiniband),
            ("chosen queues with RoCE's marking", ecn),
        ]);
    }
    found
}

/// Queues of what has chosen, and what is beside them.
fn chosen_queues<R>(case: &Case<R>, selection: Selection) -> [(&'static str, bool); 8] {
    let (plan, switch) = (&case.plan, &case.plan.switch);
    let mut paces = case.graph.channels().iter();
    let first = case.graph.channels()[0].timing.cycles_per_flit;
    let is_mixed = paces.any(|channel| channel.timing.cycles_per_flit != first);
    let by_requests = matches!(switch.marking, Some(Marking::Requests(_)));
    [
        ("chosen queues", true),
        ("chosen queues, those drawn", selection == Selection::Random),
        (
            "chosen queues by what waits",
            selection == Selection::LeastLoad,
        ),
        (
            "chosen queues with store-and-forward",
            switch.forwarding == Forwarding::StoreAndForward,
        ),
        ("chosen queues with channels of several paces", is_mixed),
        ("chosen queues with retry", plan.link_retry.is_some()),
        ("chosen queues with flows", !plan.flows.is_empty()),
        ("chosen queues with marks by requests", by_requests),
    ]
}

/// How outputs and inputs choose among them.
fn arbitrated(switch: &SwitchOptions) -> [(&'static str, bool); 11] {
    let several = matches!(switch.input_speedup, InputSpeedup::Limited(2..));
    [
        (
            "chosen queues with input-first",
            switch.matching == Matching::InputFirst,
        ),
        ("chosen queues with several places", several),
        (
            "chosen queues with unlimited places",
            switch.input_speedup == InputSpeedup::Unlimited,
        ),
        (
            "chosen queues with rounds",
            switch.allocation.iterations > 1,
        ),
        (
            "chosen queues with random arbitration",
            switch.output_arbitration == OutputArbitration::Random,
        ),
        ("chosen queues with reserve", switch.reserve),
        (
            "chosen queues with a pool",
            switch.sharing == BufferSharing::PortPool,
        ),
        (
            "chosen queues with output buffers",
            switch.output_buffer > 0,
        ),
        (
            "chosen queues with output lanes",
            switch.output_lane_buffer > 0,
        ),
        (
            "chosen queues with VL tables",
            switch.vl_arbitration.is_some(),
        ),
        (
            "chosen queues with claims",
            switch.allocation.claims.is_some(),
        ),
    ]
}
