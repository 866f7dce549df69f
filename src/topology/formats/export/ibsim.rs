//! Writes a graph as a topology file of the simulator `ibsim` (`.net`).
//!
//! Guarantees: [`Ibsim`](super::super::ibsim) reads back the same switches, ports, hosts, GUIDs, LIDs and links in
//! the same order; rates that are not the scenario's too, where `ibsim` has a width and speed for them.
//! Latencies are not kept.
//! Cost: O(ports) time and memory.
//!
//! The first host comes first, for there the subnet manager runs; then the switches, then the other hosts.
//! Node ids are the names; where names are too long (63 letters), not different or hold one of `"#@`, ids are
//! `S000` and `H0000` and the names descriptions.

use super::super::ibsim::{EXTENDED_SPEEDS, FIRST_ADAPTER_GUID, FIRST_SWITCH_GUID, SPEEDS, WIDTHS};
use super::names::quotable;
use super::{default_timing, speed_name, write_line};
use crate::ids::{ChannelId, HostId, SwitchId};
use crate::topology::BuildContext;
use crate::topology::graph::{ChannelTiming, Endpoint, Graph};
use std::collections::HashSet;

/// Longest node id of `ibsim`, without the byte that ends it.
const LONGEST_ID: usize = 63;

/// The text of the file.
pub fn ibsim(graph: &Graph, context: &BuildContext<'_>) -> String {
    let mut file = File {
        graph,
        context,
        ids_are_names: names_are_ids(graph),
        next_guid: [FIRST_SWITCH_GUID, FIRST_ADAPTER_GUID],
        text: String::new(),
    };
    let (switches, hosts) = (graph.switches().len(), graph.hosts().len());
    let line = format!("# {switches} switches, {hosts} hosts, written by virtlane");
    write_line(&mut file.text, format_args!("{line}"));
    let mut others = graph.host_ids();
    if let Some(first) = others.next() {
        file.host(first);
    }
    for switch in graph.switch_ids() {
        file.switch(switch);
    }
    for host in others {
        file.host(host);
    }
    file.text
}

/// Whether every name can be a node id.
fn names_are_ids(graph: &Graph) -> bool {
    let mut seen = HashSet::new();
    let switches = graph.switches().iter().map(|node| &node.name);
    let hosts = graph.hosts().iter().map(|node| &node.name);
    switches.chain(hosts).all(|name| {
        let is_plain = !name.contains(['"', '#', '@']) && !name.contains(char::is_control);
        (1..=LONGEST_ID).contains(&name.len()) && is_plain && seen.insert(name)
    })
}

struct File<'a> {
    graph: &'a Graph,
    context: &'a BuildContext<'a>,
    ids_are_names: bool,
    /// GUID that the next switch and the next adapter get when none is written.
    next_guid: [u64; 2],
    text: String,
}

impl File<'_> {
    fn switch(&mut self, switch: SwitchId) {
        let graph = self.graph;
        let node = &graph.switches()[switch.index()];
        let id = self.switch_id(switch);
        self.node("switchguid", 0, 1, node.guid);
        let ports = node.port_count;
        let lid = match node.lid {
            0 => String::new(),
            lid => format!(" base port 0 lid {lid} lmc 0"),
        };
        self.header(&format!("Switch\t{ports} \"{id}\""), &node.name, &lid);
        for (port, channel) in graph.connected_ports(switch) {
            self.port(port, channel, 0);
        }
    }

    fn host(&mut self, host: HostId) {
        let node = &self.graph.hosts()[host.index()];
        let id = self.host_id(host);
        // the port's GUID is one more than the node's
        self.node("caguid", 1, 2, node.guid.saturating_sub(1));
        self.header(&format!("Hca\t1 \"{id}\""), &node.name, "");
        self.port(1, self.graph.host_channel(host), node.lid);
    }

    /// A blank line, and the GUID unless the node gets it anyway; 0 = none.
    fn node(&mut self, setting: &str, kind: usize, taken: u64, guid: u64) {
        self.text.push('\n');
        if guid != 0 && guid != self.next_guid[kind] {
            write_line(&mut self.text, format_args!("{setting}=0x{guid:x}"));
            self.next_guid[kind] = guid;
        }
        self.next_guid[kind] = self.next_guid[kind].wrapping_add(taken);
    }

    fn header(&mut self, header: &str, name: &str, lid: &str) {
        if self.ids_are_names && lid.is_empty() {
            write_line(&mut self.text, format_args!("{header}"));
        } else {
            let name = quotable(name);
            write_line(&mut self.text, format_args!("{header}\t# \"{name}\"{lid}"));
        }
    }

    /// `lid` is that of the port, 0 when it has none of its own.
    fn port(&mut self, port: u16, channel: ChannelId, lid: u32) {
        let (peer, peer_port) = match self.graph.channel(channel).to {
            Endpoint::Switch(switch, port) => (self.switch_id(switch), port),
            Endpoint::Host(host) => (self.host_id(host), 1),
        };
        let channel = self.graph.channel(channel);
        let default = default_timing(channel, self.context);
        let options = if channel.timing.cycles_per_flit == default.cycles_per_flit {
            String::new()
        } else {
            options(channel.timing, self.context)
        };
        let own = match lid {
            0 => String::new(),
            lid => format!("\t# lid {lid} lmc 0"),
        };
        write_line(
            &mut self.text,
            format_args!("[{port}]\t\"{peer}\"[{peer_port}]{options}{own}"),
        );
    }

    fn switch_id(&self, switch: SwitchId) -> String {
        if self.ids_are_names {
            self.graph.switches()[switch.index()].name.clone()
        } else {
            format!("S{:03}", switch.0)
        }
    }

    fn host_id(&self, host: HostId) -> String {
        if self.ids_are_names {
            self.graph.hosts()[host.index()].name.clone()
        } else {
            format!("H{:04}", host.0)
        }
    }
}

/// `   w=2 s=4`; empty when `ibsim` does not know the speed.
fn options(timing: ChannelTiming, context: &BuildContext<'_>) -> String {
    let words = speed_name(timing, context).and_then(|(lanes, speed)| words(lanes, speed));
    words.unwrap_or_default()
}

/// Whether `ibsim` knows a width and speed.
pub fn has_word(lanes: u64, speed: &str) -> bool {
    words(lanes, speed).is_some()
}

/// The options of a width and speed.
fn words(lanes: u64, speed: &str) -> Option<String> {
    let (width, _) = WIDTHS.iter().find(|(_, known)| *known == lanes)?;
    let plain = SPEEDS.iter().find(|(_, known)| *known == speed);
    let extended = EXTENDED_SPEEDS.iter().find(|(_, known)| *known == speed);
    match (plain, extended) {
        (Some((plain, _)), _) => Some(format!("\tw={width} s={plain}")),
        // a port of an extended speed also tells its highest plain one
        (None, Some((extended, _))) => Some(format!("\tw={width} s=4 e={extended}")),
        (None, None) => None,
    }
}
