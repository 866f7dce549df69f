//! Hypercubes: switches that differ in one bit of their number are linked.
//!
//! Guarantees: `2^d` switches, `d * 2^(d-1)` links, diameter `d`, average distance `d/2` over all pairs;
//! port `k + 1` is dimension `k`, hosts follow ([`HypercubeShape`]).
//! Fails with: [`TopologyError::Parameter`] when `hosts_per_switch` is 0 or the cube is too large.
//! Cost: O(switches * dimensions + hosts) time and memory.
//!
//! A [`Mesh`](super::grid::mesh) of radix 2 is the same graph with the ports of meshes.
//!
//! References: [`DALLY_TOWLES`] chapter 5

use super::parameters::{HOSTS_PER_SWITCH, direct_network, one};
use super::wiring::attach_hosts;
use crate::ids::SwitchId;
use crate::references::DALLY_TOWLES;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::limits::node_count;
use crate::topology::graph::{Endpoint, Graph, HypercubeShape, Shape};
use crate::topology::{BuildContext, BuildTopology, GraphBuilder, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Hypercube",
    aliases: &[],
    summary: "hypercube (binary n-cube)",
    parameters: &[
        Parameter {
            name: "dimensions",
            kind: "integer, 0..=19",
            default: None,
            summary: "number of dimensions; there are 2^dimensions switches",
        },
        HOSTS_PER_SWITCH,
    ],
    guarantees: &["port k+1 leads along dimension k, hosts follow"],
    references: &[DALLY_TOWLES],
    build: |arguments| Ok(Box::new(arguments.parse::<Hypercube>()?)),
};

/// Parameters of a hypercube.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hypercube {
    /// Number of dimensions.
    pub dimensions: u32,
    /// Hosts on every switch.
    #[serde(default = "one")]
    pub hosts_per_switch: u32,
}

impl Topology for Hypercube {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let Self {
            dimensions,
            hosts_per_switch,
        } = *self;
        let switches = 1u64.checked_shl(dimensions);
        let switches = node_count("dimensions", "switches", switches)?;
        let ports = direct_network(
            switches,
            hosts_per_switch,
            u64::from(dimensions),
            "dimensions",
        )?;
        let mut builder = GraphBuilder::new();
        for switch in 0..switches {
            builder.add_switch(format!("S{switch}"), 0, ports);
        }
        for switch in 0..switches {
            for dimension in (0..dimensions).filter(|&dimension| switch >> dimension & 1 == 0) {
                let port = dimension as u16 + 1;
                builder.connect(
                    Endpoint::Switch(SwitchId(switch), port),
                    Endpoint::Switch(SwitchId(switch | 1 << dimension), port),
                    context.switch_link,
                )?;
            }
        }
        let first_host_port = dimensions as u16 + 1;
        attach_hosts(&mut builder, context, switches, hosts_per_switch, |_| {
            first_host_port
        })?;
        builder.set_shape(Shape::Hypercube(HypercubeShape {
            dimensions,
            hosts_per_switch,
        }));
        builder.build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;

    #[test]
    fn counts_and_distances_are_as_known() {
        for d in 0..8u32 {
            let cube = Hypercube {
                dimensions: d,
                hosts_per_switch: 1,
            };
            let graph = cube.build(&context()).unwrap();
            let survey = Survey::new(&graph);
            assert_eq!(survey.switches, 1 << d);
            assert_eq!(survey.switch_links as u32, d * (1 << d) / 2);
            assert_eq!(survey.diameter, d);
            let others = f64::from((1u32 << d) - 1);
            let mean = f64::from(d) / 2.0 * (others + 1.0) / others;
            assert!(d == 0 || (survey.mean_distance().unwrap() - mean).abs() < 1e-12);
            for switch in graph.switch_ids() {
                for (port, _, peer) in graph.neighbors(switch) {
                    assert_eq!(switch.0 ^ peer.0, 1 << (port - 1));
                }
            }
        }
    }

    #[test]
    fn impossible_parameters_are_refused() {
        for (dimensions, reason) in [
            (20, "this makes 1048576 switches, expected at most 1000000"),
            (
                64,
                "this makes more than 2^64 switches, expected at most 1000000",
            ),
        ] {
            let cube = Hypercube {
                dimensions,
                hosts_per_switch: 1,
            };
            assert_eq!(
                cube.build(&context()).unwrap_err().to_string(),
                format!("`dimensions`: {reason}")
            );
        }
    }
}
