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
