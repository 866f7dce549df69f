//! The textbook deadlock: a ring without datelines stops and says who waits for whom, with them it runs.

use super::{run, scenario};
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
