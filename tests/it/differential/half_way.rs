//! More options of wormhole switching (D79) in the engine alone, through one switch, in cases computed by hand.
//!
//! A flit that starts in cycle t on a link of latency 1 may leave the switch in t + 1, a header of default delays in t + 2.

use super::engine;
use crate::random_fabric::{Case, Way};
use crate::reference_checks::{backlogged, plan, star_of, timing};
use virtlane::ids::SlId;
use virtlane::plan::{
    DropRule, Dropping, Forwarding, InputSpeedup, Matching, OutputArbitration, Queues,
    SwitchOptions,
};
use virtlane::routing::Routes;
use virtlane::topology::ChannelTiming;

fn options(lanes: u8, lane_capacity: u32) -> SwitchOptions {
    SwitchOptions {
        lanes,
        lane_capacity,
        forwarding: Forwarding::Wormhole,
        ..SwitchOptions::default()
    }
}

/// So many packets each of (source, destination, flits, lane, packets), from 0 on. Returns the delivery cycles, by source.
fn delivered(
    links: &[ChannelTiming],
    packets: &[(u32, u32, u16, u8, u64)],
    options: SwitchOptions,
) -> Vec<u64> {
    let (graph, tables) = star_of(links, options.lanes);
    let classes = packets
        .iter()
        .map(|&(source, destination, size, lane, count)| {
            let mut class = backlogged(&[source], destination, size, lane);
            class.packets_per_host = Some(count);
            class
        });
    let case = Case {
        plan: plan(classes.collect(), options),
        graph,
        routing: tables.clone(),
        cycles: 100,
        fork: None,
        way: Way::alone(),
    };
    let found = engine::run(&case, &Routes::Tables(tables));
    found.deliveries.iter().map(|d| d.delivered).collect()
}

fn input_first(lanes: u8) -> SwitchOptions {
    SwitchOptions {
        matching: Matching::InputFirst,
        ..options(lanes, 32)
    }
}

/// Flits of host 0 on lane 0, for host 2, request in 2 and are there in 3 and 5, those on lane 1, for host 3, in 3, 4 and 6, those of
/// host 1 on lane 1, for host 2, in 2, 2 and 3.
/// Input 0 proposes its lanes in turn, 0 in 2, 1 in 3 and so on to 1 in 7. Input 1 proposes in every cycle. Output 2 takes them in turn: input
/// 0 in 2, input 1 in 3, input 0 in 4, input 1 in 5, input 0 in 6, input 1 in 7.
#[test]
fn inputs_propose_their_lanes_in_turn() {
    let packets = [(0, 2, 3, 0, 1), (0, 3, 3, 1, 1), (1, 2, 3, 1, 1)];
    for queues in [Queues::Fifo, Queues::Voq] {
        let options = SwitchOptions {
            queues,
            ..input_first(2)
        };
        let times = delivered(&[timing(1, 1); 4], &packets, options);
        assert_eq!(times, [7, 8, 8], "{queues:?}");
    }
}

/// Input 0 has flits for the output in 2, 2 and 3, input 1 on another lane in 3, 3 and 4. In turn input 0 goes in 2, 4 and 6; in the order in
/// which packets have requested or are created it goes in 2 to 4, with the flits behind its header.
#[test]
fn flits_are_as_old_as_their_packets() {
    let links = [timing(1, 1), timing(1, 2), timing(1, 1)];
    for (output_arbitration, expected) in [
        (OutputArbitration::RoundRobin, [7, 8]),
        (OutputArbitration::FirstComeFirstServed, [5, 8]),
        // ties go to the lower input
        (OutputArbitration::OldestFirst, [5, 8]),
    ] {
        let options = SwitchOptions {
            output_arbitration,
            ..input_first(2)
        };
        let packets = [(0, 2, 3, 0, 1), (1, 2, 3, 1, 1)];
        let times = delivered(&links, &packets, options);
        assert_eq!(times, expected, "{output_arbitration:?}");
    }
}

/// Lanes of two flits. The first packet of host 0 leaves in 2 to 5, that of host 1, which waits from 1 on, in 6 to 9.
/// The header of the second one of host 0 starts in 5 and may leave in 6: four flits have waited in 5. It is dropped, so its flits leave in 6
/// to 9 as they come. The third one starts in 9 and may leave in 10, when nothing waits: it leaves in 11 to 14.
/// Where five flits must wait the second one is first of its queue in 6, is routed, and leaves in 10 to 13.
#[test]
fn flits_of_dropped_packets_leave_as_they_come() {
    let packets = [(0, 2, 4, 0, 3), (1, 2, 4, 0, 1)];
    for queues in [Queues::Fifo, Queues::Voq] {
        let dropping = |most| SwitchOptions {
            queues,
            drop: Some(Dropping {
                service_levels: vec![SlId(0)],
                rule: DropRule::Threshold(most),
            }),
            ..options(1, 2)
        };
        let times = delivered(&[timing(1, 1); 3], &packets, dropping(4));
        assert_eq!(times, [6, 15, 10], "{queues:?}");
        let kept = delivered(&[timing(1, 1); 3], &packets, dropping(5));
        assert_eq!((kept.len(), kept[1]), (4, 14), "{queues:?}");
    }
}

/// Output 2 takes three cycles per flit. In 2 lane 0 passes its header, and the channel takes it, in 3 lane 1 passes one; in 5 and 6, when inputs
/// and the crossbar sides of the lanes are free, pass the second flits. The channel takes lanes in turn, in 2, 5, 8 and 11. What is behind these
/// packets is routed a cycle after the last flits, and finds its inputs free in 8 and 9.
/// With a crossbar delay of two cycles the channel takes flits in 4, 7, 10 and 13, those for other hosts two cycles after they have passed.
/// With one flit of room then the second flit of lane 0 passes in 5, after the first one has gone, that of lane 1 in 8, and what is for other hosts
/// passes in 8 and 11, and 11 and 14.
#[test]
fn lanes_fill_side_by_side_behind_the_crossbar() {
    let mut links = [timing(1, 1); 5];
    links[2] = timing(3, 1);
    let packets = [
        (0, 2, 2, 0, 1),
        (0, 3, 2, 0, 1),
        (1, 2, 2, 1, 1),
        (1, 4, 2, 1, 1),
    ];
    for (output_lane_buffer, crossbar_delay, expected) in [
        (1, 0, [9, 10, 12, 11]),
        (16, 0, [9, 10, 12, 11]),
        (3, 2, [11, 12, 14, 13]),
        (1, 2, [11, 14, 14, 17]),
    ] {
        let options = SwitchOptions {
            output_lane_buffer,
            crossbar_delay,
            ..options(2, 32)
        };
        let times = delivered(&links, &packets, options);
        assert_eq!(times, expected, "{output_lane_buffer} {crossbar_delay}");
    }
}

/// Output 1 takes four cycles per flit, and may pass one in every cycle into its lanes. Flits for it leave input 0 in 2, 3 and 4 and keep
/// a place for four cycles each; the one for host 2, which requests in 5, finds a place in 6 where there are three, and at once where
/// there are four. The channel to host 1 takes its flits in 2, 6 and 10.
#[test]
fn flits_keep_their_places_while_lanes_fill_behind_the_crossbar() {
    let links = [timing(1, 1), timing(4, 1), timing(1, 1)];
    let packets = [
        (0, 1, 1, 0, 1),
        (0, 1, 1, 1, 1),
        (0, 1, 1, 2, 1),
        (0, 2, 1, 3, 1),
    ];
    for (places, expected) in [(3, [3, 7, 7, 11]), (4, [3, 6, 7, 11])] {
        let options = SwitchOptions {
            input_speedup: InputSpeedup::Limited(places),
            output_lane_buffer: 4,
            ..options(4, 32)
        };
        let mut times = delivered(&links, &packets, options);
        times.sort_unstable();
        assert_eq!(times, expected, "{places} places");
    }
}
