//! Writes a graph as `ibnetdiscover` prints a fabric.
//!
//! Guarantees: [`Ibnetdiscover`](super::super::ibnetdiscover) reads back the same switches, ports, hosts and
//! links, in the same order; rates too, where they are those of an InfiniBand width and speed (`4x???` stands
//! for others, which take the rate of the scenario). Latencies are not kept.
//! Cost: O(ports) time and memory.
//!
//! Every host is an adapter of one port. GUIDs that are missing are made; LIDs are 0.

use super::super::BuildContext;
use super::super::graph::{Endpoint, Graph};
use super::names::{host_guids, quotable, switch_guids};
use super::{speed_name, write_line};
use crate::ids::ChannelId;

/// The text of the file.
pub fn ibnetdiscover(graph: &Graph, context: &BuildContext<'_>) -> String {
    let names = Names {
        graph,
        switches: switch_guids(graph),
        hosts: host_guids(graph),
    };
    let mut text = String::from("#\n# Topology file: written by virtlane\n#\n");
    for (switch, node) in graph.switch_ids().zip(graph.switches()) {
        let guid = names.switches[switch.index()];
        let (ports, name) = (node.port_count, quotable(&node.name));
        write_line(&mut text, format_args!("\nswitchguid=0x{guid:x}({guid:x})"));
        write_line(
            &mut text,
            format_args!(
                "Switch\t{ports} \"S-{guid:016x}\"\t\t# \"{name}\" base port 0 lid 0 lmc 0"
            ),
        );
        for (port, channel) in graph.connected_ports(switch) {
            let peer = names.peer(channel);
            let speed = speed(graph, channel, context);
            write_line(&mut text, format_args!("[{port}]\t{peer} lid 0 {speed}"));
        }
    }
    for (host, node) in graph.host_ids().zip(graph.hosts()) {
        let guid = names.hosts[host.index()];
        let (node_guid, name) = (guid.wrapping_sub(1), quotable(&node.name));
        let channel = graph.host_channel(host);
        let (peer, speed) = (names.switch_peer(channel), speed(graph, channel, context));
        write_line(&mut text, format_args!("\ncaguid=0x{node_guid:x}"));
        write_line(
            &mut text,
            format_args!("Ca\t1 \"H-{node_guid:016x}\"\t\t# \"{name}\""),
        );
        write_line(
            &mut text,
            format_args!("[1]({guid:x}) \t{peer} lid 0 {speed}"),
        );
    }
    text
}

/// `4xQDR` or `4x???`.
fn speed(graph: &Graph, channel: ChannelId, context: &BuildContext<'_>) -> String {
    let speed = speed_name(graph.channel(channel).timing, context);
    speed.map_or("4x???".to_owned(), |(lanes, speed)| {
        format!("{lanes}x{speed}")
    })
}

struct Names<'a> {
    graph: &'a Graph,
    switches: Vec<u64>,
    hosts: Vec<u64>,
}

impl Names<'_> {
    /// The other end of a switch's port: `"S-0000000000200001"[2]   # "S1"`.
    fn peer(&self, channel: ChannelId) -> String {
        match self.graph.channel(channel).to {
            Endpoint::Switch(..) => {
                let (end, name) = self.switch_end(channel);
                format!("{end}\t\t# \"{name}\"")
            }
            Endpoint::Host(host) => {
                let guid = self.hosts[host.index()];
                let name = quotable(&self.graph.hosts()[host.index()].name);
                let node = guid.wrapping_sub(1);
                format!("\"H-{node:016x}\"[1]({guid:x}) \t\t# \"{name}\"")
            }
        }
    }

    /// The other end of a host's port: `"S-0000000000200001"[2]   # lid 0 lmc 0 "S1"`.
    fn switch_peer(&self, channel: ChannelId) -> String {
        let (end, name) = self.switch_end(channel);
        format!("{end}\t\t# lid 0 lmc 0 \"{name}\"")
    }

    fn switch_end(&self, channel: ChannelId) -> (String, String) {
        match self.graph.channel(channel).to {
            Endpoint::Switch(switch, port) => {
                let guid = self.switches[switch.index()];
                let name = quotable(&self.graph.switches()[switch.index()].name);
                (format!("\"S-{guid:016x}\"[{port}]"), name)
            }
            // a graph has no host on a host
            Endpoint::Host(_) => (String::new(), String::new()),
        }
    }
}
