//! Layers of dependencies: cycles are found, and what was taken back leaves nothing.

use super::*;
use crate::rng::{Purpose, below, stream};
use crate::routing::layers::channel_bits::tests::{any, star};

#[test]
fn turns_of_a_star_are_found_again() {
    let vertices = star();
    let mut layer = LayerGraph::new(&vertices);
    let turns = |to: u32| (vertices.of(2 * to + 1), vertices.of(2 * (to + 1) % 200), 1);
    let all: Vec<Dependency> = (0..100).map(turns).collect();
    assert!(layer.try_add(&all));
    // back from the leaf that the first turn leads to
    assert!(!layer.try_add(&[(vertices.of(2), vertices.of(1), 1)]));
}

/// Whether `edges` have a cycle, by removing vertices without predecessor.
fn is_cyclic(count: usize, edges: &[(u32, u32)]) -> bool {
    let mut left = edges.to_vec();
    let mut alive = vec![true; count];
    while let Some(vertex) =
        (0..count as u32).find(|&v| alive[v as usize] && left.iter().all(|edge| edge.1 != v))
    {
        alive[vertex as usize] = false;
        left.retain(|edge| edge.0 != vertex);
    }
    alive.contains(&true)
}

#[test]
fn what_was_refused_is_known_until_a_dependency_is_taken_away() {
    let vertices = any(12);
    let mut graph = LayerGraph::new(&vertices);
    for from in 0..9 {
        assert!(graph.try_add(&[(from, from + 1, 1)]));
    }
    for _ in 0..2 {
        assert!(!graph.try_add(&[(9, 0, 1)]));
    }
    let searched = graph.searched();
    assert!(!graph.try_add(&[(10, 11, 1), (9, 0, 1)]));
    assert_eq!(graph.searched(), searched);
    // refused together only
    assert!(!graph.try_add(&[(9, 10, 1), (10, 0, 1)]));
    assert!(graph.try_add(&[(10, 0, 1)]));
    graph.remove(&[(4, 5, 1)]);
    assert!(graph.try_add(&[(9, 0, 1)]));
}

#[test]
fn many_at_once_are_the_same_as_one_by_one() {
    for seed in 0..40 {
        let mut rng = stream(seed, Purpose::Routing, 2);
        let vertices = any(60);
        let (mut graph, mut kept) = (LayerGraph::new(&vertices), Vec::new());
        for _ in 0..6 {
            let mut new: Vec<Dependency> = (0..2 * MANY)
                .map(|_| (below(&mut rng, 60), below(&mut rng, 60), 1))
                // mostly forward, so that some sets fit
                .map(|(a, b, n)| (a.min(b), a.max(b), n))
                .filter(|(a, b, _)| a != b)
                .collect();
            if below(&mut rng, 2) == 0 {
                (new[0].0, new[0].1) = (new[0].1, new[0].0);
            }
            new.sort_unstable();
            new.dedup();
            let all: Vec<_> = kept
                .iter()
                .chain(&new)
                .map(|d: &Dependency| (d.0, d.1))
                .collect();
            let fits = !is_cyclic(60, &all);
            assert_eq!(graph.try_add(&new), fits);
            if fits {
                kept.extend(new);
            }
            assert!(!kept.iter().any(|d| graph.order.is_against(d.0, d.1)));
        }
    }
}

#[test]
fn refuses_exactly_what_closes_a_cycle() {
    for seed in 0..30 {
        let mut rng = stream(seed, Purpose::Routing, 1);
        let vertices = any(12);
        let mut graph = LayerGraph::new(&vertices);
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for _ in 0..120 {
            let (a, b) = (below(&mut rng, 12), below(&mut rng, 12));
            if a == b {
                continue;
            }
            if below(&mut rng, 4) == 0 && !edges.is_empty() {
                let (a, b) = edges.swap_remove(below(&mut rng, edges.len() as u32) as usize);
                graph.remove(&[(a, b, 1)]);
                continue;
            }
            edges.push((a, b));
            let fits = !is_cyclic(12, &edges);
            assert_eq!(graph.try_add(&[(a, b, 1)]), fits);
            if !fits {
                edges.pop();
            }
        }
    }
}
