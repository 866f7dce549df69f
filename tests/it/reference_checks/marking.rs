//! The reference model's marks by fill (D36 to D38), worked out by hand.
//!
//! Through one switch of default delays a packet that starts in cycle t may request in t + 2.

use super::control::{flow, flows_of};
use super::{backlogged, plan, star, star_of, tables, timing};
use crate::reference::{Outcome, simulate};
use virtlane::ids::HostId;
use virtlane::plan::{FlowPlan, Marking, Plan, SwitchOptions, Victims};
use virtlane::rng::{Purpose, Rng, stream};
use virtlane::routing::Tables;
use virtlane::topology::{ChannelTiming, Endpoint, Graph, GraphBuilder};
use virtlane::traffic::SizeDistribution;

fn options(lane_capacity: u32, marking: Marking) -> SwitchOptions {
    SwitchOptions {
        lane_capacity,
        marking: Some(marking),
        ..SwitchOptions::default()
    }
}

/// Marks if the fill is at least so much.
pub(super) fn from_fill(fill: u32) -> Marking {
    Marking::Ecn {
        least: fill - 1,
        most: fill,
        probability: 0,
    }
}

pub(super) fn infiniband(threshold: u8, victims: Victims) -> Marking {
    Marking::InfiniBand {
        threshold,
        hysteresis: 0,
        packet: 0,
        rate: 0,
        victims,
    }
}

/// Two hosts send so many packets of that size each to a third.
fn two_to_one(packets: u64, size: u16, options: SwitchOptions) -> Plan {
    let mut class = backlogged(&[0, 1], 2, size, 0);
    class.packets_per_host = Some(packets);
    plan(vec![class], options)
}

/// Whether packets are marked, in the order of their deliveries, as letters.
pub(super) fn marks(outcome: &Outcome) -> String {
    let mut all: Vec<_> = outcome.deliveries.iter().collect();
    all.sort_by_key(|delivery| delivery.delivered);
    let letter = |marked| if marked { 'm' } else { '-' };
    all.into_iter().map(|d| letter(d.fecn)).collect()
}

fn marks_of(plan: &Plan) -> String {
    let (graph, tables) = star(3, 1);
    marks(&simulate(plan, &graph, &tables, 200))
}

/// Two packets of four flits each, granted in 2, 6, 10 and 14, from both hosts in turn. In 2 the other host's first waits,
/// the second ones may request from 6 on; then the first host's second one and, behind the granted one, the
/// other's; then that alone.
#[test]
fn fill_counts_packets_behind_the_head() {
    for (fill, expected) in [
        (1, "mmm-"),
        (4, "mmm-"),
        (5, "-m--"),
        (8, "-m--"),
        (9, "----"),
    ] {
        let plan = two_to_one(2, 4, options(64, from_fill(fill)));
        assert_eq!(marks_of(&plan), expected, "{fill}");
    }
    // D16 sees the heads only
    let plan = two_to_one(2, 4, options(64, Marking::Requests(5)));
    assert_eq!(marks_of(&plan), "----");
}

/// A packet waits when its delays are over, of five cycles here: one of four flits from each host, granted in 6 and 10, and
/// single flits behind it that start in 4, 5 and 6. In 10 one of these may request at each host.
#[test]
fn fill_counts_from_the_first_possible_request() {
    let (graph, tables) = star(3, 1);
    for (fill, expected) in [(2, "mm"), (3, "m-"), (5, "--")] {
        let options = SwitchOptions {
            routing_delay: 3,
            allocation_delay: 2,
            ..options(64, from_fill(fill))
        };
        let mut plan = two_to_one(1, 4, options);
        let mut small = plan.classes[0].clone();
        small.size = SizeDistribution::fixed(1);
        small.packets_per_host = Some(3);
        plan.classes.push(small);
        let marks = marks(&simulate(&plan, &graph, &tables, 100));
        assert_eq!(&marks[..2], expected, "{fill}: {marks}");
    }
}

/// The same four fills, 4, 8, 4 and 0, against ceil((16 - T) * B / 16).
#[test]
fn the_congested_fill_is_rounded_up() {
    for (threshold, capacity, expected) in [
        (15, 64, "mmm-"), // 4
        (15, 65, "-m--"), // 4 and a bit
        (15, 8, "mmm-"),  // 0.5
        (8, 8, "mmm-"),   // 4
        (8, 9, "-m--"),   // 4.5
        (8, 16, "-m--"),  // 8
        (8, 17, "----"),  // 8.5
        (1, 8, "-m--"),   // 7.5
        (0, 8, "----"),   // off
    ] {
        let marking = infiniband(threshold, Victims::All);
        let plan = two_to_one(2, 4, options(capacity, marking));
        assert_eq!(marks_of(&plan), expected, "{threshold} {capacity}");
    }
}

/// Four packets of eight flits from each host. I is 2 - 1 at the grant in 2, and 1 - 1 at the one in 10.
#[test]
fn an_output_that_has_been_idle_is_a_victim() {
    for (victims, expected) in [
        (Victims::None, "-mmmmmm-"),
        (Victims::Hosts, "mmmmmmm-"),
        (Victims::All, "mmmmmmm-"),
    ] {
        let plan = two_to_one(4, 8, options(64, infiniband(15, victims)));
        assert_eq!(marks_of(&plan), expected, "{victims:?}");
        // at two cycles per flit packets of four flits take as long
        let (graph, tables) = star_of(&[timing(2, 1); 3], 1);
        let plan = two_to_one(4, 4, options(32, infiniband(15, victims)));
        let outcome = simulate(&plan, &graph, &tables, 200);
        assert_eq!(marks(&outcome), expected, "{victims:?}");
        // with an output buffer the second of three hosts is granted in 3 and takes the channel in 10
        let buffered = SwitchOptions {
            output_buffer: 8,
            ..options(64, infiniband(15, victims))
        };
        let mut class = backlogged(&[0, 1, 2], 3, 8, 0);
        class.packets_per_host = Some(1);
        let (graph, tables) = star(4, 1);
        let outcome = simulate(
            &Plan {
                classes: vec![class],
                ..two_to_one(1, 8, buffered)
            },
            &graph,
            &tables,
            200,
        );
        assert_eq!(marks(&outcome)[..2], expected[..2], "{victims:?}");
    }
}

/// After a long time I is C = 8, less 1 at each grant: 7 at the first, 0 from the eighth on. The tenth sees no other.
#[test]
fn idle_time_is_bounded_by_a_packet() {
    let flows = [0, 1].map(|host| FlowPlan {
        start: 100,
        flits: Some(40),
        ..flow(host, 2)
    });
    let marking = infiniband(15, Victims::None);
    let mut plan = plan(vec![flows_of(8, 2)], options(64, marking));
    plan.flows = flows.to_vec();
    let (graph, tables) = star(3, 1);
    let outcome = simulate(&plan, &graph, &tables, 300);
    assert_eq!(marks(&outcome), "-------mm-");
    let marked: Vec<u64> = outcome.flows.iter().map(|flow| flow.marked).collect();
    assert_eq!(marked, [1, 1]);
}

/// Output lanes of two packets. Two packets of eight flits each from hosts 0 and 1 have their crossbar grants on lane 0 in 2, 10, 18
/// and 26, hosts in turn, with others waiting for the crossbar in the first three. Packets of host 2 go over lane 1 in between.
/// The channel grants one in 2, which leaves I = 1, and one of lane 1 in 10, which leaves 0.
#[test]
fn idle_time_behind_output_lanes_changes_with_channel_grants() {
    let (graph, tables) = star(4, 2);
    for (victims, expected) in [
        (Victims::None, [false, true, true, false]),
        (Victims::Hosts, [true, true, true, false]),
    ] {
        let options = SwitchOptions {
            lanes: 2,
            output_lane_buffer: 16,
            ..options(64, infiniband(15, victims))
        };
        let mut classes = vec![backlogged(&[0, 1], 3, 8, 0), backlogged(&[2], 3, 8, 1)];
        (classes[0].packets_per_host, classes[1].packets_per_host) = (Some(2), Some(4));
        let outcome = simulate(&plan(classes, options), &graph, &tables, 200);
        let marked = outcome.deliveries.iter().filter(|d| d.class == 0);
        let mut marked: Vec<_> = marked.map(|d| (d.sequence, d.source, d.fecn)).collect();
        marked.sort_unstable();
        // the first ones of both hosts, then the second ones
        let marked: Vec<bool> = marked.iter().map(|packet| packet.2).collect();
        assert_eq!(marked, expected, "{victims:?}");
    }
}

/// Hosts 0 and 1 at one switch, host 2 at another.
pub(super) fn two_switches() -> (Graph, Tables) {
    let mut builder = GraphBuilder::new();
    let [a, b] = ["A", "B"].map(|name| builder.add_switch(name, 0, 3));
    let ends = [
        Endpoint::Switch(a, 1),
        Endpoint::Switch(a, 2),
        Endpoint::Switch(b, 1),
    ];
    for (number, end) in ends.into_iter().enumerate() {
        let host = Endpoint::Host(builder.add_host(format!("H{number}"), 0));
        let connected = builder.connect(host, end, ChannelTiming::default());
        connected.expect("well-formed");
    }
    let between = (Endpoint::Switch(a, 3), Endpoint::Switch(b, 3));
    let connected = builder.connect(between.0, between.1, ChannelTiming::default());
    connected.expect("well-formed");
    let graph = builder.build().expect("well-formed");
    let tables = tables(&graph, vec![1, 2, 3, 3, 3, 1], 1);
    (graph, tables)
}

/// The output between the switches is as idle at its first grant as that to a host above; behind it nothing waits.
#[test]
fn victims_at_hosts_are_those_at_outputs_to_hosts() {
    let (graph, tables) = two_switches();
    for (victims, expected) in [
        (Victims::None, "-mmmmmm-"),
        (Victims::Hosts, "-mmmmmm-"),
        (Victims::All, "mmmmmmm-"),
    ] {
        let plan = two_to_one(4, 8, options(64, infiniband(15, victims)));
        let outcome = simulate(&plan, &graph, &tables, 200);
        assert_eq!(marks(&outcome), expected, "{victims:?}");
    }
}

/// Of the seven packets that are granted with others waiting, the first and every (M + 1)-th; none that is too small.
#[test]
fn the_marking_rate_leaves_packets_out() {
    for (packet, rate, expected) in [
        (0, 1, "m-m-m-m-"),
        (8, 2, "m--m--m-"),
        (8, 6, "m-------"),
        (9, 0, "--------"),
    ] {
        let marking = Marking::InfiniBand {
            threshold: 15,
            hysteresis: 0,
            packet,
            rate,
            victims: Victims::All,
        };
        let plan = two_to_one(4, 8, options(64, marking));
        assert_eq!(marks_of(&plan), expected, "{packet} {rate}");
    }
}

/// Fills 8, 16, 24, 32, 24, 16, 8, 0 between the bounds 8 and 32: no draw at the bounds, one between them.
#[test]
fn ecn_draws_between_its_bounds() {
    let half = 1 << 31;
    let (graph, tables) = star(3, 1);
    let output = graph.host_channel(HostId(2)).reverse();
    let mut seen = [false; 2];
    for seed in 0..20 {
        let marking = |probability| Marking::Ecn {
            least: 8,
            most: 32,
            probability,
        };
        let mut plan = two_to_one(4, 8, options(64, marking(half)));
        plan.seed = seed;
        let mut numbers = stream(seed, Purpose::Marking, u64::from(output.0));
        let mut draw = |above: u64| (numbers.next_u64() >> 32) < half * above / 24;
        let drawn = [draw(8), draw(16), draw(16), draw(8)];
        let letter = |marked| if marked { 'm' } else { '-' };
        let [a, b, c, d] = drawn.map(letter);
        let expected = format!("-{a}{b}m{c}{d}--");
        assert_eq!(
            marks(&simulate(&plan, &graph, &tables, 200)),
            expected,
            "{seed}"
        );
        for drawn in drawn {
            seen[usize::from(drawn)] = true;
        }
        plan.switch.marking = Some(marking(0));
        let outcome = simulate(&plan, &graph, &tables, 200);
        assert_eq!(marks(&outcome), "---m----");
    }
    assert_eq!(seen, [true, true]);
}
