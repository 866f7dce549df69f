//! The reference model with wormhole switching (D65) in cases computed by hand.

use super::{backlogged, chain, lone_latency, plan, star_of, tables, timing};
use crate::reference::{Outcome, simulate};
use virtlane::plan::{Forwarding, InputTurns, OutputArbitration, SwitchOptions};
use virtlane::qos::VlArbitrationTables;
use virtlane::qos::vl_arbitration::{Accept, HighPriorityLimit, Rules, Unit};
use virtlane::rng::{Purpose, below, stream};
use virtlane::routing::Tables;
use virtlane::topology::{ChannelTiming, Endpoint, Graph, GraphBuilder};

pub(super) fn options(lanes: u8, lane_capacity: u32) -> SwitchOptions {
    SwitchOptions {
        lanes,
        lane_capacity,
        forwarding: Forwarding::Wormhole,
        ..SwitchOptions::default()
    }
}

/// Single packets that are created in 0, each (source, destination, flits, lane), by source. Returns their delivery cycles.
pub(super) fn delivered(
    (graph, tables): &(Graph, Tables),
    packets: &[(u32, u32, u16, u8)],
    options: SwitchOptions,
) -> Vec<u64> {
    assert!(packets.is_sorted_by_key(|packet| packet.0));
    let classes = packets.iter().map(|&(source, destination, size, lane)| {
        let mut class = backlogged(&[source], destination, size, lane);
        class.packets_per_host = Some(1);
        class
    });
    let outcome = simulate(&plan(classes.collect(), options), graph, tables, 200);
    assert_eq!(outcome.deliveries.len(), packets.len());
    outcome.deliveries.iter().map(|d| d.delivered).collect()
}

/// One packet each from hosts 0, 1, ... to the last host, host i with `sizes[i]` flits on lane `i % lanes`, over links of
/// latency 1 and this pace. Returns the delivery cycles.
fn one_packet_each(sizes: &[u16], pace: u32, options: SwitchOptions) -> Vec<u64> {
    let links = vec![timing(pace, 1); sizes.len() + 1];
    let last = sizes.len() as u32;
    let packets = (0..last).zip(sizes).map(|(host, &size)| {
        let lane = host as u8 % options.lanes;
        (host, last, size, lane)
    });
    let packets: Vec<_> = packets.collect();
    delivered(&star_of(&links, options.lanes), &packets, options)
}

/// Headers arrive in 1 and may leave in 2. The output passes lane 0 in 2 and 4, lane 1 in 3, 5, 6 and 7; at two cycles per
/// flit lane 0 in 2 and 6, lane 1 in 4, 8 and 10.
#[test]
fn two_lanes_take_turns_flit_by_flit() {
    assert_eq!(one_packet_each(&[2, 4], 1, options(2, 32)), [5, 8]);
    assert_eq!(one_packet_each(&[2, 3], 2, options(2, 32)), [7, 11]);
    // on one lane the second packet waits for the whole first one: flits in 2, 3, then 4 to 7
    assert_eq!(one_packet_each(&[2, 4], 1, options(1, 32)), [4, 8]);
}

/// The host passes lane 0 in 0 and 2, lane 1 in 1, 3 and 4, each flit leaves the switch two cycles later.
#[test]
fn lanes_of_a_host_take_turns() {
    let (graph, tables) = star_of(&[timing(1, 1), timing(1, 1)], 2);
    let classes = [(2, 0), (3, 1)].map(|(size, level)| {
        let mut class = backlogged(&[0], 1, size, level);
        class.packets_per_host = Some(1);
        class
    });
    let plan = plan(classes.into(), options(2, 32));
    let outcome = simulate(&plan, &graph, &tables, 100);
    let times = outcome.deliveries.iter();
    let times: Vec<(u64, u64)> = times.map(|d| (d.injected, d.delivered)).collect();
    assert_eq!(times, [(0, 5), (1, 7)]);
}

/// Two packets of four flits over lanes of two. Both start in 0, and with two flits in the switch lack credits until the
/// first of them leaves. The first packet leaves the switch in 2 to 5: its third flit starts in 3 with the credit of the first
/// one, arrives in 4 and need not wait. The second one stands half in the switch and half in its host from 2 on, and leaves
/// in 6 to 9.
#[test]
fn a_packet_longer_than_its_lane_stops_half_way() {
    assert_eq!(one_packet_each(&[4, 4], 1, options(1, 2)), [6, 10]);
    // on another lane it does not wait for the first one: one leaves in 2, 4, 6 and 8, the other in 3, 5, 7 and 9
    assert_eq!(one_packet_each(&[4, 4], 1, options(2, 2)), [9, 10]);
}

/// With room for one flit the next starts when the credit is back: behind the header in 3, 5 and 7, and leaves in its
/// cycle of arrival.
#[test]
fn a_packet_passes_lanes_of_one_flit() {
    let channels = [timing(1, 1), timing(1, 1)];
    assert_eq!(lone_latency(&channels, 4, &options(1, 1)), 9);
    // from a slow channel to a fast one the header does not wait for the flits behind it, and these not for its routing
    let channels = [timing(3, 2), timing(1, 3)];
    assert_eq!(lone_latency(&channels, 4, &options(1, 32)), 2 + 3 + 9);
}

/// Host 0 holds the lane in 2 to 9. The header of host 1 requests it in 4, that of host 2 in 3; the pointer is before host 1.
#[test]
fn headers_go_in_turn_or_in_the_order_of_their_requests() {
    let links = [timing(1, 1), timing(1, 3), timing(1, 2), timing(1, 1)];
    for (output_arbitration, expected) in [
        (OutputArbitration::RoundRobin, [10, 14, 18]),
        (OutputArbitration::FirstComeFirstServed, [10, 18, 14]),
        // all are as old
        (OutputArbitration::OldestFirst, [10, 14, 18]),
    ] {
        let options = SwitchOptions {
            output_arbitration,
            ..options(1, 32)
        };
        let packets = [(0, 3, 8, 0), (1, 3, 4, 0), (2, 3, 4, 0)];
        let times = delivered(&star_of(&links, 1), &packets, options);
        assert_eq!(times, expected, "{output_arbitration:?}");
    }
}

/// Two headers request a lane in 2, and one is drawn; the other one goes alone.
#[test]
fn headers_are_drawn_from_the_stream_of_the_output() {
    let (graph, tables) = star_of(&[timing(1, 1); 3], 1);
    let output = graph.host_channel(virtlane::ids::HostId(2)).reverse();
    let mut seen = [false; 2];
    for seed in 0..20 {
        let options = SwitchOptions {
            output_arbitration: OutputArbitration::Random,
            ..options(1, 32)
        };
        let classes = [0, 1].map(|host| {
            let mut class = backlogged(&[host], 2, 4, 0);
            class.packets_per_host = Some(1);
            class
        });
        let mut plan = plan(classes.into(), options);
        plan.seed = seed;
        let outcome = simulate(&plan, &graph, &tables, 100);
        let times: Vec<u64> = outcome.deliveries.iter().map(|d| d.delivered).collect();
        let mut draws = stream(seed, Purpose::Arbitration, u64::from(output.0));
        let first = below(&mut draws, 2) as usize;
        assert_eq!(times, [[6, 10], [10, 6]][first], "{seed}");
        seen[first] = true;
    }
    assert_eq!(seen, [true, true]);
}

fn shares(tables_of: VlArbitrationTables) -> Outcome {
    let (graph, tables) = star_of(&[timing(1, 1), timing(1, 1), timing(1, 1)], 2);
    let mut options = options(2, 4);
    options.vl_arbitration = Some(tables_of);
    let classes = vec![backlogged(&[0], 2, 6, 0), backlogged(&[1], 2, 6, 1)];
    simulate(&plan(classes, options), &graph, &tables, 3_000)
}

/// Saturated lanes share a link by the weights of their flits, under both rules.
#[test]
fn flits_share_by_weight() {
    for rules in [Rules::InfiniBand, Rules::Legacy] {
        for unit in [Unit::Blocks64, Unit::Flits, Unit::Packets] {
            let outcome = shares(VlArbitrationTables {
                high: vec![],
                low: vec![(0, 1), (1, 3)],
                limit: HighPriorityLimit::Unlimited,
                unit,
                rules,
                ..VlArbitrationTables::default()
            });
            let of_lane_0 = outcome.deliveries.iter().filter(|d| d.class == 0).count();
            let share = of_lane_0 as f64 / outcome.deliveries.len() as f64;
            assert!((share - 0.25).abs() < 0.01, "{rules:?} {unit:?} {share}");
        }
    }
}

/// A crossbar delay is latency of the channel behind it, the rest of the pipeline comes before the credit is back.
#[test]
fn delays_add_to_every_flit() {
    let (graph, tables) = chain(&[timing(1, 1), timing(1, 1)]);
    let mut class = backlogged(&[0], 1, 3, 0);
    class.packets_per_host = Some(1);
    let options = SwitchOptions {
        routing_delay: 2,
        allocation_delay: 1,
        crossbar_delay: 4,
        ..options(1, 1)
    };
    let outcome = simulate(&plan(vec![class], options), &graph, &tables, 100);
    // flits start in 0, 5 and 11, and arrive a cycle later; the output passes them in 4 (3 after the arrival), 10 and 16, each
    // but the first when the credit is back, 5 for the flit and 1 for the credit
    assert_eq!(outcome.deliveries[0].delivered, 21);
}

/// Delivery cycles with inputs that take turns with flits, and with packets.
fn with_both_turns(
    network: &(Graph, Tables),
    packets: &[(u32, u32, u16, u8)],
    lane_capacity: u32,
) -> [Vec<u64>; 2] {
    [InputTurns::Flits, InputTurns::Packets].map(|input_turns| {
        let options = SwitchOptions {
            input_turns,
            ..options(2, lane_capacity)
        };
        delivered(network, packets, options)
    })
}

/// Two packets of four flits that host 0 sends to hosts 1 and 2. Their flits arrive in 1, 3, 5, 7 and in 2, 4, 6, 8.
#[test]
fn a_kept_input_passes_one_packet_after_the_other() {
    let to_two = |links: [ChannelTiming; 3]| {
        let packets = [(0, 1, 4, 0), (0, 2, 4, 1)];
        with_both_turns(&star_of(&links, 2), &packets, 32)
    };
    // by flits: passed in 2, 4, 6, 8 and in 3, 5, 7, 9. By packets: in 2, 3, 5, 7, in their cycles of arrival but for the header,
    // and nothing in 4 and 6; then in 8 to 11
    let times = to_two([timing(1, 1); 3]);
    assert_eq!(times, [[9, 10], [8, 12]]);
    // a flit to host 1 takes the input for two cycles. By flits: 2, 5, 8, 11 and 4, 7, 10, 13. By packets: 2, 4, 6, 8; then 10
    // to 13
    let times = to_two([timing(1, 1), timing(2, 1), timing(1, 1)]);
    assert_eq!(times, [[12, 14], [9, 14]]);
}

/// Hosts 0 and 1 hold lane 0 to host 3 and lane 1 to host 4 in 2 to 9. The four flits of host 2 for each of these lanes are there
/// by then; from 10 on both outputs pick its input. In turn, and by flits, it accepts lane 0 in 10, 12, 14 and 16, lane 1 in
/// between; by packets lane 0 in 10 to 13, then lane 1. With lane 1 first, which is high, this one goes in 10 to 13.
#[test]
fn an_input_accepts_flits_of_its_high_lane_first() {
    let network = star_of(&[timing(1, 1); 5], 2);
    let packets = [(0, 3, 8, 0), (1, 4, 8, 1), (2, 3, 4, 0), (2, 4, 4, 1)];
    for (accept, input_turns, expected) in [
        (Accept::InTurn, InputTurns::Flits, [10, 10, 17, 18]),
        (Accept::InTurn, InputTurns::Packets, [10, 10, 14, 18]),
        (Accept::HighFirst, InputTurns::Flits, [10, 10, 18, 14]),
        (Accept::HighFirst, InputTurns::Packets, [10, 10, 18, 14]),
    ] {
        let options = SwitchOptions {
            input_turns,
            vl_arbitration: Some(VlArbitrationTables {
                high: vec![(1, 1)],
                low: vec![(0, 1)],
                limit: HighPriorityLimit::Unlimited,
                accept,
                ..VlArbitrationTables::default()
            }),
            ..options(2, 32)
        };
        let times = delivered(&network, &packets, options);
        assert_eq!(times, expected, "{accept:?} {input_turns:?}");
    }
}

/// Switch 0 with hosts 0 and 1, switch 1 with hosts 2 and 3, and a link between the switches.
fn two_switches() -> (Graph, Tables) {
    let mut builder = GraphBuilder::new();
    let hosts = [0, 1, 2, 3].map(|number| builder.add_host(format!("H{number}"), 0));
    let switches = [0, 1].map(|number| builder.add_switch(format!("S{number}"), 0, 3));
    let mut ends = vec![switches.map(|switch| Endpoint::Switch(switch, 3))];
    for (hosts, switch) in hosts.chunks(2).zip(switches) {
        for (&host, port) in hosts.iter().zip(1..) {
            ends.push([Endpoint::Host(host), Endpoint::Switch(switch, port)]);
        }
    }
    for [from, to] in ends {
        let link = builder.connect(from, to, timing(1, 1));
        link.expect("well-formed");
    }
    let graph = builder.build().expect("well-formed");
    let tables = tables(&graph, vec![1, 2, 3, 3, 3, 3, 1, 2], 2);
    (graph, tables)
}

/// Eight flits from host 3 leave switch 1 in 2 to 9, to host 2. Behind them come four from host 0 on the same lane: two of them
/// leave switch 0 (in 2 and 3, by flits in 2 and 4) and fill the lane before switch 1. There they leave in 10 and 11, the
/// others with their credits switch 0 in 11 and 12, and switch 1 in 12 and 13.
/// The two flits of host 0 for host 1, on another lane, are in switch 0 in 2 and 4, and nobody else wants their output. By flits
/// they leave in 3 and 5, by packets in 13 and 14.
#[test]
fn who_keeps_an_input_without_credits_stops_other_lanes() {
    let packets = [(0, 2, 4, 0), (0, 1, 2, 1), (3, 2, 8, 0)];
    let times = with_both_turns(&two_switches(), &packets, 2);
    assert_eq!(times, [[14, 6, 10], [14, 15, 10]]);
}

/// Nobody keeps an output: packets of different inputs alternate on it as without.
#[test]
fn kept_inputs_share_a_channel_flit_by_flit() {
    let network = star_of(&[timing(1, 1); 3], 2);
    let times = with_both_turns(&network, &[(0, 2, 2, 0), (1, 2, 4, 1)], 32);
    assert_eq!(times, [[5, 8], [5, 8]]);
    // Host 0 sends four flits on lane 0, here in 1, 3, 5 and 6, and two on lane 1, here in 2 and 4. Host 1 is further away: its
    // three flits on lane 1 are here in 3, 4 and 5, their header may leave in 4.
    // By flits lane 1 is taken in 3 for host 0, which has the channel in 2 to 5 with its lanes in turn; host 1 follows in 7, 9
    // and 10, the rest of lane 0 in 6 and 8.
    // By packets lane 0 goes in 2, 3, 5 and 7, and keeps the input; host 1 takes lane 1 in 4, goes on in 6 and 8; the second
    // packet of host 0 goes in 9 and 10.
    let network = star_of(&[timing(1, 1), timing(1, 3), timing(1, 1)], 2);
    let packets = [(0, 2, 4, 0), (0, 2, 2, 1), (1, 2, 3, 1)];
    let times = with_both_turns(&network, &packets, 32);
    assert_eq!(times, [[9, 6, 11], [8, 11, 9]]);
}
