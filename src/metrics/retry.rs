//! Link-level retry: what was sent again.

use super::{Entry, count, counted};
use serde_json::Value;

pub(super) const ENTRIES: &[Entry] = &[
    counted(
        "links.repeats",
        "transmissions",
        "Packets (flits, with wormhole switching) that channels sent again since cycle 0, each time, with fabric.link.retry",
        |run| count(run, "links.repeats").map(Value::from),
    )
    .column()
    .line("repeats", |count| format!("{count} transmissions came with an error"))
    .entry(),
    counted(
        "links.repeated_flits",
        "flits",
        "Flits of what channels sent again since cycle 0, with fabric.link.retry",
        |run| count(run, "links.repeated_flits").map(Value::from),
    )
    .entry(),
];
