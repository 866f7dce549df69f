//! Results are never lost: full disks, killed runs, two runs to one place, and what the README does in its order.

use crate::studies::{Folder, names};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_virtlane");
/// A run of a second or less.
const RUN: [&str; 4] = ["run", "small.ron", "--threads", "1"];
/// A change that uses all lanes: `channels.csv` is then the largest file.
const BOTH_LANES: &str = "--set 'traffic.bulk.sl=[0, 1]'";
/// Changes that make it endless.
const ENDLESS: [&str; 2] = ["--cycles", "4000000000"];

/// Runs `virtlane` with files of at most so many KiB: for every user that fails in the middle of a file, as a full disk.
fn limited(folder: &Folder, kibibytes: u32, arguments: &str) -> (Option<i32>, String, String) {
    shell(
        folder,
        &format!("trap '' XFSZ; ulimit -f {kibibytes}; exec '{PROGRAM}' {arguments}"),
    )
}

fn shell(folder: &Folder, script: &str) -> (Option<i32>, String, String) {
    let output = Command::new("bash")
        .current_dir(folder.path(""))
        .args(["-c", script])
        .output()
        .expect("bash is there");
    let Output {
        status,
        stdout,
        stderr,
    } = output;
    let text = |bytes| String::from_utf8(bytes).expect("output is text");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn a_full_disk_costs_no_table_and_no_file_that_fits() {
    let folder = Folder::new();
    let (code, table, errors) =
        limited(&folder, 4, &format!("run small.ron {BOTH_LANES} --out out"));
    assert_eq!(code, Some(4), "{errors}");
    assert!(table.contains("\nverdict   steady"), "{table}");
    assert!(table.contains("\ndigest    "), "{table}");
    assert!(!table.contains("\nresults "), "{table}");
    let told = "File too large (os error 27); what could be written is in `out.incomplete`";
    assert!(errors.contains(told), "{errors}");
    let kept = names(&folder.path("out.incomplete"));
    for file in ["summary.json", "classes.csv", "hosts.csv"] {
        assert!(kept.iter().any(|name| name == file), "{file} in {kept:?}");
    }
    // no half files, and nothing that looks like a run
    for file in ["channels.csv", "manifest.ron"] {
        assert!(!kept.iter().any(|name| name == file), "{file} in {kept:?}");
    }
    assert_eq!(names(&folder.path("")), ["out.incomplete", "small.ron"]);
    let errors = folder.fails(2, &["report", "out.incomplete"]);
    assert!(errors.contains("the run is half-written"), "{errors}");
    // `--quiet` asks for no table, but now it is all there is
    let (code, table, _) = limited(
        &folder,
        4,
        &format!("run small.ron {BOTH_LANES} --quiet --out out"),
    );
    assert_eq!(code, Some(4));
    assert!(table.contains("\nverdict   steady"), "{table}");
    assert!(folder.path("out.incomplete-2").is_dir());
}

#[test]
fn records_of_packets_that_do_not_fit_cost_no_run() {
    let folder = Folder::new();
    let all = "run small.ron --set observe.packets=All --out out";
    let (code, table, errors) = limited(&folder, 60, all);
    assert_eq!(code, Some(4), "{errors}");
    assert!(table.contains("\nverdict   steady"), "{table}");
    assert!(
        errors.contains("the run goes on without records of packets"),
        "{errors}"
    );
    let kept = folder.path("out.incomplete");
    let rows = fs::read_to_string(kept.join("packets.cut.csv")).expect("the rows before are kept");
    assert!(rows.ends_with('\n') && rows.lines().count() > 100);
    let width = |line: &str| line.split(',').count();
    assert!(
        rows.lines().all(|line| width(line) == 14),
        "whole rows only"
    );
    assert!(kept.join("channels.csv").is_file() && !kept.join("packets.csv").exists());
    // where there is no room for the tables either, rows that are not all make room
    assert!(!folder.path("out.checkpoint.packets").exists());
    // the state of an earlier part of the run keeps its rows, to go on from when there is space again
    let stopped = [&RUN[..], &["--out", "long", "--set", "observe.packets=All"]].concat();
    let saving =
        "run small.ron --set observe.packets=All --checkpoint-every 1000 --out long --threads 1";
    let (code, _, errors) = limited(&folder, 200, saving);
    assert_eq!(code, Some(4), "{errors}");
    assert!(
        errors.contains("`long.checkpoint` stays, `--resume` goes on"),
        "{errors}"
    );
    folder.succeeds(&[&stopped[..], &["--resume", "--quiet"]].concat());
    let whole = [
        &RUN[..],
        &["--quiet", "--out", "whole", "--set", "observe.packets=All"],
    ]
    .concat();
    folder.succeeds(&whole);
    let packets = |run: &str| fs::read(folder.path(run).join("packets.csv")).expect("it is there");
    assert!(packets("long") == packets("whole"));
}

/// The first state does not fit, nor does any later one: told once, and no rows stay that no state needs.
#[test]
fn states_that_do_not_fit_leave_nothing_and_are_told_once() {
    let folder = Folder::new();
    let saving = "run small.ron --out out --checkpoint cp --checkpoint-every 256 --threads 1 --set observe.packets=All";
    for (kibibytes, warning) in [
        // the state, then the records
        (12, "cp: cannot write the checkpoint `cp`: "),
        // the records alone, behind the first states
        (
            60,
            "the run goes on without records of packets, and saves no more states: ",
        ),
    ] {
        let (code, _, errors) = limited(&folder, kibibytes, saving);
        assert_eq!(code, Some(4), "{errors}");
        assert_eq!(errors.matches(warning).count(), 1, "{errors}");
        let warnings = errors.matches(" WARN ").count();
        assert!(warnings <= 2, "{errors}");
        let left = names(&folder.path(""));
        let has = |name: &str| left.iter().any(|left| left == name);
        assert_eq!(has("cp"), has("cp.packets"), "{left:?}");
        assert_eq!(has("cp"), kibibytes == 60, "{left:?}");
        for name in left.iter().filter(|name| name.starts_with("out")) {
            fs::remove_dir_all(folder.path(name)).expect("removable");
        }
    }
}

#[test]
fn a_closed_standard_output_costs_no_results() {
    let folder = Folder::new();
    let (code, _, errors) = shell(
        &folder,
        &format!("'{PROGRAM}' run small.ron --out out > /dev/full"),
    );
    assert_eq!(code, Some(4), "{errors}");
    assert!(
        errors.contains("cannot write to standard output"),
        "{errors}"
    );
    assert!(folder.path("out/manifest.ron").is_file());
    let (code, _, _) = shell(
        &folder,
        &format!("'{PROGRAM}' run small.ron --out two | true; exit ${{PIPESTATUS[0]}}"),
    );
    assert_eq!(code, Some(0), "a reader may go");
    assert!(folder.path("two/manifest.ron").is_file());
}

#[test]
fn a_sweep_shows_what_a_full_disk_does_not_take() {
    let folder = Folder::new();
    let (code, table, errors) = limited(
        &folder,
        5,
        &format!("sweep small.ron {BOTH_LANES} --out out --jobs 1"),
    );
    assert_eq!(code, Some(4), "{errors}");
    // the channels of the first run take more, and nothing is begun behind a run that is not kept
    assert!(table.contains("1 of 12 runs done"), "{table}");
    assert!(errors.contains("File too large"), "{errors}");
}

/// A run that is killed when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // it may have ended
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An endless run to `out`, once it has taken its name.
fn endless(folder: &Folder, out: &[&str]) -> Running {
    let child = Command::new(PROGRAM)
        .current_dir(folder.path(""))
        .args([&RUN[..], &ENDLESS, out].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let running = Running(child.expect("the program starts"));
    // the place of its state is taken last
    let name = out
        .last()
        .map_or("runs/.small-sweep-1.checkpoint.partial-run".into(), |out| {
            format!(".{out}.checkpoint.partial-run")
        });
    wait_for(folder, &name);
    running
}

/// Waits until a file or folder is there.
fn wait_for(folder: &Folder, name: &str) {
    let started = Instant::now();
    while !folder.path(name).exists() {
        assert!(
            started.elapsed() < Duration::from_mins(1),
            "{name} does not come"
        );
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_second_run_to_one_place_is_refused_at_once() {
    let folder = Folder::new();
    let first = endless(&folder, &["--out", "out"]);
    let number = first.0.id();
    let errors = folder.fails(2, &[&RUN[..], &ENDLESS, &["--out", "out"]].concat());
    let holder = format!("another run writes to this place: process {number} on `");
    assert!(
        errors.contains(&holder) && errors.contains("` since 20"),
        "{errors}"
    );
    // a forced one, too: it would replace what is not there yet
    let errors = folder.fails(
        2,
        &[&RUN[..], &ENDLESS, &["--out", "out", "--force"]].concat(),
    );
    assert!(errors.contains(&holder), "{errors}");
    let hidden = [
        ".out.checkpoint.partial-run",
        ".out.partial-run",
        "small.ron",
    ];
    assert_eq!(names(&folder.path("")), hidden);
    // what it leaves when it is killed is in nobody's way
    drop(first);
    assert_eq!(names(&folder.path("")), hidden);
    folder.succeeds(&[&RUN[..], &["--quiet", "--out", "out"]].concat());
    assert_eq!(names(&folder.path("")), ["out", "small.ron"]);
}

/// A state, the records of packets beside it and a saved warm-up are of one run at a time.
#[test]
fn a_second_run_that_would_write_the_state_of_a_first_is_refused_at_once() {
    let folder = Folder::new();
    let places = ["--checkpoint", "state", "--save-warmup", "warm"];
    let first = Command::new(PROGRAM)
        .current_dir(folder.path(""))
        .args([&RUN[..], &ENDLESS, &places, &["--out", "first"]].concat())
        .args(["--set", "observe.packets=Every(1000)"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let first = Running(first.expect("the program starts"));
    wait_for(&folder, ".state.packets.partial-run");
    // its warm-up is saved before the names are looked at
    wait_for(&folder, "warm");
    let second = endless(&folder, &["--out", "second"]);
    let holders = [first.0.id(), second.0.id()];
    let before = names(&folder.path(""));
    for (holder, place, flags) in [
        (0, "state", &["--checkpoint", "state"][..]),
        (0, "./state", &["--checkpoint", "./state", "--resume"]),
        (0, "state", &["--save-warmup", "state"]),
        (0, "warm", &["--save-warmup", "warm"]),
        (
            1,
            "second.checkpoint",
            &["--checkpoint", "second.checkpoint"],
        ),
    ] {
        let run = [&RUN[..], &["--out", "other"], flags].concat();
        let errors = folder.fails(2, &run);
        let holder = holders[holder];
        let told = format!("`{place}`: another run writes to this place: process {holder} on `");
        assert!(errors.contains(&told), "{flags:?}: {errors}");
        assert_eq!(names(&folder.path("")), before, "{flags:?}");
    }
    let errors = folder.fails(2, &[&RUN[..], &["--out", "state"]].concat());
    assert!(
        errors.contains("another run writes to this place"),
        "{errors}"
    );
    // what they leave when they are killed is in nobody's way
    drop((first, second));
    let run = [&RUN[..], &places, &["--quiet", "--force", "--out", "first"]].concat();
    folder.succeeds(&[&run[..], &["--set", "observe.packets=All"]].concat());
    folder.succeeds(&[&RUN[..], &["--quiet", "--out", "second"]].concat());
    let left = names(&folder.path("")).into_iter();
    let left: Vec<String> = left.filter(|name| name != "state.packets").collect();
    assert_eq!(left, ["first", "second", "small.ron", "warm"]);
}

#[test]
fn runs_without_a_place_take_the_next_number_from_the_start() {
    let folder = Folder::new();
    let _first = endless(&folder, &[]);
    let table = folder.succeeds(&RUN);
    assert!(
        table.ends_with("\nresults   runs/small-sweep-1-2\n"),
        "{table}"
    );
}

#[test]
fn what_a_run_of_another_machine_left_is_named_and_stays() {
    let folder = Folder::new();
    let left = folder.path(".out.partial-run");
    fs::create_dir(&left).expect("writable");
    let holder = "(process:77,started:\"12\",host:\"node-17\",space:\"\",since:1700000000)";
    fs::write(left.join(".holder"), holder).expect("writable");
    let run = [&RUN[..], &["--quiet", "--out", "out"]].concat();
    let errors = folder.fails(2, &run);
    for part in [
        "`./.out.partial-run` has taken this place: process 77 on `node-17` since 2023-11-14T22:13:20Z",
        "look at what it left and remove it, or choose another place",
    ] {
        assert!(errors.contains(part), "{errors}");
    }
    // another name is nobody's place: told, and left alone
    fs::rename(&left, folder.path(".out.partial-4194305-0")).expect("movable");
    let output = folder.run(&run);
    assert_eq!(output.status.code(), Some(0));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("note: `./.out.partial-4194305-0` is of process 77 on `node-17` since 2023"),
        "{told}"
    );
    assert_eq!(
        names(&folder.path("")),
        [".out.partial-4194305-0", "out", "small.ron"]
    );
}

#[test]
fn force_replaces_a_run_at_its_end_and_nothing_else() {
    let folder = Folder::new();
    let run = [&RUN[..], &["--quiet", "--out", "out"]].concat();
    folder.succeeds(&run);
    let errors = folder.fails(2, &run);
    assert!(
        errors.contains("already holds a run") && errors.contains("--force"),
        "{errors}"
    );
    let digest = |folder: &Folder| {
        let summary = fs::read_to_string(folder.path("out/summary.json")).expect("it is there");
        let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
        summary["run"]["digest"].clone()
    };
    let before = digest(&folder);
    // a forced run that is killed replaces nothing
    drop(endless(&folder, &["--force", "--out", "out"]));
    assert_eq!(digest(&folder), before);
    folder.succeeds(&[&run[..], &["--force", "--seed", "2"]].concat());
    assert_ne!(digest(&folder), before);
    assert_eq!(names(&folder.path("")), ["out", "small.ron"]);
    fs::create_dir(folder.path("mine")).expect("writable");
    fs::write(folder.path("mine/thesis.tex"), "").expect("writable");
    let errors = folder.fails(2, &[&RUN[..], &["--force", "--out", "mine"]].concat());
    assert!(errors.contains("`mine` is not empty"), "{errors}");
}

#[test]
fn standard_error_that_is_no_terminal_gets_no_codes() {
    let folder = Folder::new();
    // more lanes than InfiniBand has are warned of; engines that do not fit are told, and give rows with a reason
    let unfit = "sweep.axes=[(\"routing\", [DragonflyMinimal()])]";
    let lanes = "fabric.switch.lanes=20";
    let run = ["sweep", "small.ron", "--keep-going", "--out", "out"];
    let output = folder.run(&[&run[..], &["--set", unfit, "--set", lanes]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("WARN") && errors.contains("DragonflyMinimal"),
        "{errors}"
    );
    assert!(!errors.contains('\u{1b}'), "{errors:?}");
}

#[test]
fn more_lanes_than_infiniband_has_are_said_aloud() {
    let folder = Folder::new();
    for (lanes, is_said) in [(15, false), (20, true), (32, true)] {
        let set = format!("fabric.switch.lanes={lanes}");
        let output = folder.run(&["check", "small.ron", "--set", &set]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let words = format!("{lanes} data lanes: InfiniBand has at most 15");
        assert_eq!(errors.contains(&words), is_said, "{errors}");
    }
}

#[test]
fn names_with_control_characters_are_refused() {
    let folder = Folder::new();
    let text = fs::read_to_string(folder.path("small.ron")).expect("readable");
    for (from, to) in [
        ("small sweep", "small\\u{1b}[31m sweep"),
        ("bulk", "bu\\nlk"),
    ] {
        fs::write(folder.path("bad.ron"), text.replacen(from, to, 1)).expect("writable");
        let errors = folder.fails(2, &["check", "bad.ron"]);
        assert!(errors.contains("a control character"), "{errors}");
        assert!(!errors.contains('\u{1b}'), "{errors:?}");
    }
}

/// The commands of the README on the scenario it shows, in its order: each finds what it needs, none is in another's way.
#[test]
fn the_examples_of_the_readme_work_in_their_order() {
    let readme = include_str!("../../README.md");
    let blocks = |kind: &str| -> Vec<&str> {
        let start = format!("```{kind}\n");
        let pieces = readme.split(start.as_str()).skip(1);
        pieces
            .filter_map(|piece| piece.split("```").next())
            .collect()
    };
    let scenario = blocks("ron")
        .into_iter()
        .find(|block| block.starts_with("Scenario("));
    let scenario = scenario
        .expect("there is one")
        .trim_end()
        .trim_end_matches(')');
    let sweep = blocks("ron")
        .into_iter()
        .find(|block| block.trim_start().starts_with("sweep:"));
    let text = format!("{scenario}{})", sweep.expect("there is one"));
    let folder = Folder::new();
    fs::write(folder.path("torus.ron"), text).expect("writable");
    let mut done = 0;
    for line in blocks("sh").into_iter().flat_map(str::lines) {
        let command = line.split('#').next().unwrap_or_default().trim();
        let is_ours = command.contains("torus.ron") || command.contains(" study");
        // a cluster is no matter of a test
        if !command.starts_with("virtlane ") || !is_ours || command.contains("batch") {
            continue;
        }
        let arguments = command
            .replace("virtlane", PROGRAM)
            .replace("12/bulk/345", "12/bulk/100");
        let (code, _, errors) = shell(&folder, &arguments);
        assert_eq!(code, Some(0), "{command}: {errors}");
        done += 1;
    }
    assert!(done >= 8, "{done}");
    assert!(Path::new(&folder.path("study/report.html")).is_file());
}
