//! Networks from `GraphML`, as networkx writes it.
//!
//! Guarantees: exactly the nodes and edges of the file; parallel edges are parallel links.
//! Fails with: [`TopologyError::File`] with the line, when the file is no `GraphML`, a graph is directed or
//! nested, an edge or an attribute makes no sense, an attribute has two values, or a host has not exactly one edge, to a
//! switch.
//! Cost: O(text) time and memory.
//!
//! | attribute | of | meaning | without it |
//! |---|---|---|---|
//! | `kind` or `type` | node | `switch` or `host`; other values are skipped, and said when there are some | `switch` |
//! | `name` or `label` | node | name; labels that several nodes have are followed by the id | its id |
//! | `source_port`, `target_port` | edge | port of the switch at that end | lowest free one, hosts first |
//! | `rate`, `latency` | edge | such as `40 Gbit/s` and `100 ns`, both ways | those of the scenario |
//! | `LinkSpeedRaw` | edge | rate \[bit/s\], without `rate` | as the next one |
//! | `LinkSpeed`, `LinkSpeedUnits` | edge | rate: a number, and K, M, G or T times bit/s | those of the scenario |
//! | `rate_back`, `latency_back` | edge | of the way from target to source | as the way there |
//!
//! Others are skipped, and so are speeds that are no numbers or have no units, which is said. Switches and hosts keep the order of the file.
//! A graph without hosts gets some with `hosts_per_switch`. The attributes with `Link` are those of the Internet Topology Zoo;
//! where their rates have no common multiple, `speeds` takes those of the scenario or replaces some.
//!
//! References: [`GRAPHML`]

mod encoding;
mod keys;
mod text;

use super::edge_list::EdgeList;
use super::edge_list_text::Statements;
use super::fabric_file::{LineError, bytes};
use super::records::Speed;
use super::records::speeds::{SPEEDS, Speeds};
use crate::references::GRAPHML;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::Graph;
use crate::topology::{BuildContext, BuildTopology, Topology, TopologyError};
use crate::units::BitRate;
use serde::Deserialize;
use std::path::Path;
use text::parse;

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
            summary: "GraphML; node attributes kind (switch, host), name, label, edge attributes source_port, \
                      target_port, rate, latency, rate_back, latency_back, LinkSpeedRaw, LinkSpeed, LinkSpeedUnits",
        },
        Parameter {
            name: "hosts_per_switch",
            kind: "integer",
            default: Some("0"),
            summary: "hosts on every switch, beside those of the file",
        },
        SPEEDS,
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
    /// Where the rates of links come from.
    #[serde(default)]
    pub speeds: Speeds,
}

impl GraphMl {
    fn statements(&self, base: &Path) -> Result<Statements, TopologyError> {
        let in_file = |error: LineError| error.in_file(&self.file);
        let text = encoding::decode(bytes(base, &self.file)?).map_err(in_file)?;
        let mut statements = parse(&text).map_err(|error| error.in_file(&self.file))?;
        let timings = statements.timings().map(|timing| timing.rate.map(speed));
        let own: Vec<Option<Speed>> = timings.collect();
        self.speeds.require_known(own.iter().map(Option::as_ref))?;
        for (timing, own) in statements.timings_mut().zip(&own) {
            timing.rate = self.speeds.rate(own.as_ref());
        }
        Ok(statements)
    }
}

/// A rate as a speed that `speeds` can name.
fn speed(rate: BitRate) -> Speed {
    Speed {
        text: rate.to_string(),
        rate: Some(rate),
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

    /// Two switches and a link with these attributes, on line 4.
    fn linked(attributes: &[(&str, &str)]) -> String {
        let data = attributes.iter();
        let data = data.map(|(key, value)| format!("<data key='{key}'>{value}</data>"));
        let data: String = data.collect();
        body(&format!(
            "<node id='a'/><node id='b'/>\n<edge source='a' target='b'>{data}</edge>"
        ))
    }

    #[test]
    fn an_attribute_that_is_read_has_one_value() {
        let rates = [("rate", "5 Gbit/s"), ("rate", "10 Gbit/s")];
        let reason = "net:4: `rate` is `10 Gbit/s` here and `5 Gbit/s` before, expected one value";
        assert_eq!(build(&linked(&rates), 1).unwrap_err(), reason);
        // two keys of one name
        let keys = "<key id='k' attr.name='rate'/><key id='l' attr.name='rate'/><graph>";
        let text = linked(&[("k", "5 Gbit/s"), ("l", "10 Gbit/s")]).replace("<graph>", keys);
        assert_eq!(build(&text, 1).unwrap_err(), reason);
        let keys = "<key id='k' attr.name='rate'/>\n<key id='k' attr.name='latency'/>\n<graph>";
        let text = linked(&[]).replace("<graph>", keys);
        assert_eq!(
            build(&text, 1).unwrap_err(),
            "net:3: key `k` is `latency` here and `rate` before, expected one of them"
        );
        for same in [[rates[0]; 2], [("LinkLabel", "x"), ("LinkLabel", "y")]] {
            assert!(build(&linked(&same), 1).is_ok(), "{same:?}");
        }
    }

    #[test]
    fn a_speed_without_its_units_is_told_and_skipped() {
        let read = |attributes: &[(&str, &str)]| {
            let graph = build(&linked(attributes), 1).unwrap();
            let switch = crate::ids::SwitchId(0);
            let channels = graph.neighbors(switch).map(|(_, channel, _)| channel);
            let paces = channels.map(|channel| graph.channel(channel).timing.cycles_per_flit);
            (paces.collect::<Vec<_>>(), graph.notes().to_vec())
        };
        let note = |what: &str| {
            vec![format!(
                "net:4: 1 value of `LinkSpeed` skipped: {what} is no rate, and the links have that of the scenario"
            )]
        };
        let speed = ("LinkSpeed", "5");
        assert_eq!(
            read(&[speed]),
            (vec![1], note("`5` without `LinkSpeedUnits` (K, M, G or T)"))
        );
        assert_eq!(
            read(&[speed, ("LinkSpeedUnits", "X")]),
            (vec![1], note("`5` `X`"))
        );
        assert_eq!(read(&[speed, ("LinkSpeedUnits", "G")]), (vec![2], vec![]));
        // in bit/s by its name
        assert_eq!(read(&[("LinkSpeedRaw", "5e9")]), (vec![2], vec![]));
    }

    #[test]
    fn deep_nesting_and_entities_do_no_harm() {
        let deep = "<a>".repeat(100_000);
        assert!(build(&deep, 0).is_err());
        let bomb = "<!DOCTYPE x [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]><graphml>&b;</graphml>";
        assert!(build(bomb, 0).is_err());
        let entity = |number: u32| {
            let last = format!("&e{};", number + 1).repeat(10);
            format!("<!ENTITY e{number} '{last}'>")
        };
        let entities: String = (0..20).map(entity).collect();
        let bomb = format!("<!DOCTYPE x [{entities}<!ENTITY e20 'a'>]><graphml>&e0;</graphml>");
        assert!(build(&bomb, 0).unwrap_err().contains("this is no XML"));
    }

    #[test]
    fn a_document_type_may_be_named() {
        let text = body("<node id='a'/><node id='b'/>\n<edge source='a' target='b'/>");
        let text = format!("<!DOCTYPE graphml>\n{text}");
        assert_eq!(build(&text, 1).unwrap().switches().len(), 2);
    }
}
