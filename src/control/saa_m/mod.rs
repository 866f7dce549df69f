//! SAA-M: the rates of [`saa`](super::saa), and what is left of the links for those who claim it, by packets.
//!
//! # Rules
//! 1. The agent of a channel has the weight of its flows, whatever classes they are of (D73), its *free* capacity (less than 0 where flows that have joined
//!    before others still have too much: *oversubscribed*), and what is *reserved*. The weight of a link is that of its
//!    flows times the cycles per flit at which it is drained; of its capacity what is reserved (F1) is left out.
//! 2. With its first packet a flow *announces* itself, unless that is its last one, too: its weight is added at every channel
//!    of its way, W, the largest weight of a link, comes back. It takes the rate weight / W, its guarantee, and tells the links.
//! 3. Then it *looks*: W, the largest weight of an oversubscribed link, O, and the least capacity c that is free and not reserved come
//!    back. With less than its guarantee it takes that. Else, with an oversubscribed link, it goes down to weight / O, if it has
//!    more. Else it *reserves* c > 0 on all links, whether or not one before has refused. A link
//!    refuses if less than nothing is left after that. Where none does, the flow takes c; otherwise it takes the
//!    reservation back and, once that is answered, looks again after a random time, 1 cycle to `back_off`.
//! 4. It looks at once after all of this, and `period` after a look that led to nothing. No flow has more than one control
//!    packet under way.
//! 5. When its last packet has started, or at its stop, weight and rate are given back, after the answer to what is under
//!    way. Of an announcement the rate is still taken, and a reservation is still claimed or taken back, before that; a
//!    look leads to nothing any more. Nothing comes back.
//! 6. The rate counts from the answer on, before the links are told. An event (D42) is another rate, or the first.
//!
//! The random time follows from the flow's number and that of its attempt alone. With `random: false` it is always
//! `back_off`: two flows that reach two links in opposite orders may then refuse each other for ever.
//!
//! # Numbers
//! Capacities and rates in 2^-32 flits per cycle, those of channels and guarantees rounded down. Sums are exact, so no test
//! needs a tolerance, and in the end every flow has a link with nothing left. A payload has room for weights of links
//! below 2^46. A rate below what D30 allows counts as the least that it allows.
//!
//! Needs routes of tables, as [`saa`](super::saa).
//!
//! # Deviations
//! The source announces at the start of a flow; here its first packet says that it has started. It tells the links also of
//! changes by nothing; here nobody does.
//!
//! Cost: one packet there and back for each step.
//!
//! References: [`ZDORNOV_BIRK`] §4.1.3

use super::member::{Member, OF_LINKS, Stage, packed, unpacked, whole};
use super::parameters::cycles;
use super::probe::{Facts, Payload, Place, Probing, Reply};
use super::{
    Actions, Algorithm, BuildAlgorithm, ControlContext, Event, Line, Machines, ONE_FLIT_PER_CYCLE,
};
use crate::references::ZDORNOV_BIRK;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::mix;
use crate::units::Time;
use serde::{Deserialize, Serialize};

/// Registers `SaaM`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "SaaM",
    aliases: &["SAA-M"],
    summary: "SAA, and what is left of the links is reserved and claimed by packets",
    parameters: &[
        Parameter {
            name: "period",
            kind: "time, at least 1 cycle",
            default: Some("\"10 us\""),
            summary: "from a look at the links that led to nothing to the next one",
        },
        Parameter {
            name: "back_off",
            kind: "time, at least 1 cycle",
            default: Some("\"10 us\""),
            summary: "from a reservation that failed to the next look: up to this",
        },
        Parameter {
            name: "random",
            kind: "true | false",
            default: Some("true"),
            summary: "whether that time is random; false = always the longest",
        },
    ],
    guarantees: &[
        OF_LINKS,
        "in the end no flow has less than with Saa and none could have more while all others keep theirs",
    ],
    references: &[ZDORNOV_BIRK],
    build,
};

/// What a payload is. The fields of a look: largest weight of a link, of an oversubscribed link, least capacity.
const ANNOUNCE: u128 = 0;
const LOOK: u128 = 1;
const UPDATE: u128 = 2;
const RESERVE: u128 = 3;
const CANCEL: u128 = 4;
const END: u128 = 5;

const WEIGHT: u32 = 46;
const CAPACITY: u32 = 33;
/// Of an announcement: what, weight, largest weight of a link.
const ANNOUNCED: [u32; 3] = [3, WEIGHT, WEIGHT];
/// Of a look: what, largest weight of a link, of an oversubscribed one, least capacity.
const SEEN: [u32; 4] = [3, WEIGHT, WEIGHT, CAPACITY];
/// Of all others: what, capacity, whether that is given back, reserved capacity, whether that failed, weight.
const CHANGED: [u32; 6] = [3, CAPACITY, 1, CAPACITY, 1, WEIGHT];

/// Its parameters.
#[derive(Clone, Copy, Debug)]
pub struct SaaM {
    /// Time between two looks of a flow \[cycles\].
    pub(crate) period: u64,
    /// \[cycles\].
    back_off: u64,
    random: bool,
    /// What rates may take of a link.
    link: u32,
}

/// A sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claimant {
    /// The flow.
    pub flow: Member,
    id: u32,
    /// Reservations that failed.
    failed: u32,
}

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Weight of its flows.
    pub weight: u64,
    /// Cycles per flit at which it is drained.
    pub pace: u16,
    /// What its flows leave \[2^-32 flits per cycle\]; below 0: oversubscribed.
    pub free: i64,
    /// What is reserved and not yet taken.
    pub reserved: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "SaaM", default)]
struct Parameters {
    period: Time,
    back_off: Time,
    random: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            period: Time::Picoseconds(10_000_000),
            back_off: Time::Picoseconds(10_000_000),
            random: true,
        }
    }
}

/// A packet that changes what links have: capacity, given back or not; reserved capacity; weight.
fn change(what: u128, (capacity, back): (u64, bool), reserved: u64, weight: u64) -> Payload {
    let values = [
        what,
        capacity.into(),
        back.into(),
        reserved.into(),
        0,
        weight.into(),
    ];
    packed(values, CHANGED)
}

/// A packet that looks.
fn look() -> Payload {
    let capacity = u128::from(ONE_FLIT_PER_CYCLE);
    packed([LOOK, 0, 0, capacity], SEEN)
}

impl SaaM {
    /// What every call ends with.
    fn close(sender: &mut Claimant, actions: &mut Actions) {
        let flow = &mut sender.flow;
        if flow.leaves() {
            flow.send(change(END, (flow.rate, true), 0, flow.weight), actions);
        }
        flow.set_timer(actions);
    }

    /// The rate goes up or down to another one, and links are told, if it is another; of the capacity so much was reserved.
    fn go_to(flow: &mut Member, rate: u64, reserved: u64, actions: &mut Actions) {
        let rate = rate.min(ONE_FLIT_PER_CYCLE);
        let (delta, back) = (rate.abs_diff(flow.rate), rate < flow.rate);
        flow.set_rate(rate, actions);
        if delta == 0 {
            flow.go_on(look(), actions);
            return;
        }
        flow.send(change(UPDATE, (delta, back), reserved, 0), actions);
    }

    /// A look is back.
    fn looked(&self, flow: &mut Member, now: u64, payload: Payload, actions: &mut Actions) {
        let [_, largest, over, capacity] = unpacked(payload, SEEN);
        let guarantee = flow.part_of(self.link, largest);
        if flow.stage == Stage::Over {
            return;
        }
        if flow.rate < guarantee {
            Self::go_to(flow, guarantee, 0, actions);
        } else if over > 0 && flow.part_of(self.link, over) < flow.rate {
            Self::go_to(flow, flow.part_of(self.link, over), 0, actions);
        } else if over == 0 && capacity > 0 {
            let reserve = change(RESERVE, (0, false), capacity as u64, 0);
            flow.send(reserve, actions);
        } else {
            flow.rest(now + self.period);
        }
    }

    /// Cycles until the flow looks again whose reservations have failed so often.
    fn waits(&self, id: u32, failed: u32) -> u64 {
        if self.random {
            1 + mix(u64::from(id) << 32 | u64::from(failed)) % self.back_off
        } else {
            self.back_off
        }
    }
}

impl Machines for SaaM {
    type Sender = Claimant;
    type Receiver = ();

    fn start(&self, line: Line, _: &mut Actions) -> Claimant {
        Claimant {
            flow: Member::new(line.largest),
            id: 0,
            failed: 0,
        }
    }

    fn hears_starts(&self) -> bool {
        true
    }

    fn send(&self, sender: &mut Claimant, now: u64, event: Event, actions: &mut Actions) {
        let flow = &mut sender.flow;
        match event {
            Event::Started(flits) => {
                if flow.started(flits, actions) {
                    let announcement = [ANNOUNCE, flow.weight.into(), 0];
                    flow.send(packed(announcement, ANNOUNCED), actions);
                }
            }
            Event::Timer => {
                if flow.rings(now) {
                    flow.send(look(), actions);
                }
            }
            Event::Answered(_) | Event::Looked { .. } | Event::Told(_) => {}
        }
        Self::close(sender, actions);
    }

    fn show(&self, sender: &Claimant) -> String {
        format!("{} reservations failed", sender.failed)
    }
}

impl Probing for SaaM {
    type Agent = Link;

    fn begin(&self, sender: &mut Claimant, facts: Facts, actions: &mut Actions) {
        sender.id = facts.id;
        let flow = &mut sender.flow;
        flow.know(facts.weight.into(), facts.flits, facts.stop);
        flow.set_timer(actions);
    }

    fn agent(&self, place: Place) -> Link {
        Link {
            weight: 0,
            pace: place.drain,
            free: (whole(self.link) / u64::from(place.drain)) as i64,
            reserved: 0,
        }
    }

    fn is_of_links(&self) -> bool {
        true
    }

    fn visit(&self, link: &mut Link, _: u64, payload: &mut Payload) {
        let all = |link: &Link| {
            let weight = u128::from(link.weight) * u128::from(link.pace);
            weight.min((1 << WEIGHT) - 1)
        };
        match u128::from(payload[0] & 7) {
            ANNOUNCE => {
                let [what, weight, largest] = unpacked(*payload, ANNOUNCED);
                link.weight += weight as u64;
                let fields = [what, weight, largest.max(all(link))];
                *payload = packed(fields, ANNOUNCED);
            }
            LOOK => {
                let [what, largest, mut over, capacity] = unpacked(*payload, SEEN);
                if link.free < 0 {
                    over = over.max(all(link));
                }
                let left = (link.free - link.reserved).max(0) as u128;
                let fields = [what, largest.max(all(link)), over, capacity.min(left)];
                *payload = packed(fields, SEEN);
            }
            what => {
                let mut fields = unpacked(*payload, CHANGED);
                let [_, capacity, back, reserved, failed, weight] = &mut fields;
                match what {
                    RESERVE => {
                        link.reserved += *reserved as i64;
                        if link.free < link.reserved {
                            *failed = 1;
                        }
                    }
                    CANCEL => link.reserved -= *reserved as i64,
                    _ => {
                        let taken = *capacity as i64;
                        link.free -= if *back == 1 { -taken } else { taken };
                        link.reserved -= *reserved as i64;
                        link.weight = link.weight.saturating_sub(*weight as u64);
                    }
                }
                *payload = packed(fields, CHANGED);
            }
        }
    }

    fn received(&self, (): &mut (), _: u64, payload: Payload) -> Option<Reply> {
        (u128::from(payload[0] & 7) != END).then_some(Reply::at_once(payload))
    }

    fn returned(&self, sender: &mut Claimant, now: u64, payload: Payload, actions: &mut Actions) {
        let flow = &mut sender.flow;
        flow.waits = false;
        match u128::from(payload[0] & 7) {
            ANNOUNCE => {
                let [_, _, largest] = unpacked(payload, ANNOUNCED);
                Self::go_to(flow, flow.part_of(self.link, largest), 0, actions);
            }
            LOOK => self.looked(flow, now, payload, actions),
            RESERVE => {
                let [_, _, _, reserved, failed, _] = unpacked(payload, CHANGED);
                let reserved = reserved as u64;
                if failed == 0 {
                    Self::go_to(flow, flow.rate + reserved, reserved, actions);
                } else {
                    let cancel = change(CANCEL, (0, false), reserved, 0);
                    flow.send(cancel, actions);
                }
            }
            CANCEL => {
                sender.failed += 1;
                let wait = self.waits(sender.id, sender.failed);
                sender.flow.rest(now + wait);
            }
            _ => flow.go_on(look(), actions),
        }
        Self::close(sender, actions);
    }
}

fn build(arguments: Arguments<'_>, context: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    Ok(Algorithm::SaaM(SaaM {
        period: cycles("period", written.period, context.clock)?,
        back_off: cycles("back_off", written.back_off, context.clock)?,
        random: written.random,
        link: context.link,
    }))
}

#[cfg(test)]
mod tests;
