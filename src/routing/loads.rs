//! Static load of every channel under uniform traffic: how many (source, destination) pairs use it.
//!
//! Cost: O(switches * hosts), in parallel over destinations.

use super::Tables;
use super::walk::{NONE, Rows, Ways, blocks, columns};
use crate::ids::{ChannelId, HostId, SlId};
use crate::topology::{Channel, Graph};
use rayon::prelude::*;

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
        let channels = graph.channels().len();
        let add = |mut sum: Vec<u64>, part: Vec<u64>| {
            for (sum, part) in sum.iter_mut().zip(part) {
                *sum += part;
            }
            sum
        };
        let paths = blocks(all.len())
            .into_par_iter()
            .fold(
                || vec![0; channels],
                |mut paths, hosts| {
                    let columns = columns(&tables.next, all.len(), &hosts);
                    let mut ways = Ways::default();
                    for (host, ports) in hosts.zip(&columns) {
                        let destination = HostId::from(host);
                        ways.follow(graph, &rows, ports, destination);
                        count(graph, &rows, destination, &ways, &senders, &mut paths);
                    }
                    paths
                },
            )
            .reduce(|| vec![0; channels], add);
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

    /// Mean load of the channels between switches, unused ones included \[paths\].
    pub fn mean(&self) -> f64 {
        let (count, sum) = self.inner().fold((0u64, 0), |(count, sum), (_, paths)| {
            (count + 1, sum + paths)
        });
        sum as f64 / count.max(1) as f64
    }
}

/// Adds the paths to one destination.
fn count(
    graph: &Graph,
    rows: &Rows,
    destination: HostId,
    ways: &Ways,
    senders: &[u32],
    paths: &mut [u64],
) {
    let own = rows.of_host(graph, destination);
    let mut through = vec![0u64; senders.len()];
    for &row in &ways.order {
        let itself = u32::from(own == row);
        let row = row as usize;
        if ways.hops[row] == NONE {
            continue;
        }
        through[row] += u64::from(senders[row] - itself);
        paths[ways.exit[row] as usize] += through[row];
        let parent = ways.parent[row];
        if parent != NONE {
            through[parent as usize] += through[row];
        }
    }
    // injection: every host sends to this one over its own channel, if its switch has a way
    for host in graph.host_ids().filter(|&host| host != destination) {
        let row = rows.of_host(graph, host);
        if row != NONE && ways.hops[row as usize] != NONE {
            paths[graph.host_channel(host).index()] += 1;
        }
    }
}
