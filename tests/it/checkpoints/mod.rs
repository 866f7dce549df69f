//! Runs that are stopped and continued, or forked.

mod flows;
mod routes;

use crate::runs::resolve;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use virtlane::measure::FlowCounts;
use virtlane::report::RunResult;
use virtlane::report::summary::summarize;
use virtlane::report::usage::usage;
use virtlane::run::checkpoint::FORMAT;
use virtlane::run::outcome::{Cost, Verdict};
use virtlane::run::{
    Checkpoint, CheckpointError, Continuation, Keeping, Outcome, RunError, Settings, Start,
    execute, execute_from,
};
use virtlane::scenario::Resolved;

const TORUS: &str = r#"Scenario(
    title: "checkpoints", seed: 5,
    fabric: (topology: Torus(radix: [4, 4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 2, lane_capacity: "32 flits", routing_delay: "1 cycles")),
    routing: DimensionOrder(),
    traffic: [
        (name: "bulk", hosts: All, pattern: Uniform, process: Poisson(load: 0.4), size: "512 B", sl: 0),
        (name: "pairs", hosts: All, pattern: Transpose(), process: Bernoulli(load: 0.1), size: "128 B", sl: 0),
    ],
    phases: (warmup: "1000 cycles", measure: "9000 cycles", drain: Auto),
)"#;

/// Switch options that have state of their own.
const OPTIONS: [&[&str]; 9] = [
    &[],
    &["fabric.switch.queues=Voq", "fabric.switch.input_speedup=2"],
    &["fabric.switch.output_lane_buffer=16 flits"],
    &[
        "fabric.switch.output_arbitration=Random",
        "fabric.switch.output_buffer=8 flits",
    ],
    &[
        "fabric.switch.matching=InputFirst",
        "fabric.switch.marking=(threshold: \"8 flits\")",
    ],
    &[
        "fabric.switch.matching=InputFirst",
        "fabric.switch.output_lane_buffer=16 flits",
        "qos.vl_arbitration=(high: [(0, 1)], low: [(1, 2)], rules: Legacy, places: InputsAndChannels)",
    ],
    &[
        "traffic.bulk.process=Saturating()",
        "fabric.switch.input_speedup=Unlimited",
    ],
    &[
        "fabric.switch.forwarding=Wormhole",
        "fabric.switch.lane_capacity=5 flits",
    ],
    &[
        "fabric.switch.forwarding=Wormhole",
        "fabric.switch.input_turns=Packets",
        "allow_deadlock=true",
    ],
];

fn settings(threads: usize, shards: Option<usize>) -> Settings {
    Settings {
        threads: Some(threads),
        shards,
        check: true,
        ..Settings::default()
    }
}

fn whole(resolved: &Resolved) -> Outcome {
    execute(
        resolved,
        settings(1, Some(1)),
        &mut |_| {},
        &AtomicBool::new(false),
    )
    .expect("it runs")
}

fn keeping(file: &Path) -> Keeping {
    Keeping {
        file: file.to_owned(),
        every: None,
        at_wall_time: true,
        warm: None,
        last: 0,
    }
}

/// Runs from `start` until cycle `until` and a look more, or to the end.
fn run(
    resolved: &Resolved,
    settings: Settings,
    start: Start,
    until: u64,
    file: &Path,
) -> Result<Outcome, RunError> {
    let continuation = Continuation {
        start,
        keeping: Some(keeping(file)),
        packets: None,
    };
    let stop = AtomicBool::new(until == 0);
    execute_from(
        resolved,
        settings,
        continuation,
        &mut |progress| stop.store(progress.cycle >= until, Ordering::Relaxed),
        &stop,
    )
}

fn assert_same(found: &Outcome, expected: &Outcome, what: &str) {
    assert_eq!(found.records.digest, expected.records.digest, "{what}");
    assert_eq!(found.records, expected.records, "{what}");
    assert_eq!(found.cycles, expected.cycles, "{what}");
    assert_eq!(found.timeline, expected.timeline, "{what}");
    assert_eq!(
        (found.verdict, &found.reason),
        (expected.verdict, &expected.reason),
        "{what}"
    );
}

fn read(file: &Path) -> Box<Checkpoint> {
    Box::new(Checkpoint::read(file).expect("it was just written"))
}

#[test]
fn a_stopped_run_goes_on_as_if_it_had_not_been_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state");
    for changes in OPTIONS {
        let resolved = resolve(TORUS, changes);
        let expected = whole(&resolved);
        assert!(expected.records.classes[0].tagged_delivered > 1000);
        for (shards, threads, then) in [(1, 1, 1), (2, 2, 1), (4, 1, 4)] {
            let what = format!("{changes:?}, {shards} shards, {threads} then {then} threads");
            let stopped = run(
                &resolved,
                settings(threads, Some(shards)),
                Start::Fresh,
                0,
                &file,
            );
            assert_eq!(stopped.expect("it stops").verdict, Verdict::Interrupted);
            // in the warm-up, at two cycles of the measurement, in the drain
            for until in [0, 300, 4321, 8000, 10_001] {
                let start = Start::Resume(read(&file));
                let stopped = run(&resolved, settings(then, None), start, until, &file);
                let stopped = stopped.expect("it stops");
                if stopped.verdict != Verdict::Interrupted {
                    // the drain was shorter than a look
                    assert!(until > 10_000, "{what}");
                    assert_same(&stopped, &expected, &what);
                }
            }
            let start = Start::Resume(read(&file));
            let ended = run(&resolved, settings(then, None), start, u64::MAX, &file);
            assert_same(&ended.expect("it ends"), &expected, &what);
        }
    }
}

/// A run in so many shards and threads that is stopped in these cycles, and goes on with other threads, ends like the whole one.
fn goes_on(
    resolved: &Resolved,
    expected: &Outcome,
    (shards, threads, then): (usize, usize, usize),
    stops: &[u64],
) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state");
    let what = format!("{shards} shards, {threads} then {then} threads");
    let start = settings(threads, Some(shards));
    run(resolved, start, Start::Fresh, 0, &file).expect("it stops");
    for &until in stops {
        let start = Start::Resume(read(&file));
        let stopped = run(resolved, settings(then, None), start, until, &file);
        assert_eq!(
            stopped.expect("it stops").verdict,
            Verdict::Interrupted,
            "{what}"
        );
    }
    let start = Start::Resume(read(&file));
    let ended = run(resolved, settings(then, None), start, u64::MAX, &file);
    let ended = ended.expect("it ends");
    assert_same(&ended, expected, &what);
    assert_eq!(ended.flow_counts, expected.flow_counts, "{what}");
}

/// Everything that reacts at once: delays from a table, rates, windows and requests, each with timers or answers on their way,
/// and a phase that is not open yet.
const REACTING: [&str; 3] = [
    r#"traffic=[
        (name: "hot", size: "512 B", flows: [(pairs: Incast(to: 5))],
         control: InfiniBand(timer: "3 us", table: Linear(most: 60, shift: 1)), answers: (sl: 1, queue: 1)),
        (name: "rates", size: "512 B", flows: [(pairs: Permutations(count: 1))], control: Dcqcn(), answers: (sl: 1)),
        (name: "windows", size: "256 B", flows: [(pairs: RandomPairs(count: 20))],
         control: Window(aimd: true, most: 8), answers: (sl: 1)),
        (name: "calls", size: "128 B", flows: [
            (pairs: RandomPairs(count: 9), bytes: "1 KiB", phase: ("exchange", 0)),
            (pairs: RandomPairs(count: 9), bytes: "8 KiB", start: "900 cycles", phase: ("exchange", 1)),
         ], control: RequestReply(outstanding: 2, server: "700 ns"), answers: (size: "4 flits", sl: 1, queue: 2)),
    ]"#,
    "fabric.switch.marking=InfiniBand(threshold: 10, marking_rate: 2)",
    "fabric.switch.lanes=4",
];

/// A checkpoint holds senders in the middle of their timers, answers that are to be made, windows and limits, requests that are
/// held back.
#[test]
fn flows_under_control_go_on_in_the_middle_of_their_timers() {
    let resolved = resolve(TORUS, &REACTING);
    let expected = whole(&resolved);
    let reacted = |flow: &FlowCounts| flow.arrived.marked > 0 && flow.sent.answered > 0;
    assert!(
        expected
            .flow_counts
            .iter()
            .filter(|flow| reacted(flow))
            .count()
            > 8
    );
    for (shards, threads, then) in [(1, 1, 4), (2, 2, 1), (7, 1, 2), (16, 4, 2)] {
        goes_on(
            &resolved,
            &expected,
            (shards, threads, then),
            &[0, 1300, 3700, 6100, 8900],
        );
    }
}

/// Flows that are tried, some of which share a counter, and flows that reserve, with small times so that much is under way.
const ASKING: [&str; 4] = [
    r#"traffic=[
        (name: "calls", size: "4 flits", flows: [(pairs: Permutations(count: 2), copies: 4, process: Bernoulli(load: 0.02))],
         requests: (peak: 0.05, jitter: "20 cycles")),
        (name: "films", size: "4 flits", sl: 1, flows: [(pairs: Permutations(count: 3), copies: 2)], requests: (peak: 0.2),
         control: Reservation(retry: "150 cycles"), answers: (size: "2 flits")),
        (name: "bulk", size: "8 flits", sl: 1, pattern: Uniform, process: Bernoulli(load: 0.3)),
    ]"#,
    r#"admission=(control: JitterProbing(packets: 3, gap: "60 cycles", look: "50 cycles", sessions: Own), empty: 1000)"#,
    "fabric.switch.lanes=4",
    "fabric.switch.marking=None",
];

#[test]
fn flows_that_ask_go_on_in_the_middle_of_their_trials() {
    for sessions in ["Own", "Shared"] {
        let mut changes = ASKING;
        let admission = changes[1].replace("Own", sessions);
        changes[1] = &admission;
        let resolved = resolve(TORUS, &changes);
        let expected = whole(&resolved);
        let count = |name: &str| expected.records.counts[name];
        let (asked, admitted) = (count("admission.requests.0"), count("admission.admitted.0"));
        assert!(
            asked > admitted + 9 && admitted > 2,
            "{sessions}: {asked} {admitted}"
        );
        assert!(count("reservation.requests") > count("reservation.begun"));
        assert!(count("reservation.begun") > 9);
        for (shards, threads, then) in [(1, 1, 4), (2, 2, 1), (7, 1, 2)] {
            goes_on(
                &resolved,
                &expected,
                (shards, threads, then),
                &[0, 700, 1300, 3700, 8900],
            );
        }
    }
}

/// The measurement ends at cycle 1000, rows of the timeline at multiples of 256: some of the stops are between two looks of the drain.
#[test]
fn a_run_stopped_in_its_drain_ends_where_it_would_have() {
    let changes = [
        "traffic.pairs.process.load=0.9",
        "phases.warmup=100 cycles",
        "phases.measure=900 cycles",
    ];
    let resolved = resolve(TORUS, &changes);
    let expected = whole(&resolved);
    assert!(expected.cycles.drain > 1500, "{:?}", expected.cycles);
    for stops in [&[1100][..], &[1300], &[1100, 1500], &[1400, 2000]] {
        goes_on(&resolved, &expected, (1, 1, 1), stops);
    }
}

#[test]
fn a_fork_keeps_the_fabric_and_starts_its_sources_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("warm");
    for changes in [OPTIONS[0], OPTIONS[3], OPTIONS[5]] {
        let resolved = resolve(TORUS, changes);
        let continuation = Continuation {
            start: Start::Fresh,
            keeping: Some(Keeping {
                warm: Some(file.clone()),
                ..keeping(&folder.path().join("state"))
            }),
            packets: None,
        };
        let stop = AtomicBool::new(false);
        let set = settings(1, None);
        let first =
            execute_from(&resolved, set, continuation, &mut |_| {}, &stop).expect("it runs");
        assert_same(&first, &whole(&resolved), "keeping the end of the warm-up");
        let fork = |extra: &[&str]| {
            let resolved = resolve(TORUS, &[changes, extra].concat());
            let other = folder.path().join("other");
            run(&resolved, set, Start::Fork(read(&file)), u64::MAX, &other)
        };
        let (seven, again) = (
            fork(&["seed=7"]).expect("it runs"),
            fork(&["seed=7"]).expect("it runs"),
        );
        assert_same(&seven, &again, "the same fork twice");
        assert_ne!(seven.records.digest, first.records.digest);
        assert_eq!((seven.cycles.warmup, seven.cycles.measure), (1000, 9000));
        let busier = fork(&["traffic.pairs.process.load=0.2"]).expect("it runs");
        let offered = |outcome: &Outcome| outcome.records.classes[1].created_flits as f64;
        let ratio = offered(&busier) / offered(&first);
        assert!((ratio - 2.0).abs() < 0.1, "{ratio}");
        let longer = fork(&["phases.measure=500 cycles", "phases.warmup=2000 cycles"]);
        let longer = longer.expect("it runs").cycles;
        assert_eq!((longer.warmup, longer.measure), (2000, 500));
    }
}

/// Speeds are work over time, and the work of a run that goes on is counted from cycle 0.
#[test]
fn the_time_of_all_parts_of_a_run_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state");
    let resolved = resolve(TORUS, &[]);
    let set = Settings {
        cpu_clock: Some(|| usage().cpu_seconds),
        ..settings(1, Some(1))
    };
    let until = |start, cycle| run(&resolved, set, start, cycle, &file).expect("it runs");
    let first = until(Start::Fresh, 0);
    let mut state = read(&file);
    let spent = state.driver.spent;
    assert!(0.0 < spent.wall_seconds && spent.wall_seconds <= first.cost.wall_seconds);
    assert!(0.0 < spent.cpu_seconds && spent.cpu_seconds <= first.cost.cpu_seconds);
    // as if the first part had been a long one
    state.driver.spent = Cost {
        wall_seconds: 1e6,
        cpu_seconds: 2e6,
    };
    until(Start::Resume(state), 500);
    let state = read(&file);
    let spent = state.driver.spent;
    assert!(
        spent.wall_seconds > 1e6 && spent.cpu_seconds > 2e6,
        "{spent:?}"
    );
    let forked = until(Start::Fork(state.clone()), u64::MAX);
    let ended = until(Start::Resume(state), u64::MAX);
    assert_same(&ended, &whole(&resolved), "time is no result");
    for outcome in [forked, ended] {
        let (cost, cycles) = (outcome.cost, outcome.cycles.total as f64);
        assert!(cost.wall_seconds > spent.wall_seconds && cost.wall_seconds < 1.001e6);
        assert!(cost.cpu_seconds > spent.cpu_seconds && cost.cpu_seconds < 2.001e6);
        let hops = outcome.records.flit_hops as f64;
        let work = summarize(&RunResult::new(&resolved, outcome, String::new())).work;
        assert!(
            (work.cycles_per_second / (cycles / 1e6) - 1.0).abs() < 0.001,
            "{work:?}"
        );
        assert!(
            (work.flit_hops_per_cpu_second / (hops / 2e6) - 1.0).abs() < 0.001,
            "{work:?}"
        );
    }
}

#[test]
fn a_state_that_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state");
    let resolved = resolve(TORUS, &[]);
    run(&resolved, settings(1, Some(2)), Start::Fresh, 5000, &file).expect("it stops");
    let refusal = |start: Start, changes: &[&str], shards| {
        let resolved = resolve(TORUS, changes);
        match run(&resolved, settings(1, shards), start, u64::MAX, &file) {
            Err(RunError::Checkpoint(cause)) => cause.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let mut said = vec![
        refusal(Start::Resume(read(&file)), &["seed=6"], None),
        refusal(
            Start::Resume(read(&file)),
            &["traffic.bulk.process.load=0.5"],
            None,
        ),
        refusal(Start::Resume(read(&file)), &[], Some(4)),
        refusal(Start::Fork(read(&file)), &["seed=6"], None),
        refusal(
            Start::Fork(read(&file)),
            &["fabric.switch.lane_capacity=64 flits"],
            None,
        ),
        refusal(
            Start::Fork(read(&file)),
            &["traffic.bulk.process=Saturating()"],
            None,
        ),
    ];
    let good = std::fs::read(&file).expect("it is there");
    let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        std::fs::write(&file, bytes).expect("it can be written");
        Checkpoint::read(&file)
            .expect_err("it is damaged")
            .to_string()
    };
    said.push(damaged(&|bytes| bytes.truncate(10)));
    said.push(damaged(&|bytes| bytes.truncate(30)));
    said.push(damaged(&|bytes| bytes[200] ^= 1));
    said.push(damaged(&|bytes| bytes[20] += 1));
    insta::assert_snapshot!(said.join("\n"));
    assert!(
        damaged(&|bytes| bytes.truncate(bytes.len() - 1)).contains("bytes of state instead of")
    );
    let missing = Checkpoint::read(&folder.path().join("none"));
    assert!(matches!(missing, Err(CheckpointError::Read(_))));
}

/// A change of what a checkpoint holds needs another number of the format: older files must be refused, not
/// misread.
#[test]
fn the_format_has_a_number_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state");
    let resolved = resolve(TORUS, OPTIONS[2]);
    run(&resolved, settings(1, Some(2)), Start::Fresh, 5000, &file).expect("it stops");
    let mut sum = crc32fast::Hasher::new();
    let saved = read(&file);
    for shard in &saved.state.shards {
        sum.update(shard);
    }
    let mut driver = saved.driver;
    driver.spent = Cost::default();
    sum.update(&postcard::to_stdvec(&driver).expect("plain data"));
    insta::assert_snapshot!(format!("format {FORMAT}: {:08x}", sum.finalize()));
}

/// Starts the program; it runs long enough to be caught.
fn program(folder: &Path, extra: &[&str]) -> Child {
    let scenario = folder.join("torus.ron");
    std::fs::write(&scenario, TORUS).expect("it can be written");
    Command::new(env!("CARGO_BIN_EXE_virtlane"))
        .arg("run")
        .arg(&scenario)
        .args(["--cycles", "400000", "--quiet", "--out"])
        .arg(folder.join("results"))
        .args(extra)
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

fn digest(results: &Path) -> String {
    let text = std::fs::read_to_string(results.join("summary.json")).expect("a finished run");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("a summary");
    summary["run"]["digest"].to_string()
}

#[test]
fn a_signal_saves_the_state_and_resume_finishes_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let results = folder.path().join("results");
    let state: PathBuf = folder.path().join("results.checkpoint");
    let mut other = program(folder.path(), &[]);
    assert!(other.wait().expect("it ends").success());
    let expected = digest(&results);
    std::fs::remove_dir_all(&results).expect("it is there");
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-USR1", 143), ("-KILL", -1)] {
        let saved = || {
            std::fs::metadata(&state)
                .and_then(|file| file.modified())
                .ok()
        };
        let before = saved();
        let mut child = program(folder.path(), &["--resume", "--checkpoint-every", "1000"]);
        // the first checkpoint shows that the handlers are in place
        while saved() == before && child.try_wait().expect("a child").is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let killed = Command::new("kill")
            .arg(signal)
            .arg(child.id().to_string())
            .status();
        assert!(killed.expect("kill exists").success());
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.code().unwrap_or(-1), code, "{signal}");
        assert!(state.exists(), "{signal}");
    }
    let mut last = program(folder.path(), &["--resume"]);
    assert!(last.wait().expect("it ends").success());
    assert_eq!(digest(&results), expected);
    assert!(!state.exists(), "a finished run needs no state");
}
