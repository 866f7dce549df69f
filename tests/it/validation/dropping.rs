//! Dropping in switches (D58): hand-computed cycles, laws and digests over random options.

use super::output_lanes::{check_laws, simulation, visited_everywhere};
use crate::random_fabric::{Case, case};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use virtlane::cycle::mechanisms::packet_records::PacketRecords;
use virtlane::cycle::records::Records;
use virtlane::ids::{ChannelId, HostId};
use virtlane::measure::Verdict;
use virtlane::measure::records::LossRecord;
use virtlane::plan::DropRule;
use virtlane::run::inspect::flow_counts;
use virtlane::run::watch::{PacketName, Story, What, watch};
use virtlane::run::{Settings, Simulation, execute};
use virtlane::scenario::{Document, Parts, Resolved};

/// Three switches in a line with a host each; links of 2 cycles, routing of 1 cycle, two packets of 8 flits from each of
/// the first two hosts to the third.
const LINE: &str = r#"Scenario(
    title: "line", seed: 1,
    fabric: (topology: Mesh(radix: [3]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 1, lane_capacity: "8 flits", routing_delay: "1 cycles", drop: (sl: [0]))),
    routing: DimensionOrder(),
    traffic: [(name: "bulk", pattern: AllTo(target: 2), process: Saturating(), size: "8 flits", packets: 2)],
    phases: (warmup: "0 cycles", measure: "200 cycles", drain: Auto),
)"#;

fn resolve(changes: &[&str]) -> Resolved {
    let mut document = Document::parse("line.ron", LINE, Path::new("")).expect("a scenario");
    for change in changes {
        document.set(change).expect("the key exists");
    }
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}"))
}

fn story(resolved: &Resolved, source: u32, sequence: u64, shards: usize) -> Story {
    let name = PacketName {
        source: HostId(source),
        class: 0,
        sequence,
    };
    let settings = Settings {
        threads: Some(1),
        shards: Some(shards),
        ..Settings::default()
    };
    watch(resolved, name, settings, &AtomicBool::new(false)).expect("it is made")
}

/// Start, drop and delivery.
fn fate(resolved: &Resolved, source: u32, sequence: u64, shards: usize) -> [Option<u64>; 3] {
    let story = story(resolved, source, sequence, shards);
    [story.injected, story.dropped, story.delivered]
}

/// Both packets of host 0 come to S1 three cycles after one of host 1 has taken all credits of S2. A dropped one leaves
/// the buffer of S1 flit by flit: of the first in cycles 6 to 13, so the last credit counts at S0 in cycle 15, in which
/// the second packet first requests there, and fits.
#[test]
fn what_flow_control_would_hold_is_dropped_and_its_credits_come_back_by_the_flit() {
    let resolved = resolve(&[]);
    for shards in [1, 2, 3] {
        let fates = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let found = fates.map(|(source, number)| fate(&resolved, source, number, shards));
        let expected = [
            [Some(0), Some(6), None],
            [Some(12), Some(18), None],
            [Some(0), None, Some(15)],
            [Some(12), None, Some(27)],
        ];
        assert_eq!(found, expected, "{shards} shards");
    }
    let watched = story(&resolved, 0, 0, 1);
    let fall = watched.events.last().expect("there are some");
    let place = (fall.cycle, fall.event, fall.place.as_str());
    assert_eq!(place, (6, What::Dropped, "S1 port 2"));
    let outcome = execute(
        &resolved,
        Settings {
            threads: Some(1),
            check: true,
            ..Settings::default()
        },
        &mut |_| {},
        &AtomicBool::new(false),
    );
    let outcome = outcome.expect("the run ends");
    assert_ne!(outcome.verdict, Verdict::Deadlocked);
    let lost = LossRecord {
        packets: 2,
        flits: 16,
        hops: 2,
        window_flits: 16,
        tagged: 2,
    };
    assert_eq!(outcome.records.classes[0].lost, lost);
    assert_eq!(outcome.growth.present, 0);
    let graph = &resolved.layout.graph;
    let mut at = BTreeMap::new();
    for channel in 0..graph.channels().len() {
        let id = ChannelId::from(channel);
        let dropped = outcome.records.channels.dropped(id).expect("switches drop");
        if dropped[0] > 0 {
            let ends = graph.channel(id);
            let names = [ends.from, ends.to].map(|end| graph.endpoint_name(end));
            at.insert(names, dropped[0]);
        }
    }
    let names = ["S1 port 1", "S2 port 2"].map(String::from);
    assert_eq!(at, BTreeMap::from([(names, 2)]));
}

/// Packets that come in the very cycle in which the last credit counts: at every switch of a host that sends alone, and at
/// S0 behind the packet that S1 dropped, whatever credits take.
#[test]
fn a_packet_that_fits_exactly_is_not_dropped() {
    let alone = resolve(&["traffic.bulk.hosts=List([0])"]);
    for number in 0..2 {
        assert_eq!(fate(&alone, 0, number, 1)[1], None);
    }
    let late = resolve(&["fabric.switch.credit_latency=3 cycles"]);
    assert_eq!(fate(&late, 0, 0, 1), [Some(0), Some(6), None]);
    // S1 frees its slots in cycles 6 to 13, credits count at S0 in 9 to 16; host 0 has those of S0 in 6 to 13 and starts
    // in 13: its packet requests at S0 in 16
    assert_eq!(fate(&late, 0, 1, 1)[0], Some(13));
    assert_eq!(fate(&late, 0, 1, 1)[1], Some(19), "held at S1, not at S0");
}

/// The second packet of host 1 first requests in cycle 11, when the first of host 0 has waited since cycle 6 behind the
/// first of host 1.
#[test]
fn a_threshold_counts_what_has_waited_for_the_lane_in_the_cycle_before() {
    let with = |rule: &str| {
        let capacity = "fabric.switch.lane_capacity=16 flits";
        resolve(&[capacity, &format!("fabric.switch.drop.rule={rule}")])
    };
    for (threshold, dropped) in [("1 flits", true), ("8 flits", true), ("9 flits", false)] {
        let resolved = with(&format!("Threshold(\"{threshold}\")"));
        for shards in [1, 3] {
            let [start, drop, delivery] = fate(&resolved, 1, 1, shards);
            assert_eq!(
                (start, drop),
                (Some(8), dropped.then_some(11)),
                "{threshold}"
            );
            assert_eq!(delivery.is_none(), dropped, "{threshold}");
            // one that comes first does not wait for itself
            assert_eq!(fate(&resolved, 0, 0, shards)[1], None, "{threshold}");
            // nor is the second dropped, which waits from cycle 14 on behind it: what was dropped does not wait
            assert_eq!(fate(&resolved, 0, 1, shards)[1], None, "{threshold}");
        }
    }
    // with room for both nothing is held
    let held = with("Held");
    assert_eq!(fate(&held, 1, 1, 1)[1], None);
}

/// What became of the packets: every delivery, and what was dropped, by class and flow.
fn fates(simulation: &Simulation) -> (Vec<String>, Vec<LossRecord>, Vec<u64>) {
    let records = simulation.each::<PacketRecords>();
    let all = records.flat_map(PacketRecords::deliveries);
    let mut all: Vec<_> = all.map(|delivery| format!("{delivery:?}")).collect();
    all.sort();
    let classes = simulation.records().next().expect("a shard");
    let mut lost = vec![LossRecord::default(); classes.measured.classes.len()];
    for records in simulation.records() {
        let records: &Records = records;
        for (sum, class) in lost.iter_mut().zip(&records.measured.classes) {
            sum.merge(&class.lost);
        }
    }
    let flows = flow_counts(simulation, None);
    let flows = flows.iter().map(|flow| flow.dropped.packets).collect();
    (all, lost, flows)
}

/// A run that is saved and goes on in other shards.
fn resumed(case: &Case, shards: usize) -> Simulation {
    let mut first = simulation(case, shards);
    let middle = case.cycles / 2;
    first.run_until(middle).expect("messages are readable");
    let states = first.save().expect("it can be saved");
    let mut second = simulation(case, shards);
    second.restore(middle, &states, false).expect("it fits");
    second
}

#[test]
fn laws_hold_and_neither_shards_nor_pauses_nor_visits_change_a_result() {
    let (mut delivered, mut lost) = (0, 0);
    let mut by_rule = BTreeMap::new();
    for seed in 0..500 {
        let case = case(seed);
        let Some(drop) = &case.plan.switch.drop else {
            continue;
        };
        let mut whole = simulation(&case, 1);
        check_laws(&mut whole, &case, case.cycles, &format!("case {seed}"));
        let expected = fates(&whole);
        let packets: u64 = expected.1.iter().map(|lost| lost.packets).sum();
        delivered += expected.0.len() as u64;
        lost += packets;
        let rule = match drop.rule {
            DropRule::Held => "held",
            DropRule::Threshold(_) => "threshold",
        };
        *by_rule.entry(rule).or_insert(0) += packets;
        let mut cut = simulation(&case, 3);
        check_laws(&mut cut, &case, case.cycles, &format!("case {seed}, cut"));
        assert!(
            fates(&cut) == expected,
            "case {seed}: shards\n{:?}",
            case.plan.switch
        );
        let mut paused = resumed(&case, 2);
        paused
            .run_until(case.cycles)
            .expect("messages are readable");
        assert!(
            fates(&paused) == expected,
            "case {seed}: a pause\n{:?}",
            case.plan.switch
        );
        let visited = visited_everywhere(&case);
        assert!(
            fates(&visited) == expected,
            "case {seed}: a wake-up is missing, {:?}",
            case.plan.switch
        );
    }
    assert!(
        delivered > 3 * lost && lost > 5000,
        "{delivered} delivered, {lost} dropped"
    );
    assert!(by_rule.values().all(|&lost| lost > 300), "{by_rule:?}");
}
