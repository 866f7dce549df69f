//! Admission of flows: rounds, requests and what came of them.

pub(super) mod criteria;

use super::{Entry, count, counted};
use crate::measure::{FlowResult, RunResult};
use serde_json::Value;

pub(super) const ENTRIES: &[Entry] = &[
    counted(
        "admission.rounds",
        "rounds",
        "Rounds of admission since cycle 0, where flows ask a desk",
        |run| {
            run.records
                .counts
                .get("admission.rounds")
                .map(|&rounds| rounds.into())
        },
    )
    .entry(),
    counted(
        "admission.end",
        "cycles",
        "Cycle in which rounds of admission ended; none while they go on",
        |run| count(run, "admission.end").map(Value::from),
    )
    .entry(),
    counted(
        "admission.requests",
        "requests",
        "Requests for all flows, in rounds or by packets; one that is refused may be asked again",
        |run| Some(both(run, "admission.requests.", "reservation.requests")?.into()),
    )
    .entry(),
    counted(
        "admission.admitted",
        "flows",
        "Flows admitted since cycle 0, where flows ask",
        |run| Some(admitted(run)?.into()),
    )
    .column()
    .line("admitted", |flows| format!("{flows:.0} flows"))
    .entry(),
    counted(
        "admission.released",
        "flows",
        "Flows that have ended since cycle 0 and whose reservation the desk has taken back",
        |run| count(run, "admission.released").map(Value::from),
    )
    .entry(),
    counted(
        "admission.blocking",
        "fraction of the requests",
        "Requests that have not led to an admission, part of all: how likely a request is refused",
        |run| {
            let requests = both(run, "admission.requests.", "reservation.requests")?;
            let refused = requests.saturating_sub(admitted(run)?);
            (requests > 0).then(|| (refused as f64 / requests as f64).into())
        },
    )
    .entry(),
    counted(
        "admission.holding.mean",
        "cycles",
        "Holding time: from the start of an admitted flow to its last delivery, mean of those that have a size and are complete",
        |run| {
            let asking = run.flow_results.iter().filter(|flow| {
                run.classes[usize::from(flow.class)].bounds.is_some()
            });
            let times = asking.filter_map(FlowResult::completion);
            let (sum, flows) = times.fold((0, 0), |(sum, flows), time| (sum + time, flows + 1));
            (flows > 0).then(|| (sum as f64 / f64::from(flows)).into())
        },
    )
    .entry(),
    counted(
        "admission.wait.mean",
        "cycles",
        "From the first request for a flow to its start, mean of the flows admitted",
        |run| {
            let waits = both(run, "admission.waits", "reservation.waits")?;
            let admitted = admitted(run).filter(|&flows| flows > 0)?;
            Some((waits as f64 / admitted as f64).into())
        },
    )
    .column()
    .entry(),
    counted(
        "admission.wait.max",
        "cycles",
        "The same, of the flow that waited longest",
        |run| {
            admitted(run).filter(|&flows| flows > 0)?;
            let by_desk = count(run, "admission.longest_wait");
            let longest = by_desk.max(count(run, "reservation.longest_wait"));
            longest.map(Value::from)
        },
    )
    .entry(),
];

/// Flows that a desk has admitted, and those that have begun by themselves.
fn admitted(run: &RunResult) -> Option<u64> {
    both(run, "admission.admitted.", "reservation.begun")
}

/// The sum of all counts whose names begin like this, of a desk and of reservations, where there are any.
fn both(run: &RunResult, of_desk: &str, of_reservations: &str) -> Option<u64> {
    let counts = run.records.counts.iter();
    let counts =
        counts.filter(|(name, _)| name.starts_with(of_desk) || name.starts_with(of_reservations));
    let mut counts = counts.map(|(_, count)| *count).peekable();
    counts.peek()?;
    Some(counts.sum())
}
