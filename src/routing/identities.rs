//! GUIDs and LIDs of switches and hosts, as a subnet manager would give them.
//!
//! Guarantees: all GUIDs differ and none is 0; LIDs are 1 to switches + hosts, each once.
//! Cost: O(nodes log nodes).
//!
//! # Algorithm
//! 1. GUIDs are those of the graph when all of them differ and none is 0. Otherwise they are numbered as the
//!    simulator `ibsim` does: switch `i` has 0x200000 + `i`, host `h` has 0x100001 + 2 `h` (node GUID + 1).
//! 2. OpenSM keeps nodes in the order of the GUID with its bytes reversed (it compares network byte order on a
//!    little-endian machine). That is numeric order while GUIDs differ in their last byte only.
//! 3. The host with number 0 runs the subnet manager and has LID 1; all others, hosts and switches together,
//!    have 2, 3, ... in the order of step 2 (one LID per port: LMC 0).
//!
//! References: OpenSM `osm_lid_mgr.c`, ibsim

use crate::ids::{HostId, SwitchId};
use crate::topology::Graph;
use std::collections::BTreeSet;

/// GUIDs and LIDs of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identities {
    /// Node GUID, also that of the management port; `[switch]`.
    pub switch_guids: Vec<u64>,
    /// Port GUID, `[host]`.
    pub host_guids: Vec<u64>,
    /// LID of the management port, `[switch]`.
    pub switch_lids: Vec<u32>,
    /// `[host]`.
    pub host_lids: Vec<u32>,
}

/// Who has a LID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EndPort {
    /// The management port of a switch.
    Switch(SwitchId),
    /// A host.
    Host(HostId),
}

impl Identities {
    /// The identities of all nodes of `graph`.
    pub fn new(graph: &Graph) -> Self {
        let mut switch_guids: Vec<u64> = graph.switches().iter().map(|node| node.guid).collect();
        let mut host_guids: Vec<u64> = graph.hosts().iter().map(|node| node.guid).collect();
        let all = switch_guids.iter().chain(&host_guids).copied();
        let different: BTreeSet<u64> = all.filter(|&guid| guid != 0).collect();
        if different.len() < switch_guids.len() + host_guids.len() {
            for (guid, number) in switch_guids.iter_mut().zip(0x20_0000..) {
                *guid = number;
            }
            for (guid, number) in host_guids.iter_mut().zip((0x10_0001..).step_by(2)) {
                *guid = number;
            }
        }
        let mut identities = Self {
            switch_lids: vec![0; switch_guids.len()],
            host_lids: vec![0; host_guids.len()],
            switch_guids,
            host_guids,
        };
        let mut order = identities.end_ports();
        order.sort_by_key(|&end| (end != EndPort::Host(HostId(0)), identities.order(end)));
        for (end, lid) in order.into_iter().zip(1..) {
            match end {
                EndPort::Switch(switch) => identities.switch_lids[switch.index()] = lid,
                EndPort::Host(host) => identities.host_lids[host.index()] = lid,
            }
        }
        identities
    }

    /// All end ports, switches first, in id order.
    pub fn end_ports(&self) -> Vec<EndPort> {
        let switches = (0..self.switch_guids.len()).map(SwitchId::from);
        let hosts = (0..self.host_guids.len()).map(HostId::from);
        let switches = switches.map(EndPort::Switch);
        switches.chain(hosts.map(EndPort::Host)).collect()
    }

    /// GUID of an end port.
    pub fn guid(&self, end: EndPort) -> u64 {
        match end {
            EndPort::Switch(switch) => self.switch_guids[switch.index()],
            EndPort::Host(host) => self.host_guids[host.index()],
        }
    }

    /// LID of an end port.
    pub fn lid(&self, end: EndPort) -> u32 {
        match end {
            EndPort::Switch(switch) => self.switch_lids[switch.index()],
            EndPort::Host(host) => self.host_lids[host.index()],
        }
    }

    /// Step 2: the key OpenSM sorts by.
    pub fn order(&self, end: EndPort) -> u64 {
        self.guid(end).swap_bytes()
    }

    /// All end ports by LID.
    pub fn by_lid(&self) -> Vec<EndPort> {
        let mut ends = self.end_ports();
        ends.sort_by_key(|&end| self.lid(end));
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::test_graphs::grid;

    #[test]
    fn lids_follow_the_reversed_bytes_of_guids() {
        let identities = Identities::new(&grid(&[4], true, 1));
        // last bytes: S0 00, H0 01 (subnet manager), S1 01, S2 02, H1 03, S3 03, H2 05, H3 07
        assert_eq!(identities.switch_lids, [2, 3, 4, 6]);
        assert_eq!(identities.host_lids, [1, 5, 7, 8]);
        let wide = Identities::new(&grid(&[300], true, 1));
        // 0x200100 has last byte 0 as 0x200000 has, and comes right after it
        assert_eq!(wide.switch_lids[0], 2);
        assert_eq!(wide.switch_lids[256], 3);
    }
}
