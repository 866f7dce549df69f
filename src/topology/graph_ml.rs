//! Networks from `GraphML`, as networkx writes it.
//!
//! Guarantees: exactly the nodes and edges of the file; parallel edges are parallel links.
//! Fails with: [`TopologyError::File`] with the line, when the file is no `GraphML`, a graph is directed or
//! nested, an edge or an attribute makes no sense, or a host has not exactly one edge, to a switch.
//! Cost: O(text) time and memory.
//!
//! | attribute | of | meaning | without it |
//! |---|---|---|---|
//! | `kind` or `type` | node | `switch` or `host` | `switch` |
//! | `name` | node | name | its id |
//! | `source_port`, `target_port` | edge | port of the switch at that end | lowest free one, hosts first |
//! | `rate`, `latency` | edge | such as `40 Gbit/s` and `100 ns`, both ways | those of the scenario |
//! | `rate_back`, `latency_back` | edge | of the way from target to source | as the way there |
//!
//! Others are skipped. Switches and hosts keep the order of the file. A graph without hosts gets some with
//! `hosts_per_switch`.
//!
//! References: [`GRAPHML`]

use super::edge_list::EdgeList;
use super::edge_list_text::{Attachment, HostStatement, LinkStatement, Statements};
use super::fabric_file::{LineError, read};
use super::graph::Graph;
use super::limits::MAX_NODES;
use super::link_rate::OwnTiming;
use super::{BuildContext, BuildTopology, Topology, TopologyError};
use crate::references::GRAPHML;
use crate::registry::{Entry, Parameter};
use crate::units::BitRate;
use roxmltree::{Document, Node};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::str::FromStr;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "GraphMl",
    aliases: &["GraphML"],
    summary: "network from a GraphML file, as networkx writes it",
    parameters: &[
        Parameter {
            name: "file",
            kind: "path, relative to the scenario",
            default: None,
            summary: "GraphML; node attributes kind (switch, host) and name, edge attributes source_port, \
                      target_port, rate, latency, rate_back, latency_back",
        },
        Parameter {
            name: "hosts_per_switch",
            kind: "integer",
            default: Some("0"),
            summary: "hosts on every switch, beside those of the file",
        },
    ],
    guarantees: &["exactly the nodes and edges of the file; parallel edges are parallel links"],
    references: &[GRAPHML],
    build: |arguments| Ok(Box::new(arguments.parse::<GraphMl>()?)),
};

/// Parameters of a `GraphML` file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphMl {
    /// Path, relative to the scenario.
    pub file: String,
    /// Hosts on every switch, beside those of the file.
    #[serde(default)]
    pub hosts_per_switch: u32,
}

impl GraphMl {
    fn statements(&self, base: &Path) -> Result<Statements, TopologyError> {
        let text = read(base, &self.file)?;
        parse(&text).map_err(|error| error.in_file(&self.file))
    }
}

impl Topology for GraphMl {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let statements = self.statements(context.base)?;
        EdgeList::of_file(&self.file, self.hosts_per_switch).assemble(statements, context)
    }

    fn own_rates(&self, base: &Path) -> Result<Vec<BitRate>, TopologyError> {
        Ok(self.statements(base)?.rates())
    }
}

/// A node of the file.
#[derive(Clone, Copy)]
enum Member {
    /// Its number.
    Switch(u32),
    /// Its place in the list of hosts.
    Host(usize),
}

/// Reads the whole text.
fn parse(text: &str) -> Result<Statements, LineError> {
    let document = Document::parse(text).map_err(|error| {
        let line = error.pos().row as usize;
        LineError::new(line, format!("this is no XML: {error}"))
    })?;
    let root = document.root_element();
    if root.tag_name().name() != "graphml" {
        let name = root.tag_name().name();
        return Err(at(root, format!("this is `{name}`, expected `graphml`")));
    }
    let mut graphs = elements(root, "graph");
    let graph = graphs
        .next()
        .ok_or_else(|| at(root, "there is no `graph`"))?;
    if let Some(second) = graphs.next() {
        return Err(at(second, "a second graph, expected one"));
    }
    if graph.attribute("edgedefault") == Some("directed") {
        return Err(at(graph, DIRECTED));
    }
    let keys = Keys::new(root);
    let mut reader = Reader {
        keys: &keys,
        members: HashMap::new(),
        hosts: Vec::new(),
        statements: Statements::default(),
    };
    for node in elements(graph, "node") {
        reader.node(node)?;
    }
    for edge in elements(graph, "edge") {
        reader.edge(edge)?;
    }
    if let Some(other) = elements(graph, "hyperedge").next() {
        return Err(at(other, "hyperedges are no links, expected edges"));
    }
    reader.finish()
}

const DIRECTED: &str = "the graph is directed, expected an undirected one, whose edges are full-duplex links \
                        (networkx: `G.to_undirected()`)";

fn at(node: Node<'_, '_>, reason: impl Into<String>) -> LineError {
    let position = node.document().text_pos_at(node.range().start);
    LineError::new(position.row as usize, reason)
}

fn elements<'a, 'input>(
    node: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    let children = node.children();
    children.filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// What the keys of the file mean.
struct Keys<'a> {
    /// Attribute name by id of the key.
    names: HashMap<&'a str, &'a str>,
    /// Value of attributes that are not given: (of node or edge, name, value).
    defaults: Vec<(&'a str, &'a str, &'a str)>,
}

impl<'a> Keys<'a> {
    fn new(root: Node<'a, '_>) -> Self {
        let (mut names, mut defaults) = (HashMap::new(), Vec::new());
        for key in elements(root, "key") {
            let Some(id) = key.attribute("id") else {
                continue;
            };
            let name = key.attribute("attr.name").unwrap_or(id);
            names.insert(id, name);
            let default = elements(key, "default").next();
            if let Some(value) = default.and_then(|node| node.text()) {
                let of = key.attribute("for").unwrap_or("all");
                defaults.push((of, name, value.trim()));
            }
        }
        Self { names, defaults }
    }

    /// Attributes of a node or edge by name.
    fn attributes(&self, node: Node<'a, '_>) -> BTreeMap<&'a str, &'a str> {
        let kind = node.tag_name().name();
        let defaults = self.defaults.iter();
        let defaults = defaults.filter(|(of, ..)| *of == kind || *of == "all");
        let mut attributes: BTreeMap<_, _> =
            defaults.map(|&(_, name, value)| (name, value)).collect();
        for data in elements(node, "data") {
            if let (Some(key), Some(value)) = (data.attribute("key"), data.text()) {
                let name = self.names.get(key).copied().unwrap_or(key);
                attributes.insert(name, value.trim());
            }
        }
        attributes
    }
}

struct Reader<'a> {
    keys: &'a Keys<'a>,
    members: HashMap<&'a str, Member>,
    /// Line and name of each host, and its only edge.
    hosts: Vec<(usize, String, Option<HostStatement>)>,
    statements: Statements,
}

impl<'a> Reader<'a> {
    fn node(&mut self, node: Node<'a, '_>) -> Result<(), LineError> {
        let id = node
            .attribute("id")
            .ok_or_else(|| at(node, "a node without `id`"))?;
        if elements(node, "graph").next().is_some() {
            return Err(at(
                node,
                format!("node `{id}` holds a graph, expected a plain node"),
            ));
        }
        if self.members.len() >= MAX_NODES as usize {
            return Err(at(
                node,
                format!("too many nodes, expected at most {MAX_NODES}"),
            ));
        }
        let attributes = self.keys.attributes(node);
        let line = at(node, "").line;
        let name = attributes
            .get("name")
            .copied()
            .filter(|name| !name.is_empty());
        let name = name.unwrap_or(id).to_owned();
        let kind = attributes.get("kind").or_else(|| attributes.get("type"));
        let member = match kind.copied().unwrap_or("switch") {
            "switch" => {
                let number = self.statements.switches.unwrap_or(0);
                self.statements.switches = Some(number + 1);
                self.statements.names.insert(number, (line, name));
                Member::Switch(number)
            }
            "host" => {
                self.hosts.push((line, name, None));
                Member::Host(self.hosts.len() - 1)
            }
            other => {
                let reason = format!("node `{id}` is a `{other}`, expected `switch` or `host`");
                return Err(at(node, reason));
            }
        };
        if self.members.insert(id, member).is_some() {
            return Err(at(node, format!("node `{id}` is there twice")));
        }
        Ok(())
    }

    fn edge(&mut self, edge: Node<'a, '_>) -> Result<(), LineError> {
        if edge.attribute("directed") == Some("true") {
            return Err(at(edge, DIRECTED));
        }
        let (source, target) = (self.end(edge, "source")?, self.end(edge, "target")?);
        let attributes = self.keys.attributes(edge);
        let there = OwnTiming {
            rate: quantity(edge, &attributes, "rate")?,
            latency: quantity(edge, &attributes, "latency")?,
        };
        let back = OwnTiming {
            rate: quantity(edge, &attributes, "rate_back")?.or(there.rate),
            latency: quantity(edge, &attributes, "latency_back")?.or(there.latency),
        };
        let ports = (
            port(edge, &attributes, "source_port")?,
            port(edge, &attributes, "target_port")?,
        );
        let place = at(edge, "").line;
        let (host, switch, port, timing) = match (source.1, target.1) {
            (Member::Switch(a), Member::Switch(b)) => {
                if a == b {
                    let reason = format!("`{}` is linked to itself", source.0);
                    return Err(at(edge, reason));
                }
                let [a, b] =
                    [(a, ports.0), (b, ports.1)].map(|(switch, port)| Attachment { switch, port });
                self.statements.links.push(LinkStatement {
                    place,
                    ends: [a, b],
                    timing: [there, back],
                });
                return Ok(());
            }
            (Member::Host(host), Member::Switch(switch)) => (host, switch, ports.1, [there, back]),
            (Member::Switch(switch), Member::Host(host)) => (host, switch, ports.0, [back, there]),
            (Member::Host(_), Member::Host(_)) => {
                let reason = format!(
                    "`{}` and `{}` are hosts, expected a switch at one end",
                    source.0, target.0
                );
                return Err(at(edge, reason));
            }
        };
        let (_, name, statement) = &mut self.hosts[host];
        let cable = HostStatement {
            place,
            name: Some(name.clone()),
            end: Attachment { switch, port },
            timing,
        };
        if statement.replace(cable).is_some() {
            let reason = format!(
                "host `{name}` has a second edge, expected one (use a host for each cable)"
            );
            return Err(at(edge, reason));
        }
        Ok(())
    }

    /// The node at an end of an edge, and its id.
    fn end(&self, edge: Node<'a, '_>, name: &str) -> Result<(&'a str, Member), LineError> {
        let id = edge
            .attribute(name)
            .ok_or_else(|| at(edge, format!("an edge without `{name}`")))?;
        let member = self.members.get(id);
        let member = member.ok_or_else(|| at(edge, format!("there is no node `{id}`")))?;
        Ok((id, *member))
    }

    fn finish(mut self) -> Result<Statements, LineError> {
        for (line, name, statement) in self.hosts {
            let statement = statement.ok_or_else(|| {
                LineError::new(
                    line,
                    format!("host `{name}` has no edge, expected one to a switch"),
                )
            })?;
            self.statements.hosts.push(statement);
        }
        Ok(self.statements)
    }
}

/// A rate or latency; networkx writes texts as they are.
fn quantity<T: FromStr<Err = crate::units::UnitError>>(
    edge: Node<'_, '_>,
    attributes: &BTreeMap<&str, &str>,
    name: &str,
) -> Result<Option<T>, LineError> {
    let text = attributes.get(name);
    text.map(|text| text.parse())
        .transpose()
        .map_err(|error: crate::units::UnitError| at(edge, format!("`{name}`: {error}")))
}

fn port(
    edge: Node<'_, '_>,
    attributes: &BTreeMap<&str, &str>,
    name: &str,
) -> Result<Option<u16>, LineError> {
    let text = attributes.get(name);
    text.map(|text| text.parse()).transpose().map_err(|_| {
        at(
            edge,
            format!("`{name}` is not a port number: expected 1 to 254"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::context;

    /// Written by networkx 3.6.1: `write_graphml` of a `MultiGraph` with an attribute of each kind.
    const NETWORKX: &str = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="d2" for="edge" attr.name="latency" attr.type="string" />
  <key id="d1" for="edge" attr.name="rate" attr.type="string" />
  <key id="d0" for="node" attr.name="kind" attr.type="string" />
  <graph edgedefault="undirected">
    <node id="0" />
    <node id="a &amp; b" />
    <node id="login">
      <data key="d0">host</data>
    </node>
    <edge source="0" target="a &amp; b" id="0">
      <data key="d1">5 Gbit/s</data>
      <data key="d2">3 cycles</data>
    </edge>
    <edge source="0" target="a &amp; b" id="1" />
    <edge source="0" target="login" id="0" />
  </graph>
</graphml>
"#;

    fn build(text: &str, hosts_per_switch: u32) -> Result<Graph, String> {
        let statements = parse(text).map_err(|error| error.in_file("net").to_string())?;
        let list = EdgeList::of_file("net", hosts_per_switch);
        let graph = list.assemble(statements, &context());
        graph.map_err(|error| error.to_string())
    }

    #[test]
    fn what_networkx_writes_is_read() {
        let graph = build(NETWORKX, 1).unwrap();
        let names: Vec<_> = graph.switches().iter().map(|node| &node.name).collect();
        assert_eq!(names, ["0", "a & b"]);
        let names: Vec<_> = graph.hosts().iter().map(|node| &node.name).collect();
        assert_eq!(names, ["H0", "H1", "login"]);
        let timing: Vec<_> = graph
            .neighbors(crate::ids::SwitchId(0))
            .map(|(_, channel, _)| graph.channel(channel).timing)
            .map(|timing| (timing.cycles_per_flit, timing.latency))
            .collect();
        assert_eq!(timing, [(2, 3), (1, 1)]);
    }

    #[test]
    fn malformed_files_are_told() {
        let switches = "<node id='a'/><node id='b'/>";
        let host = "<node id='h'><data key='kind'>host</data></node>";
        for (text, reason) in [
            (
                "<graph/>".to_owned(),
                "net:1: this is `graph`, expected `graphml`",
            ),
            ("<graphml/>".to_owned(), "net:1: there is no `graph`"),
            (body("<node/>"), "net:3: a node without `id`"),
            (
                body("<node id='a'/>\n<node id='a'/>"),
                "net:4: node `a` is there twice",
            ),
            (
                body("<node id='a'><data key='type'>router</data></node>"),
                "net:3: node `a` is a `router`, expected `switch` or `host`",
            ),
            (
                body(&format!("{switches}\n<edge source='a' target='c'/>")),
                "net:4: there is no node `c`",
            ),
            (
                body(&format!("{switches}\n<edge source='a' target='a'/>")),
                "net:4: `a` is linked to itself",
            ),
            (
                body(&format!(
                    "{switches}\n<edge source='a' target='b' directed='true'/>"
                )),
                "net:4: the graph is directed, expected an undirected one, whose edges are full-duplex links \
                 (networkx: `G.to_undirected()`)",
            ),
            (
                body(&format!(
                    "{switches}\n<edge source='a' target='b'><data key='source_port'>x</data></edge>"
                )),
                "net:4: `source_port` is not a port number: expected 1 to 254",
            ),
            (
                body(&format!("{switches}{host}")),
                "net:3: host `h` has no edge, expected one to a switch",
            ),
            (
                body(&format!(
                    "{switches}{host}\n<edge source='h' target='b'/>\n<edge source='h' target='a'/>"
                )),
                "net:5: host `h` has a second edge, expected one (use a host for each cable)",
            ),
        ] {
            assert_eq!(build(&text, 0).unwrap_err(), reason);
        }
    }

    fn body(body: &str) -> String {
        format!("<graphml>\n<graph>\n{body}\n</graph>\n</graphml>")
    }

    #[test]
    fn what_is_no_rate_or_no_xml_is_told() {
        let switches = "<node id='a'/><node id='b'/>";
        let rate =
            format!("{switches}\n<edge source='a' target='b'><data key='rate'>fast</data></edge>");
        assert!(
            build(&body(&rate), 0)
                .unwrap_err()
                .starts_with("net:4: `rate`: `fast` is not a rate")
        );
        assert!(
            build("<graphml>\n<", 0)
                .unwrap_err()
                .starts_with("net:2: this is no XML: ")
        );
    }

    #[test]
    fn deep_nesting_and_entities_do_no_harm() {
        let deep = "<a>".repeat(100_000);
        assert!(build(&deep, 0).is_err());
        let bomb = "<!DOCTYPE x [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]><graphml>&b;</graphml>";
        assert!(build(bomb, 0).is_err());
    }
}
