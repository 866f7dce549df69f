//! What a case has, by name: options with state of their own, sizes, patterns, processes.

mod adaptive;
mod claims;
mod flows;
mod management;
mod open_heads;
mod reacting;
mod retry;
mod routes;
mod set_ups;
mod standing;
mod vl_tables;
mod wormhole;
mod wormhole_half_way;
mod wormhole_hosts;
mod wormhole_options;
mod wormhole_queues;

pub(crate) use adaptive::{BESIDE_CHOICES, DROPPING_OF_CHOICES};
pub(crate) use claims::{CLAIMS, CLAIMS_OF_CANDIDATES, CLAIMS_ON_TABLES};
pub(crate) use management::{VL15_BESIDE_CHOICES, VL15_OF_CHOICES};
pub(crate) use open_heads::OPEN_HEADS;
pub(crate) use retry::{RETRY, RETRY_ON_TABLES};
pub(crate) use routes::{BESIDE_ROUTES, ROUTES};
pub(crate) use set_ups::{BESIDE_SET_UPS, SET_UPS};
pub(crate) use standing::{STANDING, STANDING_ON_ANY_LANE};
pub(crate) use wormhole::{SELDOM_CHOICES, WORMHOLE_CHOICES, WORMHOLE_REQUESTS};
pub(crate) use wormhole_half_way::{HALF_WAY_OF_CHOICES, OPEN_HALF_WAY, WORMHOLE_HALF_WAY};
pub(crate) use wormhole_hosts::{
    WORMHOLE_HOSTS, WORMHOLE_HOSTS_OF_CHOICES, WORMHOLE_ROUTES, WORMHOLE_SET_UPS, WORMHOLE_VL15,
};
pub(crate) use wormhole_options::{WORMHOLE_OPTIONS, WORMHOLE_OPTIONS_OF_CHOICES};
pub(crate) use wormhole_queues::{
    QUEUES_OF_ROUTES, QUEUES_OF_SET_UPS, WORMHOLE_QUEUES, WORMHOLE_QUEUES_OF_CHOICES,
};

use super::Case;
use crate::reference::Routing;
use flows::{flows, slots, waits};
use reacting::{admission, apart, control, dropping, reservations};
use virtlane::plan::{
    BufferSharing, ClassPlan, Forwarding, InputSpeedup, Marking, Matching, OutputArbitration,
    Queues,
};
use virtlane::routing::adaptive::Selection;
use virtlane::traffic::{PATTERNS, PROCESSES};

/// Options and traffic that have state of their own.
pub(crate) const STATEFUL: [&str; 23] = [
    "VL tables at outputs",
    "VL tables at inputs",
    "VL tables at channels",
    "legacy tables at outputs",
    "legacy tables at inputs",
    "legacy tables at channels behind output lanes",
    "tables in packets or flits",
    "huge flits with VL tables",
    "bounded source queues",
    "slow sinks",
    "output lanes",
    "output buffers",
    "random arbitration",
    "input-first",
    "several places",
    "unlimited places",
    "a pool",
    "marking",
    "messages",
    "saturating sources",
    "packets observed",
    "packets that carry",
    "accepting by priority",
];

/// How hosts choose among flows; the cases of a list go round (`strata`).
pub(crate) const SCHEDULERS: [&str; 8] = [
    "scheduler Fifo",
    "scheduler RoundRobin",
    "scheduler WeightedRoundRobin(Flits)",
    "scheduler WeightedRoundRobin(Packets)",
    "scheduler ShortestRemaining",
    "scheduler VirtualClock",
    "scheduler Paced",
    "scheduler LeakyBucket",
];

/// What flows have; most cases with flows have several of them.
pub(crate) const FLOWS: [&str; 46] = [
    "flows alone",
    "flows beside classes",
    "flows beside messages",
    "two classes of flows",
    "flows of several levels",
    "answers on the levels of flows",
    "backlogged flows",
    "flows with a process",
    "slots",
    "slots with a source",
    "slots that change hands",
    "bounded flow queues",
    "flows of a size",
    "flows that stop",
    "flows that start late",
    "phases",
    "later phases",
    "flows that wait",
    "waits for what is sent",
    "waits for what is received",
    "waits for flows that wait",
    "waits under control",
    "flows of a fork",
    "flows with a rate",
    "flows with a delay",
    "flows at rate 0",
    "changes of limits",
    "windows",
    "control",
    "control beside other flows",
    "control with windows",
    "control with delays",
    "groups of flows",
    "groups with windows",
    "answers of several packets",
    "bounded answers",
    "bounded answers of several packets",
    "looks at own switches",
    "control with clocks",
    "probes",
    "two algorithms",
    "InfiniBand",
    "Dcqcn",
    "Window",
    "Delay",
    "RequestReply",
];

/// What flows that ask have; adaptive routing excludes them.
pub(crate) const ADMISSION: [&str; 13] = [
    "admission",
    "admission beside other flows",
    "admission with control",
    "two classes that ask",
    "rounds that end",
    "meters",
    "loads",
    "slots under admission",
    "decisions that take time",
    "trials",
    "trials on several levels",
    "reservations",
    "reservations of a fork",
];

/// What switches that drop have beside it; with adaptive routing some of it is seldom.
pub(crate) const DROPPING: [&str; 14] = [
    "dropping what is held",
    "dropping by a threshold",
    "dropping of all",
    "dropping of flows",
    "dropping under admission",
    "dropping beside control",
    "dropping with VOQ",
    "dropping from a pool",
    "dropping with several places",
    "dropping with input-first",
    "dropping with output lanes",
    "dropping with slow sinks",
    "dropping with marks by fill",
    "dropping with queues observed",
];

/// InfiniBand's marking (D37) behind output lanes (D18).
pub(crate) const MARKS_BEHIND_LANES: [&str; 1] = ["InfiniBand's marking with output lanes"];

/// The same, of what adaptive routing excludes, of what is too seldom with it, and of what goes with it in features of its own
/// (`adaptive`, `open_heads`, `standing`, `management`).
pub(crate) const TABLES_ONLY: [&str; 34] = [
    "VOQ",
    "input-first VOQ",
    "tables at inputs and channels",
    "legacy tables at inputs and channels",
    "accepting by priority with several places",
    "VL15",
    "store-and-forward",
    "InfiniBand's marking",
    "marking with hysteresis",
    "RoCE's marking",
    "marks by fill with control",
    "answers on VL15",
    "probes on VL15",
    "probes out of band",
    "answers out of band",
    "elements",
    "packets that carry, probes out of band",
    "rates anew with every flow",
    "agents in common",
    "elements in common",
    "trials with shared sessions",
    "trials on a level of their own",
    "reservations out of band",
    "meters",
    "loads",
    "wormhole",
    "wormhole with lanes smaller than a packet",
    "wormhole with VL tables",
    "wormhole with legacy tables",
    "wormhole accepting by priority",
    "wormhole that drops",
    "wormhole with flows",
    "wormhole with channels of several paces",
    "wormhole with packets that carry",
];

/// The same, of adaptive routing, beside what stands in `adaptive`: engines whose heads request all candidates, and those that choose once.
pub(crate) const ADAPTIVE_ONLY: [&str; 2] = ["open heads", "drawn choices"];

/// What the fast path has, too.
pub(crate) const PLAIN: [&str; 6] = [
    "bounded source queues",
    "messages",
    "saturating sources",
    "large packets",
    "far",
    "packets that carry",
];

/// The patterns that fit fabrics of any shape, and all processes.
pub(crate) fn traffic() -> impl Iterator<Item = String> {
    // drawn fabrics hardly ever have the 64 hosts that this one is defined for
    let patterns = PATTERNS.names().filter(|&name| name != "Taper64");
    let patterns = patterns.map(|name| format!("pattern {name}"));
    patterns.chain(PROCESSES.names().map(|name| format!("process {name}")))
}

/// All that a case has.
pub(crate) fn features<R>(case: &Case<R>) -> Vec<String>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let mut names: Vec<String> = options(case)
        .into_iter()
        .chain(vl_tables::vl_tables(&case.plan))
        .chain(sizes(case))
        .chain(flows(&case.plan))
        .chain(waits(&case.plan))
        .chain(slots(case))
        .chain(sources(case))
        .chain(apart(&case.plan))
        .chain(admission(case))
        .chain(reservations(case))
        .chain(dropping(case))
        .chain(wormhole::wormhole(case))
        .chain(wormhole::choices(case))
        .chain(wormhole_options::wormhole_options(case))
        .chain(wormhole_hosts::wormhole_hosts(case))
        .chain(wormhole_queues::wormhole_queues(case))
        .chain(wormhole_half_way::wormhole_half_way(case))
        .chain(adaptive::adaptive(case))
        .chain(adaptive::dropping(case))
        .chain(open_heads::open_heads(case))
        .chain(standing::standing(case))
        .chain(management::management(case))
        .chain(claims::claims(case))
        .chain(retry::retry(case))
        .chain(control(&case.plan))
        .filter(|(_, is_met)| *is_met)
        .map(|(name, _)| name.to_owned())
        .collect();
    if !case.plan.flows.is_empty() {
        names.push(format!("scheduler {:?}", case.plan.host.scheduler));
    }
    for class in &case.plan.classes {
        // as `traffic` names its classes
        if let Some((_, parts)) = class.name.split_once(": ")
            && let Some((pattern, process)) = parts.split_once(", ")
        {
            names.push(format!("pattern {pattern}"));
            names.push(format!("process {process}"));
        }
    }
    if let Routing::Tables(tables) = (&case.routing).into() {
        names.extend(routes::features(&case.plan, &case.graph, tables));
        names.extend(set_ups::features(&case.plan, &case.graph, tables));
    }
    names.sort();
    names.dedup();
    names
}

fn options<R>(case: &Case<R>) -> Vec<(&'static str, bool)>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let (plan, switch) = (&case.plan, &case.plan.switch);
    let input_first = switch.matching == Matching::InputFirst;
    let lanes = switch.output_lane_buffer > 0;
    let voq = switch.queues == Queues::Voq;
    let random = switch.output_arbitration == OutputArbitration::Random;
    let infiniband = matches!(switch.marking, Some(Marking::InfiniBand { .. }));
    let hysteresis = infiniband
        && !matches!(
            switch.marking,
            Some(Marking::InfiniBand { hysteresis: 0, .. })
        );
    let ecn = matches!(switch.marking, Some(Marking::Ecn { .. }));
    let several = matches!(switch.input_speedup, InputSpeedup::Limited(2..));
    vec![
        ("bounded source queues", plan.host.source_queue.is_some()),
        ("packets observed", plan.observe.is_on()),
        ("slow sinks", plan.host.sink_cycles_per_flit.is_some()),
        ("output lanes", lanes),
        ("output buffers", switch.output_buffer > 0),
        ("random arbitration", random),
        ("input-first", input_first),
        ("input-first VOQ", input_first && voq),
        ("VOQ", voq),
        ("VL15", switch.management_lane),
        (
            "store-and-forward",
            switch.forwarding == Forwarding::StoreAndForward,
        ),
        ("several places", several),
        (
            "unlimited places",
            switch.input_speedup == InputSpeedup::Unlimited,
        ),
        ("a pool", switch.sharing == BufferSharing::PortPool),
        ("marking", switch.marking.is_some()),
        ("InfiniBand's marking", infiniband),
        (MARKS_BEHIND_LANES[0], infiniband && lanes),
        ("marking with hysteresis", hysteresis),
        ("RoCE's marking", ecn),
    ]
}

/// Messages that have service levels in turn (D81).
pub(crate) const MESSAGES: [&str; 1] = ["messages of several levels"];

fn sources<R>(case: &Case<R>) -> [(&'static str, bool); 5]
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let plan = &case.plan;
    let selection = match (&case.routing).into() {
        Routing::Adaptive(routing) => Some(routing.selection()),
        Routing::Tables(_) => None,
    };
    let drawn = matches!(selection, Some(Selection::Random | Selection::LeastLoad));
    [
        ("messages", !plan.workloads.is_empty()),
        (
            MESSAGES[0],
            plan.classes
                .iter()
                .any(|class| class.messages.is_some() && class.service_levels.len() > 1),
        ),
        (
            "saturating sources",
            plan.classes.iter().any(ClassPlan::is_backlogged),
        ),
        ("open heads", selection == Some(Selection::Open)),
        ("drawn choices", drawn),
    ]
}

fn sizes<R>(case: &Case<R>) -> Vec<(&'static str, bool)> {
    let hosts = case.graph.hosts().len();
    let channels = case.graph.channels();
    let latency = channels.iter().map(|channel| channel.timing.latency).max();
    vec![
        ("long", case.cycles > 1500),
        ("large packets", case.plan.largest_packet() > 32),
        ("far", latency > Some(5)),
        ("many hosts", hosts > 14),
        ("64 hosts", hosts >= 64),
        ("more than 16 lanes", case.plan.switch.lanes > 16),
        ("fork", case.fork.is_some()),
        (
            "flows of a fork",
            case.fork.is_some() && !case.plan.flows.is_empty(),
        ),
    ]
}
