//! Reads the text that `ibnetdiscover` prints into node records.
//!
//! Guarantees: never panics; what comes back has ports in `1..=port count`, each listed once, and node ids
//! that differ. Whether the two sides of a link agree is checked by [`record_graph`].
//! Cost: O(text) time and memory.
//!
//! # Grammar
//!
//! ```text
//! switchguid=0x200001(200001)                                    caguid=, rtguid=: GUID of the next node
//! Switch  4 "S-0000000000200001"    # "S1" base port 0 lid 3 lmc 0       Switch, Ca, Hca, Rt, Router
//! [1]  "H-0000000000100004"[1](100005)    # "H2" lid 7 4xSDR     [port] "peer"[its port](its port GUID)
//!
//! Ca  1 "H-0000000000100004"    # "H2"
//! [1](100005)  "S-0000000000200001"[1]    # lid 7 lmc 0 "S1" lid 3 4xSDR
//! ```
//!
//! A blank line or a `name=value` line ends a record. Comments and port 0 are skipped, and so are all other lines, which is
//! said ([`skipped`]): captured output often holds messages of the tool. A port line without `#`, or without a speed behind it, has no speed;
//! that and ids that are no GUID are accepted too; what the simulator `ibsim` reads beyond that, [`Ibsim`](super::ibsim) reads.

pub mod record_graph;
pub mod skipped;
pub mod speeds;

use super::fabric_file::LineError;
use crate::topology::graph::limits::MAX_PORTS;
use crate::units::BitRate;
use std::collections::{BTreeMap, HashMap};

/// Speeds in order of age: name and data rate of twelve lanes as a fraction \[bit/s\].
const SPEEDS: &[(&str, u64, u64)] = &[
    ("SDR", 24_000_000_000, 1),
    ("DDR", 48_000_000_000, 1),
    ("QDR", 96_000_000_000, 1),
    ("FDR10", 120_000_000_000, 1),
    ("FDR", 1_800_000_000_000, 11), // 14.0625 Gbit/s per lane, 64 of 66 bits are payload
    ("EDR", 300_000_000_000, 1),
    ("HDR", 600_000_000_000, 1),
    ("NDR", 1_200_000_000_000, 1),
    ("XDR", 2_400_000_000_000, 1),
];

/// Largest unicast LID.
pub(super) const LARGEST_LID: u32 = 0xBFFF;

/// Lanes a link can have.
const WIDTHS: &[u64] = &[1, 2, 4, 8, 12];

/// Two rates closer than this fraction are the same: rates that are no whole number of bit/s (FDR) are
/// rounded, here and where they are divided into cycles.
const TOLERANCE: f64 = 1e-8;

/// Data rate of a link \[bit/s\]; `None` for a width or speed that does not exist.
pub(super) fn data_rate(lanes: u64, speed: &str) -> Option<BitRate> {
    let (_, of_twelve, divisor) = SPEEDS.iter().find(|(known, ..)| *known == speed)?;
    let exists = WIDTHS.contains(&lanes);
    exists.then(|| BitRate(of_twelve * lanes / (12 * divisor)))
}

/// Width and speed of a data rate, four lanes where that is possible.
pub(super) fn lanes_and_speed(rate: BitRate) -> Option<(u64, &'static str)> {
    let widths = [4, 1, 2, 8, 12];
    let mut pairs = widths.iter().flat_map(|&lanes| {
        let speeds = SPEEDS.iter();
        speeds.map(move |(speed, ..)| (lanes, *speed))
    });
    pairs.find(|&(lanes, speed)| {
        data_rate(lanes, speed).is_some_and(|known| {
            let difference = known.0.abs_diff(rate.0) as f64;
            difference <= TOLERANCE * rate.0 as f64
        })
    })
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    /// Forwards packets.
    Switch,
    /// A channel adapter or a router: each of its ports ends the subnet.
    Adapter,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeRecord {
    pub(super) line: usize,
    pub(super) kind: NodeKind,
    pub(super) id: String,
    pub(super) guid: u64,
    /// LID of a switch, 0 when it is not said.
    pub(super) lid: u32,
    pub(super) port_count: u16,
    /// Text for people; may be empty.
    pub(super) description: String,
    /// Connected ports by number.
    pub(super) ports: BTreeMap<u16, PortRecord>,
}

/// One connected port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PortRecord {
    pub(super) line: usize,
    pub(super) guid: Option<u64>,
    /// LID of an adapter's port, and of the end it leads to; 0 when it is not said.
    pub(super) lid: u32,
    pub(super) peer_lid: u32,
    pub(super) peer: String,
    pub(super) peer_port: u32,
    /// `None` when the tool did not know it.
    pub(super) speed: Option<Speed>,
}

/// Width and speed of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Speed {
    /// As written: `4xQDR`.
    pub(super) text: String,
    /// Data rate; `None` where no such width or speed exists.
    pub(super) rate: Option<BitRate>,
}

/// Reads the whole text; records keep their order.
pub(super) fn parse(text: &str) -> Result<Vec<NodeRecord>, LineError> {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        reader.read(index + 1, line.trim_end())?;
    }
    if !text.ends_with('\n') {
        reader.require_whole(text.lines().count())?;
    }
    Ok(reader.records)
}

/// State between lines.
#[derive(Default)]
struct Reader {
    records: Vec<NodeRecord>,
    /// Line of each id.
    lines: HashMap<String, usize>,
    /// Whether port lines belong to the last record.
    is_open: bool,
    /// GUID announced for the next node.
    guid: Option<u64>,
}

impl Reader {
    fn read(&mut self, line: usize, text: &str) -> Result<(), LineError> {
        let at_line = |reason: String| LineError::new(line, reason);
        if text.is_empty() {
            self.is_open = false;
        } else if let Some(rest) = bracket_number(text) {
            self.port(line, rest.0, rest.1)?;
        } else if let Some((kind, rest)) = node_keyword(text) {
            let record = node(kind, rest, line, self.guid.take()).map_err(at_line)?;
            if let Some(first) = self.lines.insert(record.id.clone(), line) {
                let reason = format!("node `{}` is already on line {first}", record.id);
                return Err(at_line(reason));
            }
            self.records.push(record);
            self.is_open = true;
        } else if let Some((name, value)) = assignment(text) {
            self.is_open = false;
            if matches!(name, "switchguid" | "caguid" | "hcaguid" | "rtguid") {
                self.guid = Some(hexadecimal(value).ok_or_else(|| {
                    at_line(format!("`{name}={value}` is not a GUID such as `0x200001`"))
                })?);
            }
        }
        Ok(())
    }

    /// A last line without an end and without the speed that its like have was cut off.
    fn require_whole(&self, last: usize) -> Result<(), LineError> {
        let Some(record) = self.records.last() else {
            return Ok(());
        };
        let rate = |port: &PortRecord| port.speed.as_ref().and_then(|speed| speed.rate);
        let is_cut = |port: &PortRecord| port.line == last && rate(port).is_none();
        let alike = self
            .records
            .iter()
            .filter(|other| other.kind == record.kind);
        let mut others = alike.flat_map(|other| other.ports.values());
        if record.ports.values().any(is_cut) && others.any(|port| rate(port).is_some()) {
            let reason = "no link speed at the end of the text (is the file cut off here?)";
            return Err(LineError::new(last, reason));
        }
        Ok(())
    }

    fn port(&mut self, line: usize, number: &str, rest: &str) -> Result<(), LineError> {
        let at_line = |reason: String| LineError::new(line, reason);
        let open = self.records.last_mut().filter(|_| self.is_open);
        let record = open.ok_or_else(|| {
            at_line("port line outside a node, expected `Switch` or `Ca` before it".to_owned())
        })?;
        let port = match number.parse::<u16>() {
            Ok(0) => return Ok(()),
            Ok(port) if port <= record.port_count => port,
            _ => {
                let (id, most) = (&record.id, record.port_count);
                let reason = format!("port {number} of `{id}`, expected 1..={most}");
                return Err(at_line(reason));
            }
        };
        let new = port_record(rest, line).map_err(at_line)?;
        if let Some(old) = record.ports.insert(port, new) {
            let (id, first) = (&record.id, old.line);
            let reason = format!("port {port} of `{id}` is already on line {first}");
            return Err(at_line(reason));
        }
        Ok(())
    }
}

/// `[12]` at the start: the digits, and what follows.
pub(super) fn bracket_number(text: &str) -> Option<(&str, &str)> {
    let (number, rest) = text.strip_prefix('[')?.split_once(']')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((number, rest))
}

/// A node's type at the start, followed by a number (messages of the tool also start with such words).
pub(super) fn node_keyword(text: &str) -> Option<(NodeKind, &str)> {
    let (keyword, rest) = text.split_once(char::is_whitespace)?;
    let kind = match keyword {
        "Switch" => NodeKind::Switch,
        "Ca" | "Hca" | "Rt" | "Router" => NodeKind::Adapter,
        _ => return None,
    };
    let rest = rest.trim_start();
    rest.starts_with(|c: char| c.is_ascii_digit())
        .then_some((kind, rest))
}

/// `name=value` without blanks in the name.
pub(super) fn assignment(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_name && !name.is_empty()).then_some((name, value))
}

/// `0x200001(200001)` or `200001`.
pub(super) fn hexadecimal(text: &str) -> Option<u64> {
    let text = text.split('(').next().unwrap_or(text).trim();
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_plain)
}

/// `4 "S-0000000000200001"   # "S1" base port 0 lid 3 lmc 0`
pub(super) fn node(
    kind: NodeKind,
    text: &str,
    line: usize,
    guid: Option<u64>,
) -> Result<NodeRecord, String> {
    let malformed =
        || "malformed node, expected such as `Switch 36 \"S-0002c90200417670\"`".to_owned();
    let (count, rest) = text.split_once(char::is_whitespace).ok_or_else(malformed)?;
    let (id, rest) = quoted(rest).ok_or_else(malformed)?;
    let count_error = || format!("`{id}` has {count} ports, expected 1..={MAX_PORTS}");
    let port_count: u16 = count.parse().map_err(|_| count_error())?;
    if !(1..=MAX_PORTS).contains(&port_count) {
        return Err(count_error());
    }
    let (comment, outside) = comment(rest)?;
    let guid = guid.or_else(|| hexadecimal(id.get(2..).filter(|digits| digits.len() == 16)?));
    Ok(NodeRecord {
        line,
        kind,
        id: id.to_owned(),
        guid: guid.unwrap_or(0),
        lid: outside.get(1).map_or(Ok(0), |after| lid(after))?,
        port_count,
        description: comment.to_owned(),
        ports: BTreeMap::new(),
    })
}

/// `(100005) "S-0000000000200001"[1](guid)   # lid 7 lmc 0 "S1" lid 3 4xSDR`, after the port's number.
fn port_record(text: &str, line: usize) -> Result<PortRecord, String> {
    let malformed =
        || "malformed port, expected such as `[1] \"S-0002c90200417670\"[36]`".to_owned();
    let (guid, rest) = guid_after_extension(text);
    let (peer, rest) = quoted(rest).ok_or_else(malformed)?;
    let (peer_port, rest) = bracket_number(rest.trim_start()).ok_or_else(malformed)?;
    let peer_port = peer_port.parse().map_err(|_| malformed())?;
    let (_, rest) = guid_after_extension(rest);
    let ([lid, peer_lid], speed) = if rest.trim_start().is_empty() {
        ([0, 0], None)
    } else {
        let outside = comment(rest)?.1;
        // what follows the description is the other end's
        let of = |place: usize| outside.get(place).map_or(Ok(0), |part| lid(part));
        ([of(0)?, of(1)?], speed(outside))
    };
    Ok(PortRecord {
        line,
        guid,
        lid,
        peer_lid,
        peer: peer.to_owned(),
        peer_port,
        speed,
    })
}

/// Skips `[ext 3]` and reads `(guid)`; both may be missing.
pub(super) fn guid_after_extension(text: &str) -> (Option<u64>, &str) {
    let text = text.trim_start();
    let text = text
        .strip_prefix("[ext")
        .and_then(|rest| rest.split_once(']'))
        .map_or(text, |(_, rest)| rest)
        .trim_start();
    match text.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((guid, rest)) => (hexadecimal(guid), rest),
        None => (None, text),
    }
}

/// `"text"` at the start, not empty: the text, and what follows.
pub(super) fn quoted(text: &str) -> Option<(&str, &str)> {
    let (id, rest) = text.trim_start().strip_prefix('"')?.split_once('"')?;
    (!id.is_empty()).then_some((id, rest))
}

/// The comment of a line: its first quoted text, and what stands outside all quotes after it.
pub(super) fn comment(text: &str) -> Result<(&str, Vec<&str>), String> {
    let comment = text.trim_start().strip_prefix('#').unwrap_or_default();
    let parts: Vec<&str> = comment.split('"').collect();
    if parts.len().is_multiple_of(2) {
        return Err("the description has no closing quote (is the file cut off here?)".to_owned());
    }
    let description = parts.get(1).copied().unwrap_or_default();
    let outside = parts.into_iter().step_by(2).collect();
    Ok((description, outside))
}

/// What tools print as a LID that was not assigned, beside 0.
const PERMISSIVE_LID: u64 = 0xFFFF;

/// The first number after `lid`; 0 when there is none, or none was assigned.
pub(super) fn lid(text: &str) -> Result<u32, String> {
    let mut words = text.split_whitespace().skip_while(|&word| word != "lid");
    let number: Option<u64> = words.nth(1).and_then(|word| word.parse().ok());
    match number {
        None | Some(PERMISSIVE_LID) => Ok(0),
        Some(lid) => u32::try_from(lid)
            .ok()
            .filter(|&lid| lid <= LARGEST_LID)
            .ok_or_else(|| {
                format!("`lid {lid}` is no unicast LID: expected 1 to {LARGEST_LID}, or 0 where there is none")
            }),
    }
}

/// The speed among the words outside quotes, if there is one; the last one when there are several.
fn speed(outside: Vec<&str>) -> Option<Speed> {
    let words = outside.into_iter().flat_map(str::split_whitespace);
    let mut pairs = words.filter_map(|word| Some((word, word.split_once('x')?)));
    let (text, (width, name)) = pairs.rfind(|(_, (width, name))| {
        let is_width = width
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'?');
        let is_name = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '?');
        is_width && !width.is_empty() && (is_name || name.is_empty())
    })?;
    if width.contains('?') || name.contains('?') {
        return None;
    }
    let lanes = width.parse().ok();
    Some(Speed {
        text: text.to_owned(),
        rate: lanes.and_then(|lanes| data_rate(lanes, name)),
    })
}

#[cfg(test)]
mod tests;
