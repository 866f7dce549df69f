//! The reference model with more options of wormhole switching (D77) in cases computed by hand: rounds, output buffers, marks by
//! requests and by fill, occupancy.
//!
//! A flit that starts in cycle t on a link of latency 1 may leave the switch in t + 1, a header of default delays in t + 2.

use super::marking::{from_fill, marks};
use super::wormhole::{delivered, options};
use super::{backlogged, plan, star, star_of, timing};
use crate::reference::{Outcome, simulate};
use virtlane::ids::{HostId, SlId};
use virtlane::plan::{Allocation, DropRule, Dropping, Marking, Phases, Plan, SwitchOptions};
use virtlane::qos::VlArbitrationTables;
use virtlane::qos::vl_arbitration::HighPriorityLimit;
use virtlane::topology::ChannelTiming;

/// Lanes 0 and 1 go before lane 2. Host 0 sends four flits each to host 3 on lane 0 and to host 2 on lane 1, in turn, which are here
/// in 1, 3, 5, 7 and 2, 4, 6, 8, and two more to host 3 on lane 2, here in 9 and 10. Hosts 1 and 4 send four and two to host 3 on
/// lane 2.
/// Output 3 passes lane 0 in 2, 4, 6 and 8. In 3, 5 and 7 it picks lane 0 as well, but the input accepts output 2, which comes first
/// from its pointer on. In a second round output 3 has lane 2 there: host 1 passes in 3, 5, 7 and, lane 0 being through, in 9. The
/// pointer over requests stays before host 0 then, whose last packet goes in 10 and 11, that of host 4 in 12 and 13.
/// With one round host 1 passes in 9 to 12, the pointer is behind it, and host 4 goes in 13 and 14, host 0 in 15 and 16.
#[test]
fn later_rounds_fill_what_is_left_and_move_no_pointer_over_requests() {
    let network = star_of(&[timing(1, 1); 5], 3);
    let packets = [
        (0, 3, 4, 0),
        (0, 2, 4, 1),
        (0, 3, 2, 2),
        (1, 3, 4, 2),
        (4, 3, 2, 2),
    ];
    for (rounds, expected) in [
        (1, [9, 10, 17, 13, 15]),
        (2, [9, 10, 12, 10, 14]),
        (3, [9, 10, 12, 10, 14]),
    ] {
        let options = SwitchOptions {
            allocation: Allocation::rounds(rounds),
            vl_arbitration: Some(VlArbitrationTables {
                high: vec![(0, 1), (1, 1)],
                low: vec![(2, 1)],
                limit: HighPriorityLimit::Unlimited,
                ..VlArbitrationTables::default()
            }),
            ..options(3, 32)
        };
        let times = delivered(&network, &packets, options);
        assert_eq!(times, expected, "{rounds}");
    }
}

/// Hosts 0 and 1 have two flits each for host 2, on two lanes, three cycles per flit, and behind them two for hosts 3 and 4.
const BEHIND_SLOW: [(u32, u32, u16, u8); 4] =
    [(0, 2, 2, 0), (0, 3, 2, 0), (1, 2, 2, 1), (1, 4, 2, 1)];

fn links_with_a_slow_one() -> [ChannelTiming; 5] {
    let mut links = [timing(1, 1); 5];
    links[2] = timing(3, 1);
    links
}

fn buffered(output_buffer: u32, crossbar_delay: u32) -> SwitchOptions {
    SwitchOptions {
        output_buffer,
        crossbar_delay,
        ..options(2, 32)
    }
}

/// Flits for host 2 start on its channel in 2, 5, 8 and 11, with a crossbar delay of two cycles two later. The output passes them in
/// the same cycles without a buffer; in 2, 3, 5 and 8 with one flit of it; in 2, 3, 5 and 6 with two, when inputs are free again,
/// and with the delay in 2, 3, 5 and 7. The last two of these free their inputs three cycles later for what is behind, whose headers
/// request in the second cycle after them.
#[test]
fn an_output_buffer_lets_inputs_go() {
    let network = star_of(&links_with_a_slow_one(), 2);
    for (buffer, delay, expected) in [
        (0, 0, [9, 13, 12, 16]),
        (1, 0, [9, 10, 12, 13]),
        (2, 0, [9, 10, 12, 11]),
        (16, 0, [9, 10, 12, 11]),
        (2, 2, [11, 12, 14, 14]),
    ] {
        let times = delivered(&network, &BEHIND_SLOW, buffered(buffer, delay));
        assert_eq!(times, expected, "{buffer} {delay}");
    }
}

/// The same: a channel counts a flit when it starts, behind others.
#[test]
fn a_channel_counts_flits_when_they_start() {
    let (graph, tables) = star_of(&links_with_a_slow_one(), 2);
    let channel = graph.host_channel(HostId(2)).reverse().index();
    let classes = BEHIND_SLOW.map(|(source, destination, size, lane)| {
        let mut class = backlogged(&[source], destination, size, lane);
        class.packets_per_host = Some(1);
        class
    });
    let mut plan = plan(classes.into(), buffered(2, 2));
    let mut counted = Vec::new();
    for cycle in 0..15 {
        (plan.phases.warmup, plan.phases.measure) = (cycle, 1);
        let outcome = simulate(&plan, &graph, &tables, cycle + 1);
        let flits: u64 = outcome.window.sent[channel].iter().sum();
        counted.extend((0..flits).map(|_| cycle));
    }
    assert_eq!(counted, [2, 5, 8, 11]);
}

/// Hosts 0 and 1 send so many packets of four flits each to host 2.
fn two_to_one(packets: u64, options: SwitchOptions) -> Plan {
    let mut class = backlogged(&[0, 1], 2, 4, 0);
    class.packets_per_host = Some(packets);
    plan(vec![class], options)
}

fn outcome(plan: &Plan) -> Outcome {
    let (graph, tables) = star(3, 1);
    simulate(plan, &graph, &tables, 100)
}

/// A default delay of one cycle for routing, or one for each flit before it may leave.
fn delays(of_flits: bool) -> SwitchOptions {
    SwitchOptions {
        routing_delay: (!of_flits).into(),
        allocation_delay: of_flits.into(),
        ..options(1, 32)
    }
}

/// Two packets of each host pass their headers in 2, 6, 10 and 14, in turn. The second ones are there from 5 on. In 2 the header of
/// host 1 stands. One behind another packet is routed when that has left: with a routing delay of one cycle in 7 and 11, too late
/// for 6 and 10; without it stands in these cycles.
#[test]
fn marks_by_requests_see_headers_that_are_routed() {
    for (of_flits, threshold, expected) in [
        (false, 0, "mmmm"),
        (false, 1, "m---"),
        (false, 4, "m---"),
        (false, 5, "----"),
        (true, 1, "mmm-"),
        (true, 4, "mmm-"),
        (true, 5, "----"),
    ] {
        let marking = Some(Marking::Requests(threshold));
        let options = SwitchOptions {
            marking,
            ..delays(of_flits)
        };
        let marks = marks(&outcome(&two_to_one(2, options)));
        assert_eq!(marks, expected, "{of_flits} {threshold}");
    }
}

/// The same with marks by fill: in 2 the first packet of host 1 waits, in 6 both second ones, in 10 that of host 1; routed or not.
#[test]
fn fill_counts_packets_whose_headers_may_leave() {
    for of_flits in [false, true] {
        for (fill, expected) in [(4, "mmm-"), (5, "-m--"), (8, "-m--"), (9, "----")] {
            let options = SwitchOptions {
                marking: Some(from_fill(fill)),
                ..delays(of_flits)
            };
            let marks = marks(&outcome(&two_to_one(2, options)));
            assert_eq!(marks, expected, "{of_flits} {fill}");
        }
    }
}

/// Packets in input queues, summed over all cycles, and most at one input.
fn queued(mut plan: Plan) -> (u64, u64) {
    plan.phases = Phases {
        measure: 100,
        ..plan.phases
    };
    plan.observe.queues = true;
    outcome(&plan).queued
}

/// The same: headers are there in 1 and 5, and wait in 1, 1 to 5, 5 to 9 and 5 to 13, two of them at host 1 in 5. With a delay of
/// flits they wait from 2 and 6 on, the first one not at all, and two of one input in no cycle.
#[test]
fn a_packet_is_queued_from_when_its_header_may_leave_until_it_passes() {
    assert_eq!(queued(two_to_one(1, delays(false))), (1 + 5, 1));
    assert_eq!(queued(two_to_one(2, delays(false))), (1 + 5 + 5 + 9, 2));
    assert_eq!(queued(two_to_one(2, delays(true))), (4 + 4 + 8, 1));
}

/// The first packet of host 0 passes in 2 to 5. That of host 1, here two cycles later, is dropped in 4 when it first requests: it
/// was queued in 3.
#[test]
fn a_packet_is_queued_until_it_is_dropped() {
    let (graph, tables) = star_of(&[timing(1, 1), timing(1, 3), timing(1, 1)], 1);
    let drop = Some(Dropping {
        service_levels: vec![SlId(0)],
        rule: DropRule::Held,
    });
    let options = SwitchOptions {
        drop,
        ..delays(false)
    };
    let mut plan = two_to_one(1, options);
    plan.phases.measure = 100;
    plan.observe.queues = true;
    let outcome = simulate(&plan, &graph, &tables, 100);
    assert_eq!(outcome.deliveries.len(), 1);
    assert_eq!(outcome.queued, (1 + 1, 1));
}
