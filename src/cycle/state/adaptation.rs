//! What adaptive routing needs to know of the fabric, one copy for all shards.

use crate::routing::adaptive::{AdaptiveRouting, Selection};
use crate::routing::entries::Entries;
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
    /// First lane of the group of each service level, then VL15.
    pub first_lane: Vec<u8>,
    /// First entry of each switch in `port_index`.
    pub first_entry: Vec<u32>,
    /// Index among the connected ports, by port - 1.
    pub port_index: Vec<u8>,
    /// Smallest pace of a switch's outputs \[cycles per flit\].
    pub least_step: Vec<u16>,
    /// Space of a lane or pool \[flits\].
    pub capacity: u32,
    /// Where packets of VL15 go.
    pub management: Option<Management>,
}

/// Ways of the packets of VL15 beside those that choose (D83).
#[derive(Debug)]
pub struct Management {
    /// Port by `[switch][host]`.
    pub next: Entries,
    /// Pace of each port, at the places of [`Adaptation::port_index`] \[cycles per flit\].
    pub port_step: Vec<u16>,
}

impl Adaptation {
    /// Indices of the ports of a switch among the connected ones, from port 1 on.
    #[inline]
    pub(in crate::cycle) fn indices(&self, switch: u32) -> &[u8] {
        &self.port_index[self.first_entry[switch as usize] as usize..]
    }

    /// Key of VL15: that behind the service levels.
    #[inline]
    pub fn management_key(&self) -> u8 {
        (self.first_lane.len() - 1) as u8
    }

    /// Port of a packet of VL15 at a switch.
    pub(in crate::cycle) fn management_port(&self, switch: u32, destination: u32) -> u16 {
        let next = self.management.as_ref().map(|tables| &tables.next);
        next.map_or(0, |next| {
            next.get(switch as usize, destination as usize).into()
        })
    }

    /// Pace of the output that a packet will leave a switch by, or the smallest that it may \[cycles per flit\].
    pub(in crate::cycle) fn step_out(&self, switch: u32, (key, destination): (u8, u32)) -> u16 {
        match &self.management {
            Some(tables) if key == self.management_key() => {
                let port = self.management_port(switch, destination);
                let first = self.first_entry[switch as usize] as usize;
                tables.port_step[first + usize::from(port) - 1]
            }
            _ => self.least_step[switch as usize],
        }
    }

    /// Lane of a source's packet with that sequence number.
    #[inline]
    pub fn injection_lane(&self, key: u8, sequence: u64) -> u8 {
        let first = self.first_lane[usize::from(key)];
        if key == self.management_key() {
            return first;
        }
        first + (sequence % u64::from(self.width)) as u8
    }
}
