//! Loads of answers: parts of the link rate of the hosts that send them.

use crate::runs::{resolve, run};
use std::sync::atomic::AtomicBool;
use virtlane::ids::HostId;
use virtlane::measure::RunResult;
use virtlane::report::summarize;
use virtlane::run::Settings;
use virtlane::run::watch::{PacketName, watch};

/// One flow of requests of a flit from host 0 to host 1, two at a time, each of which is answered by a reply of 32 flits.
const REPLIES: &str = r#"Scenario(title: "replies", seed: 3,
    fabric: (topology: Complete(switches: 1, hosts_per_switch: 4), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 2, lane_capacity: "64 flits")),
    routing: MinHop(),
    traffic: [(name: "r", hosts: List([0]), flows: [(pairs: List(pairs: [(0, 1)]))],
               control: RequestReply(outstanding: 2, request: 1, reply: "32 flits"),
               answers: (size: "16 flits", sl: 1), size: "1 flits")],
    phases: (warmup: "500 cycles", measure: "5000 cycles"))"#;

#[test]
fn answers_have_the_load_of_the_hosts_that_send_them() {
    let resolved = resolve(REPLIES, &[]);
    let outcome = run(&resolved, [1, 1]);
    let result = RunResult::new(&resolved, outcome, String::new());
    let hosts: Vec<_> = result
        .classes
        .iter()
        .map(|class| &class.hosts[..])
        .collect();
    assert_eq!(hosts, [&[HostId(0)][..], &[HostId(1)]]);
    let flits = [0, 1].map(|class| result.records.classes[class].delivered_flits as f64 / 5000.0);
    let values = summarize(&result).values;
    let accepted = |of: &serde_json::Value| of["accepted"].as_f64().expect("a load");
    for (class, flits) in flits.into_iter().enumerate() {
        let found = accepted(&values["classes"][class]);
        assert!(
            (found - flits).abs() < 1e-9 && found > 0.0,
            "{found}, {flits}"
        );
    }
    assert!(flits[1] > 0.5, "{flits:?}");
    // both hosts send
    let all = accepted(&values["load"]);
    assert!(
        (all - f64::midpoint(flits[0], flits[1])).abs() < 1e-9,
        "{all}"
    );
    let host = |name: &str| values["load"][name].as_f64().expect("a load");
    assert!((host("accepted_min_host") - flits[0]).abs() < 0.01);
    assert!((host("accepted_max_host") - flits[1]).abs() < 0.01);
}

/// Three of four hosts send to the last one, which takes what its link carries: a third of what theirs do.
#[test]
fn the_reason_of_a_verdict_counts_the_hosts_that_send() {
    let (start, end) = (
        REPLIES.find("hosts: List").unwrap(),
        REPLIES.find("size: \"1 flits\"").unwrap(),
    );
    let traffic = "pattern: AllTo(target: 3), process: Saturating, ";
    let text = REPLIES.replace(&REPLIES[start..end], traffic);
    let reason = run(&resolve(&text, &[]), [1, 1]).reason;
    assert!(reason.contains("accepted 0.333 of "), "{reason}");
}

/// A host that sends nothing but answers can be asked for one of them.
#[test]
fn an_answer_of_a_host_that_sends_nothing_else_is_watched() {
    let name = |source: u32| PacketName {
        source: HostId(source),
        class: 1,
        sequence: 0,
    };
    let resolved = resolve(REPLIES, &[]);
    let story = |source| {
        watch(
            &resolved,
            name(source),
            Settings::default(),
            &AtomicBool::new(false),
        )
    };
    assert!(story(1).expect("it sends answers").delivered.is_some());
    assert!(story(0).is_err(), "it sends none");
}
