//! What waits in the input queues of switches: packets, where they are observed, and how long their heads do.

use super::loads::ratio;
use super::run::of_run;
use super::{Entry, count, counted};
use serde_json::Value;

pub(super) const ENTRIES: &[Entry] = &[
    of_run(
        "waits.longest",
        "cycles",
        "Longest time that a packet at the head of a switch queue waited for its output: from request to grant in the \
         measurement, or to the end of the measurement",
        |run| count(run, "waits.longest").into(),
    )
    .entry(),
    counted(
        "claims.made",
        "packets",
        "Packets at heads of switch queues that had waited for so long that they went before all others, with \
         fabric.switch.claims",
        |run| count(run, "claims.made").map(Value::from),
    )
    .entry(),
    counted(
        "queues.mean",
        "packets",
        "Packets in the input queues of all switches, mean over the cycles of the measurement, with observe.queues",
        |run| {
            let mean = |sum| ratio(sum as f64, run.cycles.measure as f64).into();
            count(run, "queues.packet_cycles").map(mean)
        },
    )
    .line("queues", |mean| format!("{mean:.1} packets at switch inputs, mean"))
    .fact_box("Queued packets", 1, "at the inputs of all switches, mean")
    .entry(),
    counted(
        "queues.most",
        "packets",
        "Most packets in the queues of one switch input at the end of a cycle, with observe.queues",
        |run| count(run, "queues.most").map(Value::from),
    )
    .entry(),
];
