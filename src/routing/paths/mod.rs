//! Shortest paths between switches: compact adjacency and breadth-first distances.
//!
//! Cost: adjacency O(channels) memory; one search O(switches + channels) time.

pub(super) mod links;
pub(super) mod steps;
pub(super) mod weighted;

use crate::ids::SwitchId;
use crate::topology::Graph;

/// Distance of a switch that cannot be reached.
pub(super) const UNREACHED: u16 = u16::MAX;

/// A way out of a switch to another switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exit {
    /// Port, from 1.
    pub(super) port: u16,
    /// Switch at the other end.
    pub(super) neighbor: u32,
}

/// Exits of every switch in port order; parallel links repeat.
#[derive(Clone, Debug)]
pub(super) struct Adjacency {
    first: Vec<u32>,
    exits: Vec<Exit>,
}

impl Adjacency {
    /// The adjacency of the switches of `graph`.
    pub(super) fn new(graph: &Graph) -> Self {
        let mut adjacency = Self {
            first: vec![0],
            exits: Vec::with_capacity(graph.channels().len()),
        };
        for switch in graph.switch_ids() {
            let exits = graph.neighbors(switch).map(|(port, _, neighbor)| Exit {
                port,
                neighbor: neighbor.0,
            });
            adjacency.exits.extend(exits);
            adjacency.first.push(adjacency.exits.len() as u32);
        }
        adjacency
    }

    /// Place of every switch in the order in which a breadth-first search from `start` meets it.
    pub(super) fn breadth_first(&self, start: SwitchId) -> Vec<u32> {
        let mut place = vec![u32::MAX; self.len()];
        let mut queue = vec![start.0];
        place[start.index()] = 0;
        let mut head = 0;
        while let Some(&from) = queue.get(head) {
            head += 1;
            for exit in self.exits(from as usize) {
                if place[exit.neighbor as usize] == u32::MAX {
                    place[exit.neighbor as usize] = queue.len() as u32;
                    queue.push(exit.neighbor);
                }
            }
        }
        place
    }

    /// Place of every switch's first exit among all exits, then the number of exits.
    pub(super) fn first_exits(&self) -> &[u32] {
        &self.first
    }

    /// Number of switches.
    pub(super) fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// Exits of one switch.
    #[inline]
    pub(super) fn exits(&self, switch: usize) -> &[Exit] {
        &self.exits[self.first[switch] as usize..self.first[switch + 1] as usize]
    }

    /// Hops from every switch to the nearest of `starts`, [`UNREACHED`] where there is no path. Links are
    /// full duplex, so this is also the distance the other way.
    pub(super) fn distances(&self, starts: &[SwitchId]) -> Vec<u16> {
        self.search(starts, |_, _| true)
    }

    /// As [`Self::distances`], over the steps `allowed(from, to)` only, `from` being nearer to the starts.
    pub(super) fn search(
        &self,
        starts: &[SwitchId],
        allowed: impl Fn(usize, usize) -> bool,
    ) -> Vec<u16> {
        let mut distance = vec![UNREACHED; self.len()];
        let mut queue = Vec::with_capacity(self.len());
        for start in starts {
            if distance[start.index()] == UNREACHED {
                distance[start.index()] = 0;
                queue.push(start.0);
            }
        }
        let mut head = 0;
        while let Some(&from) = queue.get(head) {
            head += 1;
            for exit in self.exits(from as usize) {
                let to = exit.neighbor as usize;
                if distance[to] == UNREACHED && allowed(from as usize, to) {
                    distance[to] = distance[from as usize] + 1;
                    queue.push(exit.neighbor);
                }
            }
        }
        distance
    }
}
