//! Flows of a plan by traffic class, by service level, and at a service level by the length of their way: what a flow got, and how
//! its latency varied.
//!
//! A flow has begun when its start cycle has come: a flow that asks, when it is admitted. What is a mean over flows counts
//! every flow once, however many packets it has.
//! The spread of a flow is the longest less the shortest network latency of its packets; it is known with
//! `observe: (percentiles: true)`.

use super::super::loads::ratio;
use super::super::paths::set;
use super::super::{Entry, Metric, Of, OneClass, all, metric};
use super::{quantile, some_mean, sorted};
use crate::measure::percentiles::Latencies;
use crate::measure::{FlowResult, RunResult};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Flows that belong together.
pub(in crate::metrics) struct Group<'a> {
    run: &'a RunResult,
    /// Classes that the group is all of.
    classes: Vec<u16>,
    /// With the network latencies of their packets, where they are recorded.
    flows: Vec<(&'a FlowResult, Option<&'a Latencies>)>,
}

const THROUGHPUT: &str = "Packets of the classes of the group delivered in the measurement, all hosts together; of a service level where its classes have no other";

/// Each of them three times: of a class, of a service level, of a service level by hops.
macro_rules! of_groups {
    ($($place:literal, $unit:literal, $summary:literal, $of:expr;)*) => {
        &[
            Entry::Fact("levels", levels),
            of_group("levels.SL.throughput", "packets per cycle", THROUGHPUT, |group| group.throughput()),
            of_group("classes.NAME.flows.throughput", "packets per cycle", THROUGHPUT, |group| group.throughput()),
            $(
                of_group(concat!("levels.SL.", $place), $unit, $summary, $of),
                of_group(concat!("levels.SL.by_hops.HOPS.", $place), $unit, $summary, $of),
                of_group(concat!("classes.NAME.flows.", $place), $unit, $summary, $of),
            )*
        ]
    };
}

pub(in crate::metrics) const ENTRIES: &[Entry] = of_groups![
    "planned", "flows", "Flows of the group, those that were not admitted included",
    |group| Some(group.flows.len().into());
    "count", "flows", "Flows of the group that have begun",
    |group| Some(group.begun().count().into());
    "rate.mean", "fraction of link rate", "Flits that a flow received in the measurement, mean over the flows that have begun",
    |group| some_mean(&group.rates());
    "rate.p5", "fraction of link rate", "The same, which 5 % of these flows do not exceed",
    |group| quantile(&group.rates(), 50);
    "latency.mean", "cycles", "Mean network latency of a flow, mean over the flows",
    |group| some_mean(&group.latencies());
    "spread.mean", "cycles", "Longest less shortest network latency of a flow, mean over the flows",
    |group| some_mean(&group.spreads()?);
    "spread.std", "cycles", "The same, standard deviation over the flows",
    |group| deviation(&group.spreads()?);
    "spread.max", "cycles", "The same, of the flow where it is largest",
    |group| quantile(&group.spreads()?, 1000);
];

const fn of_group(
    path: &'static str,
    unit: &'static str,
    summary: &'static str,
    of: fn(&Group<'_>) -> Option<Value>,
) -> Entry {
    metric(path, unit, summary, Of::Flows(of)).entry()
}

impl<'a> Group<'a> {
    /// The flows that `belongs` to.
    fn new(run: &'a RunResult, classes: Vec<u16>, belongs: impl Fn(&FlowResult) -> bool) -> Self {
        let latencies = |(id, flow): (u32, &FlowResult)| {
            let key = (flow.class, Some(id), flow.source, flow.destination);
            let of_flow = run.flow_latencies.as_ref()?.get(&key)?;
            Some(&of_flow.network)
        };
        let flows = (0..).zip(&run.flow_results);
        let flows = flows.filter(|(_, flow)| belongs(flow));
        Self {
            run,
            classes,
            flows: flows.map(|flow| (flow.1, latencies(flow))).collect(),
        }
    }

    /// All values whose path is this and their place.
    fn enter(&self, under: &str, values: &mut Map<String, Value>) {
        let is_there = |metric: &&Metric| metric.path.strip_prefix(under) == Some(metric.place());
        for metric in all().filter(is_there) {
            if let Of::Flows(of) = metric.of
                && let Some(value) = of(self)
            {
                set(values, metric.place(), value);
            }
        }
    }

    fn begun(&self) -> impl Iterator<Item = &FlowResult> {
        let flows = self.flows.iter().map(|(flow, _)| *flow);
        flows.filter(|flow| flow.counts.sent.start.is_some())
    }

    fn throughput(&self) -> Option<Value> {
        let classes = self.classes.iter();
        let packets: u64 = classes
            .map(|&class| self.run.records.classes[usize::from(class)].delivered_packets)
            .sum();
        let cycles = self.run.cycles.measure as f64;
        (!self.classes.is_empty()).then(|| ratio(packets as f64, cycles).into())
    }

    fn rates(&self) -> Vec<f64> {
        sorted(self.begun().map(|flow| flow.rate(self.run)))
    }

    fn latencies(&self) -> Vec<f64> {
        let flows = self.flows.iter().map(|(flow, _)| &flow.counts.arrived);
        let flows = flows.filter(|arrived| arrived.tagged > 0);
        sorted(flows.map(|arrived| arrived.network.sum as f64 / arrived.tagged as f64))
    }

    /// Of the flows with packets, where they are recorded; a flow of one packet has 0.
    fn spreads(&self) -> Option<Vec<f64>> {
        self.run.flow_latencies.as_ref()?;
        let flows = self.flows.iter().filter_map(|(_, latencies)| *latencies);
        let ends = flows.filter_map(|latencies| latencies.most().zip(latencies.least()));
        Some(sorted(ends.map(|(most, least)| (most - least) as f64)))
    }
}

/// Standard deviation of values (divisor: how many there are); `None` without any.
fn deviation(values: &[f64]) -> Option<Value> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (!values.is_empty()).then(|| (squares / count).sqrt().into())
}

/// Enters the values of the flows of a class, if it has some, among its own.
pub(in crate::metrics) fn enter_class(class: &OneClass<'_>, values: &mut Map<String, Value>) {
    let belongs = |flow: &FlowResult| flow.class == class.number;
    let group = Group::new(class.result, vec![class.number], belongs);
    if !group.flows.is_empty() {
        group.enter("classes.NAME.", values);
    }
}

/// The service levels that flows have, each with its values.
fn levels(run: &RunResult) -> Option<Value> {
    let mut levels: BTreeMap<u8, BTreeSet<u16>> = BTreeMap::new();
    for flow in &run.flow_results {
        levels.entry(flow.level).or_default().insert(flow.class);
    }
    let has_one = |class: &u16| run.classes[usize::from(*class)].service_levels.len() == 1;
    let values = |(level, classes): (u8, BTreeSet<u16>)| {
        // what a class of several levels has delivered is not that of one of them
        let is_known = classes.iter().all(has_one);
        let classes = classes.into_iter().filter(|_| is_known);
        let group = Group::new(run, classes.collect(), |flow| flow.level == level);
        let mut values = Map::new();
        group.enter("levels.SL.", &mut values);
        let by_hops = group.by_hops();
        if !by_hops.is_empty() {
            set(&mut values, "by_hops", by_hops.into());
        }
        (level.to_string(), values.into())
    };
    let levels: Map<String, Value> = levels.into_iter().map(values).collect();
    (!levels.is_empty()).then(|| levels.into())
}

impl Group<'_> {
    /// Its flows by the inter-switch channels on their way, where routing has tables.
    fn by_hops(&self) -> Map<String, Value> {
        let lengths = self.flows.iter().filter_map(|(flow, _)| flow.hops);
        let lengths: BTreeSet<u32> = lengths.collect();
        let values = |hops: u32| {
            let flows = self
                .flows
                .iter()
                .filter(|(flow, _)| flow.hops == Some(hops));
            let group = Group {
                run: self.run,
                classes: Vec::new(),
                flows: flows.copied().collect(),
            };
            let mut values = Map::new();
            group.enter("levels.SL.by_hops.HOPS.", &mut values);
            (hops.to_string(), values.into())
        };
        lengths.into_iter().map(values).collect()
    }
}
