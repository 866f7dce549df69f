//! Messages, as those who hand them over and those who tell of their packets know them.

use crate::fabric::PacketRecord;
use crate::ids::SlId;
use serde::{Deserialize, Serialize};

/// What a message is known by: the first of its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MessageKey {
    /// Sending host (global id).
    pub source: u32,
    /// Traffic class.
    pub class: u16,
    /// Number of its first packet within source and class.
    pub first: u32,
}

/// A message that is read.
#[derive(Clone, Debug)]
pub struct Post {
    /// Number over all sources of messages.
    pub number: u64,
    /// What it is known by.
    pub key: MessageKey,
    /// Receiving host (global id).
    pub destination: u32,
    /// Service level of its packets.
    pub sl: SlId,
    /// Earliest cycle of release.
    pub time: u64,
    /// Size \[flits\].
    pub flits: u64,
    /// Packets.
    pub packets: u32,
    /// What it waits for: number, delay \[cycles\].
    pub after: Vec<(u64, u64)>,
}

impl MessageKey {
    /// What a packet of a message is known by.
    pub fn of(record: &PacketRecord) -> Self {
        Self {
            source: record.source,
            class: record.class,
            first: record.sequence,
        }
    }
}
