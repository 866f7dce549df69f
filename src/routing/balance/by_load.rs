//! Spreads destinations over equally good ways by the load of the whole way, not by counters of one switch.
//!
//! Local counters (see `balance/mod.rs`) see every destination, also those that never pass the switch; in trees
//! of three levels they send all that a switch gets through one port. Here the price of a channel is the
//! number of paths it carries so far.
//!
//! Cost: time O(passes * hosts * nodes + destination switches * steps), parallel over groups of destinations;
//! memory one byte per (node, host) and four per (channel, group).
//!
//! # Algorithm
//! 1. Destination hosts are taken in turn. Nearest nodes first, each node learns the least sum of prices on
//!    the rest of the way. The price of f more paths on a channel is the growth of load^3 per path, load in
//!    paths times cycles per flit; here f = 1.
//! 2. Farthest nodes first, each node takes the candidate of least price, f being all paths that go through
//!    it, and adds them to the load. Ties go to the first candidate from a place that moves on with each
//!    destination.
//! 3. Each further pass takes one destination's paths away and chooses again.
//!
//! In large fabrics step 1 is done once per destination switch, and they are cut into groups of destinations with loads of their own, so that the groups can run in
//! parallel; the number of groups depends on the fabric only, hence the result not on the number of threads.
//!
//! # Deviations
//! The published algorithm starts from all shortest paths of every pair and removes paths over the fullest
//! channel; this substitute chooses the paths of one destination together, because tables demand it.
//!
//! References: [`PATH_BALANCING`](crate::references::PATH_BALANCING)

use super::destination::Destination;
use crate::ids::HostId;
use crate::routing::UNREACHABLE;
use crate::routing::paths::UNREACHED;
use crate::routing::paths::steps::{Step, Steps};
use crate::topology::Graph;
use rayon::prelude::*;

/// Table entries from which destinations are cut into groups: below, a second core gains less than what
/// balancing in groups loses.
const LARGE: usize = 1 << 23;

/// Groups of a large fabric: a multiple of common core counts; more would let imbalances add up.
const GROUPS: usize = 8;

/// What is asked of [`spread`].
#[derive(Clone, Copy, Debug)]
pub(in crate::routing) struct Spreading {
    /// Times every destination chooses, at least 1.
    pub(in crate::routing) passes: u8,
    /// Hosts of one switch share all ways to them.
    pub(in crate::routing) by_switch: bool,
}

/// Candidates of every node for one destination switch.
struct Candidates {
    /// Nodes with a way, nearest first.
    order: Vec<u32>,
    first: Vec<u32>,
    /// Places in the node's steps.
    steps: Vec<u8>,
}

/// One group at work.
struct Group<'a> {
    steps: &'a Steps,
    /// Hosts per node that send.
    senders: Vec<u32>,
    loads: Vec<u64>,
    cost: Vec<f64>,
    flow: Vec<u64>,
}

/// Forwarding tables `[node][host]`; `hops(i)` are the hops left from every node to the `i`-th destination
/// switch, `candidate(i, from, to)` tells whether the way there may lead from one node to the next, which must
/// have one hop less.
pub(in crate::routing) fn spread<'h>(
    graph: &Graph,
    steps: &Steps,
    destinations: &[Destination],
    hops: impl Fn(usize) -> &'h [u16] + Sync,
    candidate: impl Fn(usize, usize, usize) -> bool + Sync,
    spreading: Spreading,
) -> Vec<u8> {
    let host_count = graph.hosts().len();
    let groups = if steps.len() * host_count < LARGE {
        1
    } else {
        GROUPS
    };
    let columns: Vec<Vec<(HostId, Vec<u8>)>> = (0..groups)
        .into_par_iter()
        .map(|number| {
            let mut group = Group::new(graph, steps);
            let mut columns = Vec::new();
            for pass in 0..spreading.passes.max(1) {
                let mut at = 0;
                for i in (number..destinations.len()).step_by(groups) {
                    let hops = hops(i);
                    let candidates =
                        Candidates::new(steps, hops, |from, to| candidate(i, from, to));
                    let together = if spreading.by_switch {
                        destinations[i].hosts.len()
                    } else {
                        1
                    };
                    for (j, hosts) in destinations[i].hosts.chunks(together.max(1)).enumerate() {
                        if pass > 0 {
                            let old: &(HostId, Vec<u8>) = &columns[at];
                            group.take_away(&candidates, &old.1, hosts.len());
                        }
                        if groups == 1 || j == 0 {
                            group.price(&candidates, i + at + usize::from(pass));
                        }
                        let column =
                            group.route(&candidates, i + at + usize::from(pass), hosts.len());
                        for &(port, host) in hosts {
                            let entry = (host, with_home(&column, hops, port));
                            match columns.get_mut(at) {
                                Some(old) => *old = entry,
                                None => columns.push(entry),
                            }
                            at += 1;
                        }
                    }
                }
            }
            columns
        })
        .collect();
    transpose(
        columns.into_iter().flatten().collect(),
        steps.len(),
        host_count,
    )
}

/// The column of one host: at its own switch the port it is attached to.
fn with_home(column: &[u8], hops: &[u16], port: u16) -> Vec<u8> {
    let entries = column.iter().zip(hops);
    entries
        .map(|(&entry, &hops)| if hops == 0 { port as u8 } else { entry })
        .collect()
}

/// Columns of hosts to rows.
fn transpose(columns: Vec<(HostId, Vec<u8>)>, nodes: usize, host_count: usize) -> Vec<u8> {
    let mut next = vec![UNREACHABLE; nodes * host_count];
    // a block of rows is filled column by column, so that each column is read in runs
    let block = 64;
    let blocks = next.par_chunks_mut((block * host_count).max(1)).enumerate();
    blocks.for_each(|(number, rows)| {
        let start = number * block;
        for (host, column) in &columns {
            for (row, entries) in rows.chunks_mut(host_count).enumerate() {
                entries[host.index()] = column[start + row];
            }
        }
    });
    next
}

/// Nodes with a way, nearest first, then by number.
pub(in crate::routing) fn by_hops(hops: &[u16]) -> Vec<u32> {
    let reached = || (0u32..).zip(hops).filter(|(_, hops)| **hops != UNREACHED);
    let mut first = Vec::new();
    for (_, &hops) in reached() {
        let end = usize::from(hops) + 2;
        first.resize(first.len().max(end), 0);
        first[end - 1] += 1;
    }
    for i in 1..first.len() {
        first[i] += first[i - 1];
    }
    let mut order = vec![0; first.last().map_or(0, |&count| count)];
    for (node, &hops) in reached() {
        let place = &mut first[usize::from(hops)];
        order[*place] = node;
        *place += 1;
    }
    order
}

impl Candidates {
    fn new(steps: &Steps, hops: &[u16], allowed: impl Fn(usize, usize) -> bool) -> Self {
        let order = by_hops(hops);
        let mut candidates = Self {
            order,
            first: Vec::with_capacity(steps.len() + 1),
            steps: Vec::new(),
        };
        candidates.first.push(0);
        for (node, &hops) in hops.iter().enumerate() {
            if hops != UNREACHED && hops > 0 {
                let places = (0u8..).zip(steps.out(node));
                let open = places.filter(|(_, step)| allowed(node, step.to as usize));
                candidates.steps.extend(open.map(|(place, _)| place));
            }
            candidates.first.push(candidates.steps.len() as u32);
        }
        candidates
    }

    fn at(&self, node: usize) -> &[u8] {
        &self.steps[self.first[node] as usize..self.first[node + 1] as usize]
    }
}

impl<'a> Group<'a> {
    fn new(graph: &'a Graph, steps: &'a Steps) -> Self {
        let mut senders = vec![0; steps.len()];
        for switch in graph.switch_ids() {
            senders[switch.index()] = graph.attached_hosts(switch).count() as u32;
        }
        Self {
            steps,
            senders,
            loads: vec![0; graph.channels().len()],
            cost: vec![0.0; steps.len()],
            flow: vec![0; steps.len()],
        }
    }

    /// Step 1 for one destination switch.
    fn price(&mut self, candidates: &Candidates, turn: usize) {
        for &node in &candidates.order {
            let node = node as usize;
            let least = self.best(candidates, node, turn, 1.0).0;
            self.cost[node] = if least.is_finite() { least } else { 0.0 };
        }
    }

    /// Step 2 for `hosts` hosts of one switch; ports of every node.
    fn route(&mut self, candidates: &Candidates, turn: usize, hosts: usize) -> Vec<u8> {
        for &node in &candidates.order {
            self.flow[node as usize] = u64::from(self.senders[node as usize]) * hosts as u64;
        }
        let mut ports = vec![UNREACHABLE; self.steps.len()];
        for &node in candidates.order.iter().rev() {
            let node = node as usize;
            let flow = self.flow[node];
            let place = match candidates.at(node) {
                [] => continue,
                &[only] => only,
                _ => self.best(candidates, node, turn, flow.max(1) as f64).1,
            };
            let step = self.steps.out(node)[usize::from(place)];
            ports[node] = step.port as u8;
            self.loads[step.channel as usize] += flow;
            self.flow[step.to as usize] += flow;
        }
        ports
    }

    /// The cheapest candidate of `node` for `flow` paths: its price per path and its place in the node's steps.
    #[inline]
    fn best(&self, candidates: &Candidates, node: usize, turn: usize, flow: f64) -> (f64, u8) {
        let choice = candidates.at(node);
        let mut best = (f64::INFINITY, 0);
        let (late, early) = choice.split_at(turn % choice.len().max(1));
        for &place in early.iter().chain(late) {
            let step = &self.steps.out(node)[usize::from(place)];
            let channel = step.channel as usize;
            let pace = f64::from(step.pace);
            let (load, more) = (self.loads[channel] as f64 * pace, flow * pace);
            // ((load + more)^3 - load^3) / more
            let price = 3.0 * load * (load + more) + more * more;
            let cost = price + self.cost[step.to as usize];
            if cost < best.0 {
                best = (cost, place);
            }
        }
        best
    }

    /// Step 3: takes the paths of all sources to `hosts` hosts away from the loads.
    fn take_away(&mut self, candidates: &Candidates, ports: &[u8], hosts: usize) {
        for &node in &candidates.order {
            self.flow[node as usize] = u64::from(self.senders[node as usize]) * hosts as u64;
        }
        for &node in candidates.order.iter().rev() {
            let node = node as usize;
            let out = self.steps.out(node);
            let taken = candidates
                .at(node)
                .iter()
                .map(|&place| out[usize::from(place)]);
            let same = |step: &Step| step.port == u16::from(ports[node]);
            if let Some(step) = taken.into_iter().find(same) {
                self.loads[step.channel as usize] -= self.flow[node];
                self.flow[step.to as usize] += self.flow[node];
            }
        }
    }
}
