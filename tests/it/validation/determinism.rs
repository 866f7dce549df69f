//! Equal digests for every number of threads and shards.

use super::{run, scenario};
use virtlane::cycle::state::Place;
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

/// Rows are asked for ahead where all shards together are large, and that changes nothing.
#[test]
fn large_fabrics_ask_for_rows_ahead() {
    let changes = ["phases.warmup=0 cycles", "phases.measure=150 cycles"];
    let small = scenario("default.ron", &changes);
    let tree = "fabric.topology=KAryNTree(k: 16, n: 3)";
    let large = scenario("default.ron", &[tree, changes[0], changes[1]]);
    for (resolved, is_large) in [(&small, false), (&large, true)] {
        let mut digests = Vec::new();
        for shards in [1, 4] {
            for prefetch in [None, Some(!is_large)] {
                let options = Options {
                    shards,
                    prefetch,
                    ..Options::default()
                };
                let graph = &resolved.layout.graph;
                let simulation = Simulation::new(&resolved.plan, graph, &resolved.routes, options);
                let simulation = simulation.expect("threads start");
                let mut places = simulation.each::<Place>();
                let expected = prefetch.unwrap_or(is_large);
                assert!(places.all(|place| place.prefetches == expected), "{shards}");
                drop(places);
                digests.push(digest(resolved, 150, options));
            }
        }
        assert!(digests[0].1 > 1000, "{digests:?}");
        assert!(
            digests.windows(2).all(|pair| pair[0] == pair[1]),
            "{digests:?}"
        );
    }
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
