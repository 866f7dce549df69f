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
