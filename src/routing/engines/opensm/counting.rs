//! Chooses among candidate ports by OpenSM's path counts, which are local to each switch.
//!
//! Cost: time O(switches * (hosts + destination switches * ports)), parallel over switches; the result does
//! not depend on the number of threads, because every switch counts for itself.
//!
//! # Algorithm
//! 1. Destinations: switches by number of hosts, most first, then in GUID order; the hosts of each by port.
//!    Management ports follow in GUID order.
//! 2. A host attached to the switch itself is reached through its port.
//! 3. Any other destination takes the candidate port with the least path count, the lowest on ties. The count
//!    of the port grows by one if the destination is a host.
//!
//! References: OpenSM `osm_switch.c`, `osm_ucast_mgr.c`

use super::subnet::{LidTables, Subnet};
use rayon::prelude::*;

/// Fills tables. `candidates(destination place, place, ports)` appends the candidate ports in port order.
pub(super) fn count_paths(
    subnet: &Subnet,
    switches: bool,
    candidates: impl Fn(usize, usize, &mut Vec<u8>) + Sync,
) -> LidTables {
    let mut tables = LidTables::new(subnet, switches);
    let destinations = subnet.by_hosts();
    let columns = tables.columns;
    let rows = tables.ports.par_chunks_mut(columns.max(1)).enumerate();
    rows.for_each(|(place, row)| {
        let mut counts = [0u32; 256];
        let mut ports = Vec::new();
        for &destination in &destinations {
            if destination == place {
                for &(port, host) in &subnet.hosts[place] {
                    row[host.index()] = port as u8;
                }
                continue;
            }
            ports.clear();
            if !subnet.hosts[destination].is_empty() {
                candidates(destination, place, &mut ports);
            }
            for (_, host) in &subnet.hosts[destination] {
                if let Some(&port) = ports.iter().min_by_key(|&&port| counts[usize::from(port)]) {
                    counts[usize::from(port)] += 1;
                    row[host.index()] = port;
                }
            }
        }
        if switches {
            for destination in 0..subnet.len() {
                ports.clear();
                if destination == place {
                    ports.push(0);
                } else {
                    candidates(destination, place, &mut ports);
                }
                if let Some(&port) = ports.iter().min_by_key(|&&port| counts[usize::from(port)]) {
                    row[subnet.host_count + destination] = port;
                }
            }
        }
    });
    tables
}
