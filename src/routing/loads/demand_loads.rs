//! What traffic in expectation asks of every channel under forwarding tables.
//!
//! # Algorithm
//! For each destination the ways of all rows form a tree: what enters at the rows is added up towards the root. Injection
//! channels get what their host sends to destinations that its row has a way to.
//!
//! Cost: O(rows * destinations that receive), in parallel over destinations; memory: sums over all channels per thread.

use super::demand::Demand;
use crate::ids::HostId;
use crate::routing::Tables;
use crate::routing::proof::walk::{NONE, Rows, Ways, blocks};
use crate::topology::Graph;
use rayon::prelude::*;

/// Amounts per channel, `[channel]`; what has no way counts nowhere.
pub(super) fn amounts(graph: &Graph, tables: &Tables, demand: &Demand) -> Vec<u128> {
    let hosts = graph.hosts().len();
    let rows = Rows::new(graph, tables);
    let entering: Vec<Vec<u128>> = demand
        .pools()
        .iter()
        .map(|pool| pool.entering(graph, &rows))
        .collect();
    let blocks = blocks(hosts);
    // a part has sums over all channels: no more parts than threads
    let least = blocks.len().div_ceil(rayon::current_num_threads()).max(1);
    let sums = blocks.into_par_iter().with_min_len(least).fold(
        || Sums::new(graph, &rows, demand),
        |mut sums, block| {
            if !block.clone().any(|host| demand.reaches(host.into())) {
                return sums;
            }
            let columns = tables.next.columns(&block);
            let mut ways = Ways::default();
            for (host, ports) in block.zip(&columns) {
                let destination = HostId::from(host);
                if demand.reaches(destination) {
                    ways.follow(graph, &rows, ports, destination);
                    sums.enter(graph, &rows, demand, &entering, destination, &ways);
                    sums.add_up(&ways);
                }
            }
            sums
        },
    );
    let sums = sums.reduce_with(Sums::add);
    let sums = sums.unwrap_or_else(|| Sums::new(graph, &rows, demand));
    let mut amounts = sums.channels;
    for host in graph.host_ids() {
        let row = rows.of_host(graph, host) as usize;
        let mut sent = sums.sent[host.index()];
        for (pool, reached) in demand.pools().iter().zip(&sums.reached) {
            sent += pool.to_each(host) * u128::from(reached.get(row).copied().unwrap_or(0));
            if sums.to_itself[host.index()] {
                sent -= pool.left_out(host);
            }
        }
        amounts[graph.host_channel(host).index()] = sent;
    }
    amounts
}

/// What the fullest channel between switches is asked for: amount times cycles per flit.
pub(in crate::routing) fn fullest(graph: &Graph, tables: &Tables, demand: &Demand) -> u128 {
    let amounts = amounts(graph, tables, demand);
    let exits = graph.switch_ids().flat_map(|s| graph.neighbors(s));
    let busy = exits.map(|(_, channel, _)| {
        let pace = graph.channel(channel).timing.cycles_per_flit;
        amounts[channel.index()] * u128::from(pace)
    });
    busy.max().unwrap_or(0)
}

/// Amounts to some destinations.
struct Sums {
    /// Over every channel but those from hosts.
    channels: Vec<u128>,
    /// Destinations of each pool that each row has a way to, `[pool][row]`.
    reached: Vec<Vec<u32>>,
    /// What each host sends in flows to one host, `[host]`.
    sent: Vec<u128>,
    /// Whether the row of what a host sends has a way back to it, `[host]`.
    to_itself: Vec<bool>,
    /// Through each row to the destination at hand.
    through: Vec<u128>,
}

impl Sums {
    fn new(graph: &Graph, rows: &Rows, demand: &Demand) -> Self {
        Self {
            channels: vec![0; graph.channels().len()],
            reached: vec![vec![0; rows.switch.len()]; demand.pools().len()],
            sent: vec![0; graph.hosts().len()],
            to_itself: vec![false; graph.hosts().len()],
            through: vec![0; rows.switch.len()],
        }
    }

    /// What enters the fabric for `destination`, whose ways are given.
    fn enter(
        &mut self,
        graph: &Graph,
        rows: &Rows,
        demand: &Demand,
        entering: &[Vec<u128>],
        destination: HostId,
        ways: &Ways,
    ) {
        let arrives = |row: usize| ways.hops.get(row).is_some_and(|&hops| hops != NONE);
        let own = rows.of_host(graph, destination) as usize;
        self.through.fill(0);
        self.to_itself[destination.index()] = arrives(own);
        for (place, pool) in demand.pools().iter().enumerate() {
            if !pool.receives(destination) {
                continue;
            }
            for (through, entering) in self.through.iter_mut().zip(&entering[place]) {
                *through += entering;
            }
            if let Some(through) = self.through.get_mut(own) {
                *through -= pool.left_out(destination);
            }
            for &row in &ways.order {
                self.reached[place][row as usize] += 1;
            }
        }
        for &(source, amount) in demand.flows(destination) {
            let row = rows.of_host(graph, source) as usize;
            if arrives(row) {
                self.through[row] += amount;
                self.sent[source.index()] += amount;
            }
        }
    }

    /// Adds up what enters along the ways.
    fn add_up(&mut self, ways: &Ways) {
        for &row in &ways.order {
            let row = row as usize;
            let through = self.through[row];
            self.channels[ways.exit[row] as usize] += through;
            let parent = ways.parent[row];
            if parent != NONE {
                self.through[parent as usize] += through;
            }
        }
    }

    fn add(mut self, other: Self) -> Self {
        let add = |sums: &mut [u128], others: &[u128]| {
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum += other;
            }
        };
        add(&mut self.channels, &other.channels);
        add(&mut self.sent, &other.sent);
        let counts = self.reached.iter_mut().flatten();
        for (count, other) in counts.zip(other.reached.iter().flatten()) {
            *count += other;
        }
        for (one, other) in self.to_itself.iter_mut().zip(other.to_itself) {
            *one |= other;
        }
        self
    }
}
