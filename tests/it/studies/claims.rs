//! Claims about the points of a sweep, and the shipped studies that `virtlane reproduce` holds to theirs.

use super::Folder;
use std::collections::BTreeMap;
use std::fs;
use virtlane::scenario::shipped::STUDIES;
use virtlane::study::Design;

/// The claims of a directory by their words.
fn claims(folder: &Folder, place: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let path = folder.path(place).join("claims.csv");
    let mut reader = csv::Reader::from_path(path).expect("written after the last run");
    let rows = reader.deserialize();
    rows.map(|row| {
        let row: BTreeMap<String, String> = row.expect("a table");
        (row["claim"].clone(), row)
    })
    .collect()
}

/// Mean accepted load of the points, `[topology][load]`.
fn accepted(folder: &Folder) -> BTreeMap<(String, String), f64> {
    let table = folder.table("out");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows = reader.deserialize::<BTreeMap<String, String>>();
    rows.map(|row| {
        let row = row.expect("a table");
        let load = &row["traffic.bulk.process.load [fraction of link rate]"];
        let value = &row["load.accepted [fraction of link rate]"];
        let key = (row["fabric.topology"].clone(), load.clone());
        (key, value.parse().expect("a number"))
    })
    .collect()
}

const EXPECT: &str = r#"expect=[
    (claim: "pairs", metric: "load.accepted", at: [("fabric.topology", Mesh(radix: [4, 4]))],
     over: [("fabric.topology", KAryNTree(k: 4, n: 2))], relation: AtLeast, value: 0.5),
    (claim: "peaks", metric: "load.accepted", at: [("traffic.bulk.process.load", 0.3)],
     over: [("traffic.bulk.process.load", 0.1)], points: Max, relation: Equals, value: 3, tolerance: 0.3, published: 3.1),
    (claim: "all", metric: "load.accepted", relation: AtMost, value: 0.4),
    (claim: "hops", metric: "routes.mean_hops", at: [("fabric.topology", Mesh(radix: [4, 4]))], relation: Equals,
     value: 2.6667, tolerance: 0.001),
    (claim: "wrong", metric: "load.accepted", points: Min, relation: AtLeast, value: 0.2, deviation: "known"),
]"#;

#[test]
fn claims_are_about_the_points_they_select() {
    let folder = Folder::new();
    let set = ["--set", EXPECT];
    let shown = folder.succeeds(&["sweep", "small.ron", "--out", "out", set[0], set[1]]);
    assert!(shown.contains("differs        wrong >= 0.2"), "{shown}");
    let (found, points) = (claims(&folder, "out"), accepted(&folder));
    let value = |claim: &str| found[claim]["found"].parse::<f64>().expect("a number");
    let of = |topology: &str, load: &str| points[&(topology.to_owned(), load.to_owned())];
    let (mesh, tree) = ("Mesh(radix: [4, 4])", "KAryNTree(k: 4, n: 2)");
    // each load of the mesh against the same load of the tree, the smallest ratio shown
    let ratio = |load| of(mesh, load) / of(tree, load);
    assert!((value("pairs") - ratio("0.1").min(ratio("0.3"))).abs() < 1e-12);
    let peak = |load| of(mesh, load).max(of(tree, load));
    assert!((value("peaks") - peak("0.3") / peak("0.1")).abs() < 1e-12);
    let largest = points.values().copied().fold(0.0, f64::max);
    assert!((value("all") - largest).abs() < 1e-12);
    assert_eq!(found["peaks"]["published"], "3.1");
    let verdicts =
        ["pairs", "peaks", "all", "hops", "wrong"].map(|claim| &found[claim]["verdict"][..]);
    let (order, value) = ("ordering only", "reproduced");
    assert_eq!(verdicts, [order, value, order, value, "differs"]);
}

/// Sources print means: the end of an interval that happens to be what one prints reproduces nothing.
#[test]
fn what_a_source_says_is_compared_with_the_middle_of_an_interval() {
    let folder = Folder::new();
    let judged = |published: &[(&str, &str, String)]| {
        let row = |(claim, seeds, published): &(&str, &str, String)| {
            format!(
                "(claim: \"{claim}\", metric: \"latency.network.max\", at: [(\"fabric.topology\", Mesh(radix: [4, 4])), \
                 (\"traffic.bulk.process.load\", 0.3)], seeds: {seeds}, relation: AtLeast, value: 1, published: {published})"
            )
        };
        let rows: Vec<_> = published.iter().map(row).collect();
        let expect = format!("expect=[{}]", rows.join(", "));
        folder.succeeds(&[
            "sweep",
            "small.ron",
            "--out",
            "out",
            "--force",
            "--set",
            &expect,
        ]);
        claims(&folder, "out")
    };
    let none = || "None".to_owned();
    let found = judged(&[("mean", "Mean", none()), ("end", "Lower", none())]);
    let value = |claim: &str| found[claim]["found"].parse::<f64>().expect("a number");
    let (mean, end) = (value("mean"), value("end"));
    assert_eq!(found["end"]["estimate"], found["mean"]["found"]);
    assert!(
        mean > 1.06 * end,
        "{mean} is too near to {end} to tell them apart"
    );
    let found = judged(&[
        ("above the mean", "Lower", (1.05 * mean).to_string()),
        ("below the end", "Lower", (0.95 * end).to_string()),
    ]);
    assert_eq!(found["above the mean"]["verdict"], "reproduced");
    assert_eq!(found["below the end"]["verdict"], "ordering only");
}

#[test]
fn a_claim_that_fails_is_told_and_ends_with_1() {
    let folder = Folder::new();
    let expect = "expect=[(metric: \"load.accepted\", points: Max, relation: AtMost, value: 0.2)]";
    let sweep = ["sweep", "small.ron", "--out", "out", "--set", expect];
    let errors = folder.fails(1, &sweep);
    assert!(
        errors.contains("expectation failed: largest load.accepted <= 0.2"),
        "{errors}"
    );
    let end = "expect=[(metric: \"load.accepted\", seeds: Lower, relation: AtLeast, value: 0)]";
    let alone = ["sweep", "small.ron", "--out", "alone", "--set", end];
    let errors = folder.fails(1, &[&alone[..], &["--set", "sweep.seeds=1"]].concat());
    assert!(errors.contains("needs two seeds or more"), "{errors}");
    // a slice cannot be judged
    let shard = [&sweep[..3], &["part", "--shard", "1/2", "--set", expect]].concat();
    folder.succeeds(&shard);
    assert!(!folder.path("part/claims.csv").exists());
}

#[test]
fn a_single_run_is_held_to_claims_about_runs_only() {
    let folder = Folder::new();
    let expect = "expect=[(metric: \"load.accepted\", points: Max, relation: AtMost, value: 0.1), \
                  (metric: \"hops.mean\", relation: AtMost, value: 6), \
                  (metric: \"run.deadlocked\", relation: Equals, value: 0)]";
    let shown = folder.succeeds(&["run", "small.ron", "--out", "one", "--set", expect]);
    assert!(!shown.contains("load.accepted"), "{shown}");
    let names: Vec<_> = claims(&folder, "one").into_keys().collect();
    assert_eq!(names, ["hops.mean", "run.deadlocked"]);
}

#[test]
fn every_shipped_study_can_be_made_and_claims_something() {
    for study in STUDIES {
        let mut document = study
            .document()
            .unwrap_or_else(|error| panic!("{}: {error}", study.id));
        let scenario = document
            .scenario()
            .unwrap_or_else(|error| panic!("{}: {error}", study.id));
        assert!(!scenario.expect.is_empty(), "{}", study.id);
        assert!(
            scenario.expect.iter().all(|claim| !claim.claim.is_empty()),
            "{}",
            study.id
        );
        if scenario.sweep.is_none() {
            document.assign("sweep", "(axes: [])").expect("a key");
        }
        let design = Design::new(&document).unwrap_or_else(|error| panic!("{}: {error}", study.id));
        let runs = design.runs.len();
        assert!(runs <= 2000, "{}: {runs} runs", study.id);
        if scenario.sweep.is_some_and(|sweep| sweep.quick.is_some()) {
            let quick = document.quick();
            document = quick.unwrap_or_else(|error| panic!("{}: {error}", study.id));
        }
        let design = Design::new(&document).unwrap_or_else(|error| panic!("{}: {error}", study.id));
        let runs = design.runs.len();
        assert!(runs <= 500, "{}: {runs} runs in the quick form", study.id);
    }
    let mut files = super::names(std::path::Path::new("scenarios/reproduce"));
    // the bases of the documents are no studies
    files.retain(|name| name != "base");
    let ids: Vec<_> = STUDIES
        .iter()
        .map(|study| format!("{}.ron", study.id))
        .collect();
    assert_eq!(files, ids, "one registered study per file, in order");
}

#[test]
fn a_study_is_reproduced_anew_every_time() {
    let folder = Folder::new();
    let reproduce = ["reproduce", "ring_deadlock", "--out", "again"];
    let shown = folder.succeeds(&reproduce);
    assert!(shown.contains("2 claims: 2 reproduced"), "{shown}");
    let manifest = folder.path("again/ring_deadlock/runs");
    let stale = manifest
        .join(&super::names(&manifest)[0])
        .join("summary.json");
    fs::write(&stale, "{}").expect("writable");
    folder.succeeds(&reproduce);
    assert_ne!(fs::read_to_string(&stale).expect("made again"), "{}");
    // with --resume what is there stays
    let before = fs::metadata(&stale)
        .and_then(|data| data.modified())
        .expect("a file");
    let table = folder.succeeds(&[&reproduce[..], &["--resume", "--table"]].concat());
    assert_eq!(
        before,
        fs::metadata(&stale)
            .and_then(|data| data.modified())
            .expect("a file")
    );
    assert!(
        table.contains("| ring_deadlock | one lane deadlocks  [A-04] | - | 1 | = 1 | reproduced |"),
        "{table}"
    );
    // what somebody else has made is not removed
    fs::create_dir_all(folder.path("mine")).expect("writable");
    folder.succeeds(&[
        "sweep",
        "small.ron",
        "--out",
        "mine/ring_deadlock",
        "--quiet",
    ]);
    let errors = folder.fails(2, &["reproduce", "ring_deadlock", "--out", "mine"]);
    assert!(errors.contains("holds another study"), "{errors}");
    assert!(folder.path("mine/ring_deadlock/sweep.csv").exists());
    let errors = folder.fails(2, &["reproduce", "ring_deadlok"]);
    assert!(errors.contains("did you mean `ring_deadlock`?"), "{errors}");
    let listed = folder.succeeds(&["reproduce"]);
    assert!(
        STUDIES.iter().all(|study| listed.contains(study.id)),
        "{listed}"
    );
}
