//! One packet watched: known cycles, agreement with the records of packets, and a run that is not changed by it.

mod flow;
mod lost;

use crate::program::virtlane;
use crate::runs::resolve;
use crate::validation::scenario;
use std::sync::atomic::AtomicBool;
use virtlane::cycle::Wanted;
use virtlane::cycle::mechanisms::packet_records::PacketRecords;
use virtlane::ids::HostId;
use virtlane::measure::{Delivery, Digest};
use virtlane::run::watch::{PacketName, Reason, Story, WatchError, What, watch};
use virtlane::run::{Options, Settings, Simulation};
use virtlane::scenario::Resolved;

/// Three switches in a line with a host each; links of 2 cycles, routing of 1 cycle, packets of 8 flits in lanes of 8.
const LINE: &str = r#"Scenario(
    title: "line", seed: 1,
    fabric: (topology: Mesh(radix: [3]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 1, lane_capacity: "8 flits", routing_delay: "1 cycles")),
    routing: DimensionOrder(),
    traffic: [(name: "bulk", pattern: AllTo(target: 2), process: Saturating(), size: "8 flits", packets: 2)],
    phases: (warmup: "0 cycles", measure: "200 cycles", drain: Auto),
)"#;

const TORUS: &str = r#"Scenario(
    title: "watched", seed: 3,
    fabric: (topology: Torus(radix: [4, 4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 2, lane_capacity: "16 flits", routing_delay: "2 cycles", crossbar_delay: "1 cycles")),
    routing: DimensionOrder(),
    traffic: [
        (name: "bulk", hosts: All, pattern: Uniform, process: Poisson(load: 0.6), size: "512 B", sl: 0),
        (name: "small", hosts: All, pattern: Uniform, process: Bernoulli(load: 0.1), size: "64 B", sl: 1),
    ],
    phases: (warmup: "300 cycles", measure: "1500 cycles", drain: Auto),
)"#;

/// Options with places and reasons of their own.
const OPTIONS: [&[&str]; 6] = [
    &[],
    &["fabric.switch.queues=Voq", "fabric.switch.input_speedup=2"],
    &["fabric.switch.output_lane_buffer=6 flits"],
    &[
        "fabric.switch.output_buffer=8 flits",
        "fabric.host.sink_rate=5 Gbit/s",
    ],
    &[
        "fabric.switch.matching=InputFirst",
        "fabric.switch.forwarding=StoreAndForward",
    ],
    &["routing=Goal()", "fabric.switch.lanes=3"],
];

fn look(resolved: &Resolved, name: PacketName, shards: usize) -> Result<Story, WatchError> {
    let settings = Settings {
        threads: Some(1),
        shards: Some(shards),
        ..Settings::default()
    };
    watch(resolved, name, settings, &AtomicBool::new(false))
}

fn packet(source: u32, sequence: u64) -> PacketName {
    PacketName {
        source: HostId(source),
        class: 0,
        sequence,
    }
}

type Line = (u64, u64, What, &'static str, Option<Reason>);

fn assert_events(story: &Story, expected: &[Line]) {
    let found: Vec<_> = story
        .events
        .iter()
        .map(|event| {
            (
                event.cycle,
                event.until,
                event.event,
                event.place.as_str(),
                event.reason,
            )
        })
        .collect();
    assert_eq!(found, expected);
}

/// Every cycle by hand from the model: a request at arrival + 1 (D1), a free output grants at once, the tail is 7
/// cycles behind the header, a link takes 2 cycles.
#[test]
fn a_packet_that_meets_another_is_told_cycle_by_cycle() {
    use What::{Arrives, Created, Delivered, Granted, Injected, Leaves, Requests, Waits};
    let resolved = resolve(LINE, &[]);
    for shards in [1, 2, 3] {
        // host 1 has its packet at S1 three cycles earlier: it holds the output to S2 in cycles 3 to 10
        let first = look(&resolved, packet(0, 0), shards).expect("it is made");
        assert_events(
            &first,
            &[
                (0, 0, Created, "H0", None),
                (0, 7, Injected, "H0", None),
                (2, 9, Arrives, "S0 port 3", None),
                (3, 3, Requests, "S0 port 3", None),
                (3, 3, Granted, "S0 port 1", None),
                (3, 10, Leaves, "S0 port 1", None),
                (5, 12, Arrives, "S1 port 2", None),
                (6, 6, Requests, "S1 port 2", None),
                (6, 10, Waits, "S1 port 2", Some(Reason::OutputBusy)),
                // the lane at S2 has 8 flits: those of the first packet leave in cycles 6 to 13, the last credit
                // counts 2 cycles later
                (11, 14, Waits, "S1 port 2", Some(Reason::NoCredit)),
                (15, 15, Granted, "S1 port 1", None),
                (15, 22, Leaves, "S1 port 1", None),
                (17, 24, Arrives, "S2 port 2", None),
                (18, 18, Requests, "S2 port 2", None),
                (18, 18, Granted, "S2 port 3", None),
                (18, 25, Leaves, "S2 port 3", None),
                (20, 27, Arrives, "H2", None),
                (27, 27, Delivered, "H2", None),
            ],
        );
        assert_eq!((first.delivered, first.hops), (Some(27), 2));
        // the second packet of host 1: its channel is busy to cycle 7, the 8 credits of the first, which leaves S1 in
        // cycles 3 to 10, are back in cycle 12
        let second = look(&resolved, packet(1, 1), shards).expect("it is made");
        assert_eq!((second.created, second.injected), (1, Some(12)));
        let waits = second
            .events
            .iter()
            .filter(|event| event.place == "H1" && event.event == Waits);
        let waits: Vec<_> = waits
            .map(|event| (event.cycle, event.until, event.reason))
            .collect();
        assert_eq!(
            waits,
            [
                (1, 7, Some(Reason::OutputBusy)),
                (8, 11, Some(Reason::NoCredit))
            ]
        );
    }
}

/// The plain run, up to a cycle.
fn run(resolved: &Resolved, options: Options, cycles: u64) -> Simulation {
    let graph = &resolved.layout.graph;
    let simulation = Simulation::new(&resolved.plan, graph, &resolved.routes, options);
    let mut simulation = simulation.expect("it starts");
    simulation.run_until(cycles).expect("there are no messages");
    simulation
}

/// The story of a packet against what the run has recorded of it; returns how often it waits.
fn assert_agrees(story: &Story, expected: &Delivery, what: &str) -> usize {
    assert_eq!(story.created, expected.created, "{what}");
    assert_eq!(story.injected, Some(expected.injected), "{what}");
    assert_eq!(story.delivered, Some(expected.delivered), "{what}");
    assert_eq!(story.destination, Some(expected.destination.0), "{what}");
    assert_eq!(story.size, Some(expected.size), "{what}");
    assert_eq!(story.hops, expected.hops, "{what}");
    let count = |what| {
        story
            .events
            .iter()
            .filter(|event| event.event == what)
            .count()
    };
    let switches = usize::from(expected.hops) + 1;
    for what in [What::Requests, What::Granted, What::Leaves] {
        assert_eq!(count(what), switches, "{what:?} {story:#?}");
    }
    assert_eq!(count(What::Arrives), switches + 1, "{what}");
    assert!(story.events.is_sorted_by_key(|event| event.cycle), "{what}");
    assert!(
        story.events.iter().all(|event| event.cycle <= event.until),
        "{what}"
    );
    count(What::Waits)
}

#[test]
fn watching_agrees_with_the_records_and_changes_nothing() {
    for (number, changes) in OPTIONS.into_iter().enumerate() {
        let resolved = resolve(TORUS, changes);
        let options = Options {
            wanted: Wanted {
                deliveries: true,
                order: false,
            },
            ..Options::default()
        };
        let whole = run(&resolved, options, 1800);
        let records = whole.each::<PacketRecords>().next();
        let all = records.expect("one shard").deliveries();
        let mut waits = 0;
        for (index, expected) in all.iter().step_by(all.len() / 4).enumerate() {
            let what = format!("{changes:?} {expected:?}");
            let name = PacketName {
                source: expected.source,
                class: expected.class,
                sequence: expected.sequence,
            };
            let shards = [1, 2, 4][(index + number) % 3];
            let story = look(&resolved, name, shards).expect("it is made");
            waits += assert_agrees(&story, expected, &what);
            // the same digest as a run that nobody watched, at the same cycle
            let mut digest = Digest::default();
            for records in run(&resolved, Options::default(), story.cycles).records() {
                digest.merge(records.measured.digest);
            }
            assert_eq!(story.digest, digest, "{what}");
        }
        assert!(waits > 3, "{changes:?}");
    }
}

#[test]
fn packets_that_are_never_made_are_refused() {
    let resolved = resolve(LINE, &[]);
    let error = |name| {
        look(&resolved, name, 1)
            .expect_err("there is none")
            .to_string()
    };
    assert_eq!(
        error(packet(0, 2)),
        "host 0 makes 2 packets of class `bulk` in 10200 cycles, numbered from 0: there is no number 2"
    );
    assert_eq!(
        error(packet(2, 0)),
        "host 2 sends no packets of class `bulk`"
    );
}

#[test]
fn packets_that_go_flit_by_flit_are_refused() {
    let resolved = resolve(LINE, &["fabric.switch.forwarding=Wormhole"]);
    let error = look(&resolved, packet(0, 0), 1).expect_err("it has no place of its own");
    let text = error.to_string();
    assert!(
        text.contains("fabric.switch.forwarding: Wormhole"),
        "{text}"
    );
}

#[test]
fn a_deadlock_ends_the_story() {
    let resolved = scenario("validation/ring_deadlock.ron", &[]);
    let story = look(&resolved, packet(0, 60), 2).expect("it is made");
    assert!(story.is_stuck && story.delivered.is_none());
    assert!(story.cycles < 100_000, "{}", story.cycles);
    let last = story.events.last().expect("it waits");
    assert_eq!((last.event, last.until), (What::Waits, story.cycles - 1));
}

#[test]
fn the_program_tells_a_table_or_json() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("line.ron"), LINE).expect("it can be written");
    let program =
        |arguments: &[&str]| virtlane(folder.path(), &[&["watch", "line.ron"], arguments].concat());
    let (code, table, _) = program(&["--packet", "0/bulk/0"]);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(table);
    let (_, json, _) = program(&["--packet", "0/0/0", "--format", "json"]);
    let story: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (story["delivered"].as_u64(), story["hops"].as_u64()),
        (Some(27), Some(2))
    );
    assert_eq!(story["events"][8]["reason"], "output_busy");
    for (id, said) in [
        (
            "0-bulk-0",
            "`0-bulk-0` is not HOST/CLASS/NUMBER, such as `12/bulk/345`",
        ),
        ("7/bulk/0", "there is no host 7, expected 0 to 2"),
        ("0/bluk/0", "unknown traffic class `bluk`"),
        ("0/bulk/9", "there is no number 9"),
    ] {
        let (code, _, error) = program(&["--packet", id]);
        assert_eq!(code, Some(2), "{id}");
        assert!(error.contains(said), "{error}");
    }
}
