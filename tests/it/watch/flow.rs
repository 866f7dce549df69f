//! One flow watched: known cycles, agreement with the deliveries, no cycle without a reason, and a run that is not changed.

use super::{LINE, resolve, run};
use crate::program::virtlane;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use virtlane::cycle::Wanted;
use virtlane::cycle::mechanisms::packet_records::PacketRecords;
use virtlane::measure::{Delivery, Digest};
use virtlane::run::watch::{FlowStory, FlowWhat, Hold, WatchError, watch_flow};
use virtlane::run::{Options, Settings};
use virtlane::scenario::Resolved;

/// The line of three hosts with flows in place of its class.
fn line(host: &str, flows: &str) -> Resolved {
    let from = LINE.find("traffic:").expect("it has traffic");
    let until = LINE.find("phases:").expect("it has phases");
    let traffic =
        format!("traffic: [(name: \"bulk\", flows: [{flows}], size: \"8 flits\")],\n    ");
    let text = format!("{}{traffic}{}", &LINE[..from], &LINE[until..]);
    resolve(&text, &[&format!("fabric.host=({host})")])
}

fn look(resolved: &Resolved, id: u32, shards: usize) -> Result<FlowStory, WatchError> {
    let settings = Settings {
        threads: Some(1),
        shards: Some(shards),
        ..Settings::default()
    };
    watch_flow(resolved, id, 0..u64::MAX, settings, &AtomicBool::new(false))
}

type Line = (u64, u64, FlowWhat, &'static str, Option<Hold>, &'static str);

fn assert_events(story: &FlowStory, expected: &[Line]) {
    let found = story.events.iter().map(|event| {
        let place = event.place.as_str();
        let detail = event.detail.as_str();
        (
            event.cycle,
            event.until,
            event.event,
            place,
            event.reason,
            detail,
        )
    });
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

/// From the model: a packet alone is granted 3, 6 and 9 cycles after its start (2 cycles of link, 1 of routing each) and
/// delivered 11 + 7 after it; the window opens 10 cycles later.
#[test]
fn a_window_is_told_cycle_by_cycle() {
    use FlowWhat::{Acknowledged, Begins, Complete, Delivered, Granted, Starts, Waits};
    let resolved = line(
        "",
        "(pairs: List(pairs: [(0, 2)]), bytes: \"13 flits\", start: \"5 cycles\", window: 1, acknowledgement: \"10 cycles\")",
    );
    for shards in [1, 2, 3] {
        let story = look(&resolved, 0, shards).expect("there is one");
        assert_events(
            &story,
            &[
                (
                    0,
                    4,
                    Waits,
                    "H0",
                    Some(Hold::NotBegun),
                    "it starts in cycle 5",
                ),
                (
                    5,
                    5,
                    Begins,
                    "H0",
                    None,
                    "13 flits for H2, no limit, window 1",
                ),
                (5, 12, Starts, "H0", None, "8 flits, 1 of 1 outstanding"),
                (8, 8, Granted, "S0 port 1", None, ""),
                (11, 11, Granted, "S1 port 1", None, ""),
                (
                    13,
                    32,
                    Waits,
                    "H0",
                    Some(Hold::Window),
                    "1 of 1 packets outstanding",
                ),
                (14, 14, Granted, "S2 port 3", None, ""),
                (23, 23, Delivered, "H2", None, "network latency 18 cycles"),
                (33, 33, Acknowledged, "H0", None, "1, 0 of 1 outstanding"),
                (
                    33,
                    37,
                    Starts,
                    "H0",
                    None,
                    "5 flits, 1 of 1 outstanding, its last",
                ),
                (36, 36, Granted, "S0 port 1", None, ""),
                (39, 39, Granted, "S1 port 1", None, ""),
                (42, 42, Granted, "S2 port 3", None, ""),
                (48, 48, Delivered, "H2", None, "network latency 15 cycles"),
                (48, 48, Complete, "H2", None, "after 43 cycles"),
            ],
        );
        assert_eq!((story.started, story.delivered), (2, 2));
        assert_eq!((story.start, story.complete), (Some(5), Some(48)));
        assert_eq!(story.cycles, 49, "it ends with the flow");
    }
}

/// Two flows take turns. The first packet goes at 0 and its credits are back at 12 (the test of packets), so the second
/// waits for flow 0 to cycle 7 and then for credits: 4 of 8 are there at 8.
#[test]
fn why_another_goes_is_told() {
    let two = "(pairs: List(pairs: [(0, 2), (0, 2)]), bytes: \"16 flits\")";
    let resolved = line("scheduler: RoundRobin", two);
    let waits = |id| {
        let story = look(&resolved, id, 2).expect("there is one");
        let waits = story
            .events
            .into_iter()
            .filter(|event| event.reason.is_some());
        let lines = waits.map(|event| (event.cycle, event.until, event.reason, event.detail));
        lines.collect::<Vec<_>>()
    };
    let reason = |cycles: (u64, u64), reason, words: &str| {
        (cycles.0, cycles.1, Some(reason), String::from(words))
    };
    assert_eq!(
        waits(1)[..2],
        [
            reason((0, 7), Hold::Scheduler, "flow 0 goes"),
            reason((8, 11), Hold::NoCredit, "8 credits needed, 4 in cycle 8"),
        ]
    );
    assert_eq!(
        waits(0)[0],
        reason((8, 11), Hold::Scheduler, "flow 1 is picked")
    );
}

/// A packet of 8 flits at a quarter of the link takes 32 cycles; from cycle 40 on at an eighth: the packet of cycle 32 takes
/// 64 from its start on.
#[test]
fn limits_and_their_changes_are_told() {
    use FlowWhat::{Begins, Limit, Starts, Waits};

    let resolved = line(
        "",
        "(pairs: List(pairs: [(0, 1)]), bytes: \"24 flits\", limit: Rate(0.25), changes: [(\"40 cycles\", Rate(0.125))])",
    );
    let story = look(&resolved, 0, 1).expect("there is one");
    let at_host = story.events.iter().filter(|event| event.place == "H0");
    let told = at_host.map(|event| (event.cycle, event.until, event.event, event.detail.as_str()));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            (
                0,
                0,
                Begins,
                "24 flits for H1, limit 0.2500 flits per cycle"
            ),
            (0, 7, Starts, "8 flits, the next from cycle 32 on"),
            (
                8,
                31,
                Waits,
                "limit 0.2500 flits per cycle: from cycle 32 on"
            ),
            (32, 39, Starts, "8 flits, the next from cycle 64 on"),
            (40, 40, Limit, "limit 0.1250 flits per cycle"),
            (
                40,
                95,
                Waits,
                "limit 0.1250 flits per cycle: from cycle 96 on"
            ),
            (96, 103, Starts, "8 flits, its last"),
        ]
    );
}

/// Flows of every kind on two lanes, beside packets of no flow.
const MIXED: &str = r#"Scenario(
    title: "watched", seed: 3,
    fabric: (topology: Torus(radix: [3, 3]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 4, lane_capacity: "16 flits", routing_delay: "1 cycles", marking: InfiniBand(threshold: 15))),
    routing: DimensionOrder(),
    traffic: [
        (name: "plain", hosts: All, pattern: Uniform, process: Poisson(load: 0.1), size: "4 flits", sl: 0),
        (name: "held", flows: [
            (pairs: AllToAll(), bytes: "100 flits", limit: Rate(0.06), window: 2),
            (pairs: PerHost(count: 2), process: Poisson(load: 0.1), limit: Rate(0.3), stop: "700 cycles"),
         ], size: Mixed([("8 flits", 1), ("3 flits", 1)]), sl: 0),
        (name: "told", flows: [(pairs: Incast(to: 4), start: "50 cycles")], size: "8 flits", sl: 1,
         control: CONTROL, answers: (size: "1 flits", sl: 0)),
    ],
    phases: (warmup: "100 cycles", measure: "900 cycles", drain: Auto),
)"#;

/// Schedulers and algorithms that hold flows in ways of their own.
const KINDS: [(&str, &str); 6] = [
    (
        "Fifo",
        "InfiniBand(timer: \"200 cycles\", table: Linear(most: 40, shift: 2), limit: 20, increase: 5)",
    ),
    ("RoundRobin", "Window(aimd: true, start: 2, most: 6)"),
    (
        "WeightedRoundRobin(Flits)",
        "InfiniBand(timer: \"200 cycles\", table: Linear(most: 40, shift: 2), limit: 20, increase: 5, per: ServiceLevel)",
    ),
    ("VirtualClock", "Dcqcn()"),
    ("Paced", "Window(window: 3)"),
    (
        "LeakyBucket",
        "RequestReply(request: 2, reply: 3, outstanding: 1)",
    ),
];

fn mixed(scheduler: &str, control: &str) -> Resolved {
    let text = MIXED.replace("CONTROL", control);
    resolve(&text, &[&format!("fabric.host.scheduler={scheduler}")])
}

/// The packets of the flow itself: their starts and their deliveries, by name.
fn packets(story: &FlowStory) -> BTreeMap<String, (u64, Option<u64>)> {
    let own = format!("{}/{}/", story.source, story.class);
    let mut packets = BTreeMap::new();
    for event in &story.events {
        let name = event.packet.as_ref().filter(|name| name.starts_with(&own));
        match (name, event.event) {
            (Some(name), FlowWhat::Starts) => {
                assert_eq!(packets.insert(name.clone(), (event.cycle, None)), None);
            }
            (Some(name), FlowWhat::Delivered) => {
                packets.get_mut(name).expect("it has started").1 = Some(event.cycle);
            }
            _ => {}
        }
    }
    packets
}

/// Every cycle from 0 to the last start is one in which a packet of the flow is on its host's channel, or one with a
/// reason, never both.
fn assert_no_gap(story: &FlowStory, what: &str) {
    let mut next = 0;
    let own = format!("{}/{}/", story.source, story.class);
    for event in &story.events {
        let is_start = event.event == FlowWhat::Starts
            && event
                .packet
                .as_ref()
                .is_some_and(|name| name.starts_with(&own));
        if is_start || event.reason.is_some() {
            assert_eq!(event.cycle, next, "{what}: {event:?}");
            next = event.until + 1;
        }
    }
}

#[test]
fn watching_a_flow_agrees_with_the_deliveries_and_changes_nothing() {
    let mut reasons = std::collections::BTreeSet::new();
    for (number, (scheduler, control)) in KINDS.into_iter().enumerate() {
        let resolved = mixed(scheduler, control);
        let wanted = Wanted {
            deliveries: true,
            order: false,
        };
        let options = Options {
            wanted,
            ..Options::default()
        };
        let whole = run(&resolved, options, 12_000);
        let records = whole.each::<PacketRecords>().next().expect("one shard");
        let flows = resolved.plan.flows.len() as u32;
        // of each entry; host 4 answers
        for id in [0, 33, 9 * 8, 9 * 8 + 9, flows - 8, flows - 1] {
            let what = format!("{scheduler}, flow {id}");
            let story =
                look(&resolved, id, [1, 2, 3][(id as usize + number) % 3]).expect("there is one");
            let class = resolved.plan.flows[id as usize].class;
            let is_its = |packet: &&Delivery| packet.flow == Some(id) && packet.class == class;
            let deliveries = records.deliveries().iter().filter(is_its);
            let expected: BTreeMap<String, (u64, Option<u64>)> = deliveries
                .filter(|packet| packet.injected < story.cycles)
                .map(|packet| {
                    let name = format!("{}/{}/{}", packet.source.0, story.class, packet.sequence);
                    let delivered = Some(packet.delivered).filter(|&at| at < story.cycles);
                    (name, (packet.injected, delivered))
                })
                .collect();
            assert_eq!(packets(&story), expected, "{what}");
            assert!(expected.len() > 1, "{what}");
            assert_no_gap(&story, &what);
            assert!(story.events.is_sorted_by_key(|event| event.cycle), "{what}");
            reasons.extend(
                story
                    .events
                    .iter()
                    .filter_map(|event| event.reason)
                    .map(|reason| format!("{reason:?}")),
            );
            let mut digest = Digest::default();
            for records in run(&resolved, Options::default(), story.cycles).records() {
                digest.merge(records.measured.digest);
            }
            assert_eq!(story.digest, digest, "{what}");
        }
    }
    // every reason was met
    assert_eq!(reasons.len(), 11, "{reasons:?}");
}

/// Runs `watch` on a scenario.
fn program(text: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("flows.ron"), text).expect("it can be written");
    virtlane(
        folder.path(),
        &[&["watch", "flows.ron"], arguments].concat(),
    )
}

/// Two flows meet at the host in the middle, under InfiniBand's control.
const MARKED: &str = r#"Scenario(
    title: "marked", seed: 1,
    fabric: (topology: Mesh(radix: [3]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 2, lane_capacity: "32 flits", routing_delay: "1 cycles", marking: InfiniBand(threshold: 15))),
    routing: DimensionOrder(),
    traffic: [(name: "bulk", flows: [(pairs: List(pairs: [(0, 1), (2, 1)]), bytes: "200 flits")], size: "8 flits",
               control: InfiniBand(timer: "60 cycles", table: Linear(most: 8, shift: 2), limit: 4),
               answers: (size: "1 flits", sl: 1))],
    phases: (warmup: "0 cycles", measure: "1000 cycles", drain: Auto),
)"#;

#[test]
fn a_flow_under_infiniband_control_is_told_as_a_table() {
    let (code, table, _) = program(MARKED, &["--flow", "0", "--until", "120"]);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(table);
    let (_, json, _) = program(MARKED, &["--flow", "0", "--from", "30", "--format", "json"]);
    let story: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&story["class"], &story["delivered"]),
        (&"bulk".into(), &25.into())
    );
    let events = story["events"].as_array().expect("events");
    assert!(
        events
            .iter()
            .all(|event| event["until"].as_u64() >= Some(30))
    );
    let is_gate = |event: &serde_json::Value| event["reason"] == "limit";
    assert!(events.iter().any(is_gate) && events.iter().any(|event| event["event"] == "control"));
}

#[test]
fn flows_that_are_not_there_are_refused() {
    for (text, arguments, said) in [
        (
            MARKED,
            &["--flow", "2"][..],
            "--flow: there is no flow 2, expected 0 to 1",
        ),
        (
            LINE,
            &["--flow", "0"],
            "--flow: no class of the scenario has `flows`",
        ),
        (
            MARKED,
            &["--flow", "0/bulk"],
            "expected the id of a flow: a number from 0, as in the column `flow` of flows.csv",
        ),
        (
            MARKED,
            &["--flow", "0", "--from", "9", "--until", "9"],
            "--until: 9 is not after the first cycle that is told, 9",
        ),
        (
            MARKED,
            &["--flow", "0", "--packet", "0/bulk/0"],
            "cannot be used with",
        ),
        (
            MARKED,
            &["--packet", "0/bulk/0", "--from", "3"],
            "cannot be used with",
        ),
        (MARKED, &[], "required"),
    ] {
        let (code, _, error) = program(text, arguments);
        assert_eq!(code, Some(2), "{arguments:?}");
        assert!(error.contains(said), "{error}");
    }
}

/// Packets of a process, more than its limit lets go.
const HELD: &str = r#"Scenario(
    title: "held", seed: 1,
    fabric: (topology: Mesh(radix: [3]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 1, lane_capacity: "32 flits", routing_delay: "1 cycles"), host: (flow_queue: 2)),
    routing: DimensionOrder(),
    traffic: [(name: "bulk", flows: [(pairs: List(pairs: [(0, 1)]), process: ConstantRate(load: 0.5, phase: Zero), limit: Rate(0.1))],
               size: "8 flits")],
    phases: (warmup: "0 cycles", measure: "1000 cycles", drain: Auto),
)"#;

/// A packet that its flow keeps, one that the full queue of its flow refuses, and an answer. A packet is made every 16
/// cycles and goes every 80.
#[test]
fn packets_of_flows_can_be_watched() {
    let (_, table, error) = program(HELD, &["--packet", "0/bulk/1"]);
    let held = "flow 0 does not send: `--flow 0` tells why";
    assert!(table.contains(held), "{table}{error}");
    assert!(table.contains("80-87  injected"), "{table}");
    let (_, table, _) = program(HELD, &["--packet", "0/bulk/4"]);
    assert!(table.contains("by the full queue of its flow"), "{table}");
    let (_, table, _) = program(MARKED, &["--packet", "0/bulk/3"]);
    assert!(table.contains("delivered"), "{table}");
    let (_, table, error) = program(MARKED, &["--packet", "1/bulk answers/0"]);
    assert!(table.contains("1 flits for H"), "{table}{error}");
    let (_, _, error) = program(HELD, &["--packet", "0/bulk/9999"]);
    assert!(error.contains("packets of class `bulk` in"), "{error}");
}
