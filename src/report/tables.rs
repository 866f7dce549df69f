//! The tables of a run: one row per class, channel and lane, host, flow or interval.
//!
//! Loads are fractions of the link rate.

use super::RunResult;
use super::columns::Kind::{Float, Integer, Text};
use super::columns::{Cell, Column, Kind, Table, columns};
use super::summary::{ServiceLevels, summarize};
use crate::ids::{ChannelId, HostId};
use crate::measure::LatencySummary;
use crate::metrics::loads::{load, utilisation};
use crate::metrics::mean_hops;

const CLASSES: [(&str, Kind); 17] = [
    ("class", Text),
    ("sl", Text),
    ("hosts", Integer),
    ("offered [fraction of link rate]", Float),
    ("accepted [fraction of link rate]", Float),
    ("created [packets]", Integer),
    ("injected [packets]", Integer),
    ("delivered [packets]", Integer),
    ("rejected [packets]", Integer),
    ("tagged [packets]", Integer),
    ("tagged_delivered [packets]", Integer),
    ("marked [packets]", Integer),
    ("hops_mean [channels]", Float),
    ("hops_max [channels]", Integer),
    ("jitter_mean [cycles]", Float),
    ("jitter_max [cycles]", Integer),
    ("last_delivery [cycle]", Integer),
];

const LATENCIES: [(&str, &str, Kind); 8] = [
    ("count", "packets", Integer),
    ("mean", "cycles", Float),
    ("std", "cycles", Float),
    ("min", "cycles", Integer),
    ("p50", "cycles", Integer),
    ("p95", "cycles", Integer),
    ("p99", "cycles", Integer),
    ("max", "cycles", Integer),
];

const CHANNELS: [(&str, Kind); 6] = [
    ("channel", Integer),
    ("from", Text),
    ("to", Text),
    ("lane", Integer),
    ("sent [flits]", Integer),
    ("utilisation [fraction]", Float),
];

const HOSTS: [(&str, Kind); 10] = [
    ("host", Integer),
    ("name", Text),
    ("created [flits]", Integer),
    ("accepted [flits]", Integer),
    ("destined [flits]", Integer),
    ("received [flits]", Integer),
    ("offered [fraction of link rate]", Float),
    ("accepted [fraction of link rate]", Float),
    ("destined [fraction of link rate]", Float),
    ("received [fraction of link rate]", Float),
];

const FLOWS: [(&str, Kind); 13] = [
    ("class", Text),
    ("source", Integer),
    ("destination", Integer),
    ("delivered [packets]", Integer),
    ("delivered [flits]", Integer),
    ("marked [packets]", Integer),
    ("hops_mean [channels]", Float),
    ("network_latency_mean [cycles]", Float),
    ("network_latency_max [cycles]", Integer),
    ("packet_latency_mean [cycles]", Float),
    ("packet_latency_max [cycles]", Integer),
    ("first_created [cycle]", Integer),
    ("last_delivered [cycle]", Integer),
];

/// Names as [`TimelineRow`](super::result::TimelineRow) is read with.
const TIMELINE: [(&str, Kind); 8] = [
    ("start [cycle]", Integer),
    ("length [cycles]", Integer),
    ("created [flits]", Integer),
    ("delivered [flits]", Integer),
    ("delivered [packets]", Integer),
    ("network_latency_sum [cycles]", Integer),
    ("queued [packets]", Integer),
    ("in_flight [packets]", Integer),
];

/// All tables of a run but that of its packets, which is written while it runs.
pub fn all(result: &RunResult) -> Vec<Table<'_>> {
    let mut all = vec![classes(result), channels(result), hosts(result)];
    all.extend(result.flows.is_some().then(|| flows(result)));
    all.extend((!result.timeline.is_empty()).then(|| timeline(result)));
    all
}

/// `classes.csv`.
pub fn classes(result: &RunResult) -> Table<'_> {
    let mut header = columns(&CLASSES);
    for clock in ["network", "packet"] {
        header.extend(LATENCIES.map(|(column, unit, kind)| {
            Column::new(format!("{clock}_latency_{column} [{unit}]"), kind)
        }));
    }
    Table::new("classes.csv", header, |rows| {
        let summary = summarize(result);
        let infos = result.classes.iter().zip(&result.records.classes);
        for ((info, class), summary) in infos.zip(&summary.classes) {
            let mut row: Vec<Cell<'_>> = vec![
                info.name.as_str().into(),
                service_levels(&summary.sl).into(),
                info.hosts.len().into(),
                summary.offered.into(),
                summary.accepted.into(),
                class.created_packets.into(),
                class.injected_packets.into(),
                class.delivered_packets.into(),
                class.rejected.into(),
                class.tagged_created.into(),
                class.tagged_delivered.into(),
                class.marked.into(),
                mean_hops(&class.hops).into(),
                class.hops.len().checked_sub(1).into(),
                summary.jitter.mean.into(),
                summary.jitter.max.into(),
                (class.last_delivery > 0)
                    .then_some(class.last_delivery)
                    .into(),
            ];
            row.extend(latency_cells(&summary.latency.network));
            row.extend(latency_cells(&summary.latency.packet));
            rows.row(&row)?;
        }
        Ok(())
    })
}

/// `channels.csv`: one row per channel and lane that carried flits; a channel that carried none has one row, of its first
/// lane. What has no row sent nothing.
pub fn channels(result: &RunResult) -> Table<'_> {
    Table::new("channels.csv", columns(&CHANNELS), |rows| {
        for (index, info) in result.channels.iter().enumerate() {
            let channel = ChannelId::from(index);
            let lanes = result.records.channels.lanes(channel);
            let first = lanes.iter().position(|&flits| flits > 0).unwrap_or(0);
            for (lane, &flits) in lanes.iter().enumerate() {
                if flits == 0 && lane != first {
                    continue;
                }
                rows.row(&[
                    index.into(),
                    info.from.as_str().into(),
                    info.to.as_str().into(),
                    lane.into(),
                    flits.into(),
                    utilisation(result, channel, flits).into(),
                ])?;
            }
        }
        Ok(())
    })
}

/// `hosts.csv`.
pub fn hosts(result: &RunResult) -> Table<'_> {
    Table::new("hosts.csv", columns(&HOSTS), |rows| {
        let records = result.records.hosts.iter();
        for (host, (info, record)) in result.hosts.iter().zip(records).enumerate() {
            let load = |flits| load(result, flits, &[HostId::from(host)]);
            rows.row(&[
                host.into(),
                info.name.as_str().into(),
                record.created_flits.into(),
                record.accepted_flits.into(),
                record.destined_flits.into(),
                record.received_flits.into(),
                load(record.created_flits).into(),
                load(record.accepted_flits).into(),
                load(record.destined_flits).into(),
                load(record.received_flits).into(),
            ])?;
        }
        Ok(())
    })
}

/// `flows.csv`: one row per flow with a delivered packet.
pub fn flows(result: &RunResult) -> Table<'_> {
    Table::new("flows.csv", columns(&FLOWS), |rows| {
        for (flow, record) in result.flows.iter().flatten() {
            let mean = |sum: u128| sum as f64 / record.packets as f64;
            rows.row(&[
                result.classes[usize::from(flow.class)].name.as_str().into(),
                flow.source.into(),
                flow.destination.into(),
                record.packets.into(),
                record.flits.into(),
                record.marked.into(),
                mean(u128::from(record.hops)).into(),
                mean(record.network_sum).into(),
                record.network_max.into(),
                mean(record.packet_sum).into(),
                record.packet_max.into(),
                record.first_created.into(),
                record.last_delivered.into(),
            ])?;
        }
        Ok(())
    })
}

/// `timeline.csv`.
pub fn timeline(result: &RunResult) -> Table<'_> {
    Table::new("timeline.csv", columns(&TIMELINE), |rows| {
        for row in &result.timeline {
            let cells = [
                row.start,
                row.length,
                row.created_flits,
                row.delivered_flits,
                row.delivered_packets,
                row.network_latency_sum,
                row.queued_packets,
                row.in_flight_packets,
            ];
            rows.row(&cells.map(Cell::from))?;
        }
        Ok(())
    })
}

/// `3`, `0 1 2` or nothing on VL15.
pub(super) fn service_levels(levels: &ServiceLevels) -> String {
    match levels {
        ServiceLevels::None => String::new(),
        ServiceLevels::One(level) => level.to_string(),
        ServiceLevels::Several(levels) => {
            let levels: Vec<String> = levels.iter().map(u8::to_string).collect();
            levels.join(" ")
        }
    }
}

fn latency_cells(latency: &LatencySummary) -> [Cell<'static>; 8] {
    [
        latency.count.into(),
        latency.mean.into(),
        latency.std.into(),
        latency.min.into(),
        latency.p50.into(),
        latency.p95.into(),
        latency.p99.into(),
        latency.max.into(),
    ]
}
