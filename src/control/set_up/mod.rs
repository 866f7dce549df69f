//! Set-up: packets that go ahead of every flow choose its route switch by switch, and packets behind it take it down
//! (adaptive flow routing, 001 §1.3 and §1.4). What switches do with them is D67 of the model.
//!
//! # Rules
//! 1. From its start on, or once the flow before it on the same connection is over, a flow sends a *set-up*: a probe whose first
//!    word is [`SET_UP`]. When the reply is back the flow begins.
//! 2. The receiver answers the packet with which all of the flow has come. Then the sender sends a *tear-down*, a probe whose
//!    first word is [`TEAR_DOWN`], over the same route; when the reply is back the connection is free for its next flow.
//! 3. `release: LastPacket` lets the packet with which all of the flow has come take the route down; when the answer to it is back
//!    the connection is free for its next flow. That is the source's piggy-backed variant.
//! 4. `release: AtOnce` waits for neither: the tear-down goes when the last packet has started, and the next flow is free to go at
//!    once. That is a fault to be found: packets of a connection may then overtake each other.
//!
//! Cost: four control packets and an answer for each flow, two less where the last packet takes its route down; and a round trip
//! before its first packet.
//!
//! References: [`ZDORNOV_BIRK`] §3.1, §3.2

use super::parameters::within;
use super::probe::{Facts, Payload, Place, Probe, Probing, Reply};
use super::{
    Actions, Algorithm, Answer, Arrival, BuildAlgorithm, ControlContext, Event, Line, Machines,
};
use crate::references::ZDORNOV_BIRK;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use serde::{Deserialize, Serialize};

/// Registers `SetUp`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "SetUp",
    aliases: &["AdaptiveFlowRouting"],
    summary: "packets ahead of every flow choose its route in k-ary n-trees and enriched trees, by counters of flows",
    parameters: &[
        Parameter {
            name: "hops",
            kind: "None | 0..=2147483648",
            default: Some("8"),
            summary: "most horizontal links at each level; None = to the end of the chain",
        },
        Parameter {
            name: "free",
            kind: "true | false",
            default: Some("false"),
            summary: "whether the first hop of a level may go to either side; else towards the farther end of the chain",
        },
        Parameter {
            name: "cache",
            kind: "None | 0..=2147483648",
            default: Some("None"),
            summary: "places of an input for outputs that are not those of tables; None = any number",
        },
        Parameter {
            name: "connections",
            kind: "Flows | Pairs",
            default: Some("Flows"),
            summary: "what goes one after the other: nothing, or all flows from one host to another",
        },
        Parameter {
            name: "release",
            kind: "Acknowledged | LastPacket | AtOnce",
            default: Some("Acknowledged"),
            summary: "when a route is taken down: after all of the flow has come, by its last packet, or behind that at once, \
                      which may break the order of packets",
        },
    ],
    guarantees: &[
        "a set-up is never refused",
        "packets of a connection arrive in order (but for release: AtOnce)",
    ],
    references: &[ZDORNOV_BIRK],
    build,
};

/// First word of a probe that chooses the route of its flow; the second word is the hops left where it came by a
/// horizontal channel.
pub const SET_UP: u32 = 1;

/// First word of a probe that takes the route down.
pub const TEAR_DOWN: u32 = 2;

/// Hops left that stand for any number.
pub const ANY_HOPS: u32 = u32::MAX;

/// Most hops and places of a cache.
const MOST: u64 = 1 << 31;

/// What has a route of its own after another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Connections {
    /// Each flow by itself.
    #[default]
    Flows,
    /// All flows of a class from one host to another, in order.
    Pairs,
}

/// When a route is taken down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Release {
    /// When all of the flow has come.
    #[default]
    Acknowledged,
    /// By its last packet, on its way.
    LastPacket,
    /// When its last packet has started.
    AtOnce,
}

/// Its parameters.
#[derive(Clone, Debug)]
pub struct SetUp {
    /// Most horizontal hops of a level, [`ANY_HOPS`] = any number.
    pub hops: u32,
    /// Whether the first hop of a level may go to either side.
    pub free: bool,
    /// Entries of a cache, [`u32::MAX`] = any number.
    pub cache: u32,
    /// What is a connection.
    pub connections: Connections,
    /// When a route is taken down.
    pub release: Release,
}

/// A sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Flits that have not started.
    left: u64,
    stage: Stage,
}

/// What a sender waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Its turn.
    Turn,
    /// The reply to its set-up.
    SetUp,
    /// The end of its flow.
    Active,
    /// The reply to its tear-down.
    TearDown,
    /// Nothing.
    Over,
}

/// A receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sink {
    /// Flits that have not come.
    left: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "SetUp", default)]
struct Parameters {
    hops: Option<u64>,
    free: bool,
    cache: Option<u64>,
    connections: Connections,
    release: Release,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            hops: Some(8),
            free: false,
            cache: None,
            connections: Connections::Flows,
            release: Release::Acknowledged,
        }
    }
}

impl Machines for SetUp {
    type Sender = Source;
    type Receiver = Sink;

    fn start(&self, _: Line, _: &mut Actions) -> Source {
        Source {
            left: 0,
            stage: Stage::Turn,
        }
    }

    fn receive(&self, receiver: &mut Sink, arrival: Arrival) -> Option<Answer> {
        let was_open = receiver.left > 0;
        receiver.left = receiver.left.saturating_sub(arrival.flits.into());
        let is_last = was_open && receiver.left == 0;
        (is_last && self.release != Release::AtOnce).then_some(Answer { value: 0, after: 1 })
    }

    fn send(&self, sender: &mut Source, _: u64, event: Event, actions: &mut Actions) {
        match (event, sender.stage) {
            (Event::Timer, Stage::Turn) => {
                sender.stage = Stage::SetUp;
                actions.send = Some(packet(SET_UP));
            }
            (Event::Started(flits), Stage::Active) if self.release == Release::AtOnce => {
                sender.left = sender.left.saturating_sub(flits.into());
                if sender.left == 0 {
                    sender.stage = Stage::TearDown;
                    actions.send = Some(packet(TEAR_DOWN));
                    actions.close = true;
                }
            }
            (Event::Answered(_), Stage::Active) if self.release == Release::LastPacket => {
                sender.stage = Stage::Over;
                actions.log = true;
                actions.close = true;
            }
            (Event::Answered(_), Stage::Active) => {
                sender.stage = Stage::TearDown;
                actions.send = Some(packet(TEAR_DOWN));
            }
            _ => {}
        }
    }

    fn show(&self, sender: &Source) -> String {
        let words = match sender.stage {
            Stage::Turn => "waits for its turn",
            Stage::SetUp => "its route is being set up",
            Stage::Active => "its route is set up",
            Stage::TearDown => "its route is being taken down",
            Stage::Over => "its route is taken down",
        };
        words.to_owned()
    }

    fn hears_starts(&self) -> bool {
        self.release == Release::AtOnce
    }
}

fn packet(word: u32) -> Probe {
    Probe {
        payload: [word, 0, 0, 0],
        after: 1,
    }
}

impl Probing for SetUp {
    type Agent = ();

    fn has_agents(&self) -> bool {
        false
    }

    fn begin(&self, sender: &mut Source, flow: Facts, actions: &mut Actions) {
        sender.left = flow.flits.unwrap_or(u64::MAX);
        actions.timer = Some((flow.start != Facts::NO_START).then_some(flow.start));
    }

    fn expect(&self, receiver: &mut Sink, flits: Option<u64>) {
        receiver.left = flits.unwrap_or(u64::MAX);
    }

    fn agent(&self, _: Place) {}

    fn visit(&self, (): &mut (), _: u64, _: &mut Payload) {}

    fn received(&self, _: &mut Sink, _: u64, payload: Payload) -> Option<Reply> {
        Some(Reply {
            payload,
            after: 1,
            visits: false,
        })
    }

    fn returned(&self, sender: &mut Source, _: u64, payload: Payload, actions: &mut Actions) {
        actions.log = true;
        if payload[0] == SET_UP {
            sender.stage = Stage::Active;
            actions.begin = true;
        } else {
            sender.stage = Stage::Over;
            actions.close = true;
        }
    }
}

fn build(arguments: Arguments<'_>, _: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    let whole = |name: &str, value: Option<u64>| match value {
        Some(value) => within(name, value, 0..=MOST, "or None").map(|value| value as u32),
        None => Ok(u32::MAX),
    };
    Ok(Algorithm::SetUp(SetUp {
        hops: whole("hops", written.hops)?,
        free: written.free,
        cache: whole("cache", written.cache)?,
        connections: written.connections,
        release: written.release,
    }))
}

#[cfg(test)]
mod tests;
