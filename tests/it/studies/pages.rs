//! A sweep's page: curves with the names of what differs, seeds as repetitions, every curve drawn, no more said than the table
//! says.

use super::Folder;
use std::fs;
use virtlane::report::Verdict;
use virtlane::results::{Curves, Results};

/// A torus with failed links, drawn anew with every seed.
const TORUS: &str = r#"Scenario(
    title: "faulty torus", seed: 1,
    fabric: (topology: Torus(radix: [4, 4]), flit: "64 B", link: (rate: "100 Gbit/s", latency: "10 ns"),
             switch: (lanes: 4, lane_capacity: "8 KiB", routing_delay: "50 ns")),
    faults: (links: Fraction(0.05)),
    routing: Lash(),
    traffic: [(name: "u", pattern: Uniform, process: Bernoulli(load: 0.3), size: "1 KiB", sl: 0)],
    phases: (warmup: "500 cycles", measure: "2000 cycles"),
    sweep: (
        axes: [
            ("routing", [Lash(), Dfsssp(), UpDown(), SegmentRouting(), TurnProhibition(), DimensionOrder(), SpanningTree()]),
            ("traffic.u.process.load", [0.1, 0.4]),
        ],
        seeds: 2,
    ),
)"#;

/// A folder with a finished sweep of the torus in `out`, with these changes; what the table for people says.
fn swept(changes: &[&str]) -> (Folder, String) {
    let folder = Folder::new();
    fs::write(folder.path("torus.ron"), TORUS).expect("writable");
    let sets = changes.iter().flat_map(|change| ["--set", *change]);
    let sweep = ["sweep", "torus.ron", "--keep-going", "--out", "out"];
    let arguments: Vec<&str> = sweep.into_iter().chain(sets).collect();
    let output = folder.run(&arguments);
    let said = String::from_utf8(output.stdout).expect("text");
    (folder, said)
}

fn read(folder: &Folder) -> Results {
    Results::read(&[folder.path("out")]).expect("a sweep")
}

/// Names of all curves, with the runs of their points.
fn curves(results: &Results) -> Vec<(String, Vec<usize>)> {
    let curves = Curves::new(results).expect("plans").curves;
    let all = curves.into_iter().map(|curve| {
        let runs = curve.points.iter().map(|point| point.runs.len());
        (curve.label, runs.collect())
    });
    all.collect()
}

fn page(folder: &Folder) -> String {
    folder.succeeds(&["report", "out", "--out", "page.html"]);
    fs::read_to_string(folder.path("page.html")).expect("a page")
}

/// One figure of a page.
fn figure<'a>(page: &'a str, name: &str) -> &'a str {
    let start = page
        .find(&format!("<figure class=\"{name}"))
        .expect("drawn");
    let end = page[start..].find("</figure>").expect("a whole figure");
    &page[start..start + end]
}

#[test]
fn seeds_and_what_follows_them_are_repetitions_and_every_engine_is_drawn() {
    let (folder, table) = swept(&[]);
    let results = read(&folder);
    let engines = [
        "Lash",
        "Dfsssp",
        "UpDown",
        "SegmentRouting",
        "TurnProhibition",
        "SpanningTree",
    ];
    let expected = engines.map(|engine| (engine.to_owned(), vec![2, 2]));
    assert_eq!(curves(&results), expected);
    let page = page(&folder);
    for name in ["accepted-load", "latency-load", "latency-load-p99"] {
        let figure = figure(&page, name);
        for (number, engine) in (1..).zip(engines) {
            assert!(
                figure.contains(&format!("\n{engine}\n")),
                "{name}: {engine}"
            );
            assert!(
                figure.contains(&format!("var(--series-{number})")),
                "{name}: {engine}"
            );
        }
        assert!(
            figure.contains("95 % confidence intervals over the seeds"),
            "{name}"
        );
    }
    assert!(!page.contains("first 6 of"));
    // what could not be simulated is told once, with where and why
    let told = "not simulated, 4 runs (2 points), routing = DimensionOrder(): routing: DimensionOrder cannot";
    assert_eq!(page.matches(told).count(), 1);
    assert!(
        table.contains("DimensionOrder ") && !table.contains("Lash()"),
        "{table}"
    );
}

#[test]
fn an_axis_of_seeds_makes_no_curves_and_no_rows() {
    let axes =
        "sweep=(axes: [(\"faults.seed\", [3, 4, 5]), (\"traffic.u.process.load\", [0.1, 0.4])])";
    let (folder, table) = swept(&[axes]);
    assert_eq!(curves(&read(&folder)), [(String::new(), vec![3, 3])]);
    let rows: Vec<&str> = table
        .lines()
        .filter(|line| line.contains("steady"))
        .collect();
    assert_eq!(rows.len(), 2, "{table}");
    assert!(
        rows.iter()
            .all(|row| row.split_whitespace().nth(3) == Some("3")),
        "{table}"
    );
    assert!(!table.contains("seed"), "{table}");
    assert!(page(&folder).contains("95 % confidence intervals over the seeds"));
    // nor do networks that are drawn from several seeds
    let drawn = "sweep=(axes: [(\"fabric.topology\", [Irregular(switches: 8, degree: 3, seed: 1), Irregular(switches: 8, \
                 degree: 3, seed: 2), Torus(radix: [3, 3])]), (\"traffic.u.process.load\", [0.1, 0.2])])";
    let (folder, table) = swept(&["faults=None", drawn]);
    let names = [
        ("irregular, 8 switches (degree 3)".to_owned(), vec![2, 2]),
        ("3 x 3 torus".to_owned(), vec![1, 1]),
    ];
    assert_eq!(curves(&read(&folder)), names, "{table}");
}

#[test]
fn curves_are_named_as_a_person_names_what_differs() {
    let of = |axes: &str, changes: &[&str]| {
        let sweep = format!("sweep=(axes: [{axes}, (\"traffic.u.process.load\", [0.1, 0.2])])");
        let changes = [&["faults=None", &sweep][..], changes].concat();
        let (folder, table) = swept(&changes);
        let names: Vec<String> = curves(&read(&folder))
            .into_iter()
            .map(|curve| curve.0)
            .collect();
        (names, table)
    };
    let (names, table) = of(
        "(\"fabric.topology\", [Torus(radix: [4, 4]), Mesh(radix: [3, 3, 2]), KAryNTree(k: 2, n: 3)])",
        &[],
    );
    assert_eq!(names, ["4 x 4 torus", "3 x 3 x 2 mesh", "2-ary 3-tree"]);
    assert!(
        names.iter().all(|name| table.contains(name.as_str())),
        "{table}"
    );
    let (names, _) = of(
        "(\"fabric.switch.lanes\", [4, 8]), (\"routing\", [Lash(), UpDown()])",
        &[],
    );
    assert_eq!(
        names,
        [
            "Lash, 4 lanes",
            "UpDown, 4 lanes",
            "Lash, 8 lanes",
            "UpDown, 8 lanes"
        ]
    );
}

/// Flows with three controls, one of which needs marks.
const CONTROLS: &str = r#"Scenario(
    title: "controls", seed: 1,
    fabric: (topology: Mesh(radix: [3, 3]), flit: "64 B", link: (rate: "100 Gbit/s", latency: "10 ns"),
             switch: (lanes: 2, lane_capacity: "128 flits", routing_delay: "50 ns")),
    routing: DimensionOrder(),
    traffic: [(name: "bulk", flows: [(pairs: PerHost(count: 1))], size: "1 KiB", sl: 0)],
    phases: (warmup: "500 cycles", measure: "1000 cycles"),
    sweep: (axes: [Zip([
        ("traffic[0].control", [None, Dcqcn(), Window(window: 4)]),
        ("fabric.switch.marking", [None, Ecn(k_min: "8 flits", k_max: "32 flits", p_max: 0.2), None]),
    ])], seeds: 2),
)"#;

#[test]
fn a_control_names_its_curve_and_not_what_comes_with_it() {
    let folder = Folder::new();
    fs::write(folder.path("controls.ron"), CONTROLS).expect("writable");
    let table = folder.succeeds(&["sweep", "controls.ron", "--out", "out"]);
    let expected = ["no control", "DCQCN", "Window (window 4)"];
    assert_eq!(
        curves(&read(&folder)),
        expected.map(|name| (name.to_owned(), vec![2]))
    );
    assert!(
        table.contains(" DCQCN ") && table.contains(" none "),
        "{table}"
    );
}

#[test]
fn a_page_says_of_a_curve_what_its_table_says() {
    let axes = "sweep=(axes: [(\"traffic.u.process.load\", [0.05, 0.1, 0.15, 0.2])], seeds: 2)";
    let (folder, _) = swept(&["faults=None", axes]);
    let mut results = read(&folder);
    let verdicts = [
        Verdict::Steady,
        Verdict::Undecided,
        Verdict::Steady,
        Verdict::Saturated,
    ];
    for (run, verdict) in results.runs.chunks_mut(2).zip(verdicts) {
        // the other seed is steady: the worst counts, as in the table
        run[1].summary.run.verdict = verdict;
    }
    let page = virtlane::html_report::page(&results).expect("a page");
    let head = &page[..page.find("<section>").expect("sections")];
    let places: Vec<String> = Curves::new(&results).expect("plans").curves[0]
        .points
        .iter()
        .map(|point| format!("{:.4}", point.x))
        .collect();
    let x = |number: usize| &places[number];
    let said = format!(
        "steady up to offered load {}, undecided at {}, steady at {}, saturated at {}; accepted load at most",
        x(0),
        x(1),
        x(2),
        x(3)
    );
    assert!(head.contains(&said), "{said} in {head}");
    assert!(
        head.contains("Saturated: 1 of 8 runs, undecided: 1, steady: 6"),
        "{head}"
    );
    // every mixture: what the page calls a point is what its curve calls it
    let all = [
        Verdict::Complete,
        Verdict::Incomplete,
        Verdict::Deadlocked,
        Verdict::Interrupted,
    ];
    for (run, verdict) in results.runs.chunks_mut(2).zip(all) {
        run[0].summary.run.verdict = verdict;
        run[1].summary.run.verdict = verdict;
    }
    let page = virtlane::html_report::page(&results).expect("a page");
    let head = &page[..page.find("<section>").expect("sections")];
    let said = format!(
        "complete up to offered load {}, incomplete at {}, deadlocked at {}, interrupted at {}",
        x(0),
        x(1),
        x(2),
        x(3)
    );
    assert!(head.contains(&said), "{said} in {head}");
}

#[test]
fn a_point_with_a_failed_run_is_not_called_steady() {
    // with one of the seeds the fabric falls apart
    let axes = "sweep=(axes: [(\"faults.links\", [Count(1), Count(9)]), (\"traffic.u.process.load\", [0.05, 0.1])], seeds: 6)";
    let (folder, table) = swept(&[
        "routing=UpDown()",
        "fabric.topology=Torus(radix: [3, 3])",
        "faults=(links: Count(1), keep_connected: false)",
        axes,
    ]);
    let results = read(&folder);
    let curves = Curves::new(&results).expect("plans");
    let failed: Vec<usize> = curves.curves[1]
        .points
        .iter()
        .map(|point| point.failed)
        .collect();
    assert!(
        failed.iter().all(|&failed| 0 < failed && failed < 6),
        "{failed:?}"
    );
    assert!(
        table.contains("24 of 24 runs done, 8 of them failed"),
        "{table}"
    );
    assert_eq!(table.matches(" failed  ").count(), 2, "{table}");
    let page = page(&folder);
    assert_eq!(page.matches("\u{2716} Failed").count(), 2);
    assert!(page.contains("failed at all that was run"), "{page}");
}

#[test]
fn more_curves_than_colors_are_drawn_in_small_multiples() {
    let lanes = "(\"fabric.switch.lanes\", [4, 5, 6, 7, 8])";
    let engines = "(\"routing\", [Lash(), UpDown(), SegmentRouting()])";
    let sweep =
        format!("sweep=(axes: [{engines}, {lanes}, (\"traffic.u.process.load\", [0.1, 0.4])])");
    let (folder, _) = swept(&["faults=None", "phases.measure=600 cycles", &sweep]);
    assert_eq!(curves(&read(&folder)).len(), 15);
    let page = page(&folder);
    for name in ["accepted-load", "latency-load", "latency-load-p99"] {
        let figure = figure(&page, name);
        assert!(
            figure.contains("15 curves; all parts have the same axes"),
            "{figure}"
        );
        for engine in ["Lash", "UpDown", "SegmentRouting"] {
            assert_eq!(
                figure.matches(&format!("\n{engine}\n")).count(),
                1,
                "{engine}"
            );
        }
        for lanes in 4..=8 {
            assert_eq!(
                figure.matches(&format!("\n{lanes} lanes\n")).count(),
                3,
                "{lanes}"
            );
        }
    }
    folder.succeeds(&["plot", "out", "--format", "svg,png", "--out", "figures"]);
    let png = fs::read(folder.path("figures/latency-load.png")).expect("a figure");
    assert!(png.len() > 20_000);
}
