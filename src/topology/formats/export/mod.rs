//! Writes graphs for other programs: Graphviz DOT, our own edge lists, `GraphML`, and the files of
//! `ibnetdiscover` and `ibsim`.
//!
//! Guarantees: an edge list read back by [`EdgeList`](super::edge_list) in the same context gives the same
//! switches, hosts, ports, channels, timing and, where the graph has a [form](Graph::form), shape; GUIDs and unconnected
//! ports above the highest used one are not kept. A double quote in a name becomes a single one. What the other forms keep stands in their
//! files.
//! Cost: O(switches + hosts + channels) time and memory.

mod dropped;
mod graph_ml;
mod ibnetdiscover;
mod ibsim;
mod names;
#[cfg(test)]
mod tests;

pub use dropped::Dropped;
pub use graph_ml::graph_ml;
pub use ibnetdiscover::ibnetdiscover;
pub use ibsim::{has_word, ibsim};

use super::records::lanes_and_speed;
use crate::ids::LinkId;
use crate::topology::BuildContext;
use crate::topology::graph::{Channel, ChannelTiming, Endpoint, Graph};
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
    if let Some(form) = graph.form() {
        write_line(&mut text, format_args!("topology {form}"));
    }
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
    let (own, other) = (words(there, context), words(back, context));
    if own == other {
        own
    } else {
        format!("{own} /{other}")
    }
}

/// Rate and latency of a channel as words, with a leading blank; empty for the default.
fn words(channel: &Channel, context: &BuildContext<'_>) -> String {
    let (rate, latency) = one_way(channel, context);
    let rate = rate.map_or(String::new(), |rate| format!(" \"{rate}\""));
    let latency = latency.map_or(String::new(), |latency| format!(" {latency}cycles"));
    rate + &latency
}

/// Rate and latency \[cycles\] of a channel where they are not those of the context.
fn one_way(channel: &Channel, context: &BuildContext<'_>) -> (Option<BitRate>, Option<u32>) {
    let default = default_timing(channel, context);
    let timing = channel.timing;
    let has_own_rate = timing.cycles_per_flit != default.cycles_per_flit;
    let has_own_latency = timing.latency != default.latency;
    (
        has_own_rate.then(|| rate(timing, context)),
        has_own_latency.then_some(timing.latency),
    )
}

/// What the context gives such a channel.
fn default_timing(channel: &Channel, context: &BuildContext<'_>) -> ChannelTiming {
    match (channel.from.switch(), channel.to.switch()) {
        (Some(_), Some(_)) => context.switch_link,
        _ => context.host_link,
    }
}

/// Rate of a channel, rounded to a whole number of bit/s.
fn rate(timing: ChannelTiming, context: &BuildContext<'_>) -> BitRate {
    let cycles = u64::from(timing.cycles_per_flit);
    BitRate((context.clock.reference_rate + cycles / 2) / cycles)
}

/// Lanes and speed of an InfiniBand link of such a rate.
fn speed_name(timing: ChannelTiming, context: &BuildContext<'_>) -> Option<(u64, &'static str)> {
    lanes_and_speed(rate(timing, context))
}
