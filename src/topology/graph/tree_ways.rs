//! What a switch of a k-ary n-tree, with horizontal links or without, may do for a destination: ports upward, ports to either
//! side, and whether the destination is below.
//!
//! Cost: O(1) for each question.

use super::shape::{EnrichedTreeShape, Shape};
use super::{Channel, Endpoint, Graph};
use crate::ids::{HostId, SwitchId};
use std::ops::RangeInclusive;

/// Side of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Towards the switch with the next number.
    Next,
    /// Towards the one with the number before.
    Before,
}

/// A complete tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeWays {
    /// With a width of 0 where there are no horizontal links.
    shape: EnrichedTreeShape,
}

impl TreeWays {
    /// Those of a graph; `None` when it is no k-ary n-tree or enriched tree, or has lost a link.
    pub fn of(graph: &Graph) -> Option<Self> {
        let shape = match graph.shape() {
            Shape::EnrichedTree(shape) => shape.clone(),
            Shape::Tree(tree) => EnrichedTreeShape {
                tree: tree.clone(),
                width: 0,
            },
            _ => return None,
        };
        (graph.link_count() as u64 == shape.links()).then_some(Self { shape })
    }

    /// Whether a switch is one that hosts are attached to.
    pub fn is_leaf(&self, switch: SwitchId) -> bool {
        let tree = &self.shape.tree;
        tree.level(switch) + 1 == tree.levels
    }

    /// Whether a host is below a switch: only ways down lead to it, from here or from a neighbour in the chain.
    pub fn is_below(&self, switch: SwitchId, host: HostId) -> bool {
        let tree = &self.shape.tree;
        let words = self.shape.chain_length(tree.level(switch));
        tree.word(switch) / words == host.0 / (words * tree.arity)
    }

    /// Ports that lead upward; none at a root.
    pub fn up(&self, switch: SwitchId) -> RangeInclusive<u16> {
        let tree = &self.shape.tree;
        let arity = tree.arity as u16;
        let count = if tree.level(switch) == 0 { 0 } else { arity };
        arity + 1..=arity + count
    }

    /// Ports to a side of the chain; none at its end, at a leaf, or where there are no horizontal links.
    pub fn across(&self, switch: SwitchId, side: Side) -> RangeInclusive<u16> {
        let level = self.shape.tree.level(switch);
        let (place, length) = (self.shape.place(switch), self.shape.chain_length(level));
        let first = self.shape.first_horizontal_port(level) as u16;
        let width = self.shape.width as u16;
        let (first, has_neighbour) = match side {
            Side::Next => (first, place + 1 < length),
            Side::Before => (first + width, place > 0),
        };
        let count = if has_neighbour { width } else { 0 };
        first..=first + count - 1
    }

    /// The side to which a port of a switch leads, or what comes in by it came from; `None`: no horizontal link.
    pub fn side(&self, switch: SwitchId, port: u16) -> Option<Side> {
        [Side::Next, Side::Before]
            .into_iter()
            .find(|&side| self.across(switch, side).contains(&port))
    }

    /// The side on which the farther end of the chain is: the next one in the first half.
    pub fn farther(&self, switch: SwitchId) -> Side {
        let level = self.shape.tree.level(switch);
        if self.shape.place(switch) < self.shape.chain_length(level) / 2 {
            Side::Next
        } else {
            Side::Before
        }
    }

    /// The direction in which a channel leads within a chain; `None`: it is no horizontal channel.
    pub fn direction(&self, channel: &Channel) -> Option<Side> {
        match channel.from {
            Endpoint::Switch(switch, port) => self.side(switch, port),
            Endpoint::Host(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{built, context};

    fn graph(text: &str) -> Graph {
        built(text, &context())
    }

    /// M6, Figure 3.2: from above or from its first neighbour, the second switch of a chain of four may go on to the third, and
    /// from that one to the first.
    #[test]
    fn directions_are_those_of_the_source() {
        use Side::{Before, Next};
        let graph = graph("EnrichedTree(k: 4, n: 2, width: 2)");
        let ways = TreeWays::of(&graph).unwrap();
        let second = SwitchId(1);
        assert_eq!(ways.across(second, Next), 5..=6);
        assert_eq!(ways.across(second, Before), 7..=8);
        let farther = (0..4).map(|switch| ways.farther(SwitchId(switch)));
        assert!(farther.eq([Next, Next, Before, Before]));
        assert!(ways.across(SwitchId(0), Before).is_empty());
        assert!(ways.across(SwitchId(3), Next).is_empty());
        assert!(ways.across(SwitchId(4), Next).is_empty());
        assert_eq!(ways.side(second, 6), Some(Next));
        assert_eq!(ways.side(second, 7), Some(Before));
        assert_eq!(ways.side(second, 4), None);
    }

    /// Every channel between levels of a tree leads up or down, and down exactly where the destination is below.
    #[test]
    fn ways_agree_with_the_graph() {
        for (text, width) in [
            ("KAryNTree(k: 3, n: 3)", 0),
            ("KAryNTree(k: 4, n: 1)", 0),
            ("EnrichedTree(k: 2, n: 4, width: 3)", 3),
        ] {
            let graph = graph(text);
            let ways = TreeWays::of(&graph).unwrap();
            assert_eq!(ways.shape.width, width);
            for switch in graph.switch_ids() {
                let level = |switch| ways.shape.tree.level(switch);
                let mut below = vec![false; graph.hosts().len()];
                for (port, channel, other) in graph.neighbors(switch) {
                    let ends = graph.channel(channel);
                    let is_up = ways.up(switch).contains(&port);
                    assert_eq!(is_up, level(other) < level(switch));
                    assert_eq!(
                        ways.direction(ends).is_some(),
                        level(other) == level(switch)
                    );
                    if let Some(side) = ways.side(switch, port) {
                        assert_eq!(side == Side::Next, other > switch);
                        assert_eq!(ways.direction(graph.channel(channel.reverse())), {
                            Some(if side == Side::Next {
                                Side::Before
                            } else {
                                Side::Next
                            })
                        });
                    } else if !is_up {
                        for host in graph.host_ids() {
                            below[host.index()] |= ways.is_below(other, host);
                        }
                    }
                }
                for (_, host) in graph.attached_hosts(switch) {
                    below[host.index()] = true;
                }
                assert_eq!(
                    ways.is_leaf(switch),
                    graph.attached_hosts(switch).count() > 0
                );
                for host in graph.host_ids() {
                    assert_eq!(ways.is_below(switch, host), below[host.index()]);
                }
            }
        }
    }

    #[test]
    fn other_graphs_have_none() {
        assert_eq!(TreeWays::of(&graph("Ring(switches: 4)")), None);
    }
}
