//! The packets of a flow that have started or entered (D46), and which of them are outstanding (D33, D64).

use super::flow::Look;
use crate::reference::packet::{Packet, PacketId};
use std::collections::BTreeMap;

/// The packets.
#[derive(Debug, Default)]
pub(super) struct Gone {
    /// In order.
    packets: Vec<PacketId>,
    /// Cycle from which a packet counts as delivered that was delivered before a fork.
    before_fork: BTreeMap<PacketId, u64>,
}

impl Gone {
    /// A packet goes.
    pub(super) fn go(&mut self, id: PacketId) {
        self.packets.push(id);
    }

    /// Their flits.
    pub(super) fn flits(&self, packets: &[Packet]) -> u64 {
        let sizes = self.packets.iter().map(|&id| packets[id].size);
        sizes.map(u64::from).sum()
    }

    /// Cycle from which a packet counts as delivered under a window with this delay.
    fn counts_from(&self, packets: &[Packet], id: PacketId, delay: u64) -> Option<u64> {
        let before = self.before_fork.get(&id).copied();
        before.or_else(|| Some(packets[id].delivered? + delay))
    }

    /// D33: packets that do not count as delivered yet.
    pub(super) fn outstanding(&self, look: Look<'_>, delay: u64) -> usize {
        let is_out = |&&id: &&PacketId| {
            let from = self.counts_from(look.packets, id, delay);
            from.is_none_or(|cycle| look.now < cycle)
        };
        self.packets.iter().filter(is_out).count()
    }

    /// D64: what was delivered so far counts when it would have, under the window with this delay.
    pub(super) fn fork(&mut self, packets: &[Packet], delay: u64) {
        let known = self.packets.iter().filter_map(|&id| {
            let from = self.counts_from(packets, id, delay)?;
            Some((id, from))
        });
        self.before_fork = known.collect();
    }
}
