//! Looks at congestion trees: they change nothing, are the same however a run is made, and are written.

use crate::runs::{checked, document, resolve, run};
use assert_cmd::Command;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use virtlane::measure::CongestionLook;
use virtlane::run::outcome::Verdict;
use virtlane::run::{Checkpoint, Continuation, Keeping, Outcome, Start, execute_from};
use virtlane::scenario::Parts;

/// All send to host 5 beside what they send to each other.
const HOT: &str = r#"Scenario(
    title: "hot", seed: 3,
    fabric: (topology: Torus(radix: [4, 4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "3 cycles"),
             switch: (lanes: 4, lane_capacity: "32 flits")),
    routing: DimensionOrder(),
    traffic: [
        (name: "hot", pattern: AllTo(target: 5), process: Poisson(load: 0.1), size: "512 B"),
        (name: "others", pattern: Uniform, process: Poisson(load: 0.2), size: "256 B"),
    ],
    phases: (warmup: "1000 cycles", measure: "4000 cycles", drain: "100 cycles"),
    observe: (congestion: "61 cycles"),
)"#;

fn looks(outcome: &Outcome) -> &[CongestionLook] {
    outcome.congestion.as_deref().expect("it was asked for")
}

#[test]
fn looks_change_nothing_and_are_the_same_for_any_shards_and_threads() {
    let sets: [&[&str]; 7] = [
        &[],
        &["fabric.switch.forwarding=Wormhole"],
        &[
            "fabric.switch.forwarding=Wormhole",
            "fabric.switch.queues=Voq",
        ],
        &[
            "fabric.switch.queues=Voq",
            "fabric.switch.input_speedup=Unlimited",
        ],
        &["fabric.switch.sharing=PortPool"],
        &["routing=MinimalAdaptive()"],
        &["fabric.switch.output_buffer=8 flits"],
    ];
    for set in sets {
        let resolved = resolve(HOT, set);
        let seen = run(&resolved, [1, 1]);
        let alone = run(
            &resolve(HOT, &[set, &["observe.congestion=None"]].concat()),
            [1, 1],
        );
        assert_eq!(seen.records, alone.records, "{set:?}");
        assert_eq!(alone.congestion, None);
        let found = looks(&seen);
        let cycles = (1..=4000 / 61).map(|number| 1000 + 61 * number);
        assert!(found.iter().map(|look| look.cycle).eq(cycles), "{set:?}");
        let trees = || found.iter().flat_map(|look| &look.trees);
        assert!(trees().any(|tree| tree.depth > 2), "{set:?}");
        for look in found {
            let held: u32 = look.trees.iter().map(|tree| tree.size - 1).sum();
            assert!(look.victims - look.outside <= held, "{look:?}");
        }
        for tree in trees() {
            assert!(tree.flits >= 16 * u64::from(tree.size), "{tree:?}");
            assert!((1..=tree.size).contains(&tree.depth), "{tree:?}");
        }
        for shape in [[2, 2], [1, 5]] {
            let again = run(&resolved, shape);
            assert_eq!(looks(&again), found, "{set:?} {shape:?}");
            assert_eq!(again.records, seen.records, "{set:?} {shape:?}");
        }
    }
}

#[test]
fn a_stopped_run_goes_on_with_its_looks() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state");
    let resolved = resolve(HOT, &[]);
    let whole = run(&resolved, [1, 2]);
    let mut start = Start::Fresh;
    // in the warm-up, in the measurement, and after it
    for until in [Some(300), Some(1500), Some(3700), Some(5000), None] {
        let stop = AtomicBool::new(false);
        let mut progress = |progress: virtlane::run::Progress| {
            let is_late = until.is_some_and(|until| progress.cycle >= until);
            stop.store(is_late, Ordering::Relaxed);
        };
        let continuation = Continuation {
            start,
            keeping: Some(Keeping {
                file: file.clone(),
                every: None,
                at_wall_time: true,
                warm: None,
                last: 0,
            }),
            packets: None,
        };
        let outcome = execute_from(
            &resolved,
            checked([1, 2]),
            continuation,
            &mut progress,
            &stop,
        );
        let outcome = outcome.expect("it runs or stops");
        if until.is_none() {
            assert_eq!(looks(&outcome), looks(&whole));
            assert_eq!(outcome.records, whole.records);
            return;
        }
        assert_eq!(outcome.verdict, Verdict::Interrupted);
        let state = Checkpoint::read(&file).expect("it is saved");
        start = Start::Resume(Box::new(state));
    }
}

/// A row of congestion.csv.
#[derive(Debug, serde::Deserialize)]
struct Row {
    #[serde(rename = "look [cycle]")]
    cycle: u64,
    #[serde(rename = "roots [output lanes]")]
    roots: usize,
    #[serde(rename = "victims [output lanes]")]
    victims: u32,
    #[serde(rename = "victims_in_no_tree [output lanes]")]
    outside: u32,
    from: Option<String>,
    lane: Option<u8>,
    #[serde(rename = "size [output lanes]")]
    size: Option<u32>,
    #[serde(rename = "depth [levels]")]
    depth: Option<u32>,
    #[serde(rename = "waiting [flits]")]
    flits: Option<u64>,
}

#[test]
fn table_metrics_and_figure_say_what_the_looks_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = |arguments: &[&str]| {
        let mut command = Command::cargo_bin("virtlane").expect("it is built");
        command.current_dir(folder.path()).args(arguments);
        command.assert().success();
    };
    fs::write(folder.path().join("hot.ron"), HOT).expect("it can be written");
    program(&["run", "hot.ron", "--quiet", "--out", "results"]);
    let outcome = run(&resolve(HOT, &[]), [1, 1]);
    let found = looks(&outcome);
    let path = folder.path().join("results/congestion.csv");
    let mut reader = csv::Reader::from_path(path).expect("it is there");
    let rows: Vec<Row> = reader
        .deserialize()
        .map(|row| row.expect("a row"))
        .collect();
    let mut rows = rows.iter();
    for look in found {
        for number in 0..look.trees.len().max(1) {
            let row = rows.next().expect("a row for every tree");
            assert_eq!((row.cycle, row.roots), (look.cycle, look.trees.len()));
            assert_eq!((row.victims, row.outside), (look.victims, look.outside));
            let tree = look.trees.get(number);
            assert_eq!(row.lane, tree.map(|tree| tree.lane));
            assert_eq!(row.size, tree.map(|tree| tree.size));
            assert_eq!(row.depth, tree.map(|tree| tree.depth));
            assert_eq!(row.flits, tree.map(|tree| tree.flits));
            assert_eq!(
                row.from.as_deref().is_some_and(|from| !from.is_empty()),
                tree.is_some()
            );
        }
    }
    assert!(rows.next().is_none());
    let summary = fs::read_to_string(folder.path().join("results/summary.json")).expect("text");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
    let value = |name: &str| summary["congestion"][name].as_f64().expect("a number");
    let count = found.len() as f64;
    let roots: usize = found.iter().map(|look| look.trees.len()).sum();
    let victims: u32 = found.iter().map(|look| look.victims).sum();
    let trees = || found.iter().flat_map(|look| &look.trees);
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(close(value("roots"), roots as f64 / count));
    assert!(close(value("victims"), f64::from(victims) / count));
    let largest = trees().map(|tree| tree.size).max();
    assert!(close(
        value("largest_tree"),
        f64::from(largest.expect("a tree"))
    ));
    let deepest = trees().map(|tree| tree.depth).max();
    assert!(close(
        value("deepest_tree"),
        f64::from(deepest.expect("a tree"))
    ));
    program(&["plot", "results"]);
    let figure = fs::read_to_string(folder.path().join("results/figures/congestion.svg"));
    let figure = figure.expect("it is drawn");
    assert!(figure.contains("victims in no tree"), "{figure}");
}

#[test]
fn what_cannot_be_looked_at_is_refused() {
    let refusal = |changes: &[&str]| match document(HOT, changes).resolve(&Parts::registered()) {
        Ok(_) => panic!("{changes:?} is a scenario"),
        Err(error) => error.to_string(),
    };
    let text = refusal(&["fabric.switch.output_lane_buffer=8 flits"]);
    assert!(
        text.contains("does not go with `output_lane_buffer`"),
        "{text}"
    );
    let text = refusal(&["observe.congestion=4001 cycles"]);
    assert!(text.contains("4001 cycles from look to look"), "{text}");
    let text = refusal(&["observe.congestion=0 cycles"]);
    assert!(text.contains("observe.congestion"), "{text}");
    assert!(text.contains("expected at least 1 cycle"), "{text}");
}
