//! Runs that replay messages: the shipped trace, other threads and shards, stops in the middle, what is told.

use crate::program;
use crate::random_fabric::Dice;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use virtlane::cycle::Wanted;
use virtlane::cycle::mechanisms::packet_records::PacketRecords;
use virtlane::ids::HostId;
use virtlane::rng::{Purpose, stream};
use virtlane::run::outcome::Verdict;
use virtlane::run::{
    Checkpoint, Continuation, Keeping, Options, Outcome, Settings, Simulation, Start, execute_from,
};
use virtlane::scenario::{Document, Parts, Resolved};

const SCENARIO: &str = r#"Scenario(
    fabric: (topology: Torus(radix: [4, 4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 2, lane_capacity: "32 flits")),
    routing: DimensionOrder(),
    traffic: [
        (name: "data", messages: Trace(file: "trace.csv"), size: "512 B", sl: [1, 0]),
        (name: "background", pattern: Uniform, process: Bernoulli(load: 0.2), size: "256 B"),
        (name: "control", messages: Trace(file: "trace.csv"), size: "64 B"),
    ],
    phases: (warmup: "500 cycles", measure: Messages(at_most: "100000 cycles"), drain: Auto),
)"#;

/// Messages among 16 hosts over about 12,000 cycles, with delays longer than a step of the run.
fn trace() -> String {
    let mut dice = Dice(stream(7, Purpose::Pattern, 0));
    let mut text = String::from("time [cycles],source,destination,bytes,class,after\n");
    let (mut time, mut ends) = (0, Vec::new());
    for _ in 0..1500 {
        time += dice.between(0, 16);
        let source = dice.between(0, 15);
        let destination = (source + dice.between(1, 15)) % 16;
        let known = (0..).zip(&ends);
        let known = known.filter(|(_, (from, to))| *from == source || *to == source);
        let known: Vec<usize> = known.map(|(number, _)| number).collect();
        let mut after = String::new();
        while !known.is_empty() && dice.chance(40) {
            // near ones and far ones
            let number = dice.pick(&known[known.len().saturating_sub(8)..]);
            let delay = dice.pick(&[0, 0, 10, 6000]);
            let _ = write!(after, "{number}+{delay} ");
        }
        let class = dice.pick(&["data", "data", "control"]);
        let bytes = dice.between(0, 3000);
        let _ = writeln!(
            text,
            "{time},{source},{destination},{bytes},{class},{after}"
        );
        ends.push((source, destination));
    }
    text
}

fn resolve(folder: &Path) -> Resolved {
    std::fs::write(folder.join("trace.csv"), trace()).expect("writable");
    let document = Document::parse("messages.ron", SCENARIO, folder).expect("a scenario");
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}"))
}

/// Runs from `start`, to the end or until the first look at or after cycle `until`.
fn run(
    resolved: &Resolved,
    shape: (usize, usize),
    start: Start,
    until: u64,
    file: &Path,
) -> Outcome {
    let settings = Settings {
        shards: Some(shape.0),
        threads: Some(shape.1),
        check: true,
        ..Settings::default()
    };
    let keeping = Keeping {
        file: file.to_owned(),
        every: None,
        at_wall_time: true,
        warm: None,
        last: 0,
    };
    let continuation = Continuation {
        start,
        keeping: Some(keeping),
        packets: None,
    };
    let stop = AtomicBool::new(false);
    let mut look = |progress: virtlane::run::Progress| {
        stop.store(progress.cycle >= until, Ordering::Relaxed);
    };
    execute_from(resolved, settings, continuation, &mut look, &stop).expect("it runs")
}

#[test]
fn threads_shards_and_stops_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let resolved = resolve(folder.path());
    let file = folder.path().join("state");
    let never = u64::MAX;
    let whole = run(&resolved, (1, 1), Start::Fresh, never, &file);
    assert_eq!(whole.verdict, Verdict::Complete, "{}", whole.reason);
    let delivered = |class: usize| {
        let messages = whole.records.classes[class].messages.as_ref();
        messages.map_or(0, |messages| messages.delivered)
    };
    assert_eq!(delivered(0) + delivered(2), 1500);
    assert_eq!(Some(delivered(0)), resolved.plan.classes[0].messages);
    let length = whole.length.clone().expect("it finds its length");
    assert!(
        length.contains("1500 of 1500 messages delivered"),
        "{length}"
    );
    for shape in [(2, 1), (5, 2), (16, 2)] {
        let other = run(&resolved, shape, Start::Fresh, never, &file);
        assert_eq!(other.records, whole.records, "{shape:?}");
        assert_eq!(other.cycles, whole.cycles, "{shape:?}");
    }
    for (until, shape) in [
        (1, (1, 1)),
        (3000, (4, 1)),
        (9000, (3, 2)),
        (14_000, (1, 1)),
    ] {
        let stopped = run(&resolved, shape, Start::Fresh, until, &file);
        assert_eq!(stopped.verdict, Verdict::Interrupted, "{until}");
        let state = Checkpoint::read(&file).expect("just written");
        let resumed = run(
            &resolved,
            shape,
            Start::Resume(Box::new(state)),
            never,
            &file,
        );
        assert_eq!(resumed.records, whole.records, "{until} {shape:?}");
        assert_eq!(resumed.cycles, whole.cycles, "{until} {shape:?}");
        assert_eq!(resumed.length, whole.length, "{until} {shape:?}");
    }
}

/// Two sources of messages, of which the second waits for a delivery that a message of the first, read far ahead, does
/// not.
const TWO_SOURCES: &str = r#"Scenario(
    fabric: (topology: Torus(radix: [4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 2, lane_capacity: "32 flits")),
    routing: DimensionOrder(),
    traffic: [
        (name: "other", messages: Trace(file: "other.csv"), size: "64 B"),
        (name: "bulk", messages: Trace(file: "bulk.csv"), size: "64 B"),
    ],
    phases: (warmup: "0 cycles", measure: Messages(at_most: "20000 cycles"), drain: Auto),
)"#;

#[test]
fn messages_of_several_sources_are_merged_by_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("writable");
    };
    let header = "time [cycles],source,destination,bytes,after\n";
    write("other.csv", &format!("{header}0,2,3,64,\n3900,2,3,64,\n"));
    write(
        "bulk.csv",
        &format!("{header}0,0,1,64,\n3000,0,1,64,0+3500\n"),
    );
    let document = Document::parse("two.ron", TWO_SOURCES, folder.path()).expect("a scenario");
    let resolved = document.resolve(&Parts::registered());
    let resolved = resolved.unwrap_or_else(|error| panic!("{error}"));
    let file = folder.path().join("state");
    let outcome = run(&resolved, (1, 1), Start::Fresh, u64::MAX, &file);
    let bulk = outcome.records.classes[1].messages.as_ref();
    let bulk = bulk.expect("the class sends messages");
    assert_eq!(bulk.delivered, 2);
    // released 3,500 cycles after the first has arrived
    assert!((3500..3560).contains(&bulk.last_delivery), "{bulk:?}");
    let other = outcome.records.classes[0].messages.as_ref();
    let last = other.map(|other| other.last_delivery);
    assert!(last.is_some_and(|last| (3900..3960).contains(&last)));
}

fn virtlane(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let (code, output, errors) = program::virtlane(folder, arguments);
    (code, output + &errors)
}

/// A folder with the scenario and its trace.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    resolve(folder.path());
    std::fs::write(folder.path().join("messages.ron"), SCENARIO).expect("writable");
    folder
}

#[test]
fn a_run_that_is_too_short_says_what_is_left() {
    let folder = folder();
    let bound = "phases.measure=Messages(at_most: \"4096 cycles\")";
    let arguments = [
        "run",
        "messages.ron",
        "--set",
        bound,
        "--out",
        "run",
        "--quiet",
    ];
    let (code, _) = virtlane(folder.path(), &arguments);
    assert_eq!(code, Some(0));
    let summary = std::fs::read_to_string(folder.path().join("run/summary.json")).expect("there");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
    assert_eq!(summary["run"]["verdict"], "incomplete");
    let reason = summary["run"]["reason"].as_str().expect("a text");
    assert!(
        reason.starts_with("the bound of the measurement came first"),
        "{reason}"
    );
    let data = &summary["classes"][0]["messages"];
    let (count, delivered) = (data["count"].as_u64(), data["delivered"].as_u64());
    assert!(delivered > Some(100) && delivered < count, "{data}");
    assert!(data["latency"]["mean"].as_f64() > Some(20.0), "{data}");
    assert!(summary["classes"][1].get("messages").is_none());
}

#[test]
fn a_sweep_tells_when_the_messages_were_delivered() {
    let folder = folder();
    let axes = "sweep=(axes: [(\"traffic.background.process.load\", [0.05, 0.3])], seeds: 2)";
    let arguments = [
        "sweep",
        "messages.ron",
        "--set",
        axes,
        "--out",
        "study",
        "--quiet",
    ];
    let (code, text) = virtlane(folder.path(), &arguments);
    assert_eq!(code, Some(0), "{text}");
    let table = csv::Reader::from_path(folder.path().join("study/sweep.csv"));
    let mut table = table.expect("a sweep has a table");
    let header = table.headers().expect("readable").clone();
    let place = |name: &str| header.iter().position(|column| column == name);
    let last = place("classes.data.messages.last_delivery [cycle]").expect("a column");
    let mean = place("classes.control.messages.latency.mean [cycles]").expect("a column");
    assert_eq!(
        place("classes.background.messages.delivered [messages]"),
        None
    );
    let rows: Vec<_> = table.records().map(|row| row.expect("readable")).collect();
    let value = |row: usize, column: usize| rows[row][column].parse::<f64>().expect("a number");
    assert!(value(0, last) > 10_000.0 && value(1, last) > 10_000.0);
    // more traffic beside them: messages take longer
    assert!(value(1, mean) > value(0, mean) + 1.0);
}

#[test]
fn a_packet_of_a_message_can_be_watched() {
    let folder = folder();
    // the fortieth packet of this host is made after others with higher numbers
    let watch = ["watch", "messages.ron", "--packet", "3/data/40"];
    let (code, story) = virtlane(folder.path(), &watch);
    assert_eq!(code, Some(0), "{story}");
    assert!(story.contains("delivered"), "{story}");
    let watch = ["watch", "messages.ron", "--packet", "3/data/4000"];
    let (code, errors) = virtlane(folder.path(), &watch);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("there is no number 4000"), "{errors}");
}

/// Two hosts whose messages go on two levels, each with a lane of its own.
const LEVELS: &str = r#"Scenario(
    fabric: (topology: EdgeList(switches: 2, links: [(0, 1)], hosts: [("a", 0), ("b", 0), ("c", 0), ("d", 1)]), flit: "64 B",
             link: (rate: "10 Gbit/s", latency: "2 cycles"), switch: (lanes: 2, lane_capacity: "32 flits")),
    routing: UpDown(),
    traffic: [(name: "data", messages: Trace(file: "trace.csv"), size: "128 B", sl: [0, 1])],
    phases: (warmup: "0 cycles", measure: "200 cycles"),
)"#;

/// Host a sends four packets, then three, and one when its first message is sent; host b one. Packets are two flits.
const TRACE: &str = "time [cycles],source,destination,bytes,class,after
0,0,1,512,data,
0,1,0,128,data,
0,0,2,384,data,
0,0,1,128,data,0
";

/// Cycles in which the packets of host a start, in their order.
fn starts(changes: &[&str]) -> Vec<u64> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("trace.csv"), TRACE).expect("writable");
    let document = Document::parse("levels.ron", LEVELS, folder.path());
    let mut document = document.expect("a scenario");
    for change in changes {
        document.set(change).expect("the key exists");
    }
    let resolved = document.resolve(&Parts::registered());
    let resolved = resolved.unwrap_or_else(|error| panic!("{error}"));
    let options = Options {
        threads: 1,
        shards: 2,
        wanted: Wanted {
            deliveries: true,
            order: false,
        },
        ..Options::default()
    };
    let graph = &resolved.layout.graph;
    let simulation = Simulation::new(&resolved.plan, graph, &resolved.routes, options);
    let mut simulation = simulation.expect("threads start");
    simulation.run_until(200).expect("readable messages");
    let mut found = Vec::new();
    for packets in simulation.each::<PacketRecords>() {
        let own = packets
            .deliveries()
            .iter()
            .filter(|one| one.source == HostId(0));
        found.extend(own.map(|one| (one.sequence, one.injected)));
    }
    found.sort_unstable();
    found.into_iter().map(|(_, cycle)| cycle).collect()
}

/// The packets of message 0 are made in 0 to 3, those of message 2 in 4 to 6. On two lanes they take turns from 4 on, and message 0 is
/// sent in 12, when the last of its packets has left the channel; on one they go one behind the other, and it is sent in 8. Messages of a
/// host have their levels in turn, whatever other hosts send.
#[test]
fn messages_of_a_host_have_levels_in_turn() {
    assert_eq!(starts(&[]), [0, 2, 6, 10, 4, 8, 12, 14]);
    let one_behind_the_other = [0, 2, 4, 6, 8, 10, 12, 14];
    assert_eq!(starts(&["traffic.data.sl=1"]), one_behind_the_other);
}
