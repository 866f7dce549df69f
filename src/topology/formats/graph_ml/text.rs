//! Reads the text of a `GraphML` file into statements; its attributes stand in `mod.rs`.
//!
//! Guarantees: never panics; every host has one edge, to a switch.
//! Fails with: [`LineError`], when the text is no `GraphML`, a graph is directed or nested, or an edge or an
//! attribute makes no sense.
//! Cost: O(text) time and memory.
//!
//! References: [`GRAPHML`](crate::references::GRAPHML)

use super::keys::{Keys, at, elements};
use crate::topology::formats::edge_list_text::{
    Attachment, HostStatement, LinkStatement, Statements,
};
use crate::topology::formats::fabric_file::LineError;
use crate::topology::graph::limits::MAX_NODES;
use crate::topology::graph::link_rate::OwnTiming;
use crate::units::{BitRate, UnitError};
use roxmltree::{Document, Node, ParsingOptions};
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
    // of a document type only entities matter, which are few and not deep: roxmltree sees to that
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options).map_err(|error| {
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
    let keys = Keys::new(root)?;
    let mut reader = Reader {
        keys: &keys,
        lines: std::iter::once(0)
            .chain(text.match_indices('\n').map(|(place, _)| place + 1))
            .collect(),
        members: HashMap::new(),
        hosts: Vec::new(),
        labels: HashMap::new(),
        skipped: Vec::new(),
        statements: Statements::default(),
    };
    for node in elements(graph, "node") {
        let label = keys.attributes(node)?.get("label").copied();
        *reader.labels.entry(label.unwrap_or_default()).or_default() += 1;
    }
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

/// Values of an attribute that are skipped.
struct Skipped {
    count: u32,
    /// Line of the first one, and what it is.
    line: usize,
    first: String,
}

struct Reader<'a> {
    keys: &'a Keys<'a>,
    /// Place of the start of each line.
    lines: Vec<usize>,
    members: HashMap<&'a str, Member>,
    /// Line and name of each host, and its only edge.
    hosts: Vec<(usize, String, Option<HostStatement>)>,
    /// How many nodes have a label.
    labels: HashMap<&'a str, u32>,
    /// Attributes whose values say nothing that is known, by their names.
    skipped: Vec<(&'static str, Skipped)>,
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
        let attributes = self.keys.attributes(node)?;
        let line = self.line(node);
        let name = self.name(id, &attributes);
        let member = if self.is_host(line, &attributes) {
            self.hosts.push((line, name, None));
            Member::Host(self.hosts.len() - 1)
        } else {
            let number = self.statements.switches.unwrap_or(0);
            self.statements.switches = Some(number + 1);
            self.statements.names.insert(number, (line, name));
            Member::Switch(number)
        };
        if self.members.insert(id, member).is_some() {
            return Err(at(node, format!("node `{id}` is there twice")));
        }
        Ok(())
    }

    /// Its name, else its label, else its id.
    fn name(&self, id: &str, attributes: &BTreeMap<&str, &str>) -> String {
        let given = |key: &str| attributes.get(key).copied().filter(|text| !text.is_empty());
        match (given("name"), given("label")) {
            (Some(name), _) => name.to_owned(),
            (None, Some(label)) if self.labels.get(label) == Some(&1) => label.to_owned(),
            (None, Some(label)) => format!("{label} ({id})"),
            (None, None) => id.to_owned(),
        }
    }

    /// Whether it is a host; values that are no kind of node are another program's.
    fn is_host(&mut self, line: usize, attributes: &BTreeMap<&str, &str>) -> bool {
        for key in ["kind", "type"] {
            match attributes.get(key).copied() {
                Some("host") => return true,
                Some("switch") => return false,
                Some(other) => self.skip(key, line, || format!("`{other}`")),
                None => {}
            }
        }
        false
    }

    /// Counts a value that is skipped.
    fn skip(&mut self, key: &'static str, line: usize, value: impl Fn() -> String) {
        let mut skipped = self.skipped.iter_mut();
        if let Some((_, skipped)) = skipped.find(|(known, _)| *known == key) {
            skipped.count += 1;
        } else {
            let (count, first) = (1, value());
            self.skipped.push((key, Skipped { count, line, first }));
        }
    }

    /// The rate that an edge has by the attributes of the Internet Topology Zoo.
    fn link_speed(&mut self, line: usize, attributes: &BTreeMap<&str, &str>) -> Option<BitRate> {
        let text = |key: &str| attributes.get(key).copied().filter(|text| !text.is_empty());
        let exact = text("LinkSpeedRaw").map(|raw| bits_per_second(raw, ""));
        if let Some(Some(rate)) = exact {
            return Some(rate);
        }
        if let (Some(None), Some(raw)) = (exact, text("LinkSpeedRaw")) {
            self.skip("LinkSpeedRaw", line, || format!("`{raw}`"));
        }
        let (speed, unit) = (text("LinkSpeed")?, text("LinkSpeedUnits"));
        // a number alone may count anything: many files mean Mbit/s
        let rate = unit.and_then(|unit| bits_per_second(speed, unit));
        if rate.is_none() {
            self.skip("LinkSpeed", line, || match unit {
                Some(unit) => format!("`{speed}` `{unit}`"),
                None => format!("`{speed}` without `LinkSpeedUnits` (K, M, G or T)"),
            });
        }
        rate
    }

    /// Rate and latency of an edge there and back.
    fn timing(
        &mut self,
        edge: Node<'a, '_>,
        attributes: &BTreeMap<&str, &str>,
    ) -> Result<[OwnTiming; 2], LineError> {
        let rate = match quantity(edge, attributes, "rate")? {
            Some(rate) => Some(rate),
            None => self.link_speed(self.line(edge), attributes),
        };
        let there = OwnTiming {
            rate,
            latency: quantity(edge, attributes, "latency")?,
        };
        let back = OwnTiming {
            rate: quantity(edge, attributes, "rate_back")?.or(there.rate),
            latency: quantity(edge, attributes, "latency_back")?.or(there.latency),
        };
        Ok([there, back])
    }

    fn edge(&mut self, edge: Node<'a, '_>) -> Result<(), LineError> {
        if edge.attribute("directed") == Some("true") {
            return Err(at(edge, DIRECTED));
        }
        let (source, target) = (self.end(edge, "source")?, self.end(edge, "target")?);
        let attributes = self.keys.attributes(edge)?;
        let [there, back] = self.timing(edge, &attributes)?;
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
        for (key, Skipped { count, line, first }) in self.skipped {
            let values = if count == 1 { "value" } else { "values" };
            let meaning = if key.starts_with("Link") {
                "is no rate, and the links have that of the scenario"
            } else {
                "is no kind of node (`switch`, `host`), and the nodes are switches where nothing else says more"
            };
            let note = format!("{count} {values} of `{key}` skipped: {first} {meaning}");
            self.statements.notes.push((line, note));
        }
        Ok(self.statements)
    }
}

/// A number with a unit of K, M, G or T bit/s, or none, as a rate of at least 1 bit/s.
fn bits_per_second(number: &str, unit: &str) -> Option<BitRate> {
    let factor = match unit.trim().to_ascii_uppercase().as_str() {
        "" => 1.0,
        "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => return None,
    };
    let rate = number.parse::<f64>().ok()? * factor;
    (1.0..1e18)
        .contains(&rate)
        .then(|| BitRate(rate.round() as u64))
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
