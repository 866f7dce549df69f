//! Bisection width: the fewest links between two halves of a fabric.
//!
//! The switches are divided into two sets with equally many hosts each; where that cannot be, the sets
//! differ by at most the hosts of one switch. Links between switches of different sets are counted.
//!
//! Guarantees: [`Certainty::Known`] and [`Certainty::Exact`] values are the minimum, [`Certainty::AtMost`]
//! ones were reached by a division but might not be the least; the result does not depend on chance.
//! Cost: O(2^switches * degree) up to 22 switches, else O(links * log links) for each of a few
//! passes from a few divisions.
//!
//! # Algorithm
//!
//! 1. A closed form: meshes and tori whose largest radix is even (the links across its middle, N / k or
//!    twice that), hypercubes (N / 2), complete graphs and `HyperX` of equal multiplicity whose smallest size
//!    is even (N S / 4 times the multiplicity), full trees with an even number of subtrees (hosts / 2, for
//!    they can carry any permutation).
//! 2. Few switches: every division, in Gray code order.
//! 3. Otherwise Fiduccia and Mattheyses' local search from divisions by number and by distance.
//!
//! References: [`DALLY_TOWLES`](crate::references::DALLY_TOWLES) chapter 3,
//! [`AHN_HYPERX`](crate::references::AHN_HYPERX),
//! [`FIDUCCIA_MATTHEYSES`](crate::references::FIDUCCIA_MATTHEYSES)

use super::switch_distances;
use crate::topology::graph::{Graph, Shape};
use std::collections::BinaryHeap;

/// Most switches of which all divisions are tried: a second's work.
const MOST_TRIED: usize = 22;

/// Switches from which divisions by distance start, and how many are enough for a large network.
const STARTS: [usize; 2] = [8, 1];

/// Switches from which on a network is large: the search takes seconds from one division.
const LARGE: usize = 10_000;

/// Most passes of the local search; it ends earlier when one brings nothing.
const MOST_PASSES: usize = 30;

/// How sure a bisection width is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// From a closed form.
    Known,
    /// Every division was tried.
    Exact,
    /// The best division found.
    AtMost,
}

/// A bisection width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bisection {
    /// Links between the halves \[links\].
    pub links: u64,
    /// How sure that is.
    pub certainty: Certainty,
}

/// The bisection width of a graph; `None` when fewer than two switches have hosts.
pub fn bisection(graph: &Graph) -> Option<Bisection> {
    let network = Network::new(graph);
    if network.hosts.iter().filter(|&&hosts| hosts > 0).count() < 2 {
        return None;
    }
    let of = |links, certainty| Bisection { links, certainty };
    if let Some(links) = closed_form(graph) {
        return Some(of(links, Certainty::Known));
    }
    if graph.switches().len() <= MOST_TRIED {
        return Some(of(network.least_of_all(), Certainty::Exact));
    }
    Some(of(network.search(graph), Certainty::AtMost))
}

/// The bisection width by the graph's shape.
fn closed_form(graph: &Graph) -> Option<u64> {
    let switches = graph.switches().len() as u64;
    let hosts = graph.hosts().len() as u64;
    match graph.shape() {
        Shape::Grid(grid) => {
            let (&radix, &wrap) = grid.radix.iter().zip(&grid.wrap).max()?;
            let across = switches / u64::from(radix);
            let is_uniform = grid
                .wrap
                .iter()
                .zip(&grid.radix)
                .all(|(&w, &k)| w == wrap || k == 1);
            let is_even = radix.is_multiple_of(2) && is_uniform;
            is_even.then_some(if wrap { 2 * across } else { across })
        }
        Shape::Hypercube(_) => Some(switches / 2),
        Shape::HyperX(shape) => {
            let sizes = shape.sizes.iter().copied().filter(|&size| size > 1);
            let size = u64::from(sizes.clone().min()?);
            let links = u64::from(*shape.multiplicity.first()?);
            let is_alike = shape.multiplicity.iter().all(|&m| u64::from(m) == links);
            match (size.is_multiple_of(2), sizes.count()) {
                _ if !is_alike => None,
                (true, _) => Some(switches * size / 4 * links),
                (false, 1) => Some(size / 2 * size.div_ceil(2) * links),
                (false, _) => None,
            }
        }
        Shape::Tree(tree) => {
            let is_even = tree.levels > 1 && tree.arity.is_multiple_of(2);
            is_even.then_some(hosts / 2)
        }
        Shape::Xgft(tree) => {
            let levels = 1..tree.height();
            let is_full = levels.clone().all(|level| {
                let down = tree.children[level - 1] * tree.parallel[level - 1];
                down == tree.parents[level] * tree.parallel[level]
            });
            let subtrees = tree.children.last()?;
            let is_even = is_full && !levels.is_empty() && subtrees.is_multiple_of(2);
            is_even.then_some(hosts / 2)
        }
        Shape::EnrichedTree(_)
        | Shape::Dragonfly(_)
        | Shape::Fly(_)
        | Shape::ConcentratedMesh(_)
        | Shape::Irregular => None,
    }
}

/// Switches with their hosts and neighbours.
struct Network {
    hosts: Vec<i64>,
    /// Neighbours, one for each link.
    neighbors: Vec<Vec<u32>>,
    /// Largest difference of hosts between the halves.
    slack: i64,
}

impl Network {
    fn new(graph: &Graph) -> Self {
        let hosts: Vec<i64> = graph
            .switch_ids()
            .map(|switch| graph.attached_hosts(switch).count() as i64)
            .collect();
        let neighbors = graph.switch_ids().map(|switch| {
            // a cable from a switch to itself crosses no division
            let neighbors = graph.neighbors(switch);
            let others = neighbors.filter(|(.., neighbor)| *neighbor != switch);
            others.map(|(.., neighbor)| neighbor.0).collect()
        });
        let neighbors = neighbors.collect();
        let most = hosts.iter().copied().max().unwrap_or(0);
        let bearing = hosts.iter().filter(|&&hosts| hosts > 0).count();
        let is_alike = hosts.iter().all(|&hosts| hosts == 0 || hosts == most);
        let slack = if is_alike && bearing.is_multiple_of(2) {
            0
        } else {
            most
        };
        Self {
            hosts,
            neighbors,
            slack,
        }
    }

    fn difference(&self, side: &[bool]) -> i64 {
        let sides = self.hosts.iter().zip(side);
        sides
            .map(|(&hosts, &side)| if side { hosts } else { -hosts })
            .sum()
    }

    fn cut(&self, side: &[bool]) -> i64 {
        let ends = self.neighbors.iter().zip(side).map(|(neighbors, &own)| {
            let others = neighbors
                .iter()
                .filter(|&&other| side[other as usize] != own);
            others.count() as i64
        });
        ends.sum::<i64>() / 2
    }

    /// Links cut less when a switch changes sides.
    fn gain(&self, side: &[bool], switch: usize) -> i64 {
        let others = self.neighbors[switch].iter();
        others
            .map(|&other| {
                if side[other as usize] == side[switch] {
                    -1
                } else {
                    1
                }
            })
            .sum()
    }

    /// Tries every division; the last switch stays where it is.
    fn least_of_all(&self) -> u64 {
        let switches = self.hosts.len();
        let mut side = vec![false; switches];
        let (mut cut, mut difference) = (0, self.difference(&side));
        let mut least = i64::MAX;
        for step in 1u32..1 << (switches - 1) {
            // Gray code: one switch changes sides per step
            let switch = step.trailing_zeros() as usize;
            cut -= self.gain(&side, switch);
            side[switch] = !side[switch];
            difference += 2 * if side[switch] {
                self.hosts[switch]
            } else {
                -self.hosts[switch]
            };
            if difference.abs() <= self.slack {
                least = least.min(cut);
            }
        }
        least.unsigned_abs()
    }

    /// The best of the local searches.
    fn search(&self, graph: &Graph) -> u64 {
        let switches = self.hosts.len();
        let mut orders: Vec<Vec<usize>> = vec![(0..switches).collect()];
        let starts = STARTS[usize::from(switches >= LARGE)];
        for start in (0..starts).map(|i| i * switches / starts) {
            let distances = switch_distances(graph, crate::ids::SwitchId::from(start));
            let mut order: Vec<usize> = (0..switches).collect();
            order.sort_by_key(|&switch| (distances[switch].unwrap_or(u32::MAX), switch));
            orders.push(order);
        }
        let cuts = orders
            .iter()
            .filter_map(|order| self.improve(self.division(order)));
        cuts.min().unwrap_or(i64::MAX).unsigned_abs()
    }

    /// The first switches of an order, up to half of the hosts.
    fn division(&self, order: &[usize]) -> Vec<bool> {
        let half = self.hosts.iter().sum::<i64>() / 2;
        let mut side = vec![false; self.hosts.len()];
        let mut taken = 0;
        for &switch in order {
            if taken + self.hosts[switch] <= half {
                side[switch] = true;
                taken += self.hosts[switch];
            }
        }
        side
    }

    /// Local search; `None` when it meets no division of halves.
    fn improve(&self, mut side: Vec<bool>) -> Option<i64> {
        let mut best = (self.difference(&side).abs() <= self.slack).then(|| self.cut(&side));
        for _ in 0..MOST_PASSES {
            let Some(cut) = self
                .pass(&mut side)
                .filter(|&cut| best.is_none_or(|best| cut < best))
            else {
                break;
            };
            best = Some(cut);
        }
        best
    }

    /// Moves every switch once, the one that gains most first, and goes back to the best division met.
    fn pass(&self, side: &mut [bool]) -> Option<i64> {
        let most = self.hosts.iter().copied().max().unwrap_or(0);
        let mut gains: Vec<i64> = (0..side.len()).map(|s| self.gain(side, s)).collect();
        let mut is_moved = vec![false; side.len()];
        let mut heaps = [BinaryHeap::new(), BinaryHeap::new()];
        for (switch, &gain) in gains.iter().enumerate() {
            heaps[usize::from(side[switch])].push((gain, switch));
        }
        let (mut cut, mut difference) = (self.cut(side), self.difference(side));
        let mut moves: Vec<usize> = Vec::new();
        let mut best: Option<(i64, usize)> = None;
        loop {
            let mut choice: Option<(i64, usize)> = None;
            for (from, heap) in heaps.iter_mut().enumerate() {
                while let Some(&(gain, switch)) = heap.peek() {
                    if is_moved[switch] || gains[switch] != gain {
                        heap.pop();
                        continue;
                    }
                    let change = if from == 1 { -2 } else { 2 } * self.hosts[switch];
                    let after = (difference + change).abs();
                    let fits = after <= self.slack + 2 * most || after < difference.abs();
                    if fits && choice.is_none_or(|best| (gain, switch) > best) {
                        choice = Some((gain, switch));
                    }
                    break;
                }
            }
            let Some((gain, switch)) = choice else {
                break;
            };
            is_moved[switch] = true;
            side[switch] = !side[switch];
            difference += 2 * if side[switch] {
                self.hosts[switch]
            } else {
                -self.hosts[switch]
            };
            cut -= gain;
            moves.push(switch);
            if difference.abs() <= self.slack && best.is_none_or(|(least, _)| cut < least) {
                best = Some((cut, moves.len()));
            }
            for &other in &self.neighbors[switch] {
                let other = other as usize;
                gains[other] += if side[other] == side[switch] { -2 } else { 2 };
                if !is_moved[other] {
                    heaps[usize::from(side[other])].push((gains[other], other));
                }
            }
        }
        let kept = best.map_or(0, |(_, kept)| kept);
        for &switch in &moves[kept..] {
            side[switch] = !side[switch];
        }
        best.map(|(cut, _)| cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{built, context};

    fn graph(text: &str) -> Graph {
        built(text, &context())
    }

    /// Small enough to try all: closed forms, and the local search finds the minimum.
    #[test]
    fn closed_forms_and_search_agree_with_trying_all() {
        for (text, known) in [
            ("Ring(switches: 8)", Some(2)),
            ("Ring(switches: 7)", None),
            ("Mesh(radix: [4, 4])", Some(4)),
            ("Mesh(radix: [2, 6])", Some(2)),
            ("Mesh(radix: [3, 5])", None),
            ("Torus(radix: [4, 4])", Some(8)),
            ("Torus(radix: [2, 4], hosts_per_switch: 3)", Some(4)),
            ("Hypercube(dimensions: 4)", Some(8)),
            ("Complete(switches: 8)", Some(16)),
            ("Complete(switches: 7)", Some(12)),
            ("HyperX(sizes: [4, 4], multiplicity: [2, 2])", Some(32)),
            ("HyperX(sizes: [2, 5])", Some(5)),
            ("HyperX(sizes: [3, 3])", None),
            ("KAryNTree(k: 4, n: 2)", Some(8)),
            ("KAryNTree(k: 2, n: 3)", Some(4)),
            (
                "LeafSpine(leaves: 6, spines: 3, hosts_per_leaf: 6, parallel_links: 2)",
                Some(18),
            ),
            ("LeafSpine(leaves: 6, spines: 2, hosts_per_leaf: 6)", None),
            ("Petersen()", None),
            ("Kautz(degree: 2, k: 2)", None),
            ("Dragonfly(p: 1, a: 2, h: 2)", None),
            ("EnrichedTree(k: 2, n: 3)", None),
        ] {
            let graph = graph(text);
            let network = Network::new(&graph);
            let least = network.least_of_all();
            assert_eq!(network.search(&graph), least, "{text}");
            assert_eq!(closed_form(&graph), known, "{text}");
            if let Some(known) = known {
                assert_eq!(known, least, "{text}");
            }
        }
    }

    #[test]
    fn known_graphs_have_their_widths() {
        // five links at least cross every balanced cut of the Petersen graph
        let petersen = bisection(&graph("Petersen()")).unwrap();
        assert_eq!((petersen.links, petersen.certainty), (5, Certainty::Exact));
        let torus = bisection(&graph("Torus(radix: [10, 10, 10])")).unwrap();
        assert_eq!((torus.links, torus.certainty), (200, Certainty::Known));
        let tree = graph("Tree(arity: 1, levels: 1)");
        assert_eq!(bisection(&tree), None);
    }

    #[test]
    fn the_search_is_near_the_closed_form_of_larger_networks() {
        for (text, known) in [
            ("Torus(radix: [8, 8])", 16),
            ("Mesh(radix: [8, 8])", 8),
            ("Hypercube(dimensions: 6)", 32),
        ] {
            let graph = graph(text);
            assert_eq!(Network::new(&graph).search(&graph), known, "{text}");
        }
        let random = graph("Irregular(switches: 32, degree: 4, seed: 1)");
        let found = bisection(&random).unwrap();
        assert_eq!(found.certainty, Certainty::AtMost);
        assert!((8..24).contains(&found.links), "{found:?}");
    }
}
