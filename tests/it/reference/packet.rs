//! Packets and flits as the reference model sees them.

use virtlane::ids::{HostId, SlId};
use virtlane::routing::adaptive::Course;

/// Index into the list of all accepted packets, in order of creation.
pub(super) type PacketId = usize;

/// One packet, from its creation on.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    pub(super) source: HostId,
    pub(super) class: u16,
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
    /// Cycle in which the tail was consumed.
    pub(super) delivered: Option<u64>,
    pub(super) fecn: bool,
    /// Switches that have granted it.
    pub(super) switches: u16,
    /// Flits that have left the source host.
    pub(super) flits_sent: u16,
    /// Flits that the destination host has consumed.
    pub(super) flits_consumed: u16,
    /// Cycle in which each of them was.
    pub(super) consumed: Vec<u64>,
}

/// A packet that met a full source queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rejected {
    pub(super) source: HostId,
    pub(super) class: u16,
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
