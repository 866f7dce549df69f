//! The reference model's switches that drop single flits by a threshold (D79), worked out by hand.

use super::drops::dropping;
use super::{backlogged, plan, star_of, timing};
use crate::reference::{Outcome, simulate};
use virtlane::plan::{DropRule, Forwarding, SwitchOptions};

/// Hosts 0 to 2 send packets of these sizes, one or two each, to host 3 over links of latency 1, 2 and 3: their headers may leave in 2,
/// 3 and 4.
fn run(sizes: [&[u16]; 3], limit: u32, (routing_delay, lane_capacity): (u32, u32)) -> Outcome {
    let links = [1, 2, 3, 1].map(|latency| timing(1, latency));
    let classes = (0..).zip(sizes).flat_map(|(host, sizes)| {
        sizes.iter().map(move |&size| {
            let mut class = backlogged(&[host], 3, size, 0);
            class.packets_per_host = Some(1);
            class
        })
    });
    let options = SwitchOptions {
        forwarding: Forwarding::Wormhole,
        routing_delay,
        allocation_delay: 1,
        ..dropping(DropRule::Threshold(limit), lane_capacity)
    };
    let (graph, tables) = star_of(&links, 1);
    simulate(&plan(classes.collect(), options), &graph, &tables, 200)
}

/// Source and cycle of each packet that was dropped.
fn lost(outcome: &Outcome) -> Vec<(u32, u64)> {
    let lost = outcome.lost.iter();
    lost.map(|p| (p.source.0, p.dropped)).collect()
}

fn delivered(outcome: &Outcome) -> Vec<(u32, u64)> {
    let all = outcome.deliveries.iter();
    all.map(|d| (d.source.0, d.delivered)).collect()
}

/// Host 0's packet passes in 2 to 5 and waits for nothing. That of host 1 waits from 3 on, with its four flits in 3.
#[test]
fn a_packet_is_dropped_by_the_fill_of_the_cycle_before() {
    for (limit, expected) in [(1, vec![(2, 4)]), (4, vec![(2, 4)]), (5, vec![])] {
        let outcome = run([&[4], &[4], &[4]], limit, (0, 32));
        assert_eq!(lost(&outcome), expected, "{limit}");
    }
}

/// Host 0's packet may leave in 2, is routed in 3 and passes then. Host 1's meets it in 3, host 2's in 4 nothing.
#[test]
fn a_packet_waits_while_it_is_routed() {
    let outcome = run([&[4], &[4], &[4]], 4, (1, 32));
    assert_eq!(lost(&outcome), [(1, 3)]);
    assert_eq!(delivered(&outcome), [(0, 7), (2, 11)]);
}

/// Host 2 sends a packet of four flits over a lane of two, then one of one flit. The first one is dropped in 4; its flits leave in 4, 5,
/// 11 and 12: credits come back three cycles after they leave, in 7 and 8, and the flits that take them arrive in 10 and 11. Their
/// credits come back in 14 and 15. The next packet starts in 14 behind them, may leave in 18, when nothing waits, and is delivered in 19.
#[test]
fn flits_of_a_dropped_packet_leave_as_they_come() {
    let outcome = run([&[4], &[4], &[4, 1]], 4, (0, 2));
    assert_eq!(lost(&outcome), [(2, 4)]);
    assert_eq!(outcome.deliveries.len(), 3);
    assert_eq!(delivered(&outcome)[2], (2, 19));
}
