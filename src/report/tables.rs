//! CSV tables: one header line with units in brackets, then one row per class, channel and lane, host or interval.
//!
//! Empty cells mean "no value". Loads are fractions of the link rate.

use super::loads::{load, utilisation};
use super::summary::{ServiceLevels, mean_hops, summarize};
use super::{ReportError, RunResult};
use crate::ids::{ChannelId, HostId};
use crate::measure::LatencySummary;
use serde::Serialize;

#[derive(Serialize)]
struct ChannelRow<'a> {
    channel: usize,
    from: &'a str,
    to: &'a str,
    lane: usize,
    #[serde(rename = "sent [flits]")]
    flits: u64,
    #[serde(rename = "utilisation [fraction]")]
    utilisation: f64,
}

#[derive(Serialize)]
struct HostRow<'a> {
    host: usize,
    name: &'a str,
    #[serde(rename = "created [flits]")]
    created_flits: u64,
    #[serde(rename = "accepted [flits]")]
    accepted_flits: u64,
    #[serde(rename = "received [flits]")]
    received_flits: u64,
    #[serde(rename = "offered [fraction of link rate]")]
    offered: f64,
    #[serde(rename = "accepted [fraction of link rate]")]
    accepted: f64,
    #[serde(rename = "received [fraction of link rate]")]
    received: f64,
}

const CLASS_HEADER: [&str; 18] = [
    "class",
    "sl",
    "hosts",
    "offered [fraction of link rate]",
    "accepted [fraction of link rate]",
    "created [packets]",
    "injected [packets]",
    "delivered [packets]",
    "rejected [packets]",
    "dropped [packets]",
    "tagged [packets]",
    "tagged_delivered [packets]",
    "marked [packets]",
    "hops_mean [channels]",
    "hops_max [channels]",
    "jitter_mean [cycles]",
    "jitter_max [cycles]",
    "last_delivery [cycle]",
];

const LATENCY_COLUMNS: [&str; 8] = ["count", "mean", "std", "min", "p50", "p95", "p99", "max"];

/// `classes.csv`.
///
/// # Errors
/// When the table cannot be made.
pub fn classes(result: &RunResult) -> Result<Vec<u8>, ReportError> {
    let mut header: Vec<String> = CLASS_HEADER.map(String::from).to_vec();
    for clock in ["network", "packet"] {
        header.extend(LATENCY_COLUMNS.iter().map(|column| {
            let unit = if *column == "count" {
                "packets"
            } else {
                "cycles"
            };
            format!("{clock}_latency_{column} [{unit}]")
        }));
    }
    let summary = summarize(result);
    let infos = result.classes.iter().zip(&result.records.classes);
    let rows = infos.zip(&summary.classes).map(|((info, class), summary)| {
        let mut row = vec![
            info.name.clone(),
            service_levels(&summary.sl),
            info.hosts.len().to_string(),
            summary.offered.to_string(),
            summary.accepted.to_string(),
            class.created_packets.to_string(),
            class.injected_packets.to_string(),
            class.delivered_packets.to_string(),
            class.rejected.to_string(),
            class.dropped.to_string(),
            class.tagged_created.to_string(),
            class.tagged_delivered.to_string(),
            class.marked.to_string(),
            cell(mean_hops(&class.hops)),
            cell(class.hops.len().checked_sub(1)),
            cell(summary.jitter.mean),
            cell(summary.jitter.max),
            cell((class.last_delivery > 0).then_some(class.last_delivery)),
        ];
        row.extend(latency_cells(&summary.latency.network));
        row.extend(latency_cells(&summary.latency.packet));
        row
    });
    write("classes.csv", |writer| {
        writer.write_record(&header)?;
        rows.into_iter()
            .try_for_each(|row| writer.write_record(row))
    })
}

/// `channels.csv`: one row per channel and lane.
///
/// # Errors
/// When the table cannot be made.
pub fn channels(result: &RunResult) -> Result<Vec<u8>, ReportError> {
    write("channels.csv", |writer| {
        for (index, info) in result.channels.iter().enumerate() {
            let channel = ChannelId::from(index);
            let lanes = result.records.channels.lanes(channel);
            for (lane, &flits) in lanes.iter().enumerate() {
                writer.serialize(ChannelRow {
                    channel: index,
                    from: &info.from,
                    to: &info.to,
                    lane,
                    flits,
                    utilisation: utilisation(result, channel, flits),
                })?;
            }
        }
        Ok(())
    })
}

/// `hosts.csv`.
///
/// # Errors
/// When the table cannot be made.
pub fn hosts(result: &RunResult) -> Result<Vec<u8>, ReportError> {
    write("hosts.csv", |writer| {
        let records = result.records.hosts.iter();
        for (host, (info, record)) in result.hosts.iter().zip(records).enumerate() {
            let load = |flits| load(result, flits, &[HostId::from(host)]);
            writer.serialize(HostRow {
                host,
                name: &info.name,
                created_flits: record.created_flits,
                accepted_flits: record.accepted_flits,
                received_flits: record.received_flits,
                offered: load(record.created_flits),
                accepted: load(record.accepted_flits),
                received: load(record.received_flits),
            })?;
        }
        Ok(())
    })
}

/// `timeline.csv`.
///
/// # Errors
/// When the table cannot be made.
pub fn timeline(result: &RunResult) -> Result<Vec<u8>, ReportError> {
    write("timeline.csv", |writer| {
        let mut rows = result.timeline.iter();
        rows.try_for_each(|row| writer.serialize(row))
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

fn latency_cells(latency: &LatencySummary) -> [String; 8] {
    [
        latency.count.to_string(),
        cell(latency.mean),
        cell(latency.std),
        cell(latency.min),
        cell(latency.p50),
        cell(latency.p95),
        cell(latency.p99),
        cell(latency.max),
    ]
}

fn cell(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn write(
    file: &'static str,
    add_rows: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>,
) -> Result<Vec<u8>, ReportError> {
    let error = |reason: String| ReportError::Format { file, reason };
    let mut writer = csv::Writer::from_writer(Vec::new());
    add_rows(&mut writer).map_err(|cause| error(cause.to_string()))?;
    writer
        .into_inner()
        .map_err(|cause| error(cause.to_string()))
}
