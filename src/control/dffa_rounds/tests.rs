//! Traces worked out by hand.

use super::super::dffa::UNIT;
use super::super::tests::{FLOW, begun, made};
use super::super::{Limit, ONE_FLIT_PER_CYCLE};
use super::*;

const ONE: u64 = ONE_FLIT_PER_CYCLE;

fn own(hold: bool) -> DffaRounds {
    match made(&format!("DffaRounds(hold: {hold})")) {
        Algorithm::DffaRounds(own) => own,
        other => panic!("{other:?}"),
    }
}

fn channel(own: DffaRounds) -> Channel {
    own.agent(Place {
        pace: 1,
        drain: 1,
        from_host: false,
        to_host: false,
    })
}

/// A packet of this round: what, and two numbers.
fn packet(round: u16, what: u128, numbers: [u64; 2]) -> Payload {
    let [one, other] = numbers.map(u128::from);
    let values = [what, 0, 0, round.into(), one, other];
    packed(values, BITS)
}

fn ask(round: u16) -> Payload {
    packet(round, ASK, [0, 0])
}

fn update(round: u16, more: u64) -> Payload {
    packet(round, UPDATE, [more, ALL as u64])
}

fn inactive(round: u16, rate: u64, weight: u64) -> Payload {
    packet(round, INACTIVE, [rate, weight])
}

fn sent(actions: Actions) -> Payload {
    actions.send.expect("a packet").payload
}

/// Hosts a and b at one switch, host c at another, which the way of all flows ends at. Flows from a and b share the channels
/// between the switches and to c.
struct Net {
    own: DffaRounds,
    /// Those of a, b, c and the two switches.
    elements: [Round; 5],
    /// From a, from b, between the switches, to c.
    channels: [Channel; 4],
}

const A: usize = 0;
const B: usize = 1;

impl Net {
    fn new(hold: bool) -> Self {
        let own = own(hold);
        Self {
            elements: [0, 1, 2, 3, 4].map(|element| own.element(element < 3)),
            channels: [0; 4].map(|_| channel(own)),
            own,
        }
    }

    /// A packet of the flow from a or b takes its way; what is broadcast at the end, and what returns.
    fn takes(&mut self, from: usize, mut payload: Payload) -> (Option<u32>, Option<Payload>) {
        for (channel, element) in [(from, from), (2, 3), (3, 4)] {
            let (channel, element) = (&mut self.channels[channel], &mut self.elements[element]);
            self.own.pass(channel, element, 0, &mut payload);
        }
        let word = self.own.arrive(&mut self.elements[2], 0, payload);
        let reply = self.own.received(&mut (), 0, payload);
        (word, reply.map(|reply| reply.payload))
    }

    /// A packet, and what its reply leads to.
    fn goes(&mut self, from: usize, sender: &mut Filler, payload: Payload) -> Actions {
        let (word, reply) = self.takes(from, payload);
        assert_eq!(word, None);
        let mut actions = Actions::default();
        if let Some(reply) = reply {
            self.own.returned(sender, 60, reply, &mut actions);
        }
        actions
    }

    fn call(&self, sender: &mut Filler, event: Event) -> Actions {
        let mut actions = Actions::default();
        self.own.send(sender, 50, event, &mut actions);
        actions
    }

    /// A flow of two packets starts; it goes on until the second one starts.
    fn starts(&mut self, from: usize, weight: u16) -> Filler {
        let flits = Some(16);
        let facts = Facts {
            flits,
            weight,
            ..FLOW
        };
        let (mut sender, _) = begun(&self.own, facts);
        sender.round = self.elements[from].now;
        let round = sender.round;
        let actions = self.call(&mut sender, Event::Started(8));
        assert_eq!(actions.limit, Some(Limit::Rate(0)));
        let announcement = packet(round, ANNOUNCE, [weight.into(), 0]);
        assert_eq!(sent(actions), announcement);
        let (word, reply) = self.takes(from, announcement);
        assert_eq!((word, reply), (Some(u32::from(round) + 1), None));
        sender
    }

    /// All elements hear a round.
    fn hear(&mut self, word: u32) {
        for element in &mut self.elements {
            self.own.hear(element, 0, word);
        }
    }

    /// The flow from a is told this round, and is alone: what it asks, and what is sent until its rate is final.
    fn fills_alone(&mut self, sender: &mut Filler, round: u16) {
        let actions = self.call(sender, Event::Told(round.into()));
        assert_eq!(sent(actions), ask(round));
        assert_eq!(self.own.show(sender), format!("round {round}: asks"));
        let actions = self.goes(A, sender, ask(round));
        assert_eq!(sent(actions), update(round, 0));
        assert_eq!(sender.progress, Progress::Fills);
        let actions = self.goes(A, sender, update(round, 0));
        // per weight it has half of the link
        assert_eq!((sent(actions), sender.level), (update(round, UNIT), HALF));
        let actions = self.goes(A, sender, update(round, UNIT));
        assert_eq!(sent(actions), inactive(round, UNIT, 2));
        self.goes(A, sender, inactive(round, UNIT, 2));
        assert_eq!(sender.progress, Progress::IsDone);
        let Link {
            weight, left, free, ..
        } = self.channels[3].link;
        assert_eq!((weight, left, free), (0, 0, 0));
    }
}

const HALF: u64 = UNIT / 2;
const THIRD: u64 = UNIT / 3;

#[test]
fn later_rounds_wrap() {
    assert!(is_later(1, 0) && is_later(0, u16::MAX) && is_later(0x7fff, 0));
    assert!(!is_later(0, 0) && !is_later(0, 1) && !is_later(0x8000, 0));
}

/// Announced, told, asked, calculated; after the announcement nothing is left of what the agents were.
#[test]
fn a_flow_alone_takes_all() {
    let mut net = Net::new(false);
    let mut a = net.starts(A, 2);
    assert_eq!(net.elements.map(|element| element.now), [1, 0, 1, 1, 1]);
    assert_eq!(net.channels.map(|channel| channel.all), [2, 0, 2, 2]);
    assert_eq!(net.channels[3].link.share(), Some(HALF));
    net.hear(1);
    net.fills_alone(&mut a, 1);
    assert_eq!(
        (a.flow.rate, net.own.show(&a)),
        (ONE, "round 1: final".into())
    );
}

/// A flow of weight 2, then one of weight 1 as well: a third of the link per weight for both; then it ends.
#[test]
fn rates_are_calculated_anew_with_each_start_and_end() {
    let mut net = Net::new(false);
    let mut a = net.starts(A, 2);
    net.hear(1);
    net.fills_alone(&mut a, 1);
    let mut b = net.starts(B, 1);
    net.hear(2);
    for (from, sender) in [(A, &mut a), (B, &mut b)] {
        let actions = net.call(sender, Event::Told(2));
        // it keeps the rate that it had
        assert_eq!((sent(actions), actions.limit), (ask(2), None));
        let actions = net.goes(from, sender, ask(2));
        assert_eq!(sent(actions), update(2, 0));
        let actions = net.goes(from, sender, update(2, 0));
        let more = THIRD * sender.flow.weight;
        assert_eq!(sent(actions), update(2, more));
    }
    // the link is not full before it knows of both
    let actions = net.goes(A, &mut a, update(2, 2 * THIRD));
    assert_eq!((sent(actions), actions.limit), (update(2, 0), None));
    let actions = net.goes(B, &mut b, update(2, THIRD));
    assert_eq!(sent(actions), inactive(2, THIRD, 1));
    assert_eq!(actions.limit, Some(Limit::Rate(ONE / 3)));
    net.goes(B, &mut b, inactive(2, THIRD, 1));
    let actions = net.goes(A, &mut a, update(2, 0));
    assert_eq!(sent(actions), inactive(2, 2 * THIRD, 2));
    assert_eq!(actions.limit, Some(Limit::Rate((2 << 32) / 3)));

    let actions = net.call(&mut b, Event::Started(8));
    let end = packet(2, ANNOUNCE, [1, 1]);
    assert_eq!(
        (sent(actions), net.own.show(&b)),
        (end, "round 2: waits".into())
    );
    assert_eq!(net.takes(B, end), (Some(3), None));
    assert_eq!(net.channels.map(|channel| channel.all), [2, 0, 2, 2]);
    net.hear(3);
    let mut actions = Actions::default();
    net.own.returned(&mut b, 70, ask(2), &mut actions);
    assert_eq!(actions, Actions::default());
    assert_eq!(net.call(&mut b, Event::Told(3)), Actions::default());
    net.fills_alone(&mut a, 3);
    assert_eq!(a.flow.rate, ONE);
}

/// With `hold` flows send nothing until their new rate is final, without it as much as before.
#[test]
fn flows_are_held_if_wanted() {
    for (hold, limit) in [(true, Some(Limit::Rate(0))), (false, None)] {
        let mut net = Net::new(hold);
        let mut a = net.starts(A, 2);
        net.hear(1);
        net.fills_alone(&mut a, 1);
        let actions = net.call(&mut a, Event::Told(2));
        assert_eq!((actions.limit, actions.log), (limit, hold));
        assert_eq!(a.flow.rate, if hold { 0 } else { ONE });
    }
}

/// The element of the second switch has not heard of the round yet.
#[test]
fn flows_ask_until_all_elements_have_their_round() {
    let mut net = Net::new(false);
    let mut a = net.starts(A, 2);
    for element in [0, 3] {
        net.elements[element].now = 2;
    }
    net.call(&mut a, Event::Told(2));
    for _ in 0..2 {
        let actions = net.goes(A, &mut a, ask(2));
        assert_eq!((sent(actions), a.progress), (ask(2), Progress::Asks));
    }
    net.hear(2);
    let actions = net.goes(A, &mut a, ask(2));
    assert_eq!((sent(actions), a.progress), (update(2, 0), Progress::Fills));
}

/// The second switch is ahead: its agent stays as it is, the flow waits, and what comes back after it was told the new round
/// is nothing to it.
#[test]
fn packets_of_another_round_change_nothing() {
    let mut net = Net::new(false);
    let mut a = net.starts(A, 2);
    net.hear(1);
    net.call(&mut a, Event::Told(1));
    net.goes(A, &mut a, ask(1));
    net.elements[4].now = 2;
    let before = net.channels[3];
    for stale in [update(1, 5), inactive(1, 5, 2), ask(1)] {
        let (word, reply) = net.takes(A, stale);
        assert_eq!((word, net.channels[3]), (None, before));
        let [_, _, other, round, ..] = unpacked(reply.unwrap_or(stale), BITS);
        assert_eq!((other, round), (u128::from(reply.is_some()), 1));
    }
    let (_, reply) = net.takes(A, update(1, 0));
    let mut late = a;
    let mut actions = Actions::default();
    net.own.returned(&mut a, 60, reply.unwrap(), &mut actions);
    assert_eq!((a.progress, actions), (Progress::Waits, Actions::default()));
    net.call(&mut late, Event::Told(2));
    net.own
        .returned(&mut late, 60, reply.unwrap(), &mut actions);
    assert_eq!((late.progress, late.level), (Progress::Asks, 0));
    assert_eq!(actions, Actions::default());
}

/// It asks for the round that it was told last, when what it has asked before has come back.
#[test]
fn one_question_is_under_way() {
    let mut net = Net::new(false);
    let mut a = net.starts(A, 2);
    net.hear(1);
    assert_eq!(sent(net.call(&mut a, Event::Told(1))), ask(1));
    for round in [2, 3] {
        net.hear(round);
        assert_eq!(net.call(&mut a, Event::Told(round)).send, None);
    }
    assert_eq!(sent(net.goes(A, &mut a, ask(1))), ask(3));
    assert_eq!(sent(net.goes(A, &mut a, ask(3))), update(3, 0));
}

/// An agent is emptied by the first packet of a later round, not when its element hears of that.
#[test]
fn agents_begin_anew_in_another_round() {
    let mut net = Net::new(false);
    let mut a = net.starts(A, 2);
    net.hear(1);
    net.fills_alone(&mut a, 1);
    net.hear(2);
    assert_eq!((net.channels[3].round, net.channels[3].link.left), (1, 0));
    net.takes(A, ask(2));
    let mut link = Link::new(UNIT);
    link.weight = 2;
    assert_eq!((net.channels[3].round, net.channels[3].link), (2, link));
}

/// A broadcast of its own round goes on once, a later one is taken, an older one is not; hosts send nothing on.
#[test]
fn broadcasts_go_on_once() {
    let own = own(false);
    let mut switch = own.element(false);
    let mut payload = packet(0, ANNOUNCE, [1, 0]);
    own.pass(&mut channel(own), &mut switch, 0, &mut payload);
    assert_eq!(switch.now, 1);
    let mut hear = |word| (own.hear(&mut switch, 0, word), switch.now);
    assert_eq!([hear(1), hear(1)], [(true, 1), (false, 1)]);
    assert_eq!([hear(4), hear(4)], [(true, 4), (false, 4)]);
    assert_eq!([hear(3), hear(0xffff)], [(false, 4), (false, 4)]);
    let mut host = own.element(true);
    for (word, now) in [(5, 5), (5, 5), (4, 5)] {
        assert!(!own.hear(&mut host, 0, word));
        assert_eq!(own.says(&host), now);
    }
}

/// The round is the next one of the element or that of the announcement, whichever is later.
#[test]
fn announcements_bring_the_later_round() {
    let own = own(false);
    for (now, brings, then) in [(3, 7, 7), (3, 4, 4), (3, 2, 4), (0xffff, 0xfffe, 0)] {
        let mut element = own.element(true);
        element.now = now;
        let mut payload = packet(brings, ANNOUNCE, [1, 0]);
        let mut at_end = element;
        own.pass(&mut channel(own), &mut element, 0, &mut payload);
        assert_eq!(element.now, then);
        assert_eq!(payload, packet(then, ANNOUNCE, [1, 0]));
        payload = packet(brings, ANNOUNCE, [1, 0]);
        assert_eq!(own.arrive(&mut at_end, 0, payload), Some(then.into()));
    }
}

/// Two announcements that overtake each other at each of eight switches, each on channels of its own: it is how often rounds rise
/// that is bounded (lemma 4.2.13), twice at each of them, and not by how much.
#[test]
fn changes_that_meet_raise_rounds_by_more() {
    let own = own(false);
    let mut announcements = [packet(0, ANNOUNCE, [1, 0]); 2];
    for number in 0..8 {
        let mut switch = own.element(false);
        for turn in 0..2 {
            let one = &mut announcements[(number + turn) % 2];
            own.pass(&mut channel(own), &mut switch, 0, one);
        }
        assert_eq!(switch.now, number as u16 + 2);
    }
}
