//! `virtlane topology`: the fabric of a scenario, surveyed or exported.

use super::args::{GraphFormat, Topology};
use super::print;
use crate::error::Error;
use crate::ids::SwitchId;
use crate::scenario::Parts;
use crate::topology::{Endpoint, Graph};
use std::collections::VecDeque;
use std::fmt::Write;
use std::process::ExitCode;

/// Builds the graph and prints it.
///
/// # Errors
/// When the scenario is wrong.
pub(super) fn execute(arguments: &Topology) -> Result<ExitCode, Error> {
    let document = arguments.input.open()?;
    let (_, layout) = document.layout(&Parts::registered())?;
    print(&match arguments.export {
        None => survey(&layout.graph),
        Some(GraphFormat::Dot) => dot(&layout.graph),
        Some(GraphFormat::Edges) => edges(&layout.graph),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Distances from one switch [channels]; `None` where there is no way.
fn distances(graph: &Graph, start: SwitchId) -> Vec<Option<u32>> {
    let mut distances = vec![None; graph.switches().len()];
    distances[start.index()] = Some(0);
    let mut queue = VecDeque::from([(start, 0)]);
    while let Some((switch, distance)) = queue.pop_front() {
        for (_, _, next) in graph.neighbors(switch) {
            if distances[next.index()].is_none() {
                distances[next.index()] = Some(distance + 1);
                queue.push_back((next, distance + 1));
            }
        }
    }
    distances
}

fn survey(graph: &Graph) -> String {
    let hosts_at = |switch| graph.attached_hosts(switch).count() as u64;
    let (mut diameter, mut connected) = (0, true);
    let (mut pairs, mut sum) = (0u64, 0u64);
    for switch in graph.switch_ids() {
        let senders = hosts_at(switch);
        for (other, distance) in graph.switch_ids().zip(distances(graph, switch)) {
            let Some(distance) = distance else {
                connected = false;
                continue;
            };
            diameter = diameter.max(distance);
            let receivers = hosts_at(other) - u64::from(other == switch && senders > 0);
            pairs += senders * receivers;
            sum += senders * receivers * u64::from(distance);
        }
    }
    let links = graph.link_count() - graph.hosts().len();
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<22}{value}");
    };
    line("switches", graph.switches().len().to_string());
    line("hosts", graph.hosts().len().to_string());
    line("links of switches", links.to_string());
    line("links of hosts", graph.hosts().len().to_string());
    line(
        "switch ports",
        range(graph, |switch| {
            graph.switches()[switch.index()].port_count.into()
        }),
    );
    line(
        "neighbors of a switch",
        range(graph, |switch| graph.neighbors(switch).count()),
    );
    line(
        "hosts of a switch",
        range(graph, |switch| graph.attached_hosts(switch).count()),
    );
    line("connected", if connected { "yes" } else { "NO" }.into());
    line("diameter", format!("{diameter} channels between switches"));
    if pairs > 0 {
        let mean = sum as f64 / pairs as f64;
        line(
            "mean distance",
            format!("{mean:.3} channels between switches, over pairs of hosts"),
        );
    }
    text
}

/// Smallest and largest value over switches.
fn range(graph: &Graph, value: impl Fn(SwitchId) -> usize) -> String {
    let values = || graph.switch_ids().map(&value);
    match (values().min(), values().max()) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
        (Some(least), _) => least.to_string(),
        _ => "-".into(),
    }
}

fn port(endpoint: Endpoint) -> u16 {
    match endpoint {
        Endpoint::Switch(_, port) => port,
        Endpoint::Host(_) => 1,
    }
}

fn name(graph: &Graph, endpoint: Endpoint) -> &str {
    match endpoint {
        Endpoint::Switch(switch, _) => &graph.switches()[switch.index()].name,
        Endpoint::Host(host) => &graph.hosts()[host.index()].name,
    }
}

/// A Graphviz identifier: quotes and backslashes escaped.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

fn links(graph: &Graph) -> impl Iterator<Item = crate::ids::LinkId> {
    (0..graph.link_count()).map(crate::ids::LinkId::from)
}

fn dot(graph: &Graph) -> String {
    let mut text = String::from("graph fabric {\n  node [shape=box];\n");
    for host in graph.hosts() {
        let _ = writeln!(text, "  {} [shape=point];", quoted(&host.name));
    }
    for link in links(graph) {
        let [from, to] = graph.link_ends(link);
        let (from, to) = (quoted(name(graph, from)), quoted(name(graph, to)));
        let _ = writeln!(text, "  {from} -- {to};");
    }
    text + "}\n"
}

fn edges(graph: &Graph) -> String {
    let mut text = String::from(
        "# from port to port cycles_per_flit latency cycles_per_flit_back latency_back (tab-separated)\n",
    );
    for link in links(graph) {
        let [from, to] = graph.link_ends(link);
        let [there, back] = link.channels().map(|channel| graph.channel(channel).timing);
        let _ = writeln!(
            text,
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            name(graph, from),
            port(from),
            name(graph, to),
            port(to),
            there.cycles_per_flit,
            there.latency,
            back.cycles_per_flit,
            back.latency
        );
    }
    text
}
