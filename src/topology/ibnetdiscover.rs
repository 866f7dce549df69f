//! Real fabrics, from the output of `ibnetdiscover`.
//!
//! Guarantees: every node and cable of the file, nothing else; every link is listed alike on both sides; a
//! file that was cut off is refused.
//! Fails with: [`TopologyError::File`] with the line, when the file cannot be read or does not describe a
//! fabric, or when a link's rate is not a whole fraction of the reference rate.
//! Cost: O(text) time and memory.
//!
//! Switches and hosts keep the order of the file. Every cabled port of a channel adapter (or router) is one
//! host; its GUID is the port GUID. Names are the node descriptions: `/P2` is added for port 2 of an adapter
//! with several cables, and the node id in parentheses where several nodes have the same description.
//! A link has the data rate of its width and speed (`4xQDR`: 32 Gbit/s) and the latency of the scenario;
//! when neither side knows the speed (`4x???`), it also has the rate of the scenario.
//!
//! # Deviations
//!
//! Descriptions that are no UTF-8 are made so. Port GUIDs that the file leaves out are node GUID + port.
//!
//! References: [`IBA`]

use super::builder::GraphBuilder;
use super::fabric_file::{LineError, read};
use super::graph::{ChannelTiming, Endpoint, Graph};
use super::ibnetdiscover_records::{NodeKind, NodeRecord, PortRecord, Speed, parse};
use super::limits::MAX_NODES;
use super::link_rate::cycles_per_flit;
use super::{BuildContext, BuildTopology, Topology, TopologyError};
use crate::references::IBA;
use crate::registry::{Entry, Parameter};
use crate::units::BitRate;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Ibnetdiscover",
    aliases: &[],
    summary: "real fabric from a file made by `ibnetdiscover`",
    parameters: &[Parameter {
        name: "file",
        kind: "path, relative to the scenario",
        default: None,
        summary: "output of `ibnetdiscover`, such as assets/fabrics/psmn_x5.ibnetdiscover",
    }],
    guarantees: &[
        "every node and cable of the file; each link listed alike on both sides",
        "every cabled port of a channel adapter is one host",
        "links have the data rate of their width and speed",
    ],
    references: &[IBA],
    build: |arguments| Ok(Box::new(arguments.parse::<Ibnetdiscover>()?)),
};

/// Parameters of a fabric file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ibnetdiscover {
    /// Path, relative to the scenario.
    pub file: String,
}

impl Topology for Ibnetdiscover {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let text = read(context.base, &self.file)?;
        parse(&text)
            .and_then(|records| graph(&records, context))
            .map_err(|error| error.in_file(&self.file))
    }

    fn own_rates(&self, base: &Path) -> Result<Vec<BitRate>, TopologyError> {
        let text = read(base, &self.file)?;
        parse(&text)
            .and_then(|records| rates(&records))
            .map_err(|error| error.in_file(&self.file))
    }
}

/// Distinct rates of the links, ascending.
pub(super) fn rates(records: &[NodeRecord]) -> Result<Vec<BitRate>, LineError> {
    let cables = cables(records)?;
    let rates = cables.into_iter().filter_map(|cable| cable.rate);
    Ok(rates.collect::<BTreeSet<_>>().into_iter().collect())
}

/// The graph of a file's records.
pub(super) fn graph(
    records: &[NodeRecord],
    context: &BuildContext<'_>,
) -> Result<Graph, LineError> {
    let cables = cables(records)?;
    if cables.is_empty() {
        let reason = "no link between two nodes (is the file empty or cut off?)";
        return Err(LineError::new(0, reason));
    }
    let mut nodes = Nodes::new(records)?;
    for cable in cables {
        let [from, to] = cable.ends;
        let default = match [from.0, to.0].map(|place| records.get(place).map(|node| node.kind)) {
            [Some(NodeKind::Switch), Some(NodeKind::Switch)] => context.switch_link,
            _ => context.host_link,
        };
        let timing = match cable.rate {
            None => default,
            Some(rate) => ChannelTiming {
                cycles_per_flit: cycles_per_flit(rate, context.clock)
                    .map_err(|reason| LineError::new(cable.line, reason))?,
                latency: default.latency,
            },
        };
        let (Some(&a), Some(&b)) = (nodes.ends.get(&from), nodes.ends.get(&to)) else {
            return Err(LineError::new(cable.line, "this link has no end"));
        };
        let made = nodes.builder.connect(a, b, timing);
        made.map_err(|error| LineError::new(cable.line, error.to_string()))?;
    }
    let built = nodes.builder.build();
    built.map_err(|error| LineError::new(0, error.to_string()))
}

/// One link; its ends are (place of the record, port).
struct Cable {
    ends: [(usize, u16); 2],
    /// `None` when neither side knows the speed.
    rate: Option<BitRate>,
    /// Line of the first end.
    line: usize,
}

/// Every link once, in the order of the file, after both sides were compared.
fn cables(records: &[NodeRecord]) -> Result<Vec<Cable>, LineError> {
    let places: HashMap<&str, usize> = records
        .iter()
        .enumerate()
        .map(|(place, record)| (record.id.as_str(), place))
        .collect();
    let mut cables = Vec::new();
    for (place, record) in records.iter().enumerate() {
        for (&port, end) in &record.ports {
            let other = places.get(end.peer.as_str()).copied();
            let (peer_place, peer) = other
                .and_then(|place| Some((place, records.get(place)?)))
                .ok_or_else(|| missing(record, port, end, "which is not in the file"))?;
            let (peer_port, back) = other_side(record, port, end, peer)?;
            let ends = [(place, port), (peer_place, peer_port)];
            let [own, theirs] = ends;
            if own > theirs {
                continue;
            }
            cables.push(Cable {
                ends,
                rate: common_speed(end, back)?.map(|speed| speed.rate),
                line: end.line,
            });
        }
    }
    Ok(cables)
}

/// The record of the other end of a link, which must lead back.
fn other_side<'a>(
    record: &NodeRecord,
    port: u16,
    end: &PortRecord,
    peer: &'a NodeRecord,
) -> Result<(u16, &'a PortRecord), LineError> {
    if record.kind == NodeKind::Adapter && peer.kind == NodeKind::Adapter {
        let reason = "which is no switch; every host must be connected to a switch";
        return Err(missing(record, port, end, reason));
    }
    let number = u16::try_from(end.peer_port).ok();
    let number = number.filter(|number| (1..=peer.port_count).contains(number));
    let Some(number) = number else {
        let reason = format!("but `{}` has ports 1..={}", peer.id, peer.port_count);
        return Err(missing(record, port, end, &reason));
    };
    let Some(back) = peer.ports.get(&number) else {
        let reason = "which does not list the link (is the file cut off?)";
        return Err(missing(record, port, end, reason));
    };
    if back.peer != record.id || back.peer_port != u32::from(port) {
        let reason = format!(
            "which leads to `{}` port {} (line {})",
            back.peer, back.peer_port, back.line
        );
        return Err(missing(record, port, end, &reason));
    }
    if std::ptr::eq(end, back) {
        return Err(missing(record, port, end, "which is the same port"));
    }
    Ok((number, back))
}

fn missing(record: &NodeRecord, port: u16, end: &PortRecord, reason: &str) -> LineError {
    let (id, peer, peer_port) = (&record.id, &end.peer, end.peer_port);
    LineError::new(
        end.line,
        format!("`{id}` port {port} leads to `{peer}` port {peer_port}, {reason}"),
    )
}

/// The speed both sides tell; one that does not know it takes the other's.
fn common_speed<'a>(
    end: &'a PortRecord,
    back: &'a PortRecord,
) -> Result<Option<&'a Speed>, LineError> {
    match (&end.speed, &back.speed) {
        (Some(own), Some(other)) if own != other => {
            let (own, other, line) = (&own.text, &other.text, back.line);
            let reason =
                format!("the link is {own} here and {other} on line {line}, expected the same");
            Err(LineError::new(end.line, reason))
        }
        (own, other) => Ok(own.as_ref().or(other.as_ref())),
    }
}

/// The switches and hosts of a graph in the making.
struct Nodes {
    builder: GraphBuilder,
    /// Endpoint of each (place of the record, port).
    ends: BTreeMap<(usize, u16), Endpoint>,
}

impl Nodes {
    fn new(records: &[NodeRecord]) -> Result<Self, LineError> {
        let mut builder = GraphBuilder::new();
        let mut ends = BTreeMap::new();
        if records.len() > MAX_NODES as usize {
            let reason = format!("{} nodes, expected at most {MAX_NODES}", records.len());
            return Err(LineError::new(0, reason));
        }
        for ((place, record), name) in records.iter().enumerate().zip(unique_names(records)) {
            let switch = (record.kind == NodeKind::Switch)
                .then(|| builder.add_switch(name.clone(), record.guid, record.port_count));
            for (&port, end) in &record.ports {
                let endpoint = switch.map_or_else(
                    || {
                        let name = match record.ports.len() {
                            1 => name.clone(),
                            _ => format!("{name}/P{port}"),
                        };
                        let derived = record.guid.wrapping_add(u64::from(port));
                        Endpoint::Host(builder.add_host(name, end.guid.unwrap_or(derived)))
                    },
                    |switch| Endpoint::Switch(switch, port),
                );
                ends.insert((place, port), endpoint);
            }
        }
        Ok(Self { builder, ends })
    }
}

/// A name per record, all different, also once `/P<port>` is added to some.
fn unique_names(records: &[NodeRecord]) -> Vec<String> {
    let mut uses: HashMap<&str, u32> = HashMap::new();
    for record in records {
        *uses.entry(&record.description).or_default() += 1;
    }
    let mut taken: HashSet<String> = HashSet::new();
    let name = |record: &NodeRecord| {
        let (description, id) = (&record.description, &record.id);
        let mut name = match (description.is_empty(), uses.get(description.as_str())) {
            (true, _) => id.clone(),
            (false, Some(1)) => description.clone(),
            (false, _) => format!("{description} ({id})"),
        };
        // a description may imitate a name made here
        while record_names(record, &name).any(|name| taken.contains(&name)) {
            name.push('\'');
        }
        taken.extend(record_names(record, &name));
        name
    };
    records.iter().map(name).collect()
}

/// All names a record's node and ports may get.
fn record_names<'a>(record: &'a NodeRecord, name: &'a str) -> impl Iterator<Item = String> + 'a {
    let ports = record
        .ports
        .keys()
        .map(move |port| format!("{name}/P{port}"));
    std::iter::once(name.to_owned()).chain(ports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;
    use crate::units::Clock;

    fn graph(text: &str, context: &BuildContext<'_>) -> Result<Graph, LineError> {
        super::graph(&parse(text)?, context)
    }

    fn rates(text: &str) -> Result<Vec<BitRate>, LineError> {
        super::rates(&parse(text)?)
    }

    const PSMN: &str = include_str!("../../assets/fabrics/psmn_x5.ibnetdiscover");
    const LOGINOFF: &str = include_str!("../../assets/fabrics/loginoff_8sw.ibnetdiscover");

    fn at(gigabit: u64) -> BuildContext<'static> {
        let clock = Clock {
            flit_bytes: 64,
            reference_rate: gigabit * 1_000_000_000,
        };
        BuildContext { clock, ..context() }
    }

    fn error(text: &str) -> String {
        let error = graph(text, &at(160)).unwrap_err();
        error.in_file("fabric").to_string()
    }

    #[test]
    fn real_fabrics_have_the_known_counts() {
        let psmn = graph(PSMN, &at(32)).unwrap();
        let survey = Survey::new(&psmn);
        let counts = (survey.switches, survey.hosts, survey.switch_links);
        assert_eq!(counts, (11, 89, 70));
        let loginoff = graph(LOGINOFF, &at(160)).unwrap();
        let survey = Survey::new(&loginoff);
        let counts = (survey.switches, survey.hosts, survey.switch_links);
        assert_eq!(counts, (8, 145, 47));
        assert_eq!(survey.components.len(), 1);
        // an adapter with two cables is two hosts
        let both = loginoff
            .hosts()
            .iter()
            .filter(|host| host.name.contains("/P"));
        assert_eq!(both.count(), 2);
        assert_eq!(loginoff.switches()[0].name, "MF0;ib5:SX6036/U1");
        assert_eq!(loginoff.switches()[0].guid, 0xf452_1403_0011_65a0);
    }

    #[test]
    fn links_have_their_own_rates() {
        let gigabit = |text| {
            let rates = rates(text).unwrap();
            rates
                .iter()
                .map(|rate| rate.0 / 1_000_000_000)
                .collect::<Vec<_>>()
        };
        assert_eq!(gigabit(PSMN), [16, 32]);
        assert_eq!(gigabit(LOGINOFF), [32, 40]);
        let psmn = graph(PSMN, &at(32)).unwrap();
        let slow = psmn
            .channels()
            .iter()
            .filter(|channel| channel.timing.cycles_per_flit == 2);
        assert_eq!(slow.count(), 2 * 23);
        let mut file = Ibnetdiscover {
            file: "assets/fabrics/loginoff_8sw.ibnetdiscover".to_owned(),
        };
        let error = file.build(&at(32)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "assets/fabrics/loginoff_8sw.ibnetdiscover:29: link rate 40 Gbit/s is not a whole fraction of \
             the reference rate 32 Gbit/s, expected a reference rate such as 160 Gbit/s"
        );
        file.file = "nowhere".to_owned();
        assert!(file.own_rates(Path::new(".")).is_err());
    }

    /// A cut-off file is refused, unless what is missing says nothing about the fabric.
    #[test]
    fn a_truncated_file_is_refused() {
        let whole = graph(PSMN, &at(32)).unwrap();
        let ends = (0..PSMN.len())
            .step_by(101)
            .chain(PSMN.len() - 200..PSMN.len());
        for end in ends {
            if let Ok(part) = graph(&PSMN[..end], &at(32)) {
                assert_eq!(part, whole, "cut at {end}");
            }
        }
        assert_eq!(
            error(""),
            "fabric: no link between two nodes (is the file empty or cut off?)"
        );
        let cut = |lines: usize| PSMN.lines().take(lines).collect::<Vec<_>>().join("\n");
        assert_eq!(
            error(&cut(100)),
            "fabric:11: `S-0008f10500200b50` port 1 leads to `S-0008f10500108c5c` port 15, which is not in \
             the file"
        );
        let end = PSMN.find("lid 79").unwrap();
        assert!(error(&PSMN[..end]).starts_with("fabric:15: no link speed after the description"));
        assert_eq!(
            error(&PSMN[..end - 3]),
            "fabric:15: the description has no closing quote (is the file cut off here?)"
        );
    }

    const PAIR: &str = "Switch 4 \"S-a\"\n[1] \"S-b\"[2]\t# \"b\" lid 1 4xQDR\n\n\
                        Switch 4 \"S-b\"\n[2] \"S-a\"[1]\t# \"a\" lid 2 4xQDR\n";

    #[test]
    fn both_sides_must_agree() {
        assert!(graph(PAIR, &at(32)).is_ok());
        let cases = [
            (
                ("[2] \"S-a\"[1]", "[2] \"S-a\"[3]"),
                "fabric:2: `S-a` port 1 leads to `S-b` port 2, which leads to `S-a` port 3 (line 5)",
            ),
            (
                ("[2] \"S-a\"[1]", "[3] \"S-a\"[1]"),
                "fabric:2: `S-a` port 1 leads to `S-b` port 2, which does not list the link (is the file \
                 cut off?)",
            ),
            (
                ("\"S-b\"[2]", "\"S-b\"[5]"),
                "fabric:2: `S-a` port 1 leads to `S-b` port 5, but `S-b` has ports 1..=4",
            ),
            (
                ("\"S-b\"[2]", "\"S-b\"[0]"),
                "fabric:2: `S-a` port 1 leads to `S-b` port 0, but `S-b` has ports 1..=4",
            ),
            (
                ("\"S-b\"[2]", "\"S-a\"[1]"),
                "fabric:2: `S-a` port 1 leads to `S-a` port 1, which is the same port",
            ),
            (
                ("\"S-b\"[2]", "\"S-c\"[2]"),
                "fabric:2: `S-a` port 1 leads to `S-c` port 2, which is not in the file",
            ),
            (
                ("2 4xQDR", "2 4xDDR"),
                "fabric:2: the link is 4xQDR here and 4xDDR on line 5, expected the same",
            ),
            (
                ("4 \"S-b\"", "4 \"S-a\""),
                "fabric:4: node `S-a` is already on line 1",
            ),
        ];
        for ((from, to), message) in cases {
            assert_eq!(error(&PAIR.replacen(from, to, 1)), message);
        }
        let hosts = "Ca 1 \"H-a\"\n[1] \"H-b\"[1]\n\nCa 1 \"H-b\"\n[1] \"H-a\"[1]\n";
        assert_eq!(
            error(hosts),
            "fabric:2: `H-a` port 1 leads to `H-b` port 1, which is no switch; every host must be \
             connected to a switch"
        );
    }

    #[test]
    fn an_unknown_speed_is_that_of_the_other_side_or_the_default() {
        let one = PAIR.replacen("4xQDR", "4x???", 1);
        let cycles = |text: &str| {
            let graph = graph(text, &at(96)).unwrap();
            graph.channels()[0].timing.cycles_per_flit
        };
        assert_eq!(cycles(&one), 3);
        assert_eq!(cycles(&one.replacen("4xQDR", "4x???", 1)), 1);
    }

    #[test]
    fn names_differ_even_when_descriptions_imitate_them() {
        let node = |id: &str, description: &str| format!("Switch 4 \"{id}\" # \"{description}\"\n");
        let text = [
            node("S-a", "x"),
            node("S-b", "x"),
            node("S-c", "x (S-a)"),
            node("S-d", ""),
            node("S-e", "S-d"),
        ]
        .concat();
        let names = unique_names(&parse(&text).unwrap());
        assert_eq!(names, ["x (S-a)", "x (S-b)", "x (S-a)'", "S-d", "S-d'"]);
    }

    #[test]
    fn ids_that_are_no_guid_are_names() {
        let text = "# two hosts\nHca\t2 \"H0\"\n[1]\t\"S0\"[2]\n[2]\t\"S0\"[1]\n\n\
                    Switch\t2 \"S0\"\n[2]\t\"H0\"[1]\n[1]\t\"H0\"[2]\n";
        let graph = graph(text, &at(32)).unwrap();
        let hosts: Vec<&str> = graph
            .hosts()
            .iter()
            .map(|host| host.name.as_str())
            .collect();
        assert_eq!(hosts, ["H0/P1", "H0/P2"]);
        assert_eq!(
            graph.attachment(crate::ids::HostId(0)),
            Some((crate::ids::SwitchId(0), 2))
        );
        assert_eq!(graph.switches()[0].guid, 0);
    }

    /// Random edits of a real file are read or refused, never a panic.
    #[test]
    fn garbled_files_do_no_harm() {
        use crate::rng::{Purpose, below, stream};
        let mut rng = stream(1, Purpose::Pattern, 0);
        let alphabet = b"[]()\"#x0129\n \tSCa=?-";
        let mut refused = 0;
        for _ in 0..300 {
            let mut bytes = PSMN.as_bytes().to_vec();
            for _ in 0..below(&mut rng, 4) {
                let place = below(&mut rng, bytes.len() as u32) as usize;
                bytes[place] = alphabet[below(&mut rng, alphabet.len() as u32) as usize];
            }
            let text = String::from_utf8_lossy(&bytes);
            refused += usize::from(graph(&text, &at(32)).is_err());
        }
        assert!((1..300).contains(&refused));
    }
}
