//! Sweeps as jobs of a batch system: the written files, the scripts run without Slurm, what is submitted.

use super::{Folder, names};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Blanks, quotes and what a shell would run.
const PLACE: &str = "a batch's \"place\" $(id)";

/// Long enough that a task is met in the middle of its runs.
const LONG: &str = "phases.measure=200000 cycles";

impl Folder {
    /// Puts a program in front of those of the system.
    fn pretend(&self, name: &str, script: &str) {
        let bin = self.path("bin");
        fs::create_dir_all(&bin).expect("writable");
        let file = bin.join(name);
        fs::write(&file, format!("#!/bin/bash\n{script}")).expect("writable");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("writable");
    }

    /// Search path with the programs of [`Self::pretend`] in front.
    fn search_path(&self) -> String {
        let system = std::env::var("PATH").expect("there is a search path");
        format!("{}:{system}", self.path("bin").display())
    }

    /// Starts a job script as Slurm would, as task `task` of job 42.
    fn start(&self, script: &Path, task: usize) -> Child {
        Command::new("bash")
            .arg(script)
            .current_dir("/")
            .env("PATH", self.search_path())
            .env("SLURM_ARRAY_JOB_ID", "42")
            .env("SLURM_ARRAY_TASK_ID", task.to_string())
            .env("SLURM_CPUS_PER_TASK", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("bash is there")
    }

    fn job(&self, script: &Path, task: usize) -> Output {
        self.start(script, task)
            .wait_with_output()
            .expect("a child")
    }

    fn batch(&self, arguments: &[&str]) -> Output {
        self.command(&["batch", "slurm"])
            .args(arguments)
            .env("PATH", self.search_path())
            .output()
            .expect("the program starts")
    }

    /// A batch command that must succeed.
    #[track_caller]
    fn batches(&self, arguments: &[&str]) -> String {
        let output = self.batch(arguments);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
        text(&output.stdout)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn read(path: PathBuf) -> String {
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Waits for something that must happen.
fn until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if done() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("waited in vain until {what}");
}

#[test]
fn the_written_scripts_are_these() {
    let folder = Folder::new();
    let said = folder.batches(&[
        "small.ron",
        "--out",
        PLACE,
        "--tasks",
        "5",
        "--time",
        "1-02:00:00",
        "--cpus-per-task",
        "4",
        "--mem",
        "8G",
        "--partition",
        "short,long",
        "--account",
        "project",
        "--grace",
        "120",
        "--jobs",
        "2",
        "--checkpoint-every",
        "100000",
        "--sbatch-option",
        "--exclusive",
        "--sbatch-option=--comment=it's \"two\" words",
    ]);
    assert!(
        said.contains("4 points, 12 runs in 5 array tasks"),
        "{said}"
    );
    let place = folder.path(PLACE);
    assert_eq!(
        names(&place),
        [
            "batch.ron",
            "input",
            "job.sbatch",
            "logs",
            "merge.sbatch",
            "parts"
        ]
    );
    let plain = |file: &str| {
        let base = folder.base.path().to_str().expect("text").to_owned();
        let program = assert_cmd::cargo::cargo_bin("virtlane");
        read(place.join(file))
            .replace(program.to_str().expect("text"), "/opt/virtlane")
            .replace(&base, "/home/user")
    };
    insta::assert_snapshot!("job", plain("job.sbatch"));
    insta::assert_snapshot!("merge", plain("merge.sbatch"));
    assert_eq!(read(place.join("input/small.ron")), super::SCENARIO);
    for file in ["job.sbatch", "merge.sbatch"] {
        let checked = Command::new("bash")
            .arg("-n")
            .arg(place.join(file))
            .status();
        assert!(checked.expect("bash is there").success(), "{file}");
    }
}

#[test]
fn tasks_stop_and_go_on_and_the_merge_is_the_local_sweep() {
    let folder = Folder::new();
    let called = folder.path("scontrol called");
    folder.pretend("scontrol", &format!("echo \"$@\" >>'{}'", called.display()));
    let local = [
        "sweep",
        "small.ron",
        "--quiet",
        "--set",
        LONG,
        "--out",
        "local",
    ];
    folder.succeeds(&local);
    folder.batches(&["small.ron", "--set", LONG, "--out", PLACE, "--tasks", "3"]);
    let place = folder.path(PLACE);
    let (job, merge) = (place.join("job.sbatch"), place.join("merge.sbatch"));

    let nothing = folder.job(&merge, 0);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(text(&nothing.stderr).contains("no array task has made anything"));

    // task 0 is told to stop in its second run or later; between two runs, as on a busy machine, there is no state to save
    let states = place.join("parts/0/states");
    let stopped = || {
        let child = folder.start(&job, 0);
        let runs = place.join("parts/0/runs");
        until("a run is finished", || {
            runs.is_dir() && names(&runs).iter().any(|name| !name.starts_with('.'))
        });
        // well into the next one
        sleep(Duration::from_millis(100));
        let told = Command::new("kill")
            .args(["-USR1", &child.id().to_string()])
            .status();
        assert!(told.expect("kill is there").success());
        let output = child.wait_with_output().expect("a child");
        assert_eq!(output.status.code(), Some(143), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("state saved: queued again"));
        states.is_dir()
    };
    let times = (1..=3).find(|_| stopped()).expect("it stops in a run");
    assert_eq!(read(called), "requeue 42_0\n".repeat(times));
    assert_eq!(names(&states).len(), 1);

    // task 1 is lost; what is there is merged
    assert_eq!(folder.job(&job, 2).status.code(), Some(0));
    let output = folder.job(&merge, 0);
    assert_eq!(output.status.code(), Some(1));
    let errors = text(&output.stderr);
    assert!(errors.contains("runs are missing"), "{errors}");
    // runs are dealt in turn: the second of point 1 is that of task 1
    let first = "point 1 (traffic.bulk.process.load = 0.1, fabric.topology = Mesh(radix: [4, 4]), routing = DimensionOrder())";
    assert!(errors.contains(first), "{errors}");
    assert!(text(&output.stdout).contains("batch slurm --resubmit '"));

    let output = folder.job(&job, 0);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("1 run goes on from its saved state"));
    assert!(!place.join("parts/0/states").exists());
    assert_eq!(folder.job(&job, 1).status.code(), Some(0));
    let output = folder.job(&merge, 0);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(read(place.join("merged/sweep.csv")), folder.table("local"));
}

#[test]
fn a_task_that_gains_nothing_is_not_queued_again() {
    let folder = Folder::new();
    let called = folder.path("called");
    folder.pretend("scontrol", &format!("touch '{}'", called.display()));
    folder.batches(&["small.ron", "--out", "batch", "--tasks", "1"]);
    // a simulator that is told to stop before it has done anything
    let job = folder.path("batch/job.sbatch");
    let program = assert_cmd::cargo::cargo_bin("virtlane");
    let script = read(job.clone()).replace(program.to_str().expect("text"), "stopper");
    fs::write(&job, script).expect("writable");
    folder.pretend(
        "stopper",
        "sleep 60 & trap 'kill $!; exit 143' USR1; kill -USR1 $PPID; wait",
    );
    let output = folder.job(&job, 0);
    assert_eq!(output.status.code(), Some(143));
    assert!(text(&output.stderr).contains("nothing was gained before the time limit"));
    assert!(!called.exists());
}

/// Slurm commands that number jobs from 7 and know of task 3 of job 7 only; returns where sbatch logs its arguments.
fn pretend_slurm(folder: &Folder) -> PathBuf {
    let (log, number) = (folder.path("sbatch.log"), folder.path("number"));
    let (log_at, number_at) = (log.display(), number.display());
    folder.pretend(
        "sbatch",
        &format!(
            "echo \"$@\" >>'{log_at}'; n=$(( $(cat '{number_at}' 2>/dev/null || echo 6) + 1 )); echo $n | tee '{number_at}'"
        ),
    );
    folder.pretend("squeue", "[[ $4 == --jobs && $5 == 7 ]] && echo 3 && exit; echo 'Invalid job id specified' >&2; exit 1");
    log
}

#[test]
fn only_what_is_unfinished_is_submitted_again() {
    let folder = Folder::new();
    let log = pretend_slurm(&folder);
    let said = folder.batches(&[
        "small.ron",
        "--out",
        "batch",
        "--tasks",
        "4",
        "--mem",
        "1G",
        "--submit",
    ]);
    assert!(
        said.contains("submitted job 7 (array), job 8 (merge"),
        "{said}"
    );
    assert!(said.contains("scancel 7 8"), "{said}");
    let batch = folder.path("batch");
    let job = |task| {
        let output = folder.job(&batch.join("job.sbatch"), task);
        assert_eq!(output.status.code(), Some(0), "task {task}");
    };
    let sent = |log: &Path| read(log.to_owned()).replace(batch.to_str().expect("text"), "B");
    assert_eq!(
        sent(&log),
        "--parsable --mem=1G --array=0-3 B/job.sbatch\n\
         --parsable --mem=1G --dependency=afterany:7 B/merge.sbatch\n"
    );
    fs::remove_file(&log).expect("it was written");
    // task 1 is done, task 3 still waits or runs
    job(1);
    let said = folder.batches(&["--resubmit", "batch", "--dry-run"]);
    assert!(said.contains("to submit tasks 0,2"), "{said}");
    assert!(said.contains("left out  tasks 3"), "{said}");
    assert!(!log.exists());
    let anew = ["--time", "2-0", "--cpus-per-task", "2"];
    folder.batches(&[&["--resubmit", "batch"][..], &anew].concat());
    assert_eq!(
        sent(&log),
        "--parsable --time=2-0 --array=0,2 --cpus-per-task=2 B/job.sbatch\n\
         --parsable --time=2-0 --dependency=afterany:9 B/merge.sbatch\n"
    );
    assert!(
        read(batch.join("batch.ron"))
            .contains("jobs: [\n        \"7\",\n        \"8\",\n        \"9\",\n        \"10\",")
    );
    fs::remove_file(&log).expect("it was written");
    for task in [0, 2, 3] {
        job(task);
    }
    let said = folder.batches(&["--resubmit", "batch"]);
    assert!(
        said.contains("nothing to submit: every run is finished"),
        "{said}"
    );
    assert!(!log.exists());
}

#[test]
fn what_slurm_refuses_is_told() {
    let folder = Folder::new();
    folder.pretend(
        "sbatch",
        "echo 'sbatch: error: invalid partition specified: x' >&2; exit 1",
    );
    let output = folder.batch(&[
        "small.ron",
        "--out",
        "batch",
        "--partition",
        "x",
        "--submit",
    ]);
    assert_eq!(output.status.code(), Some(2));
    let errors = text(&output.stderr);
    assert!(
        errors.contains("invalid partition specified: x"),
        "{errors}"
    );
    assert!(
        errors.contains("`virtlane batch slurm --resubmit "),
        "{errors}"
    );
    assert!(folder.path("batch/job.sbatch").exists());
}

#[test]
fn wrong_batches_are_refused_and_nothing_is_written() {
    let folder = Folder::new();
    let none = fs::read_to_string(folder.path("small.ron")).expect("readable");
    let none = none.split("    sweep:").next().expect("text").to_owned() + ")";
    fs::write(folder.path("none.ron"), none).expect("writable");
    for (arguments, message) in [
        (
            &["small.ron", "--out", "b", "--tasks", "13"][..],
            "the sweep has 12 runs",
        ),
        (
            &["small.ron", "--out", "b", "--tasks", "0"],
            "0 is not in 1",
        ),
        (
            &["small.ron", "--out", "b", "--time", "1h"],
            "`1h` is no time limit",
        ),
        (
            &["small.ron", "--out", "b", "--time", "1"],
            "--time 1 is too short",
        ),
        (&["small.ron", "--out", "b", "--mem", "4GB"], "such as 4G"),
        (
            &["small.ron", "--out", "b", "--partition", "a b"],
            "expected letters, digits",
        ),
        (
            &["small.ron", "--out", "b", "--sbatch-option=--array=1"],
            "`--array` is set by the batch itself",
        ),
        (
            &["small.ron", "--out", "b", "--sbatch-option=-C ib"],
            "expected `--name` or `--name=value`",
        ),
        (
            &["small.ron", "--out", "b\nc"],
            "cannot stand in a job script",
        ),
        (
            &["small.ron", "--out", "b", "--set", "fabric.lanes=2"],
            "unknown key `lanes`",
        ),
        (&["none.ron", "--out", "b"], "has no section `sweep`"),
        (&["missing.ron", "--out", "b"], "cannot read the file"),
        (&["small.ron"], "--out"),
        (&["--resubmit", "b", "--tasks", "3"], "cannot be used with"),
        (&["--resubmit", "b"], "is not a batch folder"),
        (&["small.ron", "--out", "."], "is not empty"),
    ] {
        let output = folder.batch(arguments);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(message), "{arguments:?}: {errors}");
    }
    assert_eq!(names(folder.base.path()), ["none.ron", "small.ron"]);
    folder.batches(&["small.ron", "--out", "b"]);
    let output = folder.batch(&["small.ron", "--out", "b"]);
    assert!(text(&output.stderr).contains("holds a batch already"));
}

#[test]
fn a_dry_run_lists_the_runs_of_every_task() {
    let folder = Folder::new();
    let said = folder.batches(&["small.ron", "--out", "batch", "--tasks", "5", "--dry-run"]);
    let tasks: Vec<_> = said
        .lines()
        .skip(1)
        .take(12)
        .map(|line| {
            line.split_whitespace()
                .take(2)
                .collect::<Vec<_>>()
                .join(":")
        })
        .collect();
    let expected = [
        "0:1", "0:6", "0:11", "1:2", "1:7", "1:12", "2:3", "2:8", "3:4", "3:9", "4:5", "4:10",
    ];
    assert_eq!(tasks, expected, "{said}");
    assert!(
        said.contains("\ntask  runs  memory  core time     time\n0        3  "),
        "{said}"
    );
    let axes = "sweep.axes=[(\"routing\", [DimensionOrder(), FatTree()])]";
    let said = folder.batches(&[
        "small.ron",
        "--out",
        "batch",
        "--set",
        axes,
        "--dry-run",
        "--keep-going",
    ]);
    assert!(said.contains("point 2 cannot be made: "), "{said}");
    assert!(!folder.path("batch").exists());
}

#[test]
fn files_that_the_scenario_names_come_along() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("net")).expect("writable");
    fs::create_dir_all(folder.path("studies/old")).expect("writable");
    fs::write(
        folder.path("net/two.txt"),
        read("tests/fuzz/seeds/edge_list/small.txt".into()),
    )
    .expect("writable");
    let scenario = super::SCENARIO
        .replace(
            "Mesh(radix: [4, 4])",
            "EdgeList(file: \"../../net/two.txt\")",
        )
        .replace("DimensionOrder()", "UpDown()");
    fs::write(folder.path("studies/old/small.ron"), scenario).expect("writable");
    let sets = ["--set", "sweep.seeds=2", "--set", "title=\"other\""];
    let batch = ["batch", "slurm", "studies/old/small.ron", "--out", "batch"];
    folder.succeeds(&[&batch[..], &sets].concat());
    fs::rename(folder.path("net"), folder.path("gone")).expect("it is there");
    let list = folder.succeeds(&["sweep", "batch/input/studies/old/small.ron", "--dry-run"]);
    assert!(list.contains("8 of 8 runs to do"), "{list}");
    let check = folder.succeeds(&["check", "batch/input/studies/old/small.ron"]);
    assert!(check.contains("other"), "{check}");
}
