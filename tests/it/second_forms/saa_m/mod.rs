//! SAA-M: claims of flows on links. Control packets take any time from link to link, so claims meet in any order.

mod plain;

use super::{Dice, cases, control_of};
use plain::{Channel, Flow, Says, Wake};
use std::collections::{BTreeSet, HashMap};
use virtlane::control::probe::Place;
use virtlane::control::{
    Actions, Agent, Algorithm, Event, Facts, Limit, Line, ONE_FLIT_PER_CYCLE, Payload, Receiver,
    Sender, WHOLE_LINK,
};

/// A control packet in both forms.
struct Packet {
    says: Says,
    payload: Payload,
    /// Links passed, of those of the route.
    passed: usize,
    is_back: bool,
}

/// A flow in both forms.
struct Pair {
    id: u32,
    start: u64,
    route: Vec<usize>,
    /// Chance that its packet moves in a cycle [%].
    pace: u64,
    flow: Flow,
    sender: Sender,
    receiver: Receiver,
    limit: Option<Limit>,
    timer: Option<u64>,
    packet: Option<Packet>,
}

/// What has happened in all cases.
#[derive(Debug, Default)]
struct Seen {
    gained: u64,
    refused: u64,
    raised: u64,
    cut: u64,
    /// Shares of links that are nothing.
    nothing: u64,
    /// Flows that ended with such a packet under way: announcement, reservation granted, refused, other.
    ended: [u64; 4],
    /// Random times by the longest, flow, and number of the refusal.
    times: HashMap<(u64, u32, u64), u64>,
}

impl Seen {
    fn count(&mut self, flow: &Flow, says: Says, then: Option<Says>) {
        if flow.is_over {
            let place = match says {
                Says::Announce { .. } => 0,
                Says::Reserve { granted, .. } => 2 - usize::from(granted),
                _ => 3,
            };
            self.ended[place] += 1;
            return;
        }
        match (says, then) {
            (Says::Reserve { granted, .. }, _) if granted => self.gained += 1,
            (Says::Reserve { .. }, _) => self.refused += 1,
            (Says::Announce { .. }, Some(Says::Look { .. })) => self.nothing += 1,
            (Says::Look { .. }, Some(Says::Tell { more, .. })) if more > 0 => self.raised += 1,
            (Says::Look { .. }, Some(Says::Tell { .. })) => self.cut += 1,
            _ => {}
        }
    }
}

/// A case: links and flows.
struct Both {
    name: String,
    algorithm: Algorithm,
    longest: u64,
    channels: Vec<(Channel, Agent)>,
    pairs: Vec<Pair>,
}

impl Both {
    fn new(case: u64, dice: &mut Dice) -> Self {
        let (period, longest) = (
            dice.between(1, 60),
            [1, 3, 20, 80][dice.between(0, 3) as usize],
        );
        let is_random = dice.chance(60);
        let text = format!(
            "period: \"{period} cycles\", back_off: \"{longest} cycles\", random: {is_random}"
        );
        let part = if dice.chance(50) {
            WHOLE_LINK
        } else {
            dice.between(1, u64::from(WHOLE_LINK)) as u32
        };
        let largest = dice.between(1, 12) as u16;
        let algorithm = control_of("SaaM", &text, largest, part);
        let whole = u128::from(ONE_FLIT_PER_CYCLE) * u128::from(part) / u128::from(WHOLE_LINK);
        let slowest = [3, 3, 65_535][dice.between(0, 2) as usize];
        let channels = (0..dice.between(1, 6)).map(|_| {
            let channel = Channel::draw(slowest, whole, dice);
            let place = Place {
                pace: dice.between(1, channel.drain.into()) as u16,
                drain: channel.drain,
                from_host: dice.chance(50),
                to_host: dice.chance(50),
            };
            (channel, algorithm.agent(place).expect("it has agents"))
        });
        let channels: Vec<_> = channels.collect();
        let heaviest = [1, 3, 1000, 65_535][dice.between(0, 3) as usize];
        let pairs = (0..dice.between(1, 9)).map(|_| {
            let mut flow = Flow::draw(heaviest, whole, dice);
            flow.period = period;
            flow.back_off = (!is_random).then_some(longest);
            flow.slowest = 2 * u64::from(largest) + 1;
            Pair::new(&algorithm, largest, flow, channels.len(), dice)
        });
        Self {
            name: format!("case {case}: {text}, {part} of a link"),
            longest,
            pairs: pairs.collect(),
            channels,
            algorithm,
        }
    }

    /// Packets take a link each, in any order.
    fn visit(&mut self, now: u64, dice: &mut Dice) {
        let mut order: Vec<usize> = (0..self.pairs.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, dice.between(0, last as u64) as usize);
        }
        for flow in order {
            let pair = &mut self.pairs[flow];
            let Some(packet) = pair.packet.as_mut().filter(|packet| !packet.is_back) else {
                continue;
            };
            let Some(&number) = pair.route.get(packet.passed) else {
                continue;
            };
            if !dice.chance(pair.pace) {
                continue;
            }
            let (channel, agent) = &mut self.channels[number];
            channel.pass(&mut packet.says);
            (self.algorithm).visit(agent, now, &mut packet.payload);
            packet.passed += 1;
            let Agent::SaaM(link) = agent else {
                panic!("{agent:?}")
            };
            let found = (
                link.weight,
                i128::from(link.free),
                i128::from(link.reserved),
            );
            assert_eq!(
                found,
                channel.sums(),
                "{}, cycle {now}, flow {flow}, link {number}: {:?}",
                self.name,
                packet.says
            );
        }
    }

    /// What flows are told, in the order of D41.
    fn notify(&mut self, now: u64, dice: &mut Dice, seen: &mut Seen) {
        for pair in &mut self.pairs {
            pair.deliver(&self.algorithm, now, dice);
            let mut calls = Vec::new();
            let is_free = pair.limit != Some(Limit::Rate(0)) && pair.flow.left != Some(0);
            if is_free && now >= pair.start && dice.chance(20) {
                calls.push(Call::Started(dice.between(1, 12) as u16));
            }
            let is_here = pair.packet.as_ref().is_some_and(|packet| packet.is_back);
            if is_here && dice.chance(pair.pace) {
                calls.push(Call::Returned);
            }
            calls.push(Call::Timer);
            for call in calls {
                if call == Call::Timer && pair.timer != Some(now) {
                    continue;
                }
                let name = format!("{}, cycle {now}, flow {}: {call:?}", self.name, pair.id);
                pair.call(&self.algorithm, now, call, &name, seen);
                pair.learn_time(now, self.longest, &name, seen);
                assert_eq!(pair.timer, pair.flow.next(), "{name}");
            }
        }
    }
}

/// What a flow is called with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Started(u16),
    Returned,
    Timer,
}

impl Pair {
    fn new(algorithm: &Algorithm, largest: u16, flow: Flow, links: usize, dice: &mut Dice) -> Self {
        let mut actions = Actions::default();
        let mut sender = algorithm.start(Line { pace: 1, largest }, &mut actions);
        let (id, start) = (dice.between(0, 40) as u32, dice.between(0, 300));
        let facts = Facts {
            id,
            start,
            stop: flow.stop,
            flits: flow.left,
            weight: flow.weight as u16,
        };
        algorithm.begin(&mut sender, facts, &mut actions);
        let timer = actions.timer.flatten();
        assert_eq!((actions.limit, timer), (flow.limit(), flow.next()));
        let mut route: Vec<usize> = Vec::new();
        for _ in 0..dice.between(1, 5) {
            let link = dice.between(0, links as u64 - 1) as usize;
            if !route.contains(&link) {
                route.push(link);
            }
        }
        Self {
            id,
            start,
            route,
            pace: [100, 60, 30, 5][dice.between(0, 3) as usize],
            flow,
            sender,
            receiver: algorithm.receiver(),
            limit: actions.limit,
            timer,
            packet: None,
        }
    }

    /// A packet that has passed all links is delivered, and comes back if it is to.
    fn deliver(&mut self, algorithm: &Algorithm, now: u64, dice: &mut Dice) {
        let is_there = |packet: &Packet| !packet.is_back && packet.passed == self.route.len();
        if !self.packet.as_ref().is_some_and(is_there) || !dice.chance(self.pace) {
            return;
        }
        let packet = self.packet.as_mut().expect("it is there");
        let reply = algorithm.received(&mut self.receiver, now, packet.payload);
        let returns = !matches!(packet.says, Says::End { .. });
        assert_eq!(reply.is_some(), returns, "{:?}", packet.says);
        match reply {
            Some(reply) => {
                assert_eq!((reply.after, reply.visits), (1, false));
                (packet.payload, packet.is_back) = (reply.payload, true);
            }
            None => self.packet = None,
        }
    }

    fn call(&mut self, algorithm: &Algorithm, now: u64, call: Call, name: &str, seen: &mut Seen) {
        let mut actions = Actions::default();
        let known = self.flow.rate;
        let sender = &mut self.sender;
        let says = match call {
            Call::Started(flits) => {
                algorithm.send(sender, now, Event::Started(flits), &mut actions);
                self.flow.started(flits.into())
            }
            Call::Timer => {
                self.timer = None;
                algorithm.send(sender, now, Event::Timer, &mut actions);
                self.flow.timer(now)
            }
            Call::Returned => {
                let packet = self.packet.take().expect("it is here");
                algorithm.returned(sender, now, packet.payload, &mut actions);
                let then = self.flow.returned(now, packet.says);
                seen.count(&self.flow, packet.says, then);
                then
            }
        };
        self.limit = actions.limit.or(self.limit);
        self.timer = actions.timer.unwrap_or(self.timer);
        let Sender::SaaM(state) = &self.sender else {
            panic!("{:?}", self.sender)
        };
        assert_eq!(actions.send.is_some(), says.is_some(), "{name}: {says:?}");
        let rate = i128::from(state.flow.rate);
        assert_eq!(rate, self.flow.rate.unwrap_or(0), "{name}: {says:?}");
        assert_eq!(self.limit, self.flow.limit(), "{name}: {says:?}");
        assert_eq!(actions.log, known != self.flow.rate, "{name}: {says:?}");
        if let Some((probe, says)) = actions.send.zip(says) {
            assert!(self.packet.is_none(), "{name}: one packet under way");
            assert_eq!(probe.after, 1, "{name}");
            self.packet = Some(Packet {
                says,
                payload: probe.payload,
                passed: 0,
                is_back: false,
            });
        }
    }

    /// The random time is that of the timer; it follows from the flow and the number of the refusal.
    fn learn_time(&mut self, now: u64, longest: u64, name: &str, seen: &mut Seen) {
        if self.flow.wake != Wake::Drawn {
            return;
        }
        let cycle = self.timer.expect("it looks again");
        self.flow.wake = Wake::At(cycle);
        if self.flow.stop == Some(cycle) {
            return;
        }
        let time = cycle - now;
        assert!((1..=longest).contains(&time), "{name}: {time}");
        let key = (longest, self.id, self.flow.refused);
        let known = *seen.times.entry(key).or_insert(time);
        assert_eq!(time, known, "{name}: {key:?}");
    }
}

#[test]
fn saa_m_is_what_its_rules_say_claim_by_claim() {
    let mut seen = Seen::default();
    for case in cases(1000) {
        let mut dice = Dice::new(case);
        let mut both = Both::new(case, &mut dice);
        for now in 0..1000 {
            both.visit(now, &mut dice);
            both.notify(now, &mut dice, &mut seen);
        }
    }
    let often = [seen.gained, seen.refused, seen.raised, seen.cut];
    assert!(often.iter().all(|&count| count > 300), "{often:?}");
    let seldom = seen.ended.iter().chain([&seen.nothing]);
    assert!(seldom.clone().all(|&count| count > 10), "{seldom:?}");
    // every time up to the longest
    let times = seen.times.iter().filter(|((longest, ..), _)| *longest == 3);
    let times: BTreeSet<u64> = times.map(|(_, &time)| time).collect();
    assert_eq!(times, BTreeSet::from([1, 2, 3]));
}
