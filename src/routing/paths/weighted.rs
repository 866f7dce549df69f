//! Weighted shortest paths towards one switch, with the ties of OpenSM's heap.
//!
//! Guarantees: the result is a function of the weights alone.
//! Cost: O(links * log switches) per search; memory O(switches).
//!
//! # Algorithm
//! Dijkstra's, over a 4-ary heap in which all switches lie from the start, at infinite distance in order of
//! their places. Three rules decide ties: an element rises only above a strictly larger parent; it sinks
//! below the smallest of its children, the last of equal ones, only when that is strictly smaller; the last
//! element replaces the one taken out. A link replaces a way only when it is strictly shorter.
//!
//! References: [`DFSSSP`](crate::references::DFSSSP), OpenSM `osm_ucast_dfsssp.c`

use super::links::{Links, NO_LINK};

/// Distance of what cannot be reached.
const INFINITE: u64 = u64::MAX;

/// Children of a heap element.
const ARITY: usize = 4;

/// One search, with memory to reuse.
#[derive(Debug)]
pub(in crate::routing) struct WeightedSearch {
    distance: Vec<u64>,
    /// Link out of each switch on its way to the destination, [`NO_LINK`] at the destination.
    pub(in crate::routing) exit: Vec<u32>,
    /// Switches that were reached, nearest first.
    pub(in crate::routing) order: Vec<u32>,
    heap: Vec<u32>,
    /// Place of each vertex in the heap.
    slot: Vec<u32>,
}

impl WeightedSearch {
    /// Memory for the switches of `links`.
    pub(in crate::routing) fn new(links: &Links) -> Self {
        let count = links.places();
        Self {
            distance: vec![INFINITE; count + 1],
            exit: vec![NO_LINK; count],
            order: Vec::with_capacity(count),
            heap: Vec::with_capacity(count + 1),
            slot: vec![0; count + 1],
        }
    }

    /// Finds the ways to `start`; `weights[link]` is the cost of travelling over a link. `from_host` tells
    /// whether the destination is a host of `start` (which then is in the heap too) or `start` itself.
    pub(in crate::routing) fn run(
        &mut self,
        links: &Links,
        weights: &[u64],
        start: usize,
        from_host: bool,
    ) {
        let count = links.places();
        self.distance.fill(INFINITE);
        self.exit.fill(NO_LINK);
        self.order.clear();
        self.heap.clear();
        self.heap.extend(0..(count + usize::from(from_host)) as u32);
        for (slot, number) in self.slot.iter_mut().zip(0..) {
            *slot = number;
        }
        if from_host {
            self.decrease(count, 0);
            self.pop();
        }
        self.decrease(start, 0);
        while let Some(vertex) = self.pop() {
            let here = self.distance[vertex];
            if here == INFINITE {
                break;
            }
            self.order.push(vertex as u32);
            for link in links.of(vertex) {
                // packets travel the other way
                let distance = here + weights[link.reverse as usize];
                let neighbor = link.to as usize;
                if distance < self.distance[neighbor] {
                    self.exit[neighbor] = link.reverse;
                    self.decrease(neighbor, distance);
                }
            }
        }
    }

    fn decrease(&mut self, vertex: usize, distance: u64) {
        self.distance[vertex] = distance;
        let mut at = self.slot[vertex] as usize;
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.distance[self.heap[parent] as usize] <= distance {
                break;
            }
            self.swap(at, parent);
            at = parent;
        }
    }

    fn pop(&mut self) -> Option<usize> {
        let last = self.heap.len().checked_sub(1)?;
        self.swap(0, last);
        let top = self.heap.pop()? as usize;
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            let children = first..(first + ARITY).min(self.heap.len());
            let key = |slot: usize| self.distance[self.heap[slot] as usize];
            // of equal ones the last
            let Some(nearest) = children.rev().min_by_key(|&child| key(child)) else {
                break;
            };
            if key(at) <= key(nearest) {
                break;
            }
            self.swap(at, nearest);
            at = nearest;
        }
        Some(top)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.slot[self.heap[a] as usize] = a as u32;
        self.slot[self.heap[b] as usize] = b as u32;
    }
}
