//! Fabrics from the topology files of the simulator `ibsim` (`.net`).
//!
//! Guarantees: every node and cable of the file, nothing else; every link is listed on both sides.
//! Fails with: [`TopologyError::File`] with the line, when the file cannot be read or does not describe a
//! fabric, or when a link's rate is not a whole fraction of the reference rate.
//! Cost: O(text) time and memory.
//!
//! Names of nodes are their descriptions, or their ids where there is none. A node without a GUID gets the one
//! `ibsim` gives it: switches count from 0x200000, adapters from 0x100000 and one more for each of their
//! ports; port GUID = node GUID + port. A link without options has the rate of the scenario. LIDs are kept.
//!
//! # Grammar
//!
//! ```text
//! # comment
//! switchguid=0x8f10500200b50          GUID of the next switch (caguid=, hcaguids=, rtguid=); switchguid+5: five
//!                                     after the last one given so
//! Switch 4 "S0"    # "spine 0"        kind (Switch, Hca, Ca, Rt), number of ports, node id, description
//! [1] "H0"[1]                         port, node at the other end, its port (1 when it is not given)
//! [3] "S2"[1]  w=2 s=4 e=1            widths 1 2 4 8 16 (= 1x 4x 8x 12x 2x), speeds 1 2 4 (= SDR DDR QDR),
//!                                     extended speeds 1 2 4 8 (= FDR EDR HDR NDR); sums enable several
//! ```
//!
//! Any blank or other line ends a node; other lines, and words of a port line that are no option, mean nothing.
//! `width=`, `speed=` and `extspeed=` are the options of links that have none, from there on. A link runs at the
//! best width and speed that both ends enable.
//!
//! # Deviations
//!
//! `include`, `do`, `module=` and aliases (`@name`) are refused: they are about the simulator, not the fabric. An
//! end without options takes those of the other, `ibsim` the defaults (4x, SDR). Ends that have nothing in common
//! are fatal to `ibsim`; here the lower end counts, with a warning.
//!
//! References: [`IBA`]

use super::fabric_file::LineError;
use super::records::record_graph::Source;
use super::records::speeds::{SPEEDS as SPEEDS_PARAMETER, Speeds};
use super::records::{
    NodeKind, NodeRecord, PortRecord, Speed, assignment, bracket_number, data_rate,
    guid_after_extension, lid, node, node_keyword, quoted,
};
use crate::references::IBA;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::Graph;
use crate::topology::{BuildContext, BuildTopology, Topology, TopologyError};
use crate::units::BitRate;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Ibsim",
    aliases: &[],
    summary: "fabric from a topology file of the simulator ibsim (.net)",
    parameters: &[
        Parameter {
            name: "file",
            kind: "path, relative to the scenario",
            default: None,
            summary: "topology file, such as tests/opensm/ring_8/ring_8.net",
        },
        SPEEDS_PARAMETER,
    ],
    guarantees: &[
        "every node and cable of the file; each link listed on both sides",
        "every cabled port of a channel adapter is one host",
    ],
    references: &[IBA],
    build: |arguments| Ok(Box::new(arguments.parse::<Ibsim>()?)),
};

/// First GUID of switches without one.
pub(super) const FIRST_SWITCH_GUID: u64 = 0x20_0000;
/// First node GUID of adapters without one.
pub(super) const FIRST_ADAPTER_GUID: u64 = 0x10_0000;

/// Lanes by the value of `w=`.
pub(super) const WIDTHS: [(u32, u64); 5] = [(1, 1), (2, 4), (4, 8), (8, 12), (16, 2)];
/// Speeds by the value of `s=`, slowest first.
pub(super) const SPEEDS: [(u32, &str); 3] = [(1, "SDR"), (2, "DDR"), (4, "QDR")];
/// Speeds by the value of `e=`, slowest first.
pub(super) const EXTENDED_SPEEDS: [(u32, &str); 4] =
    [(1, "FDR"), (2, "EDR"), (4, "HDR"), (8, "NDR")];

/// Parameters of a fabric file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ibsim {
    /// Path, relative to the scenario.
    pub file: String,
    /// Where the rates of links come from.
    #[serde(default)]
    pub speeds: Speeds,
}

impl Ibsim {
    fn source(&self) -> Source<'_> {
        Source {
            file: &self.file,
            parse,
            speeds: &self.speeds,
            skipped: |_, _| None,
        }
    }
}

impl Topology for Ibsim {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        self.source().build(context)
    }

    fn own_rates(&self, base: &Path) -> Result<Vec<BitRate>, TopologyError> {
        self.source().own_rates(base)
    }
}

/// Reads the whole text; records keep their order.
fn parse(text: &str) -> Result<Vec<NodeRecord>, LineError> {
    let first = [FIRST_SWITCH_GUID, FIRST_ADAPTER_GUID];
    let mut reader = Reader {
        next_guid: first,
        base_guid: first,
        ..Reader::default()
    };
    for (index, line) in text.lines().enumerate() {
        let read = reader.read(index + 1, line.trim());
        read.map_err(|reason| LineError::new(index + 1, reason))?;
    }
    reader.negotiate();
    Ok(reader.records)
}

/// Widths, speeds and extended speeds enabled at a port, as sums; 0 = not said.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    width: u32,
    speed: u32,
    extended: u32,
}

impl Options {
    /// Sets `w=4` and the like.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = number(value).and_then(|number| u32::try_from(number).ok());
        let (field, least, most) = match name {
            "w" | "width" => (&mut self.width, 1, 31),
            "s" | "speed" => (&mut self.speed, 1, 7),
            "e" | "extspeed" => (&mut self.extended, 0, 15),
            _ => {
                return Err(format!(
                    "unknown option `{name}={value}`, expected `w=`, `s=` or `e=`"
                ));
            }
        };
        *field = number
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| {
                format!("`{name}={value}`: expected a sum of 1, 2, 4 and so on, {least} to {most}")
            })?;
        Ok(())
    }

    /// With the options of a port line, each of which has one value.
    fn with(mut self, words: &str) -> Result<Self, String> {
        let mut given: Vec<(&str, &str)> = Vec::new();
        let words = words.split_whitespace();
        for (name, value) in words.filter_map(|word| word.split_once('=')) {
            self.set(name, value)?;
            // `w` and `width` are one option
            let known = given.iter().find(|(known, _)| known[..1] == name[..1]);
            if let Some((known, other)) = known.filter(|(_, other)| *other != value) {
                return Err(format!(
                    "`{name}={value}` beside `{known}={other}`, expected one of them"
                ));
            }
            given.push((name, value));
        }
        Ok(self)
    }

    /// What both ends enable; `None` when that is nothing.
    fn common(self, other: Self) -> Option<Self> {
        let of = |own: u32, other: u32, default: u32| {
            let [own, other] = [own, other].map(|sum| if sum == 0 { default } else { sum });
            own & other
        };
        let both = Self {
            width: of(self.width, other.width, 2),
            speed: of(self.speed, other.speed, 1),
            extended: of(self.extended, other.extended, 0),
        };
        let is_any = both.width > 0 && (both.speed > 0 || both.extended > 0);
        is_any.then_some(both)
    }

    /// The best speed enabled; `None` without any option. What is missing is 4x, SDR.
    fn link_speed(self) -> Option<Speed> {
        if (self.width, self.speed, self.extended) == (0, 0, 0) {
            return None;
        }
        let width = if self.width == 0 { 2 } else { self.width };
        let enabled = WIDTHS.iter().filter(|(value, _)| width & value > 0);
        let lanes = enabled.map(|(_, lanes)| *lanes).max()?;
        let best = |known: &[(u32, &'static str)], sum: u32| {
            let enabled = known.iter().rfind(|(value, _)| sum & value > 0);
            enabled.map(|(_, name)| *name)
        };
        let extended = best(&EXTENDED_SPEEDS, self.extended);
        let name = extended.or_else(|| best(&SPEEDS, self.speed.max(1)))?;
        let rate = Some(data_rate(lanes, name)?);
        let text = format!("{lanes}x{name}");
        Some(Speed { text, rate })
    }
}

/// A number as C reads it: `0x1f`, `31`, an optional sign before and anything after it.
fn number(text: &str) -> Option<u64> {
    let text = text.trim_start();
    let text = text.strip_prefix('+').unwrap_or(text);
    let (digits, radix) = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .map_or((text, 10), |digits| (digits, 16));
    let end = digits
        .find(|letter: char| !letter.is_digit(radix))
        .unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], radix).ok()
}

fn not_supported(text: &str) -> String {
    format!(
        "`{text}` is not supported: `include`, `do`, `module=` and aliases are about the simulator, not the fabric; \
         write out what they stand for"
    )
}

/// State between lines.
#[derive(Default)]
struct Reader {
    records: Vec<NodeRecord>,
    /// Line of each id.
    lines: HashMap<String, usize>,
    /// Whether port lines belong to the last record.
    is_open: bool,
    /// GUID of the next switch and of the next adapter.
    next_guid: [u64; 2],
    /// The GUIDs last given by `switchguid=` and the like.
    base_guid: [u64; 2],
    /// Options of the ports, by record and port.
    options: BTreeMap<(usize, u16), Options>,
    /// Options of links that have none.
    defaults: Options,
}

impl Reader {
    fn read(&mut self, line: usize, text: &str) -> Result<(), String> {
        if text.is_empty() {
            self.is_open = false;
        } else if text.starts_with('#') {
            // a comment
        } else if let Some((number, rest)) = bracket_number(text) {
            self.port(line, number, rest)?;
        } else if let Some((kind, rest)) = node_keyword(text) {
            self.node(line, kind, rest)?;
        } else {
            self.is_open = false;
            self.other(text)?;
        }
        Ok(())
    }

    /// A line that is no part of a node: a setting, or nothing.
    fn other(&mut self, text: &str) -> Result<(), String> {
        let kind = |name: &str| match name {
            "switchguid" => Some(0),
            "caguid" | "hcaguid" | "hcaguids" | "rtguid" => Some(1),
            _ => None,
        };
        if let Some((name, value)) = assignment(text) {
            if let Some(kind) = kind(name) {
                let wrong = || format!("`{name}={value}` is not a GUID such as `0x200001`");
                let guid = number(value).ok_or_else(wrong)?;
                (self.base_guid[kind], self.next_guid[kind]) = (guid, guid);
            } else if matches!(name, "width" | "speed" | "extspeed") {
                self.defaults.set(name, value.trim())?;
            }
        } else if let Some((name, value)) = text.split_once('+')
            && let Some(kind) = kind(name)
        {
            let wrong = || format!("`{name}+{value}` is not such as `{name}+5`");
            let more = number(value).ok_or_else(wrong)?;
            self.next_guid[kind] = self.base_guid[kind].checked_add(more).ok_or_else(wrong)?;
        }
        let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        match words.next() {
            Some("Switch" | "Hca" | "Ca" | "Rt") => {
                Err("malformed node, expected such as `Switch 4 \"S0\"`".to_owned())
            }
            Some("include" | "do" | "module") => Err(not_supported(text)),
            _ if text.starts_with('@') => Err(not_supported(text)),
            _ => Ok(()),
        }
    }

    /// Gives both ends of every link the best speed that both enable.
    fn negotiate(&mut self) {
        let places: HashMap<&str, usize> = self
            .records
            .iter()
            .enumerate()
            .map(|(place, record)| (record.id.as_str(), place))
            .collect();
        let mut speeds = Vec::new();
        for (&(place, port), own) in &self.options {
            let end = &self.records[place].ports[&port];
            let peer = places.get(end.peer.as_str()).copied();
            let peer_port = u16::try_from(end.peer_port).ok();
            let other = peer.zip(peer_port).and_then(|peer| self.options.get(&peer));
            let both = other.and_then(|other| own.common(*other));
            speeds.push((place, port, both.unwrap_or(*own).link_speed()));
        }
        for (place, port, speed) in speeds {
            if let Some(end) = self.records[place].ports.get_mut(&port) {
                end.speed = speed;
            }
        }
    }

    fn node(&mut self, line: usize, kind: NodeKind, text: &str) -> Result<(), String> {
        let mut record = node(kind, text, line, Some(0))?;
        let taken = match kind {
            NodeKind::Switch => 1,
            NodeKind::Adapter => u64::from(record.port_count) + 1,
        };
        let next = &mut self.next_guid[usize::from(kind == NodeKind::Adapter)];
        record.guid = *next;
        *next = next.wrapping_add(taken);
        if let Some(first) = self.lines.insert(record.id.clone(), line) {
            return Err(format!("node `{}` is already on line {first}", record.id));
        }
        self.records.push(record);
        self.is_open = true;
        Ok(())
    }

    fn port(&mut self, line: usize, number: &str, rest: &str) -> Result<(), String> {
        let defaults = self.defaults;
        let open = self.records.last_mut().filter(|_| self.is_open);
        let record =
            open.ok_or("port line outside a node, expected `Switch` or `Hca` before it")?;
        let (id, most) = (&record.id, record.port_count);
        let wrong = || format!("port {number} of `{id}`, expected 1..={most}");
        let port: u16 = number.parse().map_err(|_| wrong())?;
        if !(1..=most).contains(&port) {
            return Err(wrong());
        }
        let malformed = || "malformed port, expected such as `[1] \"S0\"[2]`".to_owned();
        let (_, rest) = guid_after_extension(rest);
        let (peer, rest) = quoted(rest).ok_or_else(malformed)?;
        let (peer_port, rest) = bracket_number(rest.trim_start()).unwrap_or(("1", rest));
        let peer_port = peer_port.parse().map_err(|_| malformed())?;
        let (_, rest) = guid_after_extension(rest);
        let (words, comment) = rest.split_once('#').unwrap_or((rest, ""));
        let options = defaults.with(words)?;
        let mut parts = comment.split('"');
        let own = parts.next().unwrap_or_default();
        let new = PortRecord {
            line,
            guid: None,
            lid: lid(own)?,
            peer_lid: parts.nth(1).map_or(Ok(0), lid)?,
            peer: peer.to_owned(),
            peer_port,
            speed: None,
        };
        if let Some(old) = record.ports.insert(port, new) {
            let first = old.line;
            return Err(format!(
                "port {port} of `{}` is already on line {first}",
                record.id
            ));
        }
        if options.link_speed().is_some() {
            self.options.insert((self.records.len() - 1, port), options);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
