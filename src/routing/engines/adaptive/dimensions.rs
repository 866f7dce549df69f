//! Networks of dimensions as adaptive engines see them: meshes, tori, hypercubes and `HyperX` networks.
//!
//! Cost: memory O(switches * dimensions); O(dimensions) per question.
//!
//! # Algorithm
//! 1. In a ring the shorter way is taken; at exactly half of it + from even, `-` from odd coordinates, and in a
//!    ring of 2 both of its links.
//! 2. Datelines (Dally and Seitz): lane 0 while the link between the last coordinate and 0 lies ahead or is being
//!    crossed, then 1. No way goes all the way round, so neither lane is used all the way round. Rings in which
//!    no packet goes farther than one hop need none; a grid has them in all its rings or in none.
//!
//! References: [`DALLY_SEITZ`](crate::references::DALLY_SEITZ)

use crate::ids::SwitchId;
use crate::routing::RoutingError;
use crate::routing::regular;
use crate::topology::graph::HyperXShape;
use crate::topology::{Graph, Shape};
use std::ops::Range;

/// One hop in a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    /// Ports that make it, parallel links.
    pub(super) ports: Range<u16>,
    /// Lane in dimension order.
    pub(super) lane: u8,
}

/// How the switches of a dimension are linked.
#[derive(Clone, Debug)]
enum Links {
    /// Neighbours, `[dimension]`: whether the ends are linked too.
    Neighbours(Vec<bool>),
    /// A hypercube.
    Bits,
    /// All with all.
    All(HyperXShape),
}

/// A network of dimensions.
#[derive(Clone, Debug)]
pub(super) struct Dimensions {
    links: Links,
    sizes: Vec<u32>,
    /// Coordinates, `[switch][dimension]`.
    coordinates: Vec<u32>,
    datelines: bool,
}

impl Dimensions {
    /// The dimensions of `graph` for shortest ways; on other shapes the error of `engine`.
    pub(super) fn required(graph: &Graph, engine: &'static str) -> Result<Self, RoutingError> {
        let wanted = "mesh, torus, hypercube or HyperX";
        Self::new(graph, |size| size / 2).ok_or_else(|| regular::is_no(engine, graph, wanted))
    }

    /// The dimensions of `graph`, for ways in rings of at most `farthest(size)` hops; `None` for other shapes.
    pub(super) fn new(graph: &Graph, farthest: impl Fn(u32) -> u32) -> Option<Self> {
        let (links, sizes) = match graph.shape() {
            Shape::Grid(grid) => (Links::Neighbours(grid.wrap.clone()), grid.radix.clone()),
            Shape::Hypercube(cube) => (Links::Bits, vec![2; cube.dimensions as usize]),
            Shape::HyperX(shape) => (Links::All(shape.clone()), shape.sizes.clone()),
            _ => return None,
        };
        let coordinates = graph.switch_ids().flat_map(|switch| {
            let mut rest = switch.0;
            sizes.iter().map(move |size| {
                let coordinate = rest % size;
                rest /= size;
                coordinate
            })
        });
        let coordinates = coordinates.collect();
        let mut dimensions = Self {
            links,
            sizes,
            coordinates,
            datelines: false,
        };
        let mut rings = (0..dimensions.count()).filter(|&d| dimensions.is_ring(d));
        dimensions.datelines = rings.any(|d| farthest(dimensions.sizes[d]) > 1);
        Some(dimensions)
    }

    /// Number of dimensions.
    pub(super) fn count(&self) -> usize {
        self.sizes.len()
    }

    /// Switches along a dimension.
    pub(super) fn size(&self, dimension: usize) -> u32 {
        self.sizes[dimension]
    }

    /// Lanes that dimension order needs.
    pub(super) fn lanes(&self) -> u8 {
        if self.datelines { 2 } else { 1 }
    }

    /// Whether the ends of a dimension are linked.
    pub(super) fn is_ring(&self, dimension: usize) -> bool {
        matches!(&self.links, Links::Neighbours(wrap) if wrap[dimension])
    }

    /// A coordinate of a switch.
    pub(super) fn coordinate(&self, switch: SwitchId, dimension: usize) -> u32 {
        self.coordinates[switch.index() * self.count() + dimension]
    }

    /// Dimensions in which two switches differ, ascending.
    pub(super) fn differing(&self, a: SwitchId, b: SwitchId) -> impl Iterator<Item = usize> {
        (0..self.count()).filter(move |&d| self.coordinate(a, d) != self.coordinate(b, d))
    }

    /// Hops from `from` to `to` in + direction of a ring.
    pub(super) fn forward(&self, from: SwitchId, to: SwitchId, dimension: usize) -> u32 {
        let size = self.sizes[dimension];
        (self.coordinate(to, dimension) + size - self.coordinate(from, dimension)) % size
    }

    /// Hops between two switches.
    pub(super) fn hops(&self, from: SwitchId, to: SwitchId) -> u32 {
        self.differing(from, to)
            .map(|d| self.span(from, to, d))
            .sum()
    }

    /// Hops between two switches in a dimension in which they differ.
    pub(super) fn span(&self, from: SwitchId, to: SwitchId, dimension: usize) -> u32 {
        match &self.links {
            Links::Neighbours(wrap) if wrap[dimension] => {
                let forward = self.forward(from, to, dimension);
                forward.min(self.sizes[dimension] - forward)
            }
            Links::Neighbours(_) => {
                let ends = [from, to].map(|end| self.coordinate(end, dimension));
                ends[0].abs_diff(ends[1])
            }
            Links::Bits | Links::All(_) => 1,
        }
    }

    /// The switch `hops` further from `at` on the shorter way to `goal` in a dimension, at most the span.
    pub(super) fn along(
        &self,
        at: SwitchId,
        goal: SwitchId,
        dimension: usize,
        hops: u32,
    ) -> SwitchId {
        let (here, size) = (self.coordinate(at, dimension), self.sizes[dimension]);
        let there = match &self.links {
            Links::Bits | Links::All(_) if hops == 0 => here,
            Links::Bits | Links::All(_) => self.coordinate(goal, dimension),
            Links::Neighbours(_) if self.goes_up(at, goal, dimension) => (here + hops) % size,
            Links::Neighbours(_) => (here + size - hops) % size,
        };
        let stride: u32 = self.sizes[..dimension].iter().product();
        SwitchId(at.0 - here * stride + there * stride)
    }

    /// Whether the shorter way in a dimension goes in + direction.
    fn goes_up(&self, at: SwitchId, goal: SwitchId, dimension: usize) -> bool {
        if !self.is_ring(dimension) {
            return self.coordinate(goal, dimension) > self.coordinate(at, dimension);
        }
        let (size, forward) = (self.sizes[dimension], self.forward(at, goal, dimension));
        let is_even = self.coordinate(at, dimension).is_multiple_of(2);
        2 * forward < size || 2 * forward == size && is_even
    }

    /// The next hop in dimension order, along the shorter way of a ring; `at` is not `goal`.
    pub(super) fn in_order(&self, at: SwitchId, goal: SwitchId) -> Hop {
        let dimension = self.differing(at, goal).next().unwrap_or_default();
        self.shorter(at, goal, dimension)
    }

    /// The hop in `dimension`, where the two differ, along the shorter way of a ring.
    pub(super) fn shorter(&self, at: SwitchId, goal: SwitchId, dimension: usize) -> Hop {
        let mut hop = self.hop(at, goal, dimension, self.goes_up(at, goal, dimension));
        if self.is_ring(dimension) && self.sizes[dimension] == 2 {
            let first = 2 * dimension as u16 + 1;
            hop.ports = first..first + 2;
        }
        hop
    }

    /// The hop in `dimension`, where the two differ, in + direction when `up`.
    pub(super) fn hop(&self, at: SwitchId, goal: SwitchId, dimension: usize, up: bool) -> Hop {
        let (from, to) = (
            self.coordinate(at, dimension),
            self.coordinate(goal, dimension),
        );
        let (first, count) = match &self.links {
            Links::Neighbours(_) => (2 * dimension as u32 + if up { 1 } else { 2 }, 1),
            Links::Bits => (dimension as u32 + 1, 1),
            Links::All(shape) => (
                shape.port(dimension, from, to),
                shape.multiplicity[dimension],
            ),
        };
        let ahead = self.is_ring(dimension) && up == (to < from);
        Hop {
            ports: first as u16..(first + count) as u16,
            lane: u8::from(self.datelines && !ahead),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::tests::graphs::grid;

    #[test]
    fn ways_in_rings_are_the_shorter_ones() {
        let ring = Dimensions::new(&grid(&[6], true, 1), |size| size / 2).unwrap();
        let hop = |from, to| ring.in_order(SwitchId(from), SwitchId(to));
        let way = |port, lane| Hop {
            ports: port..port + 1,
            lane,
        };
        assert_eq!(ring.hops(SwitchId(1), SwitchId(5)), 2);
        // over the dateline, in both directions; ties by parity
        assert_eq!([hop(1, 5), hop(0, 5)], [way(2, 0), way(2, 0)]);
        assert_eq!([hop(5, 1), hop(0, 1)], [way(1, 0), way(1, 1)]);
        assert_eq!([hop(0, 3), hop(1, 4)], [way(1, 1), way(2, 0)]);
        let further = |from, to, hops| ring.along(SwitchId(from), SwitchId(to), 0, hops).0;
        assert_eq!([further(1, 5, 1), further(1, 5, 2)], [0, 5]);
        assert_eq!([further(4, 1, 3), further(1, 4, 1)], [1, 0]);
        let two = Dimensions::new(&grid(&[2], true, 1), |size| size / 2).unwrap();
        assert_eq!(two.in_order(SwitchId(0), SwitchId(1)).ports, 1..3);
        assert_eq!(two.lanes(), 1);
    }
}
