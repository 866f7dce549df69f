//! The reference model's bounded queues of answers (D57), worked out by hand.
//!
//! Through one switch of default delays the header of a packet of four flits that starts in cycle t is at its host in t + 3,
//! and the packet is delivered in t + 6 when it is not held. A request delivered in t is answered by what is made in t + 20
//! where nothing else is said.

use super::control::flow;
use super::groups::{controlled, named};
use super::{backlogged, star, star_of, timing};
use crate::reference::{Outcome, simulate};
use virtlane::ids::SlId;
use virtlane::plan::{ClassPlan, FlowPlan, Plan};
use virtlane::routing::Tables;
use virtlane::topology::Graph;

/// Class 0 of flows, class 1 of their answers, for which every host has room for so many packets.
fn bounded(algorithm: &str, queue: u32, flows: Vec<FlowPlan>) -> Plan {
    let mut plan = controlled(named("RequestReply", algorithm), flows);
    bound(&mut plan.classes[0], queue);
    plan
}

fn bound(class: &mut ClassPlan, queue: u32) {
    let control = class.control.as_mut();
    control.expect("a class with control").queue = Some(queue);
}

fn run_on((graph, tables): &(Graph, Tables), plan: &Plan, cycles: u64) -> Outcome {
    simulate(plan, graph, tables, cycles)
}

fn run(plan: &Plan, cycles: u64) -> Outcome {
    run_on(&star(3, 2), plan, cycles)
}

/// Cycles of the deliveries of a class.
fn delivered(outcome: &Outcome, class: u16) -> Vec<u64> {
    let mine = outcome.deliveries.iter().filter(|d| d.class == class);
    let mut cycles: Vec<u64> = mine.map(|delivery| delivery.delivered).collect();
    cycles.sort_unstable();
    cycles
}

/// Requests start in 0, 4 and 8, and are there in 3, 7 and 11; later ones follow the answers, which are there in 32, 56 and
/// 80. The first takes the only place until its answer starts in 26, the second is held from 7 to 26 and drains from 27 on;
/// so it goes on every 24 cycles, 20 of which the sink is free and a packet is held.
#[test]
fn a_packet_without_room_is_held_until_an_answer_has_started() {
    let requests = |queue| {
        let algorithm = "(outstanding: 3, server: \"20 cycles\")";
        bounded(algorithm, queue, vec![flow(0, 1)])
    };
    let outcome = run(&requests(1), 100);
    assert_eq!(delivered(&outcome, 0), [6, 30, 54, 78]);
    assert_eq!(delivered(&outcome, 1), [32, 56, 80]);
    assert_eq!(outcome.held, 80);
    assert_eq!(run(&requests(1), 20).held, 13);
    // with two places the third is the first that is held, from 11 to 26
    let outcome = run(&requests(2), 32);
    assert_eq!(delivered(&outcome, 0), [6, 10, 30]);
    assert_eq!(outcome.held, 16);
    // with as many places as requests nothing is
    let outcome = run(&requests(3), 100);
    assert_eq!(delivered(&outcome, 0)[..3], [6, 10, 14]);
    assert_eq!(outcome.held, 0);
}

/// Three packets of host 2 come between the requests of host 0: these in 3 and 11, those in 7, 15 and 19. From lane 1 the sink
/// takes them while a request is held in lane 0, in 11 to 14 and 23 to 26. In one lane the last two wait behind it. The third
/// request starts in 33, and is first in its lane in 36, or 39.
#[test]
fn a_held_packet_stops_its_lane_only() {
    for (level, expected, held) in [(1, [10, 18, 22], 4 + 4 + 4), (0, [10, 34, 38], 16 + 1)] {
        let algorithm = "(outstanding: 2, server: \"20 cycles\")";
        let mut plan = bounded(algorithm, 1, vec![flow(0, 1)]);
        plan.switch.lanes = 2;
        let mut others = backlogged(&[2], 1, 4, level);
        others.packets_per_host = Some(3);
        plan.classes.push(others);
        let outcome = run(&plan, 40);
        assert_eq!(delivered(&outcome, 0), [6, 30], "{level}");
        assert_eq!(delivered(&outcome, 2), expected, "{level}");
        assert_eq!(outcome.held, held, "{level}");
    }
}

/// Lanes of eight flits. Of three requests the second is held in the buffer of the host from 7 on, and the third comes beside it.
/// A packet of host 2 for the same lane requests in 12 and is granted when the second has drained, from 27 to 30: in 31. It
/// drains behind the third, which is held from 31 to 50.
#[test]
fn a_held_packet_keeps_its_credits() {
    let algorithm = "(outstanding: 3, server: \"20 cycles\")";
    let late = FlowPlan {
        class: 2,
        start: 10,
        flits: Some(4),
        ..flow(2, 1)
    };
    let mut plan = bounded(algorithm, 1, vec![flow(0, 1), late]);
    plan.classes[0].flows = Some(1);
    plan.classes.push(ClassPlan {
        control: None,
        ..plan.classes[0].clone()
    });
    plan.switch.lane_capacity = 8;
    let outcome = run(&plan, 60);
    assert_eq!(delivered(&outcome, 0), [6, 30, 54]);
    assert_eq!(delivered(&outcome, 2), [58]);
    // the requests in 2, 6 and 10, the first answer in 28, then that packet
    for (cycles, grants) in [(14, 3), (31, 4), (32, 5)] {
        assert_eq!(run(&plan, cycles).packet_hops, grants, "{cycles}");
    }
}

/// A packet takes room for the three packets of its answer. Five are left, then two. The first answer is made in 11 and its
/// packets start in 11, 15 and 19, so in 12 there is room for three: the second request, held from 7 to 11, is delivered in 15 and
/// answered in 20. Of its answer the first packet starts in 23, the fourth in all: in 24 there is room for the third request, held
/// from 16 on. The fourth request comes in 29, when one packet of the room is back, the next ones in 32 and 36.
#[test]
fn a_packet_takes_room_for_a_whole_answer() {
    let algorithm = "(outstanding: 3, reply: 3, server: \"5 cycles\")";
    let outcome = run(&bounded(algorithm, 5, vec![flow(0, 1)]), 40);
    assert_eq!(delivered(&outcome, 0), [6, 15, 27, 39]);
    assert_eq!(delivered(&outcome, 1), [17, 21, 25, 29, 33, 37]);
    assert_eq!(outcome.held, 5 + 8 + 7);
}

/// Two packets are a request. The first gives its room back when it is delivered, in 6, and the second drains in 7; that is
/// answered in 30, so the third is held from 11 to 30. The fifth, started in 37, comes in 40.
#[test]
fn a_packet_that_is_not_answered_gives_its_room_back() {
    let algorithm = "(request: 2, outstanding: 2, server: \"20 cycles\")";
    let outcome = run(&bounded(algorithm, 1, vec![flow(0, 1)]), 50);
    assert_eq!(delivered(&outcome, 0), [6, 10, 34, 38]);
    assert_eq!(outcome.held, 20 + 10);
}

/// Channels of two cycles per flit: requests come in 3 and 11.
#[test]
fn a_held_packet_drains_at_the_pace_of_the_sink() {
    let algorithm = "(outstanding: 2, server: \"20 cycles\")";
    for (pace, expected, held) in [
        // that of the channel: delivered in 9, answered in 29; the second drains from 30 on
        (None, [9, 36], 19),
        // free in 15, answered in 32; from 33 on
        (Some(3), [12, 42], 18),
        // the first can drain from 6 on, the second from 14 on; answered in 29
        (Some(1), [9, 33], 16),
    ] {
        let mut plan = bounded(algorithm, 1, vec![flow(0, 1)]);
        plan.host.sink_cycles_per_flit = pace;
        let star = star_of(&[timing(2, 1); 3], 1);
        let outcome = run_on(&star, &plan, expected[1] + 1);
        assert_eq!(delivered(&outcome, 0), expected, "{pace:?}");
        assert_eq!(outcome.held, held, "{pace:?}");
    }
}

/// Requests of two classes to one host, each on a lane of its own: A's come in 3 and 11, B's, with room for two, in 7, 15 and 19.
/// In 19 to 26 nobody has room; A's second has it in 27, B's third in 31, and its answer is delivered to B's host.
#[test]
fn every_class_has_room_of_its_own() {
    let algorithm = |outstanding| format!("(outstanding: {outstanding}, server: \"20 cycles\")");
    let flows = vec![
        flow(0, 1),
        FlowPlan {
            class: 1,
            ..flow(2, 1)
        },
    ];
    let mut plan = bounded(&algorithm(2), 1, flows);
    let mut second = controlled(named("RequestReply", &algorithm(3)), vec![flow(2, 1)]);
    bound(&mut second.classes[0], 2);
    for (class, answers) in [(&mut plan.classes[0], 2), (&mut second.classes[0], 3)] {
        class.flows = Some(1);
        class.control.as_mut().expect("control").answers = answers;
    }
    second.classes[0].service_levels = vec![SlId(1)];
    second.classes[1].answers = Some(1);
    plan.classes.insert(1, second.classes.remove(0));
    plan.classes.push(second.classes.remove(0));
    plan.switch.lanes = 2;
    let outcome = run(&plan, 36);
    assert_eq!(delivered(&outcome, 0), [6, 30]);
    assert_eq!(delivered(&outcome, 1), [10, 18, 34]);
    assert_eq!(outcome.held, 4 + 8);
}

/// Two hosts send requests to each other through lanes of one packet. The second one of each is held from 9 on, the third fills
/// the switch's buffer, and the answers to the first, made in 26, have no credits. Answers in another lane go on.
#[test]
fn answers_behind_held_requests_deadlock() {
    let flows = vec![flow(0, 1), flow(1, 0)];
    let algorithm = "(outstanding: 10, server: \"20 cycles\")";
    let mut plan = bounded(algorithm, 1, flows);
    plan.switch.lane_capacity = 4;
    let outcome = run_on(&star(2, 1), &plan, 2_000);
    assert_eq!(delivered(&outcome, 0), [6, 6]);
    assert!(delivered(&outcome, 1).is_empty());
    // three requests and an answer at each
    assert_eq!(outcome.created, 8);
    assert_eq!(outcome.held, 2 * (2_000 - 9));
    plan.classes[1].service_levels = vec![SlId(1)];
    plan.switch.lanes = 2;
    let outcome = run_on(&star(2, 2), &plan, 2_000);
    // an answer starts in 26, and in 27 the next request drains; the answer, there in 29, after it
    assert_eq!(delivered(&outcome, 0)[..6], [6, 6, 30, 30, 54, 54]);
    assert_eq!(delivered(&outcome, 1)[..4], [34, 34, 58, 58]);
    assert!(outcome.deliveries.len() > 320);
}
