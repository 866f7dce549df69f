//! What a case has of hosts, routes and inputs with wormhole switching (D78).

use super::super::Case;
use super::flows::waits;
use crate::reference::Routing;
use virtlane::control::set_up::{Release, SetUp};
use virtlane::plan::{ClassPlan, Forwarding, InputSpeedup, InputTurns, Plan};
use virtlane::qos::vl_arbitration::Accept;
use virtlane::routing::adaptive::Selection;

/// What cases with wormhole switching have, with any routing; with adaptive routing some of it is seldom.
pub(crate) const WORMHOLE_HOSTS: [&str; 25] = [
    "wormhole with messages",
    "wormhole with messages and small lanes",
    "wormhole with messages and retry",
    "wormhole with messages and flows",
    "wormhole with messages and several lanes",
    "wormhole with flows that wait",
    "wormhole with flows that wait and small lanes",
    "wormhole with waits for what is sent",
    "wormhole with waits for what is sent and retry",
    "wormhole with waits for what is received",
    "wormhole with slow sinks",
    "wormhole with slow sinks and small lanes",
    "wormhole with slow sinks and several lanes",
    "wormhole with slow sinks that drops",
    "wormhole with slow sinks and flows",
    "wormhole with slow sinks and retry",
    "wormhole with several places",
    "wormhole with several places and small lanes",
    "wormhole with several places and rounds",
    "wormhole with several places and output buffers",
    "wormhole with several places and VL tables",
    "wormhole with several places accepting by priority",
    "wormhole with several places and channels of several paces",
    "wormhole with several places and marks",
    "wormhole with several places that drops",
];

/// The same, with adaptive routing.
pub(crate) const WORMHOLE_HOSTS_OF_CHOICES: [&str; 6] = [
    "wormhole with choices and messages",
    "wormhole with choices and slow sinks",
    "wormhole with choices and several places",
    "wormhole with open heads and messages",
    "wormhole with open heads and slow sinks",
    "wormhole with adaptive routing and flows that wait",
];

/// The same of VL15, with tables.
pub(crate) const WORMHOLE_VL15: [&str; 14] = [
    "wormhole with VL15",
    "wormhole with VL15 and small lanes",
    "wormhole with VL15 and VL tables",
    "wormhole with VL15 accepting by priority",
    "wormhole with VL15 and rounds",
    "wormhole with VL15 and several places",
    "wormhole with VL15 and unlimited places",
    "wormhole with VL15 and kept inputs",
    "wormhole with VL15 and output buffers",
    "wormhole with VL15 and slow sinks",
    "wormhole with VL15 and retry",
    "wormhole with VL15 and marks",
    "wormhole with VL15 that drops",
    "wormhole with control packets on VL15",
];

/// What routes of flows (D66) have beside them, with wormhole switching.
pub(crate) const WORMHOLE_ROUTES: [&str; 16] = [
    "wormhole with routes",
    "wormhole with routes and small lanes",
    "wormhole with routes and VL tables",
    "wormhole with routes and rounds",
    "wormhole with routes and several places",
    "wormhole with routes and kept inputs",
    "wormhole with routes and VL15",
    "wormhole with routes and slow sinks",
    "wormhole with routes and retry",
    "wormhole with routes and marks",
    "wormhole with routes and messages",
    "wormhole with routes and flows that wait",
    "wormhole with routes and phases",
    "wormhole with routes and windows",
    "wormhole with routes and control",
    "wormhole with routes that drops",
];

/// What routes that are set up (D67) have beside them, with wormhole switching.
pub(crate) const WORMHOLE_SET_UPS: [&str; 16] = [
    "wormhole with set-ups",
    "wormhole with set-ups and small lanes",
    "wormhole with set-ups and VL tables",
    "wormhole with set-ups and rounds",
    "wormhole with set-ups and several places",
    "wormhole with set-ups and kept inputs",
    "wormhole with set-ups and VL15",
    "wormhole with set-ups and slow sinks",
    "wormhole with set-ups and retry",
    "wormhole with set-ups and marks",
    "wormhole with set-ups and messages",
    "wormhole with set-ups and delays of flits",
    "wormhole with set-ups and packets that take down",
    "wormhole with set-ups that are taken down at once",
    "wormhole with set-ups and few places in caches",
    "wormhole with set-ups that drops",
];

/// What it has of all this.
pub(super) fn wormhole_hosts<R>(case: &Case<R>) -> Vec<(&'static str, bool)>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let plan = &case.plan;
    if plan.switch.forwarding != Forwarding::Wormhole {
        return Vec::new();
    }
    let mut found: Vec<_> = WORMHOLE_HOSTS.into_iter().zip(hosts(case)).collect();
    found.extend(WORMHOLE_VL15.into_iter().zip(on_vl15(plan)));
    if plan.routes_of_flows.is_some() {
        found.extend(WORMHOLE_ROUTES.into_iter().zip(routes(plan)));
    }
    if plan.classes.iter().any(|class| class.set_up().is_some()) {
        found.extend(WORMHOLE_SET_UPS.into_iter().zip(set_ups(plan)));
    }
    if let Routing::Adaptive(routing) = (&case.routing).into() {
        let is_open = routing.selection() == Selection::Open;
        let has = Has::of(plan);
        let has = [
            has.messages && !is_open,
            has.slow_sinks && !is_open,
            has.several_places && !is_open,
            has.messages && is_open,
            has.slow_sinks && is_open,
            has.waits,
        ];
        found.extend(WORMHOLE_HOSTS_OF_CHOICES.into_iter().zip(has));
    }
    found
}

/// What is asked for again and again.
#[expect(clippy::struct_excessive_bools, reason = "one independent option each")]
struct Has {
    messages: bool,
    waits: bool,
    slow_sinks: bool,
    several_places: bool,
    small_lanes: bool,
    several_lanes: bool,
    tables: bool,
    by_priority: bool,
    rounds: bool,
    output_buffers: bool,
    kept_inputs: bool,
    marks: bool,
    drops: bool,
    retry: bool,
}

impl Has {
    fn of(plan: &Plan) -> Self {
        let switch = &plan.switch;
        let tables = switch.vl_arbitration.as_ref();
        Self {
            messages: !plan.workloads.is_empty(),
            waits: plan.flows.iter().any(|flow| !flow.after.is_empty()),
            slow_sinks: plan.host.sink_cycles_per_flit > Some(1),
            several_places: matches!(switch.input_speedup, InputSpeedup::Limited(2..)),
            small_lanes: switch.lane_capacity < plan.largest_packet().into(),
            several_lanes: switch.lane_count() > 1,
            tables: tables.is_some(),
            by_priority: tables.is_some_and(|tables| tables.accept == Accept::HighFirst),
            rounds: switch.allocation.iterations > 1,
            output_buffers: switch.output_buffer > 0,
            kept_inputs: switch.input_turns == InputTurns::Packets,
            marks: switch.marking.is_some(),
            drops: switch.drop.is_some(),
            retry: plan.link_retry.is_some(),
        }
    }
}

fn hosts<R>(case: &Case<R>) -> [bool; 25] {
    let (plan, has) = (&case.plan, Has::of(&case.plan));
    let channels = case.graph.channels();
    let mut times = channels
        .iter()
        .map(|channel| channel.timing.cycles_per_flit);
    let are_several = times.any(|time| time != channels[0].timing.cycles_per_flit);
    let has_flows = !plan.flows.is_empty();
    let waits = waits(plan);
    let is_met = |name| waits.iter().any(|&(one, is_met)| one == name && is_met);
    let (messages, slow, places) = (has.messages, has.slow_sinks, has.several_places);
    let for_sent = is_met("waits for what is sent");
    [
        messages,
        messages && has.small_lanes,
        messages && has.retry,
        messages && has_flows,
        messages && has.several_lanes,
        has.waits,
        has.waits && has.small_lanes,
        for_sent,
        for_sent && has.retry,
        is_met("waits for what is received"),
        slow,
        slow && has.small_lanes,
        slow && has.several_lanes,
        slow && has.drops,
        slow && has_flows,
        slow && has.retry,
        places,
        places && has.small_lanes,
        places && has.rounds,
        places && has.output_buffers,
        places && has.tables,
        places && has.by_priority,
        places && are_several,
        places && has.marks,
        places && has.drops,
    ]
}

fn on_vl15(plan: &Plan) -> [bool; 14] {
    let has = Has::of(plan);
    let mut classes = plan.classes.iter();
    let is_it = |class: &ClassPlan| class.management && class.answers.is_some();
    [
        true,
        has.small_lanes,
        has.tables,
        has.by_priority,
        has.rounds,
        has.several_places,
        plan.switch.input_speedup == InputSpeedup::Unlimited,
        has.kept_inputs,
        has.output_buffers,
        has.slow_sinks,
        has.retry,
        has.marks,
        has.drops,
        classes.any(is_it),
    ]
    .map(|has| has && is_used(plan))
}

/// Whether something goes on VL15.
fn is_used(plan: &Plan) -> bool {
    plan.classes.iter().any(|class| class.management)
}

/// What routes of flows of either kind have beside them.
fn beside(plan: &Plan) -> [bool; 11] {
    let has = Has::of(plan);
    [
        true,
        has.small_lanes,
        has.tables,
        has.rounds,
        has.several_places,
        has.kept_inputs,
        is_used(plan),
        has.slow_sinks,
        has.retry,
        has.marks,
        has.messages,
    ]
}

fn routes(plan: &Plan) -> Vec<bool> {
    let has = Has::of(plan);
    let mut classes = plan.classes.iter();
    let mine = [
        has.waits,
        !plan.app_phases.is_empty(),
        plan.flows.iter().any(|flow| flow.window.is_some()),
        classes.any(|class| class.control.is_some()),
        has.drops,
    ];
    [&beside(plan)[..], &mine].concat()
}

fn set_ups(plan: &Plan) -> Vec<bool> {
    let any = |is_it: fn(&SetUp) -> bool| {
        let mut all = plan.classes.iter().filter_map(ClassPlan::set_up);
        all.any(is_it)
    };
    let mine = [
        plan.switch.allocation_delay > 0,
        any(|one| one.release == Release::LastPacket),
        any(|one| one.release == Release::AtOnce),
        any(|one| one.cache < 3),
        Has::of(plan).drops,
    ];
    [&beside(plan)[..], &mine].concat()
}
