//! The reference model's dropping switches (D58), worked out by hand.
//!
//! Through one switch of default delays a packet of n flits that starts in cycle t requests in t + 2, and is delivered in
//! t + n + 2 when its way is free.

use super::control::{flow, flows_of};
use super::marking::two_switches;
use super::{backlogged, plan, star, star_of, timing};
use crate::reference::{Outcome, simulate};
use virtlane::ids::{HostId, SlId};
use virtlane::plan::{ClassPlan, DropRule, Dropping, FlowPlan, Plan, Queues, SwitchOptions};
use virtlane::routing::Tables;
use virtlane::topology::Graph;

/// Packets of service level 0 are dropped by that rule.
pub(super) fn dropping(rule: DropRule, lane_capacity: u32) -> SwitchOptions {
    SwitchOptions {
        lane_capacity,
        drop: Some(Dropping {
            service_levels: vec![SlId(0)],
            rule,
        }),
        ..SwitchOptions::default()
    }
}

/// These hosts send so many packets of that size each.
fn packets(hosts: &[u32], destination: u32, size: u16, count: u64) -> ClassPlan {
    ClassPlan {
        packets_per_host: Some(count),
        ..backlogged(hosts, destination, size, 0)
    }
}

fn run_on((graph, tables): &(Graph, Tables), plan: &Plan, cycles: u64) -> Outcome {
    simulate(plan, graph, tables, cycles)
}

/// Source, start and drop of the packets that were dropped.
fn lost(outcome: &Outcome) -> Vec<(u32, u64, u64)> {
    let lost = outcome.lost.iter();
    let mut lost: Vec<_> = lost.map(|p| (p.source.0, p.injected, p.dropped)).collect();
    lost.sort_unstable_by_key(|packet| (packet.2, packet.0));
    lost
}

fn delivered(outcome: &Outcome) -> Vec<u64> {
    let mut cycles: Vec<u64> = outcome.deliveries.iter().map(|d| d.delivered).collect();
    cycles.sort_unstable();
    cycles
}

/// Lanes of one packet of four flits, three packets of two hosts each. Both first ones request in 2 and find all credits; that
/// of host 0 goes, the other waits until they are back in 7 and is not decided again. The second of host 0 starts in 6, when the
/// first has left the switch's buffer, and finds in 8 that those credits are taken. Its flits leave in 8 to 11, so the third
/// starts in 12; it requests in 14, one cycle after the second of host 1 was granted.
#[test]
fn a_packet_that_flow_control_would_hold_is_dropped() {
    let plan = plan(vec![packets(&[0, 1], 2, 4, 3)], dropping(DropRule::Held, 4));
    let outcome = run_on(&star(3, 1), &plan, 100);
    assert_eq!(lost(&outcome), [(0, 6, 8), (0, 12, 14)]);
    let starts: Vec<_> = (outcome.deliveries.iter())
        .map(|d| (d.source.0, d.injected, d.delivered))
        .collect();
    assert_eq!(starts, [(0, 0, 6), (1, 0, 11), (1, 11, 17), (1, 17, 23)]);
    assert_eq!((outcome.packet_hops, outcome.flit_hops), (4, 16));
    let class = &outcome.window.classes[0];
    assert_eq!((class.dropped, class.dropped_grants), ((2, 8), 0));
    // other service levels, and VL15, are held
    let changes: [fn(&mut Plan); 2] = [
        |plan| plan.switch.drop.as_mut().expect("it drops").service_levels = vec![SlId(1)],
        |plan| {
            plan.classes[0].management = true;
            plan.switch.management_lane = true;
        },
    ];
    for change in changes {
        let mut plan = plan.clone();
        change(&mut plan);
        let outcome = run_on(&star(3, 1), &plan, 100);
        assert_eq!((outcome.lost.len(), outcome.deliveries.len()), (0, 6));
    }
}

/// A sink of 50 cycles per flit gives the credits of the first packet back in 4, 54, 104 and 154. Until then one packet after
/// the other fills the buffer, is dropped, and leaves at the pace of its channel: from one start to the next it takes the two
/// cycles to its request, or five where the header waits for the tail of a slower channel, and the rest until its last credit is
/// back.
#[test]
fn a_dropped_packet_leaves_at_the_pace_of_its_channel() {
    let mut plan = plan(vec![backlogged(&[0], 1, 4, 0)], dropping(DropRule::Held, 4));
    plan.host.sink_cycles_per_flit = Some(50);
    let outcome = run_on(&star(2, 1), &plan, 160);
    let expected: Vec<_> = (1..=25).map(|k| (0, 6 * k, 6 * k + 2)).collect();
    assert_eq!(lost(&outcome), expected);
    // that of 158 found them all
    assert_eq!(outcome.packet_hops, 2);
    let slow = star_of(&[timing(2, 1), timing(1, 1)], 1);
    let outcome = run_on(&slow, &plan, 100);
    let expected: Vec<_> = (0..8).map(|k| (0, 12 * k + 9, 12 * k + 14)).collect();
    assert_eq!(lost(&outcome), expected);
}

/// Three packets of four flits of two hosts each, that begin to wait in 2, 6 and 10. In 2 nothing has waited. In 6 the second ones
/// find the first of host 1, granted in 6 itself; if they are dropped, the third ones find nothing in 10. If not, these find the
/// two second ones, one of them behind the first of host 1 until it has left.
#[test]
fn a_threshold_counts_what_waited_in_the_cycle_before() {
    for (limit, expected, cycles) in [
        (1, &[(0, 4, 6), (1, 4, 6)][..], &[6, 10, 14, 18][..]),
        (4, &[(0, 4, 6), (1, 4, 6)], &[6, 10, 14, 18]),
        (5, &[(0, 8, 10), (1, 8, 10)], &[6, 10, 14, 18]),
        (8, &[(0, 8, 10), (1, 8, 10)], &[6, 10, 14, 18]),
        (9, &[], &[6, 10, 14, 18, 22, 26]),
    ] {
        let rule = DropRule::Threshold(limit);
        let plan = plan(vec![packets(&[0, 1], 2, 4, 3)], dropping(rule, 64));
        let outcome = run_on(&star(3, 1), &plan, 100);
        assert_eq!(lost(&outcome), expected, "{limit}");
        assert_eq!(delivered(&outcome), cycles, "{limit}");
    }
}

/// Two packets begin to wait in 6, behind those to slower outputs that leave until 9, and are not decided again when they become
/// heads in 10. Those behind them begin to wait in 10 and find both, eight flits, although one is granted in 10.
#[test]
fn what_waits_behind_others_counts_to_the_cycle_before_its_grant() {
    for (limit, expected, cycles) in [
        (1, &[(0, 8, 10), (1, 8, 10)][..], &[9, 9, 14, 18][..]),
        (8, &[(0, 8, 10), (1, 8, 10)], &[9, 9, 14, 18]),
        (9, &[], &[9, 9, 14, 18, 22, 26]),
    ] {
        let classes = vec![
            packets(&[0], 2, 4, 1),
            packets(&[1], 3, 4, 1),
            packets(&[0, 1], 4, 4, 2),
        ];
        let plan = plan(classes, dropping(DropRule::Threshold(limit), 64));
        let [fast, slow] = [timing(1, 1), timing(2, 1)];
        let star = star_of(&[fast, fast, slow, slow, fast], 1);
        let outcome = run_on(&star, &plan, 100);
        assert_eq!(lost(&outcome), expected, "{limit}");
        assert_eq!(delivered(&outcome), cycles, "{limit}");
    }
}

/// Host 0 sends a packet of four flits to host 1 over a channel of two cycles per flit, and a flit behind it. The packet requests
/// in 5 and is dropped; its tail leaves in 11. The flit, there in 9, requests in 10, or where it waits for the packet in 13: no
/// place of the input is taken.
fn behind_a_dropped_one(rule: DropRule, capacity: u32, others: &[u32]) -> [u64; 4] {
    let [fast, slow] = [timing(1, 1), timing(2, 1)];
    [
        (Queues::Fifo, 1),
        (Queues::Voq, 1),
        (Queues::Fifo, 2),
        (Queues::Voq, 2),
    ]
    .map(|(queues, destination)| {
        let classes = vec![
            packets(others, 1, 4, 1),
            packets(&[0], 1, 4, 1),
            packets(&[0], destination, 1, 1),
        ];
        let mut plan = plan(classes, dropping(rule, capacity));
        plan.switch.queues = queues;
        let outcome = run_on(&star_of(&[slow, fast, fast, fast], 1), &plan, 100);
        assert_eq!(lost(&outcome), [(0, 0, 5)]);
        let last = outcome.deliveries.iter().find(|d| d.class == 2);
        last.expect("delivered").delivered
    })
}

/// Lanes of one packet: that of host 2, granted in 2, takes all credits to host 1, and in 5 two of them are back.
#[test]
fn the_next_packet_of_the_queue_waits_until_a_held_one_has_left() {
    let found = behind_a_dropped_one(DropRule::Held, 4, &[2]);
    assert_eq!(found, [14, 14, 14, 11]);
}

/// Hosts 2 and 3 send a packet each to host 1, which request in 2, and so one waits until 5.
#[test]
fn nothing_waits_for_a_packet_that_a_threshold_has_dropped() {
    let rule = DropRule::Threshold(1);
    assert_eq!(behind_a_dropped_one(rule, 64, &[2, 3]), [11; 4]);
    // to a slower channel: behind one that holds the queue from 2 on, for 2 or 8 cycles, it begins to wait in 3 or 6; the flit
    // behind it, there in 6 or 9, requests when its delay is over, in 10 in the very cycle in which the first has left
    let [fast, slow] = [timing(1, 1), timing(2, 1)];
    for (size, dropped, expected) in [(1, (0, 1, 3), 8), (4, (0, 4, 6), 11)] {
        let classes = vec![
            packets(&[0], 1, size, 1),
            packets(&[2, 3], 1, 4, 1),
            packets(&[0], 1, 4, 1),
            packets(&[0], 2, 1, 1),
        ];
        let plan = plan(classes, dropping(rule, 64));
        let outcome = run_on(&star_of(&[fast, slow, fast, fast], 1), &plan, 100);
        assert_eq!(lost(&outcome), [dropped]);
        let last = outcome.deliveries.iter().find(|d| d.class == 3);
        assert_eq!(last.expect("delivered").delivered, expected);
    }
}

/// Two switches in a row, and a slow sink. Of two packets the second, started in 6 and granted in 8 by the first switch, finds in
/// 10 at the second the credits of one flit.
#[test]
fn a_drop_is_counted_with_the_grants_before_it() {
    let (graph, tables) = two_switches();
    let mut plan = plan(vec![flows_of(4, 1)], dropping(DropRule::Held, 4));
    plan.flows = vec![FlowPlan {
        flits: Some(8),
        ..flow(0, 2)
    }];
    plan.host.sink_cycles_per_flit = Some(50);
    for (measure, by_channel) in [(10, 0), (11, 1)] {
        plan.phases.measure = measure;
        let outcome = simulate(&plan, &graph, &tables, 300);
        assert_eq!(lost(&outcome), [(0, 6, 10)]);
        assert_eq!(delivered(&outcome), [155]);
        assert_eq!((outcome.packet_hops, outcome.flit_hops), (3, 12));
        let class = &outcome.window.classes[0];
        assert_eq!((class.dropped, class.dropped_grants), ((1, 4), 1));
        assert_eq!((class.tagged, class.tagged_dropped), (2, 1));
        let flow = &outcome.flows[0];
        assert_eq!((flow.started, flow.dropped), ((2, 8), (1, 4)));
        let last = graph.host_channel(HostId(2)).reverse().index();
        let mut expected = vec![0; graph.channels().len()];
        expected[last] = by_channel;
        assert_eq!(outcome.window.dropped, expected);
    }
}
