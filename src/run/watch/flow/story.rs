//! What is told of a flow: its events, and why it does not send.

use crate::measure::Digest;
use serde::Serialize;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowWhat {
    /// Its start cycle.
    Begins,
    /// Its stop cycle.
    Stops,
    /// A packet of it is made and joins its queue, or a control packet its control queue.
    Created,
    /// Packets are refused by the full queue of the flow.
    Rejected,
    /// Packets enter the FIFO of the lane (leaky buckets).
    Enters,
    /// It does not send.
    Waits,
    /// A packet starts on its host's channel; to the cycle in which its tail does.
    Starts,
    /// A packet wins an arbitration.
    Granted,
    /// The tail of a packet is consumed.
    Delivered,
    /// A switch drops a packet.
    Dropped,
    /// Packets count as acknowledged.
    Acknowledged,
    /// An answer is there, whole, or a reply.
    Answered,
    /// Its sender has changed, or what it has set; limits and windows count from the next cycle on.
    Control,
    /// Its limit has changed, as the scenario says.
    Limit,
    /// All its flits are delivered.
    Complete,
}

/// Why a flow does not send; in the order in which it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// Its start cycle has not come.
    NotBegun,
    /// It has no packet.
    NoPacket,
    /// Its window is closed.
    Window,
    /// Its limit.
    Limit,
    /// The gate of its group is closed.
    Gate,
    /// Another packet crosses the channel of the host.
    ChannelBusy,
    /// A control packet goes first.
    ControlPacket,
    /// The scheduler has picked another.
    Scheduler,
    /// The flows of its lane wait for their tick.
    Tick,
    /// The buffer behind the channel has no room.
    NoCredit,
    /// Another lane of the host was chosen.
    OtherLane,
}

impl Hold {
    /// Whether another packet was chosen, which then keeps the channel.
    pub(super) fn keeps_channel(self) -> bool {
        use Hold::{ChannelBusy, ControlPacket, OtherLane, Scheduler};
        matches!(self, ChannelBusy | ControlPacket | OtherLane | Scheduler)
    }
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowEvent {
    /// Cycle.
    pub cycle: u64,
    /// Last cycle, for what lasts.
    pub until: u64,
    /// What happens.
    pub event: FlowWhat,
    /// The packet, named as in packets.csv.
    pub packet: Option<String>,
    /// Host, or switch and port.
    pub place: String,
    /// Lane there.
    pub lane: Option<u8>,
    /// Why it does not send.
    pub reason: Option<Hold>,
    /// In words.
    pub detail: String,
}

/// What a flow does.
#[derive(Clone, Debug, Serialize)]
pub struct FlowStory {
    /// Its id.
    pub flow: u32,
    /// Name of its class.
    pub class: String,
    /// Host that sends.
    pub source: u32,
    /// Host that receives.
    pub destination: u32,
    /// What it sends in all \[flits\]; `None` = without end.
    pub size: Option<u64>,
    /// Its start cycle, once it has come.
    pub start: Option<u64>,
    /// Packets started.
    pub started: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets dropped by switches.
    pub dropped: u64,
    /// Cycle in which the last of its flits was delivered.
    pub complete: Option<u64>,
    /// Events by cycle.
    pub events: Vec<FlowEvent>,
    /// Cycles simulated.
    pub cycles: u64,
    /// Whether the fabric is deadlocked.
    pub is_stuck: bool,
    /// Digest of all deliveries so far.
    #[serde(skip)]
    pub digest: Digest,
}
