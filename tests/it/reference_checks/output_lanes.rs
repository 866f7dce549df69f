//! The reference model with output lanes (D18) in cases computed by hand.

use super::{backlogged, flits_between, plan, star};
use crate::reference::simulate;
use virtlane::plan::SwitchOptions;
use virtlane::qos::VlArbitrationTables;
use virtlane::qos::vl_arbitration::HighPriorityLimit;

/// Delivery cycles of one packet each from hosts 0, 1, ... to the last host, host i with `sizes[i]` flits on
/// lane `i % lanes`. Each header arrives in cycle 1 and requests in cycle 2.
fn one_packet_each(sizes: &[u16], lanes: u8, buffer: u32, crossbar_delay: u32) -> Vec<u64> {
    let last = sizes.len() as u8;
    let (graph, tables) = star(last + 1, lanes);
    let options = SwitchOptions {
        lanes,
        lane_capacity: 32,
        crossbar_delay,
        output_lane_buffer: buffer,
        ..SwitchOptions::default()
    };
    let classes = (0..last).map(|host| {
        let size = sizes[usize::from(host)];
        let mut class = backlogged(&[u32::from(host)], u32::from(last), size, host % lanes);
        class.packets_per_host = Some(1);
        class
    });
    let plan = plan(classes.collect(), options);
    let outcome = simulate(&plan, &graph, &tables, 200);
    assert_eq!(outcome.deliveries.len(), sizes.len());
    outcome.deliveries.iter().map(|d| d.delivered).collect()
}

/// Both packets fit: crossbar grants in 2 and 6, channel grants with them, tails cross in 5 and 9.
#[test]
fn two_lanes_share_the_channel() {
    assert_eq!(one_packet_each(&[4, 4], 2, 8, 0), [6, 10]);
    // three lanes and packets in turn: 2, 6, 10
    assert_eq!(one_packet_each(&[4, 4, 4], 3, 4, 0), [6, 10, 14]);
}

/// A crossbar delay comes once; the second packet's channel grant is in 9, right behind the first.
#[test]
fn the_crossbar_delay_is_latency() {
    assert_eq!(one_packet_each(&[4, 4], 2, 8, 3), [9, 13]);
    assert_eq!(one_packet_each(&[4, 4], 1, 8, 3), [9, 13]);
}

/// Crossbar delay 3: the small packet waits from 2 to its channel grant in 5. The large one needs four places
/// beside it, or that it waits no longer, which is so in 6.
#[test]
fn a_lane_is_closed_while_a_packet_waits_there() {
    assert_eq!(one_packet_each(&[1, 4], 1, 5, 3), [6, 10]);
    assert_eq!(one_packet_each(&[1, 4], 1, 4, 3), [6, 13]);
    // on lanes of their own they do not meet
    assert_eq!(one_packet_each(&[1, 4], 2, 4, 3), [6, 10]);
}

/// With packets larger than the buffer the channel takes them in time: nothing else is before them.
#[test]
fn larger_packets_pass_a_free_channel_without_a_stop() {
    assert_eq!(one_packet_each(&[6, 6], 2, 2, 0), [8, 14]);
    assert_eq!(one_packet_each(&[6, 6], 2, 2, 1), [9, 15]);
}

/// The crossbar fills both lanes, VL tables at the channel divide the link.
#[test]
fn the_channel_shares_by_weight_behind_the_crossbar() {
    let (graph, tables) = star(3, 2);
    let options = SwitchOptions {
        lanes: 2,
        lane_capacity: 32,
        output_lane_buffer: 16,
        vl_arbitration: Some(VlArbitrationTables {
            high: vec![(0, 4), (1, 12)],
            low: vec![],
            limit: HighPriorityLimit::Unlimited,
            ..VlArbitrationTables::default()
        }),
        ..SwitchOptions::default()
    };
    let classes = vec![backlogged(&[0], 2, 2, 0), backlogged(&[1], 2, 2, 1)];
    let outcome = simulate(&plan(classes, options), &graph, &tables, 2_000);
    let of_lane_0 = outcome.deliveries.iter().filter(|d| d.class == 0).count();
    let share = of_lane_0 as f64 / outcome.deliveries.len() as f64;
    assert!((share - 0.25).abs() < 0.01, "{share}");
    assert_eq!(flits_between(&outcome, 1_000, 1_900), 900);
}
