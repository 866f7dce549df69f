//! Distances of all hosts at once.
//!
//! Cost: O(host-bearing switches * channels / 64 * diameter) at worst, in practice close to that without
//! the diameter; memory O(switches) per thread. The result does not depend on the number of threads.
//!
//! # Algorithm
//!
//! Breadth-first search from 64 switches at a time, one bit of a word per search.

use crate::ids::SwitchId;
use crate::topology::Graph;
use rayon::prelude::*;

/// A largest set of switches that can reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component {
    /// Its lowest switch.
    pub first: SwitchId,
    /// Number of its switches.
    pub switches: usize,
    /// Number of hosts on its switches.
    pub hosts: usize,
}

/// Searches that share a word.
const BATCH: usize = u64::BITS as usize;

/// The switches of a graph with distinct neighbours, packed for searching.
pub(super) struct Network {
    /// First neighbour of each switch; one more entry than switches.
    first: Vec<usize>,
    /// Neighbours, grouped by switch, without repeats.
    neighbors: Vec<u32>,
    /// Hosts per switch.
    pub(super) hosts: Vec<u64>,
    /// Links between switches, parallel ones counted each.
    pub(super) links: usize,
    /// Those of them that lead from a switch to itself.
    pub(super) self_links: usize,
}

impl Network {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut network = Self {
            first: vec![0],
            neighbors: Vec::new(),
            hosts: Vec::new(),
            links: 0,
            self_links: 0,
        };
        let mut own: Vec<u32> = Vec::new();
        for switch in graph.switch_ids() {
            own.clear();
            own.extend(graph.neighbors(switch).map(|(.., neighbor)| neighbor.0));
            network.links += own.len();
            let all = own.len();
            own.retain(|&neighbor| neighbor != switch.0);
            network.self_links += all - own.len();
            own.sort_unstable();
            own.dedup();
            network.neighbors.extend(&own);
            network.first.push(network.neighbors.len());
            network
                .hosts
                .push(graph.attached_hosts(switch).count() as u64);
        }
        network.links /= 2;
        network.self_links /= 2;
        network
    }

    fn neighbors(&self, switch: u32) -> &[u32] {
        let i = switch as usize;
        &self.neighbors[self.first[i]..self.first[i + 1]]
    }

    pub(super) fn components(&self) -> Vec<Component> {
        let mut is_seen = vec![false; self.hosts.len()];
        let mut components = Vec::new();
        for first in 0..self.hosts.len() {
            if is_seen[first] {
                continue;
            }
            is_seen[first] = true;
            let mut component = Component {
                first: SwitchId::from(first),
                switches: 0,
                hosts: 0,
            };
            let mut stack = vec![first as u32];
            while let Some(switch) = stack.pop() {
                component.switches += 1;
                component.hosts += self.hosts[switch as usize] as usize;
                for &neighbor in self.neighbors(switch) {
                    if !is_seen[neighbor as usize] {
                        is_seen[neighbor as usize] = true;
                        stack.push(neighbor);
                    }
                }
            }
            components.push(component);
        }
        components
    }

    /// Ordered pairs of different hosts by distance; ends with the largest distance of host-bearing switches.
    pub(super) fn pairs_at_distance(&self) -> Vec<u64> {
        let sources: Vec<u32> = (0..self.hosts.len() as u32)
            .filter(|&switch| self.hosts[switch as usize] > 0)
            .collect();
        let of_batches: Vec<Vec<u64>> = sources
            .par_chunks(BATCH)
            .map_init(
                || Search::new(self.hosts.len()),
                |search, batch| search.run(self, batch),
            )
            .collect();
        let mut pairs = Vec::new();
        for batch in of_batches {
            pairs.resize(pairs.len().max(batch.len()), 0);
            for (sum, count) in pairs.iter_mut().zip(batch) {
                *sum += count;
            }
        }
        pairs
    }
}

/// Up to 64 searches at once; bit `i` of a word belongs to search `i`.
struct Search {
    /// Searches that have reached a switch.
    seen: Vec<u64>,
    /// Searches that reached a switch in the step before.
    reached: Vec<u64>,
    /// Searches that reach a switch in this step, some of them not for the first time.
    arriving: Vec<u64>,
}

impl Search {
    fn new(switches: usize) -> Self {
        Self {
            seen: vec![0; switches],
            reached: vec![0; switches],
            arriving: vec![0; switches],
        }
    }

    /// Ordered host pairs by distance, the first host being on one of `sources`.
    fn run(&mut self, network: &Network, sources: &[u32]) -> Vec<u64> {
        self.seen.fill(0);
        for (bit, &source) in sources.iter().enumerate() {
            self.seen[source as usize] = 1 << bit;
            self.reached[source as usize] = 1 << bit;
        }
        let source_hosts: Vec<u64> = sources
            .iter()
            .map(|&source| network.hosts[source as usize])
            .collect();
        // a host is not its own partner
        let mut pairs = vec![source_hosts.iter().map(|hosts| hosts * (hosts - 1)).sum()];
        let mut front = sources.to_vec();
        let mut distance = 0;
        while !front.is_empty() {
            distance += 1;
            front = self.step(network, front);
            for &switch in &front {
                let hosts = network.hosts[switch as usize];
                if hosts == 0 {
                    continue;
                }
                pairs.resize(distance + 1, 0);
                let mut word = self.reached[switch as usize];
                while word != 0 {
                    pairs[distance] += hosts * source_hosts[word.trailing_zeros() as usize];
                    word &= word - 1;
                }
            }
        }
        pairs
    }

    /// Moves all searches one hop on; gives the switches that some search reaches for the first time.
    fn step(&mut self, network: &Network, front: Vec<u32>) -> Vec<u32> {
        let mut touched = Vec::new();
        for switch in front {
            let word = std::mem::take(&mut self.reached[switch as usize]);
            for &neighbor in network.neighbors(switch) {
                let arriving = &mut self.arriving[neighbor as usize];
                if *arriving == 0 {
                    touched.push(neighbor);
                }
                *arriving |= word;
            }
        }
        touched.retain(|&switch| {
            let i = switch as usize;
            let new = std::mem::take(&mut self.arriving[i]) & !self.seen[i];
            self.seen[i] |= new;
            self.reached[i] = new;
            new != 0
        });
        touched
    }
}
