//! OpenSM's `torus-2QoS` on a mesh or torus: dimension order, a lane per side of the dateline.
//!
//! Guarantees: deadlock-free, in order, minimal when all links are there; equal to OpenSM's tables and service levels.
//! Needs: a mesh or torus of at most 3 dimensions, built or imported; 2 lanes per group of service levels, 1 on a
//! mesh.
//! Fails with: [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for what is no mesh or torus, and for missing switches
//! and links other than one in a ring;
//! [`RoutingError::File`] for the configuration.
//! Cost: time and memory O(switches * hosts).
//!
//! # Algorithm
//! 1. Coordinates: those of a built mesh or torus. Those of an imported fabric are found (`torus_labels.rs`), with
//!    `config` from the first of its seeds of which all switches exist, without one from the links alone: the lowest
//!    switch is the origin, its ports tell the directions.
//! 2. In the lowest dimension where the coordinate differs, the shorter way round; at exactly half a ring the way
//!    that does not cross the dateline. The dateline lies between the last coordinate and 0. Where a link of that way
//!    is missing, the other way round; the ring is a line then, on which no lane can be waited for in a circle.
//! 3. Bit `d` of the path layer (OpenSM: of the service level) tells whether the way of step 2, all links there, crosses the
//!    dateline of dimension `d`; on channels of that dimension the bit is the lane.
//! 4. Hosts of a switch take turns on parallel links, in the order of their ports.
//!
//! # Deviations
//! Failed switches, for which OpenSM has a detour and the second bit of the lane, and a second failed link in a ring are
//! refused; `config` is for complete fabrics. The two classes of service (bit 3 of its service level) are the service levels of the scenario. OpenSM cannot do
//! without `config`, and gives turns on parallel links another order.
//!
//! References: OpenSM `osm_torus.c`, `torus-2QoS.conf(5)`

use super::torus_config::{DIMENSIONS, Seed, TorusConfig, parse};
use super::torus_labels::{Labels, Start};
use super::torus_size::Size;
use crate::ids::{ChannelId, SwitchId};
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::balance::require_nameable_ports;
use crate::routing::regular::{Links as Present, Need};
use crate::routing::{
    BuildEngine, Engine, Guarantees, Identities, LaneBudget, LaneMap, RoutingEngine, RoutingError,
    Tables,
};
use crate::topology::{Graph, Shape};
use crate::warnings;
use serde::Deserialize;
use std::path::Path;

/// OpenSM's `torus-2QoS`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpenSmTorus2Qos {
    config: Option<String>,
}

const NAME: &str = "OpenSmTorus2Qos";

/// Dimensions OpenSM knows.
const MOST_DIMENSIONS: usize = 3;

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["torus-2QoS"],
    summary: "the tables and service levels of OpenSM's torus-2QoS on a mesh or torus, one link of a ring may be missing",
    parameters: &[Parameter {
        name: "config",
        kind: "path, relative to the scenario",
        default: Some("None"),
        summary: "torus-2QoS.conf of an imported fabric; None = the torus is found, origin and directions by switch and \
                  port numbers",
    }],
    guarantees: &[
        "minimal when no link is missing",
        "deadlock-free",
        "in order",
    ],
    references: &[],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<OpenSmTorus2Qos>()?)),
};

impl RoutingEngine for OpenSmTorus2Qos {
    fn is_drawn(&self) -> bool {
        false
    }

    fn need(&self) -> Option<Need> {
        let need = Need {
            engine: NAME,
            takes: |shape| matches!(shape, Shape::Grid(_)),
            links: Present::SomeOrOwn,
        };
        self.config.is_none().then_some(need)
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, seed: u64) -> Result<Tables, RoutingError> {
        self.route_from(graph, budget, seed, Path::new("."))
    }

    fn route_from(
        &self,
        graph: &Graph,
        budget: LaneBudget,
        _seed: u64,
        base: &Path,
    ) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        let labels = self.labels(graph, base)?;
        let lanes_needed = if labels.size.wrap.contains(&true) {
            2
        } else {
            1
        };
        budget.require(NAME, lanes_needed)?;
        let next = next(graph, &labels)?;
        let path_layer = Tables::path_layers_by_switch(graph, |source, destination| {
            layer(&labels, source, destination)
        });
        let rings = rings(graph, &labels);
        let lane = |channel: ChannelId, layer: u8| {
            rings[channel.index()].map_or(0, |dimension| layer >> dimension & 1)
        };
        let used = labels.size.radix.iter().rposition(|&radix| radix > 1);
        let layers = 1 << used.map_or(0, |last| last + 1);
        let lanes = LaneMap::grouped(graph, budget, layers, lanes_needed, lane);
        let guarantees = Guarantees {
            minimal: labels.steps.is_empty(),
            deadlock_free: true,
            in_order: true,
            lanes_needed,
        };
        let mut tables = Tables::by_destination(graph, NAME, next, path_layer, lanes, guarantees);
        let text = description(graph, &labels);
        tables.remarks.push(("torus".to_owned(), text));
        Ok(tables)
    }

    fn management(&self, graph: &Graph, base: &Path) -> Option<Vec<u8>> {
        let labels = self.labels(graph, base).ok()?;
        let ports = graph.switch_ids().flat_map(|switch| {
            let homes = graph.switch_ids();
            let labels = &labels;
            homes.map(move |home| match way(labels, switch, home) {
                None => 0,
                Some(ports) => ports
                    .first()
                    .map_or(crate::routing::UNREACHABLE, |&port| port as u8),
            })
        });
        Some(ports.collect())
    }
}

impl OpenSmTorus2Qos {
    /// Step 1.
    fn labels(&self, graph: &Graph, base: &Path) -> Result<Labels, RoutingError> {
        if let Some(file) = &self.config {
            let at = |(line, reason): (usize, String)| RoutingError::File {
                file: file.clone(),
                line,
                reason,
            };
            let text = crate::text_file::read(&base.join(file)).map_err(|error| {
                let reason = format!(
                    "cannot be read: {error}; relative names start from the folder of the scenario"
                );
                at((0, reason))
            })?;
            let config = parse(&text).map_err(at)?;
            for (line, keyword, why) in &config.unused {
                warnings::once(&format!(
                    "{file}:{line}: `{keyword}` changes nothing here: {why}"
                ));
            }
            let wanted = wanted(graph, &config).map_err(|reason| at((0, reason)))?;
            return Labels::find(graph, Some(wanted)).map_err(|reason| at((0, reason)));
        }
        match graph.shape() {
            Shape::Grid(shape) if shape.radix.len() > MOST_DIMENSIONS => {
                let reason = "it has more than 3 dimensions; use `DimensionOrder()`";
                Err(RoutingError::unsupported(NAME, reason))
            }
            Shape::Grid(shape) => Ok(Labels::of_grid(graph, shape)),
            _ => Labels::find(graph, None).map_err(|reason| {
                RoutingError::unsupported(NAME, format!("{reason}; use `OpenSmDfsssp()`"))
            }),
        }
    }
}

/// Size and start by a configuration.
fn wanted(graph: &Graph, config: &TorusConfig) -> Result<(Size, Start), String> {
    let guids = Identities::new(graph).switch_guids;
    let find = |guid: u64| {
        let found = guids.iter().position(|&own| own == guid);
        found.map(SwitchId::from).ok_or(guid)
    };
    let size = Size {
        radix: config.radix,
        wrap: config.wrap,
    };
    let start = |seed: &Seed| -> Result<Start, u64> {
        let mut links = [None; 6];
        for (known, guid) in links.iter_mut().zip(seed.links) {
            *known = guid.map(find).transpose()?;
        }
        let place = std::array::from_fn(|d| {
            (-seed.origin[d]).rem_euclid(i64::from(config.radix[d])) as u32
        });
        Ok(Start {
            seed: find(seed.switch.unwrap_or(0))?,
            place,
            links,
        })
    };
    let mut missing = 0;
    for seed in &config.seeds {
        match start(seed) {
            Ok(start) => {
                require_linked(graph, &size, &start)?;
                return Ok((size, start));
            }
            Err(guid) => missing = guid,
        }
    }
    Err(format!(
        "no switch has GUID {missing:#x}, and there is no seed without such a switch"
    ))
}

/// Checks that the links of a seed exist, and that there is a place to lead to.
fn require_linked(graph: &Graph, size: &Size, start: &Start) -> Result<(), String> {
    let name = |switch: SwitchId| &graph.switches()[switch.index()].name;
    for (direction, to) in start.links.iter().enumerate() {
        let Some(to) = *to else { continue };
        let key = format!(
            "{}{}_link",
            DIMENSIONS[direction / 2],
            ["p", "m"][direction % 2]
        );
        let (from, end) = (name(start.seed), name(to));
        if !graph
            .neighbors(start.seed)
            .any(|(.., neighbor)| neighbor == to)
        {
            return Err(format!(
                "`{key}`: there is no link from `{from}` to `{end}`"
            ));
        }
        if size.step(start.place, direction).is_none() {
            return Err(format!(
                "`{key}`: `{from}` lies at the end of a {}; the dateline moves it",
                size.text()
            ));
        }
    }
    Ok(())
}

/// What was found: `6 x 5 torus, origin S0.0, +x S1.0, +y S0.1`.
fn description(graph: &Graph, labels: &Labels) -> String {
    let name = |switch: SwitchId| graph.switches()[switch.index()].name.clone();
    let origin = labels.coordinates.iter().position(|place| *place == [0; 3]);
    let origin = SwitchId::from(origin.unwrap_or(0));
    let mut text = format!("{}, origin {}", labels.size.text(), name(origin));
    for (d, axis) in DIMENSIONS.iter().enumerate() {
        let port = labels.exits[origin.index()][2 * d].first();
        let channel = port.and_then(|&port| graph.port_channel(origin, port));
        if let Some(next) = channel.and_then(|channel| graph.channel(channel).to.switch()) {
            text.push_str(", +");
            text.push_str(axis);
            text.push(' ');
            text.push_str(&name(next));
        }
    }
    text
}

/// Step 2: whether the way goes in the + direction.
fn goes_up(size: &Size, dimension: usize, from: u32, to: u32) -> bool {
    let radix = size.radix[dimension];
    let forward = (to + radix - from) % radix;
    if size.wrap[dimension] && 2 * forward != radix {
        2 * forward < radix
    } else {
        to > from
    }
}

/// Step 3: the path layer.
fn layer(labels: &Labels, source: SwitchId, destination: SwitchId) -> u8 {
    let [from, to] = [source, destination].map(|switch| labels.coordinates[switch.index()]);
    let bits = (0..MOST_DIMENSIONS).map(|d| {
        let is_crossing =
            from[d] != to[d] && goes_up(&labels.size, d, from[d], to[d]) == (to[d] < from[d]);
        u8::from(is_crossing) << d
    });
    bits.sum()
}

/// Dimension of each channel of a ring.
fn rings(graph: &Graph, labels: &Labels) -> Vec<Option<usize>> {
    let mut rings = vec![None; graph.channels().len()];
    for (switch, exits) in graph.switch_ids().zip(&labels.exits) {
        for (direction, ports) in exits.iter().enumerate() {
            for channel in ports
                .iter()
                .filter_map(|&port| graph.port_channel(switch, port))
            {
                rings[channel.index()] = Some(direction / 2).filter(|&d| labels.size.wrap[d]);
            }
        }
    }
    rings
}

/// Ports on the way from one switch to another; `None` when they are the same.
fn way(labels: &Labels, switch: SwitchId, home: SwitchId) -> Option<&[u16]> {
    let [from, to] = [switch, home].map(|switch| labels.coordinates[switch.index()]);
    let d = (0..MOST_DIMENSIONS).find(|&d| from[d] != to[d])?;
    let up = goes_up(&labels.size, d, from[d], to[d]);
    let direction = 2 * d + usize::from(!up);
    let exits = &labels.exits[switch.index()];
    let Some(steps) = labels.steps.get(switch.index()) else {
        return Some(&exits[direction]);
    };
    let radix = labels.size.radix[d];
    let forward = (to[d] + radix - from[d]) % radix;
    let (hops, other) = if up {
        (forward, radix - forward)
    } else {
        (radix - forward, forward)
    };
    Some(if steps[direction] >= hops {
        &exits[direction]
    } else if labels.size.wrap[d] && steps[direction ^ 1] >= other {
        &exits[direction ^ 1]
    } else {
        &[]
    })
}

/// Steps 2 and 4 for every (switch, host).
fn next(graph: &Graph, labels: &Labels) -> Result<Vec<u8>, RoutingError> {
    // switch, port and turn of each host
    let mut homes = vec![None; graph.hosts().len()];
    for switch in graph.switch_ids() {
        for (turn, (port, host)) in graph.attached_hosts(switch).enumerate() {
            homes[host.index()] = Some((switch, port, turn));
        }
    }
    let mut next = Vec::with_capacity(graph.switches().len() * homes.len());
    for switch in graph.switch_ids() {
        for (host, home) in graph.host_ids().zip(&homes) {
            let port = home.and_then(|(home, port, turn)| match way(labels, switch, home) {
                None => Some(port),
                Some(ports) => ports.get(turn % ports.len().max(1)).copied(),
            });
            let Some(port) = port else {
                let name = &graph.switches()[switch.index()].name;
                let to = &graph.hosts()[host.index()].name;
                let reason = format!("{name} has no link on the way to {to}; use `OpenSmDfsssp()`");
                return Err(RoutingError::unsupported(NAME, reason));
            };
            next.push(port as u8);
        }
    }
    Ok(next)
}
