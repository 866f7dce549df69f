//! What a head is, keeps and asks for.

use crate::fabric::rows::QueueRow;
use crate::ids::{ChannelId, HostId};

/// The buffer at the end of a channel, and a lane of it; of a pool lane 0.
pub(super) type Space = (ChannelId, u8);

/// What a packet is named by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// Host that has made it.
    pub source: HostId,
    /// Its class.
    pub class: u16,
    /// Its number there.
    pub sequence: u32,
}

/// What a head asks for: room behind a lane of an output or of a host's channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    pub(super) space: Space,
    /// Lane of the channel.
    pub(super) lane: u8,
    /// All of it.
    pub(super) empty: bool,
}

/// Which head it is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// The first packet of a queue requests. With D9 it may have to wait for a turn, unless there are
    /// claims (D72), with kept inputs (D65) for its port.
    Request {
        turn: Option<Turn>,
        keeper: Option<Space>,
        claim: Option<Claim>,
    },
    /// It stands in the queues of several outputs (D84).
    Stands {
        /// For each that it wants the packets before it in that queue.
        ahead: Vec<Vec<Name>>,
    },
    /// It holds the output lane that it wants (D65).
    Holds,
    /// The first control packet of a lane of a host's channel.
    Answer,
    /// The sink has no room for its answer (D57).
    Held(Room),
}

/// Place in the turn of an output lane (D7).
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// Smallest first.
    pub(super) key: (u64, u16),
    /// Queues of its input that may ever keep it busy; `None`: nothing does.
    pub(super) rivals: Option<u32>,
}

/// The claim of a head (D72), and its place among those of its switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    /// What it bars, but for the claims before it.
    pub(super) bars: Space,
    /// Smallest first.
    pub(super) key: (u64, QueueRow),
}

/// Room for the answers of a class at a host.
#[derive(Clone, Debug)]
pub(super) struct Room {
    /// All of it \[packets\].
    pub(super) places: u32,
    /// What one packet takes of it.
    pub(super) needs: u32,
    /// Packets of its answers in control queues, by lane of the host's channel.
    pub(super) queued: Vec<(Space, u32)>,
}

/// A head.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) name: Name,
    pub(super) destination: HostId,
    pub(super) size: u16,
    /// Channel and lane that it came by; of an answer those that it leaves by.
    pub(super) at: Space,
    pub(super) kind: Kind,
    /// Space that its queue keeps, and how much of it \[flits\].
    pub(super) keeps: (Space, u32),
    /// Room that it needs \[flits\].
    pub(super) needs: u32,
    /// Any of these will do.
    pub(super) wants: Vec<Want>,
}
