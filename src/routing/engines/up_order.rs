//! The total orders behind up*/down* routing: breadth-first ranks or depth-first numbers from chosen roots.
//!
//! Cost: one search over the fabric per order; `far_apart` one per root.
//!
//! References: [`AUTONET`](crate::references::AUTONET) (breadth first),
//! [`SANCHO_ROBLES_DUATO`](crate::references::SANCHO_ROBLES_DUATO) (depth first)

use crate::ids::SwitchId;
use crate::routing::paths::{Adjacency, UNREACHED};
use serde::Deserialize;
use std::cmp::Reverse;

/// How the switches are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum Tree {
    /// By hops from the nearest root, then id.
    #[default]
    Breadth,
    /// In the order of a depth-first search that goes on to the neighbour with most visited neighbours.
    Depth,
}

/// Switches from the top down: an upward step leads to an earlier place.
#[derive(Clone, Debug)]
pub(super) struct UpOrder {
    /// Switches in order.
    pub(super) order: Vec<usize>,
    /// Place of each switch.
    pub(super) place: Vec<u32>,
}

impl UpOrder {
    /// The order of `tree` from `roots`; a depth-first search starts at the first. Switches that cannot be
    /// reached come last.
    pub(super) fn new(adjacency: &Adjacency, roots: &[SwitchId], tree: Tree) -> Self {
        let order = match tree {
            Tree::Breadth => {
                let rank = adjacency.distances(roots);
                let mut order: Vec<usize> = (0..adjacency.len()).collect();
                order.sort_by_key(|&switch| (rank[switch], switch));
                order
            }
            Tree::Depth => depth_first(adjacency, roots.first().map_or(0, |root| root.index())),
        };
        let mut place = vec![0; order.len()];
        for (i, &switch) in order.iter().enumerate() {
            place[switch] = i as u32;
        }
        Self { order, place }
    }

    /// Whether the step between two neighbours leads up.
    pub(super) fn is_up(&self, from: SwitchId, to: SwitchId) -> bool {
        self.place[to.index()] < self.place[from.index()]
    }
}

/// Depth-first search; among the neighbours not yet visited the one with most visited neighbours goes next,
/// the lowest id on ties.
fn depth_first(adjacency: &Adjacency, root: usize) -> Vec<usize> {
    let mut visited_neighbors = vec![0u32; adjacency.len()];
    let mut visited = vec![false; adjacency.len()];
    let mut order = Vec::with_capacity(adjacency.len());
    let mut stack = vec![root];
    while let Some(&switch) = stack.last() {
        if !visited[switch] {
            visited[switch] = true;
            order.push(switch);
            for exit in adjacency.exits(switch) {
                visited_neighbors[exit.neighbor as usize] += 1;
            }
        }
        let open = adjacency
            .exits(switch)
            .iter()
            .map(|exit| exit.neighbor as usize);
        let next = open
            .filter(|&neighbor| !visited[neighbor])
            .min_by_key(|&neighbor| (Reverse(visited_neighbors[neighbor]), neighbor));
        match next {
            Some(next) => stack.push(next),
            None => drop(stack.pop()),
        }
    }
    order.extend((0..adjacency.len()).filter(|&switch| !visited[switch]));
    order
}

/// `count` roots, the first given: each next one is farthest from those before it, the lowest id on ties.
/// Fewer when there are fewer switches.
pub(super) fn far_apart(adjacency: &Adjacency, first: SwitchId, count: usize) -> Vec<SwitchId> {
    let mut roots = vec![first];
    while roots.len() < count.min(adjacency.len()) {
        let distance = adjacency.distances(&roots);
        let reached = (0..adjacency.len()).filter(|&s| distance[s] != UNREACHED && distance[s] > 0);
        match reached.min_by_key(|&switch| (Reverse(distance[switch]), switch)) {
            Some(next) => roots.push(SwitchId::from(next)),
            None => break,
        }
    }
    roots
}
