//! Writes a graph as `ibnetdiscover` prints a fabric.
//!
//! Guarantees: [`Ibnetdiscover`](super::super::ibnetdiscover) reads back the same switches, ports, hosts and
//! links, in the same order; rates too, where they are those of an InfiniBand width and speed (`4x???` stands
//! for others, which take the rate of the scenario). Latencies are not kept.
//! Cost: O(ports) time and memory.
//!
//! Every host is an adapter of one port. GUIDs and LIDs that are missing are made, the same as for forwarding tables
//! ([`Identities`]).

use super::names::quotable;
use super::{speed_name, write_line};
use crate::ids::ChannelId;
use crate::topology::BuildContext;
use crate::topology::graph::identities::Identities;
use crate::topology::graph::{Endpoint, Graph};

/// The text of the file.
pub fn ibnetdiscover(graph: &Graph, context: &BuildContext<'_>) -> String {
    let names = Names {
        graph,
        identities: Identities::new(graph),
    };
    let mut text = String::from("#\n# Topology file: written by virtlane\n#\n");
    for (switch, node) in graph.switch_ids().zip(graph.switches()) {
        let guid = names.identities.switch_guids[switch.index()];
        let lid = names.identities.switch_lids[switch.index()];
        let (ports, name) = (node.port_count, quotable(&node.name));
        write_line(&mut text, format_args!("\nswitchguid=0x{guid:x}({guid:x})"));
        write_line(
            &mut text,
            format_args!(
                "Switch\t{ports} \"S-{guid:016x}\"\t\t# \"{name}\" base port 0 lid {lid} lmc 0"
            ),
        );
        for (port, channel) in graph.connected_ports(switch) {
            let peer = names.peer(channel);
            let speed = speed(graph, channel, context);
            write_line(&mut text, format_args!("[{port}]\t{peer} {speed}"));
        }
    }
    for (host, node) in graph.host_ids().zip(graph.hosts()) {
        let guid = names.identities.host_guids[host.index()];
        let lid = names.identities.host_lids[host.index()];
        let (node_guid, name) = (guid.wrapping_sub(1), quotable(&node.name));
        let channel = graph.host_channel(host);
        let (end, peer) = names.end(channel);
        let speed = speed(graph, channel, context);
        write_line(&mut text, format_args!("\ncaguid=0x{node_guid:x}"));
        write_line(
            &mut text,
            format_args!("Ca\t1 \"H-{node_guid:016x}\"\t\t# \"{name}\""),
        );
        write_line(
            &mut text,
            format_args!("[1]({guid:x}) \t{end}\t\t# lid {lid} lmc 0 {peer} {speed}"),
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
    identities: Identities,
}

impl Names<'_> {
    /// The other end of a switch's port: `"S-0000000000200001"[2]   # "S1" lid 4`.
    fn peer(&self, channel: ChannelId) -> String {
        let (end, name) = self.end(channel);
        let blank = if end.ends_with(')') { " " } else { "" };
        format!("{end}{blank}\t\t# {name}")
    }

    /// The other end of a port, and its name and LID: `"S-0000000000200001"[2]` and `"S1" lid 4`.
    fn end(&self, channel: ChannelId) -> (String, String) {
        let (graph, identities) = (self.graph, &self.identities);
        match graph.channel(channel).to {
            Endpoint::Switch(switch, port) => {
                let i = switch.index();
                let (guid, lid) = (identities.switch_guids[i], identities.switch_lids[i]);
                let name = quotable(&graph.switches()[i].name);
                (
                    format!("\"S-{guid:016x}\"[{port}]"),
                    format!("\"{name}\" lid {lid}"),
                )
            }
            Endpoint::Host(host) => {
                let i = host.index();
                let (guid, lid) = (identities.host_guids[i], identities.host_lids[i]);
                let name = quotable(&graph.hosts()[i].name);
                let node = guid.wrapping_sub(1);
                (
                    format!("\"H-{node:016x}\"[1]({guid:x})"),
                    format!("\"{name}\" lid {lid}"),
                )
            }
        }
    }
}
