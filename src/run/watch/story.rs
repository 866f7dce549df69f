//! What is told of a packet: its events, and why it waits.

use crate::measure::Digest;
use serde::Serialize;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The source makes it.
    Created,
    /// Its source queue is full.
    Rejected,
    /// It waits, at its host or in a switch.
    Waits,
    /// It starts on its host's channel; to the cycle in which its tail does.
    Injected,
    /// Its header arrives; to the cycle in which its tail does.
    Arrives,
    /// Its route is known and it requests an output.
    Requests,
    /// It wins the arbitration.
    Granted,
    /// It starts on the channel; to the cycle in which its tail does.
    Leaves,
    /// Its tail is consumed.
    Delivered,
    /// A switch takes it out of the fabric.
    Dropped,
}

/// Why a packet waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Others are before it in its queue.
    NotHead,
    /// Another packet leaves its input.
    InputBusy,
    /// Another packet crosses the channel it wants.
    OutputBusy,
    /// The next buffer has no room for it.
    NoCredit,
    /// The output lane has no room for it.
    OutputLaneFull,
    /// Another packet was chosen.
    LostArbitration,
    /// It passes the crossbar.
    Crossbar,
    /// Its host consumes other packets.
    SinkBusy,
    /// The queue of answers of its host has no room for its answer.
    NoRoomForAnswer,
    /// Its flow does not send.
    Flow,
}

impl Reason {
    /// Of several requests the one that came closest tells the reason.
    pub(super) fn rank(self) -> u8 {
        match self {
            Self::LostArbitration => 3,
            Self::OutputBusy => 2,
            Self::OutputLaneFull => 1,
            _ => 0,
        }
    }

    /// In words; the number is as of the first of the cycles.
    pub(super) fn words(self, number: u64, size: u16) -> String {
        match self {
            Self::NotHead if number == 0 => "the packet before it is still leaving".into(),
            Self::NotHead => format!("{number} before it in the queue"),
            Self::InputBusy if number == 0 => "its input sends as many packets as it may".into(),
            Self::InputBusy => format!("its input sends another packet until cycle {}", number - 1),
            Self::OutputBusy => format!("the output is taken until cycle {}", number - 1),
            Self::NoCredit => format!("{number} credits, {size} needed"),
            Self::OutputLaneFull => {
                format!("room for {number} flits in the output lane, {size} needed")
            }
            Self::LostArbitration => "arbitration lost".into(),
            Self::Crossbar => format!("in the crossbar until cycle {}", number - 1),
            Self::SinkBusy => "the host consumes another packet".into(),
            Self::NoRoomForAnswer => "the host has no room for its answer".into(),
            Self::Flow => format!("flow {number} does not send: `--flow {number}` tells why"),
        }
    }
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Cycle.
    pub cycle: u64,
    /// Last cycle, for what lasts.
    pub until: u64,
    /// What happens.
    pub event: What,
    /// Host, or switch and port: of the input, from a grant on of the output.
    pub place: String,
    /// Lane there.
    pub lane: Option<u8>,
    /// Why it waits.
    pub reason: Option<Reason>,
    /// In words.
    pub detail: String,
}

/// The life of a packet.
#[derive(Clone, Debug, Serialize)]
pub struct Story {
    /// Host that makes it.
    pub source: u32,
    /// Name of its class.
    pub class: String,
    /// Number there.
    pub sequence: u64,
    /// Host that gets it; `None` for a packet that was rejected.
    pub destination: Option<u32>,
    /// Size \[flits\].
    pub size: Option<u16>,
    /// Cycle of creation.
    pub created: u64,
    /// Cycle in which it started on its first channel.
    pub injected: Option<u64>,
    /// Cycle in which its tail was consumed.
    pub delivered: Option<u64>,
    /// Cycle in which a switch dropped it.
    pub dropped: Option<u64>,
    /// Inter-switch channels crossed.
    pub hops: u16,
    /// Events by cycle.
    pub events: Vec<Event>,
    /// Cycles simulated.
    pub cycles: u64,
    /// Whether the fabric is deadlocked, so that the packet will never be delivered.
    pub is_stuck: bool,
    /// Digest of all deliveries so far.
    #[serde(skip)]
    pub digest: Digest,
}
