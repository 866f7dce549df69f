//! Windows of flows in the empty fabric: how many packets may be on their way, and after how long one counts no more at the least.
//!
//! # Algorithm
//! A packet of a flow with a window (D33) counts from its start until the window's delay after its delivery. Where control lets a
//! number of packets be under way (D41), those that are answered together count from the start of the first of them until their
//! answer is there and what the algorithm waits for is over. Packets and answers take the time of the empty fabric; where a way
//! is not known, that of the channels of its hosts. So no flow sends more than its window in the mean of that time, whatever else
//! the fabric carries.
//!
//! Cost: O(length of the ways * sizes of packets) per flow.

use super::Resolved;
use crate::control::UnderWay;
use crate::ids::{ChannelId, HostId, SlId};
use crate::plan::{ClassPlan, Control, FlowPlan};
use crate::routing::empty_network::EmptyNetwork;
use crate::traffic::SizeDistribution;

/// What a window lets through in the empty fabric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrip {
    /// Packets that may be on their way at once.
    pub packets: u32,
    /// From the start of a packet to its delivery, mean \[cycles\].
    pub latency: f64,
    /// From the start of a packet, the first of those that are answered together, until it counts no more, mean \[cycles\].
    pub cycles: f64,
}

impl RoundTrip {
    /// That of a flow, by its id; `None`: it has no window.
    pub fn of(resolved: &Resolved, id: usize) -> Option<Self> {
        let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
        let flow = &plan.flows[id];
        let class = &plan.classes[usize::from(flow.class)];
        let (packets, back) = if let Some(window) = flow.window {
            (window.packets, window.delay as f64)
        } else {
            let control = class.control.as_ref()?;
            let under_way = control.algorithm.under_way()?;
            (under_way.most, answered(resolved, flow, control, under_way))
        };
        let ends = [flow.source, flow.destination];
        let way = match &plan.routes_of_flows {
            Some(routes) => routes.of(id).to_vec(),
            None => way(resolved, class, flow.level, ends),
        };
        let empty = EmptyNetwork::new(graph, plan, way.into_iter());
        let latency = latency(&class.size, &empty);
        Some(Self {
            packets,
            latency,
            cycles: latency + back,
        })
    }
}

/// From the delivery of a packet of a flow that is answered alone until it counts no more; where several are answered together,
/// with the time that the others before it take at the source \[cycles\].
fn answered(resolved: &Resolved, flow: &FlowPlan, control: &Control, under_way: UnderWay) -> f64 {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let class = &plan.classes[usize::from(flow.class)];
    let pace = graph.channel(graph.host_channel(flow.source)).timing;
    let pace = f64::from(pace.cycles_per_flit);
    let others = f64::from(under_way.together - 1) * class.size.mean() * pace;
    let waits = under_way.waits as f64 + others;
    if control.transport.is_some() {
        return waits;
    }
    let answers = &plan.classes[usize::from(control.answers)];
    let ends = [flow.destination, flow.source];
    let way = way(resolved, answers, answers.level_of(flow), ends);
    let size = answers.size.smallest();
    let flits = u64::from(control.algorithm.packets_per_answer()) * u64::from(size);
    let empty = EmptyNetwork::new(graph, plan, way.into_iter());
    waits + empty.completion(flits, size) as f64
}

/// The channels from one host to another, where tables tell them; else those of the hosts.
fn way(
    resolved: &Resolved,
    class: &ClassPlan,
    level: SlId,
    [from, to]: [HostId; 2],
) -> Vec<ChannelId> {
    let graph = &resolved.layout.graph;
    let tables = resolved.tables_of(class);
    let tables = tables.filter(|_| !resolved.plan.sets_up());
    let path = tables.and_then(|tables| tables.path(graph, from, to, level));
    path.map_or_else(
        || vec![graph.host_channel(from), graph.host_channel(to).reverse()],
        |path| path.into_iter().map(|(channel, _)| channel).collect(),
    )
}

/// Mean latency of packets of these sizes on a way \[cycles\].
fn latency(sizes: &SizeDistribution, empty: &EmptyNetwork) -> f64 {
    let entries = || sizes.entries().iter();
    let all = entries().map(|(_, weight)| f64::from(*weight));
    let times = entries().map(|(size, weight)| {
        let time = empty.completion(u64::from(*size), *size);
        time as f64 * f64::from(*weight)
    });
    times.sum::<f64>() / all.sum::<f64>()
}
