//! The reference model with wormhole switching (D65) in cases computed by hand.

use super::{backlogged, chain, lone_latency, plan, star_of, timing};
use crate::reference::{Outcome, simulate};
use virtlane::plan::{Forwarding, SwitchOptions};
use virtlane::qos::VlArbitrationTables;
use virtlane::qos::vl_arbitration::{HighPriorityLimit, Rules, Unit};

fn options(lanes: u8, lane_capacity: u32) -> SwitchOptions {
    SwitchOptions {
        lanes,
        lane_capacity,
        forwarding: Forwarding::Wormhole,
        ..SwitchOptions::default()
    }
}

/// One packet each from hosts 0, 1, ... to the last host, host i with `sizes[i]` flits on lane `i % lanes`, over links of
/// latency 1 and this pace. Returns the delivery cycles.
fn one_packet_each(sizes: &[u16], pace: u32, options: SwitchOptions) -> Vec<u64> {
    let last = sizes.len() as u8;
    let links = vec![timing(pace, 1); usize::from(last) + 1];
    let (graph, tables) = star_of(&links, options.lanes);
    let classes = (0..last).map(|host| {
        let size = sizes[usize::from(host)];
        let level = host % options.lanes;
        let mut class = backlogged(&[u32::from(host)], u32::from(last), size, level);
        class.packets_per_host = Some(1);
        class
    });
    let outcome = simulate(&plan(classes.collect(), options), &graph, &tables, 200);
    assert_eq!(outcome.deliveries.len(), sizes.len());
    outcome.deliveries.iter().map(|d| d.delivered).collect()
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
