//! The reference model's flows with routes of their own (D66), worked out by hand.
//!
//! Two hosts, a switch, two switches side by side, a switch, two hosts; tables lead over the upper one of both. A packet of n
//! flits that starts in t is granted by the i-th switch of its way in t + 2 i, and delivered n cycles after the last grant,
//! when its way is free.

use super::control::{flow, flows_of};
use super::probes::{Agents, TRANSPORTS, first_probe, machines, probing};
use super::{backlogged, plan, tables};
use crate::random_fabric::{Case, case_with_routes};
use crate::reference::{Outcome, simulate};
use virtlane::control::Algorithm;
use virtlane::ids::{ChannelId, HostId, SlId, SwitchId};
use virtlane::plan::{ClassPlan, DropRule, Dropping, FlowPlan, Plan, SwitchOptions};
use virtlane::routing::{Guarantees, LaneBudget, LaneMap, Tables};
use virtlane::topology::{ChannelTiming, Endpoint, Graph, GraphBuilder};

/// The switches between the outer ones.
pub(super) const UPPER: u32 = 1;
pub(super) const LOWER: u32 = 2;

/// The fabric; next ports of all switches by destination.
pub(super) fn diamond() -> (Graph, Vec<u8>) {
    let mut builder = GraphBuilder::new();
    let switches: Vec<SwitchId> = (0..4)
        .map(|number| builder.add_switch(format!("S{number}"), number, 4))
        .collect();
    let mut connect = |a: Endpoint, b: Endpoint| {
        let timing = ChannelTiming::default();
        builder.connect(a, b, timing).expect("well-formed");
    };
    let port = |switch: usize, port| Endpoint::Switch(switches[switch], port);
    for (ends, ports) in [
        ((0, 1), (3, 1)),
        ((0, 2), (4, 1)),
        ((1, 3), (2, 3)),
        ((2, 3), (2, 4)),
    ] {
        connect(port(ends.0, ports.0), port(ends.1, ports.1));
    }
    for number in 0..4u32 {
        let host = builder.add_host(format!("H{number}"), number.into());
        let timing = ChannelTiming::default();
        let at = Endpoint::Switch(switches[3 * (number as usize / 2)], 1 + number as u16 % 2);
        builder
            .connect(Endpoint::Host(host), at, timing)
            .expect("well-formed");
    }
    let graph = builder.build().expect("well-formed");
    let next = [[1, 2, 3, 3], [1, 1, 2, 2], [1, 1, 2, 2], [3, 3, 1, 2]].concat();
    (graph, next)
}

/// The way from a host over these switches to another.
pub(super) fn way(graph: &Graph, from: u32, switches: &[u32], to: u32) -> Vec<ChannelId> {
    let mut route = vec![graph.host_channel(HostId(from))];
    for step in switches.windows(2) {
        let mut next = graph.neighbors(SwitchId(step[0]));
        let (port, ..) = next
            .find(|next| next.2 == SwitchId(step[1]))
            .expect("a link");
        route.extend(graph.port_channel(SwitchId(step[0]), port));
    }
    route.push(graph.host_channel(HostId(to)).reverse());
    route
}

/// Flows of class 0, in packets of four flits, on these routes.
pub(super) fn on(routes: Vec<Vec<ChannelId>>, flows: Vec<FlowPlan>) -> Plan {
    let class = ClassPlan {
        hosts: (0..4).map(HostId).collect(),
        ..flows_of(4, flows.len() as u64)
    };
    let options = SwitchOptions {
        lane_capacity: 64,
        ..SwitchOptions::default()
    };
    let mut plan = Plan {
        flows,
        link_retry: None,
        routes_of_flows: Some(routes.into_iter().collect()),
        ..plan(vec![class], options)
    };
    plan.phases.measure = 1_000;
    plan
}

pub(super) fn sized(source: u32, destination: u32, flits: u64) -> FlowPlan {
    FlowPlan {
        flits: Some(flits),
        ..flow(source, destination)
    }
}

/// Start and delivery of the packets of a flow.
pub(super) fn times(outcome: &Outcome, flow: u32) -> Vec<(u64, u64)> {
    let mine = outcome.deliveries.iter().filter(|d| d.flow == Some(flow));
    let mut times: Vec<_> = mine.map(|d| (d.injected, d.delivered)).collect();
    times.sort_unstable();
    times
}

/// Flits over the channels of a way; no other channel has any.
fn assert_sent(outcome: &Outcome, ways: &[(&[ChannelId], u64)]) {
    let mut expected = vec![0; outcome.window.sent.len()];
    for (way, flits) in ways {
        way.iter().for_each(|id| expected[id.index()] += flits);
    }
    let sent = outcome.window.sent.iter().map(|lanes| lanes.iter().sum());
    assert_eq!(sent.collect::<Vec<u64>>(), expected);
}

/// Side by side two flows have the whole rate of their links; by the tables they share one.
#[test]
fn flows_on_different_routes_do_not_share() {
    let (graph, next) = diamond();
    let tables = tables(&graph, next, 1);
    let flows = vec![flow(0, 2), flow(1, 3)];
    let routes = [(0, UPPER, 2), (1, LOWER, 3)];
    let routes = routes.map(|(from, middle, to)| way(&graph, from, &[0, middle, 3], to));
    let apart = on(routes.to_vec(), flows.clone());
    let outcome = simulate(&apart, &graph, &tables, 400);
    let every: Vec<(u64, u64)> = (0..98).map(|n| (4 * n, 4 * n + 10)).collect();
    assert_eq!(times(&outcome, 0), every);
    assert_eq!(times(&outcome, 1), every);
    let together = Plan {
        link_retry: None,
        routes_of_flows: None,
        ..apart
    };
    let outcome = simulate(&together, &graph, &tables, 400);
    assert_eq!(outcome.deliveries.len(), 98);
}

/// A way there and back and there again: five grants, at the first switch twice. Packets without a flow go by the tables.
#[test]
fn a_route_may_come_back_to_a_switch() {
    let (graph, next) = diamond();
    let tables = tables(&graph, next, 1);
    let around = way(&graph, 0, &[0, UPPER, 0, LOWER, 3], 2);
    let mut plan = on(vec![around.clone()], vec![sized(0, 2, 4)]);
    let outcome = simulate(&plan, &graph, &tables, 100);
    assert_eq!(times(&outcome, 0), [(0, 14)]);
    assert_eq!(outcome.deliveries[0].hops, 4);
    assert_sent(&outcome, &[(&around, 4)]);
    plan.classes.push(ClassPlan {
        packets_per_host: Some(3),
        ..backlogged(&[0], 2, 5, 0)
    });
    let outcome = simulate(&plan, &graph, &tables, 100);
    let straight = way(&graph, 0, &[0, UPPER, 3], 2);
    assert_sent(&outcome, &[(&around, 4), (&straight, 15)]);
}

/// The lane on a channel is that of both channels of the hop, also where no table leads.
#[test]
fn lanes_are_those_of_the_map() {
    let (graph, next) = diamond();
    let budget = LaneBudget {
        lanes: 4,
        service_levels: 1,
    };
    let mut map = LaneMap::grouped(&graph, budget, 1, 2, |channel, _| channel.0 as u8 % 2);
    let profiles = map.profiles.len() as u32;
    let others: Vec<u8> = map.profiles.iter().map(|lane| lane + 2).collect();
    map.profiles.extend(others);
    map.by_input = graph
        .channel_ids()
        .map(|id| profiles * (id.0 / 2 % 2))
        .collect();
    let lanes = map.clone();
    let tables =
        Tables::by_destination(&graph, "Test", next, Vec::new(), map, Guarantees::IN_ORDER);
    let route = way(&graph, 1, &[0, LOWER, 3], 2);
    let mut plan = on(vec![route.clone()], vec![sized(1, 2, 4)]);
    plan.switch.lanes = 4;
    let outcome = simulate(&plan, &graph, &tables, 100);
    assert_eq!(times(&outcome, 0), [(0, 10)]);
    let mut met = Vec::new();
    for (place, &channel) in route.iter().enumerate() {
        let lane = match place.checked_sub(1) {
            None => lanes.injection_lane(channel, SlId(0), 0),
            Some(before) => lanes.lane(route[before], channel, SlId(0), 0),
        };
        let mut expected = [0; 4];
        expected[lane.index()] = 4;
        assert_eq!(outcome.window.sent[channel.index()], expected);
        met.push(lane);
    }
    met.sort_unstable();
    met.dedup();
    assert!(met.len() >= 3, "{met:?}");
}

/// Credits that are asked are those of the route: the second packet finds none in 3, one cycle after the first one's grant,
/// and another way has all.
#[test]
fn a_packet_is_dropped_where_its_route_leads() {
    let (graph, next) = diamond();
    let tables = tables(&graph, next, 1);
    let second = FlowPlan {
        start: 1,
        ..sized(1, 3, 4)
    };
    for (middle, is_lost) in [(LOWER, true), (UPPER, false)] {
        let routes = vec![
            way(&graph, 0, &[0, LOWER, 3], 2),
            way(&graph, 1, &[0, middle, 3], 3),
        ];
        let channel = routes[0][1];
        let mut plan = on(routes, vec![sized(0, 2, 4), second.clone()]);
        plan.switch.lane_capacity = 4;
        plan.switch.drop = Some(Dropping {
            service_levels: vec![SlId(0)],
            rule: DropRule::Held,
        });
        let outcome = simulate(&plan, &graph, &tables, 100);
        assert_eq!(times(&outcome, 0), [(0, 10)]);
        let lost = outcome.lost.iter();
        let lost: Vec<_> = lost
            .map(|p| (p.source.0, p.injected, p.dropped, p.channel))
            .collect();
        if is_lost {
            assert_eq!(lost, [(1, 1, 3, channel.index())]);
            assert_eq!(outcome.window.dropped[channel.index()], 1);
        } else {
            assert_eq!(lost, []);
            assert_eq!(times(&outcome, 1), [(1, 11)]);
        }
    }
}

/// A probe goes over the route of its flow and visits there, in band and out of band; its reply goes back by the tables.
#[test]
fn probes_go_over_the_route_and_replies_do_not() {
    let (graph, next) = diamond();
    let tables = tables(&graph, next, 1);
    let route = way(&graph, 0, &[0, LOWER, 3], 2);
    let back = way(&graph, 2, &[3, UPPER, 0], 0);
    let mut replies = [0, 0];
    for seed in 0..120 {
        let machines = machines(seed);
        let algorithm = Algorithm::Erratic(machines);
        let Some((_, created, sent)) = first_probe(&algorithm, 0) else {
            continue;
        };
        for transport in TRANSPORTS {
            let mut agents = Agents::new(&algorithm, &graph);
            let [_, (_, returned)] = agents.exchange(transport, (created, sent), [&route, &back]);
            replies[usize::from(agents.reply_visits)] += 1;
            let mut plan = probing(machines, &[(0, 2)], transport);
            plan.routes_of_flows = Some([route.clone()].into_iter().collect());
            let run = |cycles| simulate(&plan, &graph, &tables, cycles);
            assert_eq!(run(returned).flows[0].answered, 0);
            let outcome = run(returned + 1);
            agents.check(&outcome);
            assert_eq!(outcome.flows[0].answered, 1);
        }
    }
    assert!(replies.iter().all(|&count| count > 10), "{replies:?}");
}

/// Routes that are those of the tables change nothing.
#[test]
fn routes_of_the_tables_change_nothing() {
    for seed in 0..60 {
        let Case {
            mut plan,
            graph,
            routing,
            cycles,
            ..
        } = case_with_routes(seed);
        let routes = plan.flows.iter().map(|flow| {
            let path = routing.path(&graph, flow.source, flow.destination, SlId(0));
            let path = path.expect("a way").into_iter();
            path.map(|hop| hop.0).collect::<Vec<_>>()
        });
        plan.routes_of_flows = Some(routes.collect());
        let carried = simulate(&plan, &graph, &routing, cycles);
        plan.routes_of_flows = None;
        assert!(
            carried == simulate(&plan, &graph, &routing, cycles),
            "seed {seed}"
        );
    }
}
