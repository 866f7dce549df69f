//! `virtlane flow`: what it tells and writes, the same on any number of threads, and what it refuses.

mod phases;

use crate::program::virtlane;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A 4-ary 3-tree with horizontal links, 64 hosts, two random permutations of one size.
const TREE: &str = r#"Scenario(
    title: "tree", seed: 5,
    fabric: (topology: EnrichedTree(k: 4, n: 3, width: 2), flit: "64 B", link: (rate: "10 Gbit/s", latency: "1 cycles"),
             switch: (lanes: 1, lane_capacity: "16 flits")),
    routing: FatTree(),
    traffic: [(name: "all", flows: [(pairs: Permutations(count: 2), bytes: "1000 flits")], size: "8 flits")],
    phases: (warmup: "0 cycles", measure: "200 cycles"),
)"#;

/// Figure 1.1 of Zdornov and Birk: two flows to d1 and two to d2 over the link between the switches, two more to d2.
const CONGESTION: &str = r#"Scenario(
    title: "congestion", seed: 1,
    fabric: (topology: Mesh(radix: [2], hosts_per_switch: 4), flit: "64 B", link: (rate: "10 Gbit/s", latency: "1 cycles"),
             switch: (lanes: 1, lane_capacity: "16 flits")),
    routing: MinHop(),
    traffic: [
        (name: "far", flows: [(pairs: List(pairs: [(0, 4), (1, 4), (2, 5), (3, 5)]), bytes: "1200 flits")], size: "8 flits"),
        (name: "near", flows: [(pairs: List(pairs: [(6, 5), (7, 5)]), bytes: "1200 flits")], size: "8 flits"),
    ],
    phases: (warmup: "0 cycles", measure: "200 cycles"),
)"#;

struct Told {
    code: Option<i32>,
    output: String,
    errors: String,
}

fn flow(folder: &Path, scenario: &str, arguments: &[&str]) -> Told {
    fs::write(folder.join("it.ron"), scenario).expect("it can be written");
    let (code, output, errors) = virtlane(folder, &[&["flow", "it.ron"], arguments].concat());
    Told {
        code,
        output,
        errors,
    }
}

fn json(scenario: &str, arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [arguments, &["--format", "json"]].concat();
    let told = flow(folder.path(), scenario, &arguments);
    assert_eq!(told.code, Some(0), "{}", told.errors);
    serde_json::from_str(&told.output).expect("JSON")
}

/// Contents of the files of a directory but the manifest, which has times in it.
fn files(directory: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let files = entries.map(|entry| {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        (name, fs::read_to_string(&path).expect("text"))
    });
    files.filter(|(name, _)| name != "manifest.ron").collect()
}

/// A column of a table.
fn column<'a>(csv: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = csv.lines();
    let heading = lines.next().expect("a heading");
    let place = heading.split(',').position(|column| column == name);
    let place = place.unwrap_or_else(|| panic!("no {name} in {heading}"));
    lines
        .map(|line| line.split(',').nth(place).expect("a cell"))
        .collect()
}

fn numbers(csv: &str, name: &str) -> Vec<f64> {
    let cells = column(csv, name).into_iter();
    cells.map(|cell| cell.parse().expect("a number")).collect()
}

#[test]
fn the_congestion_example_gives_a_quarter_to_all() {
    for solver in ["Ffa", "SAA", "SAA-M", "Uniform", "Afa", "AfaLists", "PAFA"] {
        let told = json(CONGESTION, &["--solver", solver, "--check"]);
        let rates = &told["rates"];
        let spread = serde_json::json!({ "mean": 0.25, "std": 0.0, "min": 0.25, "max": 0.25 });
        assert_eq!(
            (&rates["min"], &rates["max"]),
            (&spread, &spread),
            "{solver}"
        );
        assert_eq!(told["contention"]["max"]["mean"], 4.0);
        assert_eq!(told["completion"]["slowdown_max"]["mean"], 4.0);
        assert_eq!(told["completion"]["cycles"]["mean"], 4800.0);
        assert_eq!(told["applications"]["count"], 2);
    }
}

#[test]
fn limits_reserves_and_sizes_count() {
    let rates = |arguments: &[&str]| {
        let told = json(CONGESTION, arguments);
        ["min", "mean", "max"].map(|name| told["rates"][name]["mean"].as_f64().expect("a number"))
    };
    let near = |found: [f64; 3], expected: [f64; 3]| {
        let pairs = found.iter().zip(expected);
        pairs.for_each(|(found, expected)| {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        });
    };
    near(rates(&["--set", "fluid.reserved=0.5"]), [0.125; 3]);
    // what two flows may not send goes to the others
    let limited = ["--set", "traffic.near.flows.0.limit=Rate(0.1)"];
    near(rates(&limited), [0.1, 0.2, 0.25]);
    let sizes = [
        "--set",
        "fluid.weights=Sizes",
        "--set",
        "traffic.near.flows.0.bytes=2400 flits",
    ];
    near(rates(&sizes), [1.0 / 6.0, 5.0 / 18.0, 1.0 / 3.0]);
}

#[test]
fn the_table_is_short() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = flow(
        folder.path(),
        TREE,
        &["--policy", "ForcedDir(hops: 2)", "--runs", "8"],
    );
    assert_eq!((told.code, &*told.errors), (Some(0), ""));
    insta::assert_snapshot!(told.output);
    let told = flow(folder.path(), TREE, &["--quiet"]);
    assert_eq!((&*told.output, &*told.errors), ("", ""));
}

#[test]
fn files_are_the_same_for_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = ["one", "two"].map(|threads| {
        let number = if threads == "one" { "1" } else { "2" };
        let arguments = [
            "--policy",
            "FreeDir",
            "--solver",
            "SaaM",
            "--runs",
            "9",
            "--threads",
            number,
            "--out",
            threads,
        ];
        let told = flow(folder.path(), TREE, &arguments);
        assert_eq!(told.code, Some(0), "{}", told.errors);
        assert!(
            told.output.contains(&format!("results   {threads}")),
            "{}",
            told.output
        );
        files(&folder.path().join(threads))
    });
    assert_eq!(all[0], all[1]);
    let names: Vec<_> = all[0].keys().map(String::as_str).collect();
    let expected = [
        "contention.csv",
        "flows.csv",
        "links.csv",
        "rates.csv",
        "runs.csv",
        "summary.json",
    ];
    assert_eq!(names, expected);
    let manifest = fs::read_to_string(folder.path().join("one/manifest.ron")).expect("a manifest");
    assert!(
        manifest.contains(r#"command: "flow""#) && manifest.contains("runs: 9"),
        "{manifest}"
    );
}

#[test]
fn tables_fit_one_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = flow(
        folder.path(),
        TREE,
        &["--policy", "ForcedDir", "--runs", "3", "--out", "all"],
    );
    assert_eq!(told.code, Some(0), "{}", told.errors);
    let files = files(&folder.path().join("all"));
    let rates = numbers(&files["flows.csv"], "rate [flits per cycle]");
    assert_eq!(rates.len(), 128);
    let loads = numbers(&files["links.csv"], "load [fraction of its rate]");
    assert!(loads.iter().all(|load| *load <= 1.0 + 1e-12));
    // every channel of a flow carries its rate
    let links = numbers(&files["flows.csv"], "links");
    let sent: f64 = rates
        .iter()
        .zip(&links)
        .map(|(rate, links)| rate * links)
        .sum();
    assert!((sent - loads.iter().sum::<f64>()).abs() < 1e-9);
    let flows = numbers(&files["links.csv"], "flows");
    assert!((flows.iter().sum::<f64>() - links.iter().sum::<f64>()).abs() < 0.5);
    let contention = numbers(&files["flows.csv"], "contention [flows]");
    let most = |list: &[f64]| list.iter().copied().fold(0.0, f64::max);
    assert!((most(&contention) - most(&flows)).abs() < 0.5);
    let channels: f64 = numbers(&files["contention.csv"], "channels").iter().sum();
    assert!((channels - 3.0 * flows.len() as f64).abs() < 0.5);
    assert_eq!(column(&files["runs.csv"], "seed"), ["5", "6", "7"]);
    let sorted = numbers(&files["rates.csv"], "rate [fraction of link rate]");
    assert!(sorted.len() == 101 && sorted.is_sorted());
}

/// The second run of a scenario is the first of the scenario with the next seed.
#[test]
fn runs_are_those_of_the_seeds() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = |arguments: &[&str]| {
        let arguments = [arguments, &["--out", "here", "--force", "--quiet"]].concat();
        let told = flow(folder.path(), TREE, &arguments);
        assert_eq!(told.code, Some(0), "{}", told.errors);
        let table = fs::read_to_string(folder.path().join("here/runs.csv")).expect("a table");
        table.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let several = rows(&["--policy", "ForcedDir", "--runs", "3"]);
    for (number, row) in several.iter().enumerate() {
        let seed = (5 + number).to_string();
        assert_eq!(&rows(&["--policy", "ForcedDir", "--seed", &seed])[0], row);
    }
}

#[test]
fn applications_are_told_apart() {
    let pairs =
        "traffic.all.flows.0.pairs=Applications(count: 4, fragments: 2, max_permutations: 3)";
    let rates = |solver: &str| {
        let told = json(TREE, &["--set", pairs, "--solver", solver, "--check"]);
        assert_eq!(told["applications"]["count"], 4);
        told["applications"]["min"]["mean"]
            .as_f64()
            .expect("a number")
    };
    assert!(rates("Afa") >= rates("Saa"));
    assert!((rates("Afa") - rates("AfaLists")).abs() < 1e-12);
}

#[test]
fn claims_about_the_flow_level_are_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let claims = |value: u32| {
        format!(
            "expect=[(claim: \"a quarter\", metric: \"fluid.contention.max\", relation: AtMost, value: {value}), \
             (metric: \"load.accepted\", relation: AtLeast, value: 2)]"
        )
    };
    let told = flow(folder.path(), CONGESTION, &["--set", &claims(4)]);
    assert_eq!((told.code, &*told.errors), (Some(0), ""));
    assert!(told.output.contains("a quarter"), "{}", told.output);
    let told = flow(folder.path(), CONGESTION, &["--set", &claims(3)]);
    assert_eq!(told.code, Some(1));
    assert!(
        told.errors.contains("expectation failed: a quarter"),
        "{}",
        told.errors
    );
}

/// Exit code 2, nothing on standard output, and these words among the errors.
fn refused(scenario: &str, arguments: &str, words: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments: Vec<&str> = arguments.split('|').collect();
    let told = flow(folder.path(), scenario, &arguments);
    assert_eq!((told.code, &*told.output), (Some(2), ""), "{}", told.errors);
    for word in words {
        assert!(told.errors.contains(word), "{word}: {}", told.errors);
    }
}

#[test]
fn wrong_values_are_refused() {
    for (arguments, words) in [
        (
            "--solver|Fffa",
            [
                "--solver: unknown solver of rates `Fffa`",
                "did you mean `Ffa`?",
            ],
        ),
        (
            "--policy|ForceDir",
            ["--policy: unknown policy", "did you mean `ForcedDir`?"],
        ),
        (
            "--policy|ForcedDir(hop: 2)",
            ["fluid.policy", "did you mean `hops`?"],
        ),
        (
            "--set|fluid.solver=Ffa(exact: true)",
            ["fluid.solver", "unknown parameter `exact`"],
        ),
        (
            "--set|fluid.solvers=Ffa",
            ["fluid", "did you mean `solver`?"],
        ),
        (
            "--set|fluid.reserved=1.0",
            ["fluid.reserved", "from 0 to below 1"],
        ),
        ("--out|it.ron", ["`it.ron` cannot be", "a run directory"]),
        ("--runs|0", ["--runs", "0 is not in"]),
    ] {
        refused(TREE, arguments, &words);
    }
}

#[test]
fn what_is_not_of_the_flow_level_is_refused() {
    refused(
        CONGESTION,
        "--policy|Ascent",
        &["fluid.policy: Ascent needs a k-ary n-tree"],
    );
    let uniform = "traffic=[(name: \"all\", pattern: Uniform, process: Bernoulli(load: 0.1), size: \"8 flits\")]";
    let no_flows = format!("--set|{uniform}");
    refused(
        TREE,
        &no_flows,
        &["traffic[0].name", "no class has `flows`"],
    );
    for (arguments, word) in [
        (
            "--set|fabric.topology=KAryNTree(k: 4, n: 3)|--policy|FreeDir",
            "needs an enriched tree",
        ),
        ("--set|routing=AdaptiveAscent()", "has no forwarding tables"),
        (
            "--set|traffic.all.flows.0.stop=\"3 cycles\"",
            "give `bytes` in place of `stop`",
        ),
        (
            "--set|traffic.all.flows.0.bytes=None|--set|traffic.all.flows.0.start=\"3 cycles\"",
            "flows then all have `bytes`",
        ),
        (
            "--set|traffic.all.flows.0.process=Bernoulli(load: 0.1)",
            "has a process",
        ),
        (
            "--set|fluid.weights=Sizes|--set|traffic.all.flows.0.bytes=None",
            "has no size",
        ),
    ] {
        refused(TREE, arguments, &[word]);
    }
}

#[test]
fn results_are_not_replaced_unless_that_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let code = |arguments: &[&str]| {
        flow(
            folder.path(),
            TREE,
            &[&["--out", "here"], arguments].concat(),
        )
        .code
    };
    assert_eq!(code(&[]), Some(0));
    assert_eq!(code(&[]), Some(2));
    assert_eq!(code(&["--force"]), Some(0));
    let names: Vec<_> = fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(names.len(), 2, "the scenario and the results: {names:?}");
}

/// Pages and figures are of packets.
#[test]
fn reports_say_that_they_are_of_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    flow(folder.path(), TREE, &["--out", "here"]);
    let (code, _, errors) = virtlane(folder.path(), &["report", "here"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("is of `virtlane flow`"), "{errors}");
}

#[test]
fn classes_without_flows_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let more = CONGESTION.replace(
        "    traffic: [",
        "    traffic: [\n        (name: \"beside\", pattern: Uniform, process: Bernoulli(load: 0.1), size: \"8 flits\"),",
    );
    let told = flow(folder.path(), &more, &["--quiet"]);
    assert_eq!(told.code, Some(0));
    assert!(
        told.errors
            .contains("class `beside` has no flows and is left out"),
        "{}",
        told.errors
    );
}
