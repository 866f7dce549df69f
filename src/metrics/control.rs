//! Control of flows, where classes have it.

use super::{Entry, Of, metric};
use serde_json::Value;

pub(super) const ENTRIES: &[Entry] = &[metric(
    "control.triggers",
    "events",
    "Events that senders of flows logged since cycle 0, as CCTI reaching the trigger threshold, with control",
    Of::Counted(|run| {
        let count = run.records.counts.get("control.triggers");
        count.map(|&count| Value::from(count))
    }),
)
.column()
.entry()];
