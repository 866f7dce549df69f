//! What flows with a process, a slot or a limit offer in expectation over the measurement, and what their limits let through.
//!
//! # Algorithm
//! A flow with a process makes its load of its host's link from its start to its stop, one with a slot its part of the load of
//! all slots (D52). Known are flows that begin by themselves,
//! without size, window and control, under one limit that is not 0 in all of the measured time in which they are active; those
//! that start or stop at a time of their own only where the phases have fixed lengths. No more goes on than the limit
//! lets through. A flow that always has a packet offers what its limit lets through.
//!
//! A limit is one of the flow alone, unless its host's scheduler paces the flows of a lane together.
//!
//! A flow with a process and a window, its own or that of its control, offers a part of what that lets through in the empty fabric:
//! the window in each of its round trips ([`round_trips`](super::round_trips)), until the end of the measurement.

use super::Resolved;
use super::round_trips::RoundTrip;
use crate::plan::{FlowPlan, Limit, ONE_FLIT_PER_CYCLE, Phases, Plan, Scheduler};
use crate::topology::Graph;
use crate::traffic::SizeDistribution;

/// What a flow offers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offered {
    /// In the mean over the measurement \[flits/cycle\].
    pub rate: f64,
    /// The same as a part of what its limit lets through until the end, where it has one.
    pub of_limit: Option<f64>,
}

/// A flow that is offered most beside its limit or its window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByLimit {
    /// Its id.
    pub flow: usize,
    /// What it is offered, a part of its limit, or of what its window lets through at the most.
    pub part: f64,
    /// Its window, if it is that.
    pub window: Option<RoundTrip>,
}

/// The limit of a flow in some cycles, if it is one and the same in all of them.
fn limit_in(flow: &FlowPlan, [from, to]: [u64; 2]) -> Option<Limit> {
    let earlier = flow.changes.iter().rev().find(|(at, _)| *at <= from);
    let first = earlier.map_or(flow.limit, |(_, limit)| *limit);
    let mut inside = (flow.changes.iter()).filter(|(at, _)| (from + 1..to).contains(at));
    inside.all(|(_, limit)| *limit == first).then_some(first)
}

/// What a limit lets a flow send over a link with these cycles per flit, alone \[flits/cycle\].
pub fn rate_of_limit(limit: Limit, sizes: &SizeDistribution, pace: f64) -> f64 {
    match limit {
        Limit::None => 1.0 / pace,
        Limit::Rate(rate) => (rate as f64 / ONE_FLIT_PER_CYCLE as f64).min(1.0 / pace),
        Limit::Delay { entry, shift } => {
            let time = |size: u16| {
                let time = f64::from(size) * pace;
                time + (time / f64::from(1_u32 << shift)).floor() * f64::from(entry)
            };
            let all: f64 = sizes
                .entries()
                .iter()
                .map(|(_, weight)| f64::from(*weight))
                .sum();
            let times = sizes.entries().iter();
            let times = times.map(|(size, weight)| time(*size) * f64::from(*weight));
            sizes.mean() * all / times.sum::<f64>()
        }
    }
}

/// What is looked at of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// As if all of it were as its last cycle.
    End,
}

/// First and last cycle of the measurement, as far as the scenario says.
fn measured(phases: &Phases, flow: &FlowPlan) -> Option<[u64; 2]> {
    let first = if phases.find_warmup { 0 } else { phases.warmup };
    let is_lasting = flow.start <= first && flow.stop.is_none() && flow.changes.is_empty();
    let end = phases.warmup.saturating_add(phases.measure);
    (phases.is_fixed() || is_lasting).then_some([phases.warmup, end])
}

/// Whether a flow begins by itself and goes on without a size.
fn goes_on(plan: &Plan, flow: &FlowPlan) -> bool {
    let class = &plan.classes[usize::from(flow.class)];
    let asks = class.requests.is_some() || class.begins();
    let waits = flow.phase.is_some() || !flow.after.is_empty();
    !(asks || waits || flow.flits.is_some() || plan.is_of_probes(flow.class))
}

/// Cycles per flit of the link of a flow's host.
fn pace(graph: &Graph, flow: &FlowPlan) -> f64 {
    let channel = graph.channel(graph.host_channel(flow.source));
    channel.timing.cycles_per_flit.into()
}

/// What a flow offers; `None` where that is not known.
pub fn of_flow(plan: &Plan, graph: &Graph, flow: &FlowPlan, part: Part) -> Option<Offered> {
    let class = &plan.classes[usize::from(flow.class)];
    let is_held = flow.window.is_some() || class.control.is_some();
    if is_held || !goes_on(plan, flow) {
        return None;
    }
    let is_own = plan.host.scheduler != Scheduler::Paced;
    let load = plan.load_of(flow);
    if load.is_none() && !(plan.is_backlogged(flow) && is_own) {
        return None;
    }
    let [mut warm, end] = measured(&plan.phases, flow)?;
    if part == Part::End {
        warm = warm.max(end.saturating_sub(1));
    }
    let from = flow.start.max(warm);
    let to = flow.stop.map_or(end, |stop| stop.min(end));
    if from >= to {
        let rate = 0.0;
        let of_limit = None;
        return Some(Offered { rate, of_limit });
    }
    let pace = pace(graph, flow);
    let made = load.map(|load| load / pace * (to - from) as f64);
    let through = match limit_in(flow, [from, end])? {
        Limit::Rate(0) => return None,
        Limit::None => None,
        limit => Some(rate_of_limit(limit, &class.size, pace) * (end - from) as f64),
    };
    let Some(made) = made else {
        let rate = through? / (end - from) as f64 * (to - from) as f64 / (end - warm) as f64;
        let of_limit = None;
        return Some(Offered { rate, of_limit });
    };
    let through = through.filter(|_| is_own);
    Some(Offered {
        rate: through.map_or(made, |through| made.min(through)) / (end - warm) as f64,
        of_limit: through.map(|through| made / through),
    })
}

/// Whether all is known of what flows offer that do not pace themselves.
pub fn is_all_known(resolved: &Resolved) -> bool {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let mut flows = plan
        .flows
        .iter()
        .filter(|flow| plan.load_of(flow).is_some());
    flows.all(|flow| of_flow(plan, graph, flow, Part::Whole).is_some())
}

/// What a flow with a process is offered beside its window; `None` where that is not known.
pub fn by_window(resolved: &Resolved, id: usize) -> Option<ByLimit> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let flow = &plan.flows[id];
    let load = plan.load_of(flow).filter(|_| goes_on(plan, flow))?;
    let window = RoundTrip::of(resolved, id)?;
    let [warm, end] = measured(&plan.phases, flow)?;
    let from = flow.start.max(warm);
    let to = flow.stop.map_or(end, |stop| stop.min(end));
    if from >= to {
        return None;
    }
    let mean = plan.classes[usize::from(flow.class)].size.mean();
    let made = load / pace(graph, flow) / mean * (to - from) as f64;
    let through = f64::from(window.packets) / window.cycles * (end - from) as f64;
    Some(ByLimit {
        flow: id,
        part: made / through,
        window: Some(window),
    })
}

/// The flow of these classes that is offered most beside its limit or its window.
pub fn by_limit(resolved: &Resolved, is_meant: impl Fn(u16) -> bool) -> Option<ByLimit> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let flows = plan.flows.iter().enumerate();
    let parts = flows.filter(|(_, flow)| is_meant(flow.class));
    let parts = parts.filter_map(|(id, flow)| {
        let offered = of_flow(plan, graph, flow, Part::Whole);
        let by_limit = offered.and_then(|offered| {
            Some(ByLimit {
                flow: id,
                part: offered.of_limit?,
                window: None,
            })
        });
        by_limit.or_else(|| by_window(resolved, id))
    });
    parts.reduce(|most, next| if next.part > most.part { next } else { most })
}
