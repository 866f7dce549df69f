//! The reference model with what D78 adds to wormhole switching, in cases computed by hand: slow sinks, messages and flows that wait,
//! VL15, input speed-up, routes of flows.
//!
//! A flit that starts in cycle t on a link of latency 1 may leave the switch in t + 1, a header of default delays in t + 2; a flit
//! that a switch passes in t is at its host in t + 1.

use super::control::flows_of;
use super::own_routes::{LOWER, UPPER, diamond, on, sized, times, way};
use super::wormhole::{delivered, options};
use super::{backlogged, plan, star_of, tables, timing};
use crate::random_fabric::Given;
use crate::reference::{Delivery, simulate};
use std::sync::Arc;
use virtlane::ids::{HostId, SlId};
use virtlane::plan::{
    Allocation, ClassPlan, FlowAfter, FlowPlan, InputSpeedup, InputTurns, Plan, SwitchOptions,
};
use virtlane::qos::VlArbitrationTables;
use virtlane::qos::vl_arbitration::{Accept, HighPriorityLimit};
use virtlane::topology::ChannelTiming;
use virtlane::traffic::SizeDistribution;
use virtlane::traffic::messages::{After, Message, Workload};

/// Lane of VL15, in the cases below.
const VL15: u8 = u8::MAX;

/// A class of single packets that are created in 0, as (source, destination, flits, lane).
fn once((source, destination, size, lane): (u32, u32, u16, u8)) -> ClassPlan {
    let mut class = backlogged(&[source], destination, size, lane % VL15);
    class.management = lane == VL15;
    class.packets_per_host = Some(1);
    class
}

/// What is delivered on links to one switch, by source.
fn outcome(links: &[ChannelTiming], plan: &Plan) -> Vec<Delivery> {
    let levels = plan.switch.lanes;
    let (graph, tables) = star_of(links, levels);
    let mut deliveries = simulate(plan, &graph, &tables, 200).deliveries;
    deliveries.sort_by_key(|d| (d.source, d.class, d.sequence));
    deliveries
}

/// Delivery cycles of single packets, by source.
fn one_each(links: &[ChannelTiming], plan: &Plan) -> Vec<u64> {
    let deliveries = outcome(links, plan);
    assert_eq!(deliveries.len(), plan.classes.len());
    deliveries.iter().map(|d| d.delivered).collect()
}

fn with_sink(packets: &[(u32, u32, u16, u8)], options: SwitchOptions, sink: Option<u32>) -> Plan {
    let mut plan = plan(
        packets.iter().map(|&packet| once(packet)).collect(),
        options,
    );
    plan.host.sink_cycles_per_flit = sink;
    plan
}

/// Two flits on lane 0 are at their host in 3 and 5, four on lane 1 in 4, 6, 7 and 8. In turn the sink of three cycles takes lane 0 in
/// 3, lane 1 in 6, lane 0 in 9, lane 1 in 12, 15 and 18.
#[test]
fn a_slow_sink_takes_flits_of_its_lanes_in_turn() {
    let packets = [(0, 2, 2, 0), (1, 2, 4, 1)];
    for (sink, expected) in [(None, [5, 8]), (Some(1), [5, 8]), (Some(3), [9, 18])] {
        let times = one_each(
            &[timing(1, 1); 3],
            &with_sink(&packets, options(2, 32), sink),
        );
        assert_eq!(times, expected, "{sink:?}");
    }
    // on one lane the flits come in 3 to 8, and are taken in 3, 6, then 9, 12, 15 and 18
    let packets = [(0, 2, 2, 0), (1, 2, 4, 0)];
    let plan = with_sink(&packets, options(1, 32), Some(3));
    assert_eq!(one_each(&[timing(1, 1); 3], &plan), [6, 18]);
}

/// VL15 leaves the switch in 2 and 3, the other packet in 4, 5 and 6. The sink of two cycles takes VL15, the last lane, in 3; in 5
/// lane 0, whose turn it is; in 7 VL15 again, then lane 0 in 9 and 11.
#[test]
fn vl15_has_the_last_turn_of_a_slow_sink() {
    let packets = [(0, 2, 3, 0), (1, 2, 2, VL15)];
    let options = SwitchOptions {
        management_lane: true,
        ..options(1, 32)
    };
    for (sink, expected) in [(None, [7, 4]), (Some(2), [11, 7])] {
        let plan = with_sink(&packets, options.clone(), sink);
        assert_eq!(one_each(&[timing(1, 1); 3], &plan), expected, "{sink:?}");
    }
}

/// Three flits over lanes of one flit. The first one starts in 0, passes in 2 and is taken in 3, so that the next passes in 4 and is
/// at the host in 5; the sink takes it in 6, the third passes in 7, is there in 8 and is taken in 9.
/// Where credits take four cycles the second starts in 6 (2 + 4) and passes in 7 (3 + 4), is there in 8 and taken at once; the third
/// starts in 11 and passes in 12 (8 + 4).
#[test]
fn credits_come_back_when_a_slow_sink_takes_flits() {
    for (credit_latency, expected) in [(None, 9), (Some(4), 13)] {
        let options = SwitchOptions {
            credit_latency,
            ..options(1, 1)
        };
        let plan = with_sink(&[(0, 1, 3, 0)], options, Some(3));
        assert_eq!(one_each(&[timing(1, 1); 2], &plan), [expected]);
    }
}

/// Class 0 on lane 0 in packets of four flits, class 1 on lane 1 in single flits.
fn message_classes() -> Vec<ClassPlan> {
    let class = |size: u16, level: u8| ClassPlan {
        messages: Some(0),
        ..ClassPlan::silent(
            format!("messages {level}"),
            (0..3).map(HostId).collect(),
            SizeDistribution::fixed(size),
            vec![SlId(level)],
        )
    };
    vec![class(4, 0), class(1, 1)]
}

/// A message as (class, source, destination, flits), behind these: (number, delay).
type Line<'a> = (u16, u32, u32, u64, &'a [(u64, u64)]);

fn messages(lines: &[Line<'_>], options: SwitchOptions) -> Plan {
    let mut plan = plan(message_classes(), options);
    let flit = u64::from(plan.flit_bytes);
    let lines = (0..).zip(lines);
    let all = lines.map(|(line, &(class, source, destination, flits, after))| {
        plan.classes[usize::from(class)].messages = plan.classes[usize::from(class)]
            .messages
            .map(|count| count + 1);
        Message {
            line,
            time: 0,
            source: HostId(source),
            destination: HostId(destination),
            class,
            bytes: flits * flit,
            after: after
                .iter()
                .map(|&(message, delay)| After { message, delay })
                .collect(),
        }
    });
    let all: Vec<Message> = all.collect();
    plan.workloads.push(Workload {
        source: Arc::new(Given(all)),
        longest_delay: 10,
        last: 0,
    });
    plan
}

/// Creation, start and delivery.
fn lives(deliveries: &[Delivery]) -> Vec<(u64, u64, u64)> {
    let lives = deliveries.iter();
    lives
        .map(|d| (d.created, d.injected, d.delivered))
        .collect()
}

/// Hosts 0 and 1 send four flits to host 2 over lanes of two. Those of host 0 leave the switch in 2 to 5. Those of host 1 start in 0
/// and 1, and leave the switch in 6 to 9, so that the others start in 7 and 8: sent from 9 on, received from 11 on.
const HELD_BACK: [Line<'_>; 2] = [(0, 0, 2, 4, &[]), (0, 1, 2, 4, &[])];

#[test]
fn a_message_is_sent_when_its_last_flit_has_passed() {
    let [first, second] = HELD_BACK;
    for delay in [0, 2] {
        let after = [(1, delay)];
        // one flit from host 1, and one from host 2, on the other lane
        let lines = [first, second, (1, 1, 0, 1, &after), (1, 2, 0, 1, &after)];
        let plan = messages(&lines, options(2, 2));
        let found = lives(&outcome(&[timing(1, 1); 3], &plan));
        let [sent, received] = [9, 11].map(|from| from + delay);
        let expected = [
            (0, 0, 6),
            (0, 0, 10),
            (sent, sent, sent + 3),
            (received, received, received + 3),
        ];
        assert_eq!(found, expected, "{delay}");
    }
}

/// A message of three flits on lane 0 starts in 0, 2 and 4, three messages of one flit on lane 1 in between. Sent from 5 on: the
/// next one on lane 0 is made in 5, when it is the turn of lane 1, and starts in 6.
#[test]
fn other_lanes_go_between_the_flits_of_a_message() {
    let lines: [Line<'_>; 5] = [
        (0, 0, 1, 3, &[]),
        (1, 0, 1, 1, &[]),
        (1, 0, 1, 1, &[]),
        (1, 0, 1, 1, &[]),
        (0, 0, 1, 1, &[(0, 0)]),
    ];
    let plan = messages(&lines, options(2, 32));
    let deliveries = outcome(&[timing(1, 1); 2], &plan);
    let starts: Vec<(u64, u64)> = deliveries.iter().map(|d| (d.created, d.injected)).collect();
    assert_eq!(starts, [(0, 0), (5, 6), (0, 1), (1, 3), (2, 5)]);
    // over a channel of three cycles per flit: in 0, 6 and 12, the others in 3, 9 and 15; sent from 15 on
    let deliveries = outcome(&[timing(3, 1), timing(1, 1)], &plan);
    let starts: Vec<(u64, u64)> = deliveries.iter().map(|d| (d.created, d.injected)).collect();
    assert_eq!(starts, [(0, 0), (15, 18), (0, 3), (1, 9), (2, 15)]);
}

/// The same four flits as flows; one more flow of host 1, and one of host 2, wait for the second one.
#[test]
fn a_flow_is_sent_when_its_last_flit_has_passed() {
    for delay in [0, 3] {
        let waiting = |source: u32, start: u64| FlowPlan {
            class: 1,
            level: SlId(1),
            start,
            after: [FlowAfter { flow: 1, delay }].into(),
            ..sized(source, 0, 1)
        };
        let flows = vec![
            sized(0, 2, 4),
            sized(1, 2, 4),
            waiting(1, 0),
            waiting(2, 13),
        ];
        let class = |level: u8| ClassPlan {
            service_levels: vec![SlId(level)],
            ..flows_of(4, 2)
        };
        let plan = Plan {
            flows,
            ..plan(vec![class(0), class(1)], options(2, 2))
        };
        let (graph, tables) = star_of(&[timing(1, 1); 3], 2);
        let outcome = simulate(&plan, &graph, &tables, 100);
        let starts: Vec<Option<u64>> = outcome.flows.iter().map(|flow| flow.start).collect();
        let (sent, received) = (9 + delay, (11 + delay).max(13));
        assert_eq!(starts, [Some(0), Some(0), Some(sent), Some(received)]);
        let found: Vec<_> = (0..4).map(|flow| times(&outcome, flow)).collect();
        let expected = [(0, 6), (0, 10), (sent, sent + 3), (received, received + 3)];
        assert_eq!(found, expected.map(|times| vec![times]), "{delay}");
    }
}

/// Two packets of two flits on VL15, the second one created in 1, start in 0 and 2, before four flits of data in 4 to 7. The first
/// leaves the switch in 2 and 3. The second is here in 3 and 4, and routed from 4 on, when the first one has left: in 5 and 6. The
/// data, here from 5 on, could go in 6, and go in 7 to 10.
#[test]
fn vl15_goes_first_at_a_host() {
    let mut management = once((0, 1, 2, VL15));
    management.packets_per_host = Some(2);
    let tables = VlArbitrationTables {
        high: vec![(0, 255)],
        low: vec![],
        limit: HighPriorityLimit::Unlimited,
        ..VlArbitrationTables::default()
    };
    for vl_arbitration in [None, Some(tables)] {
        let options = SwitchOptions {
            management_lane: true,
            vl_arbitration,
            ..options(1, 32)
        };
        let plan = plan(vec![once((0, 1, 4, 0)), management.clone()], options);
        let found = lives(&outcome(&[timing(1, 1); 2], &plan));
        assert_eq!(found, [(0, 4, 11), (0, 0, 4), (1, 2, 7)]);
    }
}

/// Six flits of data leave the switch in 2 and 3. Three of VL15, here in 3, 4 and 5, go in 4, 5 and 6, and the data go on in 7.
#[test]
fn vl15_goes_first_at_an_output() {
    let links = [timing(1, 1), timing(1, 3), timing(1, 1)];
    let packets = [(0, 2, 6, 0), (1, 2, 3, VL15)];
    let options = SwitchOptions {
        management_lane: true,
        ..options(1, 32)
    };
    assert_eq!(
        one_each(&links, &with_sink(&packets, options, None)),
        [11, 7]
    );
}

/// Lanes 0 and 1 have four flits each in turn, lane 0 in 2, then one flit of VL15 in 3; it is still the turn of lane 1: in 4, 6, 8 and
/// 10, lane 0 in 5, 7 and 9.
#[test]
fn vl15_leaves_the_turn_as_it_was() {
    let links = [timing(1, 1), timing(1, 1), timing(1, 1), timing(1, 2)];
    let packets = [(0, 2, 4, 0), (1, 2, 4, 1), (3, 2, 1, VL15)];
    let options = SwitchOptions {
        management_lane: true,
        ..options(2, 32)
    };
    let times = one_each(&links, &with_sink(&packets, options, None));
    assert_eq!(times, [10, 11, 4]);
}

/// Hosts 0, 1 and 2 hold lanes 0, 1 and 2 to hosts 4, 5 and 6 in 2 to 9, host 3 has two flits for each of these, which are all here by
/// then; from 10 on the outputs pick its input.
const ONE_INPUT: [(u32, u32, u16, u8); 6] = [
    (0, 4, 8, 0),
    (1, 5, 8, 1),
    (2, 6, 8, 2),
    (3, 4, 2, 0),
    (3, 5, 2, 1),
    (3, 6, 2, 2),
];

fn places(input_speedup: InputSpeedup) -> SwitchOptions {
    SwitchOptions {
        input_speedup,
        ..options(3, 32)
    }
}

/// With one place in turn: 10 to 15. With two: outputs 4 and 5 in 10, the pointer is at 6; 6 and 4 in 11, the pointer is at 5; 5 and 6
/// in 12. With three, or any number, 10 and 11.
#[test]
fn an_input_accepts_as_many_as_it_has_places() {
    let network = star_of(&[timing(1, 1); 7], 3);
    for (speedup, expected) in [
        (InputSpeedup::Limited(1), [14, 15, 16]),
        (InputSpeedup::Limited(2), [12, 13, 13]),
        (InputSpeedup::Limited(3), [12, 12, 12]),
        (InputSpeedup::Unlimited, [12, 12, 12]),
    ] {
        for rounds in [1, 2] {
            let options = SwitchOptions {
                allocation: Allocation::rounds(rounds),
                input_turns: InputTurns::Flits,
                ..places(speedup)
            };
            let times = delivered(&network, &ONE_INPUT, options);
            assert_eq!(times[..3], [10, 10, 10]);
            assert_eq!(times[3..], expected, "{speedup:?} {rounds}");
        }
    }
}

/// Lane 2 is high. With two places: outputs 6, then 4 in 10, the pointer is at 5; 6, then 5 in 11, the pointer is at 6; 4 and 5 in 12.
#[test]
fn an_input_with_places_accepts_high_lanes_first() {
    let options = SwitchOptions {
        vl_arbitration: Some(VlArbitrationTables {
            high: vec![(2, 1)],
            low: vec![(0, 1), (1, 1)],
            limit: HighPriorityLimit::Unlimited,
            accept: Accept::HighFirst,
            ..VlArbitrationTables::default()
        }),
        ..places(InputSpeedup::Limited(2))
    };
    let times = delivered(&star_of(&[timing(1, 1); 7], 3), &ONE_INPUT, options);
    assert_eq!(times[3..], [13, 13, 12]);
}

/// Host 0 sends four flits over two cycles each, in 2 to 8, and output 4 is free in 10 as before. A flit to it keeps its place for two
/// cycles: outputs 4 and 5 in 10, the pointer is at 6; 6 alone in 11, with the place that 5 has left; both are back in 12, for 4 and
/// 5; then 6 in 13.
#[test]
fn a_flit_to_a_slow_channel_keeps_its_place() {
    let mut links = [timing(1, 1); 7];
    links[4] = timing(2, 1);
    let mut packets = ONE_INPUT;
    packets[0].2 = 4;
    let times = delivered(
        &star_of(&links, 3),
        &packets,
        places(InputSpeedup::Limited(2)),
    );
    assert_eq!(times, [9, 10, 10, 13, 13, 14]);
}

/// Two flows of four flits from hosts 0 and 1 to host 2, over lanes of two. On routes apart the headers leave the first switch in 2,
/// the second one in 4, and request host 2 at the last one in 6. That over the upper switch goes in 6 to 9: its third flit is at the
/// second switch in 6, leaves it in 7 with the credit of the header, and the fourth one in 8. The other one waits with two flits in
/// the last switch and two in the one before, none in its host, and goes in 10 to 13.
/// On one route the packet of host 1 waits in the first switch. The other one is through there in 6, but holds both credits until its
/// third flit leaves the second switch in 7: the header goes in 8, is routed at the second switch in 9, goes in 10, and in 12 at the
/// last one.
#[test]
fn a_header_waits_on_the_route_of_its_flow() {
    let (graph, next) = diamond();
    let tables = tables(&graph, next, 1);
    for (middle, expected) in [(LOWER, [(0, 14), (0, 10)]), (UPPER, [(0, 10), (0, 16)])] {
        let routes = [(0, middle), (1, UPPER)];
        let routes = routes.map(|(from, middle)| way(&graph, from, &[0, middle, 3], 2));
        let flows = vec![sized(0, 2, 4), sized(1, 2, 4)];
        let plan = Plan {
            switch: options(1, 2),
            ..on(routes.into(), flows)
        };
        let outcome = simulate(&plan, &graph, &tables, 200);
        let found = [0, 1].map(|flow| times(&outcome, flow));
        assert_eq!(found, expected.map(|times| vec![times]), "{middle}");
    }
}
