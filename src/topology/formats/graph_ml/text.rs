//! Reads the text of a `GraphML` file into statements; its attributes stand in `mod.rs`.
//!
//! Guarantees: never panics; every host has one edge, to a switch.
//! Fails with: [`LineError`], when the text is no `GraphML`, a graph is directed or nested, or an edge or an
//! attribute makes no sense.
//! Cost: O(text) time and memory.
//!
//! References: [`GRAPHML`](crate::references::GRAPHML)

use crate::topology::formats::edge_list_text::{
    Attachment, HostStatement, LinkStatement, Statements,
};
use crate::topology::formats::fabric_file::LineError;
use crate::topology::graph::limits::MAX_NODES;
use crate::topology::graph::link_rate::OwnTiming;
use crate::units::UnitError;
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

/// A node of the file.
#[derive(Clone, Copy)]
enum Member {
    /// Its number.
    Switch(u32),
    /// Its place in the list of hosts.
    Host(usize),
}

/// Reads the whole text.
pub(super) fn parse(text: &str) -> Result<Statements, LineError> {
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
        lines: std::iter::once(0)
            .chain(text.match_indices('\n').map(|(place, _)| place + 1))
            .collect(),
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
    /// Place of the start of each line.
    lines: Vec<usize>,
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
        let line = self.line(node);
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
        let place = self.line(edge);
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

    /// Line of a node, from 1; the document itself would count from its start each time.
    fn line(&self, node: Node<'_, '_>) -> usize {
        let start = node.range().start;
        self.lines.partition_point(|&line| line <= start)
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
fn quantity<T: FromStr<Err = UnitError>>(
    edge: Node<'_, '_>,
    attributes: &BTreeMap<&str, &str>,
    name: &str,
) -> Result<Option<T>, LineError> {
    let text = attributes.get(name);
    text.map(|text| text.parse())
        .transpose()
        .map_err(|error: UnitError| at(edge, format!("`{name}`: {error}")))
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
