//! What a case has beside link-level retry (D74).

use super::super::Case;
use virtlane::plan::{Forwarding, InputSpeedup, Marking, Matching, Queues};

/// What cases with retry have, whatever their routing.
pub(crate) const RETRY: [&str; 10] = [
    "retry",
    "retry with output buffers",
    "retry with output lanes",
    "retry with rounds",
    "retry with several places",
    "retry with channels of several paces",
    "retry with slow sinks",
    "retry with claims",
    "retry beside messages",
    "retry beside flows",
];

/// The same, of what adaptive routing excludes or seldom has.
pub(crate) const RETRY_ON_TABLES: [&str; 8] = [
    "retry with VOQ",
    "retry with input-first",
    "retry with VL tables",
    "retry with VL15",
    "retry of single flits",
    "retry beside dropping",
    "retry with InfiniBand's marking",
    "retry with flows that wait",
];

pub(super) fn retry<R>(case: &Case<R>) -> Vec<(&'static str, bool)> {
    let (plan, switch) = (&case.plan, &case.plan.switch);
    if plan.link_retry.is_none() {
        return Vec::new();
    }
    let infiniband = matches!(switch.marking, Some(Marking::InfiniBand { .. }));
    let mut paces = case.graph.channels().iter();
    let first = case.graph.channels()[0].timing.cycles_per_flit;
    let mixed = paces.any(|channel| channel.timing.cycles_per_flit != first);
    let waits = plan.flows.iter().any(|flow| !flow.after.is_empty());
    vec![
        ("retry", true),
        ("retry with output buffers", switch.output_buffer > 0),
        ("retry with output lanes", switch.output_lane_buffer > 0),
        ("retry with rounds", switch.allocation.iterations > 1),
        (
            "retry with several places",
            matches!(switch.input_speedup, InputSpeedup::Limited(2..)),
        ),
        ("retry with channels of several paces", mixed),
        (
            "retry with slow sinks",
            plan.host.sink_cycles_per_flit.is_some(),
        ),
        ("retry with claims", switch.allocation.claims.is_some()),
        ("retry beside messages", !plan.workloads.is_empty()),
        ("retry beside flows", !plan.flows.is_empty()),
        ("retry with VOQ", switch.queues == Queues::Voq),
        (
            "retry with input-first",
            switch.matching == Matching::InputFirst,
        ),
        ("retry with VL tables", switch.vl_arbitration.is_some()),
        ("retry with VL15", switch.management_lane),
        (
            "retry of single flits",
            switch.forwarding == Forwarding::Wormhole,
        ),
        ("retry beside dropping", switch.drop.is_some()),
        ("retry with InfiniBand's marking", infiniband),
        ("retry with flows that wait", waits),
    ]
}
