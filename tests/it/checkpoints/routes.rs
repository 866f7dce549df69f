//! Runs whose flows have routes of their own: they go on, and are not forked (D66 of the model).

use super::{Start, goes_on, read, resolve, run, settings, whole};
use virtlane::run::{CheckpointError, RunError};

const TREE: &str = r#"Scenario(
    title: "own routes", seed: 3,
    fabric: (topology: EnrichedTree(k: 3, n: 3, width: 2), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 2, lane_capacity: "16 flits", queues: Voq)),
    routing: FatTree(),
    traffic: [
        (name: "flows", flows: [(pairs: Permutations(count: 3))], size: "8 flits"),
        (name: "asks", flows: [(pairs: Permutations(count: 1))], size: "8 flits", requests: (peak: 0.1),
         control: Reservation(), answers: (size: "1 flits", sl: 1)),
        (name: "beside", flows: [(pairs: Permutations(count: 1))], size: "8 flits", requests: (peak: 0.2), control: Reservation(),
         answers: (transport: OutOfBand(serialisation: "20 cycles", processing: "1 cycles", routing: "1 cycles", propagation: "2 cycles"))),
    ],
    fluid: (policy: ForcedDir(hops: 8), carry: Rates),
    phases: (warmup: "500 cycles", measure: "2000 cycles"),
)"#;

#[test]
fn packets_keep_their_place_on_a_route() {
    let resolved = resolve(TREE, &[]);
    let expected = whole(&resolved);
    for cut in [(1, 1, 1), (5, 2, 1)] {
        goes_on(&resolved, &expected, cut, &[70, 150, 1234]);
    }
}

/// Counters, caches and their streams go on; so do connections that wait for their turn.
#[test]
fn routes_that_are_set_up_go_on() {
    let changes = [
        "fluid.carry=Nothing",
        "traffic[0].flows[0].bytes=60 flits",
        "traffic[0].flows[0].copies=4",
        "traffic[0].control=SetUp(connections: Pairs, cache: 2)",
        "traffic[0].answers=(sl: 1)",
        "traffic[1].requests=None",
        "traffic[1].flows[0].bytes=100 flits",
        "traffic[1].control=SetUp(free: true)",
        "traffic[2].flows[0].bytes=400 flits",
        "traffic[2].control=None",
        "traffic[2].requests=None",
        "traffic[2].answers=()",
    ];
    let resolved = resolve(TREE, &changes);
    let expected = whole(&resolved);
    assert_eq!(expected.records.counts["set_up.weight"], 0);
    for cut in [(1, 1, 1), (5, 2, 1)] {
        goes_on(&resolved, &expected, cut, &[40, 150, 333]);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state");
    run(&resolved, settings(1, Some(2)), Start::Fresh, 100, &file).expect("it stops");
    let forked = run(
        &resolved,
        settings(1, None),
        Start::Fork(read(&file)),
        u64::MAX,
        &file,
    );
    let cause = forked.err();
    assert!(
        matches!(cause, Some(RunError::Checkpoint(CheckpointError::Routes))),
        "{cause:?}"
    );
}

#[test]
fn there_are_no_forks() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state");
    for (then, now) in [
        ("Rates", "Rates"),
        ("Routes", "Nothing"),
        ("Nothing", "Routes"),
    ] {
        let [then, now] =
            [then, now].map(|carry| resolve(TREE, &[&format!("fluid.carry={carry}")]));
        run(&then, settings(1, Some(2)), Start::Fresh, 100, &file).expect("it stops");
        let start = Start::Fork(read(&file));
        let forked = run(&now, settings(1, None), start, u64::MAX, &file);
        let cause = forked.err();
        assert!(
            matches!(cause, Some(RunError::Checkpoint(CheckpointError::Routes))),
            "{cause:?}"
        );
    }
}
