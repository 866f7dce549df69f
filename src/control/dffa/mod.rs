//! Max-min fair rates found by packets: the distributed water filling DFFA* ([`fluid::rates`](crate::fluid::rates) has
//! the rates themselves).
//!
//! # Rules
//! 1. The agent of a channel has the weight of its *active* flows (of any class, D73), what the others leave of it (divided by this weight:
//!    its *share*), and what its flows have not taken. It is *full* once all its active flows have its share.
//! 2. With its first packet a flow *announces* itself: its weight is added at every channel of its way. Until it has a
//!    rate it sends no more.
//! 3. From cycle `begin` on, if its announcement is back, it is *active* and *collects*: the least share of its links comes
//!    back, and per weight it has as much from then on. It tells the links by how much that is more than before (*update*).
//!    If one of them is full it tells all of them that it is no longer active, with the rate that it keeps, and is done.
//!    Otherwise it collects again. No flow has more than one control packet under way.
//! 4. `one_packet`: an update collects, too, so that each round is one packet.
//!
//! All flows must have been announced by `begin` where they share links: this is what rates and guarantees are for. They are
//! calculated once. A flow that joins later may get too much or too little, and nothing is given back.
//!
//! # Numbers
//! Rates per weight and capacities are integers in parts of a flit per cycle, [`UNIT`] of them, divided and rounded down.
//! A link is full when each of its active flows has its share, so less than one unit per weight of its flows may be
//! left; that is given up. So for any delays of packets the final rates are the exact max-min fair rates of a network in
//! which every link has less by at most one unit per weight on it, as those of the solver: no link is overloaded, and every
//! flow has a link on which no other has more per weight and less than that is left
//! ([`check::max_min`](crate::fluid::check::max_min), without tolerance). Where all divisions come out, as those by up to 40,
//! rates are the solver's. What a flow may send is rounded down to 2^-32 flits per cycle; below what D30 allows it
//! counts as the least that it allows.
//!
//! Needs routes of tables, as [`saa`](super::saa).
//!
//! # Deviations
//! The source keeps the share itself, which needs exact fractions; here the link keeps what is left, from which the same
//! share follows. It calculates anew with every change: [`dffa_rounds`](super::dffa_rounds).
//!
//! Cost: two packets there and back (`one_packet`: one) for each round of a flow; at most 6 times the number of different rates
//! round trips in all.
//!
//! References: [`ZDORNOV_BIRK`] §4.2.3, theorems 4.2.8, 4.2.12

use super::member::{Member, OF_LINKS, packed, unpacked};
use super::parameters::cycles;
use super::probe::{Facts, Payload, Place, Probing, Reply};
use super::{
    Actions, Algorithm, BuildAlgorithm, ControlContext, Event, Line, Machines, WHOLE_LINK,
};
use crate::references::ZDORNOV_BIRK;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::units::Time;
use serde::{Deserialize, Serialize};

/// Parts that a flit per cycle is counted in: three times the least common multiple of 1 to 40, just below 2^54.
pub const UNIT: u64 = 3 * 5_342_931_457_063_200;

/// Registers `Dffa`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "Dffa",
    aliases: &["DFFA*"],
    summary: "max-min fair rates of all flows that have announced themselves, found once by packets",
    parameters: &[
        Parameter {
            name: "begin",
            kind: "time, at least 1 cycle",
            default: None,
            summary: "cycle from which flows that have announced themselves calculate",
        },
        Parameter {
            name: "one_packet",
            kind: "true | false",
            default: Some("true"),
            summary: "whether a round of a flow is one packet, or two",
        },
    ],
    guarantees: &[
        OF_LINKS,
        "final rates are weighted max-min fair if all flows have announced themselves before `begin`",
        "the rates on a link are together no more than that at any time then",
    ],
    references: &[ZDORNOV_BIRK],
    build,
};

const ANNOUNCE: u128 = 0;
const COLLECT: u128 = 1;
const UPDATE: u128 = 2;
const INACTIVE: u128 = 3;

/// Of a payload: what, whether a link is full, weight, rate or more of a rate per weight, least share.
const BITS: [u32; 5] = [3, 1, 16, 54, 54];
/// More than any share.
const ALL: u128 = (1 << 54) - 1;

/// Its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Dffa {
    /// Cycle.
    begin: u64,
    one_packet: bool,
    /// What rates may take of a link.
    link: u32,
}

/// A sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filler {
    /// The flow.
    pub flow: Member,
    /// Rate per weight \[[`UNIT`]ths of a flit per cycle\].
    pub level: u64,
    /// Whether it is final.
    pub is_done: bool,
}

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Weight of its active flows.
    pub weight: u64,
    /// What flows leave that are no longer active \[[`UNIT`]ths of a flit per cycle\].
    pub left: u64,
    /// What no flow has taken.
    pub free: u64,
    /// Whether all active flows have its share.
    pub full: bool,
}

impl Link {
    /// One without flows.
    pub(super) const fn new(capacity: u64) -> Self {
        Self {
            weight: 0,
            left: capacity,
            free: capacity,
            full: false,
        }
    }

    /// What each of its active flows may have per weight; `None` without any.
    pub fn share(&self) -> Option<u64> {
        self.left.checked_div(self.weight)
    }

    /// An active flow takes more; whether it is full now.
    pub(super) fn update(&mut self, more: u64) -> bool {
        self.free = self.free.saturating_sub(more);
        let lost = self.left.checked_rem(self.weight);
        if !self.full && lost == Some(self.free) {
            self.left -= self.free;
            (self.free, self.full) = (0, true);
        }
        self.full
    }

    /// A flow is no longer active, with this rate.
    pub(super) fn release(&mut self, weight: u64, rate: u64) {
        self.left = self.left.saturating_sub(rate);
        self.weight = self.weight.saturating_sub(weight);
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Dffa")]
struct Parameters {
    begin: Time,
    #[serde(default = "one_packet")]
    one_packet: bool,
}

const fn one_packet() -> bool {
    true
}

fn packet(what: u128, weight: u64, level: u64) -> Payload {
    let values = [what, 0, weight.into(), level.into(), ALL];
    packed(values, BITS)
}

/// What rates may take of a channel, as so much of a link \[[`UNIT`]ths of a flit per cycle\].
pub(super) fn capacity(link: u32, place: Place) -> u64 {
    let whole = u128::from(UNIT) * u128::from(link) / u128::from(WHOLE_LINK);
    whole as u64 / u64::from(place.drain)
}

/// What a flow of this weight may send with so much per weight \[2^-32 flits per cycle\].
pub(super) fn rate(level: u64, weight: u64) -> u64 {
    let rate = u128::from(level) * u128::from(weight);
    ((rate << 32) / u128::from(UNIT)) as u64
}

impl Filler {
    /// So much per weight; returns by how much that is more.
    fn rise(&mut self, share: u128, actions: &mut Actions) -> u64 {
        let more = (share as u64).saturating_sub(self.level);
        self.level += more;
        let rate = rate(self.level, self.flow.weight);
        self.flow.set_rate(rate, actions);
        more
    }

    fn send(&mut self, what: u128, level: u64, actions: &mut Actions) {
        let payload = packet(what, self.flow.weight, level);
        self.flow.send(payload, actions);
    }

    /// The first packet of a round.
    fn collect(&mut self, one_packet: bool, actions: &mut Actions) {
        self.send(if one_packet { UPDATE } else { COLLECT }, 0, actions);
    }

    /// Its rate is final.
    fn declare(&mut self, actions: &mut Actions) {
        self.is_done = true;
        self.send(INACTIVE, self.level, actions);
    }
}

impl Machines for Dffa {
    type Sender = Filler;
    type Receiver = ();

    fn start(&self, line: Line, _: &mut Actions) -> Filler {
        Filler {
            flow: Member::new(line.largest),
            level: 0,
            is_done: false,
        }
    }

    fn hears_starts(&self) -> bool {
        true
    }

    fn send(&self, sender: &mut Filler, now: u64, event: Event, actions: &mut Actions) {
        match event {
            Event::Started(flits) => {
                if sender.flow.started(flits, actions) {
                    sender.send(ANNOUNCE, 0, actions);
                }
            }
            Event::Timer => {
                if sender.flow.rings(now) {
                    sender.collect(self.one_packet, actions);
                }
            }
            Event::Answered(_) | Event::Looked { .. } | Event::Told(_) => {}
        }
        sender.flow.set_timer(actions);
    }

    fn show(&self, sender: &Filler) -> String {
        String::from(if sender.is_done {
            "final"
        } else {
            "calculates"
        })
    }
}

impl Probing for Dffa {
    type Agent = Link;

    fn begin(&self, sender: &mut Filler, facts: Facts, _: &mut Actions) {
        sender.flow.know(facts.weight.into(), None, None);
    }

    fn agent(&self, place: Place) -> Link {
        Link::new(capacity(self.link, place))
    }

    fn is_of_links(&self) -> bool {
        true
    }

    fn visit(&self, link: &mut Link, _: u64, payload: &mut Payload) {
        let [what, mut full, weight, level, mut share] = unpacked(*payload, BITS);
        let (own, rate) = (weight as u64, (weight * level) as u64);
        match what {
            ANNOUNCE => link.weight += own,
            UPDATE => full |= u128::from(link.update(rate)),
            INACTIVE => link.release(own, rate),
            _ => {}
        }
        if let Some(least) = link.share() {
            share = share.min(least.into());
        }
        let fields = [what, full, weight, level, share];
        *payload = packed(fields, BITS);
    }

    fn received(&self, (): &mut (), _: u64, payload: Payload) -> Option<Reply> {
        let [what, ..] = unpacked(payload, BITS);
        (what != INACTIVE).then_some(Reply::at_once(payload))
    }

    fn returned(&self, sender: &mut Filler, now: u64, payload: Payload, actions: &mut Actions) {
        let [what, full, _, _, share] = unpacked(payload, BITS);
        sender.flow.waits = false;
        match what {
            ANNOUNCE if now < self.begin => sender.flow.rest(self.begin),
            ANNOUNCE => sender.collect(self.one_packet, actions),
            COLLECT => {
                let more = sender.rise(share, actions);
                sender.send(UPDATE, more, actions);
            }
            _ if self.one_packet => {
                let more = sender.rise(share, actions);
                if full == 1 {
                    sender.declare(actions);
                } else {
                    sender.send(UPDATE, more, actions);
                }
            }
            _ if full == 1 => sender.declare(actions),
            _ => sender.collect(false, actions),
        }
        sender.flow.set_timer(actions);
    }
}

fn build(arguments: Arguments<'_>, context: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    Ok(Algorithm::Dffa(Dffa {
        begin: cycles("begin", written.begin, context.clock)?,
        one_packet: written.one_packet,
        link: context.link,
    }))
}

#[cfg(test)]
mod tests;
