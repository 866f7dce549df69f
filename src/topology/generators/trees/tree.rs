//! Ordinary trees: every switch but the root has one parent, hosts are on the leaves.
//!
//! Guarantees: `arity^(l - 1)` leaves on level `l` below one root, one path between any two hosts;
//! the numbering is that of [`XgftShape`], leaves first, the root last.
//! Fails with: [`TopologyError::Parameter`] when a number is 0, `parallel` has another length than there are
//! levels above the leaves, or the tree is too large.
//! Cost: O(switches + links + hosts) time and memory.
//!
//! With `parallel: [h, h * arity, ..]` for `h` hosts on a leaf it is the ideal fat tree, whose capacity up
//! equals that of all hosts below. A tree of one level is a single switch.
//!
//! References: [`LEISERSON`]

use super::xgft::{self, Blame};
use crate::references::LEISERSON;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::limits::{at_least, parameter_error};
use crate::topology::graph::{Graph, XgftShape};
use crate::topology::{BuildContext, BuildTopology, Topology, TopologyError};
use serde::Deserialize;

/// Most levels: a tree of 20 levels of arity 2 has too many switches.
const MOST_LEVELS: u32 = 20;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Tree",
    aliases: &[],
    summary: "tree of switches with one root, hosts on the leaves",
    parameters: &[
        Parameter {
            name: "arity",
            kind: "integer >= 1",
            default: None,
            summary: "children of a switch above the leaves",
        },
        Parameter {
            name: "levels",
            kind: "integer, 1..=20",
            default: None,
            summary: "levels of switches; with 1 there is a single switch",
        },
        Parameter {
            name: "hosts_per_leaf",
            kind: "integer >= 1",
            default: Some("arity"),
            summary: "hosts on a leaf switch",
        },
        Parameter {
            name: "parallel",
            kind: "list of integers >= 1",
            default: Some("1 for each level"),
            summary: "parallel links to the parent per level, leaves first; the root has none",
        },
    ],
    guarantees: &["leaves first, the root is the last switch; children first, then the parent"],
    references: &[LEISERSON],
    build: |arguments| Ok(Box::new(arguments.parse::<Tree>()?)),
};

/// Parameters of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// Children of a switch above the leaves.
    pub arity: u32,
    /// Levels of switches.
    pub levels: u32,
    /// Hosts on a leaf; `None` = `arity`.
    #[serde(default)]
    pub hosts_per_leaf: Option<u32>,
    /// Parallel links to the parent per level, leaves first; empty = one everywhere.
    #[serde(default)]
    pub parallel: Vec<u32>,
}

impl Topology for Tree {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        at_least("levels", self.levels, 1)?;
        if self.levels > MOST_LEVELS {
            let reason = format!(
                "{} is too large, expected at most {MOST_LEVELS}",
                self.levels
            );
            return Err(parameter_error("levels", reason));
        }
        let above = self.levels as usize - 1;
        let parallel = match self.parallel.len() {
            0 => vec![1; above],
            given if given == above => self.parallel.clone(),
            given => {
                let reason =
                    format!("{given} values for {above} levels below the root, expected as many");
                return Err(parameter_error("parallel", reason));
            }
        };
        let hosts = self.hosts_per_leaf.unwrap_or(self.arity);
        let shape = XgftShape {
            children: [vec![hosts], vec![self.arity; above]].concat(),
            parents: vec![1; above + 1],
            parallel: [vec![1], parallel].concat(),
        };
        let blame = Blame {
            hosts: match self.hosts_per_leaf {
                Some(_) => "hosts_per_leaf",
                None => "arity",
            },
            children: "arity",
            parents: "levels",
            parallel: "parallel",
        };
        let name = |level: usize, word: u32| format!("L{level}W{word}");
        xgft::build(shape, blame, name, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;

    fn tree(arity: u32, levels: u32, parallel: &[u32]) -> Result<Graph, TopologyError> {
        let tree = Tree {
            arity,
            levels,
            hosts_per_leaf: Some(2),
            parallel: parallel.to_vec(),
        };
        tree.build(&context())
    }

    #[test]
    fn counts_and_distances_are_as_known() {
        for (arity, levels) in [(1, 1), (2, 1), (3, 3), (2, 5), (4, 2)] {
            let survey = Survey::new(&tree(arity, levels, &[]).unwrap());
            let switches: u32 = (0..levels).map(|level| arity.pow(level)).sum();
            assert_eq!(survey.switches, switches as usize);
            assert_eq!(survey.switch_links, switches as usize - 1);
            assert_eq!(survey.hosts as u32, 2 * arity.pow(levels - 1));
            let is_branched = arity > 1;
            let diameter = if is_branched { 2 * (levels - 1) } else { 0 };
            assert_eq!(survey.diameter, diameter);
        }
    }

    #[test]
    fn the_ideal_fat_tree_has_parallel_links() {
        let survey = Survey::new(&tree(2, 3, &[2, 4]).unwrap());
        assert_eq!(survey.switch_links, 4 * 2 + 2 * 4);
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let message = |arity, levels, parallel: &[u32]| {
            tree(arity, levels, parallel).unwrap_err().to_string()
        };
        assert_eq!(
            message(2, 0, &[]),
            "`levels`: 0 is too small, expected at least 1"
        );
        assert_eq!(
            message(2, 3, &[1]),
            "`parallel`: 1 values for 2 levels below the root, expected as many"
        );
        assert_eq!(
            message(300, 2, &[]),
            "`arity`: this makes switches of 300 ports, expected at most 254"
        );
        assert_eq!(
            message(2, 20, &[]),
            "`levels`: this makes 1048575 switches, expected at most 1000000"
        );
    }
}
