//! Writes forwarding tables in the form of OpenSM's `opensm-lfts.dump`.
//!
//! Local identifiers: hosts get 1, 2, ... in id order, switches follow; the simulator has no subnet manager
//! port. Tables that depend on the input port have no such form; their first rows are not switches, so callers
//! refuse them. Where there is no route, `UNREACHABLE` stands for the port.
//!
//! Cost: O(switches * hosts) text.
//!
//! References: OpenSM `osm_dump.c`

use super::Tables;
use crate::topology::Graph;
use std::fmt::{self, Write};

/// Writes all tables to `out`.
///
/// # Errors
/// When `out` does.
pub fn write_lfts(graph: &Graph, tables: &Tables, out: &mut impl Write) -> fmt::Result {
    let hosts = graph.hosts().len();
    let last_lid = hosts + graph.switches().len();
    for (i, switch) in graph.switches().iter().enumerate() {
        writeln!(
            out,
            "Unicast lids [0-{last_lid}] of switch Lid {} guid {:#018x} ('{}'):",
            hosts + 1 + i,
            switch.guid,
            switch.name
        )?;
        for (host, node) in graph.host_ids().zip(graph.hosts()) {
            let lid = host.0 + 1;
            match tables.next_port(i, host) {
                Some(port) => writeln!(
                    out,
                    "{lid:#06x} {port:03} # Channel Adapter portguid {:#018x}: '{}'",
                    node.guid, node.name
                )?,
                None => writeln!(out, "{lid:#06x} UNREACHABLE")?,
            }
        }
        writeln!(out, "{hosts} lids dumped")?;
    }
    Ok(())
}
