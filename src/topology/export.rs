//! Writes graphs for other programs: Graphviz DOT and our own edge lists.
//!
//! Guarantees: an edge list read back by [`EdgeList`](super::edge_list) in the same context gives the same
//! switches, hosts, ports, channels and timing; GUIDs, shape and unconnected ports above the highest used one
//! are not kept. A double quote in a name becomes a single one.
//! Cost: O(switches + hosts + channels) time and memory.

use super::BuildContext;
use super::graph::{Channel, ChannelTiming, Endpoint, Graph};
use crate::ids::LinkId;
use crate::units::BitRate;
use std::fmt::Write;

/// The graph in Graphviz's DOT language: switches as boxes, hosts as dots, port numbers at the ends.
pub fn dot(graph: &Graph) -> String {
    let mut text = String::from("graph fabric {\n  node [shape=box];\n");
    for (switch, node) in graph.switch_ids().zip(graph.switches()) {
        let name = escaped(&node.name);
        write_line(&mut text, format_args!("  s{switch} [label=\"{name}\"];"));
    }
    for (host, node) in graph.host_ids().zip(graph.hosts()) {
        let name = escaped(&node.name);
        write_line(
            &mut text,
            format_args!("  h{host} [shape=ellipse, label=\"{name}\"];"),
        );
    }
    for link in (0..graph.link_count()).map(LinkId::from) {
        let [a, b] = graph.link_ends(link).map(|end| match end {
            Endpoint::Switch(switch, port) => (format!("s{switch}"), port),
            Endpoint::Host(host) => (format!("h{host}"), 1),
        });
        write_line(
            &mut text,
            format_args!(
                "  {} -- {} [taillabel={}, headlabel={}];",
                a.0, b.0, a.1, b.1
            ),
        );
    }
    text.push_str("}\n");
    text
}

/// The graph as an edge list with explicit ports; a link's rate and latency are written where they are not
/// those of the context.
pub fn edge_list(graph: &Graph, context: &BuildContext<'_>) -> String {
    let mut text = format!("switches {}\n", graph.switches().len());
    for (switch, node) in graph.switch_ids().zip(graph.switches()) {
        if node.name != format!("S{switch}") {
            let name = unquoted(&node.name);
            write_line(&mut text, format_args!("switch {switch} \"{name}\""));
        }
    }
    for (host, node) in graph.host_ids().zip(graph.hosts()) {
        let link = graph.host_channel(host).link();
        if let Some((switch, port)) = graph.attachment(host) {
            let name = unquoted(&node.name);
            let timing = timing(graph, link, host_first(graph, link), context);
            write_line(
                &mut text,
                format_args!("host \"{name}\" {switch}:{port}{timing}"),
            );
        }
    }
    for link in (0..graph.link_count()).map(LinkId::from) {
        if let [Endpoint::Switch(a, p), Endpoint::Switch(b, q)] = graph.link_ends(link) {
            let timing = timing(graph, link, true, context);
            write_line(&mut text, format_args!("{a}:{p} {b}:{q}{timing}"));
        }
    }
    text
}

fn write_line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // writing to a string cannot fail
    let _ = writeln!(text, "{line}");
}

fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"")
}

fn unquoted(name: &str) -> String {
    name.replace('"', "'")
}

/// Whether the first channel of a host's link starts at the host.
fn host_first(graph: &Graph, link: LinkId) -> bool {
    graph.link_ends(link)[0].host().is_some()
}

/// Rate and latency of a link as an edge list says them, with a leading blank; empty for the default.
fn timing(graph: &Graph, link: LinkId, in_order: bool, context: &BuildContext<'_>) -> String {
    let [first, second] = link.channels().map(|channel| graph.channel(channel));
    let (there, back) = if in_order {
        (first, second)
    } else {
        (second, first)
    };
    let (own, other) = (one_way(there, context), one_way(back, context));
    if own == other {
        own
    } else {
        format!("{own} /{other}")
    }
}

fn one_way(channel: &Channel, context: &BuildContext<'_>) -> String {
    let is_between_switches = channel.from.switch().is_some() && channel.to.switch().is_some();
    let default = if is_between_switches {
        context.switch_link
    } else {
        context.host_link
    };
    let ChannelTiming {
        cycles_per_flit,
        latency,
    } = channel.timing;
    let mut text = String::new();
    if cycles_per_flit != default.cycles_per_flit {
        let cycles = u64::from(cycles_per_flit);
        let rate = BitRate((context.clock.reference_rate + cycles / 2) / cycles);
        let _ = write!(text, " \"{rate}\"");
    }
    if latency != default.latency {
        let _ = write!(text, " {latency}cycles");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Arguments;
    use crate::topology::TOPOLOGIES;
    use crate::topology::tests::{context, samples};

    #[test]
    fn dot_shows_names_and_ports() {
        let topology = TOPOLOGIES.find("EdgeList").unwrap().build;
        let text = "(links: [(0, 1)], hosts: [(\"a \\\"b\\\"\", 0)])";
        let graph = topology(Arguments { text }).unwrap().build(&context());
        assert_eq!(
            dot(&graph.unwrap()),
            "graph fabric {\n  node [shape=box];\n  s0 [label=\"S0\"];\n  s1 [label=\"S1\"];\n  \
             h0 [shape=ellipse, label=\"a \\\"b\\\"\"];\n  h0 -- s0 [taillabel=1, headlabel=1];\n  \
             s0 -- s1 [taillabel=2, headlabel=1];\n}\n"
        );
    }

    #[test]
    fn an_edge_list_read_back_is_the_same_graph() {
        let folder = tempfile::tempdir().unwrap();
        let here = BuildContext {
            base: folder.path(),
            ..context()
        };
        for (name, graph) in samples() {
            let text = edge_list(&graph, &here);
            std::fs::write(folder.path().join("net"), &text).unwrap();
            let build = TOPOLOGIES.find("EdgeList").unwrap().build;
            let reader = build(Arguments {
                text: "(file: \"net\")",
            });
            let again = reader.unwrap().build(&here).unwrap();
            let names = |graph: &Graph| -> Vec<String> {
                let switches = graph.switches().iter().map(|node| node.name.clone());
                let hosts = graph.hosts().iter().map(|node| node.name.clone());
                switches.chain(hosts).collect()
            };
            assert_eq!(names(&again), names(&graph), "{name}");
            let sorted = |graph: &Graph| {
                let mut channels = graph.channels().to_vec();
                channels.sort_by_key(|channel| (channel.from, channel.to));
                channels
            };
            assert_eq!(sorted(&again), sorted(&graph), "{name}");
            assert_eq!(edge_list(&again, &here), text, "{name}");
        }
    }
}
