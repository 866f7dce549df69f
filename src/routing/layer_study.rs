//! How many layers LASH needs on random networks: the published curves of layers against links.
//!
//! Guarantees: the same for every number of threads; each network has a stream of its own.
//! Cost: per network that of `layers.rs`; networks of a point run in parallel.
//!
//! # Algorithm
//! 1. Networks are drawn by [`recursive_links`]; every source has a breadth-first tree with neighbours in order of
//!    creation, so that one shortest path per pair is fixed by its source.
//! 2. Layers are filled first-fit in index order, without balancing.
//!
//! References: [`LASH`](crate::references::LASH)

use super::layers::{self, Granularity, NO_LAYER, Options, Order, Paths};
use crate::rng::{Purpose, stream};
use crate::topology::random_links::recursive_links;
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
    let counts: Vec<u32> = (0..networks)
        .into_par_iter()
        .map(|number| layers_of(switches, links, granularity, number, seed))
        .collect();
    Point {
        switches,
        links,
        granularity,
        mean: f64::from(counts.iter().sum::<u32>()) / f64::from(networks.max(1)),
        least: counts.iter().copied().min().unwrap_or(0),
        most: counts.iter().copied().max().unwrap_or(0),
    }
}

/// Layers of one network; granularities see the same networks.
fn layers_of(switches: u32, links: u32, granularity: Granularity, number: u32, seed: u64) -> u32 {
    // 20 bits for the network, 24 for links, 20 for switches
    let id = u64::from(switches) << 44 | u64::from(links) << 20 | u64::from(number);
    let mut rng = stream(seed, Purpose::Topology, id);
    let trees = Trees::new(
        switches as usize,
        &recursive_links(switches, links, &mut rng),
    );
    let options = Options {
        granularity,
        order: Order::Index,
        balance: false,
        most: usize::from(NO_LAYER) - 1,
        seed,
    };
    layers::assign(&trees, &options).fill.len().max(1) as u32
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::layers::{Layers, assign, upper_bound};

    fn options(granularity: Granularity) -> Options {
        Options {
            granularity,
            order: Order::Index,
            balance: false,
            most: 254,
            seed: 1,
        }
    }

    /// A ring whose trees go clockwise on ties.
    fn ring(switches: u32) -> Trees {
        let neighbors = |s: u32| {
            let back = (s + switches - 1) % switches;
            vec![((s + 1) % switches, 2 * s), (back, 2 * back + 1)]
        };
        let neighbors: Vec<_> = (0..switches).map(neighbors).collect();
        let channels = (0..switches).flat_map(|s| {
            let next = (s + 1) % switches;
            [Some((s, next)), Some((next, s))]
        });
        Trees::search(&neighbors, channels.collect())
    }

    /// Sources per layer.
    fn sources(found: &Layers, switches: usize) -> Vec<u64> {
        let others = switches as u64 - 1;
        found.fill.iter().map(|pairs| pairs / others).collect()
    }

    #[test]
    fn trees_and_complete_networks_need_one_layer() {
        // A1, A2
        for switches in [2, 8, 16, 32] {
            for granularity in [Granularity::Source, Granularity::Pair] {
                for links in [switches - 1, switches * (switches - 1) / 2] {
                    assert_eq!(point(switches, links, granularity, 10, 1).most, 1);
                }
            }
        }
    }

    #[test]
    fn rings_need_two_layers_with_the_stated_fill() {
        // A5, A6
        for switches in 4..=64u64 {
            let found = assign(&ring(switches as u32), &options(Granularity::Source));
            let first = if switches % 2 == 0 {
                switches / 2 + 1
            } else {
                u64::midpoint(switches, 3)
            };
            let fill = sources(&found, switches as usize);
            assert_eq!(fill, [first, switches - first], "{switches} switches");
        }
        assert_eq!(
            assign(&ring(3), &options(Granularity::Source)).fill.len(),
            1
        );
    }

    #[test]
    fn half_the_switches_bound_the_layers() {
        // A3, A4 (two sources always fit), A12
        for number in 0..60 {
            let (switches, links) = (8 + number % 30, 12 + number * 3 % 80);
            let source = layers_of(switches, links, Granularity::Source, number, 5);
            let pair = layers_of(switches, links, Granularity::Pair, number, 5);
            assert!(source as usize <= upper_bound(switches as usize));
            assert!(pair <= source);
        }
    }

    #[test]
    fn peaks_are_as_published() {
        // A7, A10, A12, A16 near the published peaks; the whole sweep is the ignored test
        let peak =
            |switches, links, networks| point(switches, links, Granularity::Source, networks, 1);
        for (switches, links, networks, mean) in [
            (16, 24, 100, 1.9),
            (32, 60, 100, 2.8),
            (64, 116, 60, 4.8),
            (128, 256, 20, 9.25),
        ] {
            let found = peak(switches, links, networks);
            assert!((found.mean - mean).abs() <= 0.5, "{found:?}");
            assert!(found.most <= 12, "{found:?}");
        }
        let single = point(64, 116, Granularity::Pair, 30, 1);
        assert!(
            single.most <= 4 && (single.mean - 3.2).abs() < 0.4,
            "{single:?}"
        );
    }

    #[test]
    #[ignore = "release, minutes: every number of links of four sizes, 100 networks each"]
    fn whole_sweep_peaks_are_as_published() {
        for (switches, mean) in [(16u32, 1.905), (32, 2.8), (64, 4.8), (128, 9.25)] {
            let points: Vec<Point> = link_counts(switches)
                .into_iter()
                .map(|links| point(switches, links, Granularity::Source, 100, 1))
                .collect();
            let best = points
                .iter()
                .max_by(|a, b| a.mean.total_cmp(&b.mean))
                .unwrap();
            assert!((best.mean - mean).abs() <= 0.5, "{best:?}");
            assert!(points.iter().all(|point| point.most <= 12));
            let most = upper_bound(switches as usize) as u32;
            assert!(points.iter().all(|point| point.most <= most));
            if switches >= 32 {
                // A8
                let ratio = f64::from(best.links) / f64::from(switches);
                assert!((1.5..=2.5).contains(&ratio), "{best:?}");
            }
        }
    }

    #[test]
    fn results_do_not_depend_on_threads() {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| point(32, 64, Granularity::Pair, 8, 3))
        };
        assert_eq!(on(1), on(3));
    }
}
