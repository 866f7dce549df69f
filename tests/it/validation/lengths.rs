//! Lengths that are told to do, and do.

use super::stopped::{LEAVES, length, measured};
use crate::runs::{resolve, run};
use virtlane::run::outcome::Verdict;

const TORUS: &str = "topology: Torus(radix: [4, 4])";

/// Flows that go together, that wait for acknowledgements, that nothing limits, and hosts that have sent all.
#[test]
fn the_length_that_is_told_does() {
    let flows = |rest: &str, size: u32| {
        format!("(name: \"f\", size: \"{size} flits\", flows: [(pairs: PerHost(count: 1){rest})])")
    };
    let limited = "(name: \"l\", size: \"8 flits\", hosts: All, pattern: Uniform, process: Bernoulli(load: 0.5), packets: 1)";
    let slow = "(name: \"s\", size: \"64 flits\", hosts: List([0, 7]), pattern: Uniform, process: Bernoulli(load: 0.01), packets: 40)";
    let window = ", limit: Rate(0.1), window: 2, acknowledgement: \"5000 cycles\"";
    for (fabric, latency, traffic) in [
        (TORUS, 10, flows(window, 8)),
        (LEAVES, 300, flows("", 64)),
        (LEAVES, 10, flows(", limit: Delay(1000, 0)", 8)),
        (
            LEAVES,
            10,
            flows(
                ", limit: Delay(100, 2), window: 1, acknowledgement: \"100 cycles\", stop: \"50000 cycles\"",
                64,
            ),
        ),
        (LEAVES, 10, format!("{limited}, {slow}")),
        (
            LEAVES,
            10,
            format!("{limited}, {}", flows(", limit: Rate(0.0005)", 8)),
        ),
    ] {
        let of = |cycles| measured(fabric, latency, &traffic, [500, cycles]);
        let (verdict, reason) = of(100);
        assert_eq!(verdict, Verdict::Undecided, "{traffic}: {reason}");
        let (_, reason) = of(length(&reason));
        assert!(!reason.contains("too short"), "{traffic}: {reason}");
    }
}

/// A class between two hosts of one switch, whose links take so many cycles and whose lanes have so many flits.
fn two_hosts([latency, lane]: [u32; 2], class: &str, [warmup, cycles]: [u64; 2]) -> String {
    format!(
        "Scenario(title: \"lengths\", seed: 1,
         fabric: (topology: EdgeList(links: [], hosts: [0, 0]), flit: \"64 B\", link: (rate: \"10 Gbit/s\", latency: \"{latency} cycles\"),
             switch: (lanes: 1, lane_capacity: \"{lane} flits\")),
         routing: MinHop(), traffic: [(name: \"c\", {class})],
         phases: (warmup: \"{warmup} cycles\", measure: \"{cycles} cycles\"))"
    )
}

/// Where flits go at a rate the number of packets of 1 and 60 flits has 6.6 times the variance of a Poisson count.
#[test]
fn the_length_for_packets_of_several_sizes_is_enough() {
    let class = "size: Mixed([(\"1 flits\", 9), (\"60 flits\", 1)]), flows: [(pairs: List(pairs: [(0, 1)]), limit: Rate(0.02))]";
    let text = |cycles: u64| two_hosts([1, 64], class, [1000, cycles]);
    for seed in 1..9 {
        let seed = format!("seed={seed}");
        let of = |cycles| run(&resolve(&text(cycles), &[&seed]), [1, 1]).reason;
        let reason = of(300);
        // 114 packets of 6.9 flits at 0.02 of the link
        let cycles = length(&reason);
        assert!((39_300..39_600).contains(&cycles), "{seed}: {reason}");
        let reason = of(cycles);
        assert!(!reason.contains("too short"), "{seed}: {reason}");
    }
}

/// A flow with a size is complete in the length that is told, however few packets it takes.
#[test]
fn the_length_in_which_flows_can_be_complete_is_told() {
    for rest in [
        "start: \"100 cycles\", changes: [(\"200 cycles\", Rate(0.2))]",
        "limit: Rate(0.01), window: 1, acknowledgement: \"5000 cycles\", start: \"5000 cycles\"",
    ] {
        let traffic = format!(
            "(name: \"f\", size: \"64 flits\", flows: [(pairs: PerHost(count: 1), {rest}, bytes: \"100 flits\")])"
        );
        let of = |cycles| measured(LEAVES, 300, &traffic, [500, cycles]);
        let (verdict, reason) = of(100);
        assert_eq!(verdict, Verdict::Undecided, "{rest}: {reason}");
        assert!(
            reason.contains("no length will do for one; at its end 0 of 9 flows"),
            "{reason}"
        );
        assert!(reason.contains(" for all of them"), "{reason}");
        let (verdict, reason) = of(length(&reason));
        assert_eq!(verdict, Verdict::Complete, "{rest}: {reason}");
    }
}

/// A job that credits hold back is complete in the length that is told.
#[test]
fn the_length_of_a_job_that_credits_hold_back_is_enough() {
    let class = "size: \"16 flits\", flows: [(pairs: List(pairs: [(0, 1)]), bytes: \"1000 flits\", limit: Rate(0.3))]";
    let text = |cycles: u64| two_hosts([200, 16], class, [0, cycles]);
    let outcome = run(&resolve(&text(2000), &[]), [1, 1]);
    let cycles = length(&outcome.reason);
    assert!((26_192..80_000).contains(&cycles), "{}", outcome.reason);
    let outcome = run(&resolve(&text(cycles), &[]), [1, 1]);
    assert_eq!(outcome.verdict, Verdict::Complete, "{}", outcome.reason);
}

/// One switch with links of 200 cycles.
fn on_a_switch(
    (hosts, lane): (&str, u32),
    class: &str,
    [warmup, cycles]: [u64; 2],
) -> (Verdict, String) {
    let text = format!(
        "Scenario(title: \"long\", seed: 66,
         fabric: (topology: EdgeList(links: [], hosts: {hosts}), flit: \"64 B\",
             link: (rate: \"10 Gbit/s\", latency: \"200 cycles\"), switch: (lanes: 1, lane_capacity: \"{lane} flits\")),
         routing: MinHop(),
         traffic: [(name: \"c\", {class})],
         phases: (warmup: \"{warmup} cycles\", measure: \"{cycles} cycles\"))"
    );
    let outcome = run(&resolve(&text, &[]), [1, 1]);
    (outcome.verdict, outcome.reason)
}

/// What leaves late in a measurement arrives after it: where a limit opens on a long way, the time of that way is added.
#[test]
fn the_length_after_a_limit_opens_has_the_latency_of_the_way() {
    for (process, lane) in [
        ("process: Bernoulli(load: 0.2), ", 128),
        ("", 128),
        // credits let 32 flits go in 400 cycles
        ("process: Bernoulli(load: 0.2), ", 32),
        ("", 32),
    ] {
        let of = |cycles: u64| {
            let class = format!(
                "size: \"4 flits\", flows: [(pairs: List(pairs: [(1, 0)]), {process}limit: Rate(0), \
                 changes: [(\"6619 cycles\", Rate(0.75))])]"
            );
            on_a_switch(("[0, 0]", lane), &class, [3000, cycles])
        };
        let (verdict, reason) = of(2000);
        assert_eq!(verdict, Verdict::Undecided, "{process}{lane}: {reason}");
        let (verdict, reason) = of(length(&reason));
        assert!(
            !reason.contains("too short"),
            "{process}{lane}: {verdict} {reason}"
        );
    }
}

/// Jobs of several flows that share links, switches and their credits are complete in the length that is told.
#[test]
fn the_length_of_jobs_that_share_credits_is_enough() {
    for (hosts, lane, flows, cycles) in [
        (
            "[0, 0, 0, 0]",
            16,
            "(pairs: List(pairs: [(0, 1)]), bytes: \"100 flits\", limit: Rate(1.0)), (pairs: Incast(to: 0), bytes: \"16 flits\")",
            577,
        ),
        (
            "[0, 0, (\"h2\", 0, \"5 Gbit/s\", \"1 cycles\"), 0, 0]",
            32,
            "(pairs: PerHost(count: 2), bytes: \"1000 flits\", start: \"500 cycles\")",
            1500,
        ),
        (
            "[0, (\"h1\", 0, \"2.5 Gbit/s\", \"20 cycles\"), 0, 0, 0]",
            32,
            "(pairs: PerHost(count: 2), bytes: \"100 flits\", phase: (\"a\", 0))",
            1033,
        ),
    ] {
        let of = |cycles: u64| {
            let class = format!("size: \"16 flits\", flows: [{flows}]");
            on_a_switch((hosts, lane), &class, [0, cycles])
        };
        let (verdict, reason) = of(cycles);
        assert_eq!(verdict, Verdict::Undecided, "{flows}: {reason}");
        let (verdict, reason) = of(length(&reason));
        assert_eq!(verdict, Verdict::Complete, "{flows}: {reason}");
    }
}

/// A job that gets what a load leaves of a sink goes on as slowly as it came: its limits, links and credits let more through.
#[test]
fn the_length_of_a_job_beside_a_load_is_enough() {
    let of = |cycles: u64| {
        let traffic = "(name: \"l\", hosts: Range(1, 4), pattern: AllTo(target: 5), process: Bernoulli(load: 0.2), size: \"16 flits\"),
             (name: \"f\", flows: [(pairs: List(pairs: [(0, 5)]), bytes: \"4000 flits\")], size: \"16 flits\")";
        measured(
            "topology: EdgeList(switches: 1, hosts_per_switch: 6)",
            10,
            traffic,
            [0, cycles],
        )
    };
    let (verdict, reason) = of(1500);
    assert_eq!(verdict, Verdict::Undecided, "{reason}");
    let (verdict, reason) = of(length(&reason));
    assert_eq!(verdict, Verdict::Complete, "{reason}");
}
