//! Congestion trees, where they are looked at.

use super::loads::ratio;
use super::{Entry, counted};
use crate::measure::{CongestionLook, CongestionTree, RunResult};
use serde_json::Value;

pub(super) const ENTRIES: &[Entry] = &[
    counted(
        "congestion.roots",
        "output lanes",
        "Congested output lanes that no switch behind holds back, mean over the looks, with observe.congestion",
        |run| mean(run, |look| look.trees.len()),
    )
    .column()
    .line("congestion", |roots| format!("{roots:.1} roots"))
    .entry(),
    counted(
        "congestion.victims",
        "output lanes",
        "Congested output lanes that lack credits of the switch behind, mean over the looks, with observe.congestion",
        |run| mean(run, |look| look.victims as usize),
    )
    .column()
    .line("congestion", |victims| format!(", {victims:.1} victims, mean"))
    .entry(),
    counted(
        "congestion.largest_tree",
        "output lanes",
        "Output lanes of the largest congestion tree of all looks, root included, with observe.congestion",
        |run| most(run, |tree| tree.size),
    )
    .column()
    .line("congestion", |size| format!("; largest tree {size:.0}"))
    .fact_box("Largest congestion tree", 0, "root and all that it holds back")
    .entry(),
    counted(
        "congestion.deepest_tree",
        "levels",
        "Levels of the deepest congestion tree of all looks, its root included, with observe.congestion",
        |run| most(run, |tree| tree.depth),
    )
    .column()
    .line("congestion", |depth| format!(", deepest {depth:.0}"))
    .entry(),
];

/// The looks of a run that has some.
fn looks(run: &RunResult) -> Option<&[CongestionLook]> {
    run.congestion.as_deref().filter(|looks| !looks.is_empty())
}

fn mean(run: &RunResult, value: fn(&CongestionLook) -> usize) -> Option<Value> {
    let looks = looks(run)?;
    let sum: u64 = looks.iter().map(|look| value(look) as u64).sum();
    Some(ratio(sum as f64, looks.len() as f64).into())
}

/// The most of all trees, 0 where there is none.
fn most(run: &RunResult, value: fn(&CongestionTree) -> u32) -> Option<Value> {
    let trees = looks(run)?.iter().flat_map(|look| &look.trees);
    Some(trees.map(value).max().unwrap_or(0).into())
}
