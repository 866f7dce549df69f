//! Routes that packets set up: caches and counters of switches.

use super::{Entry, counted};
use crate::measure::RunResult;
use serde_json::Value;

pub(super) const ENTRIES: &[Entry] = &[
    counted(
        "set_up.full",
        "choices",
        "Choices of outputs other than those of tables, since cycle 0, for which the cache of the input had no place",
        |run| count(run, "set_up.full"),
    )
    .column()
    .entry(),
    counted(
        "set_up.entries_most",
        "entries",
        "Most entries of the cache of an input at the end of a cycle",
        |run| count(run, "set_up.entries_most"),
    )
    .column()
    .entry(),
    counted(
        "set_up.entries",
        "entries",
        "Entries of all caches at the end; none are left when the routes of all flows are taken down",
        |run| count(run, "set_up.entries"),
    )
    .entry(),
    counted(
        "set_up.weight",
        "weight",
        "Weight of the flows over every output at the end, summed; 0 when the routes of all flows are taken down",
        |run| count(run, "set_up.weight"),
    )
    .entry(),
];

/// A counter of the run; `None` where no routes are set up.
fn count(run: &RunResult, name: &str) -> Option<Value> {
    run.records.counts.get(name).map(|&count| count.into())
}
