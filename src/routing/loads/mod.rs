//! Static load of every channel under uniform traffic: how many (source, destination) pairs use it.
//!
//! Cost: O(switches * hosts), in parallel over destinations.

pub mod asked;
pub mod bound;
pub mod credit_loop;
pub(crate) mod cuts;
pub mod demand;
pub(super) mod demand_loads;
mod drawn;
pub mod lane_loads;
pub mod waits;

use super::Tables;
use crate::ids::{ChannelId, HostId, SlId};
use crate::topology::{Channel, Graph};
use demand::Demand;
use demand_loads::amounts;
use std::ops::RangeInclusive;

/// Paths per channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelLoads {
    /// Ordered host pairs whose path uses the channel, `[channel]`, host channels included.
    pub paths: Vec<u64>,
    between_switches: Vec<bool>,
}

/// What a demand takes of every channel, as a part of it, `[channel]`.
pub fn parts_of_channels(graph: &Graph, tables: &Tables, demand: &Demand) -> Vec<f64> {
    let amounts = amounts(graph, tables, demand);
    let channels = amounts.into_iter().zip(graph.channels());
    let parts = channels.map(|(amount, channel)| {
        amount as f64 / demand::UNIT * f64::from(channel.timing.cycles_per_flit)
    });
    parts.collect()
}

impl ChannelLoads {
    /// Loads when every host sends to every other host; pairs without a path count nowhere.
    pub fn uniform(graph: &Graph, tables: &Tables) -> Self {
        let pairs = amounts(graph, tables, &Demand::pairs(graph.hosts().len()));
        Self::new(graph, pairs.into_iter().map(|count| count as u64).collect())
    }

    /// Loads of the given (source, destination) pairs, such as a permutation.
    pub fn of_pairs(
        graph: &Graph,
        tables: &Tables,
        pairs: impl IntoIterator<Item = (HostId, HostId)>,
    ) -> Self {
        let mut paths = vec![0; graph.channels().len()];
        for (source, destination) in pairs {
            let path = tables.path(graph, source, destination, SlId(0));
            for (channel, _) in path.into_iter().flatten() {
                paths[channel.index()] += 1;
            }
        }
        Self::new(graph, paths)
    }

    fn new(graph: &Graph, paths: Vec<u64>) -> Self {
        let between = |c: &Channel| c.from.switch().is_some() && c.to.switch().is_some();
        Self {
            paths,
            between_switches: graph.channels().iter().map(between).collect(),
        }
    }

    fn inner(&self) -> impl Iterator<Item = (ChannelId, u64)> {
        let paths = self.paths.iter().zip(&self.between_switches).enumerate();
        paths
            .filter(|(_, (_, inner))| **inner)
            .map(|(i, (&paths, _))| (ChannelId::from(i), paths))
    }

    /// The fullest channel between switches, the first on ties; `None` without such channels.
    pub fn fullest(&self) -> Option<(ChannelId, u64)> {
        self.inner()
            .min_by_key(|&(channel, paths)| (std::cmp::Reverse(paths), channel))
    }

    /// Largest load of a channel between switches \[paths\].
    pub fn max(&self) -> u64 {
        self.fullest().map_or(0, |(_, paths)| paths)
    }

    /// Channels between switches by load: ranges of equal width, at most eight, from 0 to the largest load.
    pub fn histogram(&self) -> Vec<(RangeInclusive<u64>, u64)> {
        let width = (self.max() + 1).div_ceil(8).max(1);
        let bins = self.max() / width + 1;
        let mut histogram: Vec<_> = (0..bins)
            .map(|bin| (bin * width..=(bin * width + width - 1).min(self.max()), 0))
            .collect();
        for (_, paths) in self.inner() {
            histogram[(paths / width) as usize].1 += 1;
        }
        histogram
    }

    /// Mean load of the channels between switches, unused ones included \[paths\].
    pub fn mean(&self) -> f64 {
        let (count, sum) = self.inner().fold((0u64, 0), |(count, sum), (_, paths)| {
            (count + 1, sum + paths)
        });
        sum as f64 / count.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, below, stream};
    use crate::routing::tests::conformance::{budget, engine, proof};
    use crate::routing::tests::graphs::{grid, tree};

    #[test]
    fn uniform_loads_are_the_sum_of_all_paths() {
        let graph = grid(&[4, 4], true, 1);
        let (tables, proof) = proof(&graph, "DimensionOrder(ties: Positive)", 2);
        let loads = ChannelLoads::uniform(&graph, &tables);
        let hosts = || graph.host_ids();
        let pairs = hosts().flat_map(|s| hosts().filter(move |&d| d != s).map(move |d| (s, d)));
        assert_eq!(loads, ChannelLoads::of_pairs(&graph, &tables, pairs));
        // the published load of OpenSM's torus-2QoS on this torus
        assert_eq!(loads.max(), 12);
        let sum = proof.mean_hops * proof.reachable_pairs as f64;
        assert!((loads.mean() - sum / 64.0).abs() < 1e-9);
        let balanced = engine("DimensionOrder()")
            .route(&graph, budget(2), 1)
            .unwrap();
        assert_eq!(ChannelLoads::uniform(&graph, &balanced).max(), 8);
    }

    /// Ways of hosts of one switch that differ, loop or end elsewhere.
    #[test]
    fn loads_of_broken_tables_are_the_sum_of_the_paths_that_arrive() {
        let graph = grid(&[3, 3], true, 3);
        let (sound, _) = proof(&graph, "MinHop(balance: Ports)", 1);
        for seed in 0..200 {
            let mut rng = stream(seed, Purpose::Routing, 0);
            let mut tables = sound.clone();
            tables.next.change(|next| {
                for _ in 0..below(&mut rng, 12) {
                    let place = below(&mut rng, next.len() as u32) as usize;
                    next[place] = below(&mut rng, 9) as u8;
                }
            });
            let hosts = || graph.host_ids();
            let pairs = hosts().flat_map(|s| hosts().map(move |d| (s, d)));
            let pairs = pairs.filter(|(s, d)| s != d);
            let all = ChannelLoads::of_pairs(&graph, &tables, pairs);
            assert_eq!(ChannelLoads::uniform(&graph, &tables), all, "seed {seed}");
        }
    }

    /// C4, C20: what the busiest channel of dimension order carries, in units of what a host sends.
    #[test]
    fn permutations_load_a_mesh_as_published() {
        let graph = grid(&[8, 8], false, 1);
        let (tables, _) = proof(&graph, "DimensionOrder()", 1);
        let transpose = |host: u32| host % 8 * 8 + host / 8;
        let shuffle = |host: u32| host << 1 & 63 | host >> 5;
        for (pattern, most) in [(transpose as fn(u32) -> u32, 7), (shuffle, 4)] {
            let pairs = (0..64).map(|host| (HostId(host), HostId(pattern(host))));
            let pairs = pairs.filter(|(from, to)| from != to);
            let loads = ChannelLoads::of_pairs(&graph, &tables, pairs);
            assert_eq!(loads.max(), most);
        }
    }

    #[test]
    fn fat_tree_shifts_are_free_of_contention() {
        let graph = tree(4, 3);
        let (tables, proof) = proof(&graph, "DModK()", 1);
        assert!(proof.minimal && proof.acyclic);
        for shift in 1..64 {
            let pairs = (0..64).map(|s| (HostId(s), HostId((s + shift) % 64)));
            assert!(
                ChannelLoads::of_pairs(&graph, &tables, pairs).max() <= 1,
                "shift {shift}"
            );
        }
    }
}
