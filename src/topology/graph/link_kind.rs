//! Links of one kind: of a dimension, between two levels, within or between groups.
//!
//! Guarantees: every link between switches of a graph with a [`Shape`] is of exactly one kind; links of hosts, of k-ary
//! n-flies and of irregular graphs are of none. Cost: O(dimensions) or O(levels) per channel.

use super::{Channel, Graph, Shape};
use crate::ids::SwitchId;
use std::collections::BTreeSet;
use std::fmt;

/// What a link between switches is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkKind {
    /// Along a dimension of a mesh, torus, hypercube or `HyperX`, from 0; express channels included.
    Dimension(u32),
    /// From a level of a tree up to the next one; the leaves are level 1.
    Level(u32),
    /// Between switches of one level of an enriched tree.
    Horizontal,
    /// Within a group of a dragonfly.
    Local,
    /// Between groups of a dragonfly.
    Global,
}

impl fmt::Display for LinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dimension(number) => write!(f, "Dimension({number})"),
            Self::Level(number) => write!(f, "Level({number})"),
            Self::Horizontal => f.write_str("Horizontal"),
            Self::Local => f.write_str("Local"),
            Self::Global => f.write_str("Global"),
        }
    }
}

impl LinkKind {
    /// Kind of a channel of a graph; `None` for channels of hosts and where no structure is known.
    pub fn of(graph: &Graph, channel: &Channel) -> Option<Self> {
        let (a, b) = (channel.from.switch()?, channel.to.switch()?);
        let differing = |count: usize, coordinate: &dyn Fn(SwitchId, usize) -> u32| {
            let mut dimensions = 0..count;
            let found = dimensions.find(|&d| coordinate(a, d) != coordinate(b, d));
            found.map(|dimension| Self::Dimension(dimension as u32))
        };
        match graph.shape() {
            Shape::Irregular | Shape::Fly(_) => None,
            Shape::Grid(grid) => differing(grid.radix.len(), &|s, d| grid.coordinate(s, d)),
            Shape::HyperX(net) => differing(net.sizes.len(), &|s, d| net.coordinate(s, d)),
            Shape::ConcentratedMesh(mesh) => differing(2, &|s, d| mesh.coordinate(s, d)),
            Shape::Hypercube(_) => Some(Self::Dimension((a.0 ^ b.0).trailing_zeros())),
            Shape::Tree(tree) => Some(Self::Level(tree.levels - tree.level(a).max(tree.level(b)))),
            Shape::EnrichedTree(enriched) => {
                let tree = &enriched.tree;
                let (from, to) = (tree.level(a), tree.level(b));
                let between = Self::Level(tree.levels - from.max(to));
                Some(if from == to {
                    Self::Horizontal
                } else {
                    between
                })
            }
            Shape::Xgft(tree) => {
                let level = |switch| tree.level_and_word(switch).0 as u32;
                Some(Self::Level(level(a).min(level(b))))
            }
            Shape::Dragonfly(net) if net.group(a) == net.group(b) => Some(Self::Local),
            Shape::Dragonfly(_) => Some(Self::Global),
        }
    }

    /// Kinds that a graph has, in order.
    pub fn all(graph: &Graph) -> BTreeSet<Self> {
        let channels = graph.channels().iter();
        channels
            .filter_map(|channel| Self::of(graph, channel))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{built, context};
    use std::collections::BTreeMap;

    /// Links of every kind, counted by the formulas of the topologies.
    #[test]
    fn links_of_every_kind_are_counted() {
        use LinkKind::{Dimension, Global, Horizontal, Level, Local};
        for (text, expected) in [
            (
                "Mesh(radix: [4, 3])",
                vec![(Dimension(0), 9), (Dimension(1), 8)],
            ),
            // the ring of 2 has two parallel links
            (
                "Torus(radix: [4, 2, 3])",
                vec![(Dimension(0), 24), (Dimension(1), 24), (Dimension(2), 24)],
            ),
            (
                "Hypercube(dimensions: 3)",
                vec![(Dimension(0), 4), (Dimension(1), 4), (Dimension(2), 4)],
            ),
            (
                "HyperX(sizes: [3, 4], multiplicity: [2, 1])",
                vec![(Dimension(0), 24), (Dimension(1), 18)],
            ),
            (
                "KAryNTree(k: 3, n: 3)",
                vec![(Level(1), 27), (Level(2), 27)],
            ),
            // chains of 4 and 2 switches, two links between neighbours
            (
                "EnrichedTree(k: 2, n: 3, width: 2)",
                vec![(Level(1), 8), (Level(2), 8), (Horizontal, 6 + 4)],
            ),
            (
                "Xgft(children: [4, 3, 2], parents: [1, 2, 3], parallel: [1, 2, 1])",
                vec![(Level(1), 24), (Level(2), 12)],
            ),
            ("Star(leaves: 4, parallel_links: 2)", vec![(Level(1), 8)]),
            (
                "Dragonfly(p: 2, a: 4, h: 2, g: 9)",
                vec![(Local, 54), (Global, 36)],
            ),
            ("Petersen(hosts_per_switch: 1)", vec![]),
        ] {
            let graph = built(text, &context());
            let mut counts: BTreeMap<LinkKind, usize> = BTreeMap::new();
            for pair in graph.channels().chunks(2) {
                let kinds = [&pair[0], &pair[1]].map(|channel| LinkKind::of(&graph, channel));
                assert_eq!(kinds[0], kinds[1], "{text}: both ways");
                if let Some(kind) = kinds[0] {
                    *counts.entry(kind).or_default() += 1;
                }
            }
            assert_eq!(counts, expected.into_iter().collect(), "{text}");
            assert!(LinkKind::all(&graph).iter().eq(counts.keys()));
        }
    }
}
