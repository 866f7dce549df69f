//! SAA: every flow gets its weight over the largest weight of a link of its route, and finds that out by packets over it
//! ([`fluid::rates`](crate::fluid::rates) has the rates themselves).
//!
//! # Rules
//! 1. The agent of a channel has the weight of its flows, whatever classes they are of (D73). The weight of a link is this times
//!    the cycles per flit at which it is drained: weight over capacity.
//! 2. With its first packet a flow *announces* itself: a control packet adds its weight at every channel of its way and
//!    brings back the largest weight of a link, W. From then on the flow has the rate weight / W, less what is reserved (F1);
//!    until then it sends no more.
//! 3. Then it *looks*, by a packet that only brings back the largest weight: at once where the last answer was another
//!    than the one before, otherwise `period` after it. No flow has more than one control packet under way. With `piggy_back` it
//!    does not look: its packets of data do (D69). They carry the W that the flow knows and collect the largest weight of a link
//!    that they meet; where the two differ, the receiver replies with the latter. (No reply before the flow knows a W.)
//! 4. When its last packet has started, or at its stop, a packet takes its weight away again. Nothing comes back.
//! 5. `weights`: `Given`, those of the flows, or `Sizes`, what they send, in flits (2^40 at most; of a flow without a size its
//!    weight). With sizes all flows that start together are through as early as is possible. All classes have the same.
//!
//! # Numbers
//! Weights are integers, so that what is added can be taken away exactly. The rate is rounded down to 2^-32 flits per
//! cycle: those of all flows of a link are together no more than it, and each is less than one such unit below weight /
//! W, whatever order and delay packets have. A rate below what D30 allows counts as the least that it allows.
//!
//! Packets of data have 62 bits for each weight; what is larger counts as 2^62 - 1 there.
//!
//! Needs routes of tables: with adaptive routing packets of one flow visit different channels, and what links know means nothing.
//!
//! # Deviations
//! The source announces at the start of a flow; here its first packet says that it has started. An announcement is always a packet of
//! its own.
//!
//! Cost: one packet there for each change of the set of flows; one there and back for each look, or one back for each packet of
//! data that meets another weight than the one that is known.
//!
//! References: [`ZDORNOV_BIRK`] §4.1.1, §4.1.2

use super::member::{Member, OF_LINKS, packed, unpacked};
use super::parameters::{cycles, invalid};
use super::probe::{Facts, Payload, Place, Probing, Reply};
use super::{Actions, Algorithm, Arrival, BuildAlgorithm, ControlContext, Event, Line, Machines};
use crate::references::ZDORNOV_BIRK;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::units::Time;
use serde::{Deserialize, Serialize};

/// Registers `Saa`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "Saa",
    aliases: &["SAA"],
    summary: "single application assignment: a flow's rate is its weight over the largest weight of a link, found by packets",
    parameters: &[
        Parameter {
            name: "period",
            kind: "time, at least 1 cycle",
            default: Some("\"10 us\""),
            summary: "from an answer without news to the next look at the links; not with `piggy_back`",
        },
        Parameter {
            name: "weights",
            kind: "Given | Sizes",
            default: Some("Given"),
            summary: "weights of the flows, or what they send in all",
        },
        Parameter {
            name: "piggy_back",
            kind: "true | false",
            default: Some("false"),
            summary: "whether packets of data carry weights in place of looks",
        },
    ],
    guarantees: &[
        "one look after the last flow has announced itself every rate is final until one ends",
        OF_LINKS,
        "with sizes as weights the last of flows that start together ends as early as is possible",
    ],
    references: &[ZDORNOV_BIRK],
    build,
};

const ANNOUNCE: u128 = 0;
const LOOK: u128 = 1;
const END: u128 = 2;
/// A packet of data.
const DATA: u128 = 3;
/// The reply to one.
const NEWS: u128 = 4;

/// Bits of a payload: what it is, weight, largest weight of a link.
const BITS: [u32; 3] = [4, 44, 80];

/// Bits of what packets of data carry: what it is, largest weight that is known, and that it has met.
const DATA_BITS: [u32; 3] = [4, 62, 62];

/// Largest weight in packets of data.
const MOST: u128 = (1 << DATA_BITS[2]) - 1;

/// What weights are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Weights {
    /// Those of the flows.
    Given,
    /// What they send.
    Sizes,
}

/// Its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Saa {
    /// Time between two looks of a flow \[cycles\]; `None`: its packets of data look.
    pub(crate) period: Option<u64>,
    /// What weights are.
    pub weights: Weights,
    /// What rates may take of a link.
    link: u32,
}

/// A sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sharer {
    /// The flow.
    pub flow: Member,
    /// Largest weight of a link that it knows of; 0 = none.
    pub largest: u128,
}

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Weight of its flows.
    pub weight: u64,
    /// Cycles per flit at which it is drained.
    pub pace: u16,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Saa", default)]
struct Parameters {
    period: Option<Time>,
    weights: Weights,
    piggy_back: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            period: None,
            weights: Weights::Given,
            piggy_back: false,
        }
    }
}

fn packet(what: u128, weight: u64) -> Payload {
    packed([what, weight.into(), 0], BITS)
}

/// What packets of data of a flow carry that knows of this weight.
fn data(known: u128) -> Payload {
    packed([DATA, known.min(MOST), 0], DATA_BITS)
}

impl Saa {
    /// The flow knows of this largest weight of a link.
    fn learn(&self, sender: &mut Sharer, largest: u128, actions: &mut Actions) {
        sender.largest = largest;
        let rate = sender.flow.part_of(self.link, largest);
        sender.flow.set_rate(rate, actions);
        if self.carries() {
            actions.carry = Some(data(largest));
        }
    }

    /// What every call ends with.
    fn close(sender: &mut Sharer, actions: &mut Actions) {
        if sender.flow.leaves() {
            let end = packet(END, sender.flow.weight);
            sender.flow.send(end, actions);
        }
        sender.flow.set_timer(actions);
    }
}

impl Machines for Saa {
    type Sender = Sharer;
    type Receiver = ();

    fn start(&self, line: Line, _: &mut Actions) -> Sharer {
        Sharer {
            flow: Member::new(line.largest),
            largest: 0,
        }
    }

    fn hears_starts(&self) -> bool {
        true
    }

    fn send(&self, sender: &mut Sharer, now: u64, event: Event, actions: &mut Actions) {
        let flow = &mut sender.flow;
        match event {
            Event::Started(flits) => {
                if flow.started(flits, actions) {
                    flow.send(packet(ANNOUNCE, flow.weight), actions);
                }
            }
            Event::Timer => {
                if flow.rings(now) {
                    flow.send(packet(LOOK, 0), actions);
                }
            }
            Event::Answered(_) | Event::Looked { .. } | Event::Told(_) => {}
        }
        Self::close(sender, actions);
    }

    fn show(&self, sender: &Sharer) -> String {
        format!("weight {} of {}", sender.flow.weight, sender.largest)
    }
}

impl Probing for Saa {
    type Agent = Link;

    fn begin(&self, sender: &mut Sharer, facts: Facts, actions: &mut Actions) {
        let weight = u64::from(facts.weight);
        let weight = match self.weights {
            Weights::Given => weight,
            Weights::Sizes => facts.flits.unwrap_or(weight),
        };
        sender.flow.know(weight, facts.flits, facts.stop);
        sender.flow.set_timer(actions);
        if self.carries() {
            actions.carry = Some(data(0));
        }
    }

    fn agent(&self, place: Place) -> Link {
        Link {
            weight: 0,
            pace: place.drain,
        }
    }

    fn visit(&self, link: &mut Link, _: u64, payload: &mut Payload) {
        let [what, weight, largest] = unpacked(*payload, BITS);
        if what == DATA {
            let own = u128::from(link.weight) * u128::from(link.pace);
            let [_, known, largest] = unpacked(*payload, DATA_BITS);
            *payload = packed([DATA, known, largest.max(own.min(MOST))], DATA_BITS);
            return;
        }
        match what {
            ANNOUNCE => link.weight += weight as u64,
            END => link.weight = link.weight.saturating_sub(weight as u64),
            _ => {}
        }
        let own = u128::from(link.weight) * u128::from(link.pace);
        let fields = [what, weight, largest.max(own)];
        *payload = packed(fields, BITS);
    }

    fn received(&self, (): &mut (), _: u64, payload: Payload) -> Option<Reply> {
        let [what, ..] = unpacked(payload, BITS);
        (what != END).then_some(Reply::at_once(payload))
    }

    fn returned(&self, sender: &mut Sharer, now: u64, payload: Payload, actions: &mut Actions) {
        let [what, _, largest] = unpacked(payload, BITS);
        let is_new = largest != sender.largest;
        if what != NEWS {
            sender.flow.waits = false;
            self.learn(sender, largest, actions);
        } else if is_new && sender.flow.takes_part() {
            self.learn(sender, largest, actions);
        }
        match self.period {
            None => {}
            Some(_) if is_new => sender.flow.go_on(packet(LOOK, 0), actions),
            Some(period) => sender.flow.rest(now + period),
        }
        Self::close(sender, actions);
    }

    fn is_of_links(&self) -> bool {
        true
    }

    fn carries(&self) -> bool {
        self.period.is_none()
    }

    fn carried(&self, (): &mut (), _: Arrival, payload: Payload) -> Option<Reply> {
        let [_, known, largest] = unpacked(payload, DATA_BITS);
        let news = packed([NEWS, 0, largest], BITS);
        (known > 0 && known != largest).then_some(Reply::at_once(news))
    }
}

fn build(arguments: Arguments<'_>, context: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    let period = match (written.piggy_back, written.period) {
        (true, Some(_)) => {
            let message = "`period` says when a flow looks, and with `piggy_back` its packets of data do: leave one of them out";
            return Err(invalid(message));
        }
        (true, None) => None,
        (false, period) => {
            let period = period.unwrap_or(Time::Picoseconds(10_000_000));
            Some(cycles("period", period, context.clock)?)
        }
    };
    Ok(Algorithm::Saa(Saa {
        period,
        weights: written.weights,
        link: context.link,
    }))
}

#[cfg(test)]
mod tests;
