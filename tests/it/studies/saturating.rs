//! The search for the saturation point, through the program.

use super::{Folder, names};
use serde_json::Value;
use std::collections::BTreeMap;

const SHORT: [&str; 4] = [
    "--set",
    "phases=(warmup: \"1000 cycles\", measure: \"5000 cycles\", drain: \"1000 cycles\", watchdog: \"1000 cycles\")",
    "--resolution",
    "0.02",
];

/// A short search of the small scenario.
fn search<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let plain = ["--set", "sweep=None"];
    [
        &["saturate", "small.ron", "--out", "out"][..],
        &SHORT,
        &plain,
        more,
    ]
    .concat()
}

fn result(folder: &Folder, name: &str) -> Value {
    let text = std::fs::read_to_string(folder.path(name).join("saturation.json"));
    serde_json::from_str(&text.expect("a finished search")).expect("JSON")
}

/// What the only search has found.
fn finding(folder: &Folder) -> Value {
    let mut found = result(folder, "out");
    assert_eq!(found["points"].as_array().map(Vec::len), Some(1));
    found["points"][0].take()
}

fn load(value: &Value) -> f64 {
    value.as_f64().expect("a load")
}

/// Rows of the table by column.
fn rows(folder: &Folder) -> Vec<BTreeMap<String, String>> {
    let mut table = csv::Reader::from_path(folder.path("out/saturate.csv")).expect("the curve");
    let rows = table.deserialize().map(|row| row.expect("a row"));
    rows.collect()
}

#[test]
fn seeds_beyond_the_largest_are_refused() {
    let folder = Folder::new();
    let largest = u64::MAX;
    let refused = |first: u64, seeds: &str| {
        let seed = format!("seed={first}");
        let message = folder.fails(2, &search(&["--seeds", seeds, "--set", &seed]));
        let most = 3 * seeds.parse::<u64>().expect("a number");
        let told = format!(
            "up to {most} seeds of a load from `seed: {first}` on, three times `--seeds {seeds}`, go beyond {largest}, the \
             largest: expected a smaller `seed`"
        );
        assert!(message.contains(&told), "{message}");
        assert_eq!(names(&folder.path("")), ["small.ron"]);
    };
    refused(largest, "4");
    refused(largest - 10, "4");
    refused(largest - 7, "3");
    let seed = format!("seed={}", largest - 8);
    folder.succeeds(&search(&["--seeds", "3", "--set", &seed]));
}

#[test]
fn a_mesh_saturates_between_half_and_the_full_rate() {
    let folder = Folder::new();
    let arguments = search(&["--curve"]);
    let shown = folder.succeeds(&arguments);
    assert!(shown.contains("behaviour  saturated: "), "{shown}");
    let found = finding(&folder);
    let (low, high) = (load(&found["sustained"]), load(&found["overloaded"]));
    // a 4 x 4 mesh carries the full rate across its bisection; wormholes of 8 flits on 2 lanes do not reach it
    let undecided = found["undecided"].as_array().map_or(0, Vec::len);
    assert!(
        0.4 < low && low < high && high < 1.0 && high - low <= 0.02 * (1 + undecided) as f64 + 1e-5,
        "{low} to {high}"
    );
    let rows = rows(&folder);
    let loads = rows
        .iter()
        .map(|row| row["traffic.bulk.process.load [fraction of link rate]"].parse());
    let loads: Vec<f64> = loads.collect::<Result<_, _>>().expect("loads");
    assert!(loads.len() >= 10 && loads.is_sorted(), "{loads:?}");
    assert!(loads.contains(&1.0) && loads.iter().any(|load| *load < low / 3.0));
    // the same search finds its runs
    let runs = names(&folder.path("out/runs"));
    assert_eq!(folder.succeeds(&arguments), shown);
    assert_eq!(names(&folder.path("out/runs")), runs);
    // the report says what the search says, and does not go on without
    folder.succeeds(&["report", "out"]);
    let page = std::fs::read_to_string(folder.path("out/report.html")).expect("a report");
    let point = format!("saturation between {low:.4} (sustained within 2 %) and {high:.4} (not)");
    assert!(page.contains(&point) && shown.contains(&point), "{point}");
    std::fs::write(folder.path("out/saturation.json"), "{}").expect("writable");
    let message = folder.fails(2, &["report", "out"]);
    assert!(
        message.contains("saturation.json") && message.contains("damaged"),
        "{message}"
    );
}

/// A row says of its load what the search says, not what each of its runs says by itself.
#[test]
fn table_report_and_result_agree_about_every_load() {
    let folder = Folder::new();
    let shown = folder.succeeds(&search(&[]));
    let found = finding(&folder);
    let (low, high) = (load(&found["sustained"]), load(&found["overloaded"]));
    let rows = rows(&folder);
    assert_eq!(rows.len(), found["levels"].as_array().map_or(0, Vec::len));
    for row in &rows {
        let at: f64 = row["traffic.bulk.process.load [fraction of link rate]"]
            .parse()
            .expect("a load");
        let judgement = &row["judgement"];
        let expected = if at <= low {
            "sustained"
        } else if at >= high {
            "not sustained"
        } else {
            "undecided"
        };
        assert_eq!(judgement, expected, "{row:?}");
        assert!(
            !row["reason"].is_empty() && !row.contains_key("verdict"),
            "{row:?}"
        );
    }
    let (table, _) = shown.split_once("(loads:").expect("a table");
    assert!(
        !table.contains("steady") && !table.contains("saturated"),
        "{table}"
    );
    folder.succeeds(&["report", "out"]);
    let page = std::fs::read_to_string(folder.path("out/report.html")).expect("a report");
    assert!(page.contains("Saturation point") && page.contains("Not sustained"));
    // what is sustained is so within the tolerance, beside the most that was accepted
    let peak = &found["peak"];
    assert!(
        low * (1.0 - load(&found["tolerance"])) <= load(&peak["accepted"]) * 1.005,
        "{found}"
    );
    let most = format!(
        "; accepted at most {:.4} +- {:.4}",
        load(&peak["accepted"]),
        load(&peak["half_width"])
    );
    assert!(
        shown.contains(&most) && page.contains(&most),
        "{most}\n{shown}"
    );
}

/// Runs that are certainly overloaded stop at the same cycle however they are made, and say so.
#[test]
fn overloaded_runs_are_cut_short_and_recorded_as_such() {
    let folder = Folder::new();
    let shown = folder.succeeds(&search(&["--jobs", "1", "--threads", "1"]));
    let first = result(&folder, "out");
    let cut = |row: &BTreeMap<String, String>| row["cut short"].parse::<usize>().expect("a number");
    let before = rows(&folder);
    let number: usize = before.iter().map(cut).sum();
    assert!(
        number >= 2 && shown.contains("cut short, certainly overloaded"),
        "{shown}"
    );
    let mut stopped = 0;
    for run in names(&folder.path("out/runs")) {
        let file = folder.path("out/runs").join(run).join("summary.json");
        let summary = std::fs::read_to_string(file).expect("a finished run");
        let summary: Value = serde_json::from_str(&summary).expect("JSON");
        if summary["run"]["cut_short"] == true {
            stopped += 1;
            let length = summary["run"]["length"].as_str().unwrap_or_default();
            assert!(length.contains("certainly overloaded"), "{length}");
            assert!(load(&summary["run"]["cycles"]["measure"]) < 5000.0);
        }
    }
    assert_eq!(stopped, number);
    // the full rate is run to its end: how the fabric behaves there is told by it
    let full = before.last().expect("a load");
    assert_eq!(
        (full["judgement"].as_str(), cut(full)),
        ("not sustained", 0)
    );
    std::fs::remove_dir_all(folder.path("out")).expect("there");
    folder.succeeds(&search(&["--jobs", "2", "--threads", "4"]));
    assert_eq!(result(&folder, "out"), first);
    assert_eq!(rows(&folder), before);
}

/// Three of the four paths that cross a row of a 4 x 4 mesh share a channel in a transpose, so a third of the rate is
/// the bound; twelve of sixteen hosts send, and not all of them by such a channel. The fewest seeds are enough to see it.
#[test]
fn a_transpose_is_not_sustained_beyond_the_bound_of_its_busiest_channel() {
    let transpose = [
        "--set",
        "traffic.bulk.pattern=Transpose",
        "--set",
        "fabric.switch=(lanes: 4, lane_capacity: \"64 flits\")",
    ];
    for seeds in ["3", "4"] {
        let folder = Folder::new();
        folder.succeeds(&search(&[&transpose[..], &["--seeds", seeds]].concat()));
        let sustained = load(&finding(&folder)["sustained"]);
        assert!(
            (0.28..=1.02 / 3.0).contains(&sustained),
            "{seeds} seeds: {sustained}"
        );
    }
}

/// A host that is also sent a twentieth of all packets on purpose takes the full rate of its link; all others get far
/// less, and every source misses a small part of what it sends only.
#[test]
fn a_hot_spot_is_not_sustained_beyond_what_its_receiver_takes() {
    let folder = Folder::new();
    let hot_spot = [
        "--set",
        "fabric.topology=XGFT(children: [8, 8], parents: [1, 8])",
        "--set",
        "routing=FatTree()",
        "--set",
        "fabric.switch=(lanes: 4, lane_capacity: \"32 flits\")",
        "--set",
        "traffic.bulk.sl=[0, 1, 2, 3]",
        "--set",
        "traffic.bulk.pattern=HotSpot(targets: [0], fraction: 0.05)",
    ];
    let shown = folder.succeeds(&search(&hot_spot));
    let found = finding(&folder);
    let bound = 1.0 / (63.0 * 0.05 + 0.95);
    let (low, high) = (load(&found["sustained"]), load(&found["overloaded"]));
    assert!(
        0.85 * bound < low && low < high && high < 1.0205 * bound,
        "{low} to {high}, bound {bound}"
    );
    assert!(
        (load(&found["limit"]["load"]) - bound).abs() < 1e-9,
        "{found}"
    );
    let channel = found["limit"]["channel"].as_str().unwrap_or_default();
    let full = format!(": {channel} is full at {bound:.4})");
    assert!(
        channel.ends_with(" to H0") && shown.contains(&full),
        "{shown}"
    );
}

#[test]
fn every_point_of_a_sweep_is_searched() {
    let folder = Folder::new();
    let axes = "sweep=(axes: [(\"traffic.0.process.load\", [0.1, 0.2]), (\"traffic.bulk.pattern\", [Transpose, Uniform])])";
    let arguments = [
        &["saturate", "small.ron", "--out", "out"][..],
        &SHORT,
        &["--set", axes],
    ]
    .concat();
    let output = folder.run(&arguments);
    let note = String::from_utf8(output.stderr).expect("text");
    assert!(
        note.contains("the axis `traffic.0.process.load` of the sweep is what the search varies"),
        "{note}"
    );
    let shown = String::from_utf8(output.stdout).expect("text");
    let points = result(&folder, "out")["points"].take();
    let points = points.as_array().expect("a list");
    assert_eq!(points.len(), 2);
    let ends = |point: &Value| (load(&point["sustained"]), load(&point["overloaded"]));
    let (one, two) = (ends(&points[0]), ends(&points[1]));
    assert!(
        one.1 < two.0,
        "uniform traffic saturates later: {one:?}, {two:?}"
    );
    for (point, pattern) in points.iter().zip(["Transpose", "Uniform"]) {
        assert_eq!(
            point["values"],
            serde_json::json!([["traffic.bulk.pattern", pattern]])
        );
        let (low, high) = ends(point);
        let line = format!(
            "traffic.bulk.pattern = {pattern}\nsaturation between {low:.4} (sustained within 2 %) and {high:.4}"
        );
        assert!(shown.contains(&line), "{line}\n{shown}");
    }
    let rows = rows(&folder);
    let patterns: Vec<&str> = rows
        .iter()
        .map(|row| row["traffic.bulk.pattern"].as_str())
        .collect();
    assert!(
        patterns.is_sorted() && patterns.contains(&"Transpose") && patterns.contains(&"Uniform")
    );
    folder.succeeds(&["report", "out"]);
    let page = std::fs::read_to_string(folder.path("out/report.html")).expect("a report");
    assert!(
        page.contains("Saturation points of 2 searches")
            && page.contains("Uniform: saturation between")
    );
    // the same command finds its runs
    let runs = names(&folder.path("out/runs"));
    assert_eq!(folder.succeeds(&arguments), shown);
    assert_eq!(names(&folder.path("out/runs")), runs);
}

#[test]
fn a_deadlock_is_told_from_saturation() {
    let folder = Folder::new();
    let ring = [
        "--set",
        "fabric.topology=Ring(switches: 8)",
        "--set",
        "routing=MinHop()",
        "--set",
        "fabric.switch=(lanes: 1, lane_capacity: \"8 flits\")",
        "--set",
        "allow_deadlock=true",
        "--seeds",
        "3",
        "--quiet",
    ];
    folder.fails(3, &search(&ring));
    assert_eq!(finding(&folder)["behaviour"], "deadlocked");
    // what was found is not that of another search, though that one fails
    let proved = [
        &ring[..],
        &["--set", "allow_deadlock=false", "--force", "--keep-going"],
    ]
    .concat();
    let message = folder.fails(2, &search(&proved));
    assert!(message.contains("the run failed"), "{message}");
    assert!(!folder.path("out/saturation.json").exists());
    assert!(!names(&folder.path("out/runs")).is_empty());
}

/// A search that comes to nothing at one point goes on at the others.
#[test]
fn a_point_that_cannot_run_does_not_end_the_others() {
    let folder = Folder::new();
    let sweep = "sweep=(axes: [(\"fabric.switch.lanes\", [1, 8])])";
    let torus = [
        "--set",
        "fabric.topology=Torus(radix: [5, 5])",
        "--set",
        "routing=DimensionOrder()",
        "--set",
        sweep,
        "--quiet",
    ];
    let arguments = [
        &["saturate", "small.ron", "--out", "out"][..],
        &SHORT,
        &torus,
    ]
    .concat();
    // told before any search, and nothing is begun
    let errors = folder.fails(2, &arguments);
    let told =
        "4 of 8 runs cannot be simulated (1 point)\n  4 runs (1 point), fabric.switch.lanes = 1:";
    assert!(errors.contains(told), "{errors}");
    assert!(!folder.path("out").exists());
    let arguments = [&arguments[..], &["--keep-going"]].concat();
    let errors = folder.fails(2, &arguments);
    let words = "fabric.switch.lanes = 1";
    assert!(
        errors.contains(words) && errors.contains("the run failed"),
        "{errors}"
    );
    let found = result(&folder, "out");
    assert_eq!(found["failed"][0]["values"][0][1], "1");
    assert_eq!(found["points"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["points"][0]["values"][0][1], "8");
    assert!(load(&found["points"][0]["sustained"]) > 0.0);
}

#[test]
fn senseless_searches_are_refused() {
    let folder = Folder::new();
    let errors = folder.fails(2, &["saturate", "small.ron", "--class", "bluk"]);
    assert!(errors.contains("did you mean `bulk`?"), "{errors}");
    let process = "traffic.bulk.process=Saturating()";
    let errors = folder.fails(2, &["saturate", "small.ron", "--set", process]);
    assert!(
        errors.contains("of class `bulk` has no load to vary"),
        "{errors}"
    );
    // flows have no load of their class, whatever else there is
    let flows =
        "(name: \"job\", flows: [(pairs: PerHost(count: 1), bytes: \"4 KiB\")], size: \"512 B\")";
    let bulk = "(name: \"bulk\", pattern: Uniform, process: Bernoulli(load: 0.5), size: \"512 B\")";
    let alone = format!("traffic=[{flows}]");
    let both = format!("traffic=[{flows}, {bulk}]");
    for arguments in [
        &["--set", &*alone][..],
        &["--set", &*both, "--class", "job"],
    ] {
        let all = [&["saturate", "small.ron", "--set", "sweep=None"], arguments].concat();
        let errors = folder.fails(2, &all);
        assert!(
            errors.contains("class `job` has no load to vary"),
            "{errors}"
        );
    }
    let errors = folder.fails(2, &["saturate", "small.ron", "--tolerance", "1"]);
    assert!(errors.contains("such as 0.01"), "{errors}");
    let errors = folder.fails(2, &["saturate", "small.ron", "--seeds", "2"]);
    assert!(
        errors.contains("of fewer than 3 runs no interval is narrow enough"),
        "{errors}"
    );
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "out"]);
    let errors = folder.fails(2, &["saturate", "small.ron", "--out", "out"]);
    assert!(
        errors.contains("its runs are those of a Sweep, not of a Saturate"),
        "{errors}"
    );
}
