//! What leads to what in an acyclic graph that grows: a row of bits for each vertex.
//!
//! Cost: memory one bit for each pair of vertices. A new dependency costs a row for each vertex that leads to more by it; a
//! question one look. Rows are filled soon, so most dependencies of a full graph change none.
//!
//! # Algorithm
//! A dependency on what its first end leads to already changes nothing. Otherwise the first end leads to all that the second
//! leads to, and so do those that lead to it, found backwards and not beyond those that led to the second end before.
//!
//! References: [`ITALIANO`](crate::references::ITALIANO)

use super::{Dependency, LayerGraph};
use crate::routing::layers::channel_bits::WORD;

/// Largest size of all rows \[bytes\].
const LARGEST: usize = 1 << 27;

/// Rows of bits: the vertices that each leads to, itself among them.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    /// Words of a row.
    words: usize,
    rows: Vec<u64>,
    /// Vertices to visit.
    left: Vec<u32>,
}

impl Reach {
    /// Whether so many vertices are few enough.
    pub(super) fn fits(vertices: usize) -> bool {
        vertices * vertices / 8 <= LARGEST
    }

    /// Of a graph in topological `order`, with the successors of each vertex.
    pub(super) fn new(order: &[u32], after: &[Vec<(u32, u32)>]) -> Self {
        let words = order.len().div_ceil(WORD as usize);
        let mut reach = Self {
            words,
            rows: vec![0; words * order.len()],
            left: Vec::new(),
        };
        for &vertex in order.iter().rev() {
            reach.rows[vertex as usize * words + (vertex / WORD) as usize] |= 1 << (vertex % WORD);
            for &(next, _) in &after[vertex as usize] {
                reach.join(vertex, next);
            }
        }
        reach
    }

    /// Whether `from` leads to `to`, or is it.
    fn leads(&self, from: u32, to: u32) -> bool {
        let word = self.rows[from as usize * self.words + (to / WORD) as usize];
        word >> (to % WORD) & 1 != 0
    }

    /// `vertex` leads to all that `next`, another vertex, leads to.
    fn join(&mut self, vertex: u32, next: u32) {
        let (low, high) = (vertex.min(next) as usize, vertex.max(next) as usize);
        let (before, behind) = self.rows.split_at_mut(high * self.words);
        let (low, high) = (
            &mut before[low * self.words..][..self.words],
            &mut behind[..self.words],
        );
        let (row, more) = if vertex < next {
            (low, high)
        } else {
            (high, low)
        };
        for (word, more) in row.iter_mut().zip(more) {
            *word |= *more;
        }
    }

    /// Whether dependencies, at most [`WORD`] of them, close a cycle together.
    pub(super) fn closes(&self, new: &[Dependency]) -> bool {
        // from the end of one to the start of another
        let onward: Vec<u64> = new
            .iter()
            .map(|&(_, end, _)| {
                let starts = new.iter().enumerate();
                let reached = starts.filter(|(_, other)| self.leads(end, other.0));
                reached.fold(0, |mask, (i, _)| mask | 1 << i)
            })
            .collect();
        let mut left: u64 = (0..new.len()).fold(0, |mask, i| mask | 1 << i);
        loop {
            let is_last = |i: &usize| left >> i & 1 != 0 && onward[*i] & left == 0;
            match (0..new.len()).find(is_last) {
                Some(i) => left &= !(1 << i),
                None => return left != 0,
            }
        }
    }

    /// Adds a dependency that closes no cycle; tells how many dependencies it looked at. `before` holds the vertices that
    /// each depends on.
    pub(super) fn add(&mut self, from: u32, to: u32, before: &[Vec<u32>]) -> u64 {
        let mut looked = 1;
        self.left.push(from);
        while let Some(vertex) = self.left.pop() {
            if self.leads(vertex, to) {
                continue;
            }
            self.join(vertex, to);
            looked += before[vertex as usize].len() as u64;
            self.left.extend(&before[vertex as usize]);
        }
        looked
    }
}

impl LayerGraph<'_> {
    /// Goes back to an order of the vertices.
    pub(super) fn forget_reach(&mut self) {
        if self.reach.take().is_some() {
            let sorted = self.insert_all(&[]);
            debug_assert!(sorted, "a layer has no cycle");
        }
    }

    /// Adds new dependencies that close no cycle, where what leads to what is known.
    pub(super) fn insert_known(&mut self, new: &[Dependency]) {
        for &(from, to, _) in new {
            self.link(from, to);
            if let Some(reach) = &mut self.reach {
                self.searched += reach.add(from, to, &self.before);
            }
        }
    }
}
