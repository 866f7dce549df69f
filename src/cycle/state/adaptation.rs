//! What adaptive routing needs to know of the fabric, one copy for all shards.

use crate::routing::adaptive::{AdaptiveRouting, Selection};
use std::sync::Arc;

/// What adaptive routing needs to know of the fabric, one copy for all shards.
#[derive(Debug)]
pub struct Adaptation {
    /// The routing function.
    pub routing: Arc<dyn AdaptiveRouting>,
    /// How heads use their candidates.
    pub selection: Selection,
    /// Lanes of a group.
    pub width: u8,
    /// First lane of the group of each service level.
    pub first_lane: Vec<u8>,
    /// First entry of each switch in `port_index`.
    pub first_entry: Vec<u32>,
    /// Index among the connected ports, by port - 1.
    pub port_index: Vec<u8>,
    /// Smallest pace of a switch's outputs \[cycles per flit\].
    pub least_step: Vec<u16>,
    /// Space of a lane or pool \[flits\].
    pub capacity: u32,
}

impl Adaptation {
    /// Indices of the ports of a switch among the connected ones, from port 1 on.
    #[inline]
    pub(in crate::cycle) fn indices(&self, switch: u32) -> &[u8] {
        &self.port_index[self.first_entry[switch as usize] as usize..]
    }

    /// Lane of a source's packet with that sequence number.
    #[inline]
    pub fn injection_lane(&self, key: u8, sequence: u64) -> u8 {
        self.first_lane[usize::from(key)] + (sequence % u64::from(self.width)) as u8
    }
}
