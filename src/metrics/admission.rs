//! Admission of flows: rounds, requests and what came of them.

use super::{Entry, counted};
use crate::measure::RunResult;
use serde_json::Value;

pub(super) const ENTRIES: &[Entry] = &[
    counted(
        "admission.rounds",
        "rounds",
        "Rounds of admission since cycle 0, where flows ask",
        |run| {
            run.records
                .counts
                .get("admission.rounds")
                .map(|&rounds| rounds.into())
        },
    )
    .entry(),
    counted(
        "admission.requests",
        "requests",
        "Requests of all flows in the rounds; one that is refused is asked again in the next",
        |run| sum(run, "admission.requests."),
    )
    .entry(),
    counted(
        "admission.admitted",
        "flows",
        "Flows admitted since cycle 0, where flows ask",
        |run| sum(run, "admission.admitted."),
    )
    .column()
    .line("admitted", |flows| format!("{flows:.0} flows"))
    .entry(),
    counted(
        "admission.wait.mean",
        "cycles",
        "From the first request for a flow to its start, mean of the flows admitted",
        |run| {
            let admitted = sum(run, "admission.admitted.")?.as_u64()?;
            let waits = run.records.counts.get("admission.waits")?;
            (admitted > 0).then(|| (*waits as f64 / admitted as f64).into())
        },
    )
    .entry(),
    counted(
        "admission.wait.max",
        "cycles",
        "The same, of the flow that waited longest",
        |run| {
            let admitted = sum(run, "admission.admitted.")?.as_u64()?;
            let longest = run.records.counts.get("admission.longest_wait")?;
            (admitted > 0).then(|| (*longest).into())
        },
    )
    .entry(),
];

/// The sum over all classes, where there is a count.
fn sum(run: &RunResult, name: &str) -> Option<Value> {
    let of_classes = run
        .records
        .counts
        .iter()
        .filter(|(key, _)| key.starts_with(name));
    let mut counts = of_classes.map(|(_, count)| *count).peekable();
    counts.peek()?;
    Some(counts.sum::<u64>().into())
}
