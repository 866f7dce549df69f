//! Values of each traffic class.

use super::loads::load;
use super::paths::set;
use super::{Entry, FRACTION, Metric, Of, OneClass, all, json, metric};
use crate::measure::{LatencySummary, RunResult};
use serde_json::{Map, Value};

const fn of_class(
    path: &'static str,
    unit: &'static str,
    summary: &'static str,
    of: fn(&OneClass<'_>) -> Value,
) -> Metric {
    metric(path, unit, summary, Of::Class(of))
}

const fn of_messages(
    path: &'static str,
    unit: &'static str,
    summary: &'static str,
    of: fn(&OneClass<'_>, u64) -> Value,
) -> Metric {
    metric(path, unit, summary, Of::Messages(of))
}

/// What of latencies stands in tables of studies.
const LATENCY_COLUMNS: &[&str] = &["mean", "p99"];

/// What of latencies stands on a page.
const LATENCY_HEADINGS: &[&str] = &["mean", "p50", "p95", "p99", "max"];

pub(super) const ENTRIES: &[Entry] = &[
    Entry::Fact("classes", |run| Some(list(run))),
    of_class(
        "classes.NAME.offered",
        FRACTION,
        "Offered load of the class",
        |class| load(class.result, class.records.created_flits, &class.info.hosts).into(),
    )
    .column()
    .page("load", &["offered"])
    .entry(),
    of_class(
        "classes.NAME.accepted",
        FRACTION,
        "Accepted load of the class",
        |class| {
            let flits = class.records.delivered_flits;
            load(class.result, flits, &class.info.hosts).into()
        },
    )
    .column()
    .page("load", &["accepted"])
    .entry(),
    of_class(
        "classes.NAME.rejected",
        "packets",
        "Packets of the class refused by full source queues",
        |class| class.records.rejected.into(),
    )
    .column()
    .page("lost", &["rejected"])
    .entry(),
    of_class(
        "classes.NAME.latency.network.STATISTIC",
        "cycles",
        "Network latency of the class",
        |class| json(class.records.network.summary()),
    )
    .columns(LATENCY_COLUMNS)
    .page("network latency", LATENCY_HEADINGS)
    .entry(),
    of_class(
        "classes.NAME.latency.packet.STATISTIC",
        "cycles",
        "Packet latency of the class",
        |class| json(class.records.packet.summary()),
    )
    .columns(LATENCY_COLUMNS)
    .page("packet latency", LATENCY_HEADINGS)
    .entry(),
    of_class(
        "classes.NAME.jitter.max",
        "cycles",
        "Largest jitter of a flow of the class",
        |class| {
            let jitter = &class.records.jitter;
            (jitter.count > 0).then_some(jitter.max).into()
        },
    )
    .entry(),
    of_class(
        "classes.NAME.jitter.mean",
        "cycles",
        "Mean jitter of the flows of the class",
        |class| class.records.jitter.mean().into(),
    )
    .page("jitter", &["mean"])
    .entry(),
    of_messages(
        "classes.NAME.messages.count",
        "messages",
        "Messages of the class in all",
        |_, count| count.into(),
    )
    .entry(),
    of_messages(
        "classes.NAME.messages.delivered",
        "messages",
        "Messages of the class delivered in the run",
        |class, _| {
            let records = class.records.messages.as_deref();
            records.map_or(0, |records| records.delivered).into()
        },
    )
    .column()
    .entry(),
    of_messages(
        "classes.NAME.messages.last_delivery",
        "cycle",
        "When the last of these was delivered: the time the messages take",
        |class, _| {
            let records = class.records.messages.as_deref();
            records.map(|records| records.last_delivery).into()
        },
    )
    .column()
    .entry(),
    of_messages(
        "classes.NAME.messages.latency.STATISTIC",
        "cycles",
        "First packet of a message made to its last one delivered",
        |class, _| {
            let records = class.records.messages.as_deref();
            json(records.map_or(LatencySummary::default(), |records| {
                records.latency.summary()
            }))
        },
    )
    .columns(LATENCY_COLUMNS)
    .entry(),
];

/// All classes, each with the metrics of every table.
fn list(run: &RunResult) -> Value {
    let classes = run.classes.iter().zip(&run.records.classes);
    let classes = classes.map(|(info, records)| {
        let class = OneClass {
            result: run,
            info,
            records,
        };
        let mut values = Map::new();
        set(&mut values, "name", info.name.as_str().into());
        set(&mut values, "sl", service_levels(&info.service_levels));
        for metric in all() {
            let value = match (metric.of, info.messages) {
                (Of::Class(of), _) => of(&class),
                (Of::Messages(of), Some(count)) => of(&class, count),
                _ => continue,
            };
            set(&mut values, metric.place(), value);
        }
        Value::from(values)
    });
    classes.collect()
}

/// A number, a list when packets draw one of several, `null` on VL15.
fn service_levels(levels: &[u8]) -> Value {
    match levels {
        [] => Value::Null,
        [only] => (*only).into(),
        several => several.into(),
    }
}
