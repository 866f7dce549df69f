//! Flows with a size by their size: classes by powers of two of flits.

use super::super::paths::set;
use super::super::{Entry, Metric, Of, all, metric};
use super::{quantile, some_mean, sorted};
use crate::measure::{FlowResult, RunResult};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(in crate::metrics) const ENTRIES: &[Entry] = &[
    Entry::Fact("flows.sizes", by_size),
    of_sizes(
        "flows.sizes.FLITS.count",
        "flows",
        "Flows with a size from FLITS, a power of two, to below twice as many",
        |flows| Some(flows.len().into()),
    )
    .entry(),
    of_sizes(
        "flows.sizes.FLITS.size",
        "flits",
        "Their size, mean",
        |flows| {
            some_mean(&sorted(
                flows
                    .iter()
                    .filter_map(|flow| flow.flits.map(|flits| flits as f64)),
            ))
        },
    )
    .entry(),
    of_sizes(
        "flows.sizes.FLITS.complete",
        "flows",
        "Those of them whose last packet was delivered",
        |flows| Some(completions(flows).len().into()),
    )
    .entry(),
    of_sizes(
        "flows.sizes.FLITS.completion.mean",
        "cycles",
        "Completion time of the complete flows of the size class, mean",
        |flows| some_mean(&completions(flows)),
    )
    .entry(),
    of_sizes(
        "flows.sizes.FLITS.completion.p50",
        "cycles",
        "The same, which half of the flows do not exceed",
        |flows| quantile(&completions(flows), 500),
    )
    .column()
    .entry(),
    of_sizes(
        "flows.sizes.FLITS.completion.p99",
        "cycles",
        "The same, which 99 % of the flows do not exceed",
        |flows| quantile(&completions(flows), 990),
    )
    .column()
    .entry(),
    of_sizes(
        "flows.sizes.FLITS.completion.p999",
        "cycles",
        "The same, which 99.9 % of the flows do not exceed",
        |flows| quantile(&completions(flows), 999),
    )
    .entry(),
    of_sizes(
        "flows.sizes.FLITS.completion.max",
        "cycles",
        "The same, of the flow that took longest",
        |flows| quantile(&completions(flows), 1000),
    )
    .entry(),
    of_sizes(
        "flows.sizes.FLITS.slowdown.mean",
        "times that in the empty fabric",
        "Slowdown of the complete flows of the size class, mean",
        |flows| some_mean(&slowdowns(flows)),
    )
    .entry(),
    of_sizes(
        "flows.sizes.FLITS.slowdown.p50",
        "times that in the empty fabric",
        "The same, which half of the flows do not exceed",
        |flows| quantile(&slowdowns(flows), 500),
    )
    .column()
    .entry(),
    of_sizes(
        "flows.sizes.FLITS.slowdown.p99",
        "times that in the empty fabric",
        "The same, which 99 % of the flows do not exceed",
        |flows| quantile(&slowdowns(flows), 990),
    )
    .column()
    .entry(),
    of_sizes(
        "flows.sizes.FLITS.slowdown.p999",
        "times that in the empty fabric",
        "The same, which 99.9 % of the flows do not exceed",
        |flows| quantile(&slowdowns(flows), 999),
    )
    .entry(),
    of_sizes(
        "flows.sizes.FLITS.slowdown.max",
        "times that in the empty fabric",
        "The same, of the slowest flow",
        |flows| quantile(&slowdowns(flows), 1000),
    )
    .entry(),
];

const fn of_sizes(
    path: &'static str,
    unit: &'static str,
    summary: &'static str,
    of: fn(&[&FlowResult]) -> Option<Value>,
) -> Metric {
    metric(path, unit, summary, Of::Sizes(of))
}

/// All size classes that have flows, each with the metrics of every table, by their smallest size.
fn by_size(run: &RunResult) -> Option<Value> {
    let mut classes: BTreeMap<u64, Vec<&FlowResult>> = BTreeMap::new();
    for flow in &run.flow_results {
        if let Some(flits) = flow.flits {
            let least = 1 << flits.max(1).ilog2();
            classes.entry(least).or_default().push(flow);
        }
    }
    let values = |(least, flows): (u64, Vec<&FlowResult>)| {
        let mut values = Map::new();
        for metric in all() {
            if let Of::Sizes(of) = metric.of
                && let Some(value) = of(&flows)
            {
                set(&mut values, metric.place(), value);
            }
        }
        (least.to_string(), values.into())
    };
    let classes: Map<String, Value> = classes.into_iter().map(values).collect();
    (!classes.is_empty()).then(|| classes.into())
}

fn completions(flows: &[&FlowResult]) -> Vec<f64> {
    let completions = flows.iter().filter_map(|flow| flow.completion());
    sorted(completions.map(|cycles| cycles as f64))
}

fn slowdowns(flows: &[&FlowResult]) -> Vec<f64> {
    sorted(flows.iter().filter_map(|flow| flow.slowdown()))
}
