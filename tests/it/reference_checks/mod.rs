//! The reference model alone: closed forms of latency and throughput, shares, marking, conservation.

mod adaptive;
mod admission;
mod applications;
mod buckets;
mod carried;
mod channel_counts;
mod claims;
mod congestion;
mod control;
mod drops;
mod elements;
mod flows;
mod groups;
mod levels;
mod marking;
mod output_lanes;
mod own_routes;
mod probes;
mod random_cases;
mod reservations;
mod rooms;
mod set_ups;
mod slots;
mod trials;
mod turns;
mod turns_without_room;
mod vl_tables;
mod wormhole;
mod wormhole_drops;
mod wormhole_hosts;
mod wormhole_matching;
mod wormhole_options;
mod wormhole_output_lanes;
mod wormhole_queues;

use crate::random_fabric::{Saturating, ToOne};
use crate::reference::{Delivery, Outcome, simulate};
use std::sync::Arc;
use virtlane::ids::{HostId, SlId};
use virtlane::measure::Observe;
use virtlane::plan::Plan;
use virtlane::plan::{ClassPlan, Forwarding, HostOptions, Marking, Phases, SwitchOptions};
use virtlane::qos::VlArbitrationTables;
use virtlane::qos::vl_arbitration::HighPriorityLimit;
use virtlane::routing::{Guarantees, LaneBudget, Tables};
use virtlane::topology::{ChannelTiming, Endpoint, Graph, GraphBuilder};
use virtlane::traffic::SizeDistribution;

pub(crate) fn timing(cycles_per_flit: u32, latency: u32) -> ChannelTiming {
    ChannelTiming {
        cycles_per_flit,
        latency,
    }
}

/// Tables with one lane per service level.
fn tables(graph: &Graph, next: Vec<u8>, service_levels: u8) -> Tables {
    let budget = LaneBudget {
        lanes: service_levels,
        service_levels,
    };
    let guarantees = Guarantees {
        minimal: true,
        deadlock_free: true,
        ..Guarantees::IN_ORDER
    };
    Tables::on_one_lane(graph, "Test", next, budget, guarantees)
}

/// Host 0, switches in a row, host 1; one timing per channel of the way, the way back at (1, 1).
fn chain(channels: &[ChannelTiming]) -> (Graph, Tables) {
    let mut builder = GraphBuilder::new();
    let hosts = [builder.add_host("H0", 0), builder.add_host("H1", 1)];
    let switches: Vec<_> = (1..channels.len())
        .map(|i| builder.add_switch(format!("S{i}"), 0, 2))
        .collect();
    let mut ends = vec![Endpoint::Host(hosts[0])];
    for &switch in &switches {
        ends.extend([Endpoint::Switch(switch, 1), Endpoint::Switch(switch, 2)]);
    }
    ends.push(Endpoint::Host(hosts[1]));
    for (pair, &timing) in ends.chunks(2).zip(channels) {
        let back = ChannelTiming::default();
        builder
            .connect_with(pair[0], pair[1], [timing, back])
            .expect("well-formed");
    }
    let graph = builder.build().expect("well-formed");
    let next = [1, 2].repeat(switches.len());
    let tables = tables(&graph, next, 1);
    (graph, tables)
}

/// One switch with `hosts` hosts on links of default timing.
fn star(hosts: u8, service_levels: u8) -> (Graph, Tables) {
    let timings = vec![ChannelTiming::default(); hosts.into()];
    star_of(&timings, service_levels)
}

/// One switch with a host on each link.
pub(crate) fn star_of(links: &[ChannelTiming], service_levels: u8) -> (Graph, Tables) {
    let mut builder = GraphBuilder::new();
    let switch = builder.add_switch("S", 0, links.len() as u16);
    for (number, &timing) in (0..).zip(links) {
        let host = builder.add_host(format!("H{number}"), 0);
        let port = Endpoint::Switch(switch, number + 1);
        builder
            .connect(Endpoint::Host(host), port, timing)
            .expect("well-formed");
    }
    let graph = builder.build().expect("well-formed");
    let next = (1..=links.len() as u8).collect();
    let tables = tables(&graph, next, service_levels);
    (graph, tables)
}

/// Hosts that always have a packet for `destination`.
pub(crate) fn backlogged(hosts: &[u32], destination: u32, size: u16, sl: u8) -> ClassPlan {
    let hosts = hosts.iter().map(|&host| HostId(host)).collect();
    let size = SizeDistribution::fixed(size);
    ClassPlan {
        pattern: Arc::new(ToOne(HostId(destination))),
        process: Arc::new(Saturating),
        load: 1.0,
        ..ClassPlan::silent(format!("sl {sl}"), hosts, size, vec![SlId(sl)])
    }
}

pub(crate) fn plan(classes: Vec<ClassPlan>, switch: SwitchOptions) -> Plan {
    Plan {
        title: String::new(),
        seed: 1,
        flit_bytes: 64,
        reference_rate: 1,
        switch,
        host: HostOptions::default(),
        classes,
        phases: Phases {
            measure: 0,
            drain_limit: 0,
            watchdog: 0,
            ..Phases::default()
        },
        allow_deadlock: true,
        allow_unreachable: false,
        observe: Observe::default(),
        workloads: Vec::new(),
        flows: Vec::new(),
        link_retry: None,
        routes_of_flows: None,
        admission: None,
        management_tables: None,
        app_phases: Vec::new(),
    }
}

/// One packet over a chain; returns its network latency.
fn lone_latency(channels: &[ChannelTiming], size: u16, options: &SwitchOptions) -> u64 {
    let (graph, tables) = chain(channels);
    let mut class = backlogged(&[0], 1, size, 0);
    class.packets_per_host = Some(1);
    let outcome = simulate(&plan(vec![class], options.clone()), &graph, &tables, 2_000);
    let [delivery] = &outcome.deliveries[..] else {
        panic!("{outcome:?}")
    };
    assert_eq!((delivery.created, delivery.injected), (0, 0));
    delivery.delivered
}

#[test]
fn zero_load_latency_with_equal_rates() {
    for switches in 0..5usize {
        for (size, s, delay) in [(1, 1, 1), (32, 1, 1), (1, 2, 3), (32, 3, 0)] {
            let h = switches as u64 + 1;
            let channels = vec![timing(s, 4); switches + 2];
            let mut options = SwitchOptions {
                lane_capacity: 32,
                routing_delay: delay,
                allocation_delay: 2,
                crossbar_delay: 5,
                ..SwitchOptions::default()
            };
            let tail = (u64::from(size) - 1) * u64::from(s);
            let per_switch = u64::from(delay) + 2 + 5;
            let cut_through = (h + 1) * 4 + h * per_switch + tail;
            assert_eq!(lone_latency(&channels, size, &options), cut_through);
            options.forwarding = Forwarding::StoreAndForward;
            let stored = cut_through + h * tail;
            assert_eq!(lone_latency(&channels, size, &options), stored);
            // an empty output buffer adds nothing
            options.output_buffer = 3;
            assert_eq!(lone_latency(&channels, size, &options), stored);
        }
    }
}

/// From a fast to a slow channel the slow one sets the pace, from a slow to a fast one the header waits.
#[test]
fn zero_load_latency_with_unequal_rates() {
    let options = SwitchOptions {
        lane_capacity: 32,
        ..SwitchOptions::default()
    };
    let channels = |a, b| [timing(a, 2), timing(b, 3)];
    let tail = 31;
    assert_eq!(
        lone_latency(&channels(1, 3), 32, &options),
        2 + 1 + 3 + 3 * tail
    );
    assert_eq!(
        lone_latency(&channels(3, 1), 32, &options),
        2 + 1 + 3 + 3 * tail
    );
    // 3, 1, 2: the header waits for 2 * tail at the first switch, not at the second
    let three = [timing(3, 2), timing(1, 3), timing(2, 4)];
    let expected = (2 + 1 + 2 * tail) + (3 + 1) + 4 + 2 * tail;
    assert_eq!(lone_latency(&three, 32, &options), expected);
    let stored = SwitchOptions {
        forwarding: Forwarding::StoreAndForward,
        ..options
    };
    let expected = (2 + 3 * tail + 1) + (3 + tail + 1) + 4 + 2 * tail;
    assert_eq!(lone_latency(&three, 32, &stored), expected);
}

/// Flits delivered to the end of each cycle of `from..to`.
fn flits_between(outcome: &Outcome, from: u64, to: u64) -> u64 {
    let inside = |d: &&Delivery| (from..to).contains(&d.delivered);
    let deliveries = outcome.deliveries.iter().filter(inside);
    deliveries.map(|d| u64::from(d.size)).sum()
}

#[test]
fn a_saturated_link_is_never_idle() {
    let (graph, tables) = star(2, 1);
    for size in [1, 8] {
        let options = SwitchOptions {
            lane_capacity: 32,
            crossbar_delay: 2,
            ..SwitchOptions::default()
        };
        let plan = plan(vec![backlogged(&[0], 1, size, 0)], options);
        let outcome = simulate(&plan, &graph, &tables, 1_000);
        assert_eq!(flits_between(&outcome, 104, 904), 800);
    }
}

/// With room for one packet the next starts when the credit of the tail is back: its way to the switch,
/// the delay there, the way of the credit.
#[test]
fn credits_limit_the_rate_by_the_round_trip() {
    let (n, latency, delay, credit_latency) = (4, 3, 2, 5);
    let (graph, tables) = chain(&[timing(1, latency), timing(1, 1)]);
    let options = SwitchOptions {
        lane_capacity: n,
        routing_delay: delay,
        credit_latency: Some(credit_latency),
        ..SwitchOptions::default()
    };
    let plan = plan(vec![backlogged(&[0], 1, n as u16, 0)], options);
    let outcome = simulate(&plan, &graph, &tables, 500);
    let starts: Vec<u64> = outcome.deliveries.iter().map(|d| d.injected).collect();
    let period = u64::from(n - 1 + latency + delay + credit_latency);
    assert!(starts.len() > 20);
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == period));
}

/// Two saturated lanes towards one host share its link by their weights; without tables evenly.
#[test]
fn lanes_share_by_weight() {
    let (graph, tables) = star(3, 2);
    let weighted = |high: Vec<(u8, u8)>, low: Vec<(u8, u8)>, limit| VlArbitrationTables {
        high,
        low,
        limit,
        ..VlArbitrationTables::default()
    };
    let unlimited = HighPriorityLimit::Unlimited;
    for (vl_arbitration, share) in [
        (None, 0.5),
        (
            Some(weighted(vec![(0, 4), (1, 12)], vec![], unlimited)),
            0.25,
        ),
        (Some(weighted(vec![], vec![(0, 8), (1, 2)], unlimited)), 0.8),
        // one high packet between two low ones; 4096 bytes = 64 flits = 32 packets to one
        (
            Some(weighted(
                vec![(0, 1)],
                vec![(1, 1)],
                HighPriorityLimit::Units(0),
            )),
            0.5,
        ),
        (
            Some(weighted(
                vec![(0, 1)],
                vec![(1, 1)],
                HighPriorityLimit::Units(1),
            )),
            32.0 / 33.0,
        ),
        (Some(weighted(vec![(0, 1)], vec![(1, 1)], unlimited)), 1.0),
    ] {
        let options = SwitchOptions {
            lanes: 2,
            lane_capacity: 32,
            vl_arbitration,
            ..SwitchOptions::default()
        };
        let classes = vec![backlogged(&[0], 2, 2, 0), backlogged(&[1], 2, 2, 1)];
        let outcome = simulate(&plan(classes, options), &graph, &tables, 8_000);
        let of_lane_0 = outcome.deliveries.iter().filter(|d| d.class == 0).count();
        let measured = of_lane_0 as f64 / outcome.deliveries.len() as f64;
        assert!((measured - share).abs() < 0.005, "{measured} {share}");
        assert_eq!(flits_between(&outcome, 1_000, 7_000), 6_000);
    }
}

/// A sink of c cycles per flit takes one flit every c cycles.
#[test]
fn a_slow_sink_sets_the_rate() {
    let (graph, tables) = star(2, 1);
    let options = SwitchOptions {
        lane_capacity: 16,
        ..SwitchOptions::default()
    };
    let mut plan = plan(vec![backlogged(&[0], 1, 4, 0)], options);
    plan.host.sink_cycles_per_flit = Some(3);
    let outcome = simulate(&plan, &graph, &tables, 1_300);
    assert_eq!(flits_between(&outcome, 100, 1_300), 400);
}

/// The VL15 packet passes all data packets that wait with it.
#[test]
fn management_goes_first() {
    let (graph, tables) = star(2, 1);
    let mut management = backlogged(&[0], 1, 1, 0);
    management.management = true;
    management.packets_per_host = Some(3);
    let options = SwitchOptions {
        management_lane: true,
        lane_capacity: 16,
        ..SwitchOptions::default()
    };
    let classes = vec![backlogged(&[0], 1, 4, 0), management];
    let outcome = simulate(&plan(classes, options), &graph, &tables, 100);
    let of_class = |class: u16| {
        let mine = outcome.deliveries.iter().filter(move |d| d.class == class);
        mine.map(|d| d.injected).take(4).collect::<Vec<_>>()
    };
    assert_eq!(of_class(1), [0, 1, 2]);
    assert_eq!(of_class(0), [3, 7, 11, 15]);
}

/// Three hosts send one packet each to a fourth: the first granted sees two others, the second one, the
/// last none.
#[test]
fn marking_counts_the_other_standing_requests() {
    let (graph, tables) = star(4, 1);
    for (threshold, marked) in [(1, 2), (4, 2), (5, 1), (8, 1), (9, 0)] {
        let options = SwitchOptions {
            marking: Some(Marking::Requests(threshold)),
            ..SwitchOptions::default()
        };
        let mut class = backlogged(&[0, 1, 2], 3, 4, 0);
        class.packets_per_host = Some(1);
        let outcome = simulate(&plan(vec![class], options), &graph, &tables, 100);
        let fecn: Vec<bool> = outcome.deliveries.iter().map(|d| d.fecn).collect();
        let expected: Vec<bool> = (0..3).map(|turn| turn < marked).collect();
        assert_eq!(fecn, expected, "threshold {threshold}");
    }
}

/// D11: with room for one waiting packet the sources of a blocked host are rejected, numbers go on.
#[test]
fn a_full_source_queue_rejects() {
    let (graph, tables) = star(3, 1);
    let options = SwitchOptions {
        lane_capacity: 4,
        ..SwitchOptions::default()
    };
    let mut plan = plan(vec![backlogged(&[0, 1], 2, 4, 0)], options);
    plan.host.source_queue = Some(1);
    let outcome = simulate(&plan, &graph, &tables, 200);
    // a saturating source waits for its only packet to start, so nothing is ever rejected
    assert_eq!(outcome.rejected, 0);
    plan.classes.push(plan.classes[0].clone());
    plan.host.source_queue = Some(0);
    let outcome = simulate(&plan, &graph, &tables, 200);
    assert_eq!(outcome.deliveries, []);
    assert_eq!((outcome.created, outcome.rejected), (800, 800));
}
