//! Enriched k-ary n-trees: horizontal links join the switches of every logical node into a chain.
//!
//! Guarantees: the tree, its numbering and its ports are those of [`KAryNTree`](super::k_ary_n_tree); the
//! horizontal ports follow as in [`EnrichedTreeShape`]. Port overhead `2 width (n - 1) / (k (2n - 1))`.
//! Fails with: [`TopologyError::Parameter`] as the k-ary n-tree, and when `width` is 0 or a switch gets more
//! than 254 ports.
//! Cost: O(links + hosts) time and memory.
//!
//! # Algorithm
//!
//! 1. Build the k-ary n-tree.
//! 2. The switches of level `l` that share the digits `w_0..w_{l-1}`, `k^(n-1-l)` of them, are a logical node:
//!    they reach the same hosts by descending. Link each to the next by word with `width` links. It is a
//!    chain, not a ring: the dependencies of horizontal hops stay acyclic. Leaves have none.
//!
//! # Deviations
//!
//! The source does not say in which order the switches of a logical node stand in the chain; by word, the
//! published port overheads come out. Ends of chains have horizontal ports that lead nowhere, as the
//! overhead is counted.
//!
//! References: [`ZDORNOV_BIRK`] §6.1, [`PETRINI_VANNESCHI`]

use super::k_ary_n_tree::{KAryNTree, wire};
use crate::ids::SwitchId;
use crate::references::{PETRINI_VANNESCHI, ZDORNOV_BIRK};
use crate::registry::{Entry, Parameter};
use crate::topology::graph::limits::{at_least, port_count};
use crate::topology::graph::{Endpoint, EnrichedTreeShape, Graph, Shape};
use crate::topology::{BuildContext, BuildTopology, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "EnrichedTree",
    aliases: &["ModifiedTree"],
    summary: "k-ary n-tree with horizontal links between switches of a logical node",
    parameters: &[
        Parameter {
            name: "k",
            kind: "integer, 2..=126",
            default: None,
            summary: "ports down, and ports up, of a switch; hosts on a leaf switch",
        },
        Parameter {
            name: "n",
            kind: "integer >= 1",
            default: None,
            summary: "levels of switches",
        },
        Parameter {
            name: "width",
            kind: "integer >= 1",
            default: Some("2"),
            summary: "parallel links between neighbours of a chain",
        },
    ],
    guarantees: &[
        "the k-ary n-tree with its ports, then `width` ports to the next and `width` to the switch before",
        "a chain, not a ring; none on the leaves",
    ],
    references: &[ZDORNOV_BIRK, PETRINI_VANNESCHI],
    build: |arguments| Ok(Box::new(arguments.parse::<EnrichedTree>()?)),
};

/// Parameters of an enriched tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnrichedTree {
    /// Ports down, and ports up, of a switch.
    pub k: u32,
    /// Levels of switches.
    pub n: u32,
    /// Parallel links between neighbours of a chain; the default is the source's.
    #[serde(default = "two")]
    pub width: u32,
}

const fn two() -> u32 {
    2
}

impl Topology for EnrichedTree {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let tree = KAryNTree {
            k: self.k,
            n: self.n,
        };
        let tree = tree.shape()?;
        at_least("width", self.width, 1)?;
        port_count("width", 2 * u64::from(self.k) + 2 * u64::from(self.width))?;
        let shape = EnrichedTreeShape {
            tree,
            width: self.width,
        };
        let leaf_level = shape.tree.levels - 1;
        let extra_ports = |level| {
            if level == leaf_level {
                0
            } else {
                2 * self.width
            }
        };
        let mut builder = wire(&shape.tree, extra_ports, context)?;
        let per_level = shape.tree.switches_per_level();
        for level in 0..leaf_level {
            let next_port = shape.first_horizontal_port(level);
            for switch in (level * per_level..(level + 1) * per_level).map(SwitchId) {
                if shape.place(switch) + 1 == shape.chain_length(level) {
                    continue;
                }
                for copy in 0..self.width {
                    builder.connect(
                        Endpoint::Switch(switch, (next_port + copy) as u16),
                        Endpoint::Switch(
                            SwitchId(switch.0 + 1),
                            (next_port + self.width + copy) as u16,
                        ),
                        context.switch_link,
                    )?;
                }
            }
        }
        builder.set_shape(Shape::EnrichedTree(shape));
        builder.build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::context;

    fn build(k: u32, n: u32, width: u32) -> Graph {
        EnrichedTree { k, n, width }.build(&context()).unwrap()
    }

    fn shape(graph: &Graph) -> &EnrichedTreeShape {
        match graph.shape() {
            Shape::EnrichedTree(shape) => shape,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_16_ary_3_tree_has_990_horizontal_cables() {
        let plain = KAryNTree { k: 16, n: 3 }.build(&context()).unwrap();
        let graph = build(16, 3, 2);
        assert_eq!(graph.link_count() - plain.link_count(), 990);
        assert_eq!(graph.switches().len(), 768);
        assert_eq!(plain.link_count(), 12_288);
    }

    /// Table 6.1 of the source: port overhead at width 2, radices 4, 8, 12 and 16, heights 2, 3 and 4.
    #[test]
    fn port_overheads_are_the_published_ones() {
        let table = [
            [0.33, 0.17, 0.11, 0.08],
            [0.40, 0.20, 0.13, 0.10],
            [0.43, 0.21, 0.14, 0.11],
        ];
        for (row, n) in table.iter().zip(2..) {
            for (published, k) in row.iter().zip([4u32, 8, 12, 16]) {
                let shape = EnrichedTreeShape {
                    tree: KAryNTree { k, n }.shape().unwrap(),
                    width: 2,
                };
                let overhead = shape.port_overhead();
                assert!((overhead - published).abs() <= 0.005 + 1e-9, "{k} {n}");
            }
        }
    }

    #[test]
    fn the_overhead_counts_the_ports_that_there_are() {
        for (k, n, width) in [(4, 2, 2), (3, 3, 1), (2, 4, 3)] {
            let graph = build(k, n, width);
            let plain = KAryNTree { k, n }.build(&context()).unwrap();
            let ports = |graph: &Graph| -> f64 {
                let ports = graph.switches().iter().map(|node| node.port_count);
                ports.map(f64::from).sum()
            };
            let overhead = ports(&graph) / ports(&plain) - 1.0;
            assert!((overhead - shape(&graph).port_overhead()).abs() < 1e-12);
        }
    }

    #[test]
    fn chains_join_the_switches_that_reach_the_same_hosts() {
        let graph = build(3, 3, 2);
        let (shape, k, per_level) = (shape(&graph), 3u32, 9);
        for switch in graph.switch_ids() {
            let level = shape.tree.level(switch);
            for (port, _, peer) in graph.neighbors(switch) {
                let first = shape.first_horizontal_port(level);
                if shape.tree.level(peer) != level {
                    assert!(u32::from(port) < first);
                    continue;
                }
                let is_next = u32::from(port) < first + 2;
                assert_eq!(peer.0, if is_next { switch.0 + 1 } else { switch.0 - 1 });
                // the same digits above the level: the same logical node
                let node = |s: SwitchId| s.0 % per_level / k.pow(2 - level);
                assert_eq!(node(switch), node(peer));
            }
        }
        let horizontal = graph.link_count() - 27 - 2 * 27;
        assert_eq!(horizontal, 2 * (8 + 3 * 2));
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let message = |k, n, width| {
            let error = EnrichedTree { k, n, width }.build(&context()).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            message(4, 2, 0),
            "`width`: 0 is too small, expected at least 1"
        );
        assert_eq!(
            message(100, 2, 30),
            "`width`: this makes switches of 260 ports, expected at most 254"
        );
    }
}
