//! Reports of a small made-up run.

use super::result::{
    ChannelInfo, ClassInfo, CycleCounts, Estimates, FabricInfo, HostInfo, RoutingInfo,
    ScenarioInfo, StageCost, TimelineRow,
};
use super::*;
use crate::ids::{ChannelId, HostId, VlId};
use crate::measure::precision::BatchMeans;
use crate::measure::records::MessageRecords;
use crate::measure::{Delivery, FlowLatencies, Records};
use crate::metrics::shown::{class_columns, class_rows};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

/// Two switches, three hosts, ten channels; two classes with packets and one without.
#[expect(clippy::too_many_lines, reason = "one literal")]
fn result() -> RunResult {
    RunResult {
        title: "made up, \"small\"".into(),
        fabric: FabricInfo {
            switches: 2,
            hosts: 3,
            channels: 8,
            diameter: 1,
        },
        routing: RoutingInfo {
            engine: "UpDown".into(),
            minimal: true,
            layers: 1,
            deadlock_free: true,
            unreachable_pairs: 0,
        },
        seed: 42,
        threads: 2,
        shards: 1,
        verdict: Verdict::Steady,
        reason: "accepted load follows offered load".into(),
        is_cut: false,
        length: Some("measurement of 1000 cycles: packet latency within 1.50 %".into()),
        backlog_growth: 2,
        present_growth: 16,
        precision: Estimates {
            confidence: 0.95,
            accepted: Some(means(0.8, 0.02)),
            network_latency: None,
            packet_latency: Some(means(30.0, 0.45)),
        },
        cycles: CycleCounts {
            warmup: 100,
            measure: 1000,
            drain: 20,
            total: 1120,
        },
        records: records(),
        classes: vec![
            class("bulk", &[0], &[0, 1, 2]),
            class("voice, low", &[1, 2], &[0]),
            class("management", &[], &[2]),
        ],
        hosts: hosts(),
        channels: channels(),
        flows: None,
        flow_latencies: None,
        hop_latencies: None,
        congestion: None,
        flow_results: Vec::new(),
        app_phases: Vec::new(),
        timeline: vec![TimelineRow {
            start: 0,
            length: 560,
            created_flits: 900,
            ..TimelineRow::default()
        }],
        stages: vec![StageCost {
            name: "Deliver".into(),
            share: 0.25,
            ns_per_cycle: 812.5,
        }],
        wall_seconds: 0.5,
        cpu_seconds: 0.875,
        peak_rss_bytes: 12_345_678,
        host_name: "somewhere".into(),
        identity: "0123456789abcdef0123456789abcdef".into(),
        scenario: ScenarioInfo {
            title: "made up, \"small\"".into(),
            cycle_ns: 51.2,
            flit_bytes: 64,
            reference_rate: 10_000_000_000,
        },
        plan: "Plan(title: \"made up\", seed: 42)".into(),
    }
}

fn means(mean: f64, half_width: f64) -> BatchMeans {
    BatchMeans {
        mean,
        half_width,
        batches: 15,
        batch_cycles: 66,
        correlation: 0.125,
        independent: true,
    }
}

fn class(name: &str, levels: &[u8], hosts: &[u32]) -> ClassInfo {
    ClassInfo {
        name: name.into(),
        service_levels: levels.to_vec(),
        hosts: hosts.iter().copied().map(HostId).collect(),
        messages: None,
        bounds: None,
        is_of_probes: false,
        judged: None,
    }
}

fn hosts() -> Vec<HostInfo> {
    (0..3)
        .map(|i| HostInfo {
            name: format!("H{i}"),
            cycles_per_flit: 1 + i % 2,
        })
        .collect()
}

fn channels() -> Vec<ChannelInfo> {
    let ends = [("H0", "S0"), ("H1", "S0"), ("H2", "S1"), ("S0", "S1")];
    let both = ends.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
    both.map(|(from, to)| ChannelInfo {
        from: from.into(),
        to: to.into(),
        cycles_per_flit: 1,
    })
    .collect()
}

fn records() -> Records {
    let mut records = Records::new(3, 3, 8, 2);
    let mut flows = FlowLatencies::new(3, [false, true, true]);
    for sequence in 0..100 {
        let class = usize::from(sequence % 5 == 4);
        let source = if class == 1 { 0 } else { sequence as u32 % 3 };
        let created = 100 + sequence * 9;
        let ends = [source, (source + 1) % 3].map(HostId);
        records.create(class, ends, 8, sequence == 50);
        if sequence == 50 {
            continue;
        }
        records.inject(class, 8);
        let delivery = Delivery {
            source: HostId(source),
            destination: HostId((source + 1) % 3),
            class: class as u16,
            sequence,
            size: 8,
            created,
            injected: created + sequence % 7,
            delivered: created + sequence % 7 + 12 + sequence * sequence % 11,
            hops: u16::from(source > 0),
            is_marked: sequence % 10 == 0,
            flow: None,
        };
        let in_window = delivery.delivered < 1100;
        records.arrive(class, ends, if in_window { 8 } else { 0 });
        records.deliver(&delivery, in_window, true, &mut flows);
        let channel = ChannelId(source * 2);
        records.channels.send(channel, VlId(class as u8), 8);
    }
    records.packet_hops = 165;
    records.flit_hops = 1320;
    records
}

/// A run interrupted before anything happened.
fn empty() -> RunResult {
    RunResult {
        records: Records::new(3, 3, 8, 2),
        cycles: CycleCounts::default(),
        wall_seconds: 0.0,
        cpu_seconds: 0.0,
        verdict: Verdict::Interrupted,
        reason: "stopped by the user".into(),
        stages: Vec::new(),
        congestion: None,
        flow_results: Vec::new(),
        app_phases: Vec::new(),
        timeline: Vec::new(),
        ..result()
    }
}

fn text(table: columns::Table<'_>) -> String {
    String::from_utf8(table.csv().unwrap()).unwrap()
}

#[test]
fn summary_follows_the_schema() {
    let json = summary_json(&result());
    insta::assert_snapshot!(json);
    let read = Summary::read(&json).unwrap();
    assert_eq!(read, summarize(&result()));
}

#[test]
fn summary_of_nothing_has_nulls_and_no_nan() {
    let json = summary_json(&empty());
    assert!(!json.contains("NaN") && !json.contains("inf"));
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(value["latency"]["network"]["mean"].is_null());
    assert_eq!(value["latency"]["network"]["count"], 0);
    assert_eq!(value["load"]["offered"], 0.0);
    assert_eq!(value["run"]["verdict"], "interrupted");
    assert!(value.get("stages").is_none());
}

#[test]
fn what_is_no_number_ends_no_run() {
    let mut odd = result();
    (odd.wall_seconds, odd.cpu_seconds) = (f64::NAN, f64::INFINITY);
    odd.precision.confidence = f64::NAN;
    odd.precision.accepted = Some(means(f64::NAN, 0.25));
    odd.precision.packet_latency = Some(means(30.0, f64::INFINITY));
    let summary = summarize(&odd);
    assert_eq!(summary, Summary::read(&summary_json(&odd)).unwrap());
    odd.wall_seconds = f64::MIN_POSITIVE * f64::EPSILON;
    let work = [summary.work, summarize(&odd).work];
    assert!(
        work.iter()
            .all(|work| work.cycles_per_second.abs() < f64::MIN_POSITIVE)
    );
    assert!(summary.work.wall_seconds.abs() < f64::MIN_POSITIVE);
}

#[test]
fn people_get_a_table() {
    insta::assert_snapshot!(human_table(&result()));
    insta::assert_snapshot!("table_of_nothing", human_table(&empty()));
}

#[test]
fn tables_open_without_a_parser() {
    insta::assert_snapshot!("classes_csv", text(tables::classes(&result())));
    insta::assert_snapshot!("channels_csv", text(tables::channels(&result())));
    insta::assert_snapshot!("hosts_csv", text(tables::hosts(&result())));
    insta::assert_snapshot!("timeline_csv", text(tables::timeline(&result())));
}

/// Columns of messages are behind all others, and there only where a class sends any.
#[test]
fn messages_have_columns_where_there_are_any() {
    let mut result = result();
    let without = text(tables::classes(&result));
    result.classes[1].messages = Some(5);
    result.records.classes[1].messages = Some(Box::new(MessageRecords {
        delivered: 4,
        last_delivery: 1004,
        ..MessageRecords::default()
    }));
    let with = text(tables::classes(&result));
    let added: Vec<_> = std::iter::zip(with.lines(), without.lines())
        .map(|(with, without)| with.strip_prefix(without).unwrap())
        .collect();
    assert!(added[0].starts_with(",messages [messages],messages_delivered [messages],"));
    assert!(added[0].contains(",message_latency_count [messages],message_latency_mean [cycles],"));
    assert_eq!(
        added[1..],
        [",,,,,,,,,,,", ",5,4,1004,0,,,,,,,", ",,,,,,,,,,,"]
    );
}

/// A value that is not what its entry says would be an empty cell.
#[test]
fn columns_of_classes_hold_what_they_say() {
    let result = result();
    let columns = class_columns(&result);
    for row in class_rows(&result) {
        assert_eq!(row.len(), columns.len());
        for (column, value) in columns.iter().zip(row) {
            let fits = value.is_null() || value.is_u64() || value.is_f64() && !column.is_whole;
            assert!(fits, "{}: {value}", column.name);
        }
    }
}

/// A lane without a row sent nothing, and every channel has a row that tells its ends.
#[test]
fn channels_have_rows_for_what_they_sent() {
    let result = result();
    let table = text(tables::channels(&result));
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    for channel in 0..result.channels.len() {
        let known = result.records.channels.lanes(ChannelId::from(channel));
        let mut found = vec![0; known.len()];
        let own = rows.iter().filter(|row| row[0] == channel.to_string());
        let own: Vec<_> = own.collect();
        for row in &own {
            found[row[3].parse::<usize>().unwrap()] = row[4].parse::<u64>().unwrap();
        }
        assert_eq!(found, known, "channel {channel}");
        let used = known.iter().filter(|&&flits| flits > 0).count();
        assert_eq!(own.len(), used.max(1), "channel {channel}");
    }
}

#[test]
fn histograms_are_read_back() {
    let result = result();
    let log = hlog::interval_log(&result).unwrap();
    let mut tags = Vec::new();
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(&log) {
        let Ok(LogEntry::Interval(interval)) = entry else {
            panic!("{entry:?}");
        };
        let encoded = interval.encoded_histogram();
        let bytes = decode_base64(encoded);
        let histogram: Histogram<u64> = deserializer.deserialize(&mut &bytes[..]).unwrap();
        let tag = interval.tag().unwrap().as_str().to_owned();
        if tag == "bulk.network" {
            let values = result.records.classes[0].network.values();
            assert_eq!(&histogram, values.histogram().inner());
        }
        tags.push(tag);
    }
    assert_eq!(
        tags,
        [
            "bulk.network",
            "bulk.packet",
            "voice__low.network",
            "voice__low.packet",
            "management.network",
            "management.packet",
        ]
    );
}

/// Standard base64 with padding.
fn decode_base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let symbols = text.bytes().filter(|&c| c != b'=');
    let values: Vec<u32> = symbols
        .map(|c| ALPHABET.iter().position(|&a| a == c).unwrap() as u32)
        .collect();
    let mut bytes = Vec::new();
    for group in values.chunks(4) {
        let bits = group.iter().fold(0, |bits, value| bits << 6 | value) << (6 * (4 - group.len()));
        bytes.extend(bits.to_be_bytes()[1..group.len()].iter());
    }
    bytes
}

#[test]
fn the_manifest_holds_the_plan_as_ron() {
    let text = manifest::manifest(&result()).unwrap();
    let version = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    insta::assert_snapshot!(text.replace(&version, "\"<version>\""));
    assert!(ron::from_str::<ron::Value>(&text).is_ok());
    let broken = RunResult {
        plan: "Plan(".into(),
        ..result()
    };
    assert!(manifest::manifest(&broken).is_err());
}

#[test]
fn the_trace_is_json() {
    let span = SpanRecord {
        name: "Route \"x\"".into(),
        tid: 3,
        start_us: 1.5,
        duration_us: 0.25,
    };
    let text = trace::chrome_trace(&[span.clone(), span]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["traceEvents"][1]["tid"], 3);
    assert_eq!(value["traceEvents"][0]["dur"], 0.25);
    let none: serde_json::Value = serde_json::from_str(&trace::chrome_trace(&[])).unwrap();
    assert_eq!(none["traceEvents"], serde_json::json!([]));
}

#[test]
fn a_run_directory_has_every_file() {
    let base = tempfile::tempdir().unwrap();
    let directory = RunDirectory::create_in(base.path(), "made up", 42).unwrap();
    write_run(&directory, &result(), None, &[]).unwrap();
    let path = directory.finish().unwrap();
    for file in [
        "manifest.ron",
        "summary.json",
        "latency.hlog",
        "classes.csv",
        "channels.csv",
        "hosts.csv",
        "timeline.csv",
    ] {
        assert!(path.join(file).is_file(), "{file}");
    }
    assert!(!path.join("trace.json").exists());
}

#[test]
fn the_system_tells_what_is_used() {
    let used = usage();
    assert!(used.cpu_seconds > 0.0);
    assert!(used.peak_rss_bytes > 1 << 20);
    assert!(!usage::host_name().is_empty());
}
