//! Records of packets and flows: complete, the same however a run is made, and gone on with after a stop.

mod flows;

use assert_cmd::Command;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use virtlane::measure::{Flow, FlowRecord};
use virtlane::report::PacketFile;
use virtlane::run::outcome::Verdict;
use virtlane::run::{
    Checkpoint, Continuation, Keeping, Outcome, PacketSink, RunError, Settings, Start, execute_from,
};
use virtlane::scenario::{Document, Parts, Resolved};

const TORUS: &str = r#"Scenario(
    title: "records", seed: 5,
    fabric: (topology: Torus(radix: [4, 4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 2, lane_capacity: "32 flits", routing_delay: "1 cycles",
                      marking: (threshold: "16 flits"))),
    qos: (management_lane: true),
    routing: DimensionOrder(),
    traffic: [
        (name: "bulk", hosts: All, pattern: Uniform, process: Poisson(load: 0.3), size: "512 B", sl: 0),
        (name: "pairs, /2", hosts: All, pattern: Transpose(), process: Bernoulli(load: 0.1), size: "128 B", sl: 1),
        (name: "manage", hosts: All, pattern: Uniform, process: Bernoulli(load: 0.02), size: "64 B", sl: Management),
    ],
    phases: (warmup: "1000 cycles", measure: "20000 cycles", drain: Auto),
)"#;

fn resolve(changes: &[&str]) -> Resolved {
    let mut document = Document::parse("torus.ron", TORUS, Path::new("")).expect("a scenario");
    for change in changes {
        document.set(change).expect("the key exists");
    }
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}"))
}

/// A run with its packets in `file`; stopped at the first look from cycle `until` on, when that is given.
fn run(
    resolved: &Resolved,
    threads: usize,
    start: Start,
    until: Option<u64>,
    file: &Path,
) -> Result<Outcome, RunError> {
    let settings = Settings {
        threads: Some(threads),
        shards: Some(threads).filter(|_| matches!(start, Start::Fresh)),
        ..Settings::default()
    };
    let mut packets = PacketFile::asked_for(&resolved.plan, file.to_owned());
    let sink = packets.as_mut().map(|file| file as &mut dyn PacketSink);
    let continuation = Continuation {
        start,
        keeping: Some(Keeping {
            at_wall_time: true,
            file: file.with_extension("state"),
            every: None,
            warm: None,
            last: 0,
        }),
        packets: sink,
    };
    let stop = AtomicBool::new(false);
    let mut progress = |progress: virtlane::run::Progress| {
        let is_late = until.is_some_and(|until| progress.cycle >= until);
        stop.store(is_late, Ordering::Relaxed);
    };
    execute_from(resolved, settings, continuation, &mut progress, &stop)
}

/// A row of packets.csv.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
struct Packet {
    #[serde(rename = "packet")]
    id: String,
    class: String,
    sl: Option<u8>,
    source: u32,
    destination: u32,
    #[serde(rename = "size [flits]")]
    size: u64,
    #[serde(rename = "created [cycle]")]
    created: u64,
    #[serde(rename = "injected [cycle]")]
    injected: u64,
    #[serde(rename = "delivered [cycle]")]
    delivered: u64,
    #[serde(rename = "hops [channels]")]
    hops: u64,
    #[serde(rename = "network_latency [cycles]")]
    network: u64,
    #[serde(rename = "packet_latency [cycles]")]
    whole: u64,
    marked: bool,
    flow: Option<u64>,
}

fn packets(file: &Path) -> Vec<Packet> {
    let mut reader = csv::Reader::from_path(file).expect("it is there");
    reader
        .deserialize()
        .map(|row| row.expect("a row"))
        .collect()
}

#[test]
fn every_tagged_packet_has_a_row_whatever_threads_and_shards() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("packets");
    let plain = run(&resolve(&[]), 1, Start::Fresh, None, &file).expect("it runs");
    assert!(!file.exists(), "nothing was asked for");
    assert_eq!(plain.flows, None);
    let resolved = resolve(&["observe=(packets: All, flows: true)"]);
    let whole = run(&resolved, 1, Start::Fresh, None, &file).expect("it runs");
    assert_eq!(whole.records, plain.records, "looking changes nothing");
    let text = fs::read(&file).expect("it is there");
    for threads in [2, 4] {
        let again = run(&resolved, threads, Start::Fresh, None, &file).expect("it runs");
        assert_eq!(again.division.shards, threads);
        assert!(fs::read(&file).expect("it is there") == text, "{threads}");
        assert_eq!(again.flows, whole.flows);
    }
    let rows = packets(&file);
    for (number, class) in resolved.plan.classes.iter().enumerate() {
        let record = &whole.records.classes[number];
        let mine: Vec<_> = rows.iter().filter(|row| row.class == class.name).collect();
        let sum = |value: fn(&Packet) -> u64| mine.iter().map(|row| u128::from(value(row))).sum();
        assert_eq!(mine.len() as u64, record.tagged_delivered);
        assert_eq!(record.network.sum(), sum(|row| row.network));
        assert_eq!(record.packet.sum(), sum(|row| row.whole));
        assert_eq!(u128::from(record.marked), sum(|row| u64::from(row.marked)));
        let hops = record.hops.iter().enumerate();
        let hops: u64 = hops.map(|(hops, count)| hops as u64 * count).sum();
        assert_eq!(u128::from(hops), sum(|row| row.hops));
    }
    assert!(rows.iter().any(|row| row.marked) && rows.iter().any(|row| row.sl.is_none()));
    assert!(
        rows.iter().all(|row| row.flow.is_none()),
        "no class has flows"
    );
    for row in &rows {
        assert!((1000..21_000).contains(&row.created), "{row:?}");
        assert_eq!(row.delivered - row.injected, row.network, "{row:?}");
        assert_eq!(row.delivered - row.created, row.whole, "{row:?}");
        let (size, level) = match row.class.as_str() {
            "bulk" => (8, Some(0)),
            "manage" => (1, None),
            _ => (2, Some(1)),
        };
        assert_eq!((row.size, row.sl), (size, level), "{row:?}");
        assert!(
            row.id
                .starts_with(&format!("{}/{}/", row.source, row.class))
        );
    }
    assert!(rows.is_sorted_by_key(|row| (row.delivered, row.source)));
    let mut ids: Vec<_> = rows.iter().map(|row| &row.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), rows.len(), "an id names one packet");
}

#[test]
fn flows_are_sums_of_their_packets() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("packets");
    let resolved = resolve(&["observe=(packets: All, flows: true)"]);
    let outcome = run(&resolved, 2, Start::Fresh, None, &file).expect("it runs");
    let mut expected: BTreeMap<Flow, FlowRecord> = BTreeMap::new();
    for row in packets(&file) {
        let class = resolved.plan.classes.iter();
        let flow = Flow {
            class: class.take_while(|class| class.name != row.class).count() as u16,
            source: row.source,
            destination: row.destination,
        };
        let sum = expected.entry(flow).or_insert(FlowRecord {
            first_created: u64::MAX,
            ..FlowRecord::default()
        });
        sum.packets += 1;
        sum.flits += row.size;
        sum.marked += u64::from(row.marked);
        sum.hops += row.hops;
        sum.network_sum += u128::from(row.network);
        sum.network_max = sum.network_max.max(row.network);
        sum.packet_sum += u128::from(row.whole);
        sum.packet_max = sum.packet_max.max(row.whole);
        sum.first_created = sum.first_created.min(row.created);
        sum.last_delivered = sum.last_delivered.max(row.delivered);
    }
    let expected: Vec<_> = expected.into_iter().collect();
    assert!(expected.len() > 300, "{}", expected.len());
    assert_eq!(outcome.flows, Some(expected));
}

#[test]
fn a_sample_is_a_part_of_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("packets");
    let sample = |observe: &str| {
        let resolved = resolve(&[&format!("observe=({observe})")]);
        run(&resolved, 2, Start::Fresh, None, &file).expect("it runs");
        packets(&file)
    };
    let all = sample("packets: All");
    let number = |row: &Packet| -> u64 {
        let (_, number) = row.id.rsplit_once('/').expect("an id");
        number.parse().expect("a number")
    };
    let part = |keep: &dyn Fn(&Packet) -> bool| -> Vec<Packet> {
        all.iter().filter(|row| keep(row)).cloned().collect()
    };
    assert_eq!(
        sample("packets: Every(7)"),
        part(&|row| number(row) % 7 == 0)
    );
    assert_eq!(
        sample("packets: All, classes: [\"pairs, /2\"]"),
        part(&|row| row.sl == Some(1))
    );
    let drawn = sample("packets: Fraction(0.2)");
    let share = drawn.len() as f64 / all.len() as f64;
    assert!((share - 0.2).abs() < 0.02, "{share}");
    let ids: Vec<_> = drawn.iter().map(|row| &row.id).collect();
    assert_eq!(drawn, part(&|row| ids.contains(&&row.id)));
}

#[test]
fn a_stopped_run_goes_on_with_its_records() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, expected) = (folder.path().join("packets"), folder.path().join("all"));
    let resolved = resolve(&["observe=(packets: All, flows: true)"]);
    let whole = run(&resolved, 1, Start::Fresh, None, &expected).expect("it runs");
    let expected = fs::read(&expected).expect("it is there");
    for threads in [1, 2] {
        let mut start = Start::Fresh;
        // in the warm-up, in the measurement, and after what is written later than the checkpoint
        for until in [500, 4000, 12_000] {
            let outcome = run(&resolved, threads, start, Some(until), &file).expect("it stops");
            assert_eq!(outcome.verdict, Verdict::Interrupted);
            let state = Checkpoint::read(&file.with_extension("state")).expect("it is saved");
            start = Start::Resume(Box::new(state));
            let mut longer = fs::read(&file).expect("it is there");
            assert!(expected.starts_with(&longer), "{until}");
            longer.extend(b"what a run that was killed has written after its checkpoint\n");
            fs::write(&file, longer).expect("it can be written");
        }
        let ended = run(&resolved, threads, start, None, &file).expect("it ends");
        assert!(
            fs::read(&file).expect("it is there") == expected,
            "{threads}"
        );
        assert_eq!(ended.flows, whole.flows);
        assert_eq!(ended.records, whole.records);
    }
}

#[test]
fn records_that_do_not_belong_to_a_checkpoint_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("packets");
    let resolved = resolve(&["observe=(packets: All)"]);
    run(&resolved, 1, Start::Fresh, Some(8000), &file).expect("it stops");
    let state = Checkpoint::read(&file.with_extension("state")).expect("it is saved");
    let good = fs::read(&file).expect("it is there");
    let refusal = || {
        let start = Start::Resume(Box::new(state.clone()));
        match run(&resolved, 1, start, None, &file) {
            Err(RunError::Checkpoint(cause)) => cause.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let mut other = good.clone();
    other[300] ^= 1;
    fs::write(&file, other).expect("it can be written");
    assert!(refusal().ends_with("packets: it is that of another run, or was changed"));
    fs::write(&file, &good[..good.len() - 10]).expect("it can be written");
    let missing = format!("10 of {} bytes are missing", good.len());
    assert!(refusal().ends_with(&missing), "{}", refusal());
    fs::remove_file(&file).expect("it is there");
    assert!(refusal().contains("packets: No such file"), "{}", refusal());
}

/// Whether this is the name of a CSV file.
fn is_csv(name: impl AsRef<Path>) -> bool {
    name.as_ref().extension().is_some_and(|kind| kind == "csv")
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is there");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        let name = entry.expect("an entry").file_name();
        name.into_string().expect("text")
    };
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

#[test]
fn run_and_sweep_directories_hold_both_tables() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = ",\n    sweep: (axes: [(\"traffic.bulk.process.load\", [0.1, 0.2])]),\n)";
    let text = format!("{}{sweep}", TORUS.trim_end_matches(",\n)"));
    fs::write(folder.path().join("torus.ron"), text).expect("it can be written");
    let program = |arguments: &[&str]| {
        let mut command = Command::cargo_bin("virtlane").expect("it is built");
        command.current_dir(folder.path()).args(arguments).args([
            "--set",
            "observe=(packets: Every(3), flows: true)",
            "--quiet",
            "--out",
        ]);
        command
    };
    let run = program(&["run", "torus.ron", "--cycles", "2000"])
        .arg("run")
        .unwrap();
    assert!(run.status.success());
    let tables = [
        "channels.csv",
        "classes.csv",
        "flows.csv",
        "hosts.csv",
        "packets.csv",
        "timeline.csv",
    ];
    let csv = |folder: &Path| -> Vec<String> {
        let mut names = names(folder);
        names.retain(|name| is_csv(name));
        names
    };
    assert_eq!(csv(&folder.path().join("run")), tables);
    let rows = packets(&folder.path().join("run/packets.csv"));
    assert!(rows.len() > 100);
    program(&["sweep", "torus.ron"]).arg("study").unwrap();
    for run in names(&folder.path().join("study/runs")) {
        let run = folder.path().join("study/runs").join(run);
        assert_eq!(csv(&run), tables);
        assert!(packets(&run.join("packets.csv")).len() > 1000);
    }
    assert_eq!(names(folder.path()), ["run", "study", "torus.ron"]);
}

/// A row of flows.csv.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
struct FlowRow {
    class: String,
    source: u32,
    destination: u32,
    #[serde(rename = "delivered [packets]")]
    packets: u64,
    #[serde(rename = "delivered [flits]")]
    flits: u64,
    #[serde(rename = "marked [packets]")]
    marked: u64,
    #[serde(rename = "hops_mean [channels]")]
    hops: f64,
    #[serde(rename = "network_latency_mean [cycles]")]
    network: f64,
    #[serde(rename = "network_latency_max [cycles]")]
    network_max: u64,
    #[serde(rename = "packet_latency_mean [cycles]")]
    whole: f64,
    #[serde(rename = "packet_latency_max [cycles]")]
    whole_max: u64,
    #[serde(rename = "first_created [cycle]")]
    first_created: u64,
    #[serde(rename = "last_delivered [cycle]")]
    last_delivered: u64,
}

/// Every cell of flows.csv is what the rows of packets.csv come to.
#[test]
fn the_table_of_flows_says_what_that_of_packets_does() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("torus.ron"), TORUS).expect("it can be written");
    let mut command = Command::cargo_bin("virtlane").expect("it is built");
    let observe = "observe=(packets: All, flows: true)";
    let arguments = [
        "run",
        "torus.ron",
        "--cycles",
        "5000",
        "--quiet",
        "--set",
        observe,
        "--out",
        "run",
    ];
    command.current_dir(folder.path()).args(arguments).unwrap();
    let mut flows: BTreeMap<(String, u32, u32), Vec<Packet>> = BTreeMap::new();
    for packet in packets(&folder.path().join("run/packets.csv")) {
        let flow = (packet.class.clone(), packet.source, packet.destination);
        flows.entry(flow).or_default().push(packet);
    }
    let expected = flows
        .into_iter()
        .map(|((class, source, destination), packets)| {
            let all = |of: fn(&Packet) -> u64| packets.iter().map(of);
            let sum = |of| all(of).sum::<u64>();
            let mean = |of| sum(of) as f64 / packets.len() as f64;
            FlowRow {
                class,
                source,
                destination,
                packets: packets.len() as u64,
                flits: sum(|packet| packet.size),
                marked: sum(|packet| packet.marked.into()),
                hops: mean(|packet| packet.hops),
                network: mean(|packet| packet.network),
                network_max: all(|packet| packet.network).max().unwrap_or(0),
                whole: mean(|packet| packet.whole),
                whole_max: all(|packet| packet.whole).max().unwrap_or(0),
                first_created: all(|packet| packet.created).min().unwrap_or(0),
                last_delivered: all(|packet| packet.delivered).max().unwrap_or(0),
            }
        });
    let expected: Vec<FlowRow> = expected.collect();
    let mut reader = csv::Reader::from_path(folder.path().join("run/flows.csv")).expect("a table");
    let found = reader.deserialize().collect::<Result<Vec<FlowRow>, _>>();
    let mut found = found.expect("flows");
    let key = |row: &FlowRow| (row.class.clone(), row.source, row.destination);
    found.sort_by_key(key);
    assert!(found.len() > 100, "{}", found.len());
    assert!(found.iter().any(|row| row.marked > 0), "nothing is marked");
    assert_eq!(found, expected);
}

/// Whether a value is what the text of a CSV cell says, and what kind of value it is.
#[cfg(feature = "parquet")]
fn compare(value: &parquet::record::Field, text: &str) -> (bool, &'static str) {
    use parquet::record::Field;

    match value {
        Field::Null => (text.is_empty(), "nothing"),
        Field::Str(value) => (value == text, "text"),
        Field::Long(value) => (text.parse() == Ok(*value), "integer"),
        Field::Double(value) => (text.parse() == Ok(*value), "float"),
        Field::Bool(value) => (text.parse() == Ok(*value), "boolean"),
        other => panic!("{other:?}"),
    }
}

/// Every table of a folder in both forms: the same values, in columns of the types they have.
#[cfg(feature = "parquet")]
#[test]
fn parquet_holds_the_values_of_csv() {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    let folder = tempfile::tempdir().expect("a folder");
    let sweep = ",\n    sweep: (axes: [(\"traffic.bulk.process.load\", [0.1, 0.2])], seeds: 2),\n)";
    let text = format!("{}{sweep}", TORUS.trim_end_matches(",\n)"));
    fs::write(folder.path().join("torus.ron"), text).expect("it can be written");
    let mut command = Command::cargo_bin("virtlane").expect("it is built");
    let arguments = [
        "sweep",
        "torus.ron",
        "--set",
        "observe=(packets: All, flows: true)",
        "--quiet",
        "--out",
        "study",
    ];
    command.current_dir(folder.path()).args(arguments).unwrap();
    let study = folder.path().join("study");
    let mut tables = vec![study.join("sweep.csv")];
    for run in names(&study.join("runs")) {
        let run = study.join("runs").join(run);
        let files = names(&run).into_iter().filter(|name| is_csv(name));
        tables.extend(files.map(|file| run.join(file)));
    }
    flows::run(folder.path());
    tables.push(folder.path().join("run/packets.csv"));
    assert_eq!(tables.len(), 1 + 4 * 6 + 1);
    let mut kinds = std::collections::BTreeSet::new();
    for path in tables {
        let mut csv = csv::Reader::from_path(&path).expect("it is there");
        let header = csv.headers().expect("a header").clone();
        let file = fs::File::open(path.with_extension("parquet")).expect("it is there");
        let reader = SerializedFileReader::new(file).expect("Parquet");
        let mut rows = reader.get_row_iter(None).expect("rows");
        for expected in csv.records() {
            let expected = expected.expect("a row");
            let row = rows.next().expect("as many rows").expect("a row");
            assert_eq!(row.len(), header.len());
            for ((name, value), (column, text)) in
                row.get_column_iter().zip(header.iter().zip(&expected))
            {
                assert_eq!(name, column);
                let (is_same, kind) = compare(value, text);
                assert!(is_same, "{path:?} {name}: {value:?} and {text}");
                kinds.insert(kind);
            }
        }
        assert!(rows.next().is_none());
    }
    assert_eq!(kinds.len(), 5, "{kinds:?}");
}
