//! Values of each traffic class.

use super::Numbers::{Real, Statistics, Whole};
use super::loads::load;
use super::paths::set;
use super::run::mean_hops;
use super::{Entry, FRACTION, Metric, Of, OneClass, all, by_hops, flows, jobs, json, metric};
use crate::measure::{JitterRecord, LatencySummary, RunResult};
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

const NETWORK_LATENCY: Metric = of_class(
    "classes.NAME.latency.network.STATISTIC",
    "cycles",
    "Network latency of the class",
    |class| json(class.records.network.summary()),
);

const PACKET_LATENCY: Metric = of_class(
    "classes.NAME.latency.packet.STATISTIC",
    "cycles",
    "Packet latency of the class",
    |class| json(class.records.packet.summary()),
);

const MEAN_JITTER: Metric = of_class(
    "classes.NAME.jitter.mean",
    "cycles",
    "Mean jitter of the flows of the class",
    |class| jitter(class).mean().into(),
);

/// Values with an entry for each of two places stand in `classes.csv` elsewhere than in `summary.json`.
pub(super) const ENTRIES: &[Entry] = &[
    Entry::Fact("classes", |run| Some(list(run))),
    jobs::COMPLETION.entry(),
    of_class(
        "classes.NAME.hosts",
        "",
        "Hosts that send packets of the class",
        |class| class.info.hosts.len().into(),
    )
    .csv("hosts", Whole)
    .only_csv(),
    of_class(
        "classes.NAME.offered",
        FRACTION,
        "Offered load of the class",
        |class| load(class.result, class.records.created_flits, &class.info.hosts).into(),
    )
    .column()
    .page("load", &["offered"])
    .csv("offered", Real)
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
    .csv("accepted", Real)
    .entry(),
    of_class(
        "classes.NAME.created",
        "packets",
        "Packets created in the measurement, rejected ones included",
        |class| class.records.created_packets.into(),
    )
    .csv("created", Whole)
    .only_csv(),
    of_class(
        "classes.NAME.injected",
        "packets",
        "Packets that started on their first channel in the measurement",
        |class| class.records.injected_packets.into(),
    )
    .csv("injected", Whole)
    .only_csv(),
    of_class(
        "classes.NAME.delivered",
        "packets",
        "Packets delivered in the measurement, whenever created",
        |class| class.records.delivered_packets.into(),
    )
    .csv("delivered", Whole)
    .only_csv(),
    of_class(
        "classes.NAME.rejected",
        "packets",
        "Packets of the class refused by full source queues",
        |class| class.records.rejected.into(),
    )
    .column()
    .page("lost", &["rejected"])
    .csv("rejected", Whole)
    .entry(),
    of_class(
        "classes.NAME.tagged",
        "packets",
        "Packets created in the measurement and not rejected",
        |class| class.records.tagged_created.into(),
    )
    .csv("tagged", Whole)
    .only_csv(),
    of_class(
        "classes.NAME.tagged_delivered",
        "packets",
        "Tagged packets that were delivered",
        |class| class.records.tagged_delivered.into(),
    )
    .csv("tagged_delivered", Whole)
    .only_csv(),
    of_class(
        "classes.NAME.marked",
        "packets",
        "Tagged packets that were delivered with the FECN bit",
        |class| class.records.marked.into(),
    )
    .csv("marked", Whole)
    .only_csv(),
    of_class(
        "classes.NAME.hops.mean",
        "channels",
        "Inter-switch channels crossed by tagged packets",
        |class| mean_hops(&class.records.hops).into(),
    )
    .csv("hops_mean", Real)
    .only_csv(),
    of_class(
        "classes.NAME.hops.max",
        "channels",
        "Most inter-switch channels crossed by a tagged packet",
        |class| class.records.hops.len().checked_sub(1).into(),
    )
    .csv("hops_max", Whole)
    .only_csv(),
    NETWORK_LATENCY
        .columns(LATENCY_COLUMNS)
        .page("network latency", LATENCY_HEADINGS)
        .entry(),
    PACKET_LATENCY
        .columns(LATENCY_COLUMNS)
        .page("packet latency", LATENCY_HEADINGS)
        .entry(),
    MEAN_JITTER.csv("jitter_mean", Real).only_csv(),
    of_class(
        "classes.NAME.jitter.max",
        "cycles",
        "Largest jitter of a flow of the class",
        |class| {
            let jitter = jitter(class);
            (jitter.count > 0).then_some(jitter.max).into()
        },
    )
    .csv("jitter_max", Whole)
    .entry(),
    MEAN_JITTER.page("jitter", &["mean"]).entry(),
    of_class(
        "classes.NAME.last_delivery",
        "cycle",
        "Latest delivery of a packet of the class",
        |class| {
            let last = class.records.last_delivery;
            (last > 0).then_some(last).into()
        },
    )
    .csv("last_delivery", Whole)
    .only_csv(),
    NETWORK_LATENCY
        .csv("network_latency", Statistics("packets"))
        .only_csv(),
    PACKET_LATENCY
        .csv("packet_latency", Statistics("packets"))
        .only_csv(),
    of_messages(
        "classes.NAME.messages.count",
        "messages",
        "Messages of the class in all",
        |_, count| count.into(),
    )
    .csv("messages", Whole)
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
    .csv("messages_delivered", Whole)
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
    .csv("messages_last_delivery", Whole)
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
    .csv("message_latency", Statistics("messages"))
    .entry(),
];

/// Of a class that has flows that of each (D34), else that of its sources with one destination (D22).
fn jitter(class: &OneClass<'_>) -> JitterRecord {
    let flows = class.result.flow_results.iter();
    let own = flows.filter(|flow| flow.class == class.number);
    let of_flows = own.map(|flow| flow.counts.arrived.jitter());
    of_flows.fold(class.records.jitter, |mut sum, of_flow| {
        sum.merge(&of_flow);
        sum
    })
}

/// All classes, each with the metrics of every table.
fn list(run: &RunResult) -> Value {
    let classes = OneClass::all(run).map(|class| {
        let mut values = Map::new();
        set(&mut values, "name", class.info.name.as_str().into());
        let levels = service_levels(&class.info.service_levels);
        set(&mut values, "sl", levels);
        if let Some(judged) = &class.info.judged {
            set(&mut values, "verdict", json(judged.verdict));
            set(&mut values, "reason", judged.reason.as_str().into());
        }
        for metric in all() {
            if let Some(value) = metric.of_class(&class) {
                set(&mut values, metric.place(), value);
            }
        }
        if let Some(by_hops) = by_hops::of_class(&class) {
            set(&mut values, "by_hops", by_hops);
        }
        flows::groups::enter_class(&class, &mut values);
        Value::from(values)
    });
    classes.collect()
}

/// A number, a list of several, `null` on VL15.
fn service_levels(levels: &[u8]) -> Value {
    match levels {
        [] => Value::Null,
        [only] => (*only).into(),
        several => several.into(),
    }
}
