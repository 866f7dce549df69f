//! The tables of a run: one row per class, channel and lane, host or interval; those of flows are in a file of their own.
//!
//! Loads are fractions of the link rate.

use super::RunResult;
use super::columns::Kind::{Float, Integer, Text};
use super::columns::{Cell, Column, Kind, Table, columns};
use super::flow_tables::{flows, hops, plan_flows};
use crate::ids::{ChannelId, HostId};
use crate::metrics::loads::{load, utilisation};
use crate::metrics::shown::{class_columns, class_rows};

/// What tells a class; the columns behind are those of [`metrics::shown`](crate::metrics::shown).
const CLASSES: [(&str, Kind); 2] = [("class", Text), ("sl", Text)];

const CHANNELS: [(&str, Kind); 6] = [
    ("channel", Integer),
    ("from", Text),
    ("to", Text),
    ("lane", Integer),
    ("sent [flits]", Integer),
    ("utilisation [fraction]", Float),
];

/// Behind them, where switches drop.
const DROPPED: (&str, Kind) = ("dropped [packets]", Integer);

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

const CONGESTION: [(&str, Kind); 11] = [
    ("look [cycle]", Integer),
    ("roots [output lanes]", Integer),
    ("victims [output lanes]", Integer),
    ("victims_in_no_tree [output lanes]", Integer),
    ("channel", Integer),
    ("from", Text),
    ("to", Text),
    ("lane", Integer),
    ("size [output lanes]", Integer),
    ("depth [levels]", Integer),
    ("waiting [flits]", Integer),
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
    all.extend((!result.flow_results.is_empty()).then(|| plan_flows(result)));
    all.extend(result.hop_latencies.is_some().then(|| hops(result)));
    all.extend(result.congestion.is_some().then(|| congestion(result)));
    all.extend((!result.timeline.is_empty()).then(|| timeline(result)));
    all
}

/// `classes.csv`.
pub fn classes(result: &RunResult) -> Table<'_> {
    let kind = |is_whole| if is_whole { Integer } else { Float };
    let found = class_columns(result).into_iter();
    let found: Vec<_> = found
        .map(|column| Column::new(column.name, kind(column.is_whole)))
        .collect();
    let kinds: Vec<_> = found.iter().map(|column| column.kind).collect();
    let mut header = columns(&CLASSES);
    header.extend(found);
    Table::new("classes.csv", header, move |rows| {
        for (info, values) in result.classes.iter().zip(class_rows(result)) {
            let mut row: Vec<Cell<'_>> = vec![
                info.name.as_str().into(),
                service_levels(&info.service_levels).into(),
            ];
            row.extend(values.iter().zip(&kinds).map(|(value, kind)| match kind {
                Integer => value.as_u64().into(),
                _ => value.as_f64().into(),
            }));
            rows.row(&row)?;
        }
        Ok(())
    })
}

/// `channels.csv`: one row per channel and lane that carried flits; a channel that carried none has one row, of its first
/// lane. What has no row sent nothing.
pub fn channels(result: &RunResult) -> Table<'_> {
    let records = &result.records.channels;
    let drops = records.dropped(ChannelId(0)).is_some();
    let mut all = columns(&CHANNELS);
    if drops {
        all.extend(columns(&[DROPPED]));
    }
    Table::new("channels.csv", all, move |rows| {
        for (index, info) in result.channels.iter().enumerate() {
            let channel = ChannelId::from(index);
            let lanes = records.lanes(channel);
            let dropped = records.dropped(channel);
            let dropped = |lane: usize| dropped.map(|lanes| lanes[lane]);
            let is_told = |lane: usize| lanes[lane] > 0 || dropped(lane) > Some(0);
            let first = (0..lanes.len()).find(|&lane| is_told(lane)).unwrap_or(0);
            for (lane, &flits) in lanes.iter().enumerate() {
                if !is_told(lane) && lane != first {
                    continue;
                }
                let row = [
                    index.into(),
                    info.from.as_str().into(),
                    info.to.as_str().into(),
                    lane.into(),
                    flits.into(),
                    utilisation(result, channel, flits).into(),
                ];
                let dropped = dropped(lane).map(Cell::from);
                rows.row(&[&row[..], dropped.as_slice()].concat())?;
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

/// `congestion.csv`: one row per look and congestion tree, with the channel behind its root; a look without a tree has one
/// row. What tells the look is the same in all rows of it.
pub fn congestion(result: &RunResult) -> Table<'_> {
    Table::new("congestion.csv", columns(&CONGESTION), |rows| {
        for look in result.congestion.iter().flatten() {
            let told: [Cell<'_>; 4] = [
                look.cycle.into(),
                look.trees.len().into(),
                look.victims.into(),
                look.outside.into(),
            ];
            for tree in &look.trees {
                let channel = &result.channels[tree.channel.index()];
                let root: [Cell<'_>; 7] = [
                    tree.channel.index().into(),
                    channel.from.as_str().into(),
                    channel.to.as_str().into(),
                    tree.lane.into(),
                    tree.size.into(),
                    tree.depth.into(),
                    tree.flits.into(),
                ];
                rows.row(&[&told[..], &root].concat())?;
            }
            if look.trees.is_empty() {
                rows.row(&[&told[..], &[const { Cell::None }; 7]].concat())?;
            }
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
pub(super) fn service_levels(levels: &[u8]) -> String {
    let levels: Vec<String> = levels.iter().map(u8::to_string).collect();
    levels.join(" ")
}
