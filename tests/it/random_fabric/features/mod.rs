//! What a case has, by name: options with state of their own, sizes, patterns, processes.

mod reacting;
mod routes;
mod set_ups;

pub(crate) use routes::{BESIDE_ROUTES, ROUTES};
pub(crate) use set_ups::{BESIDE_SET_UPS, SET_UPS};

use super::Case;
use crate::reference::Routing;
use reacting::{admission, apart, control, dropping, reservations};
use virtlane::plan::{
    BufferSharing, ClassPlan, FlowPlan, Forwarding, InputSpeedup, Limit, Marking, Matching,
    OutputArbitration, Plan, Queues, Slots,
};
use virtlane::routing::adaptive::Selection;
use virtlane::traffic::{PATTERNS, PROCESSES};

/// Options and traffic that have state of their own.
pub(crate) const STATEFUL: [&str; 17] = [
    "VL tables at outputs",
    "VL tables at inputs",
    "VL tables at channels",
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
pub(crate) const FLOWS: [&str; 44] = [
    "flows alone",
    "flows beside classes",
    "flows beside messages",
    "two classes of flows",
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
pub(crate) const ADMISSION: [&str; 12] = [
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
    "reservations",
    "reservations of a fork",
];

/// What switches that drop have beside it; adaptive routing excludes them.
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

/// The same, of what adaptive routing excludes.
pub(crate) const TABLES_ONLY: [&str; 15] = [
    "VOQ",
    "input-first VOQ",
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
    "trials with shared sessions",
    "trials on a level of their own",
    "reservations out of band",
];

/// The same, of adaptive routing: engines whose heads request all candidates, and those that choose once.
pub(crate) const ADAPTIVE_ONLY: [&str; 2] = ["open heads", "drawn choices"];

/// What the fast path has, too.
pub(crate) const PLAIN: [&str; 5] = [
    "bounded source queues",
    "messages",
    "saturating sources",
    "large packets",
    "far",
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
        .chain(sizes(case))
        .chain(flows(&case.plan))
        .chain(waits(&case.plan))
        .chain(slots(case))
        .chain(apart(&case.plan))
        .chain(admission(case))
        .chain(reservations(case))
        .chain(dropping(case))
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
    let tables = switch.vl_arbitration.is_some();
    let input_first = switch.matching == Matching::InputFirst;
    let lanes = switch.output_lane_buffer > 0;
    let places = switch.input_speedup;
    let voq = switch.queues == Queues::Voq;
    let selection = match (&case.routing).into() {
        Routing::Adaptive(routing) => Some(routing.selection()),
        Routing::Tables(_) => None,
    };
    let drawn = matches!(selection, Some(Selection::Random | Selection::LeastLoad));
    let random = switch.output_arbitration == OutputArbitration::Random;
    let store = switch.forwarding == Forwarding::StoreAndForward;
    let infiniband = matches!(switch.marking, Some(Marking::InfiniBand { .. }));
    let hysteresis = matches!(
        switch.marking,
        Some(Marking::InfiniBand {
            hysteresis: 1..,
            ..
        })
    );
    let ecn = matches!(switch.marking, Some(Marking::Ecn { .. }));
    let several = matches!(places, InputSpeedup::Limited(2..));
    vec![
        ("VL tables at inputs", tables && input_first),
        ("VL tables at channels", tables && !input_first && lanes),
        ("VL tables at outputs", tables && !input_first && !lanes),
        (
            "huge flits with VL tables",
            tables && plan.flit_bytes > 1 << 29,
        ),
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
        ("store-and-forward", store),
        ("several places", several),
        ("unlimited places", places == InputSpeedup::Unlimited),
        ("a pool", switch.sharing == BufferSharing::PortPool),
        ("marking", switch.marking.is_some()),
        ("InfiniBand's marking", infiniband),
        ("marking with hysteresis", hysteresis),
        ("RoCE's marking", ecn),
        ("messages", !plan.workloads.is_empty()),
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

fn flows(plan: &Plan) -> Vec<(&'static str, bool)> {
    let any = |has: fn(&FlowPlan) -> bool| plan.flows.iter().any(has);
    let of_flows = plan.classes.iter().filter(|class| class.flows.is_some());
    let classes = of_flows.count();
    let mut all = plan.classes.iter();
    let is_other = |class: &ClassPlan| class.flows.is_none() && class.answers.is_none();
    let others = usize::from(all.any(is_other));
    let is_backlogged = |flow: &FlowPlan| plan.is_backlogged(flow);
    vec![
        ("flows alone", classes > 0 && others == 0),
        ("flows beside classes", classes > 0 && others > 0),
        (
            "flows beside messages",
            classes > 0 && !plan.workloads.is_empty(),
        ),
        ("two classes of flows", classes > 1),
        ("backlogged flows", plan.flows.iter().any(is_backlogged)),
        ("flows with a process", any(|flow| flow.process.is_some())),
        (
            "bounded flow queues",
            classes > 0 && plan.host.flow_queue.is_some(),
        ),
        ("flows of a size", any(|flow| flow.flits.is_some())),
        ("flows that stop", any(|flow| flow.stop.is_some())),
        ("flows that start late", any(|flow| flow.start > 0)),
        ("phases", !plan.app_phases.is_empty()),
        (
            "later phases",
            plan.app_phases.iter().any(|phase| phase.number > 0),
        ),
        (
            "flows with a rate",
            any(|flow| matches!(flow.limit, Limit::Rate(1..))),
        ),
        (
            "flows with a delay",
            any(|flow| matches!(flow.limit, Limit::Delay { .. })),
        ),
        ("flows at rate 0", any(|flow| flow.limit == Limit::Rate(0))),
        ("changes of limits", any(|flow| !flow.changes.is_empty())),
        ("windows", any(|flow| flow.window.is_some())),
    ]
}

/// Flows that wait for others (D63).
fn waits(plan: &Plan) -> [(&'static str, bool); 5] {
    let flows = || plan.flows.iter();
    let pairs = || {
        flows().flat_map(|flow| {
            let after = flow.after.iter();
            after.map(move |after| (flow, &plan.flows[after.flow as usize]))
        })
    };
    let is_controlled = |flow: &FlowPlan| {
        let class = &plan.classes[usize::from(flow.class)];
        !flow.after.is_empty() && class.control.is_some()
    };
    [
        ("flows that wait", pairs().count() > 0),
        (
            "waits for what is sent",
            pairs().any(|(flow, other)| flow.source == other.source),
        ),
        (
            "waits for what is received",
            pairs().any(|(flow, other)| flow.source == other.destination),
        ),
        (
            "waits for flows that wait",
            pairs().any(|(_, other)| !other.after.is_empty()),
        ),
        ("waits under control", flows().any(is_controlled)),
    ]
}

/// Classes with slots (D52).
fn slots<R>(case: &Case<R>) -> [(&'static str, bool); 3] {
    let all = || {
        let classes = (0u16..).zip(&case.plan.classes);
        classes.filter_map(|(number, class)| Some((number, class, class.slots.as_ref()?)))
    };
    let change_hands = |(number, class, slots): (u16, &ClassPlan, &Slots)| {
        if class.requests.is_some() {
            // its flows begin when they are admitted
            return false;
        }
        let hosts = case.graph.host_ids();
        let flows = case.plan.flows.iter();
        hosts.into_iter().any(|host| {
            let mine = flows.clone();
            let mine = mine.filter(|flow| flow.class == number && flow.source == host);
            let mine: Vec<&FlowPlan> = mine.collect();
            do_change_hands(&mine, slots.count, case.cycles)
        })
    };
    [
        ("slots", all().count() > 0),
        (
            "slots with a source",
            all().any(|(_, _, slots)| slots.source.is_some()),
        ),
        ("slots that change hands", all().any(change_hands)),
    ]
}

/// Whether one of the slots that these flows of a host share has two holders before that cycle, one after the other, or
/// a flow two slots.
fn do_change_hands(flows: &[&FlowPlan], count: u32, end: u64) -> bool {
    let starts = flows.iter().map(|flow| flow.start);
    let stops = flows.iter().filter_map(|flow| flow.stop);
    let mut held: Vec<(usize, usize)> = Vec::new();
    for now in starts.chain(stops).filter(|&cycle| cycle < end) {
        let is_active =
            |flow: &FlowPlan| flow.start <= now && flow.stop.is_none_or(|stop| now < stop);
        let holders = (0..flows.len()).filter(|&index| is_active(flows[index]));
        let holders: Vec<usize> = holders.collect();
        let ranks = holders.iter().enumerate();
        held.extend(ranks.map(|(rank, &flow)| (flow, rank * count as usize / holders.len())));
    }
    let differ = |one: &(usize, usize), other: &(usize, usize)| {
        one != other && (one.0 == other.0 || one.1 == other.1)
    };
    held.iter()
        .any(|one| held.iter().any(|other| differ(one, other)))
}
