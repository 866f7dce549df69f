//! Max-min fair rates of flows that start and end: the distributed water filling DFFA, which is DFFA* ([`dffa`](super::dffa))
//! calculated anew with every change.
//!
//! # Rules
//! 1. Switches and hosts have an element (D68) with a *round*. The agent of a channel has the weight of *all* its flows, whatever
//!    classes they are of (D73), the
//!    round in which it was last emptied, and since then what that of DFFA* has.
//! 2. A flow *announces* its start with its first packet, and its end, by a probe over its way. At every channel the round of the
//!    element becomes the larger one of its next and the probe's, the probe takes it along, and the flow's weight is added
//!    to all, or taken from it.
//! 3. The host at the end of the way does so, too, and broadcasts its round. An element takes a later round that it hears; a
//!    switch sends it on if it is later, or its own and the first broadcast of it.
//! 4. In another round an agent is *emptied* before it does anything: all its flows are active, nothing is taken.
//! 5. In another round of its host every flow begins anew: it *asks* until all elements on its way have its round, and
//!    then calculates as in DFFA*, one packet for each round trip; its packets say the round. Agents whose element is in
//!    another one leave them as they are, and say so: then the flow waits for the next round.
//! 6. A rate counts when it is final. Until then a flow has the rate that it had (`hold`: sends nothing), at first none.
//!
//! A round is a number of 16 bits; the later one of two is that which is less than 2^15 ahead (RFC 1982).
//!
//! Each start and end raises the round of an element at most twice: with its announcement, and with its broadcast. Alone it raises
//! all by one. Announcements that overtake each other on their ways raise rounds by more, at each element where they do.
//!
//! # Deviations
//! In the source the round of a host changes when a flow of it starts or ends; here when the announcement leaves the host,
//! one serialisation later. Which rates count while others are calculated is left open there.
//!
//! Cost: two packets there for each start and end, a broadcast over each channel for each of them, and for each flow and round the
//! packets of DFFA* and those that ask.
//!
//! References: [`ZDORNOV_BIRK`] §4.2.3, lemma 4.2.13, theorem 4.2.14

mod round;

pub use round::Round;

use self::round::is_later;
use super::dffa::{Link, capacity, rate};
use super::element::Elements;
use super::member::{Member, OF_LINKS, packed, unpacked};
use super::probe::{Facts, Payload, Place, Probe, Probing, Reply};
use super::{Actions, Algorithm, BuildAlgorithm, ControlContext, Event, Line, Machines};
use crate::references::ZDORNOV_BIRK;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use serde::{Deserialize, Serialize};

/// Registers `DffaRounds`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "DffaRounds",
    aliases: &["DFFA"],
    summary: "max-min fair rates, calculated anew by packets with every flow that starts or ends",
    parameters: &[Parameter {
        name: "hold",
        kind: "true | false",
        default: Some("false"),
        summary: "whether flows send nothing while rates are calculated, or as much as before",
    }],
    guarantees: &[
        "once no flow starts or ends any more, rates become weighted max-min fair",
        OF_LINKS,
        "each start and end raises the round of an element at most twice",
    ],
    references: &[ZDORNOV_BIRK],
    build,
};

const ANNOUNCE: u128 = 0;
const ASK: u128 = 1;
const UPDATE: u128 = 2;
const INACTIVE: u128 = 3;

/// Of a payload: what, whether a link is full, whether an element has another round, the round, and two numbers:
/// the weight, and whether it is taken away (announcements); more of a rate, and the least share (updates); the rate, and the
/// weight (flows that are no longer active).
const BITS: [u32; 6] = [2, 1, 1, 16, 54, 54];
/// More than any share.
const ALL: u128 = (1 << 54) - 1;

/// Its parameters.
#[derive(Clone, Copy, Debug)]
pub struct DffaRounds {
    hold: bool,
    /// What rates may take of a link.
    link: u32,
}

/// What a sender is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Progress {
    /// Nothing is calculated.
    Waits,
    /// Asks whether all elements on its way have its round.
    Asks,
    /// Calculates.
    Fills,
    /// Its rate is that of its round.
    IsDone,
}

/// A sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filler {
    /// The flow.
    pub flow: Member,
    /// Its host's round.
    pub round: u16,
    /// Rate per weight so far \[[`UNIT`](super::dffa::UNIT)ths of a flit per cycle\].
    pub level: u64,
    /// What it is about.
    pub progress: Progress,
    /// Whether a packet that asks is under way.
    has_asked: bool,
}

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// Weight of all its flows.
    pub all: u64,
    /// Round in which it was emptied.
    pub round: u16,
    /// What all its flows may have together \[[`UNIT`](super::dffa::UNIT)ths of a flit per cycle\].
    pub capacity: u64,
    /// What DFFA* has.
    pub link: Link,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "DffaRounds")]
struct Parameters {
    #[serde(default)]
    hold: bool,
}

impl Channel {
    /// As it is in this round.
    fn in_round(&mut self, round: u16) -> &mut Link {
        if round != self.round {
            self.empty(round);
        }
        &mut self.link
    }

    fn empty(&mut self, round: u16) {
        self.round = round;
        self.link = Link::new(self.capacity);
        self.link.weight = self.all;
    }

    fn announce(&mut self, weight: u64, ends: bool) {
        self.all = if ends {
            self.all.saturating_sub(weight)
        } else {
            self.all + weight
        };
    }
}

impl Filler {
    fn send(&mut self, what: u128, numbers: [u64; 2], actions: &mut Actions) {
        let share = if what == UPDATE {
            ALL
        } else {
            numbers[1].into()
        };
        let values = [what, 0, 0, self.round.into(), numbers[0].into(), share];
        actions.send = Some(Probe {
            payload: packed(values, BITS),
            after: 1,
        });
        self.has_asked |= what == ASK;
    }

    /// Asks, when what it has asked has come back.
    fn ask(&mut self, actions: &mut Actions) {
        if !self.has_asked {
            self.send(ASK, [0, 0], actions);
        }
    }

    fn announce(&mut self, ends: bool, actions: &mut Actions) {
        self.send(ANNOUNCE, [self.flow.weight, ends.into()], actions);
    }

    /// Begins anew in a round.
    fn begin(&mut self, round: u16, hold: bool, actions: &mut Actions) {
        (self.round, self.level) = (round, 0);
        if !self.flow.takes_part() {
            return;
        }
        self.progress = Progress::Asks;
        if hold {
            self.flow.hold(actions);
        }
        self.ask(actions);
    }

    /// An update is back.
    fn fill(&mut self, is_full: bool, share: u128, actions: &mut Actions) {
        let more = (share as u64).saturating_sub(self.level);
        self.level += more;
        if is_full {
            self.progress = Progress::IsDone;
            self.flow
                .set_rate(rate(self.level, self.flow.weight), actions);
            let numbers = [self.level * self.flow.weight, self.flow.weight];
            self.send(INACTIVE, numbers, actions);
        } else {
            self.send(UPDATE, [more * self.flow.weight, 0], actions);
        }
    }

    /// What follows from any call.
    fn settle(&mut self, actions: &mut Actions) {
        if self.flow.leaves() {
            self.progress = Progress::Waits;
            self.announce(true, actions);
        }
        self.flow.set_timer(actions);
    }
}

impl Machines for DffaRounds {
    type Sender = Filler;
    type Receiver = ();

    fn start(&self, line: Line, _: &mut Actions) -> Filler {
        Filler {
            flow: Member::new(line.largest),
            round: 0,
            level: 0,
            progress: Progress::Waits,
            has_asked: false,
        }
    }

    fn hears_starts(&self) -> bool {
        true
    }

    fn send(&self, sender: &mut Filler, now: u64, event: Event, actions: &mut Actions) {
        match event {
            Event::Started(flits) => {
                if sender.flow.started(flits, actions) {
                    sender.announce(false, actions);
                }
            }
            Event::Timer => {
                sender.flow.rings(now);
            }
            Event::Told(round) => sender.begin(round as u16, self.hold, actions),
            Event::Answered(_) | Event::Looked { .. } => {}
        }
        sender.settle(actions);
    }

    fn show(&self, sender: &Filler) -> String {
        let progress = match sender.progress {
            Progress::Waits => "waits",
            Progress::Asks => "asks",
            Progress::Fills => "calculates",
            Progress::IsDone => "final",
        };
        format!("round {}: {progress}", sender.round)
    }
}

impl Probing for DffaRounds {
    type Agent = Channel;

    fn begin(&self, sender: &mut Filler, facts: Facts, actions: &mut Actions) {
        sender
            .flow
            .know(facts.weight.into(), facts.flits, facts.stop);
        sender.flow.set_timer(actions);
    }

    fn agent(&self, place: Place) -> Channel {
        let capacity = capacity(self.link, place);
        Channel {
            all: 0,
            round: 0,
            capacity,
            link: Link::new(capacity),
        }
    }

    fn is_of_links(&self) -> bool {
        true
    }

    /// Agents are visited with their elements ([`Elements::pass`]).
    fn visit(&self, _: &mut Channel, _: u64, _: &mut Payload) {}

    fn received(&self, (): &mut (), _: u64, payload: Payload) -> Option<Reply> {
        let [what, ..] = unpacked(payload, BITS);
        matches!(what, ASK | UPDATE).then_some(Reply::at_once(payload))
    }

    fn returned(&self, sender: &mut Filler, _: u64, payload: Payload, actions: &mut Actions) {
        let [what, full, other, round, _, share] = unpacked(payload, BITS);
        sender.has_asked &= what != ASK;
        let is_own = round as u16 == sender.round;
        let takes_part = sender.flow.takes_part();
        if takes_part && what == ASK && (other == 1 || !is_own) {
            sender.ask(actions);
        } else if takes_part && is_own {
            match (what, other) {
                (ASK, 0) => {
                    sender.progress = Progress::Fills;
                    sender.send(UPDATE, [0, 0], actions);
                }
                (_, 0) => sender.fill(full == 1, share, actions),
                _ => sender.progress = Progress::Waits,
            }
        }
        sender.settle(actions);
    }
}

impl Elements for DffaRounds {
    type Element = Round;

    fn element(&self, is_host: bool) -> Round {
        Round {
            now: 0,
            sent: None,
            is_host,
        }
    }

    fn pass(&self, channel: &mut Channel, element: &mut Round, _: u64, payload: &mut Payload) {
        let [what, mut full, mut other, mut round, number, mut share] = unpacked(*payload, BITS);
        if what == ANNOUNCE {
            element.advance(round as u16);
            round = element.now.into();
            channel.announce(number as u64, share == 1);
            channel.empty(element.now);
        } else if round as u16 == element.now {
            let link = channel.in_round(element.now);
            match what {
                UPDATE => {
                    full |= u128::from(link.update(number as u64));
                    share = link.share().map_or(share, |least| share.min(least.into()));
                }
                INACTIVE => link.release(share as u64, number as u64),
                _ => {}
            }
        } else {
            other = 1;
        }
        let fields = [what, full, other, round, number, share];
        *payload = packed(fields, BITS);
    }

    fn arrive(&self, element: &mut Round, _: u64, payload: Payload) -> Option<u32> {
        let [what, _, _, round, ..] = unpacked(payload, BITS);
        if what != ANNOUNCE {
            return None;
        }
        element.advance(round as u16);
        Some(element.now.into())
    }

    fn hear(&self, element: &mut Round, _: u64, word: u32) -> bool {
        let round = word as u16;
        let is_first = round == element.now && element.sent != Some(round);
        if is_later(round, element.now) {
            element.now = round;
        } else if !is_first {
            return false;
        }
        element.sent = Some(round);
        !element.is_host
    }

    fn says(&self, element: &Round) -> u32 {
        element.now.into()
    }
}

fn build(arguments: Arguments<'_>, context: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    Ok(Algorithm::DffaRounds(DffaRounds {
        hold: written.hold,
        link: context.link,
    }))
}

#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;
