//! What no longer measurement brings: flows that have stopped before their size, and packets that never come.

use crate::runs::{resolve, run};
use virtlane::run::outcome::Verdict;

/// One switch with four hosts, 64 B per cycle.
fn told(traffic: &str, phases: &str) -> (Verdict, String) {
    let text = format!(
        "Scenario(title: \"star\", seed: 1,
         fabric: (topology: EdgeList(switches: 1, hosts_per_switch: 4), flit: \"64 B\",
                  link: (rate: \"100 Gbit/s\", latency: \"100 ns\"), switch: (lanes: 1, lane_capacity: \"64 flits\")),
         routing: UpDown(),
         traffic: [{traffic}],
         phases: ({phases}))"
    );
    let outcome = run(&resolve(&text, &[]), [1, 1]);
    (outcome.verdict, outcome.reason)
}

fn flow(rest: &str) -> String {
    format!(
        "(name: \"f\", flows: [(pairs: List(pairs: [(0, 1)]), bytes: \"64 KiB\"{rest})], size: \"2 KiB\")"
    )
}

/// Packets of 32 flits start in cycles 0, 32, 64 and 96 at the latest.
#[test]
fn a_flow_that_has_stopped_is_incomplete_and_named_with_its_stop() {
    let stopped = flow(", stop: \"100 cycles\"");
    for measure in ["\"20000 cycles\"", "Flows(at_most: \"20000 cycles\")"] {
        let (verdict, reason) = told(
            &stopped,
            &format!("warmup: \"0 cycles\", measure: {measure}"),
        );
        assert_eq!(verdict, Verdict::Incomplete, "{measure}: {reason}");
        for words in [
            "0 of 1 flows with a size complete",
            "stopped before its size: flow 0 (H0 to H1) in cycle 100 after 96 of 1024 flits",
        ] {
            assert!(reason.contains(words), "{measure}: {reason}");
        }
    }
    // before its stop the job goes on; one that is done by then has not stopped
    let phases = "warmup: \"0 cycles\", measure: \"90 cycles\", drain: \"0 cycles\"";
    let (verdict, reason) = told(&stopped, phases);
    assert_eq!(verdict, Verdict::Undecided, "{reason}");
    let (verdict, reason) = told(
        &flow(", stop: \"15000 cycles\""),
        "warmup: \"0 cycles\", measure: \"20000 cycles\"",
    );
    assert_eq!(verdict, Verdict::Complete, "{reason}");
}

#[test]
fn packets_that_will_never_be_enough_are_said_to_be_so() {
    let limited = |packets: u32| {
        let class = format!(
            "(name: \"u\", pattern: Uniform, process: Bernoulli(load: 0.1), size: \"1 KiB\", packets: {packets})"
        );
        told(&class, "warmup: \"0 cycles\", measure: \"100000 cycles\"")
    };
    let (verdict, reason) = limited(5);
    assert_eq!(verdict, Verdict::Undecided, "{reason}");
    assert!(
        reason.contains("no more than 20 packets are ever sent"),
        "{reason}"
    );
    assert!(
        reason.contains("no length will do") && !reason.contains("measure at least"),
        "{reason}"
    );
    let (verdict, reason) = limited(50);
    assert_eq!(verdict, Verdict::Steady, "{reason}");
}

/// Sources that have made all their packets make no more, however long a measurement is, and whatever they made before it.
#[test]
fn hosts_that_are_done_send_no_more_in_any_length() {
    let of = |cycles: u64| {
        let class = "(name: \"u\", hosts: List([0]), pattern: AllTo(target: 1), process: Saturating(), size: \"4 flits\", packets: 40)";
        told(
            class,
            &format!("warmup: \"100 cycles\", measure: \"{cycles} cycles\""),
        )
    };
    // 25 of 40 are made in the warm-up, 26 delivered after it
    for cycles in [200, 20_000] {
        let (verdict, reason) = of(cycles);
        assert_eq!(verdict, Verdict::Undecided, "{reason}");
        let words = "about 26 packets are to be expected in any length";
        assert!(reason.contains(words), "{cycles}: {reason}");
    }
}

#[test]
fn where_nothing_was_offered_yet_the_first_start_is_named() {
    let (verdict, reason) = told(
        &flow(", start: \"90000 cycles\""),
        "warmup: \"0 cycles\", measure: \"1000 cycles\"",
    );
    assert_eq!(verdict, Verdict::Undecided, "{reason}");
    let words = "nothing is offered before cycle 90000 (461 us), in which the first flow starts: measure at least 91728 cycles";
    assert!(reason.contains(words), "{reason}");
    let (verdict, reason) = told(
        &flow(", start: \"90000 cycles\""),
        "warmup: \"0 cycles\", measure: \"91728 cycles\"",
    );
    assert_eq!(verdict, Verdict::Complete, "{reason}");
}

/// Credits on their way between shards are nothing that is waited for.
#[test]
fn nothing_more_can_happen_in_the_same_cycle_for_any_shards() {
    for rest in [
        ", limit: Rate(0.1), stop: \"1700 cycles\"",
        ", limit: Rate(0)",
        ", limit: Rate(0.1), changes: [(\"900 cycles\", Rate(0))]",
        ", window: 2, stop: \"700 cycles\"",
    ] {
        let text = format!(
            "Scenario(title: \"stopped\", seed: 1,
             fabric: (topology: Mesh(radix: [2, 3]), flit: \"64 B\", link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"),
                      switch: (lane_capacity: \"32 flits\")),
             routing: DimensionOrder(),
             traffic: [(name: \"f\", flows: [(pairs: List(pairs: [(0, 1), (4, 0)]), bytes: \"96000 B\"{rest})], size: \"3 flits\")],
             phases: (warmup: \"0 cycles\", measure: Flows(at_most: \"20000 cycles\")))"
        );
        let ends = [[1, 1], [1, 2], [2, 3], [1, 4]].map(|cut| {
            let outcome = run(&resolve(&text, &[]), cut);
            (outcome.verdict, outcome.reason)
        });
        assert_eq!(ends[0].0, Verdict::Incomplete, "{rest}: {}", ends[0].1);
        assert!(
            ends[0].1.starts_with("nothing can happen any more"),
            "{}",
            ends[0].1
        );
        assert!(ends.iter().all(|end| *end == ends[0]), "{rest}: {ends:?}");
    }
}

/// A window lets few of the packets go in a short time: the length that is told would do all the same.
#[test]
fn the_length_that_would_do_knows_what_is_held_back() {
    let of = |load: f64, rest: &str, cycles: u64| {
        let traffic = format!(
            "(name: \"f\", flows: [(pairs: List(pairs: [(0, 1)]), process: Bernoulli(load: {load}){rest})], size: \"256 B\")"
        );
        told(
            &traffic,
            &format!("warmup: \"0 cycles\", measure: \"{cycles} cycles\""),
        )
    };
    let window = ", window: 1, acknowledgement: \"900 cycles\"";
    let (verdict, reason) = of(0.0034, window, 4000);
    assert_eq!(verdict, Verdict::Undecided, "{reason}");
    let (_, reason) = of(0.0034, window, length(&reason));
    assert!(!reason.contains("too short"), "{reason}");
    // what is offered beside a limit or a window is known in any length
    for rest in [window, ", limit: Rate(0.01)"] {
        let (verdict, reason) = of(0.3, rest, 4000);
        assert_eq!(verdict, Verdict::Saturated, "{reason}");
    }
}

pub(super) const LEAVES: &str = "topology: LeafSpine(leaves: 3, spines: 2, hosts_per_leaf: 3)";

/// Classes on a fabric, measured for so long.
pub(super) fn measured(
    fabric: &str,
    latency: u64,
    traffic: &str,
    [warmup, cycles]: [u64; 2],
) -> (Verdict, String) {
    let text = format!(
        "Scenario(title: \"short\", seed: 3,
         fabric: ({fabric}, flit: \"64 B\", link: (rate: \"10 Gbit/s\", latency: \"{latency} cycles\"),
                  switch: (lanes: 8, lane_capacity: \"128 flits\")),
         routing: UpDown(),
         traffic: [{traffic}],
         phases: (warmup: \"{warmup} cycles\", measure: \"{cycles} cycles\"))"
    );
    let outcome = run(&resolve(&text, &[]), [1, 1]);
    (outcome.verdict, outcome.reason)
}

/// The number of cycles that a reason tells last.
pub(super) fn length(reason: &str) -> u64 {
    let (_, length) =
        (reason.rsplit_once("measure at least ")).unwrap_or_else(|| panic!("{reason}"));
    let (length, _) = length.split_once(' ').expect("it is in cycles");
    length.parse().expect("a number")
}

#[test]
fn a_flow_that_is_closed_for_good_is_incomplete_and_named() {
    let (verdict, reason) = told(
        &flow(", limit: Rate(0)"),
        "warmup: \"0 cycles\", measure: \"1000 cycles\"",
    );
    assert_eq!(verdict, Verdict::Incomplete, "{reason}");
    let words = "flow 0 (H0 to H1), limited to 0 for good from cycle 0 on, after 0 of 1024 flits";
    assert!(reason.contains(words), "{reason}");
}

/// Few packets of hosts, and of a flow that its window lets send few until it is closed.
#[test]
fn classes_that_send_few_together_never_send_enough() {
    let limited = "(name: \"l\", size: \"64 flits\", hosts: List([0, 8]), pattern: Uniform, process: ConstantRate(load: 0.001), packets: 1), ";
    for (beside, rest) in [
        (limited, "changes: [(\"2000 cycles\", Rate(0))]"),
        ("", "limit: Delay(100, 2), stop: \"3000 cycles\""),
    ] {
        let traffic = format!(
            "{beside}(name: \"f\", size: \"1 flits\", flows: [(pairs: List(pairs: [(0, 1)]), window: 2, acknowledgement: \"5000 cycles\", {rest})])"
        );
        let (verdict, reason) = measured(LEAVES, 1, &traffic, [500, 100]);
        assert_eq!(verdict, Verdict::Undecided, "{rest}: {reason}");
        assert!(reason.contains("no length will do"), "{rest}: {reason}");
    }
}

/// Where a limit of 0 or a stop lets nothing more go, no length is told; as soon as enough goes before it, one is.
#[test]
fn where_rates_fall_to_nothing_no_length_will_do() {
    let of = |rest: &str| {
        let traffic = format!(
            "(name: \"f\", flows: [(pairs: List(pairs: [(0, 1)]){rest})], size: \"256 B\")"
        );
        told(
            &traffic,
            "warmup: \"1000 cycles\", measure: \"2000 cycles\"",
        )
    };
    let closed = |at: u64| format!(", changes: [(\"{at} cycles\", Rate(0))]");
    let stop = |at: u64| format!(", stop: \"{at} cycles\"");
    let process = ", process: Bernoulli(load: 0.3)";
    for (rest, most) in [
        (closed(1050), "more than "),
        (stop(1050), "more than "),
        (closed(900), "any packet"),
        (String::from(", limit: Rate(0)"), "any packet"),
        (format!("{process}, limit: Rate(0)"), "any packet"),
        (format!("{process}{}", closed(1040)), "more than "),
        (format!("{process}{}", stop(1040)), "more than "),
        (
            format!(", limit: Rate(0.001){}", closed(9000)),
            "more than ",
        ),
        (
            String::from(", start: \"90000 cycles\", limit: Rate(0)"),
            "any packet",
        ),
    ] {
        let (verdict, reason) = of(&rest);
        assert_eq!(verdict, Verdict::Undecided, "{rest}: {reason}");
        let words = format!("no longer one finds {most}");
        assert!(reason.contains(&words), "{rest}: {reason}");
        let is_never = reason.contains("no length will do") && !reason.contains("measure at least");
        assert!(is_never, "{rest}: {reason}");
    }
    let opened = ", limit: Rate(0), changes: [(\"9000 cycles\", Rate(0.5))]";
    let slow = ", limit: Rate(0.001), changes: [(\"900000 cycles\", Rate(0))]";
    for rest in [opened, slow, ", limit: Rate(0.000001)"] {
        let (verdict, reason) = of(rest);
        assert_eq!(verdict, Verdict::Undecided, "{rest}: {reason}");
        assert!(!reason.contains("no length"), "{rest}: {reason}");
    }
    let (_, reason) = of(opened);
    let words = "before cycle 9000 (46.1 us), in which the limit of the first flow is no longer 0: measure at least ";
    // 54 packets of 4 flits at half the rate of the link, 20 cycles each for the two links of the way
    let is_told = reason.contains(words) && (8472..8490).contains(&length(&reason));
    assert!(is_told, "{reason}");
    // 54 packets of 4 flits, one every 4 million cycles
    let (_, reason) = of(", limit: Rate(0.000001)");
    assert!(reason.contains("measure at least 215"), "{reason}");
}

/// Flows with a process have a length before they have made a packet, and as many packets as they make and limits let through.
#[test]
fn the_length_of_a_process_is_known_before_its_first_packet() {
    let of = |rest: &str, size: u32, cycles: u64| {
        let traffic = format!(
            "(name: \"f\", flows: [(pairs: List(pairs: [(0, 1)]), {rest})], size: \"{size} flits\")"
        );
        told(
            &traffic,
            &format!("warmup: \"0 cycles\", measure: \"{cycles} cycles\""),
        )
    };
    // 54 packets of 4 flits at 0.001 of the link, and 20 cycles each for the two links of the way
    let (_, reason) = of("process: Bernoulli(load: 0.001)", 4, 200);
    assert!((216_040..216_060).contains(&length(&reason)), "{reason}");
    let (_, reason) = of(
        "process: Bernoulli(load: 0.5), start: \"12491 cycles\"",
        4,
        10_000,
    );
    let words = "nothing is offered before cycle 12491";
    assert!(
        reason.contains(words) && length(&reason) > 12_491,
        "{reason}"
    );
    let (verdict, reason) = of(
        "process: Bernoulli(load: 0.5), start: \"12491 cycles\"",
        4,
        length(&reason),
    );
    assert!(!reason.contains("too short"), "{verdict} {reason}");
    // 24 packets before it is closed for good
    let (_, reason) = of(
        "process: Bernoulli(load: 0.05), changes: [(\"7713 cycles\", Rate(0))]",
        16,
        5000,
    );
    assert!(
        reason.contains("about 24 packets are to be expected in any length"),
        "{reason}"
    );
}

/// Two hosts ask a third for 1.8 of its channel until they have made 400 packets each, in the warm-up and a part of the measurement.
#[test]
fn what_drains_of_limited_numbers_of_packets_is_told() {
    let limited = "(name: \"p\", hosts: List([0, 1]), pattern: Pairs(pairs: [(0, 2), (1, 2)]), process: Bernoulli(load: 0.9), \
                   size: \"4 flits\", packets: 400)";
    let (_, reason) = told(limited, "warmup: \"1500 cycles\", measure: \"1500 cycles\"");
    assert!(reason.contains("of p 1"), "{reason}");
    assert!(reason.contains("were made in the measurement"), "{reason}");
    assert!(!reason.contains("follows offered load"), "{reason}");
}
