//! Static load of every channel under uniform traffic: how many (source, destination) pairs use it.
//!
//! Cost: O(switches * hosts), in parallel over destinations.

use super::Tables;
use super::walk::{NONE, Rows, Ways, blocks, columns};
use crate::ids::{ChannelId, HostId, SlId};
use crate::topology::{Channel, Graph};
use rayon::prelude::*;
use std::ops::RangeInclusive;

/// Paths per channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelLoads {
    /// Ordered host pairs whose path uses the channel, `[channel]`, host channels included.
    pub paths: Vec<u64>,
    between_switches: Vec<bool>,
}

impl ChannelLoads {
    /// Loads when every host sends to every other host; pairs without a path count nowhere.
    pub fn uniform(graph: &Graph, tables: &Tables) -> Self {
        let all: Vec<HostId> = graph.host_ids().collect();
        let rows = Rows::new(graph, tables);
        let senders = rows.senders(graph, &all);
        let sums = blocks(all.len()).into_par_iter().fold(
            || Sums::new(graph, &rows),
            |mut sums, hosts| {
                let columns = columns(&tables.next, all.len(), &hosts);
                let mut ways = Ways::default();
                for (host, ports) in hosts.zip(&columns) {
                    let destination = HostId::from(host);
                    ways.follow(graph, &rows, ports, destination);
                    let own = rows.of_host(graph, destination) as usize;
                    if sums.count(own, &ways, &senders) {
                        sums.to_itself[host] = true;
                    }
                }
                sums
            },
        );
        let sums = sums.reduce(|| Sums::new(graph, &rows), Sums::add);
        let mut paths = sums.paths;
        // every host sends to all others that its row has ways to, over its own channel
        for host in graph.host_ids() {
            if let Some(&reached) = sums.reached.get(rows.of_host(graph, host) as usize) {
                let itself = u64::from(sums.to_itself[host.index()]);
                paths[graph.host_channel(host).index()] = reached - itself;
            }
        }
        Self::new(graph, paths)
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

    /// The load of uniform traffic at which the first channel, host links included, is busy all the time; `None` without
    /// paths.
    pub fn throughput_bound(&self, graph: &Graph) -> Option<ThroughputBound> {
        // a host that sends one flit per cycle sends 1 / others to each other host
        let others = graph.hosts().len().checked_sub(1).filter(|&n| n > 0)?;
        self.bound(graph, 1.0 / others as f64)
    }

    /// The same when every path is all that its host sends, as under a permutation.
    pub fn permutation_bound(&self, graph: &Graph) -> Option<ThroughputBound> {
        self.bound(graph, 1.0)
    }

    /// The load at which the first channel is busy all the time when a host sends `share` of it on each of its paths.
    fn bound(&self, graph: &Graph, share: f64) -> Option<ThroughputBound> {
        let pace = |channel: &Channel| f64::from(channel.timing.cycles_per_flit);
        let channels = graph.channels().iter().zip(&self.paths);
        let busiest = channels
            .map(|(channel, &paths)| paths as f64 * share * pace(channel))
            .fold(0.0, f64::max);
        let host = |channel: &&Channel| channel.from.host().is_some();
        let slowest = graph
            .channels()
            .iter()
            .filter(host)
            .map(pace)
            .fold(0.0, f64::max);
        (busiest > 0.0).then(|| ThroughputBound {
            of_host_link: (slowest / busiest).min(1.0),
            flits_per_cycle: 1.0 / busiest,
        })
    }

    /// Mean load of the channels between switches, unused ones included \[paths\].
    pub fn mean(&self) -> f64 {
        let (count, sum) = self.inner().fold((0u64, 0), |(count, sum), (_, paths)| {
            (count + 1, sum + paths)
        });
        sum as f64 / count.max(1) as f64
    }
}

/// What traffic can reach at most, from static loads alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThroughputBound {
    /// Share of the rate of a host link, of the slowest if they differ; at most 1.
    pub of_host_link: f64,
    /// The same rate \[flits per host per cycle\].
    pub flits_per_cycle: f64,
}

/// Paths to some destinations.
struct Sums {
    /// Paths over every channel but those from hosts.
    paths: Vec<u64>,
    /// Destinations that each row has a way to.
    reached: Vec<u64>,
    /// Whether the row of what a host sends has a way back to it, `[host]`.
    to_itself: Vec<bool>,
    /// Paths through each row to the destination at hand.
    through: Vec<u64>,
}

impl Sums {
    fn new(graph: &Graph, rows: &Rows) -> Self {
        Self {
            paths: vec![0; graph.channels().len()],
            reached: vec![0; rows.switch.len()],
            to_itself: vec![false; graph.hosts().len()],
            through: vec![0; rows.switch.len()],
        }
    }

    /// Adds the paths to the destination of `ways`, whose own packets start in row `own`; tells whether that has
    /// a way to it.
    fn count(&mut self, own: usize, ways: &Ways, senders: &[u32]) -> bool {
        for (through, &senders) in self.through.iter_mut().zip(senders) {
            *through = u64::from(senders);
        }
        let arrives = ways.hops.get(own).is_some_and(|&hops| hops != NONE);
        if arrives {
            self.through[own] -= 1;
        }
        for &row in &ways.order {
            let row = row as usize;
            let through = self.through[row];
            self.paths[ways.exit[row] as usize] += through;
            self.reached[row] += 1;
            let parent = ways.parent[row];
            if parent != NONE {
                self.through[parent as usize] += through;
            }
        }
        arrives
    }

    fn add(mut self, other: Self) -> Self {
        let add = |sums: &mut [u64], others: Vec<u64>| {
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum += other;
            }
        };
        add(&mut self.paths, other.paths);
        add(&mut self.reached, other.reached);
        for (one, other) in self.to_itself.iter_mut().zip(other.to_itself) {
            *one |= other;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SwitchId;
    use crate::rng::{Purpose, below, stream};
    use crate::routing::conformance::{budget, engine, proof};
    use crate::routing::test_graphs::{grid, link, switches, tree};
    use crate::topology::{ChannelTiming, Endpoint, GraphBuilder};

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
            for _ in 0..below(&mut rng, 12) {
                let place = below(&mut rng, tables.next.len() as u32) as usize;
                tables.next[place] = below(&mut rng, 9) as u8;
            }
            let hosts = || graph.host_ids();
            let pairs = hosts().flat_map(|s| hosts().map(move |d| (s, d)));
            let pairs = pairs.filter(|(s, d)| s != d);
            let all = ChannelLoads::of_pairs(&graph, &tables, pairs);
            assert_eq!(ChannelLoads::uniform(&graph, &tables), all, "seed {seed}");
        }
    }

    #[test]
    fn the_throughput_bound_is_a_share_of_the_host_link() {
        let bound = |cycles_per_flit: u32| {
            let mut builder = GraphBuilder::new();
            switches(&mut builder, 2, 5);
            link(&mut builder, (0, 1), (1, 1));
            for number in 0..8 {
                let timing = ChannelTiming {
                    cycles_per_flit,
                    latency: 1,
                };
                let host = builder.add_host(format!("H{number}"), 0);
                let end = Endpoint::Switch(SwitchId(number / 4), (number % 4) as u16 + 2);
                let from = Endpoint::Host(host);
                builder.connect(from, end, timing).unwrap();
            }
            let graph = builder.build().unwrap();
            let (tables, _) = proof(&graph, "MinHop()", 1);
            let loads = ChannelLoads::uniform(&graph, &tables);
            assert_eq!(loads.histogram().last(), Some(&(15..=16, 2)));
            let bound = loads.throughput_bound(&graph).unwrap();
            (bound.of_host_link, bound.flits_per_cycle)
        };
        // 16 of 7 * 8 paths each way over the link between the switches
        assert_eq!(bound(1), (7.0 / 16.0, 7.0 / 16.0));
        assert_eq!(bound(2), (7.0 / 8.0, 7.0 / 16.0));
        // four times slower host links are the bottleneck themselves
        assert_eq!(bound(4), (1.0, 0.25));
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
            let bound = loads.permutation_bound(&graph).unwrap();
            assert!((bound.of_host_link - 1.0 / most as f64).abs() < 1e-12);
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
