//! `HyperX` networks: switches on a lattice, all that differ in one coordinate only are linked.
//!
//! Guarantees: `switches / 2 * sum of multiplicity[d] * (sizes[d] - 1)` links; diameter = number of sizes
//! above 1; numbering as in [`HyperXShape`].
//! Fails with: [`TopologyError::Parameter`] when a size or multiplicity is 0, the two lists differ in length,
//! or the network is too large.
//! Cost: O(links + hosts) time and memory.
//!
//! With equal sizes and one link each it is a Hamming graph, with all sizes 2 a hypercube (whose ports
//! [`Hypercube`](super::hypercube) numbers as hypercubes do), with one size a complete graph. Switch
//! `S3.0.7` has the coordinates 3, 0 and 7, dimension 0 first.
//!
//! References: [`AHN_HYPERX`]

use super::parameters::{HOSTS_PER_SWITCH, direct_network, one, product};
use super::wiring::attach_hosts;
use crate::ids::SwitchId;
use crate::references::AHN_HYPERX;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::limits::{at_least, node_count, parameter_error, port_count};
use crate::topology::graph::{Endpoint, Graph, HyperXShape, Shape};
use crate::topology::{BuildContext, BuildTopology, GraphBuilder, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "HyperX",
    aliases: &["Hamming", "FlattenedButterfly"],
    summary: "HyperX: linked to all switches that differ in one coordinate",
    parameters: &[
        Parameter {
            name: "sizes",
            kind: "list of integers >= 1",
            default: None,
            summary: "switches along each dimension, such as [4, 4]",
        },
        Parameter {
            name: "multiplicity",
            kind: "list of integers >= 1",
            default: Some("1 for each dimension"),
            summary: "parallel links between two switches, per dimension",
        },
        HOSTS_PER_SWITCH,
    ],
    guarantees: &[
        "diameter = number of dimensions of size > 1",
        "hosts first, then per dimension the other coordinates ascending, parallel links side by side",
    ],
    references: &[AHN_HYPERX],
    build: |arguments| Ok(Box::new(arguments.parse::<HyperX>()?)),
};

/// Parameters of a `HyperX`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HyperX {
    /// Switches along each dimension.
    pub sizes: Vec<u32>,
    /// Parallel links per dimension; empty = one everywhere.
    #[serde(default)]
    pub multiplicity: Vec<u32>,
    /// Hosts on every switch.
    #[serde(default = "one")]
    pub hosts_per_switch: u32,
}

impl HyperX {
    /// The structure and the ports of a switch, when the parameters make sense.
    fn shape(&self) -> Result<(HyperXShape, u16), TopologyError> {
        if self.sizes.is_empty() {
            let reason = "no dimension, expected at least one such as `[4, 4]`";
            return Err(parameter_error("sizes", reason));
        }
        let dimensions = self.sizes.len();
        let multiplicity = match self.multiplicity.len() {
            0 => vec![1; dimensions],
            given if given == dimensions => self.multiplicity.clone(),
            given => {
                let reason = format!("{given} values for {dimensions} sizes, expected as many");
                return Err(parameter_error("multiplicity", reason));
            }
        };
        for (&size, &links) in self.sizes.iter().zip(&multiplicity) {
            at_least("sizes", size, 1)?;
            at_least("multiplicity", links, 1)?;
        }
        let ports = self.sizes.iter().zip(&multiplicity);
        let ports = ports.map(|(&size, &links)| u64::from(size - 1) * u64::from(links));
        let ports = ports.fold(0u64, u64::saturating_add);
        port_count("sizes", ports)?;
        let switches = node_count("sizes", "switches", product(&self.sizes))?;
        let ports = direct_network(switches, self.hosts_per_switch, ports, "sizes")?;
        let shape = HyperXShape {
            sizes: self.sizes.clone(),
            multiplicity,
            hosts_per_switch: self.hosts_per_switch,
        };
        Ok((shape, ports))
    }
}

impl Topology for HyperX {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let (shape, ports) = self.shape()?;
        let mut builder = GraphBuilder::new();
        let switches: u32 = shape.sizes.iter().product();
        for switch in (0..switches).map(SwitchId) {
            let coordinates: Vec<String> = (0..shape.sizes.len())
                .map(|dimension| shape.coordinate(switch, dimension).to_string())
                .collect();
            builder.add_switch(format!("S{}", coordinates.join(".")), 0, ports);
        }
        attach_hosts(
            &mut builder,
            context,
            switches,
            shape.hosts_per_switch,
            |_| 1,
        )?;
        for switch in (0..switches).map(SwitchId) {
            let mut stride = 1;
            for (dimension, &size) in shape.sizes.iter().enumerate() {
                let own = shape.coordinate(switch, dimension);
                for other in own + 1..size {
                    let peer = SwitchId(switch.0 + (other - own) * stride);
                    let ends = (
                        shape.port(dimension, own, other),
                        shape.port(dimension, other, own),
                    );
                    for copy in 0..shape.multiplicity[dimension] {
                        builder.connect(
                            Endpoint::Switch(switch, (ends.0 + copy) as u16),
                            Endpoint::Switch(peer, (ends.1 + copy) as u16),
                            context.switch_link,
                        )?;
                    }
                }
                stride *= size;
            }
        }
        builder.set_shape(Shape::HyperX(shape));
        builder.build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;

    fn hyper_x(sizes: &[u32], multiplicity: &[u32], hosts_per_switch: u32) -> HyperX {
        HyperX {
            sizes: sizes.to_vec(),
            multiplicity: multiplicity.to_vec(),
            hosts_per_switch,
        }
    }

    #[test]
    fn every_port_leads_where_the_definition_says() {
        for (sizes, multiplicity) in [
            (&[4, 3][..], &[1, 2][..]),
            (&[5], &[3]),
            (&[2, 1, 3], &[1, 4, 2]),
        ] {
            let network = hyper_x(sizes, multiplicity, 2);
            let graph = network.build(&context()).unwrap();
            let Shape::HyperX(shape) = graph.shape() else {
                panic!("not a HyperX");
            };
            for switch in graph.switch_ids() {
                let mut ports = 0;
                for (d, (&size, &links)) in sizes.iter().zip(multiplicity).enumerate() {
                    let own = shape.coordinate(switch, d);
                    for other in (0..size).filter(|&other| other != own) {
                        for copy in 0..links {
                            let port = (shape.port(d, own, other) + copy) as u16;
                            let channel = graph.port_channel(switch, port).unwrap();
                            let peer = graph.channel(channel).to.switch().unwrap();
                            for e in 0..sizes.len() {
                                let wanted = if e == d {
                                    other
                                } else {
                                    shape.coordinate(switch, e)
                                };
                                assert_eq!(shape.coordinate(peer, e), wanted);
                            }
                            ports += 1;
                        }
                    }
                }
                assert_eq!(graph.neighbors(switch).count(), ports);
            }
        }
    }

    #[test]
    fn counts_and_distances_are_as_known() {
        let survey = Survey::new(&hyper_x(&[4, 4, 4], &[], 1).build(&context()).unwrap());
        assert_eq!((survey.switches, survey.switch_links), (64, 64 * 9 / 2));
        assert_eq!(survey.diameter, 3);
        // each dimension differs with probability 3/4 over all pairs, self included
        let mean = 3.0 * 0.75 * 64.0 / 63.0;
        assert!((survey.mean_distance().unwrap() - mean).abs() < 1e-12);
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let message = |sizes: &[u32], multiplicity: &[u32]| {
            let error = hyper_x(sizes, multiplicity, 1).build(&context());
            error.unwrap_err().to_string()
        };
        assert_eq!(
            message(&[], &[]),
            "`sizes`: no dimension, expected at least one such as `[4, 4]`"
        );
        assert_eq!(
            message(&[4, 4], &[1]),
            "`multiplicity`: 1 values for 2 sizes, expected as many"
        );
        assert_eq!(
            message(&[4, 0], &[]),
            "`sizes`: 0 is too small, expected at least 1"
        );
        assert_eq!(
            message(&[u32::MAX, u32::MAX], &[u32::MAX, u32::MAX]),
            "`sizes`: this makes switches of 18446744073709551615 ports, expected at most 254"
        );
        assert_eq!(
            message(&[80, 80, 80, 2], &[]),
            "`sizes`: this makes 1024000 switches, expected at most 1000000"
        );
    }
}
