//! Values of the whole run: fabric, routing, phases, loads, latencies, how precise they are, hops.

use super::loads::{finite, host_capacity, load, ratio, senders};
use super::{Entry, FRACTION, Metric, Of, json, metric};
use crate::ids::HostId;
use crate::measure::precision::BatchMeans;
use crate::measure::{ClassRecords, LatencyRecord, RunResult};
use serde_json::Value;

/// A value of the whole run.
pub(super) const fn of_run(
    path: &'static str,
    unit: &'static str,
    summary: &'static str,
    of: fn(&RunResult) -> Value,
) -> Metric {
    metric(path, unit, summary, Of::Run(of))
}

/// What of latencies stands in tables of studies.
const LATENCY_COLUMNS: &[&str] = &["mean", "std", "p50", "p95", "p99", "max"];

pub(super) const ENTRIES: &[Entry] = &[
    of_run(
        "fabric.switches",
        "switches",
        "Switches of the fabric",
        |run| run.fabric.switches.into(),
    )
    .entry(),
    of_run("fabric.hosts", "hosts", "Hosts of the fabric", |run| {
        run.fabric.hosts.into()
    })
    .entry(),
    of_run(
        "fabric.channels",
        "channels",
        "Channels: two per link, links of hosts included",
        |run| run.fabric.channels.into(),
    )
    .entry(),
    of_run(
        "fabric.diameter",
        "channels",
        "Longest shortest path between switches",
        |run| run.fabric.diameter.into(),
    )
    .entry(),
    Entry::Fact("routing.engine", |run| {
        Some(run.routing.engine.as_str().into())
    }),
    Entry::Fact("routing.minimal", |run| Some(run.routing.minimal.into())),
    of_run(
        "routing.layers",
        "layers",
        "Layers the routing engine uses against deadlock",
        |run| run.routing.layers.into(),
    )
    .entry(),
    Entry::Fact("routing.deadlock_free", |run| {
        Some(run.routing.deadlock_free.into())
    }),
    Entry::Fact("routing.unreachable_pairs", |run| {
        let pairs = run.routing.unreachable_pairs;
        (pairs > 0).then(|| pairs.into())
    }),
    Entry::Fact("scenario", |run| Some(json(&run.scenario))),
    Entry::Fact("run.seed", |run| Some(run.seed.into())),
    Entry::Fact("run.threads", |run| Some(run.threads.into())),
    Entry::Fact("run.shards", |run| Some(run.shards.into())),
    Entry::Fact("run.verdict", |run| Some(json(run.verdict))),
    Entry::Fact("run.reason", |run| Some(run.reason.as_str().into())),
    Entry::Fact("run.digest", |run| {
        Some(run.records.digest.to_string().into())
    }),
    metric(
        "run.deadlocked",
        "0 or 1",
        "1 when the verdict is deadlocked; the verdict itself is in summary.json",
        Of::Verdict(|word| word == "deadlocked"),
    )
    .entry(),
    metric(
        "run.complete",
        "0 or 1",
        "1 when the verdict is complete: all messages, or all flows with a size, were delivered",
        Of::Verdict(|word| word == "complete"),
    )
    .entry(),
    of_run(
        "run.cycles.warmup",
        "cycles",
        "Length of the warm-up",
        |run| run.cycles.warmup.into(),
    )
    .entry(),
    of_run(
        "run.cycles.measure",
        "cycles",
        "Length of the measurement",
        |run| run.cycles.measure.into(),
    )
    .entry(),
    of_run(
        "run.cycles.drain",
        "cycles",
        "Time until the last tagged packet was delivered",
        |run| run.cycles.drain.into(),
    )
    .entry(),
    of_run("run.cycles.total", "cycles", "Length of the run", |run| {
        run.cycles.total.into()
    })
    .entry(),
    Entry::Fact("run.cut_short", |run| run.is_cut.then_some(true.into())),
    Entry::Fact("run.length", |run| Some(run.length.as_deref()?.into())),
    of_run(
        "load.offered",
        FRACTION,
        "Flits of packets created in the measurement, rejected ones included",
        |run| {
            let created = total(run, |class| class.created_flits);
            load(run, created, &senders(run)).into()
        },
    )
    .column()
    .entry(),
    of_run(
        "load.accepted",
        FRACTION,
        "Flits delivered in the measurement",
        |run| {
            let delivered = total(run, |class| class.delivered_flits);
            load(run, delivered, &senders(run)).into()
        },
    )
    .column()
    .interval("confidence.accepted")
    .entry(),
    of_run(
        "load.accepted_min_host",
        FRACTION,
        "Accepted load of the sender that got least through",
        |run| accepted_of_hosts(run, f64::min).into(),
    )
    .column()
    .line("hosts", |least| format!("accepted load {least:.4} (least)"))
    .entry(),
    of_run(
        "load.accepted_max_host",
        FRACTION,
        "Accepted load of the sender that got most through",
        |run| accepted_of_hosts(run, f64::max).into(),
    )
    .column()
    .line("hosts", |most| format!(" to {most:.4} (most)"))
    .entry(),
    of_run(
        "load.backlog_growth",
        "fraction",
        "Growth of the source queues in the measurement, part of the packets created",
        |run| {
            let created = total(run, |class| class.created_packets);
            ratio(run.backlog_growth as f64, created as f64).into()
        },
    )
    .entry(),
    of_run(
        "load.present_growth",
        "fraction",
        "Growth of source queues and fabric in the measurement, part of the flits created",
        |run| {
            let created = total(run, |class| class.created_flits);
            ratio(run.present_growth as f64, created as f64).into()
        },
    )
    .entry(),
    of_run(
        "latency.network.STATISTIC",
        "cycles",
        "First flit on the first channel to last flit at the destination, of tagged packets",
        |run| merged(run, |class| &class.network),
    )
    .columns(LATENCY_COLUMNS)
    .interval("confidence.network_latency")
    .entry(),
    of_run(
        "latency.packet.STATISTIC",
        "cycles",
        "Creation to last flit at the destination, of tagged packets",
        |run| merged(run, |class| &class.packet),
    )
    .columns(LATENCY_COLUMNS)
    .interval("confidence.packet_latency")
    .entry(),
    Entry::Fact("confidence.level", |run| {
        Some(finite(run.precision.confidence).into())
    }),
    Entry::Fact("confidence.accepted", |run| Some(interval(accepted(run)))),
    Entry::Fact("confidence.network_latency", |run| {
        Some(interval(run.precision.network_latency))
    }),
    Entry::Fact("confidence.packet_latency", |run| {
        Some(interval(run.precision.packet_latency))
    }),
    of_run(
        "confidence.accepted.half_width",
        FRACTION,
        "Half-width of the interval of the accepted load, from batch means",
        |run| half_width(accepted(run)),
    )
    .entry(),
    of_run(
        "confidence.network_latency.half_width",
        "cycles",
        "Half-width of the interval of the mean network latency, from batch means",
        |run| half_width(run.precision.network_latency),
    )
    .entry(),
    of_run(
        "confidence.packet_latency.half_width",
        "cycles",
        "Half-width of the interval of the mean packet latency, from batch means",
        |run| half_width(run.precision.packet_latency),
    )
    .entry(),
    of_run(
        "hops.mean",
        "channels",
        "Inter-switch channels crossed",
        |run| mean_hops(&hops(run)).into(),
    )
    .column()
    .fact_box("Path length", 2, "between switches, mean")
    .entry(),
    Entry::Fact("hops.histogram", |run| Some(hops(run).into())),
];

/// A count of all classes together.
fn total(run: &RunResult, count: fn(&ClassRecords) -> u64) -> u64 {
    run.records.classes.iter().map(count).sum()
}

/// The least or most that a sending host got through.
fn accepted_of_hosts(run: &RunResult, extreme: fn(f64, f64) -> f64) -> f64 {
    let of_host = |&host: &HostId| {
        let flits = run.records.hosts[host.index()].accepted_flits;
        load(run, flits, &[host])
    };
    let accepted = senders(run);
    let accepted = accepted.iter().map(of_host);
    accepted.reduce(extreme).unwrap_or(0.0)
}

/// A latency over all classes.
fn merged(run: &RunResult, clock: fn(&ClassRecords) -> &LatencyRecord) -> Value {
    let mut sum = LatencyRecord::default();
    for class in &run.records.classes {
        sum.merge(clock(class));
    }
    json(sum.summary())
}

/// The interval of the accepted load. The run counts flits per cycle, of all hosts.
fn accepted(run: &RunResult) -> Option<BatchMeans> {
    let found = run.precision.accepted?;
    let per_cycle = host_capacity(run, &senders(run));
    Some(found.scaled(ratio(1.0, per_cycle)))
}

/// An interval; `null` when it has an end that is no number.
fn interval(found: Option<BatchMeans>) -> Value {
    json(found.filter(|found| {
        [found.mean, found.half_width, found.correlation]
            .iter()
            .all(|number| number.is_finite())
    }))
}

fn half_width(interval: Option<BatchMeans>) -> Value {
    interval.map(|interval| interval.half_width).into()
}

/// Packets by hops, over all classes.
fn hops(run: &RunResult) -> Vec<u64> {
    let classes = &run.records.classes;
    let mut histogram = vec![0; classes.iter().map(|c| c.hops.len()).max().unwrap_or(0)];
    for class in classes {
        for (sum, count) in histogram.iter_mut().zip(&class.hops) {
            *sum += count;
        }
    }
    histogram
}

/// Mean of a histogram `[hops]`; `None` when it is empty.
pub fn mean_hops(histogram: &[u64]) -> Option<f64> {
    let packets: u64 = histogram.iter().sum();
    let hops: u64 = (0..).zip(histogram).map(|(hops, count)| hops * count).sum();
    (packets > 0).then(|| hops as f64 / packets as f64)
}
