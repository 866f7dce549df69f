//! The textbook deadlock: a ring without datelines stops and says who waits for whom, with them it runs.

use super::{run, scenario};
use crate::runs;
use virtlane::run::outcome::Verdict;

#[test]
fn a_ring_without_datelines_deadlocks_and_names_the_cycle() {
    let resolved = scenario("validation/ring_deadlock.ron", &[]);
    assert!(!resolved.proof.acyclic);
    let outcome = run(&resolved);
    assert_eq!(outcome.verdict, Verdict::Deadlocked);
    insta::assert_snapshot!(outcome.reason);
}

#[test]
fn a_ring_with_dateline_lanes_runs() {
    let resolved = scenario("validation/ring_dateline.ron", &[]);
    assert!(resolved.proof.acyclic);
    let outcome = run(&resolved);
    assert_eq!(outcome.verdict, Verdict::Steady, "{}", outcome.reason);
}

/// Seed 003, C8 (figure 2.2): four switches, every packet two hops clockwise, all in step. With the layers of LASH the same
/// traffic runs.
#[test]
fn a_ring_of_four_runs_in_the_layers_of_lash() {
    let ring = "fabric.topology=Torus(radix: [4])";
    let in_step = "traffic.0.process=ConstantRate(load: 0.2, phase: Zero)";
    let resolved = scenario("validation/ring_deadlock.ron", &[ring, in_step]);
    assert!(!resolved.proof.acyclic);
    assert_eq!(run(&resolved).verdict, Verdict::Deadlocked);
    let lash = [
        ring,
        in_step,
        "routing=Lash()",
        "fabric.switch.lanes=2",
        "allow_deadlock=false",
    ];
    let resolved = scenario("validation/ring_deadlock.ron", &lash);
    assert!(resolved.proof.acyclic && resolved.proof.minimal);
    let outcome = run(&resolved);
    assert_eq!(outcome.verdict, Verdict::Steady, "{}", outcome.reason);
}

/// Lanes whose packets keep their inputs (D65) stop each other: the layers that break the circle do not help, and the proof
/// says so.
#[test]
fn a_ring_with_dateline_lanes_deadlocks_where_packets_keep_inputs() {
    let flits = [
        "fabric.topology=Torus(radix: [6])",
        "fabric.switch.forwarding=Wormhole",
        "fabric.switch.lane_capacity=2 flits",
        "traffic.0.pattern=Uniform",
        "traffic.0.process=Saturating()",
    ];
    let packets = ["fabric.switch.input_turns=Packets", "allow_deadlock=true"];
    let resolved = scenario(
        "validation/ring_dateline.ron",
        &[&flits[..], &packets[..]].concat(),
    );
    assert!(!resolved.proof.acyclic);
    let outcome = run(&resolved);
    assert_eq!(outcome.verdict, Verdict::Deadlocked);
    insta::assert_snapshot!(outcome.reason);
    let resolved = scenario("validation/ring_dateline.ron", &flits);
    assert!(resolved.proof.acyclic);
    assert_ne!(run(&resolved).verdict, Verdict::Deadlocked);
}

/// A ring whose sources have made all: nothing can happen any more, and that is found in the same cycle and told in the same words
/// however the ring is cut, whatever credits were on their way between the parts.
#[test]
fn a_frozen_ring_is_told_alike_for_any_shards() {
    let mut frozen = 0;
    for latency in [1, 2, 37, 1000] {
        for packets in [4, 9] {
            for watchdog in [3, 150_000] {
                let changes = [
                    "fabric.topology=Torus(radix: [4])".to_owned(),
                    format!("fabric.link.latency={latency} cycles"),
                    "traffic.0.size=Mixed([(\"16 flits\", 1), (\"3 flits\", 2)])".to_owned(),
                    "traffic.0.process=Bernoulli(load: 1)".to_owned(),
                    format!("traffic.0.packets={packets}"),
                    "phases.warmup=0 cycles".to_owned(),
                    format!("phases.watchdog={watchdog} cycles"),
                ];
                let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
                let resolved = scenario("validation/ring_deadlock.ron", &changes);
                let [first, others @ ..] = [1, 2, 3, 4].map(|shards| {
                    let outcome = runs::run_unchecked(&resolved, [1, shards]);
                    (outcome.verdict, outcome.reason, outcome.cycles.total)
                });
                for other in others {
                    assert_eq!(other, first, "{changes:?}");
                }
                frozen += u32::from(first.1.starts_with("nothing can happen any more"));
            }
        }
    }
    assert!(frozen > 2, "{frozen}");
}
