//! The reference model's probes, visits and control networks (D47 to D49), worked out by hand.
//!
//! Flows that never begin: all that happens is what their senders' first timers lead to. When something happens is computed
//! here; what the machines make of it is asked of them again, and they mix the cycle of every call into their states. In band
//! a packet of n flits that starts in t is granted by the i-th switch of its way in t + 2 i and delivered n cycles after the last
//! grant, when its way is free.

use super::control::{controlled, erratic, flow};
use super::{chain, star};
use crate::reference::{Outcome, simulate};
use virtlane::control::erratic::Erratic;
use virtlane::control::probe::Place;
use virtlane::control::{Actions, Agent, Algorithm, Element, Event, Facts, Line, Payload, Sender};
use virtlane::ids::ChannelId;
use virtlane::plan::{OutOfBand, Plan};
use virtlane::routing::Tables;
use virtlane::topology::{ChannelTiming, Endpoint, Graph};

/// A cycle that no run here reaches.
const NEVER: u64 = 100_000;
/// Flits of a control packet in band, as [`controlled`] says.
const FLITS: u64 = 2;

pub(super) const SLOW: OutOfBand = OutOfBand {
    serialisation: 11,
    routing: 3,
    processing: 6,
    propagation: 2,
    broadcast: None,
};
const QUICK: OutOfBand = OutOfBand {
    serialisation: 1,
    routing: 0,
    processing: 0,
    propagation: 1,
    broadcast: None,
};
pub(super) const TRANSPORTS: [Option<OutOfBand>; 3] = [None, Some(QUICK), Some(SLOW)];

/// Flows of class 0 that probe and have no packets.
pub(super) fn probing(
    machines: Erratic,
    ends: &[(u32, u32)],
    transport: Option<OutOfBand>,
) -> Plan {
    let mut plan = controlled(machines, None);
    plan.classes[0].control.as_mut().expect("control").transport = transport;
    let flows = ends.iter().map(|&(from, to)| flow(from, to));
    plan.flows = flows.collect();
    for flow in &mut plan.flows {
        flow.start = NEVER;
    }
    plan
}

pub(super) fn machines(seed: u64) -> Erratic {
    Erratic {
        probes: 100,
        ..erratic(seed, 100)
    }
}

/// The sender of a flow that starts in this cycle with so many flits, what its start wants, and the cycle of its timer.
pub(super) fn started(
    algorithm: &Algorithm,
    id: u32,
    (start, flits): (u64, Option<u64>),
) -> (Sender, Actions, u64) {
    let mut actions = Actions::default();
    let line = Line {
        pace: 1,
        largest: 4,
    };
    let mut sender = algorithm.start(line, &mut actions);
    let facts = Facts {
        id,
        start,
        stop: None,
        flits,
        weight: 1,
    };
    algorithm.begin(&mut sender, facts, &mut actions);
    let timer = actions.timer.flatten().expect("it sets a timer");
    (sender, actions, timer)
}

/// A sender whose first call sends a probe and sets no timer that matters here: the sender, when the probe is created, and
/// what it carries.
pub(super) fn first_probe(algorithm: &Algorithm, id: u32) -> Option<(Sender, u64, Payload)> {
    let (mut sender, _, timer) = started(algorithm, id, (NEVER, None));
    let mut actions = Actions::default();
    algorithm.send(&mut sender, timer, Event::Timer, &mut actions);
    let probe = actions.send?;
    let is_alone = actions.timer.flatten().is_none();
    is_alone.then_some((sender, timer + probe.after, probe.payload))
}

/// All agents of the channels of a graph, and what visits them.
pub(super) struct Agents<'a> {
    algorithm: &'a Algorithm,
    all: Vec<Agent>,
    visits: Vec<u64>,
    /// Whether the last reply visited, too.
    pub(super) reply_visits: bool,
}

impl<'a> Agents<'a> {
    pub(super) fn new(algorithm: &'a Algorithm, graph: &Graph) -> Self {
        let agent = |channel: ChannelId| {
            let channel = graph.channel(channel);
            let place = Place {
                pace: channel.timing.cycles_per_flit as u16,
                drain: channel.timing.cycles_per_flit as u16,
                from_host: matches!(channel.from, Endpoint::Host(_)),
                to_host: matches!(channel.to, Endpoint::Host(_)),
            };
            algorithm.agent(place).expect("it probes")
        };
        Self {
            algorithm,
            all: graph.channel_ids().map(agent).collect(),
            visits: vec![0; graph.channels().len()],
            reply_visits: false,
        }
    }

    /// A visit, together with the element of where the channel begins (D68).
    pub(super) fn pass(
        &mut self,
        (channel, element): (ChannelId, &mut Element),
        now: u64,
        payload: &mut Payload,
    ) {
        let agent = &mut self.all[channel.index()];
        self.algorithm.pass(agent, element, now, payload);
        self.visits[channel.index()] += 1;
    }

    /// What the agent of a channel is by now.
    pub(super) fn state(&self, channel: ChannelId) -> String {
        format!("{:?}", self.all[channel.index()])
    }

    /// A visit.
    pub(super) fn visit(&mut self, channel: ChannelId, now: u64, payload: &mut Payload) {
        let agent = &mut self.all[channel.index()];
        self.algorithm.visit(agent, now, payload);
        self.visits[channel.index()] += 1;
    }

    /// A probe goes alone over a way of three switches, its reply back over another, and both visit whom they have to; when each
    /// is made and delivered.
    pub(super) fn exchange(
        &mut self,
        transport: Option<OutOfBand>,
        (created, mut payload): (u64, Payload),
        [out, back]: [&[ChannelId]; 2],
    ) -> [(u64, u64); 2] {
        let (cycles, delivered) = alone(transport, true, 3, created);
        self.take(out, &cycles, &mut payload);
        let mut receiver = self.algorithm.receiver();
        let reply = (self.algorithm).received(&mut receiver, delivered, payload);
        let mut reply = reply.expect("it replies to everything");
        let made = delivered + reply.after;
        let (cycles, returned) = alone(transport, reply.visits, 3, made);
        if reply.visits {
            self.take(back, &cycles, &mut reply.payload);
        }
        self.reply_visits = reply.visits;
        [(created, delivered), (made, returned)]
    }

    /// One alone: visits in these cycles.
    pub(super) fn take(&mut self, way: &[ChannelId], cycles: &[u64], payload: &mut Payload) {
        assert_eq!(way.len(), cycles.len());
        for (&channel, &now) in way.iter().zip(cycles) {
            self.visit(channel, now, payload);
        }
    }

    pub(super) fn check(&self, outcome: &Outcome) {
        let found = &outcome.control[0];
        assert_eq!(found.visits, self.visits);
        let states = self.all.iter().map(|agent| format!("{agent:?}"));
        assert_eq!(found.agents, states.collect::<Vec<_>>());
        assert!(outcome.control[1].visits.is_empty(), "a class of answers");
    }
}

/// Cycles of the visits over so many switches of one alone, and of its delivery.
pub(super) fn alone(
    transport: Option<OutOfBand>,
    visits: bool,
    switches: u64,
    created: u64,
) -> (Vec<u64>, u64) {
    match transport {
        None => {
            let grants = (0..=switches).map(|switch| created + 2 * switch);
            (grants.collect(), created + 2 * switches + FLITS)
        }
        Some(times) => {
            let [service, process, route, travel] = [
                times.serialisation,
                if visits { times.processing } else { 0 },
                times.routing,
                times.propagation,
            ]
            .map(u64::from);
            let (first, hop) = (created + service, travel + route + service + process);
            let cycles = (0..=switches).map(|switch| first + switch * hop);
            (cycles.collect(), first + travel + switches * hop)
        }
    }
}

/// Created, delivered, and sum and most of their differences, beside the data network.
fn check_counts(transport: Option<OutOfBand>, outcome: &Outcome, times: &[(u64, u64)]) {
    let delays = times.iter().map(|(created, delivered)| delivered - created);
    let delays = (delays.clone().sum(), delays.max().unwrap_or(0));
    let found = &outcome.control[0];
    if transport.is_some() {
        assert!(outcome.deliveries.is_empty());
        assert_eq!((found.created, found.delivered), (2, 2));
        assert_eq!(found.delay, delays);
        assert_eq!((outcome.created, outcome.packet_hops), (0, 0));
        return;
    }
    assert_eq!((found.created, found.delivered), (0, 0));
    let mut packets: Vec<(u64, u64)> = Vec::new();
    for packet in &outcome.deliveries {
        assert_eq!(packet.class, 1);
        assert_eq!(packet.created, packet.injected);
        packets.push((packet.created, packet.delivered));
    }
    packets.sort_unstable();
    let mut times = times.to_vec();
    times.sort_unstable();
    assert_eq!(packets, times);
}

/// A probe over three switches, and its reply.
#[test]
fn a_probe_alone_and_its_reply() {
    let (graph, tables) = chain(&[ChannelTiming::default(); 4]);
    let mut visiting = [0, 0];
    for seed in 0..120 {
        let machines = machines(seed);
        let algorithm = Algorithm::Erratic(machines);
        let Some((_, created, sent)) = first_probe(&algorithm, 0) else {
            continue;
        };
        for transport in TRANSPORTS {
            let mut agents = Agents::new(&algorithm, &graph);
            let ways = [0, 1].map(|from| way(&graph, &tables, from));
            let times = agents.exchange(transport, (created, sent), [&ways[0], &ways[1]]);
            let returned = times[1].1;
            visiting[usize::from(agents.reply_visits)] += 1;
            let plan = probing(machines, &[(0, 1)], transport);
            let run = |cycles| simulate(&plan, &graph, &tables, cycles);
            assert_eq!(run(returned).flows[0].answered, 0);
            let outcome = run(returned + 1);
            agents.check(&outcome);
            assert_eq!(outcome.flows[0].answered, 1);
            check_counts(transport, &outcome, &times);
        }
    }
    assert!(visiting[0] > 20 && visiting[1] > 10, "{visiting:?}");
}

/// The channels from a host to the other one.
pub(super) fn way(graph: &Graph, tables: &Tables, from: u32) -> Vec<ChannelId> {
    let hosts = [0, 1].map(virtlane::ids::HostId);
    let from = from as usize;
    let path = tables.path(graph, hosts[from], hosts[1 - from], virtlane::ids::SlId(0));
    let path = path.expect("a path").into_iter();
    path.map(|(channel, _)| channel).collect()
}

/// Two probes of one class to one host: who comes later waits at the output of the switch, of two that come at once the one
/// of the larger port.
#[test]
fn probes_meet_at_an_output() {
    let (graph, tables) = star(3, 1);
    let out = graph.host_channel(virtlane::ids::HostId(2)).reverse();
    let (mut at_once, mut waiting) = (0, 0);
    for seed in 0..2_000 {
        let machines = machines(seed);
        let algorithm = Algorithm::Erratic(machines);
        let [Some(first), Some(second)] = [0, 1].map(|id| first_probe(&algorithm, id)) else {
            continue;
        };
        for transport in TRANSPORTS {
            let mut agents = Agents::new(&algorithm, &graph);
            // to the output, of a service there, from its visit to the delivery
            let [come, length, visit, go] = match transport {
                None => [2, FLITS, 0, FLITS],
                Some(times) => {
                    let service = times.serialisation + times.processing;
                    let come = times.serialisation + times.propagation + times.routing;
                    [come, service, service, times.propagation].map(u64::from)
                }
            };
            let mut probes = Vec::new();
            for (host, (_, created, payload)) in [&first, &second].into_iter().enumerate() {
                let mut payload = *payload;
                let leaves = alone(transport, true, 0, *created).0[0];
                let channel = graph.host_channel(virtlane::ids::HostId(host as u32));
                agents.visit(channel, leaves, &mut payload);
                probes.push((created + come, host, *created, payload));
            }
            probes.sort_unstable();
            if probes[1].0 - probes[0].0 > length.max(4) {
                // a reply to the first, or what follows from it, could come between
                continue;
            }
            let mut free = 0;
            let mut times = Vec::new();
            for (joins, _, created, mut payload) in probes.clone() {
                let begins = joins.max(free);
                waiting += u64::from(begins > joins);
                free = begins + length;
                agents.visit(out, begins + visit, &mut payload);
                times.push((created, begins + visit + go));
            }
            at_once += u64::from(probes[0].0 == probes[1].0);
            let plan = probing(machines, &[(0, 2), (1, 2)], transport);
            let end = times[1].1;
            let before = simulate(&plan, &graph, &tables, end);
            let outcome = simulate(&plan, &graph, &tables, end + 1);
            check_meeting(transport, [&before, &outcome], &times, &agents, out);
        }
    }
    assert!(at_once > 10 && waiting > 40, "{at_once} {waiting}");
}

/// Of the way to the output and of both deliveries; the first reply may be on its way.
fn check_meeting(
    transport: Option<OutOfBand>,
    [before, after]: [&Outcome; 2],
    times: &[(u64, u64)],
    agents: &Agents<'_>,
    out: ChannelId,
) {
    let found = &after.control[0];
    assert_eq!(found.agents[out.index()], agents.state(out));
    assert_eq!(found.visits[out.index()], 2);
    if transport.is_some() {
        let delays = [times[0].1 - times[0].0, times[1].1 - times[1].0];
        assert_eq!((before.control[0].delivered, found.delivered), (1, 2));
        assert_eq!(before.control[0].delay, (delays[0], delays[0]));
        assert_eq!(
            found.delay,
            (delays[0] + delays[1], delays[0].max(delays[1]))
        );
        return;
    }
    let mut packets = after.deliveries.iter();
    let mut found: Vec<(u64, u64)> = packets
        .by_ref()
        .filter(|packet| packet.destination.0 == 2)
        .map(|packet| (packet.created, packet.delivered))
        .collect();
    found.sort_by_key(|&(_, delivered)| delivered);
    assert_eq!(found, times);
}
