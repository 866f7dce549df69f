//! `report` and `plot`: what a page says, that it stands alone, that its plan repeats the run, and what is refused.

use crate::program::virtlane;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use virtlane::report::Verdict;
use virtlane::results::{Across, Curves, Results};

/// A 4x4 mesh with two classes; the load is set by each run.
const SCENARIO: &str = r#"Scenario(
    title: "small mesh & <two> classes", seed: 1,
    fabric: (topology: Mesh(radix: [4, 4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 2, lane_capacity: "32 flits", routing_delay: "1 cycles")),
    routing: DimensionOrder(),
    traffic: [
        (name: "bulk", hosts: All, pattern: Uniform, process: Bernoulli(load: 0.2), size: "512 B", sl: 0),
        (name: "hot", hosts: All, pattern: AllTo(target: 5), process: Bernoulli(load: 0.01), size: "64 B", sl: 1),
    ],
    phases: (warmup: "500 cycles", measure: "2000 cycles", drain: Auto),
)"#;

fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let (code, output, errors) = virtlane(folder, arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {errors}");
    output
}

/// A folder with the scenario and runs at these loads and seeds, below `runs`.
fn study(loads: &[&str], seeds: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("mesh.ron"), SCENARIO).expect("a writable folder");
    for load in loads {
        for seed in seeds {
            let out = format!("runs/load{load}-seed{seed}");
            let load = format!("traffic.bulk.process.load={load}");
            let arguments = ["run", "mesh.ron", "--set", &load, "--seed", seed];
            let run = [
                &arguments[..],
                &["--threads", "1", "--quiet", "--out", &out],
            ]
            .concat();
            succeed(folder.path(), &run);
        }
    }
    folder
}

/// Runs the scenario with these changes, once for each name.
fn variants(folder: &Path, variants: &[(&str, &[&str])]) {
    for (name, changes) in variants {
        let out = format!("variants/{name}");
        let changes = changes.iter().flat_map(|change| ["--set", *change]);
        let run = [
            "run", "mesh.ron", "--quiet", "--cycles", "500", "--out", &out,
        ];
        let arguments: Vec<&str> = run.into_iter().chain(changes).collect();
        succeed(folder, &arguments);
    }
}

/// What can be read on the page, without the facts of the machine.
fn words(page: &str) -> String {
    let start = page.find("<body>").expect("a page has a body");
    let mut words = String::new();
    for piece in page[start..].split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("tags end");
        let text = text.trim();
        if ["section", "figure", "h2", "h3", "table"]
            .contains(&tag.split(' ').next().unwrap_or_default())
        {
            writeln!(words, "[{tag}]").expect("a string takes text");
        }
        // what is told under the pointer
        if tag == "title" {
            continue;
        }
        let is_of_machine =
            text.contains("Simulated on") || text.starts_with("virtlane run plan.ron");
        if !text.is_empty() && !is_of_machine {
            words.push_str(text);
            words.push('\n');
        }
    }
    words.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

/// Everything a browser would fetch.
fn fetched(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for mark in [
        "src=\"", "href=\"", "url(", "@import", "<script", "<link", "<iframe",
    ] {
        for (at, _) in page.match_indices(mark) {
            let rest = &page[at..page.len().min(at + mark.len() + 40)];
            let target = &rest[mark.len()..];
            if !target.starts_with('#') && !target.starts_with("data:") {
                found.push(rest);
            }
        }
    }
    found
}

#[test]
fn a_report_of_one_run_says_everything_and_stands_alone() {
    let folder = study(&["0.2"], &["1"]);
    let run = "runs/load0.2-seed1";
    let output = succeed(folder.path(), &["report", run]);
    assert_eq!(output.trim(), format!("{run}/report.html"));
    let page = fs::read_to_string(folder.path().join(output.trim())).unwrap();
    assert_eq!(fetched(&page), [""; 0]);
    assert!(
        !page.contains("http"),
        "no address at all, not even of a namespace"
    );
    assert!(page.contains("small mesh &amp; &lt;two&gt; classes"));
    insta::assert_snapshot!(words(&page));
    let left: Vec<_> = fs::read_dir(folder.path().join(run)).unwrap().collect();
    let hidden = left
        .iter()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(hidden.count(), 0, "nothing half-written is left");
}

#[test]
fn a_report_of_several_runs_has_curves() {
    let folder = study(&["0.05", "0.3", "0.6", "0.9"], &["1", "2"]);
    succeed(folder.path(), &["report", "runs", "--out", "all.html"]);
    let page = fs::read_to_string(folder.path().join("all.html")).unwrap();
    assert_eq!(fetched(&page), [""; 0]);
    let words = words(&page);
    let start = words.find("[section]").unwrap();
    let end = words[start + 1..].find("[section]").unwrap() + start + 1;
    insta::assert_snapshot!(&words[..end]);
    // the same figures as files, one set for the study and one per run in detail
    let written = succeed(
        folder.path(),
        &["plot", "runs", "--format", "svg,png", "--out", "figures"],
    );
    let names: Vec<&str> = written.lines().collect();
    assert!(names.contains(&"figures/accepted-load.svg"), "{names:?}");
    assert!(names.contains(&"figures/latency-load-p99.png"), "{names:?}");
    assert!(
        names
            .iter()
            .any(|name| name.ends_with("-channel-utilisation.png")),
        "{names:?}"
    );
    for name in names {
        let bytes = fs::read(folder.path().join(name)).unwrap();
        if name.ends_with("png") {
            assert!(
                bytes.starts_with(b"\x89PNG") && bytes.len() > 5000,
                "{name}"
            );
        } else {
            let text = String::from_utf8(bytes).unwrap();
            roxmltree::Document::parse(&text).unwrap();
            assert!(!text.contains("var(") && !text.contains("NaN"), "{name}");
        }
    }
}

#[test]
fn what_differs_beside_load_and_seed_names_the_curves() {
    let folder = study(&[], &[]);
    let low = "traffic.bulk.process.load=0.05";
    let lanes = "fabric.switch.lanes=4";
    variants(
        folder.path(),
        &[
            ("a", &[low]),
            ("b", &["title=other", "seed=9", low]),
            (
                "c",
                &["traffic.bulk.process.load=0.1", "phases.drain=9000 cycles"],
            ),
            ("d", &[lanes, low]),
        ],
    );
    let results = Results::read(&[folder.path().join("variants")]).unwrap();
    let curves = Curves::new(&results).unwrap();
    assert_eq!(curves.across, Across::Offered);
    let shape = curves.curves.iter().map(|curve| {
        let runs = curve.points.iter().map(|point| point.runs.len());
        (curve.label.as_str(), runs.collect::<Vec<_>>())
    });
    assert_eq!(
        shape.collect::<Vec<_>>(),
        [("2 lanes", vec![2, 1]), ("4 lanes", vec![1])]
    );
    let point = &curves.curves[0].points[0];
    let both = point
        .runs
        .iter()
        .map(|run| run.summary.load.accepted)
        .sum::<f64>()
        / 2.0;
    let mean = point.mean(|summary| Some(summary.load.accepted)).unwrap();
    assert!((mean.mean - both).abs() < 1e-12 && mean.half_width.is_some());
}

#[test]
fn curves_go_over_the_only_number_that_differs() {
    let folder = study(&[], &[]);
    variants(
        folder.path(),
        &[
            ("64", &["fabric.switch.lane_capacity=64 flits"]),
            ("16", &["fabric.switch.lane_capacity=16 flits"]),
        ],
    );
    let results = Results::read(&[folder.path().join("variants")]).unwrap();
    let curves = Curves::new(&results).unwrap();
    let expected = Across::Setting {
        path: "fabric.switch.lane_capacity".into(),
        unit: "flits".into(),
    };
    assert_eq!(curves.across, expected);
    let places: Vec<f64> = curves.curves[0]
        .points
        .iter()
        .map(|point| point.x)
        .collect();
    assert_eq!((curves.curves.len(), places), (1, vec![16.0, 64.0]));
}

#[test]
fn the_plan_of_a_report_repeats_the_run() {
    let folder = study(&["0.2"], &["7"]);
    let run = "runs/load0.2-seed7";
    succeed(folder.path(), &["report", run]);
    let page = fs::read_to_string(folder.path().join(run).join("report.html")).unwrap();
    let plan = page.split("The full plan</summary><pre>").nth(1).unwrap();
    let plan = plan.split("</pre>").next().unwrap();
    let plan = plan
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    fs::write(folder.path().join("plan.ron"), plan).unwrap();
    let json = succeed(
        folder.path(),
        &["run", "plan.ron", "--format", "json", "--out", "again"],
    );
    let summary: serde_json::Value = serde_json::from_str(&json).unwrap();
    let digest = summary["run"]["digest"].as_str().unwrap();
    assert!(page.contains(&format!("<code>{digest}</code>")), "{digest}");
}

/// A file of no bytes.
const EMPTY: (&str, &str) = ("", "");

/// Copies of a good run with one file removed, or with a text in it replaced; nothing is replaced by `""`.
const DAMAGES: [(&str, &str, Option<(&str, &str)>); 15] = [
    ("no-manifest", "manifest.ron", None),
    ("no-summary", "summary.json", None),
    ("no-log", "latency.hlog", None),
    (
        "old",
        "summary.json",
        Some(("virtlane-summary/2", "virtlane-summary/0")),
    ),
    (
        "older",
        "summary.json",
        Some(("\"diameter\"", "\"radius\"")),
    ),
    (
        "mixed",
        "summary.json",
        Some(("\"digest\": \"", "\"digest\": \"0")),
    ),
    ("cut", "manifest.ron", Some(("plan: Scenario(", ""))),
    ("table", "channels.csv", Some(("\n0,", "\n1,"))),
    (
        "interval",
        "timeline.csv",
        Some(("\n0,", "\n18446744073709551615,")),
    ),
    (
        "endless",
        "summary.json",
        Some(("\"drain\": ", "\"drain\": 18446744073709551")),
    ),
    ("log", "latency.hlog", Some(("HIST", "HOST"))),
    ("empty-log", "latency.hlog", Some(EMPTY)),
    ("empty-table", "channels.csv", Some(EMPTY)),
    ("short-log", "latency.hlog", Some(("Tag=hot", "#"))),
    (".x.partial-1-0", "trace.json", None),
];

fn damage(folder: &Path, good: &str, (name, file, change): (&str, &str, Option<(&str, &str)>)) {
    let copy = folder.join(name);
    fs::create_dir(&copy).expect("a writable folder");
    for entry in fs::read_dir(folder.join(good)).expect("a run").flatten() {
        fs::copy(entry.path(), copy.join(entry.file_name())).expect("a copy");
    }
    let file = copy.join(file);
    match change {
        Some(EMPTY) => fs::write(&file, "").expect("a writable file"),
        Some((from, to)) => {
            let text = fs::read_to_string(&file).expect("a file of text");
            assert!(text.contains(from), "{name}");
            fs::write(&file, text.replacen(from, to, 1)).expect("a writable file");
        }
        // a run that was stopped has no trace yet
        None => drop(fs::remove_file(&file)),
    }
}

#[test]
fn what_is_no_finished_run_is_refused_with_the_file_that_says_so() {
    let folder = study(&["0.2"], &["1"]);
    let folder = folder.path();
    fs::create_dir(folder.join("empty")).unwrap();
    for case in DAMAGES {
        damage(folder, "runs/load0.2-seed1", case);
    }
    let damaged = DAMAGES.iter().map(|case| case.0);
    let mut list = String::new();
    for directory in ["missing", "mesh.ron", "empty"].into_iter().chain(damaged) {
        let (code, output, error) = virtlane(folder, &["report", directory]);
        assert_eq!(
            (code, output.as_str()),
            (Some(2), ""),
            "{directory}: {error}"
        );
        assert!(
            !folder.join(directory).join("report.html").exists(),
            "{directory}"
        );
        list.push_str(&error);
    }
    insta::assert_snapshot!(list);
    let (code, _, error) = virtlane(folder, &["report", "runs", "--out", "no/such/place.html"]);
    assert_eq!(code, Some(2));
    assert!(
        error.contains("cannot write `no/such/place.html`"),
        "{error}"
    );
}

#[test]
fn a_run_in_detail_is_told_by_its_point_and_has_its_verdict() {
    let folder = study(&["0.05", "0.2", "0.3"], &["1", "2"]);
    let mut results = Results::read(&[folder.path().join("runs")]).unwrap();
    let last = results
        .runs
        .iter()
        .position(|run| run.path.ends_with("load0.3-seed2"))
        .unwrap();
    results.runs[last].summary.run.verdict = Verdict::Deadlocked;
    let curves = Curves::new(&results).unwrap();
    let detailed = curves.detailed();
    let shown = detailed.last().unwrap();
    assert!(shown.run.path.ends_with("load0.3-seed2"), "{shown:?}");
    let points = &curves.curves[0].points;
    assert!((shown.x - points.last().unwrap().x).abs() < 1e-9);
}

#[test]
fn runs_that_failed_are_counted_in_the_heading() {
    for (patterns, heading) in [
        (
            "[Uniform, Transpose, Nonsense]",
            "Steady: 2 of 3 runs, not simulated: 1",
        ),
        (
            "[Nonsense, Uniform, Rubbish]",
            "Steady: 1 of 3 runs, not simulated: 2",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let sweep = format!(r#"sweep: (axes: [("traffic.bulk.pattern", {patterns})])"#);
        let scenario = SCENARIO.trim_end_matches(')').to_owned() + &sweep + ",)";
        fs::write(folder.path().join("mesh.ron"), scenario).unwrap();
        let arguments = [
            "sweep",
            "mesh.ron",
            "--quiet",
            "--keep-going",
            "--out",
            "study",
        ];
        let (_, _, errors) = virtlane(folder.path(), &arguments);
        assert!(errors.contains("Nonsense"), "{errors}");
        succeed(folder.path(), &["report", "study", "--out", "page.html"]);
        let page = words(&fs::read_to_string(folder.path().join("page.html")).unwrap());
        assert!(page.contains(heading), "{page}");
    }
}

#[test]
fn what_has_no_curve_and_no_length_is_not_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/scenarios/messages/barrier.ron"
    );
    succeed(
        folder.path(),
        &["run", scenario, "--quiet", "--out", "barrier"],
    );
    let ring = scenario.replace("barrier.ron", "ring_all_reduce.ron");
    succeed(folder.path(), &["run", &ring, "--quiet", "--out", "ring"]);
    let page = |run: &str| {
        succeed(folder.path(), &["report", run, "--out", "page.html"]);
        fs::read_to_string(folder.path().join("page.html")).unwrap()
    };
    // every packet takes three cycles, and counts are no fractions
    let barrier = page("barrier");
    assert!(!barrier.contains("class=\"latency-distribution\""));
    assert!(barrier.contains("<td>24</td>") && !barrier.contains("<td>24.0</td>"));
    // there is no warm-up
    let ring = page("ring");
    assert!(ring.contains("class=\"latency-distribution\""));
    let timeline = &ring[ring.find("class=\"timeline\"").unwrap()..];
    let names: Vec<&str> = timeline.lines().map(str::trim).collect();
    assert!(names.contains(&"measured") && !names.contains(&"warm-up"));
}

/// Flows of several sizes on a mesh, some without end.
const FLOWS: &str = r#"Scenario(
    title: "flows", seed: 1,
    fabric: (topology: Mesh(radix: [4, 4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lane_capacity: "32 flits", routing_delay: "1 cycles")),
    routing: DimensionOrder(),
    traffic: [(name: "bulk", flows: [
        (pairs: PerHost(count: 3), bytes: "2 KiB"),
        (pairs: RandomPairs(count: 4), bytes: "1000 KiB"),
    ], size: "512 B")],
    phases: (warmup: "0 cycles", measure: "4000 cycles"),
)"#;

#[test]
fn a_report_of_flows_has_their_times_and_rates() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let names = ["flow-completion", "flow-slowdown", "flow-rates"];
    let page = |name: &str, text: &str| {
        let file = format!("{name}.ron");
        fs::write(folder.path().join(&file), text).expect("a writable folder");
        succeed(
            folder.path(),
            &["run", &file, "--quiet", "--threads", "1", "--out", name],
        );
        let output = succeed(folder.path(), &["report", name]);
        fs::read_to_string(folder.path().join(output.trim())).expect("a page")
    };
    let all = page("all", FLOWS);
    let drawn = |page: &str| names.map(|name| page.contains(&format!("<figure class=\"{name}\"")));
    // the large flows are never complete: one size class has a slowdown
    assert_eq!(drawn(&all), [true, false, true]);
    assert!(
        all.contains("4 of them were not complete at the end of the run"),
        "{all}"
    );
    assert!(
        all.contains("32 to 63") && all.contains("8192 to 16\u{a0}383"),
        "{all}"
    );
    let sized = FLOWS.replace("1000 KiB", "8 KiB");
    assert_eq!(drawn(&page("sized", &sized)), [true; 3]);
    let one = FLOWS.replace("PerHost(count: 3)", "List(pairs: [(0, 9)])");
    let one = one.replace(
        "        (pairs: RandomPairs(count: 4), bytes: \"1000 KiB\"),\n",
        "",
    );
    assert_eq!(drawn(&page("one", &one)), [false; 3]);

    let table = folder.path().join("sized/flows.csv");
    let text = fs::read_to_string(&table).expect("the table of flows");
    let without_last = &text[..=text.trim_end().rfind('\n').expect("several lines")];
    for (damaged, reason) in [
        (
            without_last.to_owned(),
            "it has 51 flows, summary.json has 52",
        ),
        (
            text.replace("received [fraction", "share [fraction"),
            "missing field",
        ),
    ] {
        fs::write(&table, damaged).expect("a writable file");
        let (code, _, errors) = virtlane(folder.path(), &["report", "sized"]);
        assert_ne!(code, Some(0));
        assert!(
            errors.contains("flows.csv") && errors.contains(reason),
            "{errors}"
        );
    }
}
