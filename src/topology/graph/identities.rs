//! GUIDs and LIDs of switches and hosts, as a subnet manager would give them.
//!
//! Guarantees: all GUIDs differ and none is 0, and so do all LIDs; without LIDs of their own nodes have 1 to switches +
//! hosts.
//! Cost: O(nodes log nodes).
//!
//! # Algorithm
//! 1. GUIDs are those of the graph when all of them differ and none is 0. Otherwise they are numbered as the
//!    simulator `ibsim` does: switch `i` has 0x200000 + `i`, host `h` has 0x100001 + 2 `h` (node GUID + 1).
//! 2. OpenSM keeps nodes in the order of the GUID with its bytes reversed (it compares network byte order on a
//!    little-endian machine). That is numeric order while GUIDs differ in their last byte only.
//! 3. Nodes keep the LIDs that the graph gives them (from a fabric file), unless two have the same.
//! 4. All others get the lowest LIDs that are left, one per port (LMC 0): first the host with number 0, which runs the
//!    subnet manager, then hosts and switches together in the order of step 2.
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
            switch_lids: graph.switches().iter().map(|node| node.lid).collect(),
            host_lids: graph.hosts().iter().map(|node| node.lid).collect(),
            switch_guids,
            host_guids,
        };
        let ends = identities.by_lid();
        let lids: Vec<u32> = ends.iter().map(|&end| identities.lid(end)).collect();
        let is_own = |i: usize| {
            let is_twin =
                |other: Option<usize>| other.and_then(|other| lids.get(other)) == Some(&lids[i]);
            lids[i] != 0 && !is_twin(i.checked_sub(1)) && !is_twin(Some(i + 1))
        };
        let (own, mut others): (Vec<usize>, Vec<usize>) = (0..ends.len()).partition(|&i| is_own(i));
        let taken: BTreeSet<u32> = own.iter().map(|&i| lids[i]).collect();
        others.sort_by_key(|&i| {
            (
                ends[i] != EndPort::Host(HostId(0)),
                identities.order(ends[i]),
            )
        });
        let free = (1..).filter(|lid| !taken.contains(lid));
        for (i, lid) in others.into_iter().zip(free) {
            match ends[i] {
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
    use crate::topology::tests::{built, context};

    fn ring(switches: u32) -> Graph {
        built(&format!("Torus(radix: [{switches}])"), &context())
    }

    #[test]
    fn lids_follow_the_reversed_bytes_of_guids() {
        let identities = Identities::new(&ring(4));
        // last bytes: S0 00, H0 01 (subnet manager), S1 01, S2 02, H1 03, S3 03, H2 05, H3 07
        assert_eq!(identities.switch_lids, [2, 3, 4, 6]);
        assert_eq!(identities.host_lids, [1, 5, 7, 8]);
        let wide = Identities::new(&ring(300));
        // 0x200100 has last byte 0 as 0x200000 has, and comes right after it
        assert_eq!(wide.switch_lids[0], 2);
        assert_eq!(wide.switch_lids[256], 3);
    }

    #[test]
    fn own_lids_are_kept_unless_two_are_the_same() {
        let mut graph = ring(4);
        graph.switches[1].lid = 2;
        graph.switches[2].lid = 9;
        graph.hosts[0].lid = 7;
        graph.hosts[1].lid = 7;
        let identities = Identities::new(&graph);
        assert_eq!(identities.switch_lids, [3, 2, 9, 5]);
        assert_eq!(identities.host_lids, [1, 4, 6, 7]);
        let lids: BTreeSet<u32> = identities
            .by_lid()
            .iter()
            .map(|&end| identities.lid(end))
            .collect();
        assert_eq!(lids.len(), 8);
    }
}
