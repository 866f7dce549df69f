//! Mail: what crosses from a shard to another. Everything in it is plain data.

use crate::cycle::mechanisms::probes::{Content, Parcel};
use crate::cycle::snapshot::Persistent;
use crate::fabric::rows::{LaneRow, PortRow};
use crate::fabric::{Packet, PacketRecord};
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// Something for another shard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Mail {
    /// A packet that may request from cycle `at` on.
    Packet {
        /// Receiving lane there.
        lane: LaneRow,
        /// Cycle.
        at: u64,
        /// The packet.
        packet: Packet,
        /// Its record.
        record: PacketRecord,
    },
    /// Credits that count from cycle `at` on.
    Credits {
        /// Sending lane there.
        lane: LaneRow,
        /// Cycle.
        at: u64,
        /// Credits.
        flits: u16,
        /// Cycles between two.
        step: u16,
    },
    /// What the packet before it says.
    Content(Content),
    /// A control packet out of band that comes by the input of a port there.
    Parcel {
        /// Number of its network.
        network: u16,
        /// The port.
        port: PortRow,
        /// Cycle.
        at: u64,
        /// The packet.
        parcel: Parcel,
    },
    /// Something that a mechanism tells itself in another shard.
    Notice {
        /// Number of the [`Receiver`](crate::cycle::ties::Receiver).
        receiver: u16,
        /// What it is about: a row there.
        row: u32,
        /// Cycle.
        at: u64,
    },
}

impl Mail {
    /// Cycle from which it counts.
    pub fn at(&self) -> u64 {
        match self {
            Self::Packet { at, .. }
            | Self::Credits { at, .. }
            | Self::Parcel { at, .. }
            | Self::Notice { at, .. } => *at,
            Self::Content(_) => u64::MAX,
        }
    }
}

/// Mail of the running window, per receiving shard.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct Outbox(pub Vec<Vec<Mail>>);

/// Far end of a channel that crosses the shard's border.
#[derive(Clone, Copy, Debug)]
pub struct Border {
    /// Shard there.
    pub shard: u32,
    /// Port there.
    pub port: PortRow,
    /// Global id of the switch there.
    pub switch: u32,
    /// Start of the row of the forwarding table that its packets are looked up in there.
    pub table_start: u32,
}

impl Persistent for Outbox {}
