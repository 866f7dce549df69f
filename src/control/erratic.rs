//! An algorithm without purpose, which reacts to everything: what tests of engine and reference model draw.
//!
//! Every call mixes what it is told into a word of state, and the bits of that word choose the actions. So a call at
//! another cycle, in another order, or with another value changes all that follows.

use super::element::Elements;
use super::probe::{Facts, Payload, Place, Probe, Probing, Reply};
use super::{
    Acknowledge, Actions, Answer, Arrival, Event, Limit, Line, Looks, Machines, ONE_FLIT_PER_CYCLE,
};
use crate::rng::mix;

/// Its parameters.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is drawn for itself")]
pub struct Erratic {
    /// Seed of its choices.
    pub seed: u64,
    /// Whether it sets InfiniBand's delays, beside rates.
    pub delays: bool,
    /// Whether it starts with a window.
    pub window: bool,
    /// Packets that it answers \[percent\].
    pub answers: u32,
    /// Whether all flows of the class at a host have one sender.
    pub shared: bool,
    /// Packets of an answer; with several, that many may be acknowledged at once.
    pub packets: u16,
    /// Looks at the own switch that it asks for.
    pub looks: Option<Looks>,
    /// Calls of the sender that send a probe, and probes that are replied to \[percent\].
    pub probes: u32,
    /// Whether switches and hosts have elements.
    pub elements: bool,
    /// Whether all classes with such machines have agents and elements in common.
    pub of_links: bool,
    /// Whether packets of its flows carry payloads; `answers` is then what it replies to of these.
    pub carries: bool,
}

impl Default for Erratic {
    /// It sets rates and timers, and answers nothing.
    fn default() -> Self {
        Self {
            seed: 0,
            delays: false,
            window: false,
            answers: 0,
            shared: false,
            packets: 1,
            looks: None,
            probes: 0,
            elements: false,
            of_links: false,
            carries: false,
        }
    }
}

impl Erratic {
    fn limit(&self, bits: u64, largest: u64) -> Limit {
        match bits % 8 {
            0 => Limit::None,
            // never, until the timer sets another
            1 => Limit::Rate(0),
            2..5 if self.delays => Limit::Delay {
                entry: (bits >> 8) as u16 % 40,
                shift: (bits >> 32) as u8 % 4,
            },
            2..7 => Limit::Rate((bits >> 32).max(2 * largest + 1)),
            _ => Limit::Rate(ONE_FLIT_PER_CYCLE / (1 + (bits >> 8) % 32)),
        }
    }

    /// A receiver is told of a packet; returns the bits that choose what it does.
    fn told(&self, receiver: &mut u64, arrival: Arrival) -> u64 {
        let said = arrival.latency << 20 | u64::from(arrival.flits) << 1;
        *receiver = mix(*receiver ^ mix(arrival.now ^ self.seed) ^ said)
            .wrapping_add(arrival.is_marked.into());
        mix(*receiver)
    }

    fn act(&self, state: &mut [u64; 2], now: u64, said: u64, actions: &mut Actions) {
        state[0] = mix(state[0] ^ mix(now ^ self.seed) ^ said);
        let bits = mix(state[0]);
        if bits.is_multiple_of(2) {
            actions.limit = Some(self.limit(bits >> 8, state[1]));
        }
        if self.window && (bits >> 1).is_multiple_of(3) {
            actions.window = Some(1 + (bits >> 16) as u32 % 6);
        }
        let is_stopped = actions.limit == Some(Limit::Rate(0));
        match (bits >> 2) % 5 {
            0 if !is_stopped => actions.timer = Some(None),
            0..3 => actions.timer = Some(Some(now + 1 + (bits >> 24) % 90)),
            _ if is_stopped => actions.timer = Some(Some(now + 1 + (bits >> 24) % 300)),
            _ => {}
        }
        actions.log = (bits >> 48).is_multiple_of(5);
        let bits = mix(bits);
        if bits % 100 < u64::from(self.probes) / 2 {
            actions.send = Some(Probe {
                payload: words(bits),
                after: delay(bits >> 8, 30),
            });
        }
        if self.carries && (bits >> 40).is_multiple_of(2) {
            actions.carry = Some(words(mix(bits)));
        }
    }
}

/// A payload out of some bits.
fn words(bits: u64) -> Payload {
    let more = mix(bits);
    [bits >> 32, bits, more >> 32, more].map(|word| word as u32)
}

/// A word of state that has seen a payload.
fn seen(state: u64, now: u64, payload: Payload) -> u64 {
    let word = |state, &word| mix(state ^ u64::from(word));
    payload.iter().fold(mix(state ^ now), word)
}

/// A reply out of some bits.
fn reply(bits: u64) -> Reply {
    Reply {
        payload: words(bits),
        after: delay(bits >> 8, 20),
        visits: (bits >> 24).is_multiple_of(3),
    }
}

/// Mostly 1 cycle, so that much is due at once; now and then some more, `most` at times.
fn delay(bits: u64, most: u64) -> u64 {
    1 + [0, 0, 0, 0, 0, 1, 2, most][bits as usize % 8]
}

impl Machines for Erratic {
    /// What was said so far, and the largest packet.
    type Sender = [u64; 2];
    type Receiver = u64;

    fn start(&self, line: Line, actions: &mut Actions) -> [u64; 2] {
        let mut state = [u64::from(line.pace), line.largest.into()];
        self.act(&mut state, 0, 1, actions);
        if self.window {
            actions.window = Some(1 + state[0] as u32 % 4);
        }
        state
    }

    fn receive(&self, receiver: &mut u64, arrival: Arrival) -> Option<Answer> {
        let bits = self.told(receiver, arrival);
        (bits % 100 < u64::from(self.answers)).then_some(Answer {
            value: (bits >> 32) as u32,
            after: delay(bits >> 8, 40),
        })
    }

    fn hears_starts(&self) -> bool {
        true
    }

    fn heeds_marks(&self) -> bool {
        true
    }

    fn send(&self, sender: &mut [u64; 2], now: u64, event: Event, actions: &mut Actions) {
        let said = match event {
            Event::Started(flits) => 2 + u64::from(flits) * 8,
            Event::Answered(value) => 3 + u64::from(value) * 8,
            Event::Timer => 4,
            Event::Looked { own, blocked } => 5 + u64::from(own) * 8 + u64::from(blocked) * 16,
            Event::Told(word) => 6 + u64::from(word) * 8,
        };
        self.act(sender, now, said, actions);
        let bits = sender[0] >> 40;
        let frees = match event {
            Event::Answered(_) => bits % 10 < 9,
            Event::Timer => bits.is_multiple_of(4),
            Event::Started(_) => bits.is_multiple_of(20),
            Event::Looked { .. } | Event::Told(_) => bits.is_multiple_of(8),
        };
        if frees {
            actions.acknowledge = Some(Acknowledge {
                packets: 1 + (bits >> 12) as u32 % u32::from(self.packets),
                after: 1 + [0, 0, 1, 50][(bits >> 4) as usize % 4],
            });
        }
    }

    fn least_shift(&self) -> Option<u8> {
        self.delays.then_some(0)
    }

    fn looks(&self) -> Option<Looks> {
        self.looks
    }

    fn is_shared(&self) -> bool {
        self.shared
    }

    fn packets_per_answer(&self) -> u16 {
        self.packets
    }
}

impl Probing for Erratic {
    /// What it has seen so far.
    type Agent = u64;

    fn probes(&self) -> bool {
        self.probes > 0
    }

    fn begin(&self, sender: &mut [u64; 2], flow: Facts, actions: &mut Actions) {
        let ends = flow.start ^ flow.stop.unwrap_or(7).rotate_left(20);
        let said = ends ^ flow.flits.unwrap_or(9).rotate_left(40) ^ u64::from(flow.weight) << 50;
        sender[0] = mix(sender[0] ^ said ^ u64::from(flow.id) << 32);
        // whatever the start has set, something is sent
        actions.timer = Some(Some(1 + sender[0] % 20));
    }

    fn agent(&self, place: Place) -> u64 {
        let ends = u64::from(place.from_host) << 16 | u64::from(place.to_host) << 17;
        let paces = u64::from(place.pace) ^ u64::from(place.drain) << 20;
        mix(self.seed ^ paces ^ ends)
    }

    fn visit(&self, agent: &mut u64, now: u64, payload: &mut Payload) {
        *agent = seen(*agent, now, *payload);
        payload[*agent as usize % 4] ^= (*agent >> 32) as u32;
    }

    fn received(&self, receiver: &mut u64, now: u64, payload: Payload) -> Option<Reply> {
        *receiver = seen(*receiver, now, payload);
        let bits = mix(*receiver);
        (bits % 100 < u64::from(self.probes)).then_some(reply(bits))
    }

    fn is_of_links(&self) -> bool {
        self.of_links
    }

    fn carries(&self) -> bool {
        self.carries
    }

    fn carried(&self, receiver: &mut u64, arrival: Arrival, payload: Payload) -> Option<Reply> {
        let bits = self.told(receiver, arrival);
        *receiver = seen(*receiver, bits, payload);
        let bits = mix(*receiver);
        (bits % 100 < u64::from(self.answers)).then_some(reply(bits))
    }

    fn returned(&self, sender: &mut [u64; 2], now: u64, payload: Payload, actions: &mut Actions) {
        let said = seen(5, now, payload);
        self.act(sender, now, said, actions);
    }
}

/// Broadcasts that an element begins or sends on at most, so that floods end.
const BROADCASTS: u64 = 12;

impl Elements for Erratic {
    /// What it has seen so far, and broadcasts that it may still begin or send on.
    type Element = [u64; 2];

    fn has_elements(&self) -> bool {
        self.elements
    }

    fn element(&self, is_host: bool) -> [u64; 2] {
        [mix(self.seed ^ u64::from(is_host) << 18), BROADCASTS]
    }

    fn pass(&self, agent: &mut u64, element: &mut [u64; 2], now: u64, payload: &mut Payload) {
        self.visit(agent, now, payload);
        element[0] = mix(element[0] ^ *agent);
        payload[element[0] as usize % 4] ^= (element[0] >> 32) as u32;
    }

    fn arrive(&self, element: &mut [u64; 2], now: u64, payload: Payload) -> Option<u32> {
        element[0] = seen(element[0], now, payload);
        let begins = element[0].is_multiple_of(3) && element[1] > 0;
        element[1] -= u64::from(begins);
        begins.then_some((element[0] >> 32) as u32)
    }

    fn hear(&self, element: &mut [u64; 2], now: u64, word: u32) -> bool {
        element[0] = mix(element[0] ^ mix(now) ^ u64::from(word));
        let goes_on = !element[0].is_multiple_of(4) && element[1] > 0;
        element[1] -= u64::from(goes_on);
        goes_on
    }

    /// Changes with about half of what it sees.
    fn says(&self, element: &[u64; 2]) -> u32 {
        (element[0] >> 20) as u32 & 1
    }
}
