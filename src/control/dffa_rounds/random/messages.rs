//! The machines of a case, between them channels that keep the order of what they bring and take any time. Control packets
//! and copies of broadcasts overtake each other (D68: copies wait at inputs); replies overtake everything.

use super::lemmas::Known;
use super::network::{Case, PACKET};
use crate::control::dffa_rounds::{
    ANNOUNCE, BITS, Channel, DffaRounds, Filler, INACTIVE, Progress, Round, is_later, unpacked,
};
use crate::control::{
    Actions, Elements, Event, Limit, Line, Machines, Payload, Probing, WHOLE_LINK, probe::Place,
};
use crate::rng::{Purpose, Stream, below, stream};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// More things than happen in any case: some flow asks for ever.
const MOST: u64 = 1_000_000;

/// A control packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Packet {
    pub(super) flow: usize,
    /// How many wires of its way are behind it.
    place: usize,
    /// When it was sent.
    sent: u64,
    /// Number of the last change when it was sent: of its own if it is an announcement.
    change: usize,
    pub(super) payload: Payload,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A packet of a flow starts.
    Starts(usize),
    /// The timer of a flow.
    Rings(usize),
    /// The senders of a host learn what its element says.
    Tells(usize),
    /// Visits the wire before it.
    Leaves(Packet),
    /// At the far end of the wire.
    Reaches(Packet),
    /// A reply is back.
    Returns(Packet),
    /// A copy came by a wire: the word, and the change that it is of.
    IsHeard(usize, u32, usize),
}

/// When the last one left a wire by its near end, reached the far end, and was heard there.
#[derive(Clone, Copy, Default)]
struct Last {
    left: u64,
    reached: u64,
    heard: u64,
}

pub(super) struct Messages<'a> {
    pub(super) case: &'a Case,
    own: DffaRounds,
    /// Round of all elements at first.
    first: u16,
    rng: Stream,
    pub(super) now: u64,
    made: u64,
    ahead: BinaryHeap<Reverse<(u64, u64, What)>>,
    pub(super) senders: Vec<Filler>,
    timers: Vec<Option<u64>>,
    pub(super) limits: Vec<Option<Limit>>,
    pub(super) channels: Vec<Channel>,
    pub(super) elements: Vec<Round>,
    said: Vec<u32>,
    last: Vec<Last>,
    known: Vec<Known>,
    /// How often a change has raised the round of an element, `[change][element]`.
    pub(super) raised: Vec<Vec<u8>>,
    /// Largest time of a packet there and back, or to the end, since it was set to 0.
    pub(super) round_trip: u64,
    /// When the round of an element changed last.
    pub(super) agreed: u64,
    /// When a flow became final last.
    pub(super) done: u64,
}

impl<'a> Messages<'a> {
    /// Some begin shortly before rounds wrap.
    pub(super) fn new(case: &'a Case, hold: bool, seed: u64) -> Self {
        let own = DffaRounds {
            hold,
            link: WHOLE_LINK,
        };
        let first = if seed.is_multiple_of(4) { 0xfffe } else { 0 };
        let elements = (0..case.elements).map(|element| Round {
            now: first,
            ..own.element(element >= case.switches)
        });
        let elements: Vec<Round> = elements.collect();
        let channels = case.wires.iter().map(|wire| {
            own.agent(Place {
                pace: wire.pace,
                drain: wire.pace,
                from_host: wire.from >= case.switches,
                to_host: wire.to >= case.switches,
            })
        });
        let mut all = Self {
            case,
            first,
            rng: stream(seed, Purpose::Arrivals, 1 << 40),
            now: 0,
            made: 0,
            ahead: BinaryHeap::new(),
            senders: Vec::new(),
            timers: vec![None; case.flows.len()],
            limits: vec![None; case.flows.len()],
            channels: channels.collect(),
            said: elements.iter().map(|element| own.says(element)).collect(),
            elements,
            last: vec![Last::default(); case.wires.len()],
            known: vec![Known::new(case.flows.len()); case.wires.len()],
            raised: Vec::new(),
            round_trip: 0,
            agreed: 0,
            done: 0,
            own,
        };
        for flow in 0..case.flows.len() {
            all.begin(flow);
        }
        all
    }

    fn begin(&mut self, flow: usize) {
        let plan = &self.case.flows[flow];
        let mut actions = Actions::default();
        let line = Line {
            pace: self.case.wires[plan.way[0]].pace,
            largest: PACKET,
        };
        let mut sender = self.own.start(line, &mut actions);
        self.own.begin(&mut sender, plan.facts, &mut actions);
        sender.round = self.first;
        self.senders.push(sender);
        self.act(flow, actions);
    }

    /// By how much a round is later than the first.
    pub(super) fn rounds(&self, round: u16) -> usize {
        round.wrapping_sub(self.first).into()
    }

    /// A packet of a flow starts in a later cycle.
    pub(super) fn start(&mut self, flow: usize, at: u64) {
        self.push(at, What::Starts(flow));
    }

    /// Until nothing is under way.
    pub(super) fn run(&mut self) {
        while let Some(Reverse((now, _, what))) = self.ahead.pop() {
            self.now = now;
            self.step(what);
        }
    }

    fn push(&mut self, at: u64, what: What) {
        self.ahead.push(Reverse((at, self.made, what)));
        self.made += 1;
        assert!(self.made < MOST, "it comes to an end");
    }

    fn delay(&mut self, longest: u32) -> u64 {
        below(&mut self.rng, longest + 1).into()
    }

    fn step(&mut self, what: What) {
        match what {
            What::Starts(flow) => self.call(flow, Event::Started(PACKET)),
            What::Rings(flow) => {
                if self.timers[flow] == Some(self.now) {
                    self.timers[flow] = None;
                    self.call(flow, Event::Timer);
                }
            }
            What::Tells(host) => self.tell(host),
            What::Leaves(packet) => self.leave(packet),
            What::Reaches(packet) => self.reach(packet),
            What::Returns(packet) => {
                self.round_trip = self.round_trip.max(self.now - packet.sent);
                let mut actions = Actions::default();
                let sender = &mut self.senders[packet.flow];
                let was_done = sender.progress == Progress::IsDone;
                self.own
                    .returned(sender, self.now, packet.payload, &mut actions);
                if sender.progress == Progress::IsDone && !was_done {
                    self.done = self.now;
                }
                self.act(packet.flow, actions);
            }
            What::IsHeard(wire, word, change) => {
                let element = self.case.wires[wire].to;
                let before = self.elements[element];
                if self.own.hear(&mut self.elements[element], self.now, word) {
                    assert!(element < self.case.switches, "hosts send nothing on");
                    self.send_on(element, Some(wire), word, change);
                }
                self.compare(element, before, change);
            }
        }
    }

    fn call(&mut self, flow: usize, event: Event) {
        let mut actions = Actions::default();
        self.own
            .send(&mut self.senders[flow], self.now, event, &mut actions);
        self.act(flow, actions);
    }

    fn act(&mut self, flow: usize, actions: Actions) {
        self.limits[flow] = actions.limit.or(self.limits[flow]);
        if let Some(timer) = actions.timer {
            self.timers[flow] = timer;
            if let Some(at) = timer {
                assert!(at > self.now, "timers are ahead");
                self.push(at, What::Rings(flow));
            }
        }
        if let Some(probe) = actions.send {
            let [what, ..] = unpacked(probe.payload, BITS);
            if what == ANNOUNCE {
                self.raised.push(vec![0; self.case.elements]);
            }
            let packet = Packet {
                flow,
                place: 0,
                sent: self.now,
                change: self.raised.len().saturating_sub(1),
                payload: probe.payload,
            };
            // all are created in the cycle after, so in order
            assert_eq!(probe.after, 1);
            self.queue(packet, self.now + 1);
        }
    }

    /// Joins the queue of the next wire of its way.
    fn queue(&mut self, packet: Packet, at: u64) {
        let wire = self.case.flows[packet.flow].way[packet.place];
        let at = at + self.delay(self.case.wires[wire].longest);
        let left = &mut self.last[wire].left;
        *left = at.max(*left);
        let at = *left;
        self.push(at, What::Leaves(packet));
    }

    fn leave(&mut self, mut packet: Packet) {
        let wire = self.case.flows[packet.flow].way[packet.place];
        let element = self.case.wires[wire].from;
        let before = (self.channels[wire], self.elements[element]);
        let payload = packet.payload;
        let (channel, round) = (&mut self.channels[wire], &mut self.elements[element]);
        self.own.pass(channel, round, self.now, &mut packet.payload);
        let after = (*channel, *round);
        let senders = self.senders.iter().zip(&self.case.flows);
        let weights = senders.map(|(sender, plan)| (*sender, u64::from(plan.facts.weight)));
        let packets = (packet.flow, payload, packet.payload);
        self.known[wire].follow(weights, packets, before, after);
        self.compare(element, before.1, packet.change);
        packet.place += 1;
        let at = self.now + self.delay(self.case.wires[wire].longest);
        let reached = &mut self.last[wire].reached;
        *reached = at.max(*reached);
        let at = *reached;
        self.push(at, What::Reaches(packet));
    }

    fn reach(&mut self, mut packet: Packet) {
        let way = &self.case.flows[packet.flow].way;
        if packet.place < way.len() {
            self.queue(packet, self.now);
            return;
        }
        let element = self.case.wires[way[packet.place - 1]].to;
        let before = self.elements[element];
        let payload = packet.payload;
        let word = self
            .own
            .arrive(&mut self.elements[element], self.now, payload);
        if let Some(word) = word {
            self.send_on(element, None, word, packet.change);
        }
        self.compare(element, before, packet.change);
        let [what, ..] = unpacked(payload, BITS);
        if what == INACTIVE {
            self.round_trip = self.round_trip.max(self.now - packet.sent);
        }
        if let Some(reply) = self.own.received(&mut (), self.now, payload) {
            assert!(!reply.visits);
            packet.payload = reply.payload;
            let at = self.now + reply.after + self.delay(100);
            self.push(at, What::Returns(packet));
        }
    }

    /// Copies over all wires but the one that it came by.
    fn send_on(&mut self, element: usize, came_by: Option<usize>, word: u32, change: usize) {
        for wire in 0..self.case.wires.len() {
            let there = &self.case.wires[wire];
            if there.from == element && came_by != Some(wire ^ 1) {
                let at = self.now + 1 + self.delay(there.longest);
                let heard = &mut self.last[wire].heard;
                *heard = at.max(*heard);
                let at = *heard;
                self.push(at, What::IsHeard(wire, word, change));
            }
        }
    }

    /// An element may have another round.
    fn compare(&mut self, element: usize, before: Round, change: usize) {
        let now = self.elements[element].now;
        if now == before.now {
            return;
        }
        assert!(is_later(now, before.now), "rounds only rise");
        self.raised[change][element] += 1;
        self.agreed = self.now;
        if element >= self.case.switches {
            self.push(self.now, What::Tells(element));
        }
    }

    fn tell(&mut self, host: usize) {
        let word = self.own.says(&self.elements[host]);
        if word != self.said[host] {
            self.said[host] = word;
            for flow in 0..self.case.flows.len() {
                if self.case.source(flow) == host {
                    self.call(flow, Event::Told(word));
                }
            }
        }
    }
}
