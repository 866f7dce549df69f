//! By what admission controls are judged: five shares of a run whose flows ask for something, each better the nearer it is to 1
//! (the throughput: the larger it is).
//!
//! References: [`SEM_JACOBSEN`](crate::references::SEM_JACOBSEN) section 4.1

use super::flows::throughput;
use super::loads::ratio;
use super::{Entry, counted};
use crate::measure::result::Bounds;
use crate::measure::{FlowResult, RunResult};
use serde_json::Value;

pub(super) const ENTRIES: &[Entry] = &[
    counted(
        "criteria.bandwidth",
        "fraction of the flows",
        "Flows that ask and have begun all of whose packets of the measurement were delivered, part of those that made any",
        |run| share(asking(run).filter_map(|(_, flow)| is_whole(flow))),
    )
    .column()
    .entry(),
    counted(
        "criteria.bounds",
        "fraction of the flows",
        "Flows that have begun whose packets all kept the bounds they asked for: network latency, and longest less shortest \
         network latency (with observe.percentiles)",
        |run| share(asking(run).filter_map(|(id, flow)| keeps_bounds(run, id, flow))),
    )
    .column()
    .entry(),
    counted(
        "criteria.separation",
        "fraction of the pairs",
        "Pairs of classes of flows of which one asks for less delay, or for as much and less jitter, in which it has the smaller \
         mean network latency",
        separation,
    )
    .column()
    .entry(),
    counted(
        "criteria.throughput",
        "packets per cycle",
        "Packets of classes with flows delivered in the measurement, all hosts together, where flows ask",
        |run| asks(run).then(|| throughput(run).into()),
    )
    .column()
    .entry(),
    counted(
        "criteria.unsaturated",
        "fraction of the packets",
        "Packets that flows made in the measurement and that were delivered, where flows ask: below saturation 1",
        |run| asks(run).then(|| delivered(run)).flatten(),
    )
    .column()
    .entry(),
];

/// Whether any flow asks.
fn asks(run: &RunResult) -> bool {
    run.classes.iter().any(|class| class.bounds.is_some())
}

/// The bounds of the class of a flow, if it asks.
fn bounds(run: &RunResult, flow: &FlowResult) -> Option<Bounds> {
    run.classes[usize::from(flow.class)].bounds
}

/// Flows that ask and have begun.
fn asking(run: &RunResult) -> impl Iterator<Item = (u32, &FlowResult)> {
    let flows = (0..).zip(&run.flow_results);
    flows.filter(|(_, flow)| bounds(run, flow).is_some() && flow.counts.sent.start.is_some())
}

/// The part of them that hold; `None` without any.
fn share(held: impl Iterator<Item = bool>) -> Option<Value> {
    let (held, all) = held.fold((0_u64, 0_u64), |(held, all), holds| {
        (held + u64::from(holds), all + 1)
    });
    (all > 0).then(|| ratio(held as f64, all as f64).into())
}

/// Whether all that it made in the measurement was delivered; `None`: it made nothing.
fn is_whole(flow: &FlowResult) -> Option<bool> {
    let (made, delivered) = (flow.counts.sent.attempted, flow.counts.arrived.tagged);
    (made > 0).then_some(made == delivered)
}

/// Whether its packets kept the bounds it asked for; `None`: it asked for none, had no packet, or the spread of its
/// latencies was not recorded.
fn keeps_bounds(run: &RunResult, id: u32, flow: &FlowResult) -> Option<bool> {
    let bounds = bounds(run, flow)?;
    if flow.counts.arrived.tagged == 0 || (bounds.delay, bounds.jitter) == (None, None) {
        return None;
    }
    let further = bounds.delay_per_switch * u64::from(flow.hops?);
    let is_quick = bounds
        .delay
        .is_none_or(|delay| flow.counts.arrived.network.most <= delay + further);
    let is_steady = match bounds.jitter {
        None => true,
        Some(jitter) => {
            let key = (flow.class, Some(id), flow.source, flow.destination);
            let latencies = &run.flow_latencies.as_ref()?.get(&key)?.network;
            latencies.most()? - latencies.least()? <= jitter
        }
    };
    Some(is_quick && is_steady)
}

/// Pairs of classes in the order that their bounds ask for, delay before jitter; without a bound behind those with one.
fn separation(run: &RunResult) -> Option<Value> {
    let mut classes: Vec<([u64; 2], f64)> = Vec::new();
    for (number, class) in (0..).zip(&run.classes) {
        let flows = run.flow_results.iter().filter(|flow| flow.class == number);
        let arrived = flows.map(|flow| &flow.counts.arrived);
        let (sum, tagged) = arrived.fold((0, 0), |(sum, tagged), arrived| {
            (sum + arrived.network.sum, tagged + arrived.tagged)
        });
        if tagged > 0 {
            let asked = class
                .bounds
                .map_or([None; 2], |bounds| [bounds.delay, bounds.jitter]);
            let asked = asked.map(|bound| bound.unwrap_or(u64::MAX));
            classes.push((asked, sum as f64 / tagged as f64));
        }
    }
    let pairs = classes.iter().flat_map(|first| {
        let others = classes.iter().filter(|other| first.0 < other.0);
        others.map(|other| first.1 < other.1)
    });
    asks(run).then(|| share(pairs)).flatten()
}

/// What flows made in the measurement and was delivered.
fn delivered(run: &RunResult) -> Option<Value> {
    let counts = run.flow_results.iter().map(|flow| &flow.counts);
    let (made, delivered) = counts.fold((0_u64, 0_u64), |(made, delivered), counts| {
        let made = made + counts.sent.attempted;
        (made, delivered + counts.arrived.tagged)
    });
    (made > 0).then(|| ratio(delivered as f64, made as f64).into())
}
