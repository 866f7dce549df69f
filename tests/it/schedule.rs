//! The systems of a cycle: what a scenario has, and that a system more changes nothing.

use crate::validation::scenario;
use assert_cmd::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use virtlane::cycle::{CycleBuilder, Slot, Stage};
use virtlane::measure::digest::Digest;
use virtlane::run::{Options, Simulation};

/// The lines about systems that `virtlane schedule` prints.
fn systems(changes: &[&str]) -> String {
    let mut command = Command::cargo_bin("virtlane").expect("it is built");
    command.args(["schedule", "scenarios/default.ron"]);
    for change in changes {
        command.args(["--set", change]);
    }
    let output = command.assert().success().get_output().stdout.clone();
    let text = String::from_utf8(output).expect("text");
    let lines = text
        .lines()
        .skip_while(|line| !line.starts_with("Credits"))
        .take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Sets of options: a name, and what is set.
const SETS: [(&str, &[&str]); 17] = [
    ("plain", &[]),
    (
        "link-level retry",
        &["fabric.link.retry=(bit_error_rate: 1e-9)"],
    ),
    ("claims", &["fabric.switch.claims=Every(\"16 cycles\")"]),
    (
        "marking",
        &["fabric.switch.marking=(threshold: \"8 flits\")"],
    ),
    (
        "output lanes",
        &["fabric.switch.output_lane_buffer=2 flits"],
    ),
    (
        "output buffers of several lanes",
        &[
            "fabric.switch.output_buffer=8 flits",
            "fabric.switch.lanes=2",
            "traffic.0.sl=0",
        ],
    ),
    ("input first", &["fabric.switch.matching=InputFirst"]),
    ("two rounds", &["fabric.switch.iterations=2"]),
    (
        "dropping by a threshold",
        &["fabric.switch.drop=(sl: [0], rule: Threshold(\"8 flits\"))"],
    ),
    (
        "wormhole that drops",
        &[
            "fabric.switch.forwarding=Wormhole",
            "fabric.switch.drop=(sl: [0])",
        ],
    ),
    ("adaptive", &["routing=AdaptiveAscent()"]),
    ("observed queues", &["observe=(queues: true)"]),
    (
        "flows in phases, control",
        &[
            "traffic=[(name: \"all\", size: \"64 B\", control: RequestReply(), flows: [
            (pairs: RandomPairs(count: 3), bytes: \"1 KiB\", phase: (\"weather\", 0))])]",
        ],
    ),
    (
        "control",
        &[
            "traffic=[(name: \"a\", size: \"64 B\", flows: [(pairs: RandomPairs(count: 3))], control: RequestReply())]",
        ],
    ),
    (
        "bounded answers",
        &[
            "traffic=[(name: \"a\", size: \"64 B\", flows: [(pairs: RandomPairs(count: 3))], control: RequestReply(), \
             answers: (queue: 2))]",
            "allow_deadlock=true",
        ],
    ),
    (
        "control out of band",
        &[
            "traffic=[(name: \"a\", size: \"64 B\", flows: [(pairs: RandomPairs(count: 3))], control: RequestReply(), \
             answers: (transport: OutOfBand(serialisation: \"2 cycles\", processing: \"0 cycles\", \
             routing: \"1 cycles\", propagation: \"1 cycles\")))]",
        ],
    ),
    (
        "flows that wait",
        &["traffic=[(name: \"ring\", size: \"64 B\", flows: [
            (pairs: Messages(source: Trace(file: \"messages/ring_all_reduce_16.csv\")))])]"],
    ),
];

#[test]
fn every_set_of_options_has_its_systems() {
    let text = SETS.map(|(name, changes)| format!("{name}\n{}\n\n", systems(changes)));
    insta::assert_snapshot!(text.concat());
}

/// Pairs of systems, over all sets of options, of which one writes what the other touches, and all pairs: a bound that only
/// falls, for such pairs can never run at the same time, and whoever changes one has to read the other.
const CONFLICTS: [usize; 2] = [1225, 1231];

#[test]
fn no_more_systems_touch_what_others_write() {
    let mut found = [0, 0];
    for (_, changes) in SETS {
        let resolved = scenario("default.ron", changes);
        let graph = &resolved.layout.graph;
        let options = Options::default();
        let simulation = Simulation::new(&resolved.plan, graph, &resolved.routes, options);
        let simulation = simulation.expect("one thread starts");
        let stages = simulation.stages();
        for (number, one) in stages.iter().enumerate() {
            for other in &stages[..number] {
                let touches =
                    |stage: &Stage, name| stage.reads.contains(name) || stage.writes.contains(name);
                let is_conflict = one.writes.iter().any(|name| touches(other, name))
                    || other.writes.iter().any(|name| touches(one, name));
                found[0] += usize::from(is_conflict);
                found[1] += 1;
            }
        }
    }
    assert_eq!(
        found, CONFLICTS,
        "fewer: write the new figures into this file"
    );
}

/// Runs of the systems below.
static RUNS: [AtomicU64; Slot::ALL.len()] = [const { AtomicU64::new(0) }; Slot::ALL.len()];

fn idle<const N: usize>() {
    RUNS[N].fetch_add(1, Ordering::Relaxed);
}

fn one_in_every_slot(cycle: &mut CycleBuilder) {
    cycle.add(Slot::ALL[0], "idle", idle::<0>);
    cycle.add(Slot::ALL[1], "idle", idle::<1>);
    cycle.add(Slot::ALL[2], "idle", idle::<2>);
    cycle.add(Slot::ALL[3], "idle", idle::<3>);
    cycle.add(Slot::ALL[4], "idle", idle::<4>);
    cycle.add(Slot::ALL[5], "idle", idle::<5>);
    cycle.add(Slot::ALL[6], "idle", idle::<6>);
    cycle.add(Slot::ALL[7], "idle", idle::<7>);
    cycle.add(Slot::ALL[8], "idle", idle::<8>);
    cycle.add(Slot::ALL[9], "idle", idle::<9>);
    cycle.add(Slot::ALL[10], "idle", idle::<10>);
    cycle.add(Slot::ALL[11], "idle", idle::<11>);
    cycle.add(Slot::ALL[12], "idle", idle::<12>);
    cycle.add(Slot::ALL[13], "idle", idle::<13>);
}

#[test]
fn a_system_in_every_slot_runs_and_changes_nothing() {
    let resolved = scenario("default.ron", &["phases.warmup=100 cycles"]);
    let digest = |guests, profile, shards| {
        let options = Options {
            shards,
            guests,
            profile,
            ..Options::default()
        };
        let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
        let simulation = Simulation::new(plan, graph, &resolved.routes, options);
        let mut simulation = simulation.expect("one thread starts");
        // the stages run in one pass where nobody looks on
        assert_eq!(simulation.has_pass(), !profile && guests.is_empty());
        simulation.run_until(400).expect("there are no messages");
        let mut digest = Digest::default();
        for records in simulation.records() {
            digest.merge(records.measured.digest);
        }
        (digest, simulation.stage_costs())
    };
    let (alone, stages) = digest(&[], true, 1);
    let (accompanied, more) = digest(&[one_in_every_slot], true, 1);
    assert_eq!(accompanied, alone);
    for shards in [1, 3] {
        assert_eq!(digest(&[], false, shards).0, alone, "{shards}");
    }
    // a profile names every system, in the order it ran
    let names = |costs: &[virtlane::run::outcome::StageCost]| -> Vec<String> {
        costs.iter().map(|cost| cost.name.clone()).collect()
    };
    let of_the_core = names(&more).into_iter().filter(|name| name != "idle");
    assert_eq!(of_the_core.collect::<Vec<_>>(), names(&stages));
    assert_eq!(more.len(), stages.len() + Slot::ALL.len());
    let runs: Vec<u64> = RUNS
        .iter()
        .map(|runs| runs.load(Ordering::Relaxed))
        .collect();
    assert!(
        runs[0] > 300 && runs.iter().all(|&count| count == runs[0]),
        "{runs:?}"
    );
}
