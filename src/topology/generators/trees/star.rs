//! Stars: leaf switches around one hub.
//!
//! Guarantees: every leaf is linked to the hub only; the numbering is that of
//! [`XgftShape`]: leaves first, the hub last. Diameter 2.
//! Fails with: [`TopologyError::Parameter`] when a number is 0 or a switch gets too many ports.
//! Cost: O(leaves + hosts) time and memory.
//!
//! A single switch with hosts is a [`Tree`](super::tree) of one level.
//!
//! References: [`DALLY_TOWLES`] chapter 1

use super::xgft::{self, Blame};
use crate::references::DALLY_TOWLES;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::{Graph, XgftShape};
use crate::topology::{BuildContext, BuildTopology, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Star",
    aliases: &[],
    summary: "star: leaf switches around one hub",
    parameters: &[
        Parameter {
            name: "leaves",
            kind: "integer, 1..=254",
            default: None,
            summary: "number of leaf switches",
        },
        Parameter {
            name: "hosts_per_leaf",
            kind: "integer >= 1",
            default: Some("1"),
            summary: "hosts on a leaf switch; the hub has none",
        },
        Parameter {
            name: "parallel_links",
            kind: "integer >= 1",
            default: Some("1"),
            summary: "links between a leaf and the hub",
        },
    ],
    guarantees: &["leaves first, the hub is the last switch; hosts first, then links to the hub"],
    references: &[DALLY_TOWLES],
    build: |arguments| Ok(Box::new(arguments.parse::<Star>()?)),
};

/// Parameters of a star.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Number of leaf switches.
    pub leaves: u32,
    /// Hosts on a leaf.
    #[serde(default = "crate::topology::generators::parameters::one")]
    pub hosts_per_leaf: u32,
    /// Links between a leaf and the hub.
    #[serde(default = "crate::topology::generators::parameters::one")]
    pub parallel_links: u32,
}

impl Topology for Star {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let shape = XgftShape {
            children: vec![self.hosts_per_leaf, self.leaves],
            parents: vec![1, 1],
            parallel: vec![1, self.parallel_links],
        };
        let blame = Blame {
            hosts: "hosts_per_leaf",
            children: "leaves",
            parents: "parallel_links",
            parallel: "parallel_links",
        };
        let name = |level, word| match level {
            1 => format!("leaf{word}"),
            _ => "hub".to_owned(),
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
    fn everything_passes_the_hub() {
        let star = |leaves| Star {
            leaves,
            hosts_per_leaf: 3,
            parallel_links: 2,
        };
        let graph = star(5).build(&context()).unwrap();
        let survey = Survey::new(&graph);
        assert_eq!((survey.switches, survey.hosts), (6, 15));
        assert_eq!((survey.switch_links, survey.diameter), (10, 2));
        assert_eq!(graph.switches()[5].name, "hub");
        assert_eq!(
            star(128).build(&context()).unwrap_err().to_string(),
            "`leaves`: this makes switches of 256 ports, expected at most 254"
        );
    }
}
