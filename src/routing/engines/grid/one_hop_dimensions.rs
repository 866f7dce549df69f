//! Dimension-order routing where one hop corrects a coordinate: hypercubes and `HyperX` networks.
//!
//! Guarantees: minimal, in order, deadlock-free on one lane: channels of a dimension wait for channels of
//! higher dimensions only.
//! Cost: time and memory O(switches * hosts * dimensions).

use crate::ids::{HostId, SwitchId};
use crate::routing::Tables;
use crate::routing::balance::require_nameable_ports;
use crate::routing::{Guarantees, LaneBudget, RoutingError};
use crate::topology::Graph;
use crate::topology::graph::{HyperXShape, HypercubeShape};

/// Tables of the e-cube routing: the lowest bit that differs first.
///
/// # Errors
/// [`RoutingError::Unsupported`] for switches with too many ports.
pub(super) fn hypercube(
    graph: &Graph,
    shape: HypercubeShape,
    budget: LaneBudget,
    engine: &'static str,
) -> Result<Tables, RoutingError> {
    tables(graph, budget, engine, |switch, host| {
        let home = host.0 / shape.hosts_per_switch;
        (switch.0 ^ home).trailing_zeros() + 1
    })
}

/// Tables of dimension order in a `HyperX`: the lowest coordinate that differs first. Parallel links are shared
/// by the destination host's place on its switch plus the destination's other coordinates.
///
/// # Errors
/// [`RoutingError::Unsupported`] for switches with too many ports.
pub(super) fn hyper_x(
    graph: &Graph,
    shape: &HyperXShape,
    budget: LaneBudget,
    engine: &'static str,
) -> Result<Tables, RoutingError> {
    let dimensions = shape.sizes.len();
    let coordinates = |switch| (0..dimensions).map(move |d| shape.coordinate(switch, d));
    let coordinates: Vec<u32> = graph.switch_ids().flat_map(coordinates).collect();
    let of = |switch: usize| &coordinates[switch * dimensions..][..dimensions];
    tables(graph, budget, engine, |switch, host| {
        let home = (host.0 / shape.hosts_per_switch) as usize;
        let (here, there) = (of(switch.index()), of(home));
        let differs = (0..dimensions).find(|&d| here[d] != there[d]);
        let dimension = differs.unwrap_or_default();
        let others = there.iter().sum::<u32>() - there[dimension];
        let copy = (host.0 % shape.hosts_per_switch + others) % shape.multiplicity[dimension];
        shape.port(dimension, here[dimension], there[dimension]) + copy
    })
}

/// `port` is asked for switches that the host is not attached to.
fn tables(
    graph: &Graph,
    budget: LaneBudget,
    engine: &'static str,
    port: impl Fn(SwitchId, HostId) -> u32,
) -> Result<Tables, RoutingError> {
    require_nameable_ports(graph, engine)?;
    let mut next = Vec::with_capacity(graph.switches().len() * graph.hosts().len());
    for switch in graph.switch_ids() {
        next.extend(graph.host_ids().map(|host| match graph.attachment(host) {
            Some((home, attached)) if home == switch => attached as u8,
            _ => port(switch, host) as u8,
        }));
    }
    let guarantees = Guarantees {
        minimal: true,
        deadlock_free: true,
        ..Guarantees::IN_ORDER
    };
    Ok(Tables::on_one_lane(graph, engine, next, budget, guarantees))
}
