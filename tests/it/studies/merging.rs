//! Shards together are the whole sweep.

use super::{Folder, names};

#[test]
fn merged_shards_are_the_local_sweep() {
    let folder = Folder::new();
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "whole"]);
    let shards = ["1/3", "2/3", "3/3"].map(|shard| (shard, format!("part-{}", &shard[..1])));
    for (shard, out) in &shards {
        folder.succeeds(&[
            "sweep",
            "small.ron",
            "--quiet",
            "--shard",
            shard,
            "--out",
            out,
        ]);
        assert_eq!(names(&folder.path(out).join("runs")).len(), 4);
    }
    folder.succeeds(&[
        "merge", "part-1", "part-2", "part-3", "--quiet", "--out", "merged",
    ]);
    assert_eq!(folder.table("merged"), folder.table("whole"));
    assert_eq!(
        names(&folder.path("merged/runs")),
        names(&folder.path("whole/runs"))
    );
    // what is merged is the sweep: nothing is left to do
    let list = folder.succeeds(&["sweep", "small.ron", "--dry-run", "--out", "merged"]);
    assert!(list.contains("\n0 of 12 runs to do"), "{list}");
}

#[test]
fn missing_shards_are_told_and_can_be_made_later() {
    let folder = Folder::new();
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "whole"]);
    folder.succeeds(&[
        "sweep",
        "small.ron",
        "--quiet",
        "--shard",
        "2/3",
        "--out",
        "part",
    ]);
    let output = folder.run(&["merge", "part", "--quiet", "--out", "merged"]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("8 of 12 runs are missing: `virtlane sweep FILE --out merged`"),
        "{errors}"
    );
    let points: Vec<_> = errors
        .lines()
        .filter(|line| line.starts_with("  point"))
        .collect();
    assert_eq!(points.len(), 4, "{errors}");
    assert_eq!(
        points[3],
        "  point 4 (traffic.bulk.process.load = 0.3, fabric.topology = KAryNTree(k: 4, n: 2), routing = FatTree()): \
         seeds 1, 3"
    );
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "merged"]);
    assert_eq!(folder.table("merged"), folder.table("whole"));
}

#[test]
fn a_damaged_run_costs_none_of_the_others() {
    let folder = Folder::new();
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "part"]);
    let run = names(&folder.path("part/runs")).remove(4);
    let summary = folder.path("part/runs").join(&run).join("summary.json");
    std::fs::write(summary, "").expect("writable");
    let errors = folder.fails(1, &["merge", "part", "--quiet", "--out", "merged"]);
    assert!(errors.contains("1 of 12 runs are missing"), "{errors}");
    assert!(
        errors.contains(&format!("{run}`: is not a finished run")),
        "{errors}"
    );
    assert_eq!(names(&folder.path("merged/runs")).len(), 11);
}

#[test]
fn other_studies_are_not_merged() {
    let folder = Folder::new();
    folder.succeeds(&[
        "sweep",
        "small.ron",
        "--quiet",
        "--shard",
        "1/2",
        "--out",
        "one",
    ]);
    let other = [
        "sweep",
        "small.ron",
        "--quiet",
        "--shard",
        "2/2",
        "--out",
        "two",
        "--set",
        "seed=7",
    ];
    folder.succeeds(&other);
    let errors = folder.fails(2, &["merge", "one", "two", "--out", "merged"]);
    assert!(
        errors.contains("`two`: is another study than `one`: `seed` is new"),
        "{errors}"
    );
    let errors = folder.fails(2, &["merge", "nothing", "--out", "merged"]);
    assert!(errors.contains("`nothing`: is not a study"), "{errors}");
    assert!(!folder.path("merged").exists());
}
