//! What stands in `sweep.csv`, and what happens to runs that fail.

use super::Folder;
use std::collections::BTreeMap;

/// Rows by heading.
fn rows(table: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows = reader.deserialize();
    rows.map(|row| row.expect("a table")).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column]
        .parse()
        .unwrap_or_else(|_| panic!("{column}: {row:?}"))
}

#[test]
fn a_row_has_means_and_intervals_over_seeds() {
    let folder = Folder::new();
    let shown = folder.succeeds(&["sweep", "small.ron", "--out", "out"]);
    assert!(shown.contains("4 points, 12 of 12 runs done"), "{shown}");
    let rows = rows(&folder.table("out"));
    let axes = |row: &BTreeMap<String, String>| {
        [
            "traffic.bulk.process.load [fraction of link rate]",
            "fabric.topology",
            "routing",
        ]
        .map(|axis| row[axis].clone())
    };
    assert_eq!(rows.len(), 4);
    assert_eq!(
        axes(&rows[1]),
        ["0.1", "KAryNTree(k: 4, n: 2)", "FatTree()"]
    );
    assert_eq!(
        axes(&rows[2]),
        ["0.3", "Mesh(radix: [4, 4])", "DimensionOrder()"]
    );
    for row in &rows {
        let words = [
            "verdict",
            "replications",
            "failed",
            "missing",
            "interval",
            "confidence",
        ];
        let expected = ["steady", "3", "0", "0", "replications", "0.95"];
        assert_eq!(words.map(|word| &row[word][..]), expected);
        let offered = number(row, "traffic.bulk.process.load [fraction of link rate]");
        let accepted = number(row, "load.accepted [fraction of link rate]");
        let half_width = number(row, "load.accepted.half_width [fraction of link rate]");
        assert!(
            (accepted - offered).abs() < 0.05 * offered,
            "{accepted} of {offered}"
        );
        assert!(
            0.0 < half_width && half_width < 0.1 * offered,
            "{half_width}"
        );
    }
}

#[test]
fn means_and_intervals_are_those_of_the_summaries() {
    let folder = Folder::new();
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "out"]);
    let rows = rows(&folder.table("out"));
    let runs = super::names(&folder.path("out/runs"));
    let of_first = runs.iter().filter(|run| run.starts_with("0.1_Mesh"));
    let means: Vec<f64> = of_first
        .map(|run| {
            let path = folder.path("out/runs").join(run).join("summary.json");
            let text = std::fs::read_to_string(path).expect("a finished run");
            let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            summary["latency"]["packet"]["mean"]
                .as_f64()
                .expect("packets")
        })
        .collect();
    assert_eq!(means.len(), 3);
    let mean = means.iter().sum::<f64>() / 3.0;
    let found = number(&rows[0], "latency.packet.mean [cycles]");
    assert!((found - mean).abs() < 1e-9, "{found} and {mean}");
    let squares: f64 = means.iter().map(|value| (value - mean).powi(2)).sum();
    // t(2 degrees of freedom, 97.5 %) = 4.3027
    let half_width = 4.302_652_7 * (squares / 2.0 / 3.0).sqrt();
    let found = number(&rows[0], "latency.packet.mean.half_width [cycles]");
    assert!(
        (found - half_width).abs() < 1e-6,
        "{found} and {half_width}"
    );
}

#[test]
fn one_seed_takes_its_intervals_from_batches() {
    let folder = Folder::new();
    folder.succeeds(&[
        "sweep",
        "small.ron",
        "--quiet",
        "--set",
        "sweep.seeds=1",
        "--out",
        "out",
    ]);
    for row in rows(&folder.table("out")) {
        assert_eq!(
            (&row["interval"][..], &row["replications"][..]),
            ("batch means", "1")
        );
        let mean = number(&row, "latency.packet.mean [cycles]");
        let half_width = number(&row, "latency.packet.mean.half_width [cycles]");
        assert!(
            0.0 < half_width && half_width < 0.1 * mean,
            "{half_width} of {mean}"
        );
        assert_eq!(row["latency.packet.p99.half_width [cycles]"], "");
    }
}

#[test]
fn failed_runs_are_rows_and_the_others_go_on() {
    let folder = Folder::new();
    // a ring without datelines deadlocks; a torus is no tree
    let sets = [
        "allow_deadlock=true",
        "fabric.switch.lane_capacity=8 flits",
        "phases.watchdog=1000 cycles",
        "sweep=(axes: [Zip([(\"fabric.topology\", [Mesh(radix: [3, 3]), Ring(switches: 8), \
         Torus(radix: [4, 4])]), (\"routing\", [DimensionOrder(), MinHop(), FatTree()]), \
         (\"fabric.switch.lanes\", [1, 1, 1]), (\"traffic.bulk.process.load\", [0.1, 0.9, 0.1])])])",
    ];
    let mut arguments = vec![
        "sweep",
        "small.ron",
        "--quiet",
        "--keep-going",
        "--out",
        "out",
    ];
    arguments.extend(sets.iter().flat_map(|set| ["--set", set]));
    let errors = folder.fails(3, &arguments);
    assert!(
        errors.contains("1 run failed, 1 deadlocked: see"),
        "{errors}"
    );
    let table = folder.table("out");
    let rows = rows(&table);
    let words: Vec<_> = rows.iter().map(|row| &row["verdict"][..]).collect();
    assert_eq!(words, ["steady", "deadlocked", "failed"]);
    assert_eq!(rows[1]["load.accepted [fraction of link rate]"], "");
    assert!(
        rows[1]["reason"].starts_with("seed 1: "),
        "{}",
        rows[1]["reason"]
    );
    assert!(
        rows[2]["reason"].contains("FatTree"),
        "{}",
        rows[2]["reason"]
    );
    // failed runs are finished: a second call makes nothing and says the same
    let again = folder.fails(3, &arguments);
    assert!(again.contains("1 run failed, 1 deadlocked: see"), "{again}");
    assert_eq!(folder.table("out"), table);
}

/// Routing that needs more lanes than a point has, or than InfiniBand has, fails at that point alone; a claim about its
/// routes has no value.
#[test]
fn a_point_without_enough_lanes_is_a_row() {
    let folder = Folder::new();
    let mut arguments = vec!["sweep", "small.ron", "--keep-going", "--out", "out"];
    for set in [
        "fabric.topology=Irregular(switches: 300, degree: 8, hosts_per_switch: 1)",
        "traffic.bulk.process.load=0.02",
        "sweep=(axes: [Zip([(\"fabric.switch.lanes\", [1, 15, 1]), (\"routing\", [Dfsssp(), \
         Lash(granularity: Destination), UpDown()])])])",
        "expect=[(metric: \"routes.mean_hops\", at: [(\"fabric.switch.lanes\", 15)], relation: AtLeast, value: 1)]",
    ] {
        arguments.extend(["--set", set]);
    }
    let errors = folder.fails(2, &arguments);
    assert!(errors.contains("2 runs failed: see column"), "{errors}");
    let table = folder.table("out");
    let rows = rows(&table);
    let words: Vec<_> = rows.iter().map(|row| &row["verdict"][..]).collect();
    assert_eq!(words, ["failed", "failed", "steady"]);
    let says = |row: usize, words: &str| {
        let reason = &rows[row]["reason"];
        assert!(reason.contains(words), "{reason}");
    };
    says(0, "lanes, the switches have 1: raise `fabric.switch.lanes`");
    says(1, "lanes, the switches have 15: ");
}

#[test]
fn the_table_does_not_depend_on_the_number_of_jobs() {
    let folder = Folder::new();
    folder.succeeds(&[
        "sweep",
        "small.ron",
        "--quiet",
        "--out",
        "one",
        "--jobs",
        "1",
    ]);
    folder.succeeds(&[
        "sweep",
        "small.ron",
        "--quiet",
        "--out",
        "many",
        "--jobs",
        "5",
    ]);
    assert_eq!(folder.table("one"), folder.table("many"));
}

#[test]
fn a_scenario_without_a_sweep_is_refused() {
    let folder = Folder::new();
    let errors = folder.fails(2, &["sweep", "small.ron", "--set", "sweep=None"]);
    assert!(errors.contains("no section `sweep`"), "{errors}");
    assert!(!folder.path("runs").exists());
    let errors = folder.fails(2, &["sweep", "small.ron", "--shard", "3/2"]);
    assert!(errors.contains("such as 2/8"), "{errors}");
}

#[test]
fn what_flows_did_is_in_the_table_and_claims_may_name_it() {
    let folder = Folder::new();
    let scenario = r#"Scenario(
        fabric: (topology: Mesh(radix: [4, 4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
                 switch: (lane_capacity: "32 flits", routing_delay: "1 cycles")),
        routing: DimensionOrder(),
        traffic: [(name: "bulk", flows: [(pairs: PerHost(count: 2), bytes: "2 KiB")], size: "512 B")],
        phases: (warmup: "0 cycles", measure: Flows(at_most: "100000 cycles")),
        sweep: (axes: [("traffic.bulk.flows.0.bytes", ["512 B", "8 KiB"])], seeds: 2),
        expect: [
            (metric: "flows.complete", relation: Equals, value: 32),
            (metric: "flows.slowdown.mean", relation: AtLeast, value: 1),
            (metric: "flows.sizes.128.slowdown.p99", at: [("traffic.bulk.flows.0.bytes", "8 KiB")], relation: AtLeast, value: 1),
        ],
    )"#;
    std::fs::write(folder.path("flows.ron"), scenario).expect("a writable folder");
    let shown = folder.succeeds(&["sweep", "flows.ron", "--out", "out"]);
    assert!(shown.contains("2 points, 4 of 4 runs done"), "{shown}");
    let rows = rows(&folder.table("out"));
    for (row, size) in rows.iter().zip([8, 128]) {
        assert!((number(row, "flows.complete [flows]") - 32.0).abs() < 1e-9);
        let mean = number(row, "flows.slowdown.mean [times that in the empty fabric]");
        let most = number(row, "flows.slowdown.max [times that in the empty fabric]");
        assert!(1.0 < mean && mean < most, "{mean} {most}");
        // a flow is of one size class, the other has a column of its own
        let p99 = |size| format!("flows.sizes.{size}.completion.p99 [cycles]");
        assert!(number(row, &p99(size)) > f64::from(size));
        assert_eq!(row[&p99(8 + 128 - size)], "");
    }
    let claims = std::fs::read_to_string(folder.path("out/claims.csv")).expect("claims");
    assert_eq!(claims.lines().count(), 4, "{claims}");
    assert!(!claims.contains("fails"), "{claims}");
}
