//! What array tasks need, roughly: memory and time, before anything is run.
//!
//! Cost: routes of every fabric and engine of the sweep.

use super::tasks::slices;
use crate::error::Error;
use crate::report::table::align;
use crate::run::sizing;
use crate::scenario::{Document, Known, Parts};
use crate::study::Record;
use std::fmt::Write as _;

/// The program itself, tables in the making included, roughly \[bytes\].
const PROGRAM_BYTES: u64 = 32 << 20;

/// What a run needs.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cost {
    /// Memory \[bytes\] and processor time \[s\].
    Run(u64, f64),
    /// It cannot be made.
    None(String),
}

/// What one run of every point needs, `[point]`.
///
/// # Errors
/// When a value does not fit the scenario.
pub(super) fn costs(
    document: &Document,
    record: &Record,
    known: &Known,
) -> Result<Vec<Cost>, Error> {
    let design = &record.design;
    let seed = design.runs.first().map_or(0, |run| run.seed);
    let cost = |point| {
        let document = design.document(document, point, seed)?;
        Ok(match document.resolve_known(&Parts::registered(), known) {
            Ok(resolved) => {
                let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
                Cost::Run(
                    sizing::state_bytes(plan, graph),
                    sizing::core_seconds(plan, graph, &resolved.proof),
                )
            }
            Err(error) => Cost::None(error.to_string()),
        })
    };
    (0..design.points.len()).map(cost).collect()
}

/// What every task needs with `cpus` cores and `jobs` runs at the same time, and the points that cannot be made.
pub(super) fn table(
    record: &Record,
    tasks: u32,
    costs: &[Cost],
    cpus: u32,
    jobs: Option<u32>,
) -> String {
    let columns = ["task", "runs", "memory", "core time", "time"];
    let mut rows = vec![columns.map(String::from).to_vec()];
    for (task, runs) in slices(record, tasks).into_iter().enumerate() {
        let costs = runs
            .iter()
            .map(|&run| &costs[record.design.runs[run].point]);
        let needs = needs(costs, cpus, jobs.unwrap_or(cpus));
        rows.push(vec![
            task.to_string(),
            runs.len().to_string(),
            mebibytes(needs.bytes),
            clock(needs.core_seconds),
            clock(needs.seconds),
        ]);
    }
    let mut text = align(&rows)
        + "(estimates: memory of the largest runs that are made at the same time; 200 ns per packet and switch, which other\n\
           machines and small loads miss by some factor: measure a run before a large study)\n";
    for (point, cost) in costs.iter().enumerate() {
        if let Cost::None(reason) = cost {
            let reason = reason.lines().next().unwrap_or_default();
            let _ = writeln!(text, "point {} cannot be made: {reason}", point + 1);
        }
    }
    text
}

/// What a task needs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Needs {
    bytes: u64,
    core_seconds: f64,
    seconds: f64,
}

/// Adds up the runs of a task: `jobs` at the same time share `cpus` cores.
fn needs<'a>(costs: impl Iterator<Item = &'a Cost>, cpus: u32, jobs: u32) -> Needs {
    let runs = costs.filter_map(|cost| match cost {
        Cost::Run(bytes, seconds) => Some((*bytes, *seconds)),
        Cost::None(_) => None,
    });
    let mut runs: Vec<(u64, f64)> = runs.collect();
    runs.sort_by_key(|&(bytes, _)| std::cmp::Reverse(bytes));
    let jobs = (jobs as usize).min(runs.len()).max(1);
    let core_seconds: f64 = runs.iter().map(|&(_, seconds)| seconds).sum();
    let longest = runs.iter().map(|&(_, seconds)| seconds).fold(0.0, f64::max);
    // no run has more cores than its share
    let share = f64::from((cpus / jobs as u32).max(1));
    let busy = (jobs as f64 * share).min(f64::from(cpus));
    Needs {
        bytes: PROGRAM_BYTES + runs.iter().take(jobs).map(|&(bytes, _)| bytes).sum::<u64>(),
        core_seconds,
        seconds: (core_seconds / busy).max(longest / share),
    }
}

/// Whole MiB, rounded up.
fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

/// Hours, minutes and seconds, rounded up.
fn clock(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    format!("{}:{:02}:{seconds:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_at_the_same_time_share_memory_and_cores() {
        let costs = [
            Cost::Run(100, 40.0),
            Cost::None("why".into()),
            Cost::Run(300, 10.0),
            Cost::Run(200, 10.0),
        ];
        let of = |cpus, jobs| {
            let needs = needs(costs.iter(), cpus, jobs);
            let bytes = needs.bytes - PROGRAM_BYTES;
            (bytes, needs.core_seconds, needs.seconds)
        };
        assert_eq!(of(1, 1), (300, 60.0, 60.0));
        // the longest run is longer than the others together
        assert_eq!(of(2, 2), (500, 60.0, 40.0));
        assert_eq!(of(8, 8), (600, 60.0, 20.0));
        assert_eq!(of(4, 1), (300, 60.0, 15.0));
        assert_eq!(of(1, 2), (500, 60.0, 60.0));
    }

    #[test]
    fn numbers_are_rounded_up() {
        assert_eq!(mebibytes(1), "1 MiB");
        assert_eq!(mebibytes(5 << 20), "5 MiB");
        assert_eq!(clock(3661.5), "1:01:02");
        assert_eq!(clock(0.2), "0:00:01");
    }
}
