//! Water filling: groups of flows rise together until a link of theirs is full.
//!
//! # Algorithm
//! 1. The level of a link is what flows that are held leave of it, over the weight of those that still rise there. It
//!    never falls, as who is held had no more per weight than the level.
//! 2. A heap holds the links by levels that were theirs once; one that has risen since is put back when it comes up.
//! 3. All links with the least level are full in the same round. Every group with a flow on one of them is held there,
//!    with all its flows.
//!
//! Step 3 takes all links of one level before any flow is held: the result does not depend on their order, and every
//! round has a higher level than the one before.
//!
//! Cost: O(links of all routes + links that rise, log links each), a few divisions per link of a route at most.

use crate::fluid::network::Network;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What water filling finds.
#[derive(Clone, Debug)]
pub(super) struct Filled {
    /// Normalised rate of every group; 0 of one without links
    /// \[[`UNIT`](crate::fluid::network::UNIT)ths of a flit per cycle per weight\].
    pub(super) levels: Vec<u128>,
    /// Different levels.
    pub(super) rounds: usize,
}

/// Fills a network whose flow `f` belongs to group `of_flow[f]`.
pub(super) fn fill(network: &Network, of_flow: &[u32], groups: usize) -> Filled {
    let members = Members::new(of_flow, groups);
    let mut water = Water::new(network);
    let mut levels: Vec<Option<u128>> = vec![None; groups];
    let (mut rounds, mut full) = (0, Vec::new());
    while let Some(level) = water.next(&mut full) {
        rounds += 1;
        for link in full.drain(..) {
            for &flow in network.users(link as usize) {
                let group = of_flow[flow as usize];
                let held = &mut levels[group as usize];
                if held.is_none() {
                    *held = Some(level);
                    members
                        .of(group)
                        .iter()
                        .for_each(|&flow| water.hold(flow, level));
                }
            }
        }
    }
    let levels = levels.into_iter().map(Option::unwrap_or_default);
    Filled {
        levels: levels.collect(),
        rounds,
    }
}

/// Flows by their groups.
struct Members {
    first: Vec<u32>,
    flows: Vec<u32>,
}

impl Members {
    fn new(of_flow: &[u32], groups: usize) -> Self {
        let mut first = vec![0; groups + 1];
        for &group in of_flow {
            first[group as usize + 1] += 1;
        }
        for group in 0..groups {
            first[group + 1] += first[group];
        }
        let mut next = first.clone();
        let mut flows = vec![0; of_flow.len()];
        for (flow, &group) in of_flow.iter().enumerate() {
            let next = &mut next[group as usize];
            flows[*next as usize] = flow as u32;
            *next += 1;
        }
        Self { first, flows }
    }

    fn of(&self, group: u32) -> &[u32] {
        let group = group as usize;
        &self.flows[self.first[group] as usize..self.first[group + 1] as usize]
    }
}

/// Links, by how full they are.
struct Water<'a> {
    network: &'a Network,
    /// What flows that are held leave.
    left: Vec<u128>,
    /// Weight of the flows that rise.
    rising: Vec<u128>,
    heap: BinaryHeap<Reverse<(u128, u32)>>,
}

impl<'a> Water<'a> {
    fn new(network: &'a Network) -> Self {
        let links = 0..network.capacities().len();
        let levels = links.filter_map(|link| {
            let level = network.equal_share(link)?;
            Some(Reverse((level, link as u32)))
        });
        let links = 0..network.capacities().len();
        Self {
            heap: levels.collect(),
            left: network.capacities().to_vec(),
            rising: links.map(|link| network.total(link)).collect(),
            network,
        }
    }

    /// The least level, and all links that have it; `None` when no flow rises.
    fn next(&mut self, full: &mut Vec<u32>) -> Option<u128> {
        let mut reached = None;
        while let Some(&Reverse((level, link))) = self.heap.peek() {
            if reached.is_some_and(|reached| level > reached) {
                break;
            }
            self.heap.pop();
            // no flow rises there any more
            let Some(now) = self.left[link as usize].checked_div(self.rising[link as usize]) else {
                continue;
            };
            if now > level {
                self.heap.push(Reverse((now, link)));
            } else {
                reached = Some(level);
                full.push(link);
            }
        }
        reached
    }

    /// Holds a flow at a level.
    fn hold(&mut self, flow: u32, level: u128) {
        let flow = flow as usize;
        let weight = u128::from(self.network.flows()[flow].weight);
        for &link in self.network.route(flow) {
            self.left[link as usize] -= weight * level;
            self.rising[link as usize] -= weight;
        }
    }
}
