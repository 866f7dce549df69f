//! Values of the channels, and what the run took.

use super::loads::{busy, finite, ratio};
use super::run::of_run;
use super::{Entry, json};
use crate::ids::ChannelId;
use crate::measure::RunResult;

pub(super) const ENTRIES: &[Entry] = &[
    of_run(
        "channels.utilisation.mean",
        "fraction of time",
        "Time channels carry flits, mean over channels",
        |run| {
            let (all, window) = (run.channels.len() as f64, run.cycles.measure as f64);
            ratio(all_busy(run).sum::<u64>() as f64, window * all).into()
        },
    )
    .column()
    .line("channels", |mean| format!("utilisation {mean:.3} mean"))
    .entry(),
    of_run(
        "channels.utilisation.max",
        "fraction of time",
        "Time the busiest channel carries flits",
        |run| {
            let most = all_busy(run).max().unwrap_or(0);
            ratio(most as f64, run.cycles.measure as f64).into()
        },
    )
    .column()
    .line("channels", |most| format!(", {most:.3} highest"))
    .entry(),
    of_run(
        "work.packet_hops",
        "packets",
        "Switch traversals of packets",
        |run| run.records.packet_hops.into(),
    )
    .entry(),
    of_run(
        "work.flit_hops",
        "flits",
        "Switch traversals of flits",
        |run| run.records.flit_hops.into(),
    )
    .entry(),
    of_run(
        "work.wall_seconds",
        "s",
        "Wall time of the run, of all parts of one that was stopped and went on",
        |run| finite(run.wall_seconds).into(),
    )
    .entry(),
    of_run(
        "work.cpu_seconds",
        "s",
        "Processor time of the run, likewise",
        |run| finite(run.cpu_seconds).into(),
    )
    .entry(),
    of_run(
        "work.flit_hops_per_cpu_second",
        "1/s",
        "Simulation speed per core",
        |run| ratio(run.records.flit_hops as f64, run.cpu_seconds).into(),
    )
    .entry(),
    of_run(
        "work.cycles_per_second",
        "1/s",
        "Simulation speed in wall time",
        |run| ratio(run.cycles.total as f64, run.wall_seconds).into(),
    )
    .entry(),
    of_run(
        "work.peak_rss_bytes",
        "bytes",
        "Largest memory use",
        |run| run.peak_rss_bytes.into(),
    )
    .entry(),
    Entry::Fact("stages", |run| {
        (!run.stages.is_empty()).then(|| json(&run.stages))
    }),
];

/// Cycles in which each channel carried flits in the window.
fn all_busy(run: &RunResult) -> impl Iterator<Item = u64> {
    (0..run.channels.len()).map(|channel| busy(run, ChannelId::from(channel)))
}
