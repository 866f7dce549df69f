//! Writes graphs for other programs: Graphviz DOT, our own edge lists, `GraphML`, and the files of
//! `ibnetdiscover` and `ibsim`.
//!
//! Guarantees: an edge list read back by [`EdgeList`](super::edge_list) in the same context gives the same
//! switches, hosts, ports, channels, timing and, where the graph has a [form](Graph::form), shape; GUIDs and unconnected
//! ports above the highest used one are not kept. A double quote in a name becomes a single one. What the other forms keep stands in their
//! files.
//! Cost: O(switches + hosts + channels) time and memory.

mod graph_ml;
mod ibnetdiscover;
mod ibsim;
mod names;

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

/// Links whose rate or latency a form has no word for, so that who reads it takes that of the scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Of the first link without its rate, its ends and the rate.
    pub first_rate: Option<String>,
    /// Links without their rates.
    pub rates: usize,
    /// Links without their latencies.
    pub latencies: usize,
}

impl Dropped {
    /// In the form of `ibnetdiscover` or `ibsim`, which have a rate if `is_word` says so, and no latencies.
    pub fn of(graph: &Graph, context: &BuildContext<'_>, is_word: fn(u64, &str) -> bool) -> Self {
        let mut dropped = Self::default();
        for link in (0..graph.link_count()).map(LinkId::from) {
            let both = link.channels().map(|channel| graph.channel(channel));
            let [there, back] = both.map(|channel| channel.timing.cycles_per_flit);
            let lost = both.map(|channel| {
                let (own, latency) = one_way(channel, context);
                let is_said = || {
                    let name = speed_name(channel.timing, context);
                    name.is_some_and(|(lanes, speed)| is_word(lanes, speed))
                };
                // a link has one rate both ways
                (
                    own.filter(|_| there != back || !is_said()),
                    latency.is_some(),
                )
            });
            if let Some(rate) = lost.iter().find_map(|(rate, _)| *rate) {
                let [a, b] = graph.link_ends(link).map(|end| graph.endpoint_name(end));
                let first = dropped.first_rate.take();
                dropped.first_rate = first.or_else(|| Some(format!("{a} to {b}, {rate}")));
                dropped.rates += 1;
            }
            dropped.latencies += usize::from(lost.iter().any(|(_, is_lost)| *is_lost));
        }
        dropped
    }

    /// In words, of a form called so; `None` where nothing is.
    pub fn told(&self, form: &str) -> Option<String> {
        let links = |count: usize| match count {
            1 => "1 link".to_owned(),
            many => format!("{many} links"),
        };
        let rates = self.first_rate.as_ref().map(|first| {
            let links = links(self.rates);
            format!("the rates of {links} are not kept, for which {form} has no width and speed (the first: {first})")
        });
        let latencies = (self.latencies > 0).then(|| {
            let links = links(self.latencies);
            format!("the latencies of {links} are not kept, for which {form} has no word")
        });
        let both: Vec<String> = [rates, latencies].into_iter().flatten().collect();
        (!both.is_empty()).then(|| {
            format!(
                "{}: who reads the file takes those of the scenario",
                both.join("; ")
            )
        })
    }
}

/// Lanes and speed of an InfiniBand link of such a rate.
fn speed_name(timing: ChannelTiming, context: &BuildContext<'_>) -> Option<(u64, &'static str)> {
    lanes_and_speed(rate(timing, context))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Shape;
    use crate::topology::tests::{built, context, samples};

    #[test]
    fn dot_shows_names_and_ports() {
        let text = "EdgeList(links: [(0, 1)], hosts: [(\"a \\\"b\\\"\", 0)])";
        assert_eq!(
            dot(&built(text, &context())),
            "graph fabric {\n  node [shape=box];\n  s0 [label=\"S0\"];\n  s1 [label=\"S1\"];\n  \
             h0 [shape=ellipse, label=\"a \\\"b\\\"\"];\n  h0 -- s0 [taillabel=1, headlabel=1];\n  \
             s0 -- s1 [taillabel=2, headlabel=1];\n}\n"
        );
    }

    /// A form: how it is written, what reads it, and whether it keeps GUIDs and port counts.
    type Form = (fn(&Graph, &BuildContext<'_>) -> String, &'static str, bool);

    const FORMS: [Form; 4] = [
        (edge_list, "EdgeList", false),
        (graph_ml, "GraphMl", false),
        (ibnetdiscover, "Ibnetdiscover", true),
        (ibsim, "Ibsim", true),
    ];

    /// The graph of the file `net`.
    fn read_back(reader: &str, here: &BuildContext<'_>) -> Graph {
        built(&format!("{reader}(file: \"net\")"), here)
    }

    fn names(graph: &Graph) -> Vec<&String> {
        let switches = graph.switches().iter().map(|node| &node.name);
        switches
            .chain(graph.hosts().iter().map(|node| &node.name))
            .collect()
    }

    fn sorted(graph: &Graph) -> Vec<Channel> {
        let mut channels = graph.channels().to_vec();
        channels.sort_by_key(|channel| (channel.from, channel.to));
        channels
    }

    /// Writes a graph in every form and reads it back.
    fn assert_round_trips(name: &str, graph: &Graph, here: &BuildContext<'_>) {
        for (write, reader, is_complete) in FORMS {
            let text = write(graph, here);
            std::fs::write(here.base.join("net"), &text).unwrap();
            let again = read_back(reader, here);
            assert_eq!(names(&again), names(graph), "{name} {reader}");
            assert!(sorted(&again) == sorted(graph), "{name} {reader}");
            let ports = |graph: &Graph| -> Vec<u16> {
                graph
                    .switches()
                    .iter()
                    .map(|node| node.port_count)
                    .collect()
            };
            if is_complete {
                assert_eq!(ports(&again), ports(graph), "{name} {reader}");
            }
            assert!(write(&again, here) == text, "{name} {reader}");
        }
    }

    #[test]
    fn what_is_read_back_is_the_same_graph() {
        let folder = tempfile::tempdir().unwrap();
        for (name, graph) in samples() {
            // links of its own timing: only edge lists and GraphML have latencies
            if ["ConcentratedMesh", "EdgeList"].contains(&name) {
                continue;
            }
            let mut here = BuildContext {
                base: folder.path(),
                ..context()
            };
            if name == "Ibnetdiscover" {
                here.clock.reference_rate = 160_000_000_000;
                here.switch_link.cycles_per_flit = 4; // FDR10, which ibsim has no word for
            }
            assert_round_trips(name, &graph, &here);
        }
    }

    /// Every regular topology keeps its shape in an edge list, with links of their own timing, too.
    #[test]
    fn edge_lists_keep_shapes() {
        let folder = tempfile::tempdir().unwrap();
        let here = BuildContext {
            base: folder.path(),
            ..context()
        };
        let mut count = 0;
        for text in SHAPED {
            let graph = built(text, &here);
            let first = graph.channels()[0];
            let graph = graph.formed(text).retimed(|_, channel| {
                let latency = channel.timing.latency + u32::from(channel.from == first.from);
                let timing = channel.timing;
                Some(ChannelTiming { latency, ..timing })
            });
            std::fs::write(folder.path().join("net"), edge_list(&graph, &here)).unwrap();
            let again = read_back("EdgeList", &here);
            assert_eq!(again.shape(), graph.shape(), "{text}");
            assert_eq!(again.form(), Some(text), "{text}");
            assert!(sorted(&again) == sorted(&graph), "{text}");
            count += usize::from(*graph.shape() != Shape::Irregular);
        }
        assert_eq!(count, SHAPED.len());
    }

    const SHAPED: [&str; 11] = [
        "Clos(n: 2, r: 3)",
        "Complete(switches: 4, hosts_per_switch: 2)",
        "Dragonfly(p: 1, a: 3, h: 1, g: 4)",
        "EnrichedTree(k: 2, n: 3, width: 2)",
        "HyperX(sizes: [3, 2], multiplicity: [2, 1], hosts_per_switch: 2)",
        "Hypercube(dimensions: 3)",
        "KAryNTree(k: 3, n: 2)",
        "LeafSpine(leaves: 4, spines: 2, hosts_per_leaf: 3, parallel_links: 2)",
        "Mesh(radix: [4, 3])",
        "Ring(switches: 5)",
        "Torus(radix: [4, 2, 3], hosts_per_switch: 2)",
    ];

    #[test]
    fn an_edge_list_that_is_another_topology_says_where() {
        let folder = tempfile::tempdir().unwrap();
        let here = BuildContext {
            base: folder.path(),
            ..context()
        };
        let graph = built("Torus(radix: [4, 4])", &here).formed("Torus(radix: [4, 4])");
        let text = edge_list(&graph, &here);
        let read = |text: &str| {
            std::fs::write(folder.path().join("net"), text).unwrap();
            let build = crate::topology::TOPOLOGIES.find("EdgeList").unwrap().build;
            let arguments = crate::registry::Arguments {
                text: "(file: \"net\")",
            };
            build(arguments)
                .unwrap()
                .build(&here)
                .unwrap_err()
                .to_string()
        };
        let cut: String = text.trim_end().rsplit_once('\n').unwrap().0.to_owned();
        let error = read(&cut);
        assert!(
            error.starts_with("net:2: `topology Torus(radix: [4, 4])`: "),
            "{error}"
        );
        assert!(
            error.contains("leads to") && error.contains("to nothing"),
            "{error}"
        );
        let error = read(&text.replace("Torus(radix: [4, 4])", "Torus(radix: [4, 5])"));
        assert!(error.contains("20 switches, the file 16"), "{error}");
        let error = read(&text.replace("Torus(", "Thorus("));
        assert!(error.contains("Torus"), "{error}");
        let error = read(&text.replace("Torus(radix: [4, 4])", "Petersen()"));
        assert!(error.contains("no structure"), "{error}");
        let error = read(&text.replace("radix: [4, 4]", "radius: [4, 4]"));
        assert!(error.contains("radius"), "{error}");
    }

    #[test]
    fn real_fabrics_are_read_back_with_their_guids() {
        let folder = tempfile::tempdir().unwrap();
        for (file, gigabit, cycles_per_flit) in [
            ("assets/fabrics/psmn_x5.ibnetdiscover", 32, 1),
            // FDR10, which ibsim has no word for, as the rate of the scenario
            ("assets/fabrics/loginoff_8sw.ibnetdiscover", 160, 4),
        ] {
            let mut there = context();
            there.clock.reference_rate = gigabit * 1_000_000_000;
            there.switch_link.cycles_per_flit = cycles_per_flit;
            let graph = built(&format!("Ibnetdiscover(file: \"{file}\")"), &there);
            let here = BuildContext {
                base: folder.path(),
                ..there
            };
            assert_round_trips(file, &graph, &here);
            for (write, reader, _) in FORMS.into_iter().filter(|(.., complete)| *complete) {
                std::fs::write(folder.path().join("net"), write(&graph, &here)).unwrap();
                let again = read_back(reader, &here);
                assert_eq!(again.switches(), graph.switches(), "{file} {reader}");
                assert_eq!(again.hosts(), graph.hosts(), "{file} {reader}");
            }
        }
    }

    #[test]
    fn networks_of_others_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let here = BuildContext {
            base: folder.path(),
            ..context()
        };
        let mut count = 0;
        for entry in std::fs::read_dir("tests/opensm").unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let file = path.join(&name).with_extension("net");
            if !file.exists() {
                continue;
            }
            let graph = built(&format!("Ibsim(file: {file:?})"), &context());
            assert_round_trips(&name, &graph, &here);
            count += 1;
        }
        assert!(count >= 13);
    }

    #[test]
    fn own_timing_is_kept_where_the_form_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let here = BuildContext {
            base: folder.path(),
            ..context()
        };
        let text = "EdgeList(links: [(0, 1), (2, 1, \"5 Gbit/s\", \"/\", \"2 cycles\"), (0, 2, \"7 cycles\")], \
                    hosts: [0, (\"<&>\", 2, \"3 cycles\")])";
        let graph = built(text, &here);
        for (write, reader, _) in FORMS.into_iter().filter(|(.., complete)| !complete) {
            std::fs::write(folder.path().join("net"), write(&graph, &here)).unwrap();
            let again = read_back(reader, &here);
            assert_eq!(sorted(&again), sorted(&graph), "{reader}");
            assert_eq!(names(&again), names(&graph), "{reader}");
        }
    }
}
