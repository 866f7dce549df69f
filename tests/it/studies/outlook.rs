//! Points that cannot be routed, laned or proved are told before a sweep starts, once per reason, and only those.

use super::Folder;
use std::fs;
use virtlane::registry::Arguments;
use virtlane::routing::{ENGINES, Engine, LaneBudget};
use virtlane::scenario::{Document, Known, Parts};
use virtlane::study::{Design, Outlook};

/// Engines, patterns and loads on a small dragonfly: sixty points, a third of which may deadlock.
const DRAGONFLY: &str = r#"Scenario(
    title: "dragonfly", seed: 1,
    fabric: (topology: Dragonfly(p: 2, a: 4, h: 2), flit: "64 B",
             link: (rate: "100 Gbit/s", latency: "50 ns"),
             switch: (lanes: 4, lane_capacity: "64 KiB", routing_delay: "100 ns")),
    routing: DragonflyMinimal(),
    traffic: [(name: "adv", pattern: BadDragon, process: Bernoulli(load: 0.1), size: "1 KiB", sl: 0)],
    phases: (warmup: "200 cycles", measure: "1500 cycles"),
    sweep: (axes: [
        ("routing", [DragonflyMinimal(), Valiant(), Ugal()]),
        ("traffic.adv.pattern", [Uniform, BadDragon]),
        ("traffic.adv.process.load", [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5]),
    ]),
)"#;

fn folder() -> Folder {
    let folder = Folder::new();
    fs::write(folder.path("dragonfly.ron"), DRAGONFLY).expect("writable");
    folder
}

/// What is said of the twenty, in full.
#[track_caller]
fn assert_told(errors: &str) {
    let head = "20 of 60 runs cannot be simulated (20 points)\n  20 runs, routing = Valiant():\n";
    assert!(errors.contains(head), "{errors}");
    assert_eq!(errors.matches("may deadlock").count(), 1, "{errors}");
    let way_out = "set `routing` to `DragonflyMinimal()` (2 lanes), `Ugal()` (3 lanes) or ";
    assert!(errors.contains(way_out), "{errors}");
    assert!(errors.contains("more of them change nothing"), "{errors}");
    assert!(!errors.contains("--set"), "{errors}");
}

#[test]
fn check_tells_every_point_that_cannot_be_simulated_once_per_reason() {
    let folder = folder();
    let output = folder.run(&["check", "dragonfly.ron"]);
    let said = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert_told(&errors);
    let line = "sweep    60 runs of 60 points, 40 of which can be simulated; 3 proofs\n";
    assert!(said.contains(line), "{said}");
    assert!(
        said.starts_with("dragonfly: ok without its sweep\n"),
        "{said}"
    );
    let good = [
        "--set",
        "sweep.axes=[(\"routing\", [DragonflyMinimal(), Ugal()])]",
    ];
    let said = folder.succeeds(&[&["check", "dragonfly.ron"][..], &good].concat());
    let line = "sweep    2 runs of 2 points, 2 of which can be simulated; 2 proofs\n";
    assert!(said.contains(line), "{said}");
    assert!(said.starts_with("dragonfly: ok\n"), "{said}");
}

#[test]
fn a_sweep_that_cannot_be_made_whole_is_refused_before_it_starts_unless_told_otherwise() {
    let folder = folder();
    let sweep = ["sweep", "dragonfly.ron", "--out", "out"];
    let errors = folder.fails(2, &sweep);
    assert_told(&errors);
    assert!(errors.contains("`--keep-going` makes them"), "{errors}");
    assert!(!folder.path("out").exists());
    // the list of runs says which they are
    let output = folder.run(&[&sweep[..], &["--dry-run"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert_told(&String::from_utf8(output.stderr).unwrap());
    let list = String::from_utf8(output.stdout).unwrap();
    let sum = "\n40 of 60 runs to do, 20 that cannot run, ";
    assert!(list.contains(sum), "{list}");
    let list = list.replace(sum, "");
    assert_eq!(list.matches("cannot run").count(), 20, "{list}");
    let wrong = list.lines().filter(|line| line.contains("cannot run"));
    assert!(
        wrong.clone().all(|line| line.contains("Valiant()")),
        "{list}"
    );
    assert!(!folder.path("out").exists());
    // a slice tells of its own runs only
    let slice = folder.fails(2, &[&sweep[..], &["--shard", "1/4"]].concat());
    assert!(
        slice.contains("5 of 15 runs cannot be simulated (5 points)"),
        "{slice}"
    );
    // the others are made when that is asked for, and what is finished is not told again
    let few = "traffic.adv.process.load=0.1";
    let axes = "sweep.axes=[(\"routing\", [Valiant(), Ugal()])]";
    let some = [&sweep[..], &["--set", few, "--set", axes, "--keep-going"]].concat();
    let errors = folder.fails(2, &some);
    assert!(
        errors.contains("1 of 2 runs cannot be simulated (1 point)"),
        "{errors}"
    );
    assert!(folder.table("out").contains("failed"));
    let again = folder.fails(2, &some);
    assert!(!again.contains("cannot be simulated"), "{again}");
}

#[test]
fn a_batch_is_refused_as_its_sweep_is() {
    let folder = folder();
    let batch = [
        "batch",
        "slurm",
        "dragonfly.ron",
        "--tasks",
        "4",
        "--out",
        "batch",
    ];
    assert_told(&folder.fails(2, &batch));
    assert!(!folder.path("batch").exists());
    folder.succeeds(&[&batch[..], &["--keep-going"]].concat());
    let script = fs::read_to_string(folder.path("batch/job.sbatch")).unwrap();
    assert!(script.contains("--keep-going"), "{script}");
}

/// A scenario that ends with this line, the fourteenth, in place of the sweep of the others.
fn scenario(folder: &Folder, end: &str) {
    let start = super::SCENARIO.split("    sweep: (").next();
    let start = start.expect("a scenario with a sweep");
    let start = start.replace("DimensionOrder()", "UpDown()");
    fs::write(folder.path("own.ron"), format!("{start}{end}\n)\n")).expect("writable");
}

/// What is refused of it by all that look at a sweep before it begins.
#[track_caller]
fn refused(folder: &Folder, end: &str) -> String {
    scenario(folder, end);
    let errors = folder.fails(2, &["check", "own.ron"]);
    let sweep = ["sweep", "own.ron", "--out", "out"];
    for more in [&[][..], &["--dry-run"]] {
        let said = folder.fails(2, &[&sweep[..], more].concat());
        let said = said.replace(
            "\nnothing is made of the others either: `--keep-going` makes them",
            "",
        );
        assert_eq!(said, errors);
    }
    assert!(!folder.path("out").exists());
    errors
}

/// Place of a part of the line.
fn place(end: &str, part: &str) -> String {
    let column = end.find(part).expect("it is there") + 1;
    format!("own.ron:14:{column}: ")
}

#[test]
fn points_with_the_same_plan_are_refused_with_the_values_that_make_no_difference() {
    let folder = Folder::new();
    let end = "sweep: (axes: [(\"traffic.bulk.size\", [\"8 flits\", \"512 B\"])]),";
    let errors = refused(&folder, end);
    let told = "sweep.axes[0][1][1]: points 1 and 2 of the sweep are the same run: `traffic.bulk.size = \"8 flits\"` and \
                `traffic.bulk.size = \"512 B\"` make no difference";
    let told = place(end, "\"512 B\"") + told;
    assert!(errors.contains(&told), "{errors}");
    scenario(&folder, &end.replace("512 B", "513 B"));
    folder.succeeds(&["check", "own.ron"]);
}

/// Faults drawn by the seed of the run are those of a seed that is written, for one of the seeds.
#[test]
fn points_that_are_the_same_with_one_seed_only_are_two() {
    let folder = Folder::new();
    let end = |seeds: u32| {
        format!(
            "faults: (links: Count(1)), sweep: (axes: [(\"faults.seed\", [None, 1])], seeds: {seeds}),"
        )
    };
    let errors = refused(&folder, &end(1));
    assert!(
        errors.contains("`faults.seed = None` and `faults.seed = 1` make no difference"),
        "{errors}"
    );
    scenario(&folder, &end(2));
    folder.succeeds(&["sweep", "own.ron", "--dry-run"]);
}

#[test]
fn a_claim_about_a_class_that_a_point_does_not_have_is_refused_before_it_is_made() {
    let folder = Folder::new();
    let loads = "sweep: (axes: [(\"traffic.bulk.process.load\", [0.1, 0.3])])";
    for (metric, reason) in [
        (
            "classes.bluk.offered",
            "unknown class `bluk`: expected `bulk`; did you mean `bulk`?",
        ),
        ("classes.1.offered", "unknown class `1`: expected `bulk`"),
        (
            "routes.throughput_bound.classes.0",
            "unknown class `0`: expected `bulk`",
        ),
        (
            "classes.bulk.flows.throughput",
            "unknown class with flows `bulk`: there is no class with flows",
        ),
        (
            "classes.bulk.messages.count",
            "unknown class with messages `bulk`: there is no class with messages",
        ),
        (
            "levels.0.throughput",
            "there are no flows of service level 0: no class has flows",
        ),
    ] {
        let end =
            format!("{loads}, expect: [(metric: \"{metric}\", relation: AtLeast, value: 0)],");
        let errors = refused(&folder, &end);
        let told = format!(
            "{}expect[0].metric: {reason}",
            place(&end, &format!("\"{metric}\""))
        );
        assert!(errors.contains(&told), "{errors}");
        // a single scenario is told of it as well
        folder.fails(2, &["check", "own.ron", "--set", "sweep=None"]);
    }
    let named =
        format!("{loads}, expect: [(metric: \"classes.0.offered\", relation: AtLeast, value: 0)],");
    scenario(&folder, &named);
    folder.succeeds(&["check", "own.ron"]);
    folder.succeeds(&["check", "own.ron", "--set", "sweep=None"]);
}

/// Points may have classes of their own: a claim must go with those that it is about.
#[test]
fn a_claim_is_held_to_the_classes_of_its_own_points() {
    let folder = Folder::new();
    let class = |name: &str| {
        format!(
            "[(name: \"{name}\", pattern: Uniform, process: Bernoulli(load: 0.1), size: \"512 B\")]"
        )
    };
    let end = |at: &str| {
        let classes = [class("bulk"), class("other")].join(", ");
        format!(
            "sweep: (axes: [Zip([(\"traffic\", [{classes}]), (\"fabric.switch.lanes\", [1, 2])])]), \
             expect: [(metric: \"classes.other.offered\", {at}relation: AtLeast, value: 0)],"
        )
    };
    scenario(&folder, &end("at: [(\"fabric.switch.lanes\", 2)], "));
    folder.succeeds(&["check", "own.ron"]);
    for at in [
        "",
        "at: [(\"fabric.switch.lanes\", 2)], over: [(\"fabric.switch.lanes\", 1)], ",
    ] {
        let errors = refused(&folder, &end(at));
        assert!(
            errors.contains("unknown class `other`: expected `bulk`"),
            "{errors}"
        );
    }
}

#[test]
fn a_value_of_an_axis_that_does_not_fit_is_told_with_its_place() {
    let folder = Folder::new();
    let loads = "sweep: (axes: [(\"traffic.bulk.process.load\", [0.1, \"x\", 5.0])]),";
    let errors = refused(&folder, loads);
    let key = "traffic[0].process.load: ";
    for (value, reason) in [
        ("\"x\"", "`\"x\"` is not a number, such as 0.3"),
        ("5.0", "`load` is 5; it must be above 0 and at most 1"),
    ] {
        let told = place(loads, value) + key + reason;
        assert!(errors.contains(&told), "{told}\n{errors}");
    }
    let parts = "sweep: (axes: [(\"fabric.topology\", [Mesh(radix: [4, 4]), Nope()])]),";
    let told = place(parts, "Nope") + "fabric.topology: unknown topology `Nope`: ";
    let errors = refused(&folder, parts);
    assert!(errors.contains(&told), "{errors}");
}

/// Routes and proofs that a sweep needs, and what of it cannot be simulated.
fn computed(changes: &[&str]) -> ((usize, usize), usize) {
    let mut document = Document::embedded();
    for change in [
        &[
            "fabric.topology=Torus(radix: [5, 5])",
            "fabric.switch.lanes=4",
        ][..],
        changes,
    ]
    .concat()
    {
        document.set(change).expect("a change");
    }
    let design = Design::new(&document).expect("a design");
    let runs: Vec<usize> = (0..design.runs.len()).collect();
    let (known, stop) = (Known::new(), false.into());
    let outlook = Outlook::new(&document, &design, &runs, 3, &known, &stop).expect("it looks");
    (known.computed(), outlook.failing.len())
}

#[test]
fn every_fabric_and_engine_is_routed_and_proved_once() {
    let axes = |axes: &str| {
        format!("sweep=(axes: [{axes}, (\"traffic.0.process.load\", [0.1, 0.2, 0.3])], seeds: 3)")
    };
    let engines = axes("(\"routing\", [DimensionOrder(), Lash(), UpDown()])");
    assert_eq!(computed(&[&engines]), ((3, 3), 0));
    // what is drawn from the seed differs with it: an engine, failed links
    let drawn = axes("(\"routing\", [SegmentRouting(), UpDown()])");
    assert_eq!(computed(&[&drawn]), ((4, 4), 0));
    let faults = "faults=(links: Count(2))";
    let engines = axes("(\"routing\", [Lash(), UpDown()])");
    assert_eq!(computed(&[faults, &engines]), ((6, 6), 0));
    // lanes, service levels, and what joins lanes enter the proof
    let lanes = axes("(\"fabric.switch.lanes\", [4, 8])");
    assert_eq!(computed(&["routing=Lash()", &lanes]), ((2, 2), 0));
    let levels = axes("(\"traffic.0.sl\", [0, 1])");
    assert_eq!(computed(&["routing=UpDown()", &levels]), ((2, 2), 0));
    let joined = axes("(\"fabric.switch.sharing\", [PerLane, PortPool])");
    assert_eq!(computed(&["routing=UpDown()", &joined]), ((1, 2), 0));
    let refused = axes("(\"fabric.switch.sharing\", [PerLane, PortPool])");
    assert_eq!(
        computed(&["routing=DimensionOrder()", &refused]),
        ((1, 2), 9)
    );
}

/// What says that it draws nothing is computed once for all seeds: it must be true.
#[test]
fn engines_that_draw_nothing_give_the_same_tables_for_every_seed() {
    let mut drawn = Vec::new();
    for fabric in [
        "Torus(radix: [4, 4])",
        "Mesh(radix: [3, 4])",
        "KAryNTree(k: 2, n: 3)",
        "Dragonfly(p: 1, a: 3, h: 1)",
        "KAryNFly(k: 2, n: 2)",
        "Irregular(switches: 14, degree: 4, seed: 1)",
    ] {
        let mut document = Document::embedded();
        document.set(&format!("fabric.topology={fabric}")).unwrap();
        let (_, layout) = document.layout(&Parts::registered()).unwrap();
        for name in ENGINES.names().filter(|name| *name != "TableImport") {
            let entry = ENGINES.find(name).unwrap();
            let engine = (entry.build)(Arguments { text: "" }).unwrap();
            let Engine::Tables(engine) = engine else {
                continue;
            };
            let budget = LaneBudget {
                lanes: 8,
                service_levels: 1,
            };
            let tables = [1, 2, 3].map(|seed| engine.route(&layout.graph, budget, seed).ok());
            let differs = tables[0] != tables[1] || tables[0] != tables[2];
            assert!(engine.is_drawn() || !differs, "{name} on {fabric}");
            if differs && !drawn.contains(&name) {
                drawn.push(name);
            }
        }
    }
    assert_eq!(drawn, ["SegmentRouting"]);
    let entry = ENGINES.find("Lash").unwrap();
    let random = (entry.build)(Arguments {
        text: "(order: Random)",
    })
    .unwrap();
    assert!(random.is_drawn());
}

/// A run with what is known of its sweep is the run alone.
#[test]
fn what_is_known_changes_no_run() {
    let folder = folder();
    let axes = "sweep.axes=[(\"routing\", [DragonflyMinimal(), Ugal(), Lash()]), (\"traffic.adv.process.load\", [0.1, 0.3])]";
    folder.succeeds(&[
        "sweep",
        "dragonfly.ron",
        "--quiet",
        "--set",
        axes,
        "--out",
        "out",
    ]);
    let digest = |path: &str| {
        let text = fs::read_to_string(folder.path(path)).expect("a finished run");
        let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        summary["run"]["digest"]
            .as_str()
            .expect("a digest")
            .to_owned()
    };
    let runs = super::names(&folder.path("out/runs"));
    assert_eq!(runs.len(), 6);
    for run in runs {
        let engine = run.split("-_").next().expect("a name with its engine");
        let load = if run.contains("_0.1_") { "0.1" } else { "0.3" };
        let sets = [
            format!("routing={engine}()"),
            format!("traffic.adv.process.load={load}"),
        ];
        let alone = format!("alone-{engine}-{load}");
        folder.succeeds(&[
            "run",
            "dragonfly.ron",
            "--quiet",
            "--set",
            &sets[0],
            "--set",
            &sets[1],
            "--out",
            &alone,
        ]);
        let both = [
            format!("out/runs/{run}/summary.json"),
            format!("{alone}/summary.json"),
        ];
        assert_eq!(digest(&both[0]), digest(&both[1]), "{run}");
    }
}
