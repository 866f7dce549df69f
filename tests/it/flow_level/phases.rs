//! Later starts and phases of applications at flow level (F7).

use super::{CONGESTION, TREE, column, files, flow, json, numbers};
use serde_json::Value;

/// F7 by hand, over the link between two switches. First phases share it; `b` ends at 1200, `a` has the other half by 1800, its
/// second phase begins 100 later, and shares the link from 2000 on with a flow of 300 flits. That ends at 2600, but gives
/// nothing back: no phase ends.
#[test]
fn phases_follow_one_another() {
    let scenario = CONGESTION.replace(
        "(name: \"near\", flows: [(pairs: List(pairs: [(6, 5), (7, 5)]), bytes: \"1200 flits\")], size: \"8 flits\"),",
        r#"(name: "more", size: "8 flits", flows: [
            (pairs: List(pairs: [(1, 5)]), bytes: "600 flits", phase: ("b", 0)),
            (pairs: List(pairs: [(0, 4)]), bytes: "1200 flits", phase: ("a", 1), start: "100 cycles"),
            (pairs: List(pairs: [(2, 6)]), bytes: "300 flits", start: "2000 cycles"),
        ]),"#,
    );
    let scenario = scenario.replace(
        "[(pairs: List(pairs: [(0, 4), (1, 4), (2, 5), (3, 5)]), bytes: \"1200 flits\")]",
        "[(pairs: List(pairs: [(0, 4)]), bytes: \"1200 flits\", phase: (\"a\", 0))]",
    );
    let folder = tempfile::tempdir().expect("a folder");
    let told = flow(
        folder.path(),
        &scenario,
        &["--check", "--out", "found", "--format", "json"],
    );
    assert_eq!(told.code, Some(0), "{}", told.errors);
    let summary: Value = serde_json::from_str(&told.output).expect("JSON");
    assert_eq!(summary["completion"]["cycles"]["mean"], 4200.0);
    // one round in each of four moments
    assert_eq!(summary["rounds"]["mean"], 4.0);
    let csv = &files(&folder.path().join("found"))["flows.csv"];
    assert_eq!(numbers(csv, "start [cycles]"), [0.0, 0.0, 1900.0, 2000.0]);
    assert_eq!(
        numbers(csv, "completion [cycles]"),
        [1800.0, 1200.0, 2300.0, 600.0]
    );
    assert_eq!(numbers(csv, "contention [flows]"), [2.0; 4]);
    assert_eq!(column(csv, "phase"), ["0", "0", "1", ""]);
    let rates = numbers(csv, "rate [flits per cycle]");
    let expected = [2.0 / 3.0, 0.5, 1200.0 / 2300.0, 0.5];
    rates.iter().zip(expected).for_each(|(rate, expected)| {
        assert!((rate - expected).abs() < 1e-6, "{rate}");
    });
    let link = &files(&folder.path().join("found"))["links.csv"];
    let loads = numbers(link, "load [fraction of its rate]");
    let most = loads.into_iter().reduce(f64::max).expect("links");
    assert!((most - 3300.0 / 4200.0).abs() < 1e-6);
}

/// F7 by hand: a phase of two flows, the second of which starts at 2000, and a flow beside it. At 1200 the first one ends, but not its
/// phase: nothing is given back. So the flow beside it ends at 2400, and the second one, which shares the link from its start, at 3200.
#[test]
fn a_phase_lasts_until_flows_that_start_later_have_ended() {
    let scenario = CONGESTION.replace(
        "(name: \"near\", flows: [(pairs: List(pairs: [(6, 5), (7, 5)]), bytes: \"1200 flits\")], size: \"8 flits\"),",
        r#"(name: "more", size: "8 flits", flows: [
            (pairs: List(pairs: [(1, 5)]), bytes: "600 flits", phase: ("a", 0), start: "2000 cycles"),
            (pairs: List(pairs: [(2, 6)]), bytes: "1200 flits"),
        ]),"#,
    );
    let scenario = scenario.replace(
        "[(pairs: List(pairs: [(0, 4), (1, 4), (2, 5), (3, 5)]), bytes: \"1200 flits\")]",
        "[(pairs: List(pairs: [(0, 4)]), bytes: \"600 flits\", phase: (\"a\", 0))]",
    );
    let folder = tempfile::tempdir().expect("a folder");
    let told = flow(folder.path(), &scenario, &["--check", "--out", "found"]);
    assert_eq!(told.code, Some(0), "{}", told.errors);
    let csv = &files(&folder.path().join("found"))["flows.csv"];
    assert_eq!(numbers(csv, "start [cycles]"), [0.0, 2000.0, 0.0]);
    assert_eq!(
        numbers(csv, "completion [cycles]"),
        [1200.0, 1200.0, 2400.0]
    );
}

/// Flows of three phases on the network of [`TREE`]: 40 drawn pairs each, of one size drawn for the phase.
fn drawn_phases() -> [String; 3] {
    let mut drawn = 7_u64;
    let mut draw = |below: u64| {
        drawn = drawn
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (drawn >> 33) % below
    };
    [(); 3].map(|()| {
        let pairs = (0..40).map(|_| {
            let from = draw(64);
            format!("({from}, {})", (from + 1 + draw(63)) % 64)
        });
        let pairs = pairs.collect::<Vec<_>>().join(", ");
        format!(
            "pairs: List(pairs: [{pairs}]), bytes: \"{} flits\"",
            100 + draw(900)
        )
    })
}

/// Cycles and the largest contention that these flows take on the network of [`TREE`].
fn completion(flows: &str, policy: &str, solver: &str) -> (f64, f64) {
    let (before, after) = TREE.split_once("[(pairs").expect("its flows");
    let (_, after) = after.split_once(")]").expect("their end");
    let told = json(
        &format!("{before}[{flows}]{after}"),
        &["--policy", policy, "--solver", solver, "--check"],
    );
    let contention = &told["contention"];
    let contention = contention["mean"]
        .as_f64()
        .or(contention["max"]["mean"].as_f64());
    let cycles = told["completion"]["cycles"]["mean"].as_f64();
    (
        cycles.expect("all have sizes"),
        contention.expect("a number"),
    )
}

/// F7: an application whose flows of a phase all start together takes what its phases take alone, and its starts.
#[test]
fn an_application_alone_takes_the_sum_of_its_phases() {
    let phases = drawn_phases();
    let starts = [0, 40, 700];
    let numbered = (0..)
        .zip(&phases)
        .zip(starts)
        .map(|((number, phase), start)| {
            format!("({phase}, phase: (\"a\", {number}), start: \"{start} cycles\")")
        });
    let numbered = numbered.collect::<Vec<_>>().join(", ");
    for (policy, solver) in [
        ("Static", "Ffa"),
        ("ForcedDir(hops: 2)", "Saa"),
        ("Ascent", "Uniform"),
    ] {
        let alone = phases
            .each_ref()
            .map(|phase| completion(&format!("({phase})"), policy, solver));
        let (cycles, contention) = completion(&numbered, policy, solver);
        let sum: f64 = alone.iter().map(|phase| phase.0).sum();
        let expected = sum + 740.0;
        assert!(
            (cycles - expected).abs() < 1e-6 * expected,
            "{policy}: {cycles} {expected}"
        );
        let most = alone.iter().map(|phase| phase.1).fold(0.0, f64::max);
        assert!(
            (contention - most).abs() < 1e-9,
            "{policy}: {contention} {most}"
        );
    }
}
