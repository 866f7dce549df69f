//! What is where of packets that go flit by flit (D65): in input queues, and left to the lanes that they hold.

use crate::cycle::snapshot::Persistent;
use crate::fabric::components::NONE;
use crate::fabric::rows::{PacketRow, QueueRow};
use serde::{Deserialize, Serialize};

/// An input queue of packets that go flit by flit.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Present {
    /// Flits in it that may leave.
    pub(in crate::cycle) flits: u32,
    /// Flits of a dropped packet that have not left it; all that may leave before that are these.
    pub(in crate::cycle) lost: u16,
    /// Whether its first packet holds an output lane.
    pub(in crate::cycle) holds: bool,
}

impl Present {
    /// Flits in it that may leave.
    pub fn flits(self) -> u32 {
        self.flits
    }
}

impl Persistent for Present {}

/// An input lane with queues for each output: the queue of the packet whose flits come.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LaneQueue {
    pub(in crate::cycle) queue: QueueRow,
}

impl Persistent for LaneQueue {}

/// An output lane where outputs choose among flits by the age of their packets (D79): the cycle that goes for the packet that holds it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Age {
    pub(in crate::cycle) since: u64,
}

impl Persistent for Age {}

/// An input lane where packets are dropped before they join a queue (D79).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Discarded {
    /// Flits of such a packet that cannot leave the lane yet: the next ones to come.
    pub(in crate::cycle) left: u16,
}

impl Persistent for Discarded {}

/// Which packet it is, where that is no longer known in the shard.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Holder {
    /// Source host (global id).
    pub source: u32,
    /// Destination host (global id).
    pub destination: u32,
    /// Number within its source.
    pub sequence: u32,
    /// Its flow (global id), `NONE` without one.
    pub flow: u32,
    /// Traffic class.
    pub class: u16,
    /// Size \[flits\].
    pub size: u16,
}

/// A lane of an output or of a host: the packet that holds it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Held {
    /// Flits of the packet that have not passed; 0 = no packet holds the lane.
    pub(in crate::cycle) left: u16,
    /// The queue that they come from; of a host without meaning.
    pub(in crate::cycle) queue: QueueRow,
    /// The packet, if it goes to a host: it is delivered with the last flit.
    pub(in crate::cycle) packet: PacketRow,
    /// Its name: the packet itself may be in another shard by now.
    pub(in crate::cycle) holder: Holder,
}

impl Held {
    /// No packet holds it.
    pub(in crate::cycle) const NONE: Self = Self {
        left: 0,
        queue: QueueRow::NONE,
        packet: PacketRow::NONE,
        holder: Holder {
            source: 0,
            destination: 0,
            sequence: 0,
            flow: NONE,
            class: 0,
            size: 0,
        },
    };

    /// Whether a packet holds the lane.
    pub fn is_held(&self) -> bool {
        self.left > 0
    }

    /// Flits of the packet that holds the lane that have not passed; 0 without one.
    pub fn left(&self) -> u16 {
        self.left
    }

    /// The queue that flits of a packet have to come from over a lane of a switch, and the packet; `None`: no packet holds
    /// the lane.
    pub fn holder(&self) -> Option<(QueueRow, &Holder)> {
        (self.left > 0 && self.queue != QueueRow::NONE).then_some((self.queue, &self.holder))
    }
}

impl Persistent for Held {}
