//! Control whose effect follows from arithmetic (D37 to D41 of the model).

use super::run;
use std::path::Path;
use virtlane::measure::FlowResult;
use virtlane::report::{RunResult, summary_json};
use virtlane::scenario::{Document, Parts, Resolved};

/// A mesh of four switches with a host each, its links at the rate of the hosts.
fn scenario(switch: &str, traffic: &str, measure: u64) -> Resolved {
    let text = format!(
        r#"Scenario(
            fabric: (
                topology: Mesh(radix: [2, 2]),
                flit: "64 B",
                link: (rate: "20 Gbit/s", latency: "3 cycles"),
                switch: (lane_capacity: "400 flits", routing_delay: "2 cycles", {switch}),
            ),
            routing: DimensionOrder(),
            traffic: [{traffic}],
            phases: (warmup: "0 cycles", measure: "{measure} cycles", drain: "0 cycles"),
        )"#
    );
    let document = Document::parse("control.ron", &text, Path::new(".")).expect("a scenario");
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}"))
}

fn flows(resolved: &Resolved) -> Vec<FlowResult> {
    RunResult::new(resolved, run(resolved), String::new()).flow_results
}

/// Packets of n flits at CCTI with entry (h, m) start every n + m floor(n / 2^h) cycles: 1 / (1 + m / 2^h) of the link where
/// 2^h divides n.
#[test]
fn an_entry_of_the_congestion_control_table_is_a_rate() {
    for (size, shift, multiplier) in [
        (16, 0, 1),
        (16, 2, 1),
        (16, 3, 5),
        (32, 0, 7),
        (8, 3, 1000),
        (5, 1, 3),
    ] {
        let traffic = format!(
            r#"(
                name: "one",
                flows: [(pairs: List(pairs: [(0, 3)]))],
                size: "{size} flits",
                control: InfiniBand(timer: "1 us", table: Entries([({shift}, {multiplier})])),
            )"#
        );
        let cycles = 100_000;
        let flow = flows(&scenario("", &traffic, cycles))[0];
        let period = size + multiplier * (size >> shift);
        let case = format!("{size} flits, {shift}, {multiplier}");
        assert_eq!(
            flow.counts.sent.started.packets,
            cycles.div_ceil(period),
            "{case}"
        );
        if size % (1 << shift) == 0 {
            let rate = size as f64 / period as f64;
            let closed_form = 1.0 / (1.0 + multiplier as f64 / f64::from(1 << shift));
            assert!((rate - closed_form).abs() < 1e-12, "{case}");
        }
    }
}

/// A host alone with W requests under way: W per (latency of the request + server + latency of the reply + think), exactly.
#[test]
fn requests_go_by_the_round_trip() {
    // 0 to 3: two links between switches and one at each end, three switches
    let latency = |flits: u64| 4 * 3 + 3 * 2 + flits - 1;
    for (request, reply, server, think) in
        [(1, 8, 20, 10), (6, 1, 1, 1), (4, 4, 300, 1), (1, 16, 7, 90)]
    {
        for outstanding in [1, 2, 3] {
            let traffic = format!(
                r#"(
                    name: "reads",
                    flows: [(pairs: List(pairs: [(0, 3)]), bytes: "{} flits")],
                    size: "{request} flits",
                    control: RequestReply(outstanding: {outstanding}, server: "{server} cycles", think: "{think} cycles"),
                    answers: (size: "{reply} flits"),
                )"#,
                40 * request * outstanding
            );
            let round = latency(request) + server + latency(reply) + think;
            let flow = flows(&scenario("", &traffic, 60_000))[0];
            // the last round of a batch: its requests follow one another
            let last =
                39 * round + (outstanding - 1) * request.max(reply).min(round) + latency(request);
            let arrived = flow.counts.arrived;
            let case = format!("{request} {reply} {server} {think} {outstanding}");
            assert_eq!(flow.counts.sent.answered, 40 * outstanding, "{case}");
            if outstanding == 1 {
                assert_eq!(arrived.last_delivery, Some(last), "{case}");
            }
            let first = last - (outstanding - 1) * request.max(reply);
            let found = arrived.last_delivery.expect("all are delivered");
            assert!(
                (first..=last).contains(&found),
                "{case}: {found} of {first} to {last}"
            );
        }
    }
}

/// Reads and writes of several packets, one at a time and alone: a round is the way of the whole request, the server, the way
/// of the whole reply and the time to think, exactly (D45).
#[test]
fn requests_of_several_packets_go_by_the_round_trip() {
    let latency = |flits: u64| 4 * 3 + 3 * 2 + flits - 1;
    // requests and replies: packets, flits of each
    for ((request, size), (reply, answer)) in [
        ((1, 4), (8, 16)),
        ((5, 16), (1, 1)),
        ((3, 7), (4, 2)),
        ((2, 1), (2, 1)),
    ] {
        let flits = request * size;
        let traffic = format!(
            r#"(
                name: "calls",
                flows: [(pairs: List(pairs: [(0, 3)]), bytes: "{} flits")],
                size: "{size} flits",
                control: RequestReply(server: "20 cycles", think: "10 cycles", request: {request}, reply: {reply}),
                answers: (size: "{answer} flits"),
            )"#,
            40 * flits
        );
        let flow = flows(&scenario("", &traffic, 60_000))[0];
        let round = latency(flits) + 20 + latency(reply * answer) + 10;
        let case = format!("{request} of {size}, {reply} of {answer}");
        assert_eq!(flow.counts.sent.answered, 40, "{case}");
        let last = flow.counts.arrived.last_delivery;
        assert_eq!(last, Some(39 * round + latency(flits)), "{case}");
    }
}

/// Two flows of a host at the same entry of the table: with a CCTI each, each has what the entry leaves; with one for the
/// service level they have it together, in turns (D44).
#[test]
fn a_service_level_has_the_rate_of_a_queue_pair() {
    let (size, shift, multiplier, cycles) = (16, 1, 6, 100_000);
    let period = size + multiplier * (size >> shift);
    for (per, starts) in [
        ("QueuePair", [(0, period), (size, period)]),
        ("ServiceLevel", [(0, 2 * period), (period, 2 * period)]),
    ] {
        let traffic = format!(
            r#"(
                name: "two",
                flows: [(pairs: List(pairs: [(0, 3), (0, 1)]))],
                size: "{size} flits",
                control: InfiniBand(timer: "1 us", table: Entries([({shift}, {multiplier})]), per: {per}),
            )"#
        );
        let flows = flows(&scenario("", &traffic, cycles));
        for (flow, (first, every)) in flows.iter().zip(starts) {
            let sent = flow.counts.sent;
            assert_eq!(sent.first_start, Some(first), "{per}");
            let expected = (cycles - first).div_ceil(every);
            assert_eq!(sent.started.packets, expected, "{per}");
        }
    }
}

/// An incast at a host: CCTI rises through the trigger, of each flow, or of each host, whose first flow counts its events.
#[test]
fn events_of_the_trigger_are_counted() {
    for per in ["QueuePair", "ServiceLevel"] {
        let traffic = format!(
            r#"(
                name: "incast",
                flows: [(pairs: List(pairs: [(0, 3), (0, 3), (1, 3), (2, 3)]))],
                size: "16 flits",
                control: InfiniBand(timer: "20 us", table: Linear(most: 127, shift: 0), trigger: 3, per: {per}),
            )"#
        );
        let marking = "marking: InfiniBand(threshold: 15)";
        let resolved = scenario(marking, &traffic, 100_000);
        let result = RunResult::new(&resolved, run(&resolved), String::new());
        let flows = result.flow_results.iter();
        let logged: Vec<u64> = flows.map(|flow| flow.counts.sent.logged).collect();
        let json: serde_json::Value = serde_json::from_str(&summary_json(&result)).expect("JSON");
        let sum = json.pointer("/control/triggers").expect("it is counted");
        assert_eq!(sum.as_u64(), Some(logged.iter().sum()), "{per}");
        assert!(
            logged[0] > 0 && logged[2] > 0 && logged[3] > 0,
            "{logged:?}"
        );
        assert_eq!(logged[1] > 0, per == "QueuePair", "{logged:?}");
    }
}

/// Little's law on a mesh below saturation: requests under way = their rate times the round trip, within 1 %. What is left
/// out of the round trip is the wait for the host's channel, which replies use, too.
#[test]
fn closed_loops_of_a_mesh_obey_littles_law() {
    let text = r#"Scenario(
        seed: 1,
        fabric: (
            topology: Mesh(radix: [8, 8]),
            flit: "64 B",
            link: (rate: "20 Gbit/s", latency: "1 cycles"),
            switch: (lane_capacity: "32 flits", lanes: 2),
        ),
        routing: DimensionOrder(),
        traffic: [(
            name: "reads",
            flows: [(pairs: PerHost(count: 1))],
            size: "1 flits",
            control: RequestReply(outstanding: 1, server: "20 cycles", think: "10 cycles"),
            answers: (size: "8 flits", sl: 1),
        )],
        phases: (warmup: "5000 cycles", measure: "40000 cycles", drain: "0 cycles"),
    )"#;
    let document = Document::parse("loop.ron", text, Path::new(".")).expect("a scenario");
    let resolved = document.resolve(&Parts::registered()).expect("it is whole");
    let result = RunResult::new(&resolved, run(&resolved), String::new());
    let json: serde_json::Value = serde_json::from_str(&summary_json(&result)).expect("JSON");
    let value = |path: &str| {
        let found = json.pointer(path).and_then(serde_json::Value::as_f64);
        found.unwrap_or_else(|| panic!("{path} in {json}"))
    };
    let request = value("/classes/0/latency/network/mean");
    let reply = value("/classes/1/latency/packet/mean");
    let round = request + 20.0 + reply + 10.0;
    let rate = value("/classes/0/accepted");
    let under_way = rate * round;
    assert!(
        (0.99..=1.0).contains(&under_way),
        "{under_way} requests under way, a rate of {rate} and {round} cycles"
    );
}

/// What D37 says of figure 1.1 of the document on explicit rates: the outputs to d2 and, with control, to d1 mark as
/// roots; the link between the switches, which others hold back, does not.
#[test]
fn roots_mark_and_victims_do_not() {
    let text = r#"Scenario(
        fabric: (
            topology: EdgeList(
                switches: 2,
                links: [(0, 1)],
                hosts: [("s1", 0), ("s2", 0), ("s3", 0), ("s4", 0), ("s5", 1), ("s6", 1), ("d1", 1), ("d2", 1)],
            ),
            flit: "64 B",
            link: (rate: "20 Gbit/s", latency: "1 cycles"),
            switch: (
                lane_capacity: "128 flits",
                queues: Voq,
                input_speedup: Unlimited,
                marking: InfiniBand(threshold: 15, victims: None),
            ),
        ),
        routing: UpDown(),
        traffic: [(
            name: "all",
            flows: [(pairs: List(pairs: [(0, 6), (1, 6), (2, 7), (3, 7), (4, 7), (5, 7)]))],
            size: "16 flits",
        )],
        phases: (warmup: "20000 cycles", measure: "48000 cycles", drain: "0 cycles"),
    )"#;
    let document = Document::parse("figure.ron", text, Path::new(".")).expect("a scenario");
    let resolved = document.resolve(&Parts::registered()).expect("it is whole");
    let flows = flows(&resolved);
    for (flow, sixths) in flows.iter().zip([1, 1, 1, 1, 2, 2]) {
        assert_eq!(
            flow.counts.arrived.received,
            48_000 * sixths / 6,
            "seed 001, 1.1"
        );
    }
    let marked = |flow: &FlowResult| flow.counts.arrived.marked;
    // the output to d2 marks all but the first; that to d1 is idle most of the time
    for flow in &flows[..2] {
        // as long as the buffer behind it fills, the link between the switches runs at its rate
        assert!(
            marked(flow) <= 16,
            "{} marks of a link that is held back",
            marked(flow)
        );
    }
    for flow in &flows[2..] {
        let delivered = flow.counts.arrived.delivered.packets;
        assert!(
            marked(flow) * 20 > delivered * 19,
            "{} of {delivered}",
            marked(flow)
        );
    }
}
