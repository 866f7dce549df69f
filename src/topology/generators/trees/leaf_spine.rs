//! Leaf-spine networks: two levels, every leaf linked to every spine.
//!
//! Guarantees: `leaves * spines * parallel_links` links; the numbering is that of
//! [`XgftShape`]: leaves first; on a leaf hosts, then spine by spine its parallel
//! links; on a spine leaf by leaf. Diameter 2.
//! Fails with: [`TopologyError::Parameter`] when a number is 0 or a switch gets too many ports.
//! Cost: O(links + hosts) time and memory.
//!
//! 18 leaves, 9 spines, 18 hosts on a leaf and 2 parallel links are the usual 324-port tree of 36-port
//! switches. With fewer links up than hosts it is a pruned (oversubscribed) tree.
//!
//! References: [`LEISERSON`]

use super::xgft::{self, Blame};
use crate::references::LEISERSON;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::{Graph, XgftShape};
use crate::topology::{BuildContext, BuildTopology, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "LeafSpine",
    aliases: &["FatTree2"],
    summary: "two-level fat tree: every leaf linked to every spine",
    parameters: &[
        Parameter {
            name: "leaves",
            kind: "integer >= 1",
            default: None,
            summary: "number of leaf switches",
        },
        Parameter {
            name: "spines",
            kind: "integer >= 1",
            default: None,
            summary: "number of spine switches",
        },
        Parameter {
            name: "hosts_per_leaf",
            kind: "integer >= 1",
            default: None,
            summary: "hosts on a leaf switch; spines have none",
        },
        Parameter {
            name: "parallel_links",
            kind: "integer >= 1",
            default: Some("1"),
            summary: "links between a leaf and a spine",
        },
    ],
    guarantees: &["leaves first; ports: hosts, then spines ascending, parallel links side by side"],
    references: &[LEISERSON],
    build: |arguments| Ok(Box::new(arguments.parse::<LeafSpine>()?)),
};

/// Parameters of a leaf-spine network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// Number of leaf switches.
    pub leaves: u32,
    /// Number of spine switches.
    pub spines: u32,
    /// Hosts on a leaf.
    pub hosts_per_leaf: u32,
    /// Links between a leaf and a spine.
    #[serde(default = "crate::topology::generators::parameters::one")]
    pub parallel_links: u32,
}

impl Topology for LeafSpine {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let shape = XgftShape {
            children: vec![self.hosts_per_leaf, self.leaves],
            parents: vec![1, self.spines],
            parallel: vec![1, self.parallel_links],
        };
        let blame = Blame {
            hosts: "hosts_per_leaf",
            children: "leaves",
            parents: "spines",
            parallel: "parallel_links",
        };
        let name = |level, word| match level {
            1 => format!("leaf{word}"),
            _ => format!("spine{word}"),
        };
        xgft::build(shape, blame, name, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;

    #[test]
    fn the_324_port_tree_has_the_known_counts() {
        let tree = LeafSpine {
            leaves: 18,
            spines: 9,
            hosts_per_leaf: 18,
            parallel_links: 2,
        };
        let graph = tree.build(&context()).unwrap();
        let survey = Survey::new(&graph);
        assert_eq!(
            (survey.switches, survey.hosts, survey.switch_links),
            (27, 324, 324)
        );
        assert!(graph.switches().iter().all(|node| node.port_count == 36));
        // 2 hops unless both hosts are on one leaf
        let mean = 2.0 * 306.0 / 323.0;
        assert!((survey.mean_distance().unwrap() - mean).abs() < 1e-12);
    }

    #[test]
    fn the_parameter_at_fault_is_named() {
        let message = |leaves, spines, hosts_per_leaf| {
            let tree = LeafSpine {
                leaves,
                spines,
                hosts_per_leaf,
                parallel_links: 1,
            };
            tree.build(&context()).unwrap_err().to_string()
        };
        assert!(message(255, 1, 1).starts_with("`leaves`: this makes switches of 255 ports"));
        assert!(message(1, 254, 1).starts_with("`spines`: this makes switches of 255 ports"));
        assert!(message(1, 1, 255).starts_with("`hosts_per_leaf`: this makes switches of 255"));
        assert!(message(1, 0, 1).starts_with("`spines`: 0 is too small"));
    }
}
