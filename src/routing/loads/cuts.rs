//! Bounds of the load that hold whatever ways packets take: of cuts, and of the hops that all need.
//!
//! # Algorithm
//! 1. *Cut*: what the switches of a set send to all others is at most what the channels out of the set carry. The sets are
//!    every switch alone, and for every link the switches that are nearer to one of its ends than to the other: halves of
//!    meshes and tori, subtrees, groups of dragonflies.
//! 2. *Hops*: a packet takes at least as many channels between switches as its shortest way has, so the sum of demand times
//!    distance is at most what all these channels carry.
//!
//! Cost: O(switches^2) memory and time, and O(switches + channels) for every set; of many sets in a large fabric some.

use super::credit_loop::CreditLoop;
use crate::ids::{ChannelId, SwitchId};
use crate::topology::Graph;
use std::collections::VecDeque;

/// Fabrics with more switches have no such bounds.
const MOST_SWITCHES: usize = 4096;
/// Steps that all sets may take together.
const MOST_STEPS: usize = 400_000_000;
/// Distance to a switch without a way.
const FAR: u16 = u16::MAX;

/// A set of channels that carries so much at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut {
    /// Largest load, in units of the demand.
    pub(super) load: f64,
    /// The first of the channels.
    pub(super) channel: ChannelId,
    /// Number of channels.
    pub(super) channels: u32,
}

/// Demand between switches \[flits per cycle\].
pub(super) struct Between {
    /// What hosts of each switch send to every member of a pool, and members, `[switch]`.
    pub(super) pools: Vec<(Vec<f64>, Vec<f64>)>,
    /// What goes from one switch to another beside that: (from, to, rate).
    pub(super) flows: Vec<(SwitchId, SwitchId, f64)>,
}

impl Between {
    /// What goes out of a set of switches.
    fn out_of(&self, is_inside: &[bool]) -> f64 {
        let sum = |of: &[f64], inside: bool| -> f64 {
            let of = of.iter().zip(is_inside);
            of.filter(|&(_, &is)| is == inside).map(|(x, _)| x).sum()
        };
        let pools = self.pools.iter();
        let pools: f64 = pools
            .map(|(from, to)| sum(from, true) * sum(to, false))
            .sum();
        let flows = self.flows.iter();
        let crossing = flows.filter(|(s, t, _)| is_inside[s.index()] && !is_inside[t.index()]);
        pools + crossing.map(|flow| flow.2).sum::<f64>()
    }

    /// What every switch sends to `to`, `[switch]`; nothing from `to` itself.
    pub(super) fn towards(&self, to: SwitchId, switches: usize) -> Vec<f64> {
        let mut rates = vec![0.0; switches];
        for (from, members) in &self.pools {
            let members = members[to.index()];
            if members > 0.0 {
                rates
                    .iter_mut()
                    .zip(from)
                    .for_each(|(r, x)| *r += x * members);
            }
        }
        for &(from, goal, rate) in &self.flows {
            if goal == to {
                rates[from.index()] += rate;
            }
        }
        rates[to.index()] = 0.0;
        rates
    }
}

/// Hops from every switch to `to`, `[switch]`.
pub(crate) fn distances(graph: &Graph, to: SwitchId) -> Vec<u16> {
    let mut hops = vec![FAR; graph.switches().len()];
    let mut next = VecDeque::from([to]);
    hops[to.index()] = 0;
    while let Some(at) = next.pop_front() {
        for (_, _, neighbor) in graph.neighbors(at) {
            if hops[neighbor.index()] == FAR {
                hops[neighbor.index()] = hops[at.index()] + 1;
                next.push_back(neighbor);
            }
        }
    }
    hops
}

/// Channels between switches, with their ends.
fn inner(graph: &Graph) -> impl Iterator<Item = (ChannelId, SwitchId, SwitchId)> {
    let exits = graph.switch_ids();
    exits.flat_map(|from| {
        let exits = graph.neighbors(from);
        exits.map(move |(_, channel, to)| (channel, from, to))
    })
}

/// Whether the fabric is not too large for this.
pub(super) fn are_looked_for(graph: &Graph) -> bool {
    graph.switches().len() <= MOST_SWITCHES
}

/// The least bound of all cuts, and that of the hops; `None` where nothing goes from one switch to another, and for
/// fabrics of more than 4,096 switches. `loops`: credit loops of channels.
pub(super) fn bounds(
    graph: &Graph,
    between: &Between,
    loops: &dyn Fn(ChannelId) -> Option<CreditLoop>,
) -> [Option<Cut>; 2] {
    if !are_looked_for(graph) {
        return [None; 2];
    }
    let hops: Vec<_> = graph.switch_ids().map(|to| distances(graph, to)).collect();
    let rate = |channel: ChannelId| {
        let pace = 1.0 / f64::from(graph.channel(channel).timing.cycles_per_flit);
        loops(channel).map_or(pace, |credits| credits.rate().min(pace))
    };
    let channels: Vec<_> = inner(graph)
        .map(|(channel, from, to)| (channel, from, to, rate(channel)))
        .collect();
    [
        least_cut(graph, between, &channels, &hops),
        of_hops(graph, between, &channels, &hops),
    ]
}

/// A channel between switches: its ends, and what it carries \[flits per cycle\].
type Inner = (ChannelId, SwitchId, SwitchId, f64);

fn least_cut(
    graph: &Graph,
    between: &Between,
    channels: &[Inner],
    hops: &[Vec<u16>],
) -> Option<Cut> {
    let switches = graph.switches().len();
    let most = (MOST_STEPS / (switches + channels.len() + between.flows.len()).max(1)).max(1);
    let step = channels.len().div_ceil(most).max(1);
    let halves = channels.iter().step_by(step).map(|&(_, near, far, _)| {
        let ends = hops[near.index()].iter().zip(&hops[far.index()]);
        ends.map(|(near, far)| near < far).collect()
    });
    let singles = graph.switch_ids().map(|one| {
        let all = graph.switch_ids();
        all.map(|switch| switch == one).collect()
    });
    let of = |set: Vec<bool>| {
        let asked = between.out_of(&set);
        let crossing = channels.iter();
        let crossing = crossing.filter(|(_, from, to, _)| set[from.index()] && !set[to.index()]);
        let first = crossing.clone().next()?.0;
        let (carried, count) =
            crossing.fold((0.0, 0), |(sum, count), (.., rate)| (sum + rate, count + 1));
        (asked > 0.0).then(|| Cut {
            load: carried / asked,
            channel: first,
            channels: count,
        })
    };
    let cuts = singles.chain(halves).filter_map(of);
    cuts.reduce(|least, cut| if cut.load < least.load { cut } else { least })
}

fn of_hops(graph: &Graph, between: &Between, channels: &[Inner], hops: &[Vec<u16>]) -> Option<Cut> {
    let asked: f64 = (graph.switch_ids().zip(hops))
        .map(|(to, hops)| {
            let rates = between.towards(to, hops.len());
            let sent = rates.iter().zip(hops).filter(|(_, hops)| **hops != FAR);
            sent.map(|(rate, &hops)| rate * f64::from(hops))
                .sum::<f64>()
        })
        .sum();
    let first = channels.first()?.0;
    let carried: f64 = channels.iter().map(|channel| channel.3).sum();
    (asked > 0.0).then(|| Cut {
        load: carried / asked,
        channel: first,
        channels: channels.len() as u32,
    })
}
