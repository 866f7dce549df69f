//! What packets carry for mechanisms, and packets out of band: plain data that mail takes to other shards.

use crate::control::Payload;
use serde::{Deserialize, Serialize};

/// Kind of what carries it; control packets that are wanted in one cycle are made in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::cycle) enum Kind {
    /// A copy of a broadcast, which goes as control packets do; its word is the first.
    Copy,
    /// An answer; its value is the first word.
    Answer,
    /// A reply.
    Reply,
    /// A probe.
    Probe,
    /// No control packet, but one of data (D69).
    Data,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Content {
    /// Kind of packet.
    pub(in crate::cycle) kind: Kind,
    /// Whether it visits the agents on its way.
    pub(in crate::cycle) visits: bool,
    /// Words.
    pub(in crate::cycle) payload: Payload,
}

impl Content {
    /// What it is, if a packet of data carries it.
    pub(in crate::cycle) fn of_data(&self) -> Option<Payload> {
        (self.kind == Kind::Data).then_some(self.payload)
    }
}

/// A control packet out of band, or a copy of a broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Parcel {
    /// Its flow (global id).
    pub(in crate::cycle) flow: u32,
    /// Host it goes to (global id).
    pub(in crate::cycle) destination: u32,
    /// Creation cycle.
    pub(in crate::cycle) created: u64,
    /// Place on a route of its own, `NONE` where it goes by the tables.
    pub(in crate::cycle) place: u32,
    /// What it carries.
    pub(in crate::cycle) content: Content,
}

impl Parcel {
    /// Whether it is a copy of a broadcast.
    #[inline]
    pub fn is_copy(&self) -> bool {
        self.content.kind == Kind::Copy
    }
}
