//! How far flows are from weighted max-min fair rates on their routes.

use super::loads::ratio;
use super::{Entry, counted};
use crate::measure::{FlowResult, RunResult};
use serde_json::Value;

pub(super) const ENTRIES: &[Entry] = &[
    counted(
        "flows.max_min.distance",
        "fraction of the fair rates, 0 all fair",
        "Flits that flows received in the measurement less those of weighted max-min fair rates, sum without signs over sum; with \
         tables of routes, and flows that could send all the time",
        |run| {
            let apart = rates(run)?.map(|(rate, fair)| (rate - fair).abs()).sum();
            Some(ratio(apart, rates(run)?.map(|(_, fair)| fair).sum()).into())
        },
    )
    .column()
    .entry(),
    counted(
        "flows.max_min.least",
        "fraction of its fair rate",
        "Flits that a flow received in the measurement over those of its weighted max-min fair rate, of the worst off; likewise",
        |run| {
            let parts = rates(run)?.filter(|&(_, fair)| fair > 0.0);
            let least = parts.map(|(rate, fair)| rate / fair).reduce(f64::min);
            least.map(Value::from)
        },
    )
    .column()
    .entry(),
];

/// Rate and fair rate of the flows that have one \[flits per cycle\]; `None` where no flow has.
fn rates(run: &RunResult) -> Option<impl Iterator<Item = (f64, f64)>> {
    let measured = run.cycles.measure as f64;
    let known = move |flow: &FlowResult| {
        let received = flow.counts.arrived.received as f64;
        Some((ratio(received, measured), flow.fair?))
    };
    let mut flows = run.flow_results.iter().filter_map(known).peekable();
    flows.peek()?;
    Some(flows)
}
