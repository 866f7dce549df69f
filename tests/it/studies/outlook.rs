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
    let errors = folder.fails(3, &some);
    assert!(
        errors.contains("1 of 2 runs cannot be simulated (1 point)"),
        "{errors}"
    );
    assert!(folder.table("out").contains("failed"));
    let again = folder.fails(3, &some);
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
