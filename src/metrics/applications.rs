//! Rates of applications: flows that a generator says belong together.
//!
//! An application is as fast as its slowest flow: its rate is the least that a flow of it received in the measurement per weight,
//! times the largest weight of its flows, as that of `fluid.applications`.

use super::flows::{quantile, some_mean, sorted};
use super::{Entry, counted};
use crate::measure::{FlowResult, RunResult};
use serde_json::Value;
use std::collections::BTreeMap;

const RATE: &str = "fraction of link rate";

pub(super) const ENTRIES: &[Entry] = &[
    counted(
        "flows.applications.count",
        "applications",
        "Applications that flows belong to, by their generator",
        |run| Some(rates(run).len()).filter(|&count| count > 0).map(Value::from),
    )
    .entry(),
    counted(
        "flows.applications.mean",
        RATE,
        "Rate of an application, that of its slowest flow in the measurement, mean over the applications",
        |run| some_mean(&rates(run)),
    )
    .entry(),
    counted(
        "flows.applications.min",
        RATE,
        "The same of the slowest application",
        |run| rates(run).first().map(|&least| least.into()),
    )
    .entry(),
    counted(
        "flows.applications.p10",
        RATE,
        "The same, which 10 % of the applications do not exceed",
        |run| quantile(&rates(run), 100),
    )
    .entry(),
    counted(
        "flows.applications.p25",
        RATE,
        "The same, which 25 % of the applications do not exceed",
        |run| quantile(&rates(run), 250),
    )
    .entry(),
    counted(
        "flows.applications.p50",
        RATE,
        "The same, which half of the applications does not exceed",
        |run| quantile(&rates(run), 500),
    )
    .entry(),
    counted(
        "flows.applications.p75",
        RATE,
        "The same, which 75 % of the applications do not exceed",
        |run| quantile(&rates(run), 750),
    )
    .entry(),
    counted(
        "flows.applications.p90",
        RATE,
        "The same, which 90 % of the applications do not exceed",
        |run| quantile(&rates(run), 900),
    )
    .entry(),
    counted(
        "flows.applications.max",
        RATE,
        "The same of the fastest application",
        |run| rates(run).last().map(|&most| most.into()),
    )
    .entry(),
    counted(
        "flows.applications.achieved.mean",
        RATE,
        "Flits of the slowest flow of an application over the time from its start to its end, mean over the applications whose flows \
         are all complete",
        |run| some_mean(&achieved(run)),
    )
    .entry(),
    counted(
        "flows.applications.achieved.min",
        RATE,
        "The same of the slowest application",
        |run| achieved(run).first().map(|&least| least.into()),
    )
    .entry(),
];

/// In the measurement, of all applications, ascending.
fn rates(run: &RunResult) -> Vec<f64> {
    sorted(of_applications(run, |flow| Some(flow.rate(run))))
}

/// Of all applications whose flows are all complete, ascending.
fn achieved(run: &RunResult) -> Vec<f64> {
    sorted(of_applications(run, |flow| {
        let pace = f64::from(run.hosts[flow.source as usize].cycles_per_flit);
        Some(flow.flits? as f64 * pace / flow.completion()? as f64)
    }))
}

/// The rate of every application, by those of its flows; none of one with a flow that has none.
fn of_applications(
    run: &RunResult,
    rate: impl Fn(&FlowResult) -> Option<f64>,
) -> impl Iterator<Item = f64> {
    let mut all: BTreeMap<(u16, u32), Option<(f64, u16)>> = BTreeMap::new();
    for flow in &run.flow_results {
        let Some(application) = flow.application else {
            continue;
        };
        let own = rate(flow).map(|rate| (rate / f64::from(flow.weight), flow.weight));
        let of_all = all.entry((flow.class, application)).or_insert(own);
        *of_all = of_all
            .zip(own)
            .map(|(all, own)| (all.0.min(own.0), all.1.max(own.1)));
    }
    let rates = all.into_values().flatten();
    rates.map(|(least, largest)| least * f64::from(largest))
}
