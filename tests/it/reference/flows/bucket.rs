//! What has entered a lane of a host from its flows, and has not started (D46).

use super::flow::Look;
use super::scheduler::Place;
use crate::reference::packet::PacketId;

/// The place of the FIFO in a lane with leaky buckets; that of the queue is 0.
pub(super) const FIFO: Place = 1;

/// The FIFO of a lane.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    /// Packets, each with the cycle of its entry.
    entered: Vec<(u64, PacketId)>,
}

impl Fifo {
    /// A packet enters.
    pub(super) fn enter(&mut self, id: PacketId, now: u64) {
        assert!(self.entered.last().is_none_or(|last| last.0 <= now));
        self.entered.push((now, id));
    }

    /// The first packet.
    pub(super) fn head(&self) -> Option<PacketId> {
        self.entered.first().map(|&(_, id)| id)
    }

    /// The candidate of the lane, whose source queue begins with `head`.
    pub(super) fn pick(&self, look: Look<'_>, head: Option<PacketId>) -> Option<Place> {
        match (self.entered.first(), head) {
            (None, None) => None,
            (Some(_), None) => Some(FIFO),
            (Some(&(entry, _)), Some(head)) if entry < look.packets[head].created => Some(FIFO),
            (_, Some(_)) => Some(0),
        }
    }

    /// The first packet starts.
    pub(super) fn start(&mut self) -> PacketId {
        self.entered.remove(0).1
    }

    /// All packets.
    pub(super) fn packets(&self) -> impl Iterator<Item = PacketId> {
        self.entered.iter().map(|&(_, id)| id)
    }
}
