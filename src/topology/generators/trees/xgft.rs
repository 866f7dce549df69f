//! Extended generalised fat trees with parallel links: every regular tree, full or pruned.
//!
//! Guarantees: exactly the children, parents and parallel links given; the numbering of switches, ports and
//! hosts is that of [`XgftShape`]; diameter `2 (h - 1)` hops where the top level is needed.
//! Fails with: [`TopologyError::Parameter`] when a list is empty, has another length or holds a 0, a host
//! would have several cables, or the tree is too large.
//! Cost: O(links + hosts) time and memory.
//!
//! `XGFT(h; m_1..m_h; w_1..w_h)` is `Xgft(children: [m_1, ..], parents: [w_1, ..])`, with `parallel` it is a
//! PGFT. Some of its kinds:
//!
//! - k-ary n-tree: n times k children, parents `[1, k, k, ..]` (numbered from the leaves);
//! - pruned two-level tree, 2 to 1: `children: [24, 18], parents: [1, 6], parallel: [1, 2]`;
//! - pruned three-level tree: `children: [8, 4, 6], parents: [1, 4, 2]`;
//! - ordinary tree: all parents 1 ([`Tree`](super::tree)).
//!
//! Switch `L2W17` is word 17 of level 2 (level 1 = leaves).
//!
//! References: [`OEHRING`], [`ZAHAVI`]

use crate::ids::SwitchId;
use crate::references::{OEHRING, ZAHAVI};
use crate::registry::{Entry, Parameter};
use crate::topology::generators::wiring::attach_hosts;
use crate::topology::graph::limits::{at_least, node_count, parameter_error, port_count};
use crate::topology::graph::{Endpoint, Graph, Shape, XgftShape};
use crate::topology::{BuildContext, BuildTopology, GraphBuilder, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Xgft",
    aliases: &["XGFT", "PGFT"],
    summary: "extended generalised fat tree, full or pruned, with parallel links",
    parameters: &[
        Parameter {
            name: "children",
            kind: "list of integers >= 1",
            default: None,
            summary: "children of a switch per level, from the leaves: [hosts on a leaf, leaves below a level-2 switch, ..]",
        },
        Parameter {
            name: "parents",
            kind: "list of integers >= 1, the first 1",
            default: None,
            summary: "parents of a node per level, from the hosts: [1, level-2 switches above a leaf, ..]",
        },
        Parameter {
            name: "parallel",
            kind: "list of integers >= 1, the first 1",
            default: Some("1 for each level"),
            summary: "parallel links to each parent, per level",
        },
    ],
    guarantees: &[
        "leaves first, then level by level",
        "ports: children, then parents, ascending, parallel links side by side",
    ],
    references: &[OEHRING, ZAHAVI],
    build: |arguments| Ok(Box::new(arguments.parse::<Xgft>()?)),
};

/// Parameters of an extended generalised fat tree.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Xgft {
    /// Children per level.
    pub children: Vec<u32>,
    /// Parents per level.
    pub parents: Vec<u32>,
    /// Parallel links per level; empty = one everywhere.
    #[serde(default)]
    pub parallel: Vec<u32>,
}

impl Topology for Xgft {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let height = self.children.len();
        if height == 0 {
            let reason = "no level, expected at least one such as `[4]`";
            return Err(parameter_error("children", reason));
        }
        let as_many = |parameter, given: usize| {
            let reason =
                format!("{given} values for {height} levels of children, expected as many");
            Err(parameter_error(parameter, reason))
        };
        if self.parents.len() != height {
            return as_many("parents", self.parents.len());
        }
        let parallel = match self.parallel.len() {
            0 => vec![1; height],
            given if given == height => self.parallel.clone(),
            given => return as_many("parallel", given),
        };
        for (parameter, first) in [("parents", self.parents[0]), ("parallel", parallel[0])] {
            if first != 1 {
                let reason = format!("the first is {first}, expected 1: a host has one cable");
                return Err(parameter_error(parameter, reason));
            }
        }
        let shape = XgftShape {
            children: self.children.clone(),
            parents: self.parents.clone(),
            parallel,
        };
        let name = |level: usize, word: u32| format!("L{level}W{word}");
        build(shape, Blame::default(), name, context)
    }
}

/// Which parameters the numbers of a tree come from, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blame {
    /// Hosts of a leaf.
    pub(super) hosts: &'static str,
    /// Children of the switches above the leaves.
    pub(super) children: &'static str,
    /// Parents.
    pub(super) parents: &'static str,
    /// Parallel links.
    pub(super) parallel: &'static str,
}

impl Default for Blame {
    fn default() -> Self {
        Self {
            hosts: "children",
            children: "children",
            parents: "parents",
            parallel: "parallel",
        }
    }
}

/// Checks every number; gives the ports of a switch per level.
fn check(shape: &XgftShape, blame: Blame) -> Result<Vec<u16>, TopologyError> {
    let height = shape.height();
    for level in 0..height {
        let children = if level == 0 {
            blame.hosts
        } else {
            blame.children
        };
        at_least(children, shape.children[level], 1)?;
        at_least(blame.parents, shape.parents[level], 1)?;
        at_least(blame.parallel, shape.parallel[level], 1)?;
    }
    let mut ports = Vec::with_capacity(height);
    for level in 0..height {
        let links = |nodes: u32, copies: u32| u64::from(nodes) * u64::from(copies);
        let children = if level == 0 {
            blame.hosts
        } else {
            blame.children
        };
        let down = links(shape.children[level], shape.parallel[level]);
        port_count(children, down)?;
        let up = match shape.parents.get(level + 1) {
            Some(&parents) => links(parents, shape.parallel[level + 1]),
            None => 0,
        };
        ports.push(port_count(blame.parents, down.saturating_add(up))?);
    }
    let hosts = node_count(blame.children, "hosts", shape.nodes(0));
    let switches = (1..=height).try_fold(0u64, |sum, level| sum.checked_add(shape.nodes(level)?));
    node_count(blame.parents, "switches", switches)?;
    hosts.map(|_| ports)
}

/// Checks and builds a tree; `name` makes the name of a switch from level (1 = leaves) and word.
pub(super) fn build(
    shape: XgftShape,
    blame: Blame,
    name: impl Fn(usize, u32) -> String,
    context: &BuildContext<'_>,
) -> Result<Graph, TopologyError> {
    let ports = check(&shape, blame)?;
    let mut builder = GraphBuilder::new();
    let nodes: Vec<u32> = (1..=shape.height())
        .map(|level| shape.nodes(level).unwrap_or(0) as u32)
        .collect();
    for (level, (&nodes, &ports)) in (1..).zip(nodes.iter().zip(&ports)) {
        for word in 0..nodes {
            builder.add_switch(name(level, word), 0, ports);
        }
    }
    attach_hosts(&mut builder, context, nodes[0], shape.children[0], |_| 1)?;
    let mut low = 1; // weight of the digit in which a level differs from the one above
    let mut first = 0;
    for level in 1..shape.height() {
        low *= shape.parents[level - 1];
        let (children, parents) = (shape.children[level], shape.parents[level]);
        let copies = shape.parallel[level];
        let down = shape.children[level - 1] * shape.parallel[level - 1];
        for word in 0..nodes[level - 1] {
            let (below, child, above) = (word % low, word / low % children, word / low / children);
            for parent in 0..parents {
                let parent_word = below + low * (parent + parents * above);
                for copy in 0..copies {
                    let up_port = down + parent * copies + copy + 1;
                    let down_port = child * copies + copy + 1;
                    builder.connect(
                        Endpoint::Switch(SwitchId(first + word), up_port as u16),
                        Endpoint::Switch(
                            SwitchId(first + nodes[level - 1] + parent_word),
                            down_port as u16,
                        ),
                        context.switch_link,
                    )?;
                }
            }
        }
        first += nodes[level - 1];
    }
    builder.set_shape(Shape::Xgft(shape));
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;

    fn xgft(children: &[u32], parents: &[u32], parallel: &[u32]) -> Result<Graph, TopologyError> {
        let tree = Xgft {
            children: children.to_vec(),
            parents: parents.to_vec(),
            parallel: parallel.to_vec(),
        };
        tree.build(&context())
    }

    /// Digits of a word, `a_1` first.
    fn digits(shape: &XgftShape, switch: SwitchId) -> (usize, Vec<u32>) {
        let (level, mut word) = shape.level_and_word(switch);
        let digits = (0..shape.height())
            .map(|digit| {
                let radix = shape.radix(level, digit);
                let value = word % radix;
                word /= radix;
                value
            })
            .collect();
        (level, digits)
    }

    #[test]
    fn every_level_is_wired_by_the_definition() {
        for (children, parents, parallel) in [
            (&[2, 3, 4][..], &[1, 3, 2][..], &[1, 2, 3][..]),
            (&[4, 4], &[1, 4], &[1, 1]),
            (&[3], &[1], &[1]),
            (&[2, 2, 2, 3], &[1, 2, 3, 2], &[1, 1, 2, 1]),
        ] {
            let graph = xgft(children, parents, parallel).unwrap();
            let Shape::Xgft(shape) = graph.shape() else {
                panic!("not a fat tree");
            };
            let hosts: u32 = children.iter().product();
            assert_eq!(graph.hosts().len(), hosts as usize);
            for switch in graph.switch_ids() {
                let (level, own) = digits(shape, switch);
                let down = children[level - 1] * parallel[level - 1];
                let mut links = 0;
                for (port, _, peer) in graph.neighbors(switch) {
                    links += 1;
                    let (other, theirs) = digits(shape, peer);
                    let port = u32::from(port) - 1;
                    let (free, value) = if port < down {
                        assert_eq!(other, level - 1);
                        (level - 1, port / parallel[level - 1])
                    } else {
                        assert_eq!(other, level + 1);
                        (level, (port - down) / parallel[level])
                    };
                    for digit in 0..own.len() {
                        let wanted = if digit == free { value } else { own[digit] };
                        assert_eq!(theirs[digit], wanted);
                    }
                }
                let up = parents.get(level).map_or(0, |w| w * parallel[level]);
                let down = if level == 1 { 0 } else { down };
                assert_eq!(links, down + up);
            }
        }
    }

    #[test]
    fn a_k_ary_n_tree_is_one_of_them() {
        let tree = super::super::k_ary_n_tree::KAryNTree { k: 3, n: 3 };
        let tree = Survey::new(&tree.build(&context()).unwrap());
        let same = Survey::new(&xgft(&[3, 3, 3], &[1, 3, 3], &[]).unwrap());
        assert_eq!(tree.pairs_at_distance, same.pairs_at_distance);
        assert_eq!(
            (tree.switches, tree.switch_links),
            (same.switches, same.switch_links)
        );
    }

    #[test]
    fn pruned_trees_have_fewer_links_up() {
        let graph = xgft(&[24, 18], &[1, 6], &[1, 2]).unwrap();
        let survey = Survey::new(&graph);
        assert_eq!((survey.switches, survey.hosts), (24, 432));
        assert_eq!(survey.switch_links, 18 * 12);
        let Shape::Xgft(shape) = graph.shape() else {
            panic!("not a fat tree");
        };
        assert!(!shape.is_full());
        assert_eq!(graph.switches()[0].port_count, 36);
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let message = |children: &[u32], parents: &[u32], parallel: &[u32]| {
            xgft(children, parents, parallel).unwrap_err().to_string()
        };
        assert_eq!(
            message(&[4, 4], &[1], &[]),
            "`parents`: 1 values for 2 levels of children, expected as many"
        );
        assert_eq!(
            message(&[4, 4], &[2, 1], &[]),
            "`parents`: the first is 2, expected 1: a host has one cable"
        );
        assert_eq!(
            message(&[4, 0], &[1, 1], &[]),
            "`children`: 0 is too small, expected at least 1"
        );
        assert_eq!(
            message(&[4, 4], &[1, 100], &[1, 3]),
            "`parents`: this makes switches of 304 ports, expected at most 254"
        );
        let huge = message(&[200; 9], &[1; 9], &[]);
        assert!(huge.ends_with("expected at most 1000000"), "{huge}");
    }
}
