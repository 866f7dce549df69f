//! Fabrics from the topology files of the simulator `ibsim` (`.net`).
//!
//! Guarantees: every node and cable of the file, nothing else; every link is listed alike on both sides.
//! Fails with: [`TopologyError::File`] with the line, when the file cannot be read or does not describe a
//! fabric, or when a link's rate is not a whole fraction of the reference rate.
//! Cost: O(text) time and memory.
//!
//! Names of nodes are their descriptions, or their ids where there is none. A node without a GUID gets the one
//! `ibsim` gives it: switches count from 0x200000, adapters from 0x100000 and one more for each of their
//! ports; port GUID = node GUID + port. A link without options has the rate of the scenario.
//!
//! # Grammar
//!
//! ```text
//! # comment
//! switchguid=0x8f10500200b50          GUID of the next switch (caguid=, hcaguid=, rtguid=); +5 = skip five
//! Switch 4 "S0"    # "spine 0"        kind (Switch, Hca, Ca, Rt), number of ports, node id, description
//! [1] "H0"[1]                         port, node at the other end, its port
//! [3] "S2"[1]  w=2 s=4 e=1            width 1 2 4 8 16 (= 1x 4x 8x 12x 2x), speed 1 2 4 (= SDR DDR QDR),
//!                                     extended speed 1 2 4 8 (= FDR EDR HDR NDR)
//! ```
//!
//! Any blank or other line ends a node. `vendid=`, `devid=` and `sysimgguid=` are skipped; `width=`, `speed=`
//! and `extspeed=` are the options of links that have none, from there on.
//!
//! # Deviations
//!
//! `include`, `do`, `module=` and aliases (`@name`) are refused: they are about the simulator, not the fabric.
//!
//! References: [`IBA`]

use super::fabric_file::LineError;
use super::graph::Graph;
use super::ibnetdiscover_records::{
    NodeKind, NodeRecord, PortRecord, Speed, assignment, bracket_number, data_rate,
    guid_after_extension, hexadecimal, node, node_keyword, quoted,
};
use super::{BuildContext, BuildTopology, Topology, TopologyError, record_graph};
use crate::references::IBA;
use crate::registry::{Entry, Parameter};
use crate::units::BitRate;
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Ibsim",
    aliases: &[],
    summary: "fabric from a topology file of the simulator ibsim (.net)",
    parameters: &[Parameter {
        name: "file",
        kind: "path, relative to the scenario",
        default: None,
        summary: "topology file, such as tests/opensm/ring_8/ring_8.net",
    }],
    guarantees: &[
        "every node and cable of the file; each link listed alike on both sides",
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
/// Speeds by the value of `s=`.
pub(super) const SPEEDS: [(u32, &str); 3] = [(1, "SDR"), (2, "DDR"), (4, "QDR")];
/// Speeds by the value of `e=`.
pub(super) const EXTENDED_SPEEDS: [(u32, &str); 4] =
    [(1, "FDR"), (2, "EDR"), (4, "HDR"), (8, "NDR")];

/// Parameters of a fabric file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ibsim {
    /// Path, relative to the scenario.
    pub file: String,
}

impl Topology for Ibsim {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        record_graph::build(&self.file, parse, context)
    }

    fn own_rates(&self, base: &Path) -> Result<Vec<BitRate>, TopologyError> {
        record_graph::own_rates(&self.file, parse, base)
    }
}

/// Reads the whole text; records keep their order.
fn parse(text: &str) -> Result<Vec<NodeRecord>, LineError> {
    let mut reader = Reader {
        next_guid: [FIRST_SWITCH_GUID, FIRST_ADAPTER_GUID],
        ..Reader::default()
    };
    for (index, line) in text.lines().enumerate() {
        let read = reader.read(index + 1, line.trim());
        read.map_err(|reason| LineError::new(index + 1, reason))?;
    }
    Ok(reader.records)
}

/// Width, speed and extended speed as written.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    width: Option<u32>,
    speed: Option<u32>,
    extended: Option<u32>,
}

impl Options {
    /// Sets `w=4` and the like.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number: u32 = value
            .parse()
            .map_err(|_| format!("`{name}={value}`: expected a whole number"))?;
        let allowed = |known: &[u32]| {
            if known.contains(&number) {
                return Ok(Some(number));
            }
            let known: Vec<_> = known.iter().map(u32::to_string).collect();
            let known = known.join(", ");
            Err(format!("`{name}={value}`: expected one of {known}"))
        };
        match name {
            "w" | "width" => self.width = allowed(&WIDTHS.map(|(value, _)| value))?,
            "s" | "speed" => self.speed = allowed(&SPEEDS.map(|(value, _)| value))?,
            "e" | "extspeed" if number == 0 => self.extended = None,
            "e" | "extspeed" => {
                self.extended = allowed(&EXTENDED_SPEEDS.map(|(value, _)| value))?;
            }
            _ => {
                return Err(format!(
                    "unknown option `{name}={value}`, expected `w=`, `s=` or `e=`"
                ));
            }
        }
        Ok(())
    }

    /// The speed of a link; `None` without any option. What is missing is 4x, SDR.
    fn link_speed(self) -> Option<Speed> {
        self.width.or(self.speed).or(self.extended)?;
        let (_, lanes) = WIDTHS
            .into_iter()
            .find(|(value, _)| *value == self.width.unwrap_or(2))?;
        let extended = EXTENDED_SPEEDS
            .into_iter()
            .find(|(value, _)| Some(*value) == self.extended);
        let speed = SPEEDS
            .into_iter()
            .find(|(value, _)| *value == self.speed.unwrap_or(1));
        let (_, name) = extended.or(speed)?;
        let rate = data_rate(lanes, name)?;
        let text = format!("{lanes}x{name}");
        Some(Speed { text, rate })
    }
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
        } else if let Some((name, value)) = assignment(text) {
            self.is_open = false;
            self.assign(name, value.trim())?;
        } else {
            let word = text.split_whitespace().next().unwrap_or_default();
            return Err(format!(
                "unknown line `{word}`, expected `Switch`, `Hca`, `Ca`, `Rt`, a port such as `[1] \"S0\"[2]` or \
                 `switchguid=`; `include`, `do`, `module=` and aliases are not supported"
            ));
        }
        Ok(())
    }

    fn assign(&mut self, name: &str, value: &str) -> Result<(), String> {
        let kind = match name {
            "switchguid" => 0,
            "caguid" | "hcaguid" | "hcaguids" | "rtguid" => 1,
            "vendid" | "devid" | "sysimgguid" => return Ok(()),
            "width" | "speed" | "extspeed" => return self.defaults.set(name, value),
            _ => {
                return Err(format!(
                    "unknown setting `{name}=`, expected one of `switchguid=`, `caguid=`, `hcaguid=`, `rtguid=`, \
                     `vendid=`, `devid=`, `sysimgguid=`, `width=`, `speed=`, `extspeed=`"
                ));
            }
        };
        let wrong = || format!("`{name}={value}` is not a GUID such as `0x200001`, or `+1`");
        self.next_guid[kind] = match value.strip_prefix('+') {
            Some(more) => {
                let more: u64 = more.parse().map_err(|_| wrong())?;
                self.next_guid[kind].checked_add(more).ok_or_else(wrong)?
            }
            None => hexadecimal(value).ok_or_else(wrong)?,
        };
        Ok(())
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
        let (peer_port, rest) = bracket_number(rest.trim_start()).ok_or_else(malformed)?;
        let peer_port = peer_port.parse().map_err(|_| malformed())?;
        let (_, rest) = guid_after_extension(rest);
        let mut options = defaults;
        for word in rest
            .split('#')
            .next()
            .unwrap_or_default()
            .split_whitespace()
        {
            let (name, value) = word
                .split_once('=')
                .ok_or_else(|| format!("unknown option `{word}`, expected `w=`, `s=` or `e=`"))?;
            options.set(name, value)?;
        }
        let new = PortRecord {
            line,
            guid: None,
            peer: peer.to_owned(),
            peer_port,
            speed: options.link_speed(),
        };
        if let Some(old) = record.ports.insert(port, new) {
            let first = old.line;
            return Err(format!(
                "port {port} of `{}` is already on line {first}",
                record.id
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{HostId, SwitchId};
    use crate::topology::tests::context;
    use crate::units::Clock;

    fn build(text: &str) -> Result<Graph, String> {
        let context = BuildContext {
            clock: Clock {
                flit_bytes: 64,
                reference_rate: 32_000_000_000,
            },
            ..context()
        };
        let graph = parse(text).and_then(|records| record_graph::graph(&records, &context));
        graph.map_err(|error| error.in_file("net").to_string())
    }

    const SMALL: &str = "# two switches\nHca\t1 \"H0\"\n[1]\t\"S0\"[1]\n\nswitchguid=+16\nSwitch 4 \"S0\" # \"left one\"\n\
                         [1]\t\"H0\"[1]\n[3]\t\"S1\"[1]  w=2 s=4\n\nSwitch 4 \"S1\"\n[1] \"S0\"[3] w=2 s=4 # x\n\
                         [2] \"H1\"[1]\n\nHca 2 \"H1\"\n[1](10) \"S1\"[2]\n";

    #[test]
    fn nodes_links_and_options_are_read() {
        let graph = build(SMALL).unwrap();
        assert_eq!(graph.switches()[0].name, "left one");
        assert_eq!(graph.switches()[0].guid, 0x20_0010);
        assert_eq!(graph.switches()[1].guid, 0x20_0011);
        assert_eq!(graph.switches()[1].port_count, 4);
        let guids: Vec<u64> = graph.hosts().iter().map(|host| host.guid).collect();
        assert_eq!(guids, [0x10_0001, 0x10_0003]);
        assert_eq!(graph.attachment(HostId(1)), Some((SwitchId(1), 2)));
        let channel = graph.port_channel(SwitchId(0), 3).unwrap();
        assert_eq!(graph.channel(channel).timing.cycles_per_flit, 1);
        assert_eq!(graph.channel(channel).to.switch(), Some(SwitchId(1)));
    }

    #[test]
    fn speeds_are_those_of_the_options() {
        let speed = |words: &str| {
            let mut options = Options::default();
            for word in words.split_whitespace() {
                let (name, value) = word.split_once('=').unwrap();
                options.set(name, value).unwrap();
            }
            options.link_speed().map(|speed| speed.text)
        };
        assert_eq!(speed(""), None);
        assert_eq!(speed("w=1").as_deref(), Some("1xSDR"));
        assert_eq!(speed("s=2").as_deref(), Some("4xDDR"));
        assert_eq!(speed("w=8 s=4").as_deref(), Some("12xQDR"));
        assert_eq!(speed("w=2 s=4 e=2").as_deref(), Some("4xEDR"));
        assert_eq!(speed("w=16 e=8").as_deref(), Some("2xNDR"));
    }

    #[test]
    fn malformed_files_are_told() {
        for (text, reason) in [
            (
                "[1] \"S0\"[1]\n",
                "net:1: port line outside a node, expected `Switch` or `Hca` before it",
            ),
            (
                "Switch 4 \"S0\"\n[5] \"S1\"[1]\n",
                "net:2: port 5 of `S0`, expected 1..=4",
            ),
            (
                "Switch 4 \"S0\"\n[1] \"S1\"\n",
                "net:2: malformed port, expected such as `[1] \"S0\"[2]`",
            ),
            (
                "Switch 4 \"S0\"\n[1] \"S1\"[1] w=3\n",
                "net:2: `w=3`: expected one of 1, 2, 4, 8, 16",
            ),
            (
                "Switch 4 \"S0\"\n[1] \"S1\"[1] fast\n",
                "net:2: unknown option `fast`, expected `w=`, `s=` or `e=`",
            ),
            (
                "Switch 4 \"S0\"\nSwitch 4 \"S0\"\n",
                "net:2: node `S0` is already on line 1",
            ),
            (
                "Switch 4 \"S0\"\n[1] \"S1\"[1]\n",
                "net:2: `S0` port 1 leads to `S1` port 1, which is not in the file",
            ),
            (
                "switchguid=+x\n",
                "net:1: `switchguid=+x` is not a GUID such as `0x200001`, or `+1`",
            ),
            (
                "do \"Link S0\"\n",
                "net:1: unknown line `do`, expected `Switch`, `Hca`, `Ca`, `Rt`, a port such as `[1] \"S0\"[2]` or \
                 `switchguid=`; `include`, `do`, `module=` and aliases are not supported",
            ),
        ] {
            assert_eq!(build(text).unwrap_err(), reason);
        }
        assert!(
            build("module=x\n")
                .unwrap_err()
                .starts_with("net:1: unknown setting `module=`")
        );
    }
}
