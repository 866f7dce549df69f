//! `virtlane sources`: what it tells of arrival processes, and what it refuses.

use crate::program::virtlane;
use std::path::Path;
use virtlane::measure::arrivals::{BackloggedError, Intervals, packets};
use virtlane::scenario::{Document, Parts};

/// Four hosts at one switch; a packet of a source every 40 cycles in class `bursts`, every 80 in the others.
const STAR: &str = r#"Scenario(
    title: "star", seed: 1,
    fabric: (topology: Star(leaves: 2, hosts_per_leaf: 2), flit: "64 B", link: (rate: "10 Gbit/s", latency: "1 cycles"),
             switch: (lanes: 1, lane_capacity: "16 flits")),
    routing: UpDown(),
    traffic: [
        (name: "bursts", pattern: Uniform, process: SelfSimilar(load: 0.2), size: "8 flits"),
        (name: "even", pattern: Uniform, process: ConstantRate(load: 0.1), size: "8 flits"),
        (name: "full", pattern: Uniform, process: Saturating(), size: "8 flits"),
        (name: "flows", flows: [(pairs: List(pairs: [(0, 1)]))], size: "8 flits"),
    ],
    phases: (warmup: "0 cycles", measure: "200 cycles"),
)"#;

fn sources(arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("star.ron"), STAR).expect("it can be written");
    virtlane(
        folder.path(),
        &[&["sources", "star.ron"], arguments].concat(),
    )
}

#[test]
fn the_program_tells_load_and_variability() {
    let (code, table, notes) = sources(&[]);
    assert_eq!(code, Some(0), "{notes}");
    insta::assert_snapshot!(table);
    assert!(
        notes.contains("class `full` is always backlogged"),
        "{notes}"
    );
    assert!(notes.contains("class `flows` has flows"), "{notes}");
}

#[test]
fn json_has_the_same_numbers() {
    let arguments = ["--class", "even", "--interval", "800", "--cycles", "800000"];
    let (code, json, notes) = sources(&[&arguments[..], &["--format", "json"]].concat());
    assert_eq!((code, &*notes), (Some(0), ""));
    let told: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let class = &told[0];
    assert_eq!(class["intervals"], 1000);
    // a packet every 80 cycles: ten in every interval, from every source
    assert_eq!(class["one_source"]["packets"], 10_000);
    assert_eq!(class["all_sources"]["scales"][2]["mean"], 4000.0);
    assert_eq!(
        class["one_source"]["scales"][0]["normalised_deviation"],
        0.0
    );
    assert_eq!(class["load_made"], 0.1);
    assert!(class["one_source"]["variance_time"].is_null());
}

#[test]
fn classes_without_times_of_their_own_are_refused() {
    for (arguments, said) in [
        (
            &["--class", "full"][..],
            "class `full` is always backlogged",
        ),
        (&["--class", "3"], "class `flows` has flows"),
        (&["--class", "burst"], "unknown traffic class `burst`"),
        (
            &["--cycles", "1000"],
            "1 intervals of 800 cycles, expected 200 to",
        ),
    ] {
        let (code, output, error) = sources(arguments);
        assert_eq!((code, &*output), (Some(2), ""), "{arguments:?}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
}

/// The packets counted are those of the sources of a run; a limit of packets ends them.
#[test]
fn counts_are_those_of_a_run() {
    let mut document = Document::parse("star.ron", STAR, Path::new("")).expect("a scenario");
    document.set("traffic.even.packets=7").expect("a key");
    let resolved = document.resolve(&Parts::registered()).expect("a scenario");
    let intervals = Intervals {
        cycles: 100,
        count: 50,
    };
    let of = |class: usize| {
        let plan = &resolved.plan.classes[class];
        packets(resolved.plan.seed, class, plan, plan.hosts[0], intervals)
    };
    assert_eq!(of(1).expect("times of its own").iter().sum::<u64>(), 7);
    assert_eq!(of(2), Err(BackloggedError));
}
