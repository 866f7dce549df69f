//! Dimension-order routing of concentrated meshes: express channels where they shorten the way in a dimension.
//!
//! Guarantees: in order, deadlock-free on one lane; minimal without express channels.
//! Cost: time and memory O(switches * hosts).
//!
//! # Algorithm
//! First x, then y. At a border a packet takes the express channel along the dimension when fewer hops are left behind it
//! than on the other ways. It does so with its first hop in the dimension or not at all: a step nearer to the goal takes
//! the far end of an express channel a step further, too. So channels of a dimension wait for an express channel only
//! at its start, express channels for others of one direction: no circle.

use crate::ids::SwitchId;
use crate::routing::balance::require_nameable_ports;
use crate::routing::{Guarantees, LaneBudget, RoutingError, Tables};
use crate::topology::Graph;
use crate::topology::graph::ConcentratedMeshShape;

/// Tables of dimension order.
///
/// # Errors
/// [`RoutingError::Unsupported`] for switches with too many ports.
pub(super) fn tables(
    graph: &Graph,
    shape: &ConcentratedMeshShape,
    budget: LaneBudget,
    engine: &'static str,
) -> Result<Tables, RoutingError> {
    require_nameable_ports(graph, engine)?;
    let mut next = Vec::with_capacity(graph.switches().len() * graph.hosts().len());
    for switch in graph.switch_ids() {
        next.extend(graph.host_ids().map(|host| {
            let (home, place) = shape.home(host.0);
            match (0..2).find(|&d| shape.coordinate(switch, d) != shape.coordinate(home, d)) {
                Some(dimension) => port(shape, switch, home, dimension) as u8,
                None => 5 + place as u8,
            }
        }));
    }
    let guarantees = Guarantees {
        minimal: !shape.express,
        deadlock_free: true,
        ..Guarantees::IN_ORDER
    };
    Ok(Tables::on_one_lane(graph, engine, next, budget, guarantees))
}

/// Port on the way in `dimension`, in which the two differ.
fn port(shape: &ConcentratedMeshShape, at: SwitchId, home: SwitchId, dimension: usize) -> u16 {
    let [here, there] = [at, home].map(|switch| shape.coordinate(switch, dimension));
    let half = shape.radix[dimension] / 2;
    let far = if here < half {
        here + half
    } else {
        here - half
    };
    match shape.express_port(at, dimension) {
        Some(port) if 1 + far.abs_diff(there) < here.abs_diff(there) => port,
        _ => 2 * dimension as u16 + if there > here { 1 } else { 2 },
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::{HostId, SlId};
    use crate::routing::loads::bound::{Limits, Place, Router, bound};
    use crate::routing::loads::demand::Demand;
    use crate::routing::tests::conformance::{agrees_with_paths, proof};
    use crate::topology::tests::{built, context};

    #[test]
    fn concentrated_meshes_are_routed_without_a_circle() {
        for k in [4, 6, 8, 10] {
            for express in [false, true] {
                let text = format!("CMesh(radix: [{k}, {k}], express: {express})");
                let graph = built(&text, &context());
                let (tables, proof) = proof(&graph, "DimensionOrder()", 1);
                assert!(proof.acyclic, "{text}");
                assert_eq!(proof.minimal, !express, "{text}");
                if k == 4 {
                    agrees_with_paths(&graph, &tables, &proof, 1);
                }
                let hops = |from, to| {
                    let path = tables.path(&graph, HostId(from), HostId(to), SlId(0));
                    path.unwrap().len() as u32 - 2
                };
                // along the border and along the second row of switches, whose first host is below two rows of hosts
                let row = 2 * k;
                assert_eq!(hops(0, row - 1), if express { k / 2 } else { k - 1 });
                assert_eq!(hops(2 * row, 3 * row - 1), k - 1);
            }
        }
    }

    /// Both ways of 4 x 4 switches of 4 hosts: 8 hosts of half a row (32 of half the mesh) send to 32 (8) of 63.
    #[test]
    fn the_middle_channels_limit_uniform_traffic() {
        for express in [false, true] {
            let graph = built(
                &format!("CMesh(radix: [4, 4], express: {express})"),
                &context(),
            );
            let (tables, _) = proof(&graph, "DimensionOrder()", 1);
            let limits = Limits::of_sink(None);
            let demand = Demand::uniform(&graph);
            let found = bound(&graph, Router::Tables(&tables), &demand, limits);
            let found = found.0.unwrap();
            assert_eq!(found.place, Place::Inner);
            assert!((found.load - 63.0 / 256.0).abs() < 1e-9, "{found:?}");
        }
    }
}
