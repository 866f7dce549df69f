//! One shortest path per pair, chosen in every way that the layers must stand.

use super::{Paths, Trees};
use crate::rng::{Stream, below};

/// Which of the equally short ways a search takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The one found first.
    First,
    /// Any.
    Random,
    /// The one over the channel with the fewest paths so far.
    Balanced,
}

impl Choice {
    pub(super) const ALL: [Self; 3] = [Self::First, Self::Random, Self::Balanced];
}

/// Trees of shortest paths, from every source or to every destination.
pub(super) struct Ways {
    trees: Trees,
    to_destination: bool,
}

impl Ways {
    pub(super) fn new(
        switches: u32,
        links: &[(u32, u32)],
        choice: Choice,
        to_destination: bool,
        rng: &mut Stream,
    ) -> Self {
        let mut ways = Self {
            trees: Trees::new(switches as usize, links),
            to_destination,
        };
        if choice != Choice::First {
            ways.choose(choice, rng);
        }
        ways
    }

    /// Hops between two switches.
    pub(super) fn distance(&self, source: usize, destination: usize) -> usize {
        let mut channels = Vec::new();
        self.trees.path(source, destination, &mut channels);
        channels.len()
    }

    /// Takes another of the switches that are one hop nearer, for every root and switch.
    fn choose(&mut self, choice: Choice, rng: &mut Stream) {
        let switches = self.trees.switches;
        let ends = self.trees.channels.iter().flatten().copied();
        let channels: Vec<(u32, (u32, u32))> = (0..).zip(ends).collect();
        let mut load = vec![0u32; channels.len()];
        for root in 0..switches {
            let hops: Vec<usize> = (0..switches).map(|to| self.distance(root, to)).collect();
            let mut order: Vec<usize> = (0..switches).filter(|&to| to != root).collect();
            order.sort_by_key(|&to| hops[to]);
            for switch in order {
                let nearer = channels.iter().filter(|(_, (from, to))| {
                    *to as usize == switch && hops[*from as usize] + 1 == hops[switch]
                });
                let nearer: Vec<(u32, u32)> = nearer.map(|&(c, (from, _))| (from, c)).collect();
                let taken = match choice {
                    Choice::Random => below(rng, nearer.len() as u32) as usize,
                    _ => (0..nearer.len())
                        .min_by_key(|&i| load[nearer[i].1 as usize])
                        .unwrap(),
                };
                self.trees.before[root * switches + switch] = nearer[taken];
                let mut path = Vec::new();
                self.trees.path(root, switch, &mut path);
                for channel in path.iter().copied() {
                    load[channel as usize] += 1;
                }
            }
        }
    }
}

impl Paths for Ways {
    fn ends(&self) -> usize {
        self.trees.ends()
    }

    fn channels(&self) -> Vec<Option<(u32, u32)>> {
        self.trees.channels()
    }

    fn path(&self, source: usize, destination: usize, channels: &mut Vec<u32>) {
        if !self.to_destination {
            return self.trees.path(source, destination, channels);
        }
        // the tree of the destination, walked the other way: channels of a link differ in the last bit
        let start = channels.len();
        self.trees.path(destination, source, channels);
        channels[start..].reverse();
        channels[start..]
            .iter_mut()
            .for_each(|channel| *channel ^= 1);
    }
}
