//! The reference model's groups of flows with one sender (D44) and answers of several packets (D45), worked out by hand.
//!
//! Through one switch of default delays a packet of n flits that starts in cycle t is delivered in t + n + 2 when its way is
//! free.

use super::control::{self, controlled_by, flow};
use super::{backlogged, star};
use crate::reference::{Outcome, simulate};
use virtlane::control::erratic::Erratic;
use virtlane::control::{Actions, Algorithm, Arrival, Event, Limit, Line};
use virtlane::plan::{FlowPlan, Plan, Scheduler};

const LINE: Line = Line {
    pace: 1,
    largest: 4,
};

/// An algorithm that scenarios can name.
pub(super) fn named(name: &str, arguments: &str) -> Algorithm {
    control::named(name, arguments, 4, None)
}

/// These flows with control, and answers of four flits.
pub(super) fn controlled(algorithm: Algorithm, flows: Vec<FlowPlan>) -> Plan {
    controlled_by(algorithm, flows, 4)
}

fn run(plan: &Plan) -> Outcome {
    let (graph, tables) = star(3, 1);
    simulate(plan, &graph, &tables, 200)
}

/// (Start, flow) of the packets of flows, (start, `None`) of those of the source queue.
fn starts(outcome: &Outcome) -> Vec<(u64, Option<u32>)> {
    let packets = outcome.deliveries.iter().filter(|d| d.class != 1);
    let mut starts: Vec<(u64, Option<u32>)> = packets.map(|d| (d.injected, d.flow)).collect();
    starts.sort_unstable();
    starts
}

/// Three times a packet's time after every packet: the next one, of whatever flow, in the 16th cycle after it.
#[test]
fn after_a_packet_of_any_flow_of_a_group_all_wait() {
    let delays =
        "(timer: \"50 cycles\", table: Entries([(0, 0), (0, 3)]), minimum: 1, per: ServiceLevel)";
    let late = FlowPlan {
        start: 20,
        ..flow(0, 2)
    };
    let flows = vec![flow(0, 1), late, flow(0, 1)];
    let group = |scheduler| {
        let mut plan = controlled(named("InfiniBand", delays), flows.clone());
        plan.host.scheduler = scheduler;
        plan
    };
    let of = |turns: &[u32]| -> Vec<(u64, Option<u32>)> {
        let flows = turns.iter().map(|flow| Some(*flow));
        (0..).step_by(16).zip(flows).collect()
    };
    // 0 and 2 stand since 0; then 0 since 1, 2 since 17, 1 since 20, 0 since 33, 2 since 49
    let outcome = run(&group(Scheduler::Fifo));
    assert_eq!(starts(&outcome)[..7], of(&[0, 2, 0, 2, 1, 0, 2]));
    let outcome = run(&group(Scheduler::RoundRobin));
    assert_eq!(starts(&outcome)[..7], of(&[0, 2, 0, 1, 2, 0, 1]));
    // a flow of another host has its own gate; a queue of the same lane has what is left, in turns
    let mut plan = group(Scheduler::RoundRobin);
    plan.flows.push(flow(2, 1));
    plan.classes.push(backlogged(&[0], 1, 4, 0));
    let outcome = run(&plan);
    let own = outcome.deliveries.iter().filter(|d| d.flow == Some(3));
    let own: Vec<u64> = own.map(|delivery| delivery.injected).collect();
    assert_eq!(own[..4], [0, 16, 32, 48]);
    let others = starts(&outcome)
        .into_iter()
        .filter(|start| start.1 != Some(3));
    let others: Vec<(u64, Option<u32>)> = others.collect();
    // while the gate is closed the queue goes and moves no pointer; in 52 it has a turn of its own
    let expected = [
        (0, None),
        (4, Some(0)),
        (8, None),
        (12, None),
        (16, None),
        (20, Some(1)),
        (24, None),
        (28, None),
        (32, None),
        (36, Some(2)),
        (40, None),
        (44, None),
        (48, None),
        (52, None),
        (56, Some(0)),
    ];
    assert_eq!(others[..15], expected);
}

fn erratic(seed: u64, answers: u32) -> Erratic {
    Erratic {
        seed,
        delays: true,
        window: true,
        answers,
        shared: true,
        ..Erratic::default()
    }
}

/// A shared algorithm that starts with a window of so many packets, and whose next calls, with so many starts, set nothing.
fn windowed(answers: u32, window: u32, starts: &[u64]) -> impl Iterator<Item = Erratic> {
    let all = (0..).map(move |seed| erratic(seed, answers));
    all.filter(move |&machines| {
        let algorithm = Algorithm::Erratic(machines);
        let mut actions = Actions::default();
        let mut sender = algorithm.start(LINE, &mut actions);
        let mut quiet = actions.window == Some(window)
            && actions.limit.unwrap_or_default() == Limit::None
            && actions.timer.flatten().is_none();
        for &start in starts {
            let mut actions = Actions::default();
            algorithm.send(&mut sender, start, Event::Started(4), &mut actions);
            actions.log = false;
            quiet &= actions == Actions::default();
        }
        quiet
    })
}

/// Two packets may be outstanding, of whatever flows of the group.
#[test]
fn a_window_is_that_of_the_group() {
    for machines in windowed(0, 2, &[0, 4]).take(5) {
        let flows = vec![flow(0, 1), flow(0, 2), flow(0, 1)];
        let outcome = run(&controlled(Algorithm::Erratic(machines), flows));
        assert_eq!(starts(&outcome), [(0, Some(0)), (4, Some(1))]);
    }
}

/// The packet of the second flow waits until that of the first is acknowledged; the first flow has the events of the
/// sender, each flow the answers to its packets.
#[test]
fn an_answer_to_one_flow_opens_the_gate_for_another() {
    let one = |destination| FlowPlan {
        flits: Some(4),
        ..flow(0, destination)
    };
    // what a receiver says to the first packet of a flow, started then, and when that is there
    let answer = |algorithm: &Algorithm, start: u64| {
        let arrival = Arrival {
            now: start + 6,
            flits: 4,
            is_marked: false,
            latency: 6,
        };
        let answer = algorithm.receive(&mut algorithm.receiver(), arrival);
        let answer = answer.expect("it answers everything");
        (start + 6 + answer.after + 6, Event::Answered(answer.value))
    };
    let (mut waits, mut logged) = (Vec::new(), 0);
    for machines in windowed(100, 1, &[0]).take(2_000) {
        let algorithm = Algorithm::Erratic(machines);
        let mut sender = algorithm.start(LINE, &mut Actions::default());
        let mut call = |(now, event)| {
            let mut actions = Actions::default();
            algorithm.send(&mut sender, now, event, &mut actions);
            let sets_timer = actions.timer.flatten().is_some();
            (!sets_timer).then_some(actions)
        };
        let first = call((0, Event::Started(4))).expect("it sets nothing");
        let Some(opens) = call(answer(&algorithm, 0)) else {
            continue;
        };
        let (None, None, Some(acknowledge)) = (opens.limit, opens.window, opens.acknowledge) else {
            continue;
        };
        let second = answer(&algorithm, 0).0 + acknowledge.after;
        let outcome = run(&controlled(algorithm.clone(), vec![one(2), one(1)]));
        assert_eq!(starts(&outcome), [(0, Some(0)), (second, Some(1))]);
        waits.push(acknowledge.after);
        let answered: Vec<u64> = outcome.flows.iter().map(|flow| flow.answered).collect();
        assert_eq!(answered, [1, 1]);
        let Some(third) = call((second, Event::Started(4))) else {
            continue;
        };
        let Some(last) = call(answer(&algorithm, second)) else {
            continue;
        };
        let events = [first, opens, third, last]
            .iter()
            .filter(|actions| actions.log)
            .count();
        let found: Vec<u64> = outcome.flows.iter().map(|flow| flow.logged).collect();
        assert_eq!(found, [events as u64, 0], "{machines:?}");
        logged += events;
    }
    assert!(
        waits.contains(&1) && waits.iter().any(|&wait| wait > 40),
        "{waits:?}"
    );
    assert!(logged > 5, "{logged}");
}

/// Three packets of four flits, created in 11, five cycles after the delivery of the request in 6: the last of them is
/// delivered in 19 + 6, and the next request begins 7 cycles later.
#[test]
fn a_reply_is_there_with_its_last_packet() {
    let read = named(
        "RequestReply",
        "(reply: 3, server: \"5 cycles\", think: \"7 cycles\")",
    );
    let outcome = run(&controlled(read, vec![flow(0, 1)]));
    let requests: Vec<u64> = (0..6).map(|request| request * 32).collect();
    let found = starts(&outcome).into_iter().map(|(start, _)| start);
    assert_eq!(found.take(6).collect::<Vec<_>>(), requests);
    let replies = outcome.deliveries.iter().filter(|d| d.class == 1);
    let replies: Vec<_> = replies
        .map(|d| (d.sequence, d.created, d.injected, d.delivered))
        .collect();
    let expected = [
        (0, 11, 11, 17),
        (1, 11, 15, 21),
        (2, 11, 19, 25),
        (3, 43, 43, 49),
        (4, 43, 47, 53),
        (5, 43, 51, 57),
    ];
    assert_eq!(replies[..6], expected);
    // the reply to the request of 160 is there in 185, and the request of 192 is under way
    assert_eq!(outcome.flows[0].answered, 6);
    let (graph, tables) = star(3, 1);
    let plan = controlled(named("RequestReply", "(reply: 3)"), vec![flow(0, 1)]);
    // created in 7, delivered in 13, 17, 21: after 21 cycles two packets, and no answer
    for (cycles, packets, answered) in [(21, 2, 0), (22, 3, 1)] {
        let outcome = simulate(&plan, &graph, &tables, cycles);
        let replies = outcome.deliveries.iter().filter(|d| d.class == 1);
        assert_eq!(
            (replies.count(), outcome.flows[0].answered),
            (packets, answered)
        );
    }
}

/// Replies of two hosts to one come packet by packet in turns: A's last packet is delivered in 29, B's in 33.
#[test]
fn packets_of_replies_may_come_in_turns() {
    let read = || named("RequestReply", "(reply: 3)");
    let outcome = run(&controlled(read(), vec![flow(0, 1), flow(0, 2)]));
    let replies = outcome.deliveries.iter().filter(|d| d.class == 1);
    let mut replies: Vec<(u64, Option<u32>)> =
        replies.map(|reply| (reply.delivered, reply.flow)).collect();
    replies.sort_unstable();
    let expected = [13, 17, 21, 25, 29, 33].into_iter();
    let expected: Vec<_> = expected.zip([0, 1, 0, 1, 0, 1].map(Some)).collect();
    assert_eq!(replies[..6], expected);
    let expected = [(0, Some(0)), (4, Some(1)), (30, Some(0)), (34, Some(1))];
    assert_eq!(starts(&outcome)[..4], expected);
}

/// A write: two packets are a request, two requests may be under way, so four packets; a reply frees two.
#[test]
fn a_request_of_two_packets_is_acknowledged_as_one() {
    let write = named(
        "RequestReply",
        "(request: 2, outstanding: 2, think: \"20 cycles\")",
    );
    let outcome = run(&controlled(write, vec![flow(0, 1)]));
    // delivered in 6, 10, 14, 18; replies made in 11 and 19, there in 17 and 25
    let found: Vec<u64> = starts(&outcome).into_iter().map(|start| start.0).collect();
    assert_eq!(found[..8], [0, 4, 8, 12, 37, 41, 45, 49]);
}
