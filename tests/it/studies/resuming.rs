//! What was stopped at any instant goes on, and ends with the same table.

use super::{Folder, names};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Long enough that a sweep is met in the middle of a run.
const LONG: &str = "phases.measure=40000 cycles";

#[test]
fn a_sweep_killed_at_any_instant_ends_with_the_same_table() {
    let folder = Folder::new();
    let sweep = |out| ["sweep", "small.ron", "--quiet", "--set", LONG, "--out", out];
    folder.succeeds(&sweep("whole"));
    let runs = || std::fs::read_dir(folder.path("killed/runs")).map_or(0, Iterator::count);
    let mut kills = 0;
    // from the start of the program to its last runs: a run more each time, then some milliseconds
    for more in 0..10 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_virtlane"))
            .current_dir(folder.base.path())
            .args(sweep("killed"))
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut is_running = true;
        while is_running && runs() < more {
            sleep(Duration::from_millis(1));
            is_running = child.try_wait().expect("a child").is_none();
        }
        sleep(Duration::from_millis(more as u64 * 7 % 20));
        kills += u32::from(child.try_wait().expect("a child").is_none());
        child.kill().expect("a child");
        child.wait().expect("a child");
    }
    assert!(kills >= 5, "only {kills} of the kills met a running sweep");
    folder.succeeds(&sweep("killed"));
    assert_eq!(folder.table("killed"), folder.table("whole"));
    for place in ["killed", "killed/runs"] {
        let left = names(&folder.path(place));
        let left = left.iter().filter(|name| name.contains(".partial-"));
        assert_eq!(left.count(), 0, "{place}");
    }
}

#[test]
fn finished_runs_are_not_made_again() {
    let folder = Folder::new();
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "out"]);
    let runs = names(&folder.path("out/runs"));
    assert_eq!(runs.len(), 12);
    let manifest = |run: &String| {
        let path = folder.path("out/runs").join(run).join("manifest.ron");
        let changed = std::fs::metadata(path).and_then(|data| data.modified());
        changed.expect("a finished run")
    };
    let before: Vec<_> = runs.iter().map(manifest).collect();
    std::fs::remove_dir_all(folder.path("out/runs").join(&runs[5])).expect("removable");
    let list = folder.succeeds(&["sweep", "small.ron", "--dry-run", "--out", "out"]);
    assert_eq!(list.matches("to do").count(), 1 + 1, "{list}");
    assert_eq!(list.matches("steady").count(), 11, "{list}");
    let table = folder.table("out");
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "out"]);
    let after: Vec<_> = runs.iter().map(manifest).collect();
    let again: Vec<_> = (0..12).filter(|&run| before[run] != after[run]).collect();
    assert_eq!(again, [5]);
    assert_eq!(folder.table("out"), table);
}

#[test]
fn an_interrupted_sweep_keeps_what_is_done() {
    let folder = Folder::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_virtlane"))
        .current_dir(folder.base.path())
        .args([
            "sweep",
            "small.ron",
            "--quiet",
            "--out",
            "out",
            "--jobs",
            "1",
        ])
        .args(["--set", "phases.measure=100000000 cycles"])
        .args([
            "--set",
            "sweep.axes=[(\"phases.measure\", [\"3000 cycles\", \"100 s\"])]",
        ])
        .args(["--set", "sweep.seeds=1"])
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let table = folder.path("out/sweep.csv");
    let has_row = || std::fs::read_to_string(&table).is_ok_and(|text| text.lines().count() == 2);
    for _ in 0..600 {
        if has_row() {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    let pid = child.id().to_string();
    let signal = Command::new("kill").args(["-INT", &pid]).status();
    assert!(signal.expect("kill is there").success());
    assert_eq!(child.wait().expect("a child").code(), Some(130));
    assert!(has_row());
    assert_eq!(names(&folder.path("out/runs")).len(), 1);
}
