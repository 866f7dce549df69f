//! By what admission controls are judged: five numbers of a run whose flows ask for something, the larger the better.
//!
//! # Rules
//! 1. Probes of flows that are tried (D59) are nobody's traffic: they count nowhere.
//!
//! References: [`SEM_JACOBSEN`](crate::references::SEM_JACOBSEN) section 4.1

use super::super::loads::ratio;
use super::super::loss::complete_share;
use super::super::{Entry, counted};
use crate::measure::result::Bounds;
use crate::measure::{FlowResult, RunResult};
use serde_json::Value;

pub(in crate::metrics) const ENTRIES: &[Entry] = &[
    counted(
        "criteria.bandwidth",
        "fraction of the flows",
        "Flows that ask and have begun all of whose packets of the measurement were delivered, part of those that made any",
        |run| complete_share(&asking(run).filter_map(|(_, flow)| made_and_delivered(flow)).collect::<Vec<_>>()),
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
        |run| asks(run).then(|| separation(run)).flatten(),
    )
    .column()
    .entry(),
    counted(
        "criteria.throughput",
        "packets per cycle",
        "Packets of flows delivered in the measurement, all hosts together, where flows ask; without those of probes",
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

/// Packets that a flow made in the measurement and those of them that were delivered; `None`: it made nothing.
fn made_and_delivered(flow: &FlowResult) -> Option<(u64, u64)> {
    let made = flow.counts.sent.attempted;
    (made > 0).then_some((made, flow.counts.arrived.tagged))
}

/// Classes that are not of probes, each with its flows.
fn own_classes(run: &RunResult) -> impl Iterator<Item = (usize, Vec<&FlowResult>)> {
    let classes = run.classes.iter().enumerate();
    let flows = |number: usize| {
        let flows = run.flow_results.iter();
        flows.filter(move |flow| usize::from(flow.class) == number)
    };
    classes
        .filter(|(_, class)| !class.is_of_probes)
        .map(move |(number, _)| (number, flows(number).collect::<Vec<_>>()))
        .filter(|(_, flows)| !flows.is_empty())
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

/// Packets of flows delivered in the measurement \[packets per cycle\].
fn throughput(run: &RunResult) -> f64 {
    let classes = own_classes(run).map(|(number, _)| &run.records.classes[number]);
    let packets: u64 = classes.map(|class| class.delivered_packets).sum();
    ratio(packets as f64, run.cycles.measure as f64)
}

/// Pairs of classes in the order that their bounds ask for, delay before jitter; without a bound behind those with one.
fn separation(run: &RunResult) -> Option<Value> {
    let mut classes: Vec<([u64; 2], f64)> = Vec::new();
    for (number, flows) in own_classes(run) {
        let arrived = flows.iter().map(|flow| &flow.counts.arrived);
        let (sum, tagged) = arrived.fold((0, 0), |(sum, tagged), arrived| {
            (sum + arrived.network.sum, tagged + arrived.tagged)
        });
        if tagged > 0 {
            let asked = run.classes[number]
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
    share(pairs)
}

/// What flows made in the measurement and was delivered.
fn delivered(run: &RunResult) -> Option<Value> {
    let flows = own_classes(run).flat_map(|(_, flows)| flows);
    let counts = flows.filter_map(made_and_delivered);
    let (made, delivered) = counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (made > 0).then(|| ratio(delivered as f64, made as f64).into())
}
