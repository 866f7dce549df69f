//! Bounded queues of answers (D57): times worked out by hand, what the bound leaves alone, and the deadlock that it can make.

use super::{assert_close, deliveries, run, scenario, share};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use virtlane::measure::Digest;
use virtlane::run::outcome::Verdict;
use virtlane::run::{Options, Settings, Simulation, execute};
use virtlane::scenario::{Document, Parts, Resolved};

/// A mesh with a host per switch and 2 lanes, with the option, traffic and routing that are given.
fn mesh(radix: &str, options: &str, traffic: &str) -> Result<Resolved, String> {
    let text = format!(
        r#"Scenario(
            fabric: (
                topology: Mesh(radix: {radix}),
                flit: "64 B",
                link: (rate: "20 Gbit/s", latency: "3 cycles"),
                switch: (lane_capacity: "400 flits", routing_delay: "2 cycles", lanes: 2, {options}),
            ),
            traffic: [{traffic}],
            phases: (warmup: "0 cycles", measure: "3000 cycles", drain: "0 cycles"),
            routing: DimensionOrder(),
        )"#
    );
    let document = Document::parse("replies.ron", &text, Path::new(".")).expect("a scenario");
    let resolved = document.resolve(&Parts::registered());
    resolved.map_err(|error| error.to_string())
}

/// Latency of a header over two switches of [`mesh`].
const HEADER: u64 = 3 * 3 + 2 * 2;

/// A flow of requests to a server that answers whatever it has room for.
#[derive(Clone, Copy, Debug)]
struct Calls {
    /// Flits of a packet.
    flits: u64,
    /// Packets of a request.
    request: u64,
    server: u64,
    /// Packets of a reply.
    reply: u64,
    /// Flits of each.
    answer: u64,
    queue: usize,
}

impl Calls {
    /// Cycles in which packets are delivered, and those in which the sink waits for room, both up to an end, by hand: what
    /// comes back in a cycle counts from the next one on.
    fn by_hand(&self, end: u64) -> (Vec<u64>, u64) {
        let (mut delivered, mut held) = (Vec::new(), 0);
        // cycles from which on one packet of an answer has room again
        let mut back: Vec<u64> = Vec::new();
        let (mut room, mut free, mut channel) = (self.queue, 0, 0);
        for number in 0.. {
            let ready = free.max(HEADER + number * self.flits);
            let mut begin = ready;
            back.sort_unstable();
            let whole = self.reply as usize;
            if room < whole {
                let missing = whole - room;
                begin = begin.max(back[missing - 1]);
            }
            let returned = back.iter().filter(|&&at| at <= begin).count();
            back.drain(..returned);
            room = room + returned - whole;
            held += begin.min(end) - ready.min(end);
            let tail = begin + self.flits - 1;
            if tail >= end {
                return (delivered, held);
            }
            delivered.push(tail);
            free = begin + self.flits;
            if (number + 1) % self.request > 0 {
                back.extend([tail + 1].repeat(whole));
                continue;
            }
            for _ in 0..self.reply {
                let start = channel.max(tail + self.server);
                channel = start + self.answer;
                back.push(start + 1);
            }
        }
        unreachable!("the numbers have no end")
    }

    fn resolve(&self) -> Resolved {
        let Self {
            flits,
            request,
            server,
            reply,
            answer,
            queue,
        } = self;
        let traffic = format!(
            r#"(
                name: "calls",
                flows: [(pairs: List(pairs: [(0, 1)]))],
                size: "{flits} flits",
                control: RequestReply(outstanding: 90, server: "{server} cycles", request: {request}, reply: {reply}),
                answers: (size: "{answer} flits", sl: 1, queue: {queue}),
            )"#
        );
        mesh("[2, 2]", "", &traffic).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// One server, more requests than it has room for: every delivery of a request, and every cycle the sink waits.
#[test]
fn requests_wait_for_room_to_the_cycle() {
    let calls = |flits, (request, server), (reply, answer), queue| Calls {
        flits,
        request,
        server,
        reply,
        answer,
        queue,
    };
    for calls in [
        calls(4, (1, 30), (1, 4), 1),
        calls(4, (1, 30), (1, 4), 3),
        calls(1, (1, 9), (1, 1), 2),
        calls(4, (3, 25), (1, 6), 1),
        calls(3, (2, 25), (1, 6), 2),
        calls(4, (1, 40), (2, 7), 2),
        calls(4, (1, 40), (2, 7), 3),
        calls(2, (2, 11), (3, 5), 7),
    ] {
        let resolved = calls.resolve();
        // the requests that are needed are under way, and their buffers are never full
        let end = 80 * calls.flits;
        let (expected, held) = calls.by_hand(end);
        assert!(expected.len() > 5 && held > 30, "{calls:?} {held}");
        let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
        let simulation = Simulation::new(plan, graph, &resolved.routes, Options::default());
        let mut simulation = simulation.expect("one thread");
        simulation.run_until(end).expect("there are no messages");
        assert_eq!(simulation.counts()["control.held"], held, "{calls:?}");
        let requests = deliveries(&resolved, end).into_iter();
        let requests = requests.filter(|delivery| delivery.class == 0);
        let found: Vec<u64> = requests.map(|delivery| delivery.delivered).collect();
        assert_eq!(found, expected, "{calls:?}");
    }
}

/// Requests that are held for thousands of cycles do not delay packets of another lane by one.
#[test]
fn other_lanes_go_on() {
    let traffic = r#"
        (name: "calls", flows: [(pairs: List(pairs: [(0, 1)]))], size: "4 flits",
         control: RequestReply(outstanding: 90, server: "2500 cycles"), answers: (size: "4 flits", sl: 1, queue: 1)),
        (name: "other", flows: [(pairs: List(pairs: [(3, 1)]), limit: Rate(0.1), start: "1000 cycles")],
         size: "5 flits", sl: 1)"#;
    let resolved = mesh("[2, 2]", "", traffic).unwrap_or_else(|error| panic!("{error}"));
    let all = deliveries(&resolved, 2400);
    let of = |class| all.iter().filter(move |delivery| delivery.class == class);
    assert_eq!(of(0).count(), 1);
    let latencies: Vec<u64> = of(1)
        .map(|packet| packet.delivered - packet.injected)
        .collect();
    assert!(latencies.len() > 25, "{latencies:?}");
    assert!(
        latencies.iter().all(|&latency| latency == HEADER + 4),
        "{latencies:?}"
    );
}

fn digest(resolved: &Resolved, shards: usize, cycles: u64) -> (Digest, u64) {
    let options = Options {
        shards,
        ..Options::default()
    };
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let simulation = Simulation::new(plan, graph, &resolved.routes, options);
    let mut simulation = simulation.expect("one thread");
    simulation.run_until(cycles).expect("there are no messages");
    let mut digest = Digest::default();
    for records in simulation.records() {
        digest.merge(records.measured.digest);
    }
    let held = simulation.counts().get("control.held").copied();
    (digest, held.unwrap_or(0))
}

/// Requests of many to many.
fn exchange(queue: &str) -> String {
    format!(
        r#"(name: "calls", flows: [(pairs: RandomPairs(count: 60))], size: "12 flits",
            control: RequestReply(outstanding: 3, server: "9 cycles", reply: 2),
            answers: (size: "8 flits", sl: 1, queue: {queue})),
           (name: "noise", pattern: Uniform, process: Bernoulli(load: 0.1), size: "3 flits", sl: 1)"#
    )
}

/// A bound that is never reached changes nothing, whatever the pace of sinks and links; one that is, holds requests back, the
/// same for any shards.
#[test]
fn a_bound_that_is_not_reached_changes_nothing() {
    for options in [
        "",
        "queues: Voq, input_speedup: 2",
        "output_lane_buffer: \"9 flits\"",
        "forwarding: StoreAndForward",
    ] {
        let of = |queue: &str| {
            let resolved = mesh("[4, 4]", options, &exchange(queue));
            resolved.unwrap_or_else(|error| panic!("{error}"))
        };
        let unbounded = digest(&of("None"), 1, 4000);
        assert_eq!(digest(&of("1000000"), 1, 4000), unbounded, "{options}");
        let (bounded, held) = digest(&of("2"), 1, 4000);
        assert!(bounded != unbounded.0 && held > 1000, "{options} {held}");
        for shards in [2, 5] {
            assert_eq!(digest(&of("2"), shards, 4000), (bounded, held), "{options}");
        }
        let settings = Settings {
            check: true,
            ..Settings::default()
        };
        let checked = execute(&of("3"), settings, &mut |_| {}, &AtomicBool::new(false));
        checked.expect("the laws hold");
    }
}

/// Dally and Towles, chapter 14: requests and replies in one lane.
#[test]
fn answers_in_the_lane_of_requests_deadlock_and_the_hosts_are_named() {
    let resolved = scenario("validation/replies_deadlock.ron", &[]);
    assert!(!resolved.proof.acyclic);
    let outcome = run(&resolved);
    assert_eq!(outcome.verdict, Verdict::Deadlocked);
    insta::assert_snapshot!(outcome.reason);
}

#[test]
fn answers_in_a_lane_of_their_own_run() {
    let resolved = scenario("validation/replies_level.ron", &[]);
    assert!(resolved.proof.acyclic && resolved.proof.held.is_some());
    let outcome = run(&resolved);
    assert_eq!(outcome.verdict, Verdict::Steady, "{}", outcome.reason);
    // room for one answer: a request of 16 flits, and the server, one after the other at each of two hosts
    assert_close(share(&outcome, 0), 2.0 * 16.0 / (16.0 + 100.0), 0.001);
    // without a bound one lane is enough: hosts always consume
    let unbounded = ["traffic.0.answers.queue=None", "allow_deadlock=false"];
    let resolved = scenario("validation/replies_deadlock.ron", &unbounded);
    assert!(resolved.proof.acyclic && resolved.proof.held.is_none());
    let outcome = run(&resolved);
    assert_eq!(outcome.verdict, Verdict::Steady, "{}", outcome.reason);
}

/// What may deadlock, and what may not, by who asks whom and in which lanes.
#[test]
fn the_proof_follows_the_packets_there_are() {
    let calls = |pairs: &str, answers: &str| {
        format!(
            r#"(name: "calls", flows: [(pairs: List(pairs: [{pairs}]))], size: "4 flits", control: RequestReply(),
                answers: ({answers}queue: 1))"#
        )
    };
    // three hosts in a line: (who asks whom, where answers go, options, whether it is free of deadlock)
    for (pairs, answers, options, is_free) in [
        ("(0, 2), (1, 2)", "", "", true),
        ("(0, 2), (2, 0)", "", "", false),
        ("(0, 2), (2, 0)", "sl: 1, ", "", true),
        ("(0, 2), (2, 0)", "sl: 1, ", "sharing: PortPool", false),
        // servers 0 and 2, clients on the way between them
        ("(1, 0), (1, 2)", "", "", true),
        ("(0, 1), (2, 1), (1, 0)", "", "", false),
    ] {
        let resolved = mesh("[3]", options, &calls(pairs, answers));
        assert_eq!(resolved.is_ok(), is_free, "{pairs} {answers} {options}");
    }
    let refused = mesh("[3]", "", &calls("(0, 2), (2, 0)", "")).expect_err("a circle");
    insta::assert_snapshot!(refused);
}
