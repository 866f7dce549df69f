//! The reference model's packets of data that visit agents (D69), worked out by hand.
//!
//! A packet of four flits that starts in t is granted by the i-th switch of its way in t + 2 i and delivered four cycles after the
//! last grant, when its way is free. When something happens is computed here, and what the machines make of it is asked of them
//! again; the states of agents and receivers know cycle and payload of everything they were told, in its order.

mod together;

use super::chain;
use super::control::{blank, controlled_by, erratic, flow};
use super::probes::{self, Agents, TRANSPORTS, alone, way};
use crate::reference::{Outcome, simulate};
use virtlane::control::erratic::Erratic;
use virtlane::control::{Actions, Algorithm, Arrival, Event, Limit, Payload, Reply, Sender};
use virtlane::ids::ChannelId;
use virtlane::plan::{FlowPlan, Forwarding, OutOfBand, Plan, Scheduler, SwitchOptions};
use virtlane::routing::Tables;
use virtlane::topology::{ChannelTiming, Graph};

const NOTHING: Payload = [0; 4];

/// Machines whose packets carry; they may probe, but never do.
fn machines(seed: u64, replies: u32) -> Erratic {
    Erratic {
        probes: 1,
        carries: true,
        ..erratic(seed, replies)
    }
}

/// One packet from host 0 to host 1, for a flow that starts in this cycle.
fn one_packet(start: u64) -> FlowPlan {
    FlowPlan {
        start,
        flits: Some(4),
        ..flow(0, 1)
    }
}

fn carrying(machines: Erratic, flows: Vec<FlowPlan>, transport: Option<OutOfBand>) -> Plan {
    let mut plan = controlled_by(Algorithm::Erratic(machines), flows, 2);
    plan.classes[0].control.as_mut().expect("control").transport = transport;
    plan
}

/// The sender of a flow of one packet, what its start wants, and the cycle of its timer.
fn started(algorithm: &Algorithm, id: u32, start: u64) -> (Sender, Actions, u64) {
    probes::started(algorithm, id, (start, Some(4)))
}

/// What its timer wants.
fn woken(algorithm: &Algorithm, mut sender: Sender, timer: u64) -> Actions {
    let mut actions = Actions::default();
    algorithm.send(&mut sender, timer, Event::Timer, &mut actions);
    actions
}

/// Whether a flow that has not sent anything may send.
fn lets_go(actions: &Actions) -> bool {
    actions.limit != Some(Limit::Rate(0))
}

/// Machines of so many seeds whose flow may send in 0 when it starts then, and what its start says that packets carry.
fn free(seeds: u64, replies: u32) -> impl Iterator<Item = (Erratic, Algorithm, Option<Payload>)> {
    (0..seeds).filter_map(move |seed| {
        let machines = machines(seed, replies);
        let algorithm = Algorithm::Erratic(machines);
        let (_, actions, _) = started(&algorithm, 0, 0);
        lets_go(&actions).then_some((machines, algorithm, actions.carry))
    })
}

/// Host 0, so many switches, host 1.
struct Row {
    graph: Graph,
    tables: Tables,
    switches: u64,
}

impl Row {
    fn new(switches: u64) -> Self {
        let (graph, tables) = chain(&vec![ChannelTiming::default(); switches as usize + 1]);
        Self {
            graph,
            tables,
            switches,
        }
    }

    fn way(&self, from: u32) -> Vec<ChannelId> {
        way(&self.graph, &self.tables, from)
    }

    fn run(&self, plan: &Plan, cycles: u64) -> Outcome {
        simulate(plan, &self.graph, &self.tables, cycles)
    }

    /// A packet that starts in this cycle goes its way alone and visits; when it is delivered.
    fn go(&self, agents: &mut Agents<'_>, start: u64, payload: &mut Payload) -> u64 {
        let cycles: Vec<u64> = (0..=self.switches)
            .map(|switch| start + 2 * switch)
            .collect();
        agents.take(&self.way(0), &cycles, payload);
        start + 2 * self.switches + 4
    }
}

/// What the receiver of a flow says to its first packet, of network latency `latency`.
fn replied(algorithm: &Algorithm, now: u64, latency: u64, payload: Payload) -> Reply {
    let arrival = Arrival {
        now,
        flits: 4,
        is_marked: false,
        latency,
    };
    let reply = algorithm.carried(&mut algorithm.receiver(), arrival, payload);
    reply.expect("it replies to everything")
}

fn carry(payload: Payload) -> Actions {
    Actions {
        carry: Some(payload),
        ..Actions::default()
    }
}

#[test]
fn what_is_said_counts_from_the_next_cycle_on() {
    let mut flow = blank();
    assert_eq!((flow.carried(0), flow.carried(9)), (NOTHING, NOTHING));
    flow.act(carry([7; 4]), 9);
    assert_eq!((flow.carried(9), flow.carried(10)), (NOTHING, [7; 4]));
    // calls that do not say so change nothing, of two of one cycle that do the later one counts
    flow.act(Actions::default(), 11);
    flow.act(carry([1, 2, 3, 4]), 12);
    flow.act(carry([5, 6, 7, 8]), 12);
    flow.act(Actions::default(), 12);
    assert_eq!((flow.carried(12), flow.carried(13)), ([7; 4], [5, 6, 7, 8]));
    assert_eq!(flow.carried(99), [5, 6, 7, 8]);
}

/// One packet over three switches, which starts in 0 and so carries zeros, or what the start of the sender has said: visits in 0,
/// 2, 4 and 6, and nobody replies.
#[test]
fn a_packet_visits_where_it_starts_and_is_granted() {
    let row = Row::new(3);
    let out = row.way(0);
    let mut carried = [0, 0];
    for (machines, algorithm, said) in free(60, 0) {
        carried[usize::from(said.is_some())] += 1;
        for transport in TRANSPORTS {
            let plan = carrying(machines, vec![one_packet(0)], transport);
            let mut agents = Agents::new(&algorithm, &row.graph);
            let mut payload = said.unwrap_or(NOTHING);
            for (step, &channel) in (0..).zip(&out) {
                agents.check(&row.run(&plan, 2 * step));
                agents.visit(channel, 2 * step, &mut payload);
                agents.check(&row.run(&plan, 2 * step + 1));
            }
            let outcome = row.run(&plan, 200);
            agents.check(&outcome);
            let delivered = outcome.deliveries.iter().map(|d| (d.injected, d.delivered));
            assert_eq!(delivered.collect::<Vec<_>>(), [(0, 10)]);
            assert_eq!((outcome.flows[0].answered, outcome.created), (0, 1));
        }
    }
    assert!(carried.iter().all(|&cases| cases > 10), "{carried:?}");
}

/// A packet that starts in the cycle of a call that says what is carried does not carry it, one that starts in the next cycle does.
#[test]
fn a_packet_carries_what_was_said_before_its_start() {
    let row = Row::new(1);
    let mut cases = [0, 0];
    for seed in 0..400 {
        let machines = machines(seed, 0);
        let algorithm = Algorithm::Erratic(machines);
        for start in 1..22 {
            let (sender, actions, timer) = started(&algorithm, 0, start);
            let is_later = start == timer + 1;
            if !(is_later || start == timer) || !lets_go(&actions) {
                continue;
            }
            let next = woken(&algorithm, sender, timer);
            let Some(said) = next.carry.filter(|_| lets_go(&next)) else {
                continue;
            };
            cases[usize::from(is_later)] += 1;
            let before = actions.carry.unwrap_or(NOTHING);
            let mut payload = if is_later { said } else { before };
            let mut agents = Agents::new(&algorithm, &row.graph);
            row.go(&mut agents, start, &mut payload);
            let plan = carrying(machines, vec![one_packet(start)], None);
            agents.check(&row.run(&plan, start + 20));
        }
    }
    assert!(cases.iter().all(|&cases| cases > 20), "{cases:?}");
}

/// The packet that starts in 0 is delivered over three switches in 10. The receiver is told what all visits have made of its
/// payload, and replies, and the reply visits on its way back or not; no answer is made.
#[test]
fn receivers_are_told_what_visits_have_left_and_reply() {
    let row = Row::new(3);
    let mut visiting = [0, 0];
    for (machines, algorithm, said) in free(60, 100) {
        for transport in TRANSPORTS {
            let mut agents = Agents::new(&algorithm, &row.graph);
            let mut payload = said.unwrap_or(NOTHING);
            let delivered = row.go(&mut agents, 0, &mut payload);
            let mut reply = replied(&algorithm, delivered, delivered, payload);
            let made = delivered + reply.after;
            let (cycles, returned) = alone(transport, reply.visits, row.switches, made);
            if reply.visits {
                agents.take(&row.way(1), &cycles, &mut reply.payload);
            }
            visiting[usize::from(reply.visits)] += 1;
            let plan = carrying(machines, vec![one_packet(0)], transport);
            assert_eq!(row.run(&plan, returned).flows[0].answered, 0);
            let outcome = row.run(&plan, returned + 1);
            assert_eq!(outcome.flows[0].answered, 1);
            agents.check(&outcome);
            let replies = outcome.deliveries.iter().filter(|d| d.class == 1);
            let replies: Vec<(u64, u64)> = replies.map(|d| (d.created, d.delivered)).collect();
            match transport {
                None => assert_eq!(replies, [(made, returned)]),
                Some(_) => assert_eq!(replies, []),
            }
        }
    }
    assert!(visiting.iter().all(|&cases| cases > 10), "{visiting:?}");
}

/// Both packets enter a bucket in 0, that of flow 1 starts behind the other in 4: what its sender has said by 3 is what it carries.
#[test]
fn a_packet_takes_up_what_it_carries_when_it_starts_not_when_it_enters() {
    let row = Row::new(3);
    let mut met = 0;
    for seed in 0..1_000 {
        let machines = Erratic {
            delays: false,
            ..machines(seed, 0)
        };
        let algorithm = Algorithm::Erratic(machines);
        let (_, first, _) = started(&algorithm, 0, 0);
        let (sender, second, timer) = started(&algorithm, 1, 0);
        if timer > 3 || !lets_go(&first) {
            continue;
        }
        let next = woken(&algorithm, sender, timer);
        let is_alone = next.timer.flatten().is_none_or(|cycle| cycle > 3);
        let Some(said) = next.carry.filter(|_| is_alone) else {
            continue;
        };
        assert!(lets_go(&second), "both have one start");
        met += 1;
        let mut agents = Agents::new(&algorithm, &row.graph);
        row.go(&mut agents, 0, &mut first.carry.unwrap_or(NOTHING));
        row.go(&mut agents, 4, &mut said.clone());
        let mut plan = carrying(machines, vec![one_packet(0), one_packet(0)], None);
        plan.host.scheduler = Scheduler::LeakyBucket;
        let outcome = row.run(&plan, 30);
        let starts = outcome.deliveries.iter().map(|d| (d.created, d.injected));
        assert_eq!(starts.collect::<Vec<_>>(), [(0, 0), (0, 4)]);
        agents.check(&outcome);
    }
    assert!(met > 10, "{met}");
}

/// Lanes of one flit: flits start in 0, 3, 5 and 7, and the header leaves the switch in 2, long before the last one has started.
#[test]
fn single_flits_visit_with_the_first_one() {
    let row = Row::new(1);
    let mut met = 0;
    for (machines, algorithm, said) in free(60, 100) {
        let mut agents = Agents::new(&algorithm, &row.graph);
        let mut payload = said.unwrap_or(NOTHING);
        let mut plan = carrying(machines, vec![one_packet(0)], None);
        plan.switch = SwitchOptions {
            lane_capacity: 1,
            forwarding: Forwarding::Wormhole,
            ..SwitchOptions::default()
        };
        for (now, channel) in [0, 2].into_iter().zip(row.way(0)) {
            agents.check(&row.run(&plan, now));
            agents.visit(channel, now, &mut payload);
            agents.check(&row.run(&plan, now + 1));
        }
        // delivered in 9, whole: its receiver is told then, and replies in packets that visit nothing, or later
        let reply = replied(&algorithm, 9, 9, payload);
        let made = |cycles| {
            let outcome = row.run(&plan, cycles);
            outcome.created - 1
        };
        let at = 9 + reply.after;
        assert_eq!((made(at), made(at + 1)), (0, 1));
        agents.check(&row.run(&plan, at));
        met += 1;
    }
    assert!(met > 20, "{met}");
}
