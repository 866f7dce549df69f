//! The reference model with output lanes of single flits (D79) in cases computed by hand.

use super::wormhole::{delivered, options};
use super::{backlogged, lone_latency, plan, star_of, timing};
use crate::reference::simulate;
use virtlane::plan::SwitchOptions;

fn output_lanes(lanes: u8, places: u32, crossbar_delay: u32) -> SwitchOptions {
    SwitchOptions {
        output_lane_buffer: places,
        crossbar_delay,
        ..options(lanes, 32)
    }
}

/// Flits that find a place behind the crossbar cross it in 2 to 5, and the channel X later. With one place and X = 1 a flit is there for
/// two cycles: the crossbar passes one in 2, 4, 6 and 8, the channel in 3, 5, 7 and 9.
#[test]
fn a_lone_packet_is_as_fast_as_its_lane_has_room_for() {
    let channels = [timing(1, 1); 2];
    for (places, delay, expected) in [
        (1, 0, 6),
        (4, 0, 6),
        (2, 1, 7),
        (1, 1, 10),
        (3, 2, 8),
        (8, 2, 8),
    ] {
        let options = output_lanes(1, places, delay);
        let latency = lone_latency(&channels, 4, &options);
        assert_eq!(latency, expected, "{places} {delay}");
    }
}

/// The channel takes three cycles for a flit, in 2, 5, 8, 11 and so on. Lane 0 crosses the crossbar in 2, lane 1 in 3, each again three
/// cycles later as long as it has room; the channel takes lane 0, 1, 0, 1. That both inputs send behind each other frees them sooner, and
/// changes nothing here.
#[test]
fn lanes_fill_side_by_side_and_take_the_channel_in_turn() {
    let links = [timing(1, 1), timing(1, 1), timing(3, 1)];
    let packets = [(0, 2, 2, 0), (1, 2, 2, 1)];
    for places in [1, 2, 8] {
        let times = delivered(&star_of(&links, 2), &packets, output_lanes(2, places, 0));
        assert_eq!(times, [9, 12], "{places}");
    }
}

/// Two packets of one flit on two lanes, for a channel that takes three cycles for a flit. Without lanes the second one waits in its
/// input up to 4, with them in 2 only; the channel takes it in 5.
#[test]
fn an_output_passes_another_lane_in_the_next_cycle() {
    let links = [timing(1, 1), timing(1, 1), timing(3, 1)];
    let (graph, tables) = star_of(&links, 2);
    let classes = [(0, 0), (1, 1)].map(|(host, lane)| {
        let mut class = backlogged(&[host], 2, 1, lane);
        class.packets_per_host = Some(1);
        class
    });
    for (places, queued, waited) in [(0, 5, 3), (1, 3, 1)] {
        let mut plan = plan(classes.to_vec(), output_lanes(2, places, 0));
        plan.observe.queues = true;
        plan.phases.measure = 20;
        let outcome = simulate(&plan, &graph, &tables, 20);
        assert_eq!(outcome.queued, (queued, 1), "{places}");
        assert_eq!(outcome.claims.longest_wait, waited, "{places}");
        let times: Vec<u64> = outcome.deliveries.iter().map(|d| d.delivered).collect();
        assert_eq!(times, [3, 6]);
    }
}

/// A credit is taken at the crossbar: lanes of one flit at the sink, which takes a flit every four cycles, in 3, 7, 11 and 15. The
/// second flit crosses when the credit of the first one is back, in 4, and so on.
#[test]
fn credits_are_taken_at_the_crossbar() {
    let (graph, tables) = star_of(&[timing(1, 1); 2], 1);
    let mut class = backlogged(&[0], 1, 4, 0);
    class.packets_per_host = Some(1);
    let mut options = output_lanes(1, 4, 0);
    options.lane_capacity = 1;
    let mut plan = plan(vec![class], options);
    plan.host.sink_cycles_per_flit = Some(4);
    let outcome = simulate(&plan, &graph, &tables, 100);
    assert_eq!(outcome.deliveries[0].delivered, 15);
}
