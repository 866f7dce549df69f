//! Cuts a fabric into shards: connected blocks of switches of about equal weight.
//!
//! # Algorithm
//! 1. Order the switches so that neighbours are near each other: pods of a tree, strips of a grid,
//!    breadth-first from switch 0 otherwise.
//! 2. Cut the order into as many pieces as shards, at equal shares of the ports.
//!
//! A host belongs to the shard of its switch. Cost: O(switches log switches + links).

use crate::ids::SwitchId;
use crate::topology::graph::{EnrichedTreeShape, TreeShape};
use crate::topology::{Graph, Shape};
use std::collections::VecDeque;

/// Shard of every switch, `[switch]`; shards are numbered without gaps, at most `shards` of them.
pub fn partition(graph: &Graph, shards: usize) -> Vec<u32> {
    let order = match graph.shape() {
        Shape::Tree(tree) | Shape::EnrichedTree(EnrichedTreeShape { tree, .. }) => {
            pods(graph, tree)
        }
        // numbered so that neighbours are near each other
        Shape::Grid(_)
        | Shape::ConcentratedMesh(_)
        | Shape::Hypercube(_)
        | Shape::HyperX(_)
        | Shape::Dragonfly(_) => graph.switch_ids().collect(),
        Shape::Xgft(_) | Shape::Fly(_) | Shape::Irregular => breadth_first(graph),
    };
    let weight = |switch: SwitchId| graph.connected_ports(switch).count() + 1;
    let total: usize = order.iter().map(|&switch| weight(switch)).sum();
    let shards = shards.clamp(1, order.len());
    let mut shard_of = vec![0; order.len()];
    let mut before = 0;
    let (mut shard, mut last_cut) = (0usize, usize::MAX);
    for (place, &switch) in order.iter().enumerate() {
        let wanted = (before * shards / total).min(shards - 1);
        if wanted > shard && last_cut != place {
            shard += 1;
            last_cut = place;
        }
        shard_of[switch.index()] = shard as u32;
        before += weight(switch);
    }
    shard_of
}

/// Pods of a tree (switches of one top digit), each with its share of the roots.
fn pods(graph: &Graph, tree: &TreeShape) -> Vec<SwitchId> {
    let pod_size = (tree.switches_per_level() / tree.arity).max(1);
    let mut order: Vec<SwitchId> = graph.switch_ids().collect();
    order.sort_by_key(|&switch| (tree.word(switch) / pod_size, tree.level(switch), switch));
    order
}

fn breadth_first(graph: &Graph) -> Vec<SwitchId> {
    let mut seen = vec![false; graph.switches().len()];
    let mut order = Vec::with_capacity(seen.len());
    let mut queue = VecDeque::new();
    for start in graph.switch_ids() {
        if !std::mem::replace(&mut seen[start.index()], true) {
            queue.push_back(start);
        }
        while let Some(switch) = queue.pop_front() {
            order.push(switch);
            for (_, _, neighbor) in graph.neighbors(switch) {
                if !std::mem::replace(&mut seen[neighbor.index()], true) {
                    queue.push_back(neighbor);
                }
            }
        }
    }
    order
}
