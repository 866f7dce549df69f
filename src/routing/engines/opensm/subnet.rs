//! What OpenSM sees of a fabric: switches in GUID order, their links in port order, end ports with LIDs.
//!
//! Everything here is indexed by the *place* of a switch in GUID order, which decides every tie in OpenSM.
//!
//! Cost: O(switches log switches + channels).
//!
//! References: OpenSM `osm_switch.c`, `osm_ucast_mgr.c`

use crate::ids::{HostId, SwitchId};
use crate::routing::balance::{require_all_reachable, require_nameable_ports};
use crate::routing::identities::{EndPort, Identities};
use crate::routing::paths::links::{Link, Links};
use crate::routing::{Guarantees, LaneBudget, RoutingError, Tables, UNREACHABLE};
use crate::topology::Graph;
use std::cmp::Reverse;

/// A fabric as OpenSM sees it.
#[derive(Debug)]
pub(in crate::routing::engines) struct Subnet {
    /// Switch of each place.
    pub(in crate::routing::engines) switches: Vec<SwitchId>,
    /// Links of every place, in port order.
    pub(in crate::routing::engines) links: Links,
    /// Hosts of each place as (port, host), in port order.
    pub(in crate::routing::engines) hosts: Vec<Vec<(u16, HostId)>>,
    /// Number of hosts of the graph.
    pub(in crate::routing::engines) host_count: usize,
    /// GUIDs and LIDs, by id.
    pub(in crate::routing::engines) identities: Identities,
}

impl Subnet {
    /// The subnet of `graph`.
    pub(in crate::routing::engines) fn new(graph: &Graph) -> Self {
        let identities = Identities::new(graph);
        let mut switches: Vec<SwitchId> = graph.switch_ids().collect();
        switches.sort_by_key(|&switch| identities.order(EndPort::Switch(switch)));
        Self {
            links: Links::new(graph, &switches),
            hosts: switches
                .iter()
                .map(|&switch| graph.attached_hosts(switch).collect())
                .collect(),
            host_count: graph.hosts().len(),
            switches,
            identities,
        }
    }

    /// Number of switches.
    pub(in crate::routing::engines) fn len(&self) -> usize {
        self.switches.len()
    }

    /// Places by number of hosts, most first, then in GUID order: the order of destinations.
    pub(in crate::routing::engines) fn by_hosts(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.len()).collect();
        places.sort_by_key(|&place| Reverse(self.hosts[place].len()));
        places
    }

    /// A link as OpenSM identifies a channel: LID and port of both ends.
    pub(in crate::routing::engines) fn channel_key(&self, link: usize) -> [u32; 4] {
        let lid = |place: u32| self.identities.switch_lids[self.switches[place as usize].index()];
        let Link {
            from,
            to,
            port,
            peer_port,
            ..
        } = self.links.all[link];
        [lid(from), u32::from(port), lid(to), u32::from(peer_port)]
    }
}

/// Forwarding tables over places and end ports: column `h` is host `h`, column `hosts + p` the management
/// port of place `p`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::routing::engines) struct LidTables {
    /// Entries of a row: hosts, then switches when they are destinations too.
    pub(in crate::routing::engines) columns: usize,
    /// Output port of `[place][column]`; port 0 is the switch itself.
    pub(in crate::routing::engines) ports: Vec<u8>,
}

impl LidTables {
    /// Tables without routes; with columns for management ports when `switches` is true.
    pub(in crate::routing::engines) fn new(subnet: &Subnet, switches: bool) -> Self {
        let columns = subnet.host_count + if switches { subnet.len() } else { 0 };
        Self {
            columns,
            ports: vec![UNREACHABLE; columns * subnet.len()],
        }
    }

    /// Whether management ports are destinations.
    pub(in crate::routing::engines) fn has_switches(&self, subnet: &Subnet) -> bool {
        self.columns > subnet.host_count
    }

    /// Rows and columns in the order of switch ids: the ports to management ports, when those are destinations.
    pub(in crate::routing::engines) fn switch_tables(&self, subnet: &Subnet) -> Option<Vec<u8>> {
        if !self.has_switches(subnet) {
            return None;
        }
        let count = subnet.len();
        let mut ports = vec![UNREACHABLE; count * count];
        for (place, from) in subnet.switches.iter().enumerate() {
            let row = &self.ports[place * self.columns + subnet.host_count..][..count];
            for (&port, to) in row.iter().zip(&subnet.switches) {
                ports[from.index() * count + to.index()] = port;
            }
        }
        Some(ports)
    }

    /// Rows in the order of switch ids, columns of hosts only.
    pub(in crate::routing::engines) fn host_tables(&self, subnet: &Subnet) -> Vec<u8> {
        by_switch(subnet, self.columns, &self.ports)
    }
}

/// Any table `[place][column]` as `[switch][host]`.
pub(in crate::routing::engines) fn by_switch(
    subnet: &Subnet,
    columns: usize,
    table: &[u8],
) -> Vec<u8> {
    let hosts = subnet.host_count;
    let mut next = vec![UNREACHABLE; subnet.len() * hosts];
    for (place, switch) in subnet.switches.iter().enumerate() {
        let row = &table[place * columns..][..hosts];
        next[switch.index() * hosts..][..hosts].copy_from_slice(row);
    }
    next
}

/// Tables of an engine of one lane per service level whose only guarantee beside in-order delivery is
/// `minimal`; `tables` makes them for hosts.
///
/// # Errors
/// Those of `tables`; [`RoutingError::Unreachable`]; [`RoutingError::Unsupported`] for switches with too many
/// ports.
pub(in crate::routing::engines) fn route_on_one_lane(
    graph: &Graph,
    engine: &'static str,
    budget: LaneBudget,
    minimal: bool,
    tables: impl FnOnce(&Subnet) -> Result<LidTables, RoutingError>,
) -> Result<Tables, RoutingError> {
    require_nameable_ports(graph, engine)?;
    let subnet = Subnet::new(graph);
    let next = tables(&subnet)?.host_tables(&subnet);
    require_all_reachable(graph, &next)?;
    let guarantees = Guarantees {
        minimal,
        ..Guarantees::IN_ORDER
    };
    Ok(Tables::on_one_lane(graph, engine, next, budget, guarantees))
}
