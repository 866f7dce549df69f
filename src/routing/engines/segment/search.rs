//! Cuts a network into segments: paths and cycles that share no link.
//!
//! Every link that lies on a cycle is in exactly one segment; bridges are in none and separate the sub-nets.
//! A segment starts and ends on switches of earlier segments of its sub-net, except that the first of a
//! sub-net starts and ends on the switch the sub-net was entered at.
//!
//! Cost: `Shortest` O(links * (switches + links)), `Depth` O(segments * (switches + links)).
//!
//! # Algorithm
//! 1. Bridges by depth-first numbers and low points.
//! 2. Sub-net 0 is opened at the start switch. While a visited switch of the sub-net has an unvisited link that
//!    is no bridge, a segment is searched.
//!    - `Depth`: from the lowest such switch, depth first over unvisited switches, links in port order, until a
//!      visited switch of the sub-net is met.
//!    - `Shortest`: the shortest path or cycle over unvisited switches between visited ones, lowest links on
//!      ties; single links (unitary segments) last.
//! 3. When there is none, the next sub-net is opened at the lowest unvisited switch beside a visited one.
//!
//! # Deviations
//! The published recursion may enter a switch twice and fails on bridges only after searching all behind them;
//! bridges are found beforehand, and a switch that led nowhere is not entered again in the same search, which
//! finds the same segments (a way that exists without the switches on the stack is found when they are left).
//!
//! References: [`SEGMENT_ROUTING`](crate::references::SEGMENT_ROUTING);
//! [`REINEMO`](crate::references::REINEMO) §3.2

use crate::ids::{LinkId, SwitchId};
use crate::topology::Graph;
use fixedbitset::FixedBitSet;
use serde::Deserialize;
use std::collections::VecDeque;

/// Order in which segments are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum Search {
    /// Shortest first.
    #[default]
    Shortest,
    /// Depth first, links in port order.
    Depth,
}

/// A path or cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// Number of its sub-net.
    pub(super) subnet: u32,
    /// Switch it starts on.
    pub(super) start: SwitchId,
    /// Links, each with the switch it leads to; the last switch is the end.
    pub(super) path: Vec<(LinkId, SwitchId)>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub(super) struct Segmentation {
    /// Segments in the order they were found.
    pub(super) segments: Vec<Segment>,
    /// Number of sub-nets.
    pub(super) subnets: u32,
}

/// A link out of a switch.
type Exit = (LinkId, SwitchId);

/// A way to close a segment: its length, and the link between two switches that closes it.
type Closing = (u32, LinkId, SwitchId, SwitchId);

struct Network {
    /// Links of each switch that are no bridges, in port order.
    cyclic: Vec<Vec<Exit>>,
    /// Neighbours of each switch.
    neighbors: Vec<Vec<SwitchId>>,
    visited: Vec<bool>,
    subnet: Vec<Option<u32>>,
    done: FixedBitSet,
}

/// Segments of `graph` from `start`.
pub(super) fn segment(graph: &Graph, start: SwitchId, search: Search) -> Segmentation {
    let bridges = bridges(graph);
    let exits = |switch| graph.neighbors(switch).map(|(_, c, to)| (c.link(), to));
    let is_cyclic = |exit: &Exit| !bridges.contains(exit.0.0 as usize);
    let mut network = Network {
        cyclic: graph
            .switch_ids()
            .map(|switch| exits(switch).filter(is_cyclic).collect())
            .collect(),
        neighbors: graph
            .switch_ids()
            .map(|switch| exits(switch).map(|exit| exit.1).collect())
            .collect(),
        visited: vec![false; graph.switches().len()],
        subnet: vec![None; graph.switches().len()],
        done: FixedBitSet::with_capacity(graph.link_count()),
    };
    let mut found = Segmentation::default();
    let mut entry = (!network.visited.is_empty()).then_some(start);
    while let Some(switch) = entry {
        let number = found.subnets;
        found.subnets += 1;
        network.enter(switch, number);
        while let Some(segment) = network.next_segment(number, search) {
            network.take(&segment);
            found.segments.push(segment);
        }
        entry = network.next_subnet();
    }
    found
}

impl Network {
    fn enter(&mut self, switch: SwitchId, subnet: u32) {
        self.visited[switch.index()] = true;
        self.subnet[switch.index()] = Some(subnet);
    }

    fn take(&mut self, segment: &Segment) {
        for &(link, switch) in &segment.path {
            self.done.insert(link.0 as usize);
            self.enter(switch, segment.subnet);
        }
    }

    /// Step 3.
    fn next_subnet(&self) -> Option<SwitchId> {
        let mut switches = (0..self.visited.len()).filter(|&switch| !self.visited[switch]);
        let beside = |&switch: &usize| {
            self.neighbors[switch]
                .iter()
                .any(|n| self.visited[n.index()])
        };
        switches.find(beside).map(SwitchId::from)
    }

    /// Links of a switch that are in no segment yet.
    fn open(&self, switch: SwitchId) -> impl Iterator<Item = Exit> {
        let exits = self.cyclic[switch.index()].iter().copied();
        exits.filter(|(link, _)| !self.done.contains(link.0 as usize))
    }

    /// Switches of the sub-net with open links.
    fn border(&self, subnet: u32) -> impl Iterator<Item = SwitchId> {
        let switches = (0..self.subnet.len()).map(SwitchId::from);
        switches.filter(move |&switch| {
            self.subnet[switch.index()] == Some(subnet) && self.open(switch).next().is_some()
        })
    }

    /// Step 2.
    fn next_segment(&self, subnet: u32, search: Search) -> Option<Segment> {
        match search {
            Search::Depth => {
                let mut starts = self.border(subnet);
                starts.find_map(|start| self.deep(start, subnet))
            }
            Search::Shortest => self.shortest(subnet),
        }
    }

    /// Depth first from `start`.
    fn deep(&self, start: SwitchId, subnet: u32) -> Option<Segment> {
        let mut entered = self.visited.clone();
        let mut path: Vec<Exit> = Vec::new();
        let mut rest = vec![self.open(start).collect::<Vec<_>>().into_iter()];
        while let Some(exits) = rest.last_mut() {
            let Some((link, to)) = exits.next() else {
                rest.pop();
                path.pop();
                continue;
            };
            if path.last().is_some_and(|last| last.0 == link) {
                continue;
            }
            if self.visited[to.index()] {
                path.push((link, to));
                return Some(Segment {
                    subnet,
                    start,
                    path,
                });
            }
            if !entered[to.index()] {
                entered[to.index()] = true;
                path.push((link, to));
                rest.push(self.open(to).collect::<Vec<_>>().into_iter());
            }
        }
        None
    }

    /// The shortest path between visited switches, by a search from all of them at once: every switch met
    /// remembers the first link of its way (its branch), and a link between two branches closes a segment.
    fn shortest(&self, subnet: u32) -> Option<Segment> {
        let mut came: Vec<Option<(SwitchId, LinkId, LinkId, u32)>> = vec![None; self.visited.len()];
        let mut queue = VecDeque::new();
        let mut unitary: Option<(LinkId, SwitchId, SwitchId)> = None;
        let mut best: Option<Closing> = None;
        for start in self.border(subnet) {
            for (link, to) in self.open(start) {
                if self.visited[to.index()] {
                    unitary = unitary
                        .min(Some((link, start, to)))
                        .or(Some((link, start, to)));
                } else if came[to.index()].is_none() {
                    came[to.index()] = Some((start, link, link, 1));
                    queue.push_back(to);
                } else {
                    best = Some(nearer(best, (2, link, to, start)));
                }
            }
        }
        while let Some(here) = queue.pop_front() {
            let Some((_, last, branch, length)) = came[here.index()] else {
                continue;
            };
            for (link, to) in self.open(here).filter(|exit| exit.0 != last) {
                if self.visited[to.index()] {
                    // found from the other end, where the search starts
                    continue;
                }
                match came[to.index()] {
                    None => {
                        came[to.index()] = Some((here, link, branch, length + 1));
                        queue.push_back(to);
                    }
                    Some((_, _, other, rest)) if other != branch => {
                        best = Some(nearer(best, (length + rest + 1, link, here, to)));
                    }
                    Some(_) => {}
                }
            }
        }
        let Some((_, link, a, b)) = best else {
            let (link, start, to) = unitary?;
            return Some(Segment {
                subnet,
                start,
                path: vec![(link, to)],
            });
        };
        Some(self.closed(subnet, &came, (link, a, b)))
    }

    /// The segment of the ways to `a` and `b` and the link between them.
    fn closed(
        &self,
        subnet: u32,
        came: &[Option<(SwitchId, LinkId, LinkId, u32)>],
        (link, a, b): (LinkId, SwitchId, SwitchId),
    ) -> Segment {
        let mut path = Vec::new();
        let mut at = a;
        // from `a` back to where its way starts, then turned round
        while let Some((before, link, ..)) = came[at.index()] {
            path.push((link, at));
            at = before;
        }
        path.reverse();
        let start = at;
        path.push((link, b));
        at = b;
        while let (false, Some((before, link, ..))) = (self.visited[at.index()], came[at.index()]) {
            path.push((link, before));
            at = before;
        }
        Segment {
            subnet,
            start,
            path,
        }
    }
}

/// The shorter of two ways to close a segment, the lower link on ties.
fn nearer(best: Option<Closing>, new: Closing) -> Closing {
    match best {
        Some(old) if (old.0, old.1) <= (new.0, new.1) => old,
        _ => new,
    }
}

/// Step 1: links whose removal cuts the network.
fn bridges(graph: &Graph) -> FixedBitSet {
    let exits: Vec<Vec<Exit>> = graph
        .switch_ids()
        .map(|s| {
            graph
                .neighbors(s)
                .map(|(_, c, to)| (c.link(), to))
                .collect()
        })
        .collect();
    let mut bridges = FixedBitSet::with_capacity(graph.link_count());
    let mut number = vec![0usize; exits.len()];
    let mut low = vec![0usize; exits.len()];
    let mut count = 0;
    for root in 0..exits.len() {
        if number[root] != 0 {
            continue;
        }
        count += 1;
        (number[root], low[root]) = (count, count);
        // (switch, link it was entered by, next exit)
        let mut stack = vec![(root, None, 0)];
        while let Some(&mut (switch, by, ref mut next)) = stack.last_mut() {
            if let Some(&(link, to)) = exits[switch].get(*next) {
                *next += 1;
                let to = to.index();
                if Some(link) == by {
                    continue;
                }
                if number[to] == 0 {
                    count += 1;
                    (number[to], low[to]) = (count, count);
                    stack.push((to, Some(link), 0));
                } else {
                    low[switch] = low[switch].min(number[to]);
                }
                continue;
            }
            stack.pop();
            if let (Some(&(before, ..)), Some(link)) = (stack.last(), by) {
                low[before] = low[before].min(low[switch]);
                if low[switch] > number[before] {
                    bridges.insert(link.0 as usize);
                }
            }
        }
    }
    bridges
}
