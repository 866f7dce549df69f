//! Writes forwarding tables, lane maps and LIDs in the forms of OpenSM's dumps.
//!
//! LIDs and GUIDs are those of [`Identities`]. Where there is no route, `UNREACHABLE` stands for the port. Management
//! ports of switches are destinations of forwarding tables too: by the engine's own tables, else by [`management`].
//!
//! Cost: O(switches * hosts) text, for lanes O(switches * ports^2).
//!
//! References: OpenSM `osm_dump.c`

use crate::ids::{HostId, INFINIBAND_LANES, SlId, SwitchId};
use crate::routing::identities::{EndPort, Identities};
use crate::routing::{Tables, UNREACHABLE};
use crate::topology::Graph;
use crate::topology::survey::switch_distances;
use std::fmt::{self, Write};

/// Service levels of InfiniBand.
const SERVICE_LEVELS: usize = 16;

/// Entry of a lane map that drops packets.
const DROP: u8 = 15;

/// Tables that InfiniBand has no form for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InexpressibleError {
    /// Layers change on the way, a service level does not.
    #[error(
        "{engine} changes layers on the way, which an InfiniBand service level cannot tell; with \
         `DimensionOrder` use `dateline: Path`"
    )]
    HopLayers {
        /// Registered name of the engine.
        engine: String,
    },
    /// An input port decides, for which InfiniBand's tables have no place.
    #[error(
        "{engine} forwards by input port and destination, InfiniBand by destination only: choose another \
         engine, such as UpDown() or Lash()"
    )]
    InputRows {
        /// Registered name of the engine.
        engine: String,
    },
    /// More (service level, layer) than InfiniBand has service levels.
    #[error("{needed} service levels times layers are in use, InfiniBand has 16 service levels")]
    TooManyLevels {
        /// Service levels * layers.
        needed: usize,
    },
    /// A lane that InfiniBand has not.
    #[error("lane {lane} is in use, InfiniBand has the data lanes 0 to 14: use at most 15 lanes")]
    NoSuchLane {
        /// The lane.
        lane: u8,
    },
    /// The text could not be taken.
    #[error("the text cannot be written")]
    Text(#[from] fmt::Error),
}

/// Ports to management ports, `[switch][switch]`, for engines that route to hosts only: the way to the first host of
/// the switch, and to a switch without hosts a shortest path over the lowest ports; 0 at the switch itself.
pub fn management(graph: &Graph, tables: &Tables) -> Vec<u8> {
    let count = graph.switches().len();
    let mut ports = vec![UNREACHABLE; count * count];
    for to in graph.switch_ids() {
        let distances = match graph.attached_hosts(to).next() {
            Some((_, host)) => {
                for from in graph.switch_ids().filter(|&from| from != to) {
                    let port = tables.next.get(from.index(), host.index());
                    ports[from.index() * count + to.index()] = port;
                }
                Vec::new()
            }
            None => switch_distances(graph, to),
        };
        for (from, distance) in graph.switch_ids().zip(&distances) {
            let Some(nearer) = distance.and_then(|distance| distance.checked_sub(1)) else {
                continue;
            };
            let mut steps = graph.neighbors(from);
            if let Some((port, ..)) =
                steps.find(|(.., next)| distances[next.index()] == Some(nearer))
            {
                ports[from.index() * count + to.index()] = port as u8;
            }
        }
        ports[to.index() * count + to.index()] = 0;
    }
    ports
}

/// Writes `opensm-lfts.dump` to `out`; `management` are the ports to switches.
///
/// # Errors
/// When `out` does.
pub fn write_lfts(
    graph: &Graph,
    tables: &Tables,
    management: &[u8],
    out: &mut impl Write,
) -> fmt::Result {
    let identities = Identities::new(graph);
    let ends = identities.by_lid();
    let most = ends.last().map_or(0, |&end| identities.lid(end));
    for switch in graph.switch_ids() {
        let node = &graph.switches()[switch.index()];
        writeln!(
            out,
            "Unicast lids [0-{most}] of switch Lid {} guid {:#018x} ('{}'):",
            identities.switch_lids[switch.index()],
            identities.switch_guids[switch.index()],
            node.name
        )?;
        for &end in &ends {
            let (lid, guid) = (identities.lid(end), identities.guid(end));
            let (kind, name) = match end {
                EndPort::Host(host) => ("Channel Adapter", &graph.hosts()[host.index()].name),
                EndPort::Switch(to) => ("Switch", &graph.switches()[to.index()].name),
            };
            match port(graph, tables, management, switch, end) {
                UNREACHABLE => writeln!(out, "{lid:#06x} UNREACHABLE")?,
                port => writeln!(
                    out,
                    "{lid:#06x} {port:03} # {kind} portguid {guid:#018x}: '{name}'"
                )?,
            }
        }
        writeln!(out, "{} lids dumped", ends.len())?;
    }
    Ok(())
}

/// The entry of a switch for an end port.
fn port(graph: &Graph, tables: &Tables, management: &[u8], switch: SwitchId, end: EndPort) -> u8 {
    match end {
        EndPort::Host(host) => tables.next.get(switch.index(), host.index()),
        EndPort::Switch(to) => management[switch.index() * graph.switches().len() + to.index()],
    }
}

/// The hosts and their LIDs, by LID.
fn hosts<'a>(
    identities: &'a Identities,
    ends: &'a [EndPort],
) -> impl Iterator<Item = (HostId, u32)> + 'a {
    ends.iter().filter_map(|&end| match end {
        EndPort::Host(host) => Some((host, identities.lid(end))),
        EndPort::Switch(_) => None,
    })
}

/// Writes `opensm.fdbs` to `out`; `management` are the ports to switches. Hops include the last link to a host; a path
/// is optimal when no other is shorter.
///
/// # Errors
/// When `out` does.
pub fn write_fdbs(
    graph: &Graph,
    tables: &Tables,
    management: &[u8],
    out: &mut impl Write,
) -> fmt::Result {
    let identities = Identities::new(graph);
    let ends = identities.by_lid();
    let adjacency = crate::routing::paths::Adjacency::new(graph);
    let shortest: Vec<Vec<u16>> = graph
        .switch_ids()
        .map(|switch| adjacency.distances(&[switch]))
        .collect();
    for switch in graph.switch_ids() {
        let guid = identities.switch_guids[switch.index()];
        writeln!(out, "dump_ucast_routes: Switch {guid:#018x}")?;
        writeln!(out, "LID    : Port : Hops : Optimal")?;
        for &end in &ends {
            let lid = identities.lid(end);
            let (home, last) = match end {
                EndPort::Host(host) => (graph.attachment(host).map(|(home, _)| home), 1),
                EndPort::Switch(to) => (Some(to), 0),
            };
            let hops = hops(graph, |at| port(graph, tables, management, at, end), switch);
            let (Some(home), Some(hops)) = (home, hops) else {
                writeln!(out, "0x{lid:04X} : UNREACHABLE")?;
                continue;
            };
            let port = port(graph, tables, management, switch, end);
            let optimal = hops == usize::from(shortest[home.index()][switch.index()]) + last;
            let optimal = if optimal { "yes" } else { "no" };
            writeln!(out, "0x{lid:04X} : {port:03}  : {hops:02}   : {optimal}")?;
        }
    }
    Ok(())
}

/// Links from a switch to an end port, by the ports that lead there; the last one to a host included.
fn hops(graph: &Graph, port: impl Fn(SwitchId) -> u8, start: SwitchId) -> Option<usize> {
    let mut switch = start;
    for hops in 0..=graph.switches().len() {
        let port = port(switch);
        if port == 0 {
            return Some(hops);
        }
        let channel = graph.port_channel(switch, u16::from(port))?;
        match graph.channel(channel).to.switch() {
            Some(next) => switch = next,
            None => return Some(hops + 1),
        }
    }
    None
}

/// Writes `opensm-sl2vl.dump` to `out`. Connected ports only; port 0 as input stands for what the switch itself
/// sends, which no packet of the simulator is.
///
/// # Errors
/// [`InexpressibleError`].
pub fn write_sl2vl(
    graph: &Graph,
    tables: &Tables,
    out: &mut impl Write,
) -> Result<(), InexpressibleError> {
    let keys = expressible(tables)?;
    let mut lanes = tables.lanes.profiles.iter();
    if let Some(&lane) = lanes.find(|&&lane| lane >= INFINIBAND_LANES) {
        return Err(InexpressibleError::NoSuchLane { lane });
    }
    let identities = Identities::new(graph);
    let layers = usize::from(tables.lanes.layers);
    for end in identities.by_lid() {
        let (lid, guid) = (identities.lid(end), identities.guid(end));
        let lane = |lane_of: &dyn Fn(SlId, u8) -> u8| -> Vec<u8> {
            let entry = |key: usize| {
                if key < keys {
                    lane_of(SlId::from(key / layers), (key % layers) as u8)
                } else {
                    DROP
                }
            };
            (0..SERVICE_LEVELS).map(entry).collect()
        };
        match end {
            EndPort::Switch(switch) => {
                let name = &graph.switches()[switch.index()].name;
                writeln!(out, "Switch {guid:#018x}, base LID {lid}, \"{name}\"")?;
                heading(out)?;
                for (output_port, output) in graph.connected_ports(switch) {
                    for (input_port, back) in graph.connected_ports(switch) {
                        let input = back.reverse();
                        let row = lane(&|sl, layer| tables.lanes.lane(input, output, sl, layer).0);
                        write_row(out, input_port, output_port, &row)?;
                    }
                }
            }
            EndPort::Host(host) => {
                let name = &graph.hosts()[host.index()].name;
                writeln!(
                    out,
                    "Channel Adapter {guid:#018x}, base LID {lid}, \"{name}\""
                )?;
                heading(out)?;
                let output = graph.host_channel(host);
                let row = lane(&|sl, layer| tables.lanes.injection_lane(output, sl, layer).0);
                write_row(out, 0, 0, &row)?;
            }
        }
        writeln!(out, "{}\n", "#".to_owned() + &"-".repeat(56))?;
    }
    Ok(())
}

fn heading(out: &mut impl Write) -> fmt::Result {
    let levels: Vec<String> = (0..SERVICE_LEVELS).map(|sl| format!("{sl:<2}")).collect();
    writeln!(out, "#in out : {}", levels.join(" ").trim_end())?;
    writeln!(out, "#{}", "-".repeat(56))
}

fn write_row(out: &mut impl Write, input: u16, output: u16, lanes: &[u8]) -> fmt::Result {
    write!(out, "{input:<3} {output:<3} : ")?;
    for lane in lanes {
        write!(out, "{lane:<2} ")?;
    }
    writeln!(out)
}

/// Whether InfiniBand has forwarding tables like these.
///
/// # Errors
/// [`InexpressibleError::InputRows`].
pub fn require_destination_only(tables: &Tables) -> Result<(), InexpressibleError> {
    if tables.input_row.is_empty() {
        return Ok(());
    }
    Err(InexpressibleError::InputRows {
        engine: tables.engine.clone(),
    })
}

/// Service levels times layers, when InfiniBand can tell them.
fn expressible(tables: &Tables) -> Result<usize, InexpressibleError> {
    require_destination_only(tables)?;
    if tables.hop_layer.iter().any(|layer| layer > 0) {
        return Err(InexpressibleError::HopLayers {
            engine: tables.engine.clone(),
        });
    }
    match tables.lanes.keys() {
        keys if keys <= SERVICE_LEVELS => Ok(keys),
        needed => Err(InexpressibleError::TooManyLevels { needed }),
    }
}

/// Writes `guid2lid` to `out`, by LID; an empty line after each, as OpenSM does.
///
/// # Errors
/// When `out` does.
pub fn write_guid2lid(graph: &Graph, out: &mut impl Write) -> fmt::Result {
    let identities = Identities::new(graph);
    for end in identities.by_lid() {
        let (guid, lid) = (identities.guid(end), identities.lid(end));
        writeln!(out, "{guid:#018x} {lid:#06x} {lid:#06x}\n")?;
    }
    Ok(())
}

/// Writes `path-sl` to `out`: `source LID, destination LID, service level`, decimal, for service level 0 of the
/// scenario and all pairs of hosts on connected switches.
///
/// # Errors
/// [`InexpressibleError`].
pub fn write_path_sl(
    graph: &Graph,
    tables: &Tables,
    out: &mut impl Write,
) -> Result<(), InexpressibleError> {
    expressible(tables)?;
    let identities = Identities::new(graph);
    let ends = identities.by_lid();
    for (source, from) in hosts(&identities, &ends) {
        let Some((switch, _)) = graph.attachment(source) else {
            continue;
        };
        for (destination, to) in hosts(&identities, &ends) {
            let is_path = source != destination
                && tables.next.get(switch.index(), destination.index()) != UNREACHABLE;
            if is_path {
                writeln!(
                    out,
                    "{from} {to} {}",
                    tables.path_layer(switch, destination)
                )?;
            }
        }
    }
    Ok(())
}
