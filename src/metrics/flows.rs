//! The flows of a plan together: how fast they were, how fairly they shared, how long they took.

use super::loads::ratio;
use super::{Entry, Metric, Of, metric};
use crate::measure::{FlowResult, RunResult};
use serde_json::Value;

pub(super) const ENTRIES: &[Entry] = &[
    of_flows("flows.count", "flows", "Flows of the plan", |run| {
        some(run).map(|flows| flows.len().into())
    })
    .entry(),
    of_flows(
        "flows.complete",
        "flows",
        "Flows with a size whose last packet was delivered",
        |run| some(run).map(|_| completions(run).len().into()),
    )
    .line("flows complete", |complete| format!("{complete:.0}"))
    .entry(),
    of_flows(
        "flows.rate.mean",
        "fraction of link rate",
        "Flits that flows received in the measurement, mean over the flows",
        |run| some(run).map(|_| mean(&rates(run)).into()),
    )
    .entry(),
    of_flows(
        "flows.rate.min",
        "fraction of link rate",
        "The same of the flow that received least",
        |run| rates(run).first().map(|&least| least.into()),
    )
    .entry(),
    of_flows(
        "flows.rate.max",
        "fraction of link rate",
        "The same of the flow that received most",
        |run| rates(run).last().map(|&most| most.into()),
    )
    .entry(),
    of_flows(
        "flows.fairness",
        "1 = all alike",
        "Jain's index of the flits that flows received in the measurement",
        |run| jain(run).map(Value::from),
    )
    .line("fairness of flows", |index| {
        format!("{index:.4} (Jain's index)")
    })
    .entry(),
    of_flows(
        "flows.completion.last",
        "cycles",
        "First start of a flow with a size to the last delivery of one, when all are complete",
        |run| last_completion(run).map(Value::from),
    )
    .entry(),
    of_flows(
        "flows.completion.mean",
        "cycles",
        "Completion time of flows with a size: start to last delivery, mean",
        |run| some_mean(&completions(run)),
    )
    .entry(),
    of_flows(
        "flows.completion.p99",
        "cycles",
        "The same, which 99 % of them do not exceed",
        |run| quantile(&completions(run), 99).map(Value::from),
    )
    .entry(),
    of_flows(
        "flows.slowdown.mean",
        "1 = as in the empty fabric",
        "Completion time over that of the flow alone in the empty fabric, mean",
        |run| some_mean(&slowdowns(run)),
    )
    .entry(),
    of_flows(
        "flows.slowdown.p99",
        "1 = as in the empty fabric",
        "The same, which 99 % of the flows do not exceed",
        |run| quantile(&slowdowns(run), 99).map(Value::from),
    )
    .entry(),
    of_flows(
        "flows.slowdown.max",
        "1 = as in the empty fabric",
        "The same, of the slowest flow",
        |run| slowdowns(run).last().map(|&most| most.into()),
    )
    .entry(),
];

const fn of_flows(
    path: &'static str,
    unit: &'static str,
    summary: &'static str,
    of: fn(&RunResult) -> Option<Value>,
) -> Metric {
    metric(path, unit, summary, Of::Counted(of))
}

/// The flows, of a plan that has some.
fn some(run: &RunResult) -> Option<&[FlowResult]> {
    Some(&run.flow_results[..]).filter(|flows| !flows.is_empty())
}

/// Ascending.
fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn completions(run: &RunResult) -> Vec<f64> {
    let completions = run.flow_results.iter().filter_map(FlowResult::completion);
    sorted(completions.map(|cycles| cycles as f64))
}

fn slowdowns(run: &RunResult) -> Vec<f64> {
    sorted(run.flow_results.iter().filter_map(FlowResult::slowdown))
}

/// Received \[fraction of the link rate of the source\].
fn rates(run: &RunResult) -> Vec<f64> {
    sorted(run.flow_results.iter().map(|flow| {
        let pace = f64::from(run.hosts[flow.source as usize].cycles_per_flit);
        let received = flow.counts.arrived.received as f64;
        ratio(received * pace, run.cycles.measure as f64)
    }))
}

fn mean(values: &[f64]) -> f64 {
    ratio(values.iter().sum(), values.len() as f64)
}

fn some_mean(values: &[f64]) -> Option<Value> {
    (!values.is_empty()).then(|| mean(values).into())
}

/// The least of `values`, ascending, that so many percent do not exceed.
fn quantile(values: &[f64], percent: usize) -> Option<f64> {
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.checked_sub(1)?).copied()
}

/// From integers, divided once.
fn jain(run: &RunResult) -> Option<f64> {
    let received = || {
        let flows = run.flow_results.iter();
        flows.map(|flow| u128::from(flow.counts.arrived.received))
    };
    let (sum, squares): (u128, u128) = (received().sum(), received().map(|x| x * x).sum());
    let count = run.flow_results.len() as f64;
    (squares > 0).then(|| (sum as f64) * (sum as f64) / (count * squares as f64))
}

fn last_completion(run: &RunResult) -> Option<u64> {
    let sized = || run.flow_results.iter().filter(|flow| flow.flits.is_some());
    let first = sized().map(|flow| flow.start).min()?;
    let ends: Option<Vec<u64>> = sized()
        .map(|flow| Some(flow.start + flow.completion()?))
        .collect();
    Some(ends?.into_iter().max()? - first)
}
