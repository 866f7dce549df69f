//! Equal digests for every number of threads and shards.

use super::{run, scenario};
use virtlane::measure::digest::Digest;
use virtlane::run::{Options, Simulation};
use virtlane::scenario::Resolved;

/// Digest and number of the packets delivered by `cycles`.
fn digest(resolved: &Resolved, cycles: u64, options: Options) -> (Digest, u64) {
    let graph = &resolved.layout.graph;
    let simulation = Simulation::new(&resolved.plan, graph, &resolved.routes, options);
    let mut simulation = simulation.expect("threads start");
    simulation.run_until(cycles).expect("there are no messages");
    let (mut digest, mut delivered) = (Digest::default(), 0);
    for records in simulation.records() {
        digest.merge(records.measured.digest);
        delivered += records.totals.delivered;
    }
    (digest, delivered)
}

pub(super) fn check(resolved: &Resolved, cycles: u64) {
    let expected = digest(resolved, cycles, Options::default());
    assert!(expected.1 > 1000, "{expected:?}");
    for shards in [1, 2, 7, 16] {
        for threads in [1, 2, 4] {
            let options = Options {
                threads,
                shards,
                ..Options::default()
            };
            let found = digest(resolved, cycles, options);
            assert_eq!(found, expected, "{threads} threads, {shards} shards");
        }
    }
}

#[test]
fn default_scenario() {
    let changes = ["phases.warmup=100 cycles", "phases.measure=500 cycles"];
    check(&scenario("default.ron", &changes), 600);
}

#[test]
fn real_fabric() {
    let changes = ["phases.warmup=1000 cycles", "phases.measure=9000 cycles"];
    check(&scenario("fabrics/psmn_x5.ron", &changes), 10_000);
}

/// Seed 003, C18: more threads than the machine has cores.
#[test]
fn eight_and_sixteen_threads() {
    let changes = ["phases.warmup=100 cycles", "phases.measure=100 cycles"];
    let resolved = scenario("default.ron", &changes);
    let expected = digest(&resolved, 200, Options::default());
    for threads in [8, 16] {
        let options = Options {
            threads,
            shards: 16,
            ..Options::default()
        };
        assert_eq!(
            digest(&resolved, 200, options),
            expected,
            "{threads} threads"
        );
    }
}

/// The README shows a run of the embedded scenario; every machine must get its digest.
#[test]
fn every_machine_gets_the_digest_of_the_readme() {
    let outcome = run(&scenario("default.ron", &[]));
    let line = format!("\ndigest    {}\n", outcome.records.digest);
    let readme = std::fs::read_to_string("README.md").expect("tests run in the repository");
    assert!(readme.contains(&line), "the README does not show {line}");
}
