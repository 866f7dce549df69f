//! The flows of a plan together: how fast they were, how fairly they shared, how long they took.

pub(super) mod groups;
pub(super) mod sizes;

use super::loads::ratio;
use super::{Entry, counted};
use crate::measure::{FlowResult, RunResult};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const ENTRIES: &[Entry] = &[
    counted("flows.count", "flows", "Flows of the plan", |run| {
        some(run).map(|flows| flows.len().into())
    })
    .entry(),
    counted(
        "flows.complete",
        "flows",
        "Flows with a size whose last packet was delivered",
        |run| some(run).map(|_| completions(run).len().into()),
    )
    .column()
    .line("flows complete", |complete| format!("{complete:.0}"))
    .entry(),
    counted(
        "flows.throughput",
        "packets per cycle",
        "Packets of classes with flows delivered in the measurement, all hosts together",
        |run| some(run).map(|_| throughput(run).into()),
    )
    .entry(),
    counted(
        "flows.rate.mean",
        "fraction of link rate",
        "Flits that flows received in the measurement, mean over the flows",
        |run| some(run).map(|_| mean(&rates(run)).into()),
    )
    .column()
    .entry(),
    counted(
        "flows.rate.min",
        "fraction of link rate",
        "The same of the flow that received least",
        |run| rates(run).first().map(|&least| least.into()),
    )
    .column()
    .entry(),
    counted(
        "flows.rate.p10",
        "fraction of link rate",
        "The same, which 10 % of the flows do not exceed",
        |run| quantile(&rates(run), 100),
    )
    .entry(),
    counted(
        "flows.rate.p25",
        "fraction of link rate",
        "The same, which 25 % of the flows do not exceed",
        |run| quantile(&rates(run), 250),
    )
    .entry(),
    counted(
        "flows.rate.p50",
        "fraction of link rate",
        "The same, which half of the flows does not exceed",
        |run| quantile(&rates(run), 500),
    )
    .entry(),
    counted(
        "flows.rate.p75",
        "fraction of link rate",
        "The same, which 75 % of the flows do not exceed",
        |run| quantile(&rates(run), 750),
    )
    .entry(),
    counted(
        "flows.rate.p90",
        "fraction of link rate",
        "The same, which 90 % of the flows do not exceed",
        |run| quantile(&rates(run), 900),
    )
    .entry(),
    counted(
        "flows.rate.max",
        "fraction of link rate",
        "The same of the flow that received most",
        |run| rates(run).last().map(|&most| most.into()),
    )
    .column()
    .entry(),
    counted(
        "flows.fairness",
        "index, 1 all alike",
        "Jain's index of the flits that flows received in the measurement",
        |run| jain(run).map(Value::from),
    )
    .column()
    .line("fairness of flows", |index| {
        format!("{index:.4} (Jain's index)")
    })
    .entry(),
    counted(
        "flows.completion.last",
        "cycles",
        "First start of a flow with a size to the last delivery of one, when all are complete",
        |run| last_completion(run).map(Value::from),
    )
    .column()
    .fact_box("Completion of flows", 0, "first start to last delivery")
    .entry(),
    counted(
        "flows.completion.mean",
        "cycles",
        "Completion time of flows with a size: start to last delivery, mean of the complete ones",
        |run| some_mean(&completions(run)),
    )
    .column()
    .entry(),
    counted(
        "flows.completion.p50",
        "cycles",
        "The same, which half of them do not exceed",
        |run| quantile(&completions(run), 500),
    )
    .column()
    .entry(),
    counted(
        "flows.completion.p99",
        "cycles",
        "The same, which 99 % of them do not exceed",
        |run| quantile(&completions(run), 990),
    )
    .column()
    .entry(),
    counted(
        "flows.completion.p999",
        "cycles",
        "The same, which 99.9 % of them do not exceed",
        |run| quantile(&completions(run), 999),
    )
    .column()
    .entry(),
    counted(
        "flows.completion.max",
        "cycles",
        "The same, of the one that took longest",
        |run| quantile(&completions(run), 1000),
    )
    .column()
    .entry(),
    counted(
        "flows.slowdown.mean",
        "times that in the empty fabric",
        "Completion time over that of the flow alone in the empty fabric, mean of the complete ones",
        |run| some_mean(&slowdowns(run)),
    )
    .column()
    .entry(),
    counted(
        "flows.slowdown.p50",
        "times that in the empty fabric",
        "The same, which half of the flows do not exceed",
        |run| quantile(&slowdowns(run), 500),
    )
    .column()
    .entry(),
    counted(
        "flows.slowdown.p99",
        "times that in the empty fabric",
        "The same, which 99 % of the flows do not exceed",
        |run| quantile(&slowdowns(run), 990),
    )
    .column()
    .entry(),
    counted(
        "flows.slowdown.p999",
        "times that in the empty fabric",
        "The same, which 99.9 % of the flows do not exceed",
        |run| quantile(&slowdowns(run), 999),
    )
    .column()
    .entry(),
    counted(
        "flows.slowdown.max",
        "times that in the empty fabric",
        "The same, of the slowest flow",
        |run| quantile(&slowdowns(run), 1000),
    )
    .column()
    .entry(),
];

impl FlowResult {
    /// What it received in the measurement \[fraction of the link rate of its source\].
    pub(super) fn rate(&self, run: &RunResult) -> f64 {
        let pace = f64::from(run.hosts[self.source as usize].cycles_per_flit);
        let received = self.counts.arrived.received as f64;
        ratio(received * pace, run.cycles.measure as f64)
    }
}

/// The flows, of a plan that has some.
fn some(run: &RunResult) -> Option<&[FlowResult]> {
    Some(&run.flow_results[..]).filter(|flows| !flows.is_empty())
}

/// Packets of all classes with flows \[packets per cycle\].
fn throughput(run: &RunResult) -> f64 {
    let classes: BTreeSet<u16> = run.flow_results.iter().map(|flow| flow.class).collect();
    let packets = |class: u16| run.records.classes[usize::from(class)].delivered_packets;
    let packets: u64 = classes.into_iter().map(packets).sum();
    ratio(packets as f64, run.cycles.measure as f64)
}

/// Ascending.
pub(super) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
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

/// Of all flows.
fn rates(run: &RunResult) -> Vec<f64> {
    sorted(run.flow_results.iter().map(|flow| flow.rate(run)))
}

fn mean(values: &[f64]) -> f64 {
    ratio(values.iter().sum(), values.len() as f64)
}

/// Their mean, when there are any.
pub(super) fn some_mean(values: &[f64]) -> Option<Value> {
    (!values.is_empty()).then(|| mean(values).into())
}

/// The least of `values`, ascending, that so many of 1000 do not exceed.
pub(super) fn quantile(values: &[f64], per_mille: usize) -> Option<Value> {
    let rank = (values.len() * per_mille).div_ceil(1000);
    values.get(rank.checked_sub(1)?).map(|&value| value.into())
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
    let first = sized().filter_map(|flow| flow.counts.sent.start).min()?;
    let ends: Option<Vec<u64>> = sized()
        .map(|flow| flow.counts.sent.start?.checked_add(flow.completion()?))
        .collect();
    Some(ends?.into_iter().max()? - first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_so_many_do_not_exceed() {
        let values: Vec<f64> = (1..=1000).map(f64::from).collect();
        for (per_mille, expected) in [(500, 500.0), (990, 990.0), (999, 999.0), (1000, 1000.0)] {
            assert_eq!(quantile(&values, per_mille), Some(Value::from(expected)));
        }
        assert_eq!(quantile(&values[..3], 500), Some(Value::from(2.0)));
        assert_eq!(quantile(&values[..3], 990), Some(Value::from(3.0)));
        assert_eq!(quantile(&[], 500), None);
    }
}
