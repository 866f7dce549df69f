//! Wrong places: another study, something else, nothing can be written. Earlier results stay as they are.

use super::{Folder, names};
use std::fs;
use std::process::Command;

#[test]
fn a_changed_scenario_is_refused_with_what_has_changed() {
    let folder = Folder::new();
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "out"]);
    let table = folder.table("out");
    let changed = [
        "sweep",
        "small.ron",
        "--quiet",
        "--out",
        "out",
        "--set",
        "fabric.switch.lanes=4",
    ];
    let errors = folder.fails(2, &changed);
    assert!(
        errors.contains(
            "`out` holds another study: `fabric.switch.lanes` was 2, now 4; choose a new"
        ),
        "{errors}"
    );
    assert_eq!(folder.table("out"), table);
    // comments, title and order do not matter
    let text = fs::read_to_string(folder.path("small.ron")).expect("readable");
    fs::write(folder.path("small.ron"), format!("// a comment\n{text}")).expect("writable");
    let list = folder.succeeds(&["sweep", "small.ron", "--dry-run", "--out", "out"]);
    assert!(list.contains("\n0 of 12 runs to do"), "{list}");
}

#[test]
fn force_extends_a_study_and_keeps_its_runs() {
    let folder = Folder::new();
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "out"]);
    let runs = names(&folder.path("out/runs"));
    let more = [
        "sweep",
        "small.ron",
        "--quiet",
        "--out",
        "out",
        "--set",
        "sweep.seeds=4",
    ];
    let errors = folder.fails(2, &more);
    assert!(errors.contains("`sweep.seeds` was 3, now 4"), "{errors}");
    folder.succeeds(&[&more[..], &["--force"]].concat());
    let all = names(&folder.path("out/runs"));
    assert_eq!(all.len(), 16);
    assert!(runs.iter().all(|run| all.contains(run)));
    folder.succeeds(&[
        "sweep",
        "small.ron",
        "--quiet",
        "--out",
        "new",
        "--set",
        "sweep.seeds=4",
    ]);
    assert_eq!(folder.table("out"), folder.table("new"));
}

#[test]
fn a_run_is_known_by_its_manifest_not_by_its_name() {
    let folder = Folder::new();
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "out"]);
    let table = folder.table("out");
    let runs = names(&folder.path("out/runs"));
    let run = |at: usize| folder.path("out/runs").join(&runs[at]);
    fs::remove_dir_all(run(3)).expect("removable");
    fs::rename(run(4), run(3)).expect("movable");
    let errors = folder.fails(2, &["sweep", "small.ron", "--quiet", "--out", "out"]);
    assert!(
        errors.contains("its manifest is that of another run"),
        "{errors}"
    );
    assert!(errors.contains(&runs[3]), "{errors}");
    assert_eq!(folder.table("out"), table);
}

#[test]
fn places_that_hold_something_else_are_refused() {
    let folder = Folder::new();
    fs::create_dir(folder.path("full")).expect("writable");
    fs::write(folder.path("full/thesis.tex"), "").expect("writable");
    let errors = folder.fails(2, &["sweep", "small.ron", "--out", "full"]);
    assert!(
        errors.contains("`full`: is not empty and has no study.ron"),
        "{errors}"
    );
    assert_eq!(names(&folder.path("full")), ["thesis.tex"]);
    let errors = folder.fails(2, &["sweep", "small.ron", "--out", "small.ron"]);
    assert!(errors.contains("small.ron"), "{errors}");
    // a place where nobody can write, whoever runs the test
    let errors = folder.fails(2, &["sweep", "small.ron", "--out", "/proc/virtlane"]);
    assert!(errors.contains("cannot write `/proc/virtlane"), "{errors}");
}

/// A limit on the size of files stands for a full disk: it fails in the middle of a file, for every user.
#[test]
fn a_full_disk_is_told_and_earlier_results_stay() {
    let folder = Folder::new();
    let first = "sweep.axes=[(\"traffic.bulk.process.load\", [0.1])]";
    folder.succeeds(&[
        "sweep",
        "small.ron",
        "--quiet",
        "--out",
        "out",
        "--set",
        first,
    ]);
    let (table, runs) = (folder.table("out"), names(&folder.path("out/runs")));
    let limited = format!(
        "trap '' XFSZ; ulimit -f 3; exec '{}' sweep small.ron --quiet --out out --force",
        env!("CARGO_BIN_EXE_virtlane")
    );
    let output = Command::new("bash")
        .current_dir(folder.base.path())
        .args(["-c", &limited])
        .output()
        .expect("bash is there");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{errors}");
    assert!(
        errors.contains("cannot write") && errors.contains("File too large"),
        "{errors}"
    );
    assert_eq!(
        (folder.table("out"), names(&folder.path("out/runs"))),
        (table, runs)
    );
    // with space again it goes on
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "out", "--force"]);
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "new"]);
    assert_eq!(folder.table("out"), folder.table("new"));
}

#[test]
fn a_read_only_directory_is_told_and_stays_as_it_is() {
    let folder = Folder::new();
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "out"]);
    let table = folder.table("out");
    let runs = names(&folder.path("out/runs"));
    fs::remove_dir_all(folder.path("out/runs").join(&runs[0])).expect("removable");
    // a file where the folder of runs should be cannot be written into by anybody, root included
    fs::rename(folder.path("out/runs"), folder.path("out/kept")).expect("movable");
    fs::write(folder.path("out/runs"), "").expect("writable");
    let errors = folder.fails(2, &["sweep", "small.ron", "--quiet", "--out", "out"]);
    assert!(errors.contains("cannot write `out/runs`"), "{errors}");
    assert_eq!(folder.table("out"), table);
    fs::remove_file(folder.path("out/runs")).expect("removable");
    fs::rename(folder.path("out/kept"), folder.path("out/runs")).expect("movable");
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "out"]);
    assert_eq!(folder.table("out"), table);
}
