//! OpenSM's `torus-2QoS` on a complete mesh or torus: dimension order, a lane per side of the dateline.
//!
//! Guarantees: minimal, deadlock-free, in order; equal to OpenSM's tables and service levels.
//! Needs: a mesh or torus of at most 3 dimensions ([`Shape::Grid`]); 2 lanes per group of service levels, 1 on a
//! mesh.
//! Fails with: [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for other shapes and missing links.
//! Cost: time and memory O(switches * hosts).
//!
//! # Algorithm
//! 1. In the lowest dimension where the coordinate differs, the shorter way round; at exactly half a ring the way
//!    that does not cross the dateline. The dateline lies between the last coordinate and 0.
//! 2. Bit `d` of the path layer (OpenSM: of the service level) tells whether the path crosses the dateline of
//!    dimension `d`; on channels of that dimension the bit is the lane.
//!
//! # Deviations
//! Failed switches and links, for which OpenSM has a detour and the second bit of the lane, are refused. The
//! two classes of service (bit 3 of its service level) are the service levels of the scenario. The seed switch is
//! switch 0.
//!
//! References: OpenSM `osm_torus.c`

use crate::ids::{ChannelId, HostId, SwitchId};
use crate::registry::{Arguments, Entry};
use crate::routing::balance::require_nameable_ports;
use crate::routing::{
    BuildEngine, Engine, Guarantees, LaneBudget, LaneMap, RoutingEngine, RoutingError, Tables,
};
use crate::topology::graph::GridShape;
use crate::topology::{Endpoint, Graph, Shape};
use serde::Deserialize;

/// OpenSM's `torus-2QoS`; takes no parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenSmTorus2Qos {}

const NAME: &str = "OpenSmTorus2Qos";

/// Dimensions OpenSM knows.
const MOST_DIMENSIONS: usize = 3;

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &[],
    summary: "the tables and service levels of OpenSM's torus-2QoS on a complete mesh or torus",
    parameters: &[],
    guarantees: &["minimal", "deadlock-free", "in order"],
    references: &[],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<OpenSmTorus2Qos>()?)),
};

impl RoutingEngine for OpenSmTorus2Qos {
    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        let Shape::Grid(shape) = graph.shape() else {
            let reason = "it is not a mesh or torus; use `OpenSmDfsssp()`";
            return Err(RoutingError::unsupported(NAME, reason));
        };
        if shape.radix.len() > MOST_DIMENSIONS {
            let reason = "it has more than 3 dimensions; use `DimensionOrder()`";
            return Err(RoutingError::unsupported(NAME, reason));
        }
        require_nameable_ports(graph, NAME)?;
        let lanes_needed = if shape.wrap.contains(&true) { 2 } else { 1 };
        budget.require(NAME, lanes_needed)?;
        let next = next(graph, shape)?;
        let path_layer = Tables::path_layers_by_switch(graph, |source, destination| {
            layer(shape, source, destination)
        });
        let lane = |channel: ChannelId, layer: u8| {
            ring(graph, shape, channel).map_or(0, |dimension| layer >> dimension & 1)
        };
        let lanes = LaneMap::grouped(graph, budget, 1 << shape.radix.len(), lanes_needed, lane);
        let guarantees = Guarantees {
            minimal: true,
            deadlock_free: true,
            in_order: true,
            lanes_needed,
        };
        Ok(Tables::by_destination(
            graph, NAME, next, path_layer, lanes, guarantees,
        ))
    }
}

/// Step 1: whether the way goes in the + direction.
fn goes_up(shape: &GridShape, dimension: usize, from: u32, to: u32) -> bool {
    let radix = shape.radix[dimension];
    let forward = (to + radix - from) % radix;
    if shape.wrap[dimension] && 2 * forward != radix {
        2 * forward < radix
    } else {
        to > from
    }
}

/// Step 2: the path layer.
fn layer(shape: &GridShape, source: SwitchId, destination: SwitchId) -> u8 {
    let bits = (0..shape.radix.len()).map(|d| {
        let (from, to) = (
            shape.coordinate(source, d),
            shape.coordinate(destination, d),
        );
        u8::from(from != to && goes_up(shape, d, from, to) == (to < from)) << d
    });
    bits.sum()
}

/// Dimension of a channel of a ring.
fn ring(graph: &Graph, shape: &GridShape, channel: ChannelId) -> Option<usize> {
    let ends = graph.channel(channel);
    let (Endpoint::Switch(_, port), Endpoint::Switch(..)) = (ends.from, ends.to) else {
        return None;
    };
    Some(usize::from(port - 1) / 2).filter(|&d| shape.wrap.get(d) == Some(&true))
}

/// Step 1 for every (switch, host).
fn next(graph: &Graph, shape: &GridShape) -> Result<Vec<u8>, RoutingError> {
    let mut next = Vec::with_capacity(graph.switches().len() * graph.hosts().len());
    for switch in graph.switch_ids() {
        for host in graph.host_ids() {
            let port = port(graph, shape, switch, host);
            let Some(port) = port.filter(|&port| graph.port_channel(switch, port).is_some()) else {
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

fn port(graph: &Graph, shape: &GridShape, switch: SwitchId, host: HostId) -> Option<u16> {
    let (home, port) = graph.attachment(host)?;
    let different = (0..shape.radix.len()).find_map(|d| {
        let (from, to) = (shape.coordinate(switch, d), shape.coordinate(home, d));
        let up = goes_up(shape, d, from, to);
        (from != to).then_some((2 * d) as u16 + if up { 1 } else { 2 })
    });
    Some(different.unwrap_or(port))
}
