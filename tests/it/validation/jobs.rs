//! Jobs: what has to be delivered in all is complete when it is delivered, whatever runs beside it.

use crate::runs::{checked, resolve, run};
use std::sync::atomic::AtomicBool;
use virtlane::report::{RunResult, human_table, summarize};
use virtlane::run::outcome::{Overload, Verdict};
use virtlane::run::{Outcome, Settings, execute};

/// An incast of fifteen flows under some control, beside other classes, in phases.
fn incast(control: &str, others: &str, phases: &str) -> String {
    format!(
        "Scenario(title: \"short incast\", seed: 1,
         fabric: (topology: LeafSpine(leaves: 4, spines: 4, hosts_per_leaf: 4), flit: \"64 B\",
                  link: (rate: \"400 Gbit/s\", latency: \"20 ns\"),
                  switch: (lanes: 2, lane_capacity: \"64 KiB\", queues: Voq)),
         routing: FatTree(),
         traffic: [(name: \"in\", flows: [(pairs: Incast(to: 1), bytes: \"64 KiB\")], size: \"4 KiB\"{control}){others}],
         phases: ({phases}))"
    )
}

const UNTIL: &str = "warmup: \"0 cycles\", measure: Flows(at_most: \"1 ms\")";

fn marking(kind: &str) -> String {
    format!("fabric.switch.marking={kind}")
}

fn made(text: &str, changes: &[&str]) -> (Outcome, String) {
    let resolved = resolve(text, changes);
    let outcome = run(&resolved, [1, 1]);
    let told = format!("{}: {}", outcome.verdict, outcome.reason);
    (outcome, told)
}

/// Verdict of a class, and why.
fn of_class(outcome: &Outcome, class: usize) -> Option<(Verdict, &str)> {
    let told = outcome.classes[class].as_ref()?;
    Some((told.verdict, &told.reason))
}

#[test]
fn an_incast_is_complete_under_any_control_and_answers_have_no_verdict() {
    let answers = ", answers: (size: \"1 flits\", sl: 1)";
    let ecn = marking("Ecn(k_min: \"8 KiB\", k_max: \"32 KiB\", p_max: 0.1)");
    let fecn = marking("InfiniBand(threshold: 15)");
    for (control, changes) in [
        (String::new(), vec![]),
        (format!(", control: Dcqcn(){answers}"), vec![ecn.as_str()]),
        (format!(", control: Window(window: 4){answers}"), vec![]),
        (
            format!(
                ", control: InfiniBand(timer: \"30 us\", table: Linear(most: 127, shift: 3), increase: 8){answers}"
            ),
            vec![fecn.as_str()],
        ),
    ] {
        let (outcome, told) = made(&incast(&control, "", UNTIL), &changes);
        assert_eq!(outcome.verdict, Verdict::Complete, "{control}: {told}");
        assert!(
            told.contains("15 of 15 flows with a size complete, the last in cycle"),
            "{told}"
        );
        assert_eq!(
            of_class(&outcome, 0).map(|(verdict, _)| verdict),
            Some(Verdict::Complete)
        );
        assert!(
            outcome.classes[1..].iter().all(Option::is_none),
            "{control}: {:?}",
            outcome.classes
        );
    }
}

#[test]
fn flows_without_a_size_are_named_beside_those_of_their_class_that_have_one() {
    let text = incast("", "", UNTIL);
    let sized = "(pairs: Incast(to: 1), bytes: \"64 KiB\")";
    let endless = "(pairs: List(pairs: [(2, 3), (5, 4)]), limit: Rate(0.1))";
    let (outcome, told) = made(&text.replace(sized, &format!("{sized}, {endless}")), &[]);
    assert_eq!(outcome.verdict, Verdict::Complete, "{told}");
    let words =
        "15 of 15 flows with a size complete (2 without a size not counted), the last in cycle";
    assert!(told.contains(words), "{told}");
    let (verdict, told) = of_class(&outcome, 0).expect("it has a job");
    assert_eq!(verdict, Verdict::Complete);
    assert!(told.contains(words), "{told}");
}

#[test]
fn what_runs_beside_a_job_is_judged_by_itself() {
    let beside = |hosts: &str, load: f64| {
        format!(
            ", (name: \"bg\", hosts: {hosts}, pattern: Shift(by: 4), process: Bernoulli(load: {load}), size: \"256 B\", sl: 1)"
        )
    };
    let endless =
        ", (name: \"long\", flows: [(pairs: List(pairs: [(8, 12)]))], size: \"256 B\", sl: 1)";
    // four hosts share the link to their spine by another route than the incast: half of it is enough, and twice too much
    for (others, expected) in [
        (beside("Range(8, 15)", 0.2), Verdict::Steady),
        (endless.to_owned(), Verdict::Steady),
        (beside("Range(8, 15)", 1e-6), Verdict::Undecided),
        (
            ", (name: \"bg\", hosts: Range(8, 11), pattern: HotSpot(targets: [12], fraction: 1.0), process: Bernoulli(load: 0.6), size: \"256 B\", sl: 1)".to_owned(),
            Verdict::Saturated,
        ),
        (
            ", (name: \"bg\", hosts: Range(8, 11), pattern: HotSpot(targets: [12], fraction: 1.0), process: Saturating(), size: \"256 B\", sl: 1)".to_owned(),
            Verdict::Saturated,
        ),
    ] {
        let (outcome, told) = made(&incast("", &others, UNTIL), &[]);
        assert_eq!(outcome.verdict, Verdict::Complete, "{others}: {told}");
        let (verdict, reason) = of_class(&outcome, 1).expect("it is no class of answers");
        assert_eq!(verdict, expected, "{others}: {reason}");
        assert!(told.contains(&format!(" is {verdict}: ")), "{told}");
    }
}

#[test]
fn a_bound_that_comes_first_leaves_a_job_incomplete() {
    let phases =
        "warmup: \"0 cycles\", measure: Flows(at_most: \"15000 cycles\"), drain: \"0 cycles\"";
    let resolved = resolve(&incast("", "", phases), &[]);
    let outcome = run(&resolved, [1, 1]);
    let told = outcome.reason.clone();
    assert_eq!(outcome.verdict, Verdict::Incomplete, "{told}");
    assert!(
        told.contains("the bound of the measurement came first"),
        "{told}"
    );
    assert!(told.contains(" of 15 flows with a size complete"), "{told}");
    assert!(!told.contains("lost"), "{told}");
    let summary = summarize(&RunResult::new(&resolved, outcome, String::new()));
    assert!(summary.jobs[0].complete < 15, "{:?}", summary.jobs);
    assert_eq!(summary.jobs[0].completion, None);
}

#[test]
fn a_run_that_is_stopped_for_its_load_is_complete_when_its_jobs_are() {
    let others = ", (name: \"bg\", hosts: Range(8, 11), pattern: HotSpot(targets: [12], fraction: 1.0), process: Bernoulli(load: 0.6), size: \"256 B\", sl: 1)";
    let phases = "warmup: \"20000 cycles\", measure: \"100000 cycles\", drain: \"0 cycles\"";
    let resolved = resolve(&incast("", others, phases), &[]);
    let overload = Some(Overload {
        part: 0.05,
        is_early: true,
    });
    let settings = Settings {
        overload,
        ..checked([1, 1])
    };
    let stop = AtomicBool::new(false);
    let outcome = execute(&resolved, settings, &mut |_| {}, &stop).expect("it ends");
    assert!(outcome.is_cut, "{}", outcome.reason);
    assert_eq!(outcome.verdict, Verdict::Complete, "{}", outcome.reason);
}

#[test]
fn a_measurement_of_its_own_length_tells_jobs_that_go_on_beside_the_load() {
    let phases = "warmup: \"1000 cycles\", measure: \"4000 cycles\", drain: \"0 cycles\"";
    let (outcome, told) = made(&incast("", "", phases), &[]);
    assert!(
        !matches!(outcome.verdict, Verdict::Complete | Verdict::Incomplete),
        "{told}"
    );
    assert!(told.contains("; at its end "), "{told}");
    assert!(told.contains(" of 15 flows with a size complete"), "{told}");
}

#[test]
fn a_job_that_ends_in_the_warm_up_or_in_a_measurement_of_its_own_length_is_complete() {
    for (phases, is_before) in [
        ("warmup: \"40000 cycles\", measure: \"5000 cycles\"", true),
        ("warmup: \"100 cycles\", measure: \"40000 cycles\"", false),
    ] {
        let (outcome, told) = made(&incast("", "", phases), &[]);
        assert_eq!(outcome.verdict, Verdict::Complete, "{told}");
        let before = "before the measurement began";
        assert_eq!(told.contains(before), is_before, "{told}");
    }
}

/// Packets that are held up are dropped: of two flows one loses both of its packets.
#[test]
fn a_flow_that_lost_packets_is_named_and_never_complete() {
    let text = |phases: &str| {
        format!(
            "Scenario(title: \"line\", seed: 1,
             fabric: (topology: Mesh(radix: [3]), flit: \"64 B\", link: (rate: \"10 Gbit/s\", latency: \"2 cycles\"),
                      switch: (lane_capacity: \"8 flits\", routing_delay: \"1 cycles\", drop: (sl: [0], rule: Held))),
             routing: DimensionOrder(),
             traffic: [(name: \"live\", flows: [(pairs: Incast(to: 2), bytes: \"16 flits\")], size: \"8 flits\")],
             phases: ({phases}))"
        )
    };
    let phases = "warmup: \"0 cycles\", measure: \"200 cycles\"";
    let (outcome, told) = made(&text(phases), &[]);
    assert_eq!(outcome.verdict, Verdict::Incomplete, "{told}");
    for words in [
        "1 of 2 flows with a size complete",
        "lost: flow 0 (H0 to H2), of which 2 packets were dropped or rejected",
    ] {
        assert!(told.contains(words), "{told}");
    }
    // before that the job goes on
    let phases = "warmup: \"0 cycles\", measure: \"8 cycles\", drain: \"0 cycles\"";
    let (outcome, told) = made(&text(phases), &[]);
    assert_eq!(outcome.verdict, Verdict::Undecided, "{told}");
}

#[test]
fn summary_and_table_say_when_a_job_was_complete_in_cycles_and_time() {
    let resolved = resolve(&incast("", "", UNTIL), &[]);
    let outcome = run(&resolved, [2, 1]);
    let result = RunResult::new(&resolved, outcome, String::new());
    let summary = summarize(&result);
    let [job] = &summary.jobs[..] else {
        panic!("one job: {:?}", summary.jobs)
    };
    assert_eq!((&job.class[..], &job.of[..]), ("in", "flows"));
    assert_eq!((job.count, job.complete, job.lost), (15, 15, Some(0)));
    let completion = job.completion.expect("it is complete");
    assert_eq!(Some(completion), job.last_delivery, "all start in cycle 0");
    let values = &summary.values["jobs"][0];
    // a flit of 64 B takes 1.28 ns
    let time = values["completion_us"].as_f64().expect("a time");
    assert!(
        (time - completion as f64 * 1.28e-3).abs() < 1e-9,
        "{values}"
    );
    let slowest = job.slowest.as_ref().expect("there are flows");
    assert_eq!((slowest.completion, &slowest.to[..]), (completion, "H1"));
    assert_eq!(summary.values["classes"][0]["completion"], completion);
    assert_eq!(summary.classes[0].verdict, Some(Verdict::Complete));
    // fifteen flows of 1024 flits share the link of one host
    assert!((15 * 1024..16 * 1024).contains(&completion), "{completion}");
    let table = human_table(&result);
    let row = table.lines().find(|line| line.starts_with("in "));
    let row = row.expect("jobs stand before the classes");
    for words in [" 15 ", &completion.to_string(), " us", "to H1"] {
        assert!(row.contains(words), "{row}");
    }
}

#[test]
fn a_measurement_without_data_is_undecided_and_says_what_would_do() {
    let text = |rest: &str, phases: &str| {
        format!(
            "Scenario(title: \"short\", seed: 1,
             fabric: (topology: EdgeList(switches: 1, hosts_per_switch: 2), flit: \"64 B\",
                      link: (rate: \"100 Gbit/s\", latency: \"5 ns\"), switch: (lanes: 1, lane_capacity: \"65535 flits\")),
             routing: UpDown(),
             traffic: [(name: \"uniform\", pattern: Uniform, {rest}, sl: 0)],
             phases: ({phases}))"
        )
    };
    let long = "process: Bernoulli(load: 0.1), size: \"4096 flits\"";
    let small = "process: Bernoulli(load: 0.1), size: \"4 flits\"";
    for (rest, phases, words) in [
        // 54 packets of 4096 flits at 0.1 of two links
        (
            long,
            "warmup: \"500 cycles\", measure: \"1000 cycles\", drain: Auto",
            "measure at least 1105920 cycles (5.66 ms)",
        ),
        (
            small,
            "warmup: \"500 cycles\", measure: \"100 cycles\"",
            "measure at least 1080 cycles (5.53 us)",
        ),
        (
            "process: Bernoulli(load: 1e-6), size: \"4 flits\"",
            "warmup: \"0 cycles\", measure: \"10000 cycles\"",
            "no packet was delivered in 10000 cycles (51.2 us)",
        ),
    ] {
        for seed in ["seed=1", "seed=2", "seed=3"] {
            let (outcome, told) = made(&text(rest, phases), &[seed]);
            assert_eq!(outcome.verdict, Verdict::Undecided, "{seed} {told}");
            assert!(told.contains(words), "{seed} {told}");
        }
    }
    let (outcome, told) = made(
        &text(small, "warmup: \"500 cycles\", measure: \"2000 cycles\""),
        &[],
    );
    assert_eq!(outcome.verdict, Verdict::Steady, "{told}");
}

/// Many packets, but the window sees neither a large one whole nor what comes back over a long link.
#[test]
fn a_measurement_shorter_than_packets_or_round_trips_is_undecided() {
    let text = |size: &str, cycles: u64| {
        format!(
            "Scenario(title: \"long\", seed: 1,
             fabric: (topology: EdgeList(links: [(0, 1, \"10 us\")], hosts_per_switch: 8), flit: \"64 B\",
                      link: (rate: \"100 Gbit/s\", latency: \"5 ns\"), switch: (lanes: 1, lane_capacity: \"65535 flits\")),
             routing: UpDown(),
             traffic: [(name: \"u\", pattern: Uniform, process: Bernoulli(load: 0.1), size: {size}, sl: 0)],
             phases: (warmup: \"20000 cycles\", measure: \"{cycles} cycles\"))"
        )
    };
    // 10 us are 1953 cycles; the hosts' links are one cycle each way
    for (size, cycles, words) in [
        ("\"16 flits\"", 15_000, "are less than 4 round trips of 391"),
        (
            "Mixed([(\"16 flits\", 99), (\"1024 flits\", 1)])",
            17_000,
            "are less than 20 packets of 1024 cycles",
        ),
    ] {
        let (outcome, told) = made(&text(size, cycles), &[]);
        assert_eq!(outcome.verdict, Verdict::Undecided, "{told}");
        assert!(told.contains(words), "{told}");
    }
    let (outcome, told) = made(&text("\"16 flits\"", 16_000), &[]);
    assert_eq!(outcome.verdict, Verdict::Steady, "{told}");
}

/// What fills a fabric that was not warmed up may be the beginning of an overload: nobody knows where packets are under way for long.
#[test]
fn a_load_beside_a_job_with_much_under_way_is_undecided() {
    for (load, seed, word) in [(0.6, 2, "undecided"), (0.1, 1, "steady")] {
        let others = format!(
            ", (name: \"bg\", hosts: Range(4, 15), pattern: Uniform, process: Bernoulli(load: {load}), size: \"1 KiB\")"
        );
        let control = ", control: Dcqcn(), answers: (size: \"1 flits\", sl: 1)";
        let phases = "warmup: \"0 cycles\", measure: Flows(at_most: \"1 ms\")";
        let text = incast(control, &others, phases);
        let marks = "fabric.switch.marking=Ecn(k_min: \"8 KiB\", k_max: \"32 KiB\", p_max: 0.1)";
        let (outcome, told) = made(&text, &[marks, &format!("seed={seed}")]);
        assert_eq!(outcome.verdict, Verdict::Complete, "{told}");
        assert!(
            told.contains(&format!("beside it bg is {word}: ")),
            "{told}"
        );
    }
}

/// A ring of three switches on one lane, every packet two hops in the same direction, with a job beside it.
#[test]
fn a_load_without_data_in_a_deadlocked_fabric_is_deadlocked() {
    let text = "Scenario(title: \"ring\", seed: 1,
        fabric: (topology: Torus(radix: [3], hosts_per_switch: 2), flit: \"64 B\",
                 link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"), switch: (lanes: 1, lane_capacity: \"16 flits\")),
        routing: DimensionOrder(dateline: None, unidirectional: true),
        traffic: [(name: \"job\", flows: [(pairs: List(pairs: [(0, 4), (1, 5), (2, 0), (3, 1), (4, 2), (5, 3)]), bytes: \"64 KiB\")], size: \"16 flits\"),
                  (name: \"bg\", pattern: Shift(by: 4), process: Bernoulli(load: 0.01), size: \"16 flits\")],
        phases: (warmup: \"0 cycles\", measure: \"20000 cycles\"), allow_deadlock: true)";
    let (outcome, told) = made(text, &[]);
    assert_eq!(outcome.verdict, Verdict::Deadlocked, "{told}");
    let (verdict, reason) = of_class(&outcome, 1).expect("a load");
    assert_eq!(verdict, Verdict::Deadlocked, "{reason}");
}

/// A phase that opens after one that never ends, and a flow that waits for one that is never sent.
#[test]
fn what_waits_for_what_never_comes_is_incomplete() {
    let phased = "limit: Rate(0), phase: (\"a\", 0)), (pairs: List(pairs: [(0, 1)]), bytes: \"10 flits\", phase: (\"a\", 1), start: \"5 cycles\"";
    let load =
        ", (name: \"bg\", pattern: Uniform, process: Bernoulli(load: 0.1), size: \"8 flits\")";
    for (beside, measure) in [
        ("", "\"100000 cycles\""),
        (load, "\"100000 cycles\""),
        ("", "Flows(at_most: \"100000 cycles\")"),
        (load, "Flows(at_most: \"100000 cycles\")"),
    ] {
        let text = format!(
            "Scenario(title: \"dead\", seed: 1,
             fabric: (topology: EdgeList(links: [], hosts: [0, 0]), flit: \"64 B\", link: (rate: \"10 Gbit/s\", latency: \"2 cycles\"),
                 switch: (lanes: 1, lane_capacity: \"64 flits\")),
             routing: MinHop(),
             traffic: [(name: \"c\", flows: [(pairs: List(pairs: [(0, 1)]), bytes: \"10 flits\", {phased})], size: \"4 flits\"){beside}],
             phases: (warmup: \"0 cycles\", measure: {measure}))"
        );
        let (outcome, told) = made(&text, &[]);
        assert_eq!(outcome.verdict, Verdict::Incomplete, "{measure}: {told}");
        for words in [
            "stopped before its size: flow 0 (H0 to H1), limited to 0 for good from cycle 0 on, after 0 of 10 flits",
            "never to start, since what it waits for never comes: flow 1 (H0 to H1)",
        ] {
            assert!(told.contains(words), "{measure}: {told}");
        }
        let is_short = measure.starts_with("Flows");
        assert_eq!(
            outcome.cycles.measure < 10_000,
            is_short,
            "{measure}: {told}"
        );
    }
}
