//! Writes a graph as `GraphML`, for networkx, Gephi, yEd and others.
//!
//! Guarantees: [`GraphMl`](super::super::graph_ml) reads back the same switches, hosts, ports, links and
//! timing. GUIDs, shape and unconnected ports above the highest used one are not kept.
//! Cost: O(switches + hosts + links) time and memory.
//!
//! Nodes have `kind` (`switch` or `host`) and `name`; edges have `source_port`, `target_port` and, where they
//! are not those of the scenario, `rate`, `latency`, `rate_back` and `latency_back`.

use super::{one_way, write_line};
use crate::ids::{ChannelId, LinkId};
use crate::topology::BuildContext;
use crate::topology::graph::{Channel, Endpoint, Graph};
use std::fmt::Write;

/// Attributes: (of what, name, type).
const KEYS: [(&str, &str, &str); 8] = [
    ("node", "kind", "string"),
    ("node", "name", "string"),
    ("edge", "source_port", "int"),
    ("edge", "target_port", "int"),
    ("edge", "rate", "string"),
    ("edge", "latency", "string"),
    ("edge", "rate_back", "string"),
    ("edge", "latency_back", "string"),
];

/// The text of the file.
pub fn graph_ml(graph: &Graph, context: &BuildContext<'_>) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    for (of, name, kind) in KEYS {
        write_line(
            &mut text,
            format_args!(
                "  <key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>"
            ),
        );
    }
    text.push_str("  <graph edgedefault=\"undirected\">\n");
    let switches = graph.switches().iter().map(|node| ("switch", &node.name));
    let hosts = graph.hosts().iter().map(|node| ("host", &node.name));
    let ids = graph.switch_ids().map(|switch| format!("s{switch}"));
    let ids = ids.chain(graph.host_ids().map(|host| format!("h{host}")));
    for (id, (kind, name)) in ids.zip(switches.chain(hosts)) {
        let name = escaped(name);
        write_line(
            &mut text,
            format_args!(
                "    <node id=\"{id}\"><data key=\"kind\">{kind}</data><data key=\"name\">{name}</data></node>"
            ),
        );
    }
    for host in graph.host_ids() {
        edge(&mut text, graph, graph.host_channel(host), context);
    }
    for link in (0..graph.link_count()).map(LinkId::from) {
        if graph
            .link_ends(link)
            .iter()
            .all(|end| end.switch().is_some())
        {
            edge(&mut text, graph, link.channels()[0], context);
        }
    }
    text.push_str("  </graph>\n</graphml>\n");
    text
}

/// The link whose way there is `channel`.
fn edge(text: &mut String, graph: &Graph, channel: ChannelId, context: &BuildContext<'_>) {
    let (there, back) = (graph.channel(channel), graph.channel(channel.reverse()));
    let [(source, source_port), (target, target_port)] =
        [there.from, there.to].map(|end| match end {
            Endpoint::Switch(switch, port) => (format!("s{switch}"), Some(port)),
            Endpoint::Host(host) => (format!("h{host}"), None),
        });
    let mut data = String::new();
    let mut add = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            // writing to a string cannot fail
            let _ = write!(data, "<data key=\"{key}\">{value}</data>");
        }
    };
    add("source_port", source_port.map(|port| port.to_string()));
    add("target_port", target_port.map(|port| port.to_string()));
    let (rate, latency) = own(there, context);
    add("rate", rate);
    add("latency", latency);
    if own(there, context) != own(back, context) {
        // what is missing of the way back would be that of the way there
        add(
            "rate_back",
            Some(super::rate(back.timing, context).to_string()),
        );
        add(
            "latency_back",
            Some(format!("{} cycles", back.timing.latency)),
        );
    }
    write_line(
        text,
        format_args!("    <edge source=\"{source}\" target=\"{target}\">{data}</edge>"),
    );
}

/// Rate and latency where they are not the scenario's.
fn own(channel: &Channel, context: &BuildContext<'_>) -> (Option<String>, Option<String>) {
    let (rate, latency) = one_way(channel, context);
    (
        rate.map(|rate| rate.to_string()),
        latency.map(|cycles| format!("{cycles} cycles")),
    )
}

/// Text that may stand in an element. What XML has no place for, and blanks at the ends, which readers take
/// away, are written as Rust writes them (`\u{1}`), so that different names stay different.
fn escaped(text: &str) -> String {
    let core = text.trim();
    let start = text.len() - text.trim_start().len();
    let core = start..start + core.len();
    let mut plain = String::with_capacity(text.len());
    for (place, letter) in text.char_indices() {
        match letter {
            '&' => plain.push_str("&amp;"),
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. if core.contains(&place) => {
                plain.push(letter);
            }
            letter => plain.extend(letter.escape_unicode()),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn different_names_stay_different() {
        let names = [
            "a b",
            " a b",
            "a b ",
            "\u{85}a b",
            "a\u{1}b",
            "a\u{2}b",
            "a\tb",
            "a<b",
            "ä\u{fffe}",
        ];
        let expected = [
            "a b",
            "\\u{20}a b",
            "a b\\u{20}",
            "\\u{85}a b",
            "a\\u{1}b",
            "a\\u{2}b",
            "a\\u{9}b",
            "a&lt;b",
            "ä\\u{fffe}",
        ];
        assert_eq!(names.map(escaped), expected);
    }
}
