//! What was stopped at any instant goes on, and ends with the same table.

use super::{Folder, names};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use virtlane::run::Checkpoint;

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

/// Four runs, long enough that none ends between a look at its state and the signal that follows.
const LONGER: [&str; 4] = [
    "--set",
    "phases.measure=300000 cycles",
    "--set",
    "sweep.seeds=1",
];

/// A sweep of long runs.
fn sweep(out: &str) -> Vec<&str> {
    let sweep = ["sweep", "small.ron", "--quiet", "--out", out];
    [&sweep[..], &LONGER].concat()
}

/// Starts a sweep of long runs, and tells it to stop when each of its two workers is in the middle of one.
fn stopped_by(folder: &Folder, signal: &str, out: &str) -> (Option<i32>, String) {
    let child = Command::new(env!("CARGO_BIN_EXE_virtlane"))
        .current_dir(folder.base.path())
        .args(sweep(out))
        .args(["--jobs", "2", "--checkpoint-every", "20000"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let states = folder.path(out).join("states");
    wait_for_states(&states, 2);
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([signal, &pid]).status();
    assert!(sent.expect("kill is there").success());
    let output = child.wait_with_output().expect("a child");
    let errors = String::from_utf8(output.stderr).expect("errors are text");
    (output.status.code(), errors)
}

/// Waits until so many runs have a state.
fn wait_for_states(states: &Path, count: usize) {
    for _ in 0..60_000 {
        if states.is_dir() {
            let found = names(states);
            if found.iter().filter(|name| !name.starts_with('.')).count() >= count {
                return;
            }
        }
        sleep(Duration::from_millis(1));
    }
    panic!("no states");
}

#[test]
fn a_stopped_sweep_goes_on_in_the_middle_of_its_runs() {
    let folder = Folder::new();
    folder.succeeds(&sweep("whole"));
    for (signal, code, out) in [
        ("-USR1", 143, "told"),
        ("-TERM", 143, "ended"),
        ("-INT", 130, "cut"),
    ] {
        let (found, errors) = stopped_by(&folder, signal, out);
        assert_eq!(found, Some(code), "{errors}");
        let states = names(&folder.path(out).join("states"));
        assert_eq!(states.len(), 2, "{signal}: {errors}");
        assert!(
            errors.contains("2 of them with a saved state in "),
            "{errors}"
        );
        let list = folder.succeeds(&[&sweep(out)[..], &["--dry-run"]].concat());
        assert_eq!(list.matches("begun").count(), 2, "{list}");
        let errors = folder.run(&sweep(out)).stderr;
        assert_eq!(
            String::from_utf8_lossy(&errors),
            "note: 2 runs go on from their saved state\n"
        );
        assert_eq!(folder.table(out), folder.table("whole"), "{signal}");
        assert!(!folder.path(out).join("states").exists(), "{signal}");
    }
}

#[test]
fn a_run_takes_its_saved_state_and_refuses_that_of_another() {
    let folder = Folder::new();
    folder.succeeds(&sweep("whole"));
    stopped_by(&folder, "-USR1", "out");
    let folder_of_states = folder.path("out/states");
    let states = names(&folder_of_states);
    let [first, second] = [0, 1].map(|at| folder_of_states.join(&states[at]));
    // the past of the first run gets a mark: a run that began anew would not show it
    let mut state = Checkpoint::read(&first).expect("it was saved");
    assert!(state.cycle > 0);
    state.driver.timeline.rows[0].queued_packets = 123_456_789;
    state.write(&first).expect("writable");
    std::fs::copy(&first, &second).expect("writable");
    let output = folder.run(&sweep("out"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let refused =
        "cannot be used, the run starts at cycle 0: the checkpoint belongs to another scenario";
    assert_eq!(errors.matches(refused).count(), 1, "{errors}");
    let timeline = |run: &str| {
        let path = folder.path("out/runs").join(run).join("timeline.csv");
        std::fs::read_to_string(path).expect("every run has a timeline")
    };
    assert!(timeline(&states[0]).contains("123456789"));
    assert!(!timeline(&states[1]).contains("123456789"));
    assert_eq!(folder.table("out"), folder.table("whole"));
}

#[test]
fn a_damaged_state_costs_time_only() {
    let folder = Folder::new();
    stopped_by(&folder, "-USR1", "out");
    let states = folder.path("out/states");
    for name in names(&states) {
        std::fs::write(states.join(name), "virtlane checkpoint\nno").expect("writable");
    }
    let output = folder.run(&sweep("out"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        errors.matches("the checkpoint is damaged").count(),
        2,
        "{errors}"
    );
    folder.succeeds(&sweep("whole"));
    assert_eq!(folder.table("out"), folder.table("whole"));
}

#[test]
fn states_are_saved_on_the_way_when_asked_for() {
    let folder = Folder::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_virtlane"))
        .current_dir(folder.base.path())
        .args(sweep("out"))
        .args(["--jobs", "1", "--checkpoint-every", "5000"])
        .spawn()
        .expect("the program starts");
    wait_for_states(&folder.path("out/states"), 1);
    child.kill().expect("a child");
    child.wait().expect("a child");
    let errors = folder.run(&sweep("out")).stderr;
    assert_eq!(
        String::from_utf8_lossy(&errors),
        "note: 1 run goes on from its saved state\n"
    );
    folder.succeeds(&sweep("whole"));
    assert_eq!(folder.table("out"), folder.table("whole"));
}
