//! A network of machines: agents of links, senders of flows, and control packets that take any time from one to the next.

use crate::random_fabric::Dice;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use virtlane::control::probe::{Place, Probe};
use virtlane::control::{
    ALGORITHMS, Actions, Agent, Algorithm, Arrival, ControlContext, Event, Facts, Limit, Line,
    Payload, Sender, WHOLE_LINK,
};
use virtlane::fluid::network::{Builder, Network};
use virtlane::registry::Arguments;
use virtlane::rng::{Purpose, stream};
use virtlane::units::Clock;

/// A flow of a random network.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) weight: u16,
    pub(super) route: Vec<usize>,
    /// Cycle of its first packet.
    pub(super) start: u64,
    /// Cycle in which it stops.
    pub(super) stop: Option<u64>,
    /// What it sends in all \[flits\].
    pub(super) flits: Option<u64>,
}

/// Links and flows.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// Cycles per flit of the links.
    pub(super) paces: Vec<u16>,
    pub(super) flows: Vec<Flow>,
    /// Longest time from one link to the next.
    pub(super) longest: u32,
    pub(super) seed: u64,
}

impl Case {
    /// Up to 12 links and 14 flows.
    pub(super) fn random(seed: u64) -> Self {
        let mut dice = Dice(stream(seed, Purpose::Topology, 1 << 50));
        let links = dice.between(1, 12);
        let paces = (0..links).map(|_| dice.pick(&[1, 1, 1, 2, 3]));
        let paces = paces.collect();
        let heaviest = dice.pick(&[1, 3, 8, 1000]);
        let flows = (0..dice.between(1, 14)).map(|_| {
            let mut route = Vec::new();
            for _ in 0..dice.between(1, 5) {
                let link = dice.between(0, links - 1) as usize;
                if !route.contains(&link) {
                    route.push(link);
                }
            }
            Flow {
                weight: dice.between(1, heaviest) as u16,
                route,
                start: 0,
                stop: None,
                flits: None,
            }
        });
        Self {
            flows: flows.collect(),
            paces,
            longest: dice.pick(&[1, 5, 40]),
            seed,
        }
    }

    /// Up to 14 flows along a row of 12 links, of one to three each.
    pub(super) fn chain(seed: u64) -> Self {
        let mut case = Self::random(seed);
        let mut dice = Dice(stream(seed, Purpose::Topology, 1 << 54));
        case.paces = (0..12).map(|_| dice.pick(&[1, 1, 1, 2, 3])).collect();
        case.flows.resize(14, case.flows[0].clone());
        for flow in &mut case.flows {
            let (first, links) = (dice.between(0, 9) as usize, dice.between(1, 3) as usize);
            flow.weight = dice.between(1, 8) as u16;
            flow.route = (first..first + links).collect();
        }
        case
    }

    /// Its network for the solvers: links of so many parts, flows that have not ended.
    pub(super) fn fluid(&self, unit: u64) -> Network {
        let links = self.paces.iter();
        let links = links.map(|&pace| u128::from(unit / u64::from(pace)));
        let mut network = Builder::new(links.collect());
        for flow in self.staying() {
            let flow = &self.flows[flow];
            let weight = flow.flits.unwrap_or(flow.weight.into());
            network.flow(weight, 0, flow.route.iter().map(|&link| link as u32));
        }
        network.build()
    }

    /// Flows that do not stop.
    pub(super) fn staying(&self) -> Vec<usize> {
        let flows = 0..self.flows.len();
        let stays = |&flow: &usize| self.flows[flow].stop.is_none();
        flows.filter(stays).collect()
    }

    /// More than any control packet takes there and back.
    pub(super) fn round_trip(&self) -> u64 {
        let hops = self.flows.iter().map(|flow| flow.route.len() as u64 + 2);
        hops.max().unwrap_or(0) * u64::from(self.longest) + 2
    }

    /// Flows by how many shared links they are away from one: itself, 1, 2, ...; none where they are not.
    pub(super) fn distances(&self, from: usize) -> Vec<Option<u32>> {
        let mut all = vec![None; self.flows.len()];
        all[from] = Some(0);
        for distance in 0.. {
            let near: Vec<usize> = (0..all.len())
                .filter(|&flow| all[flow] == Some(distance))
                .collect();
            if near.is_empty() {
                break;
            }
            let is_next = |flow: &usize| {
                let shares = |&other: &usize| {
                    let mut links = self.flows[other].route.iter();
                    links.any(|link| self.flows[*flow].route.contains(link))
                };
                all[*flow].is_none() && near.iter().any(shares)
            };
            let next: Vec<usize> = (0..all.len()).filter(is_next).collect();
            for flow in next {
                all[flow] = Some(distance + 1);
            }
        }
        all
    }
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// A packet of a flow starts.
    Start(u16),
    /// The timer of a flow.
    Timer,
    /// A packet of a flow takes the link of this place of its route.
    Visit(usize, Payload),
    /// A reply is back.
    Back(Payload),
    /// A packet of data starts that carries what its flow lays.
    Laden,
    /// It takes the link of this place of the route.
    Pass(usize, Payload),
}

/// A rate that was set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changed {
    pub(super) cycle: u64,
    pub(super) flow: usize,
    /// Limit before and after \[2^-32 flits per cycle\].
    pub(super) from: Option<u64>,
    pub(super) to: u64,
}

/// The machines of a case at work.
pub(super) struct Machines<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) case: &'a Case,
    pub(super) agents: Vec<Agent>,
    pub(super) senders: Vec<Sender>,
    pub(super) now: u64,
    /// Control packets of each flow.
    pub(super) sent: Vec<u64>,
    /// Limits of each flow \[2^-32 flits per cycle\].
    pub(super) limits: Vec<Option<u64>>,
    /// What packets of data of each flow carry.
    laid: Vec<Payload>,
    /// What packets of data carried that have come, and whether there was a reply.
    pub(super) told: Vec<(Payload, bool)>,
    /// Events that senders logged.
    pub(super) changes: Vec<Changed>,
    timers: Vec<Option<u64>>,
    queue: BinaryHeap<Reverse<(u64, u64, usize, What)>>,
    number: u64,
    dice: Dice,
}

/// An algorithm as scenarios write it, with a cycle of 1 ns.
pub(super) fn algorithm(text: &str) -> Algorithm {
    let (name, arguments) = text.split_at(text.find('(').expect("arguments"));
    let context = ControlContext {
        clock: Clock {
            flit_bytes: 64,
            reference_rate: 512_000_000_000,
        },
        smallest: 1,
        largest: 1,
        answer: 1,
        peak: None,
        link: WHOLE_LINK,
    };
    let build = ALGORITHMS.lookup(name).expect("its name").build;
    build(Arguments { text: arguments }, context).expect("it is right")
}

impl<'a> Machines<'a> {
    pub(super) fn new(text: &str, case: &'a Case) -> Self {
        let algorithm = algorithm(text);
        let places = case.paces.iter().map(|&pace| Place {
            pace,
            drain: pace,
            from_host: false,
            to_host: false,
        });
        let agents = places.map(|place| algorithm.agent(place).expect("it probes"));
        let mut own = Self {
            agents: agents.collect(),
            senders: Vec::new(),
            now: 0,
            sent: vec![0; case.flows.len()],
            limits: vec![None; case.flows.len()],
            laid: vec![Payload::default(); case.flows.len()],
            told: Vec::new(),
            changes: Vec::new(),
            timers: vec![None; case.flows.len()],
            queue: BinaryHeap::new(),
            number: 0,
            dice: Dice(stream(case.seed, Purpose::Topology, 1 << 51)),
            algorithm,
            case,
        };
        for (id, flow) in case.flows.iter().enumerate() {
            let mut actions = Actions::default();
            let line = Line {
                pace: 1,
                largest: 1,
            };
            let mut sender = own.algorithm.start(line, &mut actions);
            let facts = Facts {
                id: id as u32,
                start: flow.start,
                stop: flow.stop,
                flits: flow.flits,
                weight: flow.weight,
            };
            own.algorithm.begin(&mut sender, facts, &mut actions);
            own.senders.push(sender);
            own.act(id, actions);
            own.post(flow.start, id, What::Start(1));
        }
        own
    }

    /// Something that is to happen.
    pub(super) fn post(&mut self, cycle: u64, flow: usize, what: What) {
        self.number += 1;
        self.queue.push(Reverse((cycle, self.number, flow, what)));
    }

    /// The next thing that happens, if that is not after a cycle: the flow and what it was.
    pub(super) fn step(&mut self, until: u64) -> Option<(usize, What)> {
        let Reverse((cycle, _, _, _)) = self.queue.peek()?;
        if *cycle > until {
            return None;
        }
        let Reverse((cycle, _, flow, what)) = self.queue.pop()?;
        self.now = cycle;
        let mut actions = Actions::default();
        let sender = &mut self.senders[flow];
        match what.clone() {
            What::Start(flits) => {
                let event = Event::Started(flits);
                self.algorithm.send(sender, cycle, event, &mut actions);
            }
            What::Timer => {
                if self.timers[flow] == Some(cycle) {
                    self.timers[flow] = None;
                    let event = Event::Timer;
                    self.algorithm.send(sender, cycle, event, &mut actions);
                }
            }
            What::Back(payload) => {
                self.algorithm
                    .returned(sender, cycle, payload, &mut actions);
            }
            What::Visit(place, mut payload) => {
                let route = &self.case.flows[flow].route;
                let agent = &mut self.agents[route[place]];
                self.algorithm.visit(agent, cycle, &mut payload);
                if place + 1 < route.len() {
                    self.travel(flow, What::Visit(place + 1, payload));
                } else {
                    let receiver = &mut self.algorithm.receiver();
                    let reply = self.algorithm.received(receiver, cycle, payload);
                    if let Some(reply) = reply {
                        self.travel(flow, What::Back(reply.payload));
                    }
                }
            }
            What::Laden => self.travel(flow, What::Pass(0, self.laid[flow])),
            What::Pass(place, payload) => self.pass(flow, place, payload),
        }
        self.act(flow, actions);
        Some((flow, what))
    }

    /// A packet of data takes a link.
    fn pass(&mut self, flow: usize, place: usize, mut payload: Payload) {
        let route = &self.case.flows[flow].route;
        let agent = &mut self.agents[route[place]];
        self.algorithm.visit(agent, self.now, &mut payload);
        if place + 1 < route.len() {
            return self.travel(flow, What::Pass(place + 1, payload));
        }
        let arrival = Arrival {
            now: self.now,
            flits: 1,
            is_marked: false,
            latency: 1,
        };
        let receiver = &mut self.algorithm.receiver();
        let reply = self.algorithm.carried(receiver, arrival, payload);
        self.told.push((payload, reply.is_some()));
        if let Some(reply) = reply {
            self.travel(flow, What::Back(reply.payload));
        }
    }

    /// Everything up to a cycle, that included.
    pub(super) fn run(&mut self, until: u64) {
        while self.step(until).is_some() {}
        self.now = until;
    }

    fn travel(&mut self, flow: usize, what: What) {
        let takes = self.dice.between(1, self.case.longest);
        self.post(self.now + u64::from(takes), flow, what);
    }

    fn act(&mut self, flow: usize, actions: Actions) {
        let from = self.limits[flow];
        if let Some(limit) = actions.limit {
            self.limits[flow] = match limit {
                Limit::Rate(rate) => Some(rate),
                _ => None,
            };
        }
        if let Some(timer) = actions.timer {
            self.timers[flow] = timer;
            if let Some(at) = timer {
                self.post(at, flow, What::Timer);
            }
        }
        if actions.log {
            self.changes.push(Changed {
                cycle: self.now,
                flow,
                from,
                to: self.limits[flow].expect("a rate"),
            });
        }
        if let Some(payload) = actions.carry {
            self.laid[flow] = payload;
        }
        if let Some(Probe { payload, after }) = actions.send {
            assert_eq!(after, 1);
            self.sent[flow] += 1;
            self.travel(flow, What::Visit(0, payload));
        }
    }
}
