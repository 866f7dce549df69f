//! What traffic in expectation asks of every lane of every channel under forwarding tables.
//!
//! # Algorithm
//! As for channels, one service level after the other: the layer that packets have from their source on is told apart, since with
//! that of a hop and the channels before and behind a switch it says which lane they take.
//!
//! Cost of each level: O(rows * path layers + hosts, for each pool) per destination that receives, in parallel over destinations;
//! memory: sums over all lanes per thread.

use super::bound::{Bound, Limits, first_of_least, of_channel};
use super::demand::{Demand, UNIT};
use crate::ids::{ChannelId, HostId, SlId, VlId};
use crate::routing::Tables;
use crate::routing::proof::walk::{NONE, Rows, Ways, blocks};
use crate::topology::Graph;
use rayon::prelude::*;
use std::ops::Range;

/// Amounts per lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneLoads {
    /// Lanes of a channel.
    lanes: usize,
    /// `[channel * lanes + lane]`; what has no way counts nowhere.
    amounts: Vec<u128>,
}

impl LaneLoads {
    /// What is sent on some service levels.
    pub fn of(
        graph: &Graph,
        tables: &Tables,
        demands: impl IntoIterator<Item = (SlId, Demand)>,
    ) -> Self {
        let last = tables.lanes.profiles.iter().max();
        let lanes = last.map_or(1, |last| usize::from(*last) + 1);
        let layers = if tables.path_layer.is_empty() {
            1
        } else {
            usize::from(tables.lanes.layers)
        };
        let rows = Rows::new(graph, tables);
        let mut amounts = vec![0; graph.channels().len() * lanes];
        for (level, demand) in demands {
            let walk = Walk {
                graph,
                tables,
                rows: &rows,
                demand: &demand,
                level,
                lanes,
                layers,
            };
            add(&mut amounts, &walk.amounts());
        }
        Self { lanes, amounts }
    }

    /// How many lanes of a channel are asked for something.
    pub fn lanes_of(&self, channel: ChannelId) -> u32 {
        let own = &self.amounts[channel.index() * self.lanes..][..self.lanes];
        own.iter().filter(|amount| **amount > 0).count() as u32
    }

    /// The bound of the lane that is full first, of those that their loops keep from carrying what the channel does; the loops are
    /// those of one lane of a channel.
    pub fn bound(&self, graph: &Graph, limits: Limits<'_>) -> Option<Bound> {
        let channels = graph.channel_ids().zip(self.amounts.chunks(self.lanes));
        let bounds = channels.filter_map(|(id, own)| {
            let most = own.iter().copied().max().filter(|most| *most > 0)?;
            let bound = of_channel(graph, id, most as f64 / UNIT, limits);
            bound.credit_loop.is_some().then_some(bound)
        });
        first_of_least(bounds.collect())
    }
}

/// Adds amounts to those of the same lanes.
fn add(sums: &mut [u128], others: &[u128]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum += other;
    }
}

/// Follows what is sent on a service level.
struct Walk<'a> {
    graph: &'a Graph,
    tables: &'a Tables,
    rows: &'a Rows,
    demand: &'a Demand,
    level: SlId,
    /// Lanes of a channel.
    lanes: usize,
    /// Layers that packets may have from their source on.
    layers: usize,
}

impl Walk<'_> {
    /// Amounts of every lane, `[channel * lanes + lane]`.
    fn amounts(&self) -> Vec<u128> {
        let blocks = blocks(self.graph.hosts().len());
        // a part has sums over all lanes: no more parts than threads
        let least = blocks.len().div_ceil(rayon::current_num_threads()).max(1);
        let none = || vec![0_u128; self.graph.channels().len() * self.lanes];
        let sums = blocks.into_par_iter().with_min_len(least);
        let sums = sums.fold(none, |mut sums, block| {
            self.add_block(&mut sums, block);
            sums
        });
        sums.reduce(none, |mut sums, others| {
            add(&mut sums, &others);
            sums
        })
    }

    /// Adds what goes to a block of destinations.
    fn add_block(&self, sums: &mut [u128], block: Range<usize>) {
        let receives = |host: usize| self.demand.reaches(host.into());
        if !block.clone().any(receives) {
            return;
        }
        let columns = self.tables.next.columns(&block);
        let (mut ways, mut through) = (Ways::default(), Vec::<u128>::new());
        for (host, ports) in block.zip(&columns) {
            if receives(host) {
                let to = HostId::from(host);
                ways.follow(self.graph, self.rows, ports, to);
                through.clear();
                through.resize(ways.exit.len() * self.layers, 0);
                self.enter(sums, &mut through, (to, &ways));
                self.add_up(sums, &mut through, (to, &ways));
            }
        }
    }

    /// Adds what all hosts send to a destination, up to the channels behind their first switches.
    fn enter(&self, sums: &mut [u128], through: &mut [u128], (to, ways): (HostId, &Ways)) {
        let pools = self.demand.pools().iter();
        for pool in pools.filter(|pool| pool.receives(to)) {
            for from in self.graph.host_ids() {
                let own = if from == to { pool.left_out(from) } else { 0 };
                let amount = pool.to_each(from) - own;
                self.inject(sums, through, (to, ways), (from, amount));
            }
        }
        for &(from, amount) in self.demand.flows(to) {
            self.inject(sums, through, (to, ways), (from, amount));
        }
    }

    /// Adds what a host sends to a destination, likewise; `through` are the sums of `[row * layers + layer]`.
    fn inject(
        &self,
        sums: &mut [u128],
        through: &mut [u128],
        (to, ways): (HostId, &Ways),
        (from, amount): (HostId, u128),
    ) {
        let first = self.graph.host_channel(from);
        let Some(switch) = self.graph.channel(first).to.switch() else {
            return;
        };
        let row = self.tables.row(first, switch);
        if amount == 0 || ways.hops.get(row).is_none_or(|&hops| hops == NONE) {
            return;
        }
        let (map, layer) = (&self.tables.lanes, self.tables.path_layer(switch, to));
        let lane = map.injection_lane(first, self.level, layer);
        sums[self.place(first, lane)] += amount;
        let exit = ChannelId(ways.exit[row]);
        let hop = layer + self.tables.hop_layer(row, to);
        let lane = map.lane(first, exit, self.level, hop);
        sums[self.place(exit, lane)] += amount;
        through[row * self.layers + usize::from(layer)] += amount;
    }

    /// Adds what has entered up along the ways to a destination.
    fn add_up(&self, sums: &mut [u128], through: &mut [u128], (to, ways): (HostId, &Ways)) {
        for &row in &ways.order {
            let (row, parent) = (row as usize, ways.parent[row as usize]);
            if parent == NONE {
                continue;
            }
            let parent = parent as usize;
            let [exit, next] = [row, parent].map(|row| ChannelId(ways.exit[row]));
            let hop = self.tables.hop_layer(parent, to);
            for layer in 0..self.layers {
                let amount = through[row * self.layers + layer];
                if amount > 0 {
                    through[parent * self.layers + layer] += amount;
                    let lane = (self.tables.lanes).lane(exit, next, self.level, layer as u8 + hop);
                    sums[self.place(next, lane)] += amount;
                }
            }
        }
    }

    /// Where the sum of a lane is.
    fn place(&self, channel: ChannelId, lane: VlId) -> usize {
        channel.index() * self.lanes + lane.index()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::tests::conformance::{budget, engine};
    use crate::routing::tests::graphs::{grid, irregular};

    /// The same path by path, one of every pair of hosts.
    fn by_paths(graph: &Graph, tables: &Tables, level: SlId) -> LaneLoads {
        let last = tables.lanes.profiles.iter().max();
        let lanes = last.map_or(1, |last| usize::from(*last) + 1);
        let mut amounts = vec![0; graph.channels().len() * lanes];
        let pairs = graph
            .host_ids()
            .flat_map(|from| graph.host_ids().map(move |to| (from, to)));
        for (from, to) in pairs.filter(|(from, to)| from != to) {
            let path = tables.path(graph, from, to, level);
            for (channel, lane) in path.into_iter().flatten() {
                amounts[channel.index() * lanes + lane.index()] += 1;
            }
        }
        LaneLoads { lanes, amounts }
    }

    #[test]
    fn amounts_are_those_of_all_paths() {
        let torus = grid(&[5, 4], true, 2);
        let cases = [
            (&torus, "DimensionOrder()", 2),
            (&torus, "DimensionOrder(dateline: Hop)", 2),
            (&torus, "Lash()", 8),
            (&irregular(20, 4, 3), "Lash()", 15),
            (&irregular(20, 4, 3), "UpDown(lookup: Input)", 2),
        ];
        for (graph, text, lanes) in cases {
            let tables = engine(text).route(graph, budget(lanes), 1).unwrap();
            let hosts = graph.hosts().len();
            let mut all = LaneLoads::of(graph, &tables, []);
            for level in [SlId(0), SlId(1)] {
                let found = LaneLoads::of(graph, &tables, [(level, Demand::pairs(hosts))]);
                let expected = by_paths(graph, &tables, level);
                assert_eq!(found, expected, "{text}, level {level}");
                add(&mut all.amounts, &found.amounts);
                let mut flows = Demand::none(hosts);
                for (from, to) in graph.host_ids().zip(graph.host_ids().skip(1)) {
                    flows.add_flow(from, to, 1.0);
                }
                let found = LaneLoads::of(graph, &tables, [(level, flows)]);
                let carried: u128 = found.amounts.iter().sum();
                let pairs = graph.host_ids().zip(graph.host_ids().skip(1));
                let hops = pairs.map(|(from, to)| tables.path(graph, from, to, level));
                let hops: usize = hops.map(|path| path.unwrap().len()).sum();
                let expected = hops as u128 * UNIT as u128;
                assert_eq!(carried, expected, "{text}, level {level}");
            }
            let levels = [SlId(0), SlId(1)].map(|level| (level, Demand::pairs(hosts)));
            assert_eq!(LaneLoads::of(graph, &tables, levels), all, "{text}");
        }
    }
}
