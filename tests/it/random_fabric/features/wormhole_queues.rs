//! What a case has of queues by output, InfiniBand's marking, looks, `reserve` and bounded answers with wormhole switching (D78).

use super::super::Case;
use crate::reference::Routing;
use virtlane::plan::{
    Forwarding, InputSpeedup, InputTurns, Marking, OutputArbitration, Plan, Queues,
};
use virtlane::qos::vl_arbitration::{Accept, Rules};
use virtlane::routing::adaptive::Selection;

/// What cases with wormhole switching and tables have of them.
pub(crate) const WORMHOLE_QUEUES: [&str; 40] = [
    "wormhole with VOQ",
    "wormhole with VOQ and small lanes",
    "wormhole with VOQ and VL tables",
    "wormhole with VOQ and legacy tables",
    "wormhole with VOQ accepting by priority",
    "wormhole with VOQ and rounds",
    "wormhole with VOQ and several places",
    "wormhole with VOQ and unlimited places",
    "wormhole with VOQ and kept inputs",
    "wormhole with VOQ and output buffers",
    "wormhole with VOQ and slow sinks",
    "wormhole with VOQ and marks",
    "wormhole with VOQ and retry",
    "wormhole with VOQ and messages",
    "wormhole with VOQ and flows",
    "wormhole with VOQ that drops",
    "wormhole with VOQ, several places, that drops",
    "wormhole with VOQ and queues observed",
    "wormhole with VOQ, not round robin",
    "wormhole with VOQ and a routing delay",
    "wormhole with VOQ and a delay of flits",
    "wormhole with VOQ and VL15",
    "wormhole with InfiniBand's marking",
    "wormhole with InfiniBand's marking and small lanes",
    "wormhole with InfiniBand's marking and hysteresis",
    "wormhole with InfiniBand's marking and VOQ",
    "wormhole with InfiniBand's marking and output buffers",
    "wormhole with InfiniBand's marking and several paces",
    "wormhole with InfiniBand's marking and retry",
    "wormhole with InfiniBand's marking and control",
    "wormhole with bounded answers",
    "wormhole with bounded answers and small lanes",
    "wormhole with bounded answers and several lanes",
    "wormhole with bounded answers and VOQ",
    "wormhole with bounded answers of several packets",
    "wormhole with looks",
    "wormhole with looks and small lanes",
    "wormhole with looks and VOQ",
    "wormhole with reserve",
    "wormhole with reserve and VOQ",
];

/// The same, with adaptive routing.
pub(crate) const WORMHOLE_QUEUES_OF_CHOICES: [&str; 13] = [
    "wormhole with chosen queues",
    "wormhole with queues chosen by what waits",
    "wormhole with chosen queues and small lanes",
    "wormhole with chosen queues and VL tables",
    "wormhole with chosen queues and several places",
    "wormhole with chosen queues and unlimited places",
    "wormhole with chosen queues and kept inputs",
    "wormhole with chosen queues and marks by fill",
    "wormhole with chosen queues that drops",
    "wormhole with choices and InfiniBand's marking",
    "wormhole with open heads and InfiniBand's marking",
    "wormhole with adaptive routing and bounded answers",
    "wormhole with choices and reserve",
];

/// The same, of routes of flows (D66).
pub(crate) const QUEUES_OF_ROUTES: [&str; 4] = [
    "wormhole with routes and VOQ",
    "wormhole with routes, VOQ and small lanes",
    "wormhole with routes and InfiniBand's marking",
    "wormhole with routes and bounded answers",
];

/// The same, of routes that are set up (D67).
pub(crate) const QUEUES_OF_SET_UPS: [&str; 5] = [
    "wormhole with set-ups and VOQ",
    "wormhole with set-ups, VOQ and small lanes",
    "wormhole with set-ups, VOQ and delays of flits",
    "wormhole with set-ups, VOQ and several places",
    "wormhole with set-ups and InfiniBand's marking",
];

/// What it has of all this.
pub(super) fn wormhole_queues<R>(case: &Case<R>) -> Vec<(&'static str, bool)>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let plan = &case.plan;
    if plan.switch.forwarding != Forwarding::Wormhole {
        return Vec::new();
    }
    let has = Has::of(plan);
    let channels = case.graph.channels();
    let first = channels[0].timing.cycles_per_flit;
    let mut paces = channels.iter();
    let are_several = paces.any(|channel| channel.timing.cycles_per_flit != first);
    let mine = queues(plan, &has)
        .into_iter()
        .chain(others(plan, &has, are_several));
    let mut found: Vec<_> = WORMHOLE_QUEUES.into_iter().zip(mine).collect();
    if plan.routes_of_flows.is_some() {
        let mine = [
            has.voq,
            has.voq && has.small_lanes,
            has.infiniband,
            has.bounded,
        ];
        found.extend(QUEUES_OF_ROUTES.into_iter().zip(mine));
    }
    if plan.classes.iter().any(|class| class.set_up().is_some()) {
        let mine = [
            has.voq,
            has.voq && has.small_lanes,
            has.voq && plan.switch.allocation_delay > 0,
            has.voq && has.several_places,
            has.infiniband,
        ];
        found.extend(QUEUES_OF_SET_UPS.into_iter().zip(mine));
    }
    if let Routing::Adaptive(routing) = (&case.routing).into() {
        let mine = of_choices(plan, &has, routing.selection());
        found.extend(WORMHOLE_QUEUES_OF_CHOICES.into_iter().zip(mine));
    }
    found
}

/// What is asked for again and again.
#[expect(clippy::struct_excessive_bools, reason = "one independent option each")]
struct Has {
    voq: bool,
    infiniband: bool,
    bounded: bool,
    small_lanes: bool,
    several_places: bool,
    kept_inputs: bool,
    unlimited_places: bool,
}

impl Has {
    fn of(plan: &Plan) -> Self {
        let switch = &plan.switch;
        Self {
            voq: switch.queues == Queues::Voq,
            infiniband: matches!(switch.marking, Some(Marking::InfiniBand { .. })),
            bounded: plan.bounded().next().is_some(),
            small_lanes: switch.lane_capacity < plan.largest_packet().into(),
            several_places: matches!(switch.input_speedup, InputSpeedup::Limited(2..)),
            kept_inputs: switch.input_turns == InputTurns::Packets,
            unlimited_places: switch.input_speedup == InputSpeedup::Unlimited,
        }
    }
}

/// Queues by output, and what they go with.
fn queues(plan: &Plan, has: &Has) -> [bool; 22] {
    let switch = &plan.switch;
    let tables = switch.vl_arbitration.as_ref();
    let drops = switch.drop.is_some();
    [
        true,
        has.small_lanes,
        tables.is_some_and(|tables| tables.rules == Rules::InfiniBand),
        tables.is_some_and(|tables| tables.rules == Rules::Legacy),
        tables.is_some_and(|tables| tables.accept == Accept::HighFirst),
        switch.allocation.iterations > 1,
        has.several_places,
        has.unlimited_places,
        has.kept_inputs,
        switch.output_buffer > 0,
        plan.host.sink_cycles_per_flit > Some(1),
        switch.marking.is_some(),
        plan.link_retry.is_some(),
        !plan.workloads.is_empty(),
        !plan.flows.is_empty(),
        drops,
        drops && has.several_places,
        plan.observe.queues,
        switch.output_arbitration != OutputArbitration::RoundRobin,
        switch.routing_delay > 0,
        switch.allocation_delay > 0,
        plan.classes.iter().any(|class| class.management),
    ]
    .map(|is_met| is_met && has.voq)
}

/// Everything else, and what it goes with.
fn others(plan: &Plan, has: &Has, are_several: bool) -> [bool; 18] {
    let switch = &plan.switch;
    let hysteresis = match switch.marking {
        Some(Marking::InfiniBand { hysteresis, .. }) => hysteresis > 0,
        _ => false,
    };
    let controls = || plan.classes.iter().flat_map(|class| &class.control);
    let mut bounded = controls().filter(|control| control.queue.is_some());
    let of_several = bounded.any(|control| control.algorithm.packets_per_answer() > 1);
    let looks = controls().any(|control| control.algorithm.looks().is_some());
    let marked = has.infiniband;
    [
        marked,
        marked && has.small_lanes,
        hysteresis,
        marked && has.voq,
        marked && switch.output_buffer > 0,
        marked && are_several,
        marked && plan.link_retry.is_some(),
        marked && controls().next().is_some(),
        has.bounded,
        has.bounded && has.small_lanes,
        has.bounded && switch.lane_count() > 1,
        has.bounded && has.voq,
        of_several,
        looks,
        looks && has.small_lanes,
        looks && has.voq,
        switch.reserve,
        switch.reserve && has.voq,
    ]
}

/// What is told of adaptive routing.
fn of_choices(plan: &Plan, has: &Has, selection: Selection) -> [bool; 13] {
    let (switch, is_open) = (&plan.switch, selection == Selection::Open);
    [
        has.voq,
        has.voq && selection == Selection::LeastLoad,
        has.voq && has.small_lanes,
        has.voq && switch.vl_arbitration.is_some(),
        has.voq && has.several_places,
        has.voq && has.unlimited_places,
        has.voq && has.kept_inputs,
        has.voq && (has.infiniband || matches!(switch.marking, Some(Marking::Ecn { .. }))),
        has.voq && switch.drop.is_some(),
        has.infiniband && !is_open,
        has.infiniband && is_open,
        has.bounded,
        switch.reserve,
    ]
}
