//! Packets and flits as the reference model sees them.

use super::Setting;
use super::routing::Routing;
use virtlane::control::Payload;
use virtlane::ids::{HostId, SlId};
use virtlane::routing::adaptive::Course;
use virtlane::traffic::Creation;

/// Index into the list of all accepted packets, in order of creation.
pub(super) type PacketId = usize;

/// One packet, from its creation on.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    pub(super) source: HostId,
    pub(super) class: u16,
    /// Its flow, when it is one of a flow.
    pub(super) flow: Option<usize>,
    /// What it says, when it is a control packet (D39, D47).
    pub(super) saying: Option<Saying>,
    /// What it carries from its start on, when it is one of a class whose packets do (D69).
    pub(super) carries: Option<Payload>,
    /// Number of the session, when it is one of a probe flow (D59).
    pub(super) session: Option<u64>,
    /// Whether with it all flits of its flow are made, which has a size.
    pub(super) is_last: bool,
    pub(super) sequence: u64,
    pub(super) destination: HostId,
    pub(super) sl: SlId,
    /// Sent on VL15.
    pub(super) management: bool,
    /// Layer of the path, carried from the source on; 0 with adaptive routing.
    pub(super) layer: u8,
    /// D20: from the first request at the first switch on.
    pub(super) course: Option<Course>,
    /// Flits.
    pub(super) size: u16,
    pub(super) created: u64,
    /// Cycle in which the first flit entered the first channel.
    pub(super) injected: Option<u64>,
    /// D74: what it is late by on the first channel; with single flits (D65) each of them has its own.
    pub(super) late: u64,
    /// When it is through the first channel, once that is known: from its start on, with single flits (D78) from its last one on.
    pub(super) through: Option<Through>,
    /// Cycle in which the tail was consumed.
    pub(super) delivered: Option<u64>,
    pub(super) fecn: bool,
    /// Switches that have granted it.
    pub(super) switches: u16,
    /// Flits that have left the source host.
    pub(super) flits_sent: u16,
    /// Flits that the destination host has consumed.
    pub(super) flits_consumed: u16,
    /// Cycle in which each of them counts as consumed.
    pub(super) consumed: Vec<u64>,
    /// D58: when a switch dropped it.
    pub(super) dropped: Option<Drop>,
    /// Flits that have left the buffer of that switch since.
    pub(super) flits_dropped: u16,
}

/// The end of a packet on the channel of its host (D21, D63, D78).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Through {
    /// Cycle in which that is decided.
    pub(super) known: u64,
    /// Cycle from which on the channel is free of it.
    pub(super) free: u64,
}

/// A drop (D58).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Drop {
    pub(super) cycle: u64,
    /// Channel that it would have left by.
    pub(super) channel: usize,
}

impl Packet {
    /// A packet that is made now.
    pub(super) fn new(
        setting: Setting<'_>,
        source: HostId,
        class: u16,
        flow: Option<usize>,
        made: Creation,
        now: u64,
    ) -> Self {
        let (first, _) = setting.graph.attachment(source).expect("a switch");
        Self {
            source,
            class,
            flow,
            saying: None,
            carries: None,
            session: None,
            is_last: false,
            sequence: made.sequence,
            destination: made.destination,
            sl: made.sl,
            management: setting.plan.classes[usize::from(class)].management,
            layer: match setting.routing {
                Routing::Tables(tables) => tables.path_layer(first, made.destination),
                Routing::Adaptive(_) => 0,
            },
            course: None,
            size: made.size,
            created: now,
            injected: None,
            late: 0,
            through: None,
            delivered: None,
            fecn: false,
            switches: 0,
            flits_sent: 0,
            flits_consumed: 0,
            consumed: Vec::new(),
            dropped: None,
            flits_dropped: 0,
        }
    }
}

/// What a control packet says, and of which flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Saying {
    pub(super) flow: usize,
    /// Number of an answer within the flow, from 0; all packets of it say the same (D45).
    pub(super) number: u64,
    pub(super) says: Says,
}

impl Saying {
    /// Whether it goes to the sender of the flow; else to the receiver.
    pub(super) fn is_for_sender(&self) -> bool {
        !matches!(self.says, Says::Probe(_))
    }

    /// The hosts between which it goes.
    pub(super) fn ends(&self, setting: Setting<'_>) -> (HostId, HostId) {
        let flow = &setting.plan.flows[self.flow];
        if self.is_for_sender() {
            (flow.destination, flow.source)
        } else {
            (flow.source, flow.destination)
        }
    }
}

/// The kinds of control packets, in the order in which those of one call cycle are made (D47).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// To a packet of the flow (D40).
    Answer(u32),
    /// To a probe.
    Reply {
        payload: Payload,
        /// Whether it visits agents (D48).
        visits: bool,
    },
    /// Of a sender.
    Probe(Payload),
}

impl Says {
    /// Place among those of one call cycle.
    pub(super) fn rank(self) -> u8 {
        match self {
            Self::Answer(_) => 0,
            Self::Reply { .. } => 1,
            Self::Probe(_) => 2,
        }
    }

    /// What it shows the agents that it visits, if it visits any (D48).
    pub(super) fn shown(&mut self) -> Option<&mut Payload> {
        match self {
            Self::Answer(_) | Self::Reply { visits: false, .. } => None,
            Self::Reply { payload, .. } | Self::Probe(payload) => Some(payload),
        }
    }
}

/// A packet that met a full source queue, or a full queue of its flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rejected {
    pub(super) source: HostId,
    pub(super) class: u16,
    pub(super) flow: Option<usize>,
    /// Flits.
    pub(super) size: u16,
    pub(super) created: u64,
}

/// Flit `index` of a packet; flit 0 is the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flit {
    pub(super) packet: PacketId,
    pub(super) index: u16,
}
