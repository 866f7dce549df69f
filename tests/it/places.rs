//! Places and memory that there are not: told before a run, with the code that says so, and nothing is left behind.

use crate::studies::{Folder, names};
use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_virtlane");
/// More than any process has.
const NOBODY: u32 = 4_194_305;

/// Runs `virtlane` after what a shell does first; code, standard output, standard error.
fn after(folder: &Folder, first: &str, arguments: &str) -> (Option<i32>, String, String) {
    let output = Command::new("bash")
        .current_dir(folder.path(""))
        .args(["-c", &format!("{first}; exec '{PROGRAM}' {arguments}")])
        .output();
    let Output {
        status,
        stdout,
        stderr,
    } = output.expect("bash is there");
    let text = |bytes| String::from_utf8(bytes).expect("output is text");
    (status.code(), text(stdout), text(stderr))
}

/// A scenario with this topology and these entries of flows.
fn scenario(topology: &str, flows: &str) -> String {
    format!(
        "Scenario(title: \"large\", seed: 1, fabric: (topology: {topology}, flit: \"64 B\", \
         link: (rate: \"100 Gbit/s\", latency: \"3 cycles\"), host: (scheduler: Paced), \
         switch: (lanes: 2, lane_capacity: \"64 flits\")), routing: MinHop(), fluid: (runs: 1), \
         traffic: [(name: \"c\", size: \"4 flits\", flows: [({flows}, bytes: \"100 flits\")])], \
         phases: (warmup: \"0 cycles\", measure: \"100 cycles\", drain: \"0 cycles\"))"
    )
}

const SMALL: &str = "Complete(switches: 1, hosts_per_switch: 4)";

#[test]
fn what_does_not_fit_into_memory_is_refused_with_what_it_needs() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| fs::write(folder.path(name), text).expect("writable");
    write("runs.ron", &scenario(SMALL, "pairs: PerHost(count: 2)"));
    write(
        "flows.ron",
        &scenario(SMALL, "pairs: RandomPairs(count: 67000000)"),
    );
    write(
        "copies.ron",
        &scenario(SMALL, "pairs: PerHost(count: 2), copies: 8000000"),
    );
    write(
        "fabric.ron",
        &scenario("Torus(radix: [200, 200])", "pairs: PerHost(count: 1)"),
    );
    // on every machine
    let (code, table, errors) = after(&folder, "true", "flow runs.ron --runs 4294967295");
    assert_eq!((code, &*table), (Some(2), ""), "{errors}");
    for part in [
        "--set fluid.runs=4294967295: fluid.runs: 4294967295 runs take at least 1.",
        " TiB of memory, and ",
        " are there: choose fewer runs",
    ] {
        assert!(errors.contains(part), "{errors}");
    }
    // where a process may have 2 GB
    for (arguments, told) in [
        (
            "check flows.ron",
            "`count` is 67000000: 67000000 flows take",
        ),
        ("run flows.ron --out out", "67000000 flows take at least "),
        ("flow flows.ron", "67000000 flows take at least "),
        ("check copies.ron", "64000000 flows take at least "),
        (
            "run fabric.ron --out out",
            "40000 switches and 40000 hosts: 1600000000 entries of forwarding tables take at least 2.9 GiB of memory",
        ),
        ("routes fabric.ron", "entries of forwarding tables take"),
        ("check fabric.ron", "entries of forwarding tables take"),
        ("flow fabric.ron", "entries of forwarding tables take"),
    ] {
        let (code, table, errors) = after(&folder, "ulimit -v 2000000", arguments);
        assert_eq!((code, &*table), (Some(2), ""), "{arguments}: {errors}");
        assert!(errors.contains(told), "{arguments}: {errors}");
        assert!(errors.contains(" are there"), "{arguments}: {errors}");
        assert!(!folder.path("out").exists(), "{arguments}");
    }
    // the graph alone fits
    let (code, _, errors) = after(&folder, "ulimit -v 2000000", "topology fabric.ron");
    assert_eq!(code, Some(0), "{errors}");
}

#[test]
fn a_place_that_takes_nothing_ends_with_4_and_a_wrong_one_with_2() {
    let folder = Folder::new();
    // no room for a single byte
    let run = "run small.ron --threads 1 --out out";
    for (first, arguments) in [
        ("ulimit -f 0", run),
        ("ulimit -f 0; trap '' XFSZ", run),
        ("ulimit -f 0", "sweep small.ron --out study"),
        ("ulimit -f 0", "sweep small.ron --out above/study"),
        ("ulimit -f 0", "sweep small.ron"),
        ("ulimit -f 0", "routes small.ron --export-dir tables"),
        ("ulimit -f 0", "routes small.ron --export-dir ."),
    ] {
        let (code, table, errors) = after(&folder, first, arguments);
        assert_eq!((code, &*table), (Some(4), ""), "{arguments}: {errors}");
        assert!(errors.contains("File too large"), "{errors}");
        assert_eq!(names(&folder.path("")), ["small.ron"], "{arguments}");
    }
    // nobody may make a folder there
    if Path::new("/sys/kernel").is_dir() {
        let arguments = "run small.ron --threads 1 --out /sys/kernel/virtlane";
        let (code, _, errors) = after(&folder, "true", arguments);
        assert_eq!(code, Some(4), "{errors}");
        assert!(errors.contains("cannot write `/sys/kernel"), "{errors}");
    }
    for wrong in ["small.ron", "small.ron/below", "."] {
        let arguments = format!("run small.ron --threads 1 --out {wrong}");
        let (code, _, errors) = after(&folder, "true", &arguments);
        assert_eq!(code, Some(2), "{wrong}: {errors}");
    }
}

/// Whatever a state is told to be written over is looked at first.
#[test]
fn a_file_that_is_no_state_is_never_replaced() {
    let folder = Folder::new();
    fs::write(folder.path("notes"), "precious").expect("writable");
    for flags in [
        "--save-warmup notes",
        "--checkpoint notes --checkpoint-every 100",
        "--checkpoint small.ron",
    ] {
        let arguments = format!("run small.ron --threads 1 --quiet --out out {flags}");
        let (code, table, errors) = after(&folder, "true", &arguments);
        assert_eq!((code, &*table), (Some(2), ""), "{flags}: {errors}");
        assert!(errors.contains("is no checkpoint"), "{errors}");
        assert_eq!(names(&folder.path("")), ["notes", "small.ron"]);
        let kept = fs::read_to_string(folder.path("notes")).expect("it is there");
        assert_eq!(kept, "precious");
    }
}

/// A run of the small scenario with these arguments, without a table: exit code, standard output and error.
fn quietly(folder: &Folder, arguments: &str) -> (Option<i32>, String, String) {
    let arguments = format!("run small.ron --threads 1 --quiet {arguments}");
    after(folder, "true", &arguments)
}

/// Results stand in the directory that a link leads to, and the link stays one.
#[test]
fn a_link_to_a_directory_is_followed_and_one_to_nothing_refused_before_the_run() {
    let folder = Folder::new();
    let run = |arguments: &str| quietly(&folder, arguments);
    let manifest = |place: &str| fs::read_to_string(folder.path(place).join("manifest.ron")).ok();
    for (link, place, asked) in [("one", "first", "one"), ("two", "second", "two/")] {
        fs::create_dir(folder.path(place)).expect("writable");
        symlink(place, folder.path(link)).expect("writable");
        let (code, _, errors) = run(&format!("--out {asked}"));
        assert_eq!((code, &*errors), (Some(0), ""), "{asked}");
        let earlier = manifest(place).expect("a run");
        let (code, _, errors) = run(&format!("--out {asked}"));
        assert_eq!(code, Some(2), "{asked}: {errors}");
        assert!(errors.contains("already holds a run"), "{errors}");
        let (code, _, errors) = run(&format!("--out {asked} --force --seed 2"));
        assert_eq!((code, &*errors), (Some(0), ""), "{asked}");
        assert_ne!(manifest(place).expect("a run"), earlier);
        let leads = fs::read_link(folder.path(link)).expect("it is a link still");
        assert_eq!(leads, Path::new(place));
    }
    symlink("nothing", folder.path("gone")).expect("writable");
    symlink("small.ron", folder.path("file")).expect("writable");
    let before = ["file", "first", "gone", "one", "second", "small.ron", "two"];
    for (asked, told) in [
        ("gone", "`gone` is a link to `nothing`, which is not there"),
        ("gone/", "`gone` is a link to `nothing`, which is not there"),
        ("gone --force", "`gone` is a link to `nothing`"),
        ("file", "small.ron` cannot be a run directory: it is a file"),
        (
            "small.ron/below",
            "cannot be a run directory: what it is to be in is a file",
        ),
    ] {
        let (code, _, errors) = run(&format!("--out {asked}"));
        assert_eq!(code, Some(2), "{asked}: {errors}");
        assert!(errors.contains(told), "{asked}: {errors}");
        assert_eq!(names(&folder.path("")), before, "{asked}");
    }
}

/// A run removes the state that it has saved at its end, and no other.
#[test]
fn a_saved_warm_up_outlives_every_run_that_does_not_write_there() {
    let folder = Folder::new();
    let run = |arguments: &str| quietly(&folder, arguments);
    for arguments in [
        "--out out --checkpoint warm --save-warmup warm",
        "--out out --checkpoint warm --save-warmup ./warm",
        "--out out --save-warmup out.checkpoint",
        "--out out/ --save-warmup out.checkpoint",
        "--out ./out --save-warmup out.checkpoint --checkpoint-every 1000",
    ] {
        let (code, _, errors) = run(arguments);
        assert_eq!(code, Some(2), "{arguments}: {errors}");
        assert!(
            errors.contains("the place of the checkpoint of this run"),
            "{arguments}: {errors}"
        );
        assert_eq!(names(&folder.path("")), ["small.ron"], "{arguments}");
    }
    let (code, _, errors) = run("--out first --save-warmup warm");
    assert_eq!((code, &*errors), (Some(0), ""));
    let state = || fs::read(folder.path("warm")).ok();
    let kept = state();
    assert!(kept.is_some());
    let other = "a state that this run does not go on from";
    let own = "the state that this run starts from";
    for (arguments, what) in [
        ("--out second --checkpoint warm", other),
        ("--out third --checkpoint warm --fork warm", own),
        ("--out fifth --checkpoint warm --fork ./warm", own),
    ] {
        let (code, _, errors) = run(arguments);
        assert_eq!(code, Some(0), "{arguments}: {errors}");
        let told = format!("`warm` is {what}: it stays");
        assert!(errors.contains(&told), "{arguments}: {errors}");
        assert!(state() == kept, "{arguments}");
    }
    // written over by the states of a run it is that run's
    let (code, _, errors) = run("--out fourth --checkpoint warm --checkpoint-every 1000");
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(state(), None);
}

/// Records of packets grow beside the checkpoint until the run is finished, where no state is.
#[test]
fn a_saved_warm_up_is_not_in_the_place_of_records_of_packets() {
    let folder = Folder::new();
    let run = |arguments: &str| quietly(&folder, arguments);
    let packets = "--set observe.packets=All";
    for arguments in [
        "--out out --save-warmup out.checkpoint.packets",
        "--out out --save-warmup ./out.checkpoint.packets",
        "--out out --checkpoint state --save-warmup state.packets",
    ] {
        let (code, _, errors) = run(&format!("{packets} {arguments}"));
        assert_eq!(code, Some(2), "{arguments}: {errors}");
        let told = "the place of the records of packets of this run, which are there until its end";
        assert!(errors.contains(told), "{arguments}: {errors}");
        assert_eq!(names(&folder.path("")), ["small.ron"], "{arguments}");
    }
    let (code, _, errors) = run("--out first --save-warmup out.checkpoint.packets");
    assert_eq!((code, &*errors), (Some(0), ""));
    let state = || fs::read(folder.path("out.checkpoint.packets")).ok();
    let kept = state();
    assert!(kept.is_some());
    for start in ["", "--resume", "--fork out.checkpoint.packets"] {
        let (code, _, errors) = run(&format!("{packets} --out out {start}"));
        assert_eq!(code, Some(2), "{start}: {errors}");
        let told = "until its end, is a saved state, and is not replaced: choose another place by `--checkpoint`";
        assert!(errors.contains(told), "{start}: {errors}");
        assert!(state() == kept, "{start}");
    }
    for (arguments, out) in [("", "plain"), (packets, "apart")] {
        let (code, _, errors) = run(&format!("{arguments} --out {out} --checkpoint {out}.state"));
        assert_eq!(code, Some(0), "{out}: {errors}");
        assert!(state() == kept, "{out}");
    }
}

/// Results would go elsewhere when a state has taken their place.
#[test]
fn the_place_of_results_is_none_for_a_state_or_for_records() {
    let folder = Folder::new();
    let packets = "--set observe.packets=All";
    for (arguments, told) in [
        ("--out a --save-warmup a", "`a` is the run directory"),
        ("--out a --checkpoint ./a", "`./a` is the run directory"),
        (
            "--out s.packets --checkpoint s",
            "`s.packets`, the place for the records of packets of this run until its end, is the run directory",
        ),
    ] {
        let (code, table, errors) = quietly(&folder, &format!("{packets} {arguments}"));
        assert_eq!((code, &*table), (Some(2), ""), "{arguments}: {errors}");
        assert!(errors.contains(told), "{arguments}: {errors}");
        assert_eq!(names(&folder.path("")), ["small.ron"], "{arguments}");
    }
}

/// A state goes to the file that a link leads to, there or not, and the link stays one.
#[test]
fn a_link_to_a_state_is_followed() {
    let folder = Folder::new();
    let run = |arguments: &str| quietly(&folder, arguments);
    symlink("warm", folder.path("link")).expect("writable");
    symlink("circle", folder.path("circle")).expect("writable");
    symlink("none/state", folder.path("astray")).expect("writable");
    let is_link = |name: &str| fs::read_link(folder.path(name)).is_ok();
    // to nothing, then to a state
    for out in ["first", "second"] {
        let (code, _, errors) = run(&format!("--out {out} --save-warmup link"));
        assert_eq!((code, &*errors), (Some(0), ""), "{out}");
        assert!(is_link("link") && !is_link("warm"), "{out}");
        assert!(folder.path("warm").is_file(), "{out}");
    }
    let (code, _, errors) = run("--out third --checkpoint link --checkpoint-every 1000");
    assert_eq!(code, Some(0), "{errors}");
    assert!(
        errors.contains("`warm` is a state that this run does not go on from"),
        "{errors}"
    );
    assert!(is_link("link") && !folder.path("warm").exists());
    for (place, told) in [
        ("circle", "`circle` is a link that leads to no file"),
        ("astray", "`none` is no directory"),
    ] {
        let (code, _, errors) = run(&format!("--out fourth --checkpoint {place}"));
        assert_eq!(code, Some(2), "{place}: {errors}");
        assert!(errors.contains(told), "{place}: {errors}");
    }
}

/// A run that goes on has no end of its warm-up any more.
#[test]
fn a_run_that_goes_on_after_its_warm_up_says_that_it_saves_none() {
    let folder = Folder::new();
    let run = |arguments: &str| quietly(&folder, arguments);
    let (code, _, errors) = run("--out out --save-warmup state");
    assert_eq!((code, &*errors), (Some(0), ""));
    let (code, _, errors) = run("--out on --checkpoint state --resume --save-warmup other");
    assert_eq!(code, Some(0), "{errors}");
    let told = "note: the run goes on after its warm-up, which ended in cycle ";
    assert!(errors.contains(told), "{errors}");
    assert!(errors.contains(": nothing is saved in `other`"), "{errors}");
    assert!(!folder.path("other").exists());
}

/// The run directory is replaced as a whole: what lies in it is lost.
#[test]
fn a_state_is_not_saved_inside_the_run_directory() {
    let folder = Folder::new();
    let run = |arguments: &str| quietly(&folder, arguments);
    let (code, _, errors) = run("--out out");
    assert_eq!((code, &*errors), (Some(0), ""));
    let before = names(&folder.path("out"));
    for place in [
        "--save-warmup out/warm",
        "--checkpoint ./out/../out/state --checkpoint-every 100",
    ] {
        let (code, table, errors) = run(&format!("--out out --force {place}"));
        assert_eq!((code, &*table), (Some(2), ""), "{place}: {errors}");
        assert!(
            errors.contains("lies in the run directory"),
            "{place}: {errors}"
        );
        assert_eq!(names(&folder.path("out")), before, "{place}");
    }
    let (code, _, errors) = run("--out out --force --save-warmup outer");
    assert_eq!((code, &*errors), (Some(0), ""));
    assert!(folder.path("outer").exists());
}

#[test]
fn the_place_of_a_saved_warm_up_is_looked_at_first_and_nothing_is_left_beside_it() {
    let folder = Folder::new();
    let run = |first: &str, file: &str| {
        let arguments = format!("run small.ron --threads 1 --quiet --out out --save-warmup {file}");
        after(&folder, first, &arguments)
    };
    fs::create_dir(folder.path("folder")).expect("writable");
    for (file, told) in [
        ("folder", "`folder`: it is a directory"),
        ("none/warm", "`none` is no directory"),
        ("/dev/null", "`/dev/null`: it is no regular file"),
        ("/", "it is a directory"),
    ] {
        let (code, table, errors) = run("true", file);
        assert_eq!((code, &*table), (Some(2), ""), "{file}: {errors}");
        assert!(errors.contains(told), "{file}: {errors}");
        assert_eq!(names(&folder.path("")), ["folder", "small.ron"], "{file}");
    }
    // a folder that takes no files, for either of the two
    for flags in [
        "--save-warmup /proc/warm",
        "--checkpoint /proc/warm --checkpoint-every 100",
    ] {
        let arguments = format!("run small.ron --threads 1 --quiet --out out {flags}");
        let (code, table, errors) = after(&folder, "true", &arguments);
        assert_eq!((code, &*table), (Some(2), ""), "{flags}: {errors}");
        assert!(
            errors.starts_with("error: ") && errors.contains("/proc/warm"),
            "{errors}"
        );
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert_eq!(names(&folder.path("")), ["folder", "small.ron"], "{flags}");
    }
    let null = fs::metadata("/dev/null").expect("it is still there");
    assert!(null.file_type().is_char_device());
    // a disk that is full by then
    let (code, _, errors) = run("ulimit -f 4", "warm");
    assert_eq!(code, Some(4), "{errors}");
    assert!(errors.contains("`warm`: File too large"), "{errors}");
    assert_eq!(names(&folder.path("")), ["folder", "small.ron"]);
    // what a killed process of this machine has left goes, what a living one writes stays
    let host = nix::unistd::gethostname().expect("it has a name");
    let host = host.to_string_lossy();
    let partial = |process: u32| format!(".warm.partial-{host}-{process}");
    let living = partial(std::process::id());
    for name in [&partial(NOBODY), &living] {
        fs::write(folder.path(name), "half").expect("writable");
    }
    let (code, _, errors) = run("true", "warm");
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(
        names(&folder.path("")),
        [&*living, "folder", "out", "small.ron", "warm"]
    );
}

/// A run takes its name by a hidden folder that is made before it says whose it is: a rival in this moment is none that was killed.
#[test]
fn a_living_rival_is_not_called_killed() {
    let folder = Folder::new();
    let mut rival = Command::new("sleep")
        .arg("60")
        .stdout(Stdio::null())
        .spawn()
        .expect("there is a sleep");
    let hidden = [rival.id(), NOBODY].map(|process| format!(".out.partial-{process}-0"));
    for name in &hidden {
        fs::create_dir(folder.path(name)).expect("writable");
    }
    let elsewhere = ".out.partial-99-1";
    fs::create_dir(folder.path(elsewhere)).expect("writable");
    let holder = "(process:99,started:\"12\",host:\"node-17\",space:\"\",since:1700000000)";
    fs::write(folder.path(elsewhere).join(".holder"), holder).expect("writable");
    let arguments = "run small.ron --threads 1 --quiet --out out";
    let (code, _, notes) = after(&folder, "true", arguments);
    rival.kill().expect("it sleeps");
    rival.wait().expect("it ends");
    assert_eq!(code, Some(0), "{notes}");
    let killed = format!("`./{}` is left of a run that was killed", hidden[1]);
    assert!(notes.contains(&killed), "{notes}");
    assert!(!notes.contains(&hidden[0]), "{notes}");
    let other = "`./.out.partial-99-1` is of process 99 on `node-17` since 2023-11-14T22:13:20Z; remove it when that run is over";
    assert!(notes.contains(other), "{notes}");
    assert_eq!(notes.matches("killed").count(), 1, "{notes}");
}
