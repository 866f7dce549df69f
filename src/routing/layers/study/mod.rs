//! How many layers LASH needs on random networks: the published curves of layers against links.
//!
//! Guarantees: the same for every number of threads; each network has a stream of its own.
//! Cost: per network that of `assign.rs`; networks of a point run in parallel.
//!
//! # Algorithm
//! 1. Networks are drawn by [`recursive_links`]; every source has a breadth-first tree with neighbours in order of
//!    creation, so that one shortest path per pair is fixed by its source.
//! 2. Layers are filled first-fit in index order, without balancing.
//!
//! References: [`LASH`](crate::references::LASH)

#[cfg(test)]
mod curves;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod ways;

use super::{Granularity, NO_LAYER, Options, Order, Paths, Work, assign};
use crate::rng::{Purpose, stream};
use crate::topology::generators::irregular::random_links::recursive_links;
use rayon::prelude::*;

/// Layers at one number of links, over all networks drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Switches of each network.
    pub switches: u32,
    /// Links of each network.
    pub links: u32,
    /// What was placed at a time.
    pub granularity: Granularity,
    /// Mean number of layers.
    pub mean: f64,
    /// Fewest layers of a network.
    pub least: u32,
    /// Most layers of a network.
    pub most: u32,
    /// Units placed in a network.
    pub units: u64,
    /// Mean number of dependencies that searches for cycles looked at.
    pub searched: f64,
}

/// Numbers of links from a tree to a complete network: steps of an eighth of the switches up to four times the
/// switches, then a quarter more each time.
pub fn link_counts(switches: u32) -> Vec<u32> {
    let tree = switches.saturating_sub(1);
    let complete = u64::from(switches) * u64::from(tree) / 2;
    let complete = u32::try_from(complete).unwrap_or(u32::MAX);
    let mut counts = vec![tree];
    let mut links = tree;
    while links < complete {
        let step = if links / 4 < switches {
            (switches / 8).max(1)
        } else {
            links / 4
        };
        links = links.saturating_add(step).min(complete);
        counts.push(links);
    }
    counts
}

/// Draws `networks` networks and counts their layers.
pub fn point(
    switches: u32,
    links: u32,
    granularity: Granularity,
    networks: u32,
    seed: u64,
) -> Point {
    let found: Vec<Count> = (0..networks)
        .into_par_iter()
        .map(|number| count(switches, links, granularity, number, seed))
        .collect();
    let layers = || found.iter().map(|count| count.layers);
    let mean = |sum: u64| sum as f64 / f64::from(networks.max(1));
    Point {
        switches,
        links,
        granularity,
        mean: mean(layers().map(u64::from).sum()),
        least: layers().min().unwrap_or(0),
        most: layers().max().unwrap_or(0),
        units: found.first().map_or(0, |count| count.work.units),
        searched: mean(found.iter().map(|count| count.work.searched).sum()),
    }
}

/// One network.
struct Count {
    layers: u32,
    work: Work,
}

/// Counts the layers of one network; granularities see the same networks.
fn count(switches: u32, links: u32, granularity: Granularity, number: u32, seed: u64) -> Count {
    let options = Options {
        granularity,
        order: Order::Index,
        balance: false,
        most: usize::from(NO_LAYER) - 1,
        least: 0,
        seed,
    };
    let found = assign(&network(switches, links, number, seed), &options);
    Count {
        layers: found.fill.len().max(1) as u32,
        work: found.work,
    }
}

/// The paths of one network.
fn network(switches: u32, links: u32, number: u32, seed: u64) -> Trees {
    // 20 bits for the network, 24 for links, 20 for switches
    let id = u64::from(switches) << 44 | u64::from(links) << 20 | u64::from(number);
    let mut rng = stream(seed, Purpose::Topology, id);
    Trees::new(
        switches as usize,
        &recursive_links(switches, links, &mut rng),
    )
}

/// Breadth-first trees from every switch.
struct Trees {
    switches: usize,
    /// Switches of each channel: from, to.
    channels: Vec<Option<(u32, u32)>>,
    /// (switch before, channel from there) of `[source][switch]`.
    before: Vec<(u32, u32)>,
}

impl Trees {
    fn new(switches: usize, links: &[(u32, u32)]) -> Self {
        let mut neighbors = vec![Vec::new(); switches];
        for (&(a, b), link) in links.iter().zip(0u32..) {
            neighbors[a as usize].push((b, 2 * link));
            neighbors[b as usize].push((a, 2 * link + 1));
        }
        let both = |&(a, b): &(u32, u32)| [Some((a, b)), Some((b, a))];
        Self::search(&neighbors, links.iter().flat_map(both).collect())
    }

    /// Trees over (neighbour, channel) of each switch, in the order they are looked at.
    fn search(neighbors: &[Vec<(u32, u32)>], channels: Vec<Option<(u32, u32)>>) -> Self {
        let switches = neighbors.len();
        let none = (u32::MAX, u32::MAX);
        let mut before = vec![none; switches * switches];
        for (source, row) in before.chunks_mut(switches.max(1)).enumerate() {
            let mut queue = vec![source as u32];
            row[source] = (source as u32, u32::MAX);
            let mut head = 0;
            while let Some(&switch) = queue.get(head) {
                head += 1;
                for &(next, channel) in &neighbors[switch as usize] {
                    if row[next as usize] == none {
                        row[next as usize] = (switch, channel);
                        queue.push(next);
                    }
                }
            }
        }
        Self {
            switches,
            channels,
            before,
        }
    }
}

impl Paths for Trees {
    fn ends(&self) -> usize {
        self.switches
    }

    fn channels(&self) -> Vec<Option<(u32, u32)>> {
        self.channels.clone()
    }

    fn path(&self, source: usize, destination: usize, channels: &mut Vec<u32>) {
        let row = &self.before[source * self.switches..][..self.switches];
        let start = channels.len();
        let mut switch = destination;
        while switch != source {
            let (before, channel) = row[switch];
            if channel == u32::MAX {
                return channels.truncate(start);
            }
            channels.push(channel);
            switch = before as usize;
        }
        channels[start..].reverse();
    }
}
