//! The trees of what waits, and what the fabric is (D43).
//!
//! An *output lane* has the number channel * lanes + lane. The buffer that it fills, the input lane behind its channel, has
//! the same number; with a pool all lanes of a channel fill the buffer of its lane 0.

use crate::ids::ChannelId;
use crate::measure::{CongestionLook, CongestionTree};

/// What does not change in a run.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// Fill from which on an output lane is congested \[flits\], at least 1.
    pub(super) limit: u64,
    /// What has to fit the credits of an output lane for it not to be held back \[flits\]: the largest packet, or a flit where packets go
    /// flit by flit.
    pub(super) least: u32,
    /// Whether packets that hold an output lane half-way stand before it like those that wait for it (D79).
    pub(super) has_holders: bool,
    /// Whether all lanes of an input share its space.
    pub(super) is_pool: bool,
    /// Whether a channel leads to a host, `[channel]`.
    pub(super) to_host: Vec<bool>,
}

/// What waits in a fabric.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Lanes of a channel.
    lanes: usize,
    /// Flits that wait, `[output lane]`.
    pub(super) fill: Vec<u64>,
    /// Whether its credits are too few, `[output lane]`.
    pub(super) short: Vec<bool>,
    /// Output lane and a buffer that holds a packet which waits for it.
    pairs: Vec<(usize, usize)>,
}

impl Waiting {
    /// Makes room for all channels with so many lanes.
    pub(super) fn reserve(&mut self, rules: &Rules, lanes: usize) {
        self.lanes = lanes;
        self.fill.resize(rules.to_host.len() * lanes, 0);
        self.short.resize(self.fill.len(), false);
    }

    /// Number of a lane of a channel.
    pub(super) fn number(&self, channel: ChannelId, lane: u32) -> usize {
        channel.index() * self.lanes + lane as usize
    }

    /// A packet of so many flits in `buffer` waits for the output lane `wanted`.
    pub(super) fn wait(&mut self, wanted: usize, buffer: usize, flits: u16) {
        self.fill[wanted] += u64::from(flits);
        let pair = (wanted, buffer);
        if self.pairs.last() != Some(&pair) {
            self.pairs.push(pair);
        }
    }

    /// The buffer that an output lane fills.
    fn buffer(&self, rules: &Rules, output: usize) -> usize {
        if rules.is_pool {
            output - output % self.lanes
        } else {
            output
        }
    }

    /// The trees before cycle `cycle`.
    pub(super) fn trees(mut self, rules: &Rules, cycle: u64) -> CongestionLook {
        let congested = (0..self.fill.len()).filter(|&lane| self.fill[lane] >= rules.limit);
        let is_victim = |&lane: &usize| self.short[lane] && !rules.to_host[lane / self.lanes];
        let (victims, roots): (Vec<usize>, Vec<usize>) = congested.partition(is_victim);
        self.pairs.sort_unstable();
        self.pairs.dedup();
        let mut search = Search {
            fed: (victims.iter())
                .map(|&victim| (self.buffer(rules, victim), victim))
                .collect(),
            tree_of: vec![0; self.fill.len()],
            waiting: &self,
        };
        let trees: Vec<_> = (1..)
            .zip(&roots)
            .map(|(number, &root)| search.tree(number, root))
            .collect();
        let outside = victims.iter().filter(|&&lane| search.tree_of[lane] == 0);
        CongestionLook {
            cycle,
            outside: outside.count() as u32,
            victims: victims.len() as u32,
            trees,
        }
    }
}

/// Finds trees, one after the other.
struct Search<'a> {
    waiting: &'a Waiting,
    /// Buffer and a victim that fills it, in order.
    fed: Vec<(usize, usize)>,
    /// Number of the latest tree an output lane was found in, from 1 on, `[output lane]`.
    tree_of: Vec<u32>,
}

impl Search<'_> {
    /// The tree with that number, breadth first.
    fn tree(&mut self, number: u32, root: usize) -> CongestionTree {
        let mut found = CongestionTree {
            channel: ChannelId::from(root / self.waiting.lanes),
            lane: (root % self.waiting.lanes) as u8,
            ..CongestionTree::default()
        };
        let mut level = vec![root];
        self.tree_of[root] = number;
        while !level.is_empty() {
            found.depth += 1;
            let mut next = Vec::new();
            for member in level {
                found.size += 1;
                found.flits += self.waiting.fill[member];
                for &(_, buffer) in of(&self.waiting.pairs, member) {
                    for &(_, victim) in of(&self.fed, buffer) {
                        if self.tree_of[victim] != number {
                            self.tree_of[victim] = number;
                            next.push(victim);
                        }
                    }
                }
            }
            level = next;
        }
        found
    }
}

/// The pairs that begin with `first`, of pairs in order.
fn of(pairs: &[(usize, usize)], first: usize) -> &[(usize, usize)] {
    let start = pairs.partition_point(|pair| pair.0 < first);
    let end = pairs.partition_point(|pair| pair.0 <= first);
    &pairs[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six channels of two lanes, the last one to a host; 8 flits are congestion.
    fn rules(is_pool: bool) -> Rules {
        Rules {
            limit: 8,
            least: 4,
            has_holders: false,
            is_pool,
            to_host: vec![false, false, false, false, false, true],
        }
    }

    /// Packets of 8 flits: output lane, buffer.
    fn look(rules: &Rules, packets: &[(usize, usize)], short: &[usize]) -> CongestionLook {
        let mut waiting = Waiting::default();
        waiting.reserve(rules, 2);
        for &(wanted, buffer) in packets {
            waiting.wait(wanted, buffer, 8);
        }
        for &lane in short {
            waiting.short[lane] = true;
        }
        waiting.trees(rules, 100)
    }

    fn tree(channel: u32, lane: u8, [size, depth]: [u32; 2], flits: u64) -> CongestionTree {
        CongestionTree {
            channel: ChannelId(channel),
            lane,
            size,
            depth,
            flits,
        }
    }

    /// Output lane 10 leads to the host; 2 and 4 fill buffers with packets for it, 6 one with packets for both of them.
    const PACKETS: [(usize, usize); 6] = [(10, 2), (10, 4), (2, 6), (4, 6), (6, 0), (10, 2)];

    #[test]
    fn a_tree_has_all_that_its_root_holds_back_once() {
        let found = look(&rules(false), &PACKETS, &[2, 4, 6, 10]);
        // lacking credits to a host is no waiting for a switch
        let expected = CongestionLook {
            cycle: 100,
            victims: 3,
            outside: 0,
            trees: vec![tree(5, 0, [4, 3], 48)],
        };
        assert_eq!(found, expected);
        // a lane with credits is a root of what waits for it, and ends the tree of the other
        let found = look(&rules(false), &PACKETS, &[4, 6]);
        assert_eq!(
            found.trees,
            [tree(1, 0, [2, 2], 16), tree(5, 0, [3, 3], 40)]
        );
        assert_eq!((found.victims, found.outside), (2, 0), "in two trees");
    }

    #[test]
    fn victims_in_a_cycle_have_no_tree() {
        let cycle = [(0, 2), (2, 4), (4, 0), (10, 8)];
        let found = look(&rules(false), &cycle, &[0, 2, 4]);
        assert_eq!((found.victims, found.outside), (3, 3));
        assert_eq!(found.trees, [tree(5, 0, [1, 1], 8)]);
    }

    #[test]
    fn lanes_of_a_pool_fill_one_buffer() {
        // what waits for the host fills the pool of channel 1; its lane 1 has packets waiting, too
        let packets = [(10, 2), (3, 0)];
        let found = look(&rules(true), &packets, &[2, 3]);
        assert_eq!(found.trees, [tree(5, 0, [2, 2], 16)]);
        let found = look(&rules(false), &packets, &[2, 3]);
        assert_eq!(
            (found.victims, found.outside),
            (1, 1),
            "a buffer of its own"
        );
    }

    #[test]
    fn what_waits_below_the_limit_is_no_congestion() {
        let mut waiting = Waiting::default();
        waiting.reserve(&rules(false), 2);
        waiting.wait(10, 2, 7);
        let found = waiting.trees(&rules(false), 0);
        assert_eq!(found, CongestionLook::default());
    }
}
