//! The flows of a plan with what they did, beside what they would do in an empty fabric and with fair shares.
//!
//! Fair shares are weighted max-min fair rates ([`max_min`](crate::measure::max_min)) on the routes of tables, or those that
//! flows have of their own, of the flows
//! that could send all through the measurement, with their rate limits; as if there were no other traffic. They are unknown
//! where a flow could send in a part of the measurement only, has an arrival process or a delay for its limit.
//! Cost: O(links of all routes + links log links).

use crate::ids::ChannelId;
use crate::measure::max_min::Demands;
use crate::measure::outcome::CycleCounts;
use crate::measure::{FlowCounts, FlowResult};
use crate::plan::{FlowPlan, Limit, ONE_FLIT_PER_CYCLE, Plan};
use crate::routing::empty_network::EmptyNetwork;
use crate::scenario::Resolved;
use crate::topology::Graph;

/// The flows by id; but not probe flows, which are the last ones: their packets are those of their class.
pub(super) fn flow_results(
    resolved: &Resolved,
    counts: &[FlowCounts],
    cycles: CycleCounts,
) -> Vec<FlowResult> {
    let (graph, plan) = (&resolved.layout.graph, &resolved.plan);
    let fair = fair_rates(resolved, counts, cycles);
    let result = |(id, (flow, counts)): (usize, (&FlowPlan, &FlowCounts))| {
        let route = || route(resolved, id, flow);
        let size = plan.classes[usize::from(flow.class)].size.largest();
        let alone = |flits| {
            let empty = EmptyNetwork::new(graph, plan, route()?.into_iter());
            Some(empty.completion(flits, size))
        };
        FlowResult {
            class: flow.class,
            source: flow.source.0,
            destination: flow.destination.0,
            level: flow.level.0,
            phase: flow.phase,
            application: flow.application,
            weight: flow.weight,
            flits: flow.flits,
            // the way has the channels of both hosts, too
            hops: route().map(|way| way.len() as u32 - 2),
            alone: flow.flits.and_then(alone),
            fair: fair.as_ref().and_then(|fair| fair[id]),
            counts: *counts,
        }
    };
    let flows = plan.flows.iter().zip(counts).enumerate();
    let flows = flows.take_while(|(_, (flow, _))| !plan.is_of_probes(flow.class));
    flows.map(result).collect()
}

/// The channels of a flow (id), by its own route or by tables, where routing has some; of one whose route is set up they are
/// not known.
fn route(resolved: &Resolved, id: usize, flow: &FlowPlan) -> Option<Vec<ChannelId>> {
    if let Some(routes) = &resolved.plan.routes_of_flows {
        return Some(routes.of(id).to_vec());
    }
    let class = &resolved.plan.classes[usize::from(flow.class)];
    if class.set_up().is_some() {
        return None;
    }
    let level = class.level_of(flow);
    let (graph, tables) = (&resolved.layout.graph, resolved.routes.tables()?);
    let path = tables.path(graph, flow.source, flow.destination, level)?;
    Some(path.into_iter().map(|(channel, _)| channel).collect())
}

/// Fair rates \[flits per cycle\], `None` of a flow that does not send in the measurement; none at all where they are unknown.
fn fair_rates(
    resolved: &Resolved,
    counts: &[FlowCounts],
    cycles: CycleCounts,
) -> Option<Vec<Option<f64>>> {
    let (graph, plan) = (&resolved.layout.graph, &resolved.plan);
    resolved.routes.tables()?;
    let mut demands = Demands::new(capacities(graph, plan));
    let mut places = Vec::with_capacity(counts.len());
    let window = (cycles.warmup, cycles.warmup + cycles.measure);
    for (id, (flow, counts)) in plan.flows.iter().zip(counts).enumerate() {
        let is_probe = plan.is_of_probes(flow.class);
        let sends = !is_probe && sends(plan, flow, counts, window)?;
        places.push(sends);
        if sends {
            let most = Some(most(flow, window)?).filter(|most| most.is_finite());
            let sink = graph.channels().len() + flow.destination.index();
            let channels = route(resolved, id, flow)?.into_iter().map(ChannelId::index);
            demands.push(flow.weight, most, channels.chain([sink]));
        }
    }
    let mut fair = demands.fair_rates().into_iter();
    let place = |sends| if sends { fair.next() } else { None };
    Some(places.into_iter().map(place).collect())
}

/// What the channels carry, then what the hosts take \[flits per cycle\].
fn capacities(graph: &Graph, plan: &Plan) -> Vec<f64> {
    let channels = graph.channels().iter();
    let channels = channels.map(|channel| 1.0 / f64::from(channel.timing.cycles_per_flit));
    let sink = plan.host.sink_cycles_per_flit.unwrap_or(1);
    let sinks = graph.hosts().iter().map(|_| 1.0 / f64::from(sink));
    channels.chain(sinks).collect()
}

/// Whether a flow can send all through the window or not at all; `None` = in a part of it.
fn sends(
    plan: &Plan,
    flow: &FlowPlan,
    counts: &FlowCounts,
    (from, end): (u64, u64),
) -> Option<bool> {
    let sent = &counts.sent;
    let is_over = flow.flits.is_some_and(|flits| sent.created.flits >= flits);
    let ended = counts.arrived.last_delivery.unwrap_or(u64::MAX);
    let stop = flow.stop.unwrap_or(u64::MAX);
    let start = sent.start.unwrap_or(u64::MAX);
    if start >= end || stop <= from || (is_over && ended <= from) {
        return Some(false);
    }
    let lasts = start <= from && stop >= end && !is_over && plan.is_backlogged(flow);
    lasts.then_some(true)
}

/// What a flow may send at most \[flits per cycle\], infinite without a limit; `None` where that is not one rate.
fn most(flow: &FlowPlan, (from, end): (u64, u64)) -> Option<f64> {
    let changes = || flow.changes.iter();
    if changes().any(|&(at, _)| at > from && at < end) {
        return None;
    }
    let last = changes().rev().find(|&&(at, _)| at <= from);
    match last.map_or(flow.limit, |&(_, limit)| limit) {
        Limit::None => Some(f64::INFINITY),
        Limit::Rate(rate) => Some(rate as f64 / ONE_FLIT_PER_CYCLE as f64),
        Limit::Delay { .. } => None,
    }
}
