//! Reservation: a flow that asks sends a packet over its way, which reserves its peak at every channel, and begins when the reply
//! says that all of them had room, and gives it back when it is over; so admission link by link takes time, packets and room of its own (003 S18, the peak-rate
//! reservation of `IntServ`; 003 S12 in zero time).
//!
//! # Rules
//! 1. The agent of a channel has what is left for the class: at first `utilisation` of the channel's rate where it leaves a host,
//!    elsewhere `share` of this; as `LinkByLink` has it, but each class by itself.
//! 2. From its start on a flow sends a *request*. The first channel where what is left is not more than the peak (at its host: less
//!    than the peak) refuses it; those before it have taken the peak from what is left, those behind it do nothing.
//! 3. The reply says whether the request was refused, and how many channels have reserved. If it was not, the flow begins in
//!    the next cycle. Otherwise the sender sends a *release* over the same way, with which those channels get back what they gave,
//!    and asks again, until it has asked `attempts` times, after a time between half and one and a half times `retry`: so two
//!    flows do not go on for ever to take from each other the last room that either needs (as RSVP draws its timers). The time
//!    follows from the flow's number and that of its request alone.
//! 4. `limit`: a flow sends no more than its peak.
//! 5. The receiver of a flow with a size answers the packet that brings the last of its flits. Then the sender sends a release
//!    over the way, with which all channels get back what they gave: what is reserved is held until everything has arrived.
//!
//! Soft state is not needed: packets are never lost. (A flow of whose packets one was rejected at its source never arrives
//! whole, and holds on to what it has.)
//!
//! # Deviations
//! RSVP asks on the way there (PATH) and reserves on the way back (RESV). Here the way back has other channels, so the way
//! there reserves, and what was reserved in vain is held for a round trip more.
//!
//! Cost: one packet there and one back for each request, one more for each that is refused behind the first channel, one back
//! and one there for each flow that is over.
//!
//! References: [`SEM_JACOBSEN`], [`RSVP`]

use super::parameters::{cycles, invalid};
use super::probe::{Facts, Payload, Place, Probe, Probing, Reply};
use super::{
    Actions, Algorithm, Answer, Arrival, BuildAlgorithm, ControlContext, Event, Limit, Line,
    Machines, ONE_FLIT_PER_CYCLE,
};
use crate::references::{RSVP, SEM_JACOBSEN};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::mix;
use crate::units::Time;
use serde::{Deserialize, Serialize};

/// Registers `Reservation`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "Reservation",
    aliases: &["Rsvp"],
    summary: "flows that ask begin when a packet of theirs has reserved their peak at every channel of their way",
    parameters: &[
        Parameter {
            name: "utilisation",
            kind: "number in (0, 1]",
            default: Some("0.5"),
            summary: "effective rate of a channel, as a part of its rate",
        },
        Parameter {
            name: "share",
            kind: "number in (0, 1]",
            default: Some("1"),
            summary: "what the class has of it at all channels but those of hosts",
        },
        Parameter {
            name: "retry",
            kind: "time, at least 1 cycle",
            default: Some("\"1000 cycles\""),
            summary: "from a refusal to the next request, half of it more or less",
        },
        Parameter {
            name: "attempts",
            kind: "None | integer >= 1",
            default: Some("None"),
            summary: "requests of a flow at most; None = any number",
        },
        Parameter {
            name: "limit",
            kind: "true | false",
            default: Some("true"),
            summary: "whether flows are limited to their peak",
        },
    ],
    guarantees: &["the peaks reserved on a channel are together less than the share of the class"],
    references: &[RSVP, SEM_JACOBSEN],
    build,
};

impl Reservation {
    /// Whether a channel of which nothing is reserved has room for a flow.
    pub fn has_room(&self, place: Place) -> bool {
        let room = self.agent(place);
        room.left >= room.least
    }
}

/// What a packet says, in its first word. The second one: channels that have reserved, or that are still to release.
const FITS: u32 = 0;
const REFUSED: u32 = 1;
const RELEASE: u32 = 2;

/// Its parameters.
#[derive(Clone, Debug)]
pub struct Reservation {
    /// \[2^-32 flits per cycle\].
    peak: u64,
    utilisation: f64,
    share: f64,
    /// \[cycles\].
    retry: u64,
    attempts: Option<u32>,
    limit: bool,
}

/// A sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asking {
    /// Number of the flow.
    flow: u32,
    /// Requests so far.
    asked: u32,
    /// Channels that have reserved for it.
    reserved: u32,
}

/// A receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counting {
    /// Flits of its flow that have not arrived; `None`: they do not end.
    left: Option<u64>,
}

/// What is left of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// \[2^-32 flits per cycle\].
    left: u64,
    /// The least that must be left for a flow.
    least: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Reservation", default)]
struct Parameters {
    utilisation: f64,
    share: f64,
    retry: Time,
    attempts: Option<u32>,
    limit: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            utilisation: 0.5,
            share: 1.0,
            retry: Time::Cycles(1000),
            attempts: None,
            limit: true,
        }
    }
}

impl Machines for Reservation {
    type Sender = Asking;
    type Receiver = Counting;

    fn start(&self, _: Line, actions: &mut Actions) -> Asking {
        if self.limit {
            actions.limit = Some(Limit::Rate(self.peak.min(ONE_FLIT_PER_CYCLE)));
        }
        Asking {
            flow: 0,
            asked: 0,
            reserved: 0,
        }
    }

    fn receive(&self, receiver: &mut Counting, arrival: Arrival) -> Option<Answer> {
        let left = receiver.left.as_mut()?;
        *left = left.saturating_sub(arrival.flits.into());
        (*left == 0).then_some(Answer { value: 0, after: 1 })
    }

    fn send(&self, sender: &mut Asking, _: u64, event: Event, actions: &mut Actions) {
        match event {
            Event::Timer => {
                sender.asked = sender.asked.wrapping_add(1);
                actions.log = true;
                actions.send = Some(packet(FITS, 0));
            }
            Event::Answered(_) => actions.send = Some(packet(RELEASE, sender.reserved)),
            _ => {}
        }
    }
}

fn packet(word: u32, channels: u32) -> Probe {
    Probe {
        payload: [word, channels, 0, 0],
        after: 1,
    }
}

impl Probing for Reservation {
    type Agent = Room;

    fn reserves(&self) -> bool {
        true
    }

    fn expect(&self, receiver: &mut Counting, flits: Option<u64>) {
        receiver.left = flits;
    }

    fn begin(&self, sender: &mut Asking, flow: Facts, actions: &mut Actions) {
        sender.flow = flow.id;
        actions.timer = Some(Some(flow.start));
    }

    fn agent(&self, place: Place) -> Room {
        let part = self.utilisation * if place.from_host { 1.0 } else { self.share };
        Room {
            left: (part * ONE_FLIT_PER_CYCLE as f64 / f64::from(place.pace)) as u64,
            least: self.peak + u64::from(!place.from_host),
        }
    }

    fn visit(&self, room: &mut Room, _: u64, payload: &mut Payload) {
        let [word, channels, ..] = payload;
        match *word {
            FITS if room.left >= room.least => {
                room.left -= self.peak;
                *channels += 1;
            }
            FITS => *word = REFUSED,
            RELEASE if *channels > 0 => {
                room.left += self.peak;
                *channels -= 1;
            }
            _ => {}
        }
    }

    fn received(&self, _: &mut Counting, _: u64, payload: Payload) -> Option<Reply> {
        (payload[0] != RELEASE).then_some(Reply::at_once(payload))
    }

    fn returned(&self, sender: &mut Asking, now: u64, payload: Payload, actions: &mut Actions) {
        let [word, channels, ..] = payload;
        if word == FITS {
            sender.reserved = channels;
            actions.begin = true;
            return;
        }
        if channels > 0 {
            actions.send = Some(packet(RELEASE, channels));
        }
        if self.attempts.is_none_or(|most| sender.asked < most) {
            let half = self.retry / 2;
            let drawn = mix(u64::from(sender.flow) << 32 | u64::from(sender.asked));
            let wait = self.retry - half + drawn % (2 * half + 1);
            actions.timer = Some(Some(now + wait));
        }
    }
}

fn build(arguments: Arguments<'_>, context: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    let Some(peak) = context.peak else {
        return Err(invalid(
            "it reserves what the flows of a class ask for: expected `requests` in the class",
        ));
    };
    for (name, part) in [
        ("utilisation", written.utilisation),
        ("share", written.share),
    ] {
        if !(part > 0.0 && part <= 1.0) {
            return Err(invalid(format!(
                "`{name}` is {part}: expected a number above 0, at most 1"
            )));
        }
    }
    if written.attempts == Some(0) {
        return Err(invalid("`attempts` is 0: expected None, or 1 or more"));
    }
    if written.limit && (u64::from(context.largest) << 32) / peak >= 1 << 31 {
        return Err(invalid(
            "so low a peak has more than 2^31 cycles between two packets: expected `limit: false`",
        ));
    }
    Ok(Algorithm::Reservation(Reservation {
        peak,
        utilisation: written.utilisation,
        share: written.share,
        retry: cycles("retry", written.retry, context.clock)?,
        attempts: written.attempts,
        limit: written.limit,
    }))
}

#[cfg(test)]
mod tests;
