//! The graph of node records: what all readers of `InfiniBand` fabric files share.
//!
//! Guarantees: every node and cable of the records, nothing else; every link is listed on both sides. Where these
//! give it different speeds it has the lower one, and a note of the graph says so.
//! Fails with: [`TopologyError::File`] with the line.
//! Cost: O(records) time and memory.

use super::speeds::Speeds;
use super::{NodeKind, NodeRecord, PortRecord, Speed};
use crate::topology::formats::fabric_file::{LineError, read};
use crate::topology::graph::limits::MAX_NODES;
use crate::topology::graph::link_rate::cycles_per_flit;
use crate::topology::graph::{ChannelTiming, Endpoint, Graph};
use crate::topology::{BuildContext, GraphBuilder, TopologyError};
use crate::units::BitRate;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// Reads the text of a form of file; records keep its order.
pub(in crate::topology::formats) type Parse = fn(&str) -> Result<Vec<NodeRecord>, LineError>;

/// Links of which a note says that their ends differ.
const MOST_NAMED: usize = 3;

/// A file, how it is read, and where the rates of its links come from.
pub(in crate::topology::formats) struct Source<'a> {
    pub(in crate::topology::formats) file: &'a str,
    pub(in crate::topology::formats) parse: Parse,
    pub(in crate::topology::formats) speeds: &'a Speeds,
    /// What to say about lines that mean nothing, by file and text.
    pub(in crate::topology::formats) skipped: fn(&str, &str) -> Option<String>,
}

impl Source<'_> {
    /// The graph of the file.
    pub(in crate::topology::formats) fn build(
        &self,
        context: &BuildContext<'_>,
    ) -> Result<Graph, TopologyError> {
        self.read(context.base, |text, records, cables| {
            let skipped = (self.skipped)(self.file, text);
            graph(records, cables, self.speeds, skipped, context)
        })
    }

    /// Distinct rates of the links of the file, ascending.
    pub(in crate::topology::formats) fn own_rates(
        &self,
        base: &Path,
    ) -> Result<Vec<BitRate>, TopologyError> {
        self.read(base, |_, _, cables| {
            require_rates(cables, self.speeds)?;
            Ok(rates(cables, self.speeds))
        })
    }

    fn read<T>(
        &self,
        base: &Path,
        make: impl FnOnce(&str, &[NodeRecord], &[Cable<'_>]) -> Result<T, LineError>,
    ) -> Result<T, TopologyError> {
        let in_file = |error: LineError| error.in_file(self.file);
        let text = read(base, self.file)?;
        let records = (self.parse)(&text).map_err(in_file)?;
        let cables = cables(&records).map_err(in_file)?;
        self.speeds
            .require_known(cables.iter().map(|cable| cable.speed))?;
        make(&text, &records, &cables).map_err(in_file)
    }
}

/// Checks that every link has a speed that exists, or another rate.
fn require_rates(cables: &[Cable<'_>], speeds: &Speeds) -> Result<(), LineError> {
    cables.iter().try_for_each(|cable| {
        let known = cable.speed.map(|speed| speeds.require_rate(speed));
        known
            .unwrap_or(Ok(()))
            .map_err(|reason| LineError::new(cable.speed_line, reason))
    })
}

/// Distinct rates of the links, ascending.
pub(in crate::topology::formats) fn rates(cables: &[Cable<'_>], speeds: &Speeds) -> Vec<BitRate> {
    let rates = cables.iter().filter_map(|cable| speeds.rate(cable.speed));
    rates.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The graph of a file's records and their cables.
pub(in crate::topology::formats) fn graph(
    records: &[NodeRecord],
    cables: &[Cable<'_>],
    speeds: &Speeds,
    skipped: Option<String>,
    context: &BuildContext<'_>,
) -> Result<Graph, LineError> {
    require_counts(records)?;
    require_rates(cables, speeds)?;
    if records.is_empty() {
        let reason = "no record of a switch or host: the file is empty or of another format";
        return Err(LineError::new(0, reason));
    }
    if cables.is_empty() {
        let reason = "no link between two nodes (is the file cut off?)";
        return Err(LineError::new(0, reason));
    }
    let mut nodes = Nodes::new(records);
    if let Some(note) = skipped {
        nodes.builder.note(note);
    }
    for cable in cables {
        let [from, to] = cable.ends;
        let default = match [from.0, to.0].map(|place| records.get(place).map(|node| node.kind)) {
            [Some(NodeKind::Switch), Some(NodeKind::Switch)] => context.switch_link,
            _ => context.host_link,
        };
        let timing = match speeds.rate(cable.speed) {
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
        for (end, lid) in [a, b].into_iter().zip(cable.lids) {
            if let Endpoint::Host(host) = end {
                nodes.builder.set_host_lid(host, lid);
            }
        }
        let made = nodes.builder.connect(a, b, timing);
        made.map_err(|error| LineError::new(cable.line, error.to_string()))?;
    }
    let differing = cables.iter().filter_map(|cable| cable.mismatch.as_deref());
    let differing: Vec<&str> = differing.collect();
    if !differing.is_empty() {
        nodes.builder.note(mismatch_note(&differing));
    }
    if speeds.is_missed()
        && let Some(note) = unknown_note(records, cables)
    {
        nodes.builder.note(note);
    }
    let built = nodes.builder.build();
    built.map_err(|error| LineError::new(0, error.to_string()))
}

/// What to say about links of which the ends differ.
fn mismatch_note(differing: &[&str]) -> String {
    let count = differing.len();
    let named = differing[..count.min(MOST_NAMED)].join("; ");
    let more = match count.saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let links = if count == 1 { "link has" } else { "links have" };
    format!("{count} {links} different speeds at both ends, the lower is taken: {named}{more}")
}

/// What to say about links of which no side says the speed, if there are some.
fn unknown_note(records: &[NodeRecord], cables: &[Cable<'_>]) -> Option<String> {
    let unknown = || cables.iter().filter(|cable| cable.speed.is_none());
    let (place, port) = unknown().next()?.ends[0];
    Some(format!(
        "{} of {} links have no speed in the file, and that of the scenario: the first is at `{}` port {port}; \
         `speeds: Replace({{\"unknown\": \"100 Gbit/s\"}})` gives them another",
        unknown().count(),
        cables.len(),
        records[place].id
    ))
}

/// Checks the numbers of nodes and hosts.
fn require_counts(records: &[NodeRecord]) -> Result<(), LineError> {
    let adapters = records.iter().filter(|node| node.kind == NodeKind::Adapter);
    let hosts: usize = adapters.map(|node| node.ports.len()).sum();
    for (things, count) in [("nodes", records.len()), ("hosts", hosts)] {
        if count > MAX_NODES as usize {
            let reason = format!("{count} {things}, expected at most {MAX_NODES}");
            return Err(LineError::new(0, reason));
        }
    }
    Ok(())
}

/// One link; its ends are (place of the record, port).
pub(in crate::topology::formats) struct Cable<'a> {
    ends: [(usize, u16); 2],
    /// LIDs of adapters' ports, as either side says.
    lids: [u32; 2],
    /// `None` when neither side knows the speed.
    speed: Option<&'a Speed>,
    /// Line that says the speed.
    speed_line: usize,
    /// What the sides say, when they differ.
    mismatch: Option<String>,
    /// Line of the first end.
    line: usize,
}

/// Every link once, in the order of the file, after both sides were compared.
pub(in crate::topology::formats) fn cables(
    records: &[NodeRecord],
) -> Result<Vec<Cable<'_>>, LineError> {
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
            let (speed, differs) = common_speed(end, back);
            let is_theirs =
                speed.is_some() && speed == back.speed.as_ref() && speed != end.speed.as_ref();
            cables.push(Cable {
                ends,
                lids: [said(end.lid, back.peer_lid), said(back.lid, end.peer_lid)],
                speed,
                speed_line: if is_theirs { back.line } else { end.line },
                mismatch: differs.map(|[one, other]| {
                    let (id, peer, line) = (&record.id, &peer.id, back.line);
                    let first = end.line;
                    format!(
                        "`{id}` port {port} says {one} (line {first}), `{peer}` port {peer_port} {other} (line {line})"
                    )
                }),
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

/// What one side says, else the other; 0 is nothing.
const fn said(own: u32, other: u32) -> u32 {
    if own == 0 { other } else { own }
}

/// The speed both sides tell, the lower one when they differ, or one that does not exist, and then what they say; one that does
/// not know it takes the other's.
fn common_speed<'a>(
    end: &'a PortRecord,
    back: &'a PortRecord,
) -> (Option<&'a Speed>, Option<[&'a str; 2]>) {
    match (&end.speed, &back.speed) {
        (Some(own), Some(other)) if own != other => {
            let lower = if other.rate < own.rate { other } else { own };
            (Some(lower), Some([&own.text, &other.text]))
        }
        (own, other) => (own.as_ref().or(other.as_ref()), None),
    }
}

/// The switches and hosts of a graph in the making.
struct Nodes {
    builder: GraphBuilder,
    /// Endpoint of each (place of the record, port).
    ends: BTreeMap<(usize, u16), Endpoint>,
}

impl Nodes {
    fn new(records: &[NodeRecord]) -> Self {
        let mut builder = GraphBuilder::new();
        let mut ends = BTreeMap::new();
        for ((place, record), name) in records.iter().enumerate().zip(unique_names(records)) {
            let switch = (record.kind == NodeKind::Switch)
                .then(|| builder.add_switch(name.clone(), record.guid, record.port_count));
            if let Some(switch) = switch {
                builder.set_switch_lid(switch, record.lid);
            }
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
        Self { builder, ends }
    }
}

/// A name per record, all different, also once `/P<port>` is added to some.
pub(in crate::topology::formats) fn unique_names(records: &[NodeRecord]) -> Vec<String> {
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
