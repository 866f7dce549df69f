//! The dependencies of one layer: a graph that stays acyclic, with its vertices kept in order.
//!
//! Cost: a new dependency costs a search among the vertices between its two ends in the order; one that is
//! there already, or runs forward, costs a look at the successors of its first end.
//!
//! # Algorithm
//! Every vertex has a place in a topological order, and a dependency against it is worked in or refused (see `order.rs`). One
//! that was refused by itself stays refused as long as none are taken away, which is remembered; once as much time has gone
//! into refusals as it takes to find all of them at once, that is done (see `closure.rs`): where single paths are tried, most
//! are refused by a look. Taking dependencies away keeps the order valid. Many new dependencies at once are checked by one
//! depth-first search, which also gives a new order; the channels that leave one switch are neighbours in a set of bits, so
//! that every search looks at a vertex's successors at once.

mod order;

use super::channel_bits::{Vertices, WORD};
use super::closure;
use order::Order;

/// A dependency with the number of paths that bring it: (from, to, paths).
pub(in crate::routing) type Dependency = (u32, u32, u32);

/// New dependencies from which one search over the graph is cheaper than an ordered insertion of each.
const MANY: usize = 32;

/// How a search goes on.
enum Onward {
    /// A successor is on the way: a cycle.
    Cycle,
    /// To this successor.
    To(u32),
    /// All successors were met.
    Done,
}

/// An acyclic graph over channels.
#[derive(Clone, Debug)]
pub(in crate::routing) struct LayerGraph<'a> {
    vertices: &'a Vertices,
    /// Successors of each vertex as bits.
    bits: Vec<u64>,
    /// Successors of each vertex that would close a cycle, as far as known; wrong once `is_stale`.
    refused: Vec<u64>,
    is_stale: bool,
    /// Vertices that searches came to in vain since all refusals were known.
    wasted: u64,
    /// Number of dependencies.
    edges: u64,
    /// Vertices that a search has not met, and those on its way.
    unmet: Vec<u64>,
    open: Vec<u64>,
    /// (to, paths) of each vertex.
    after: Vec<Vec<(u32, u32)>>,
    /// Predecessors of each vertex as bits.
    before: Vec<u64>,
    order: Order,
    /// Depth-first search: vertices on the way, and those that were left.
    way: Vec<u32>,
    left: Vec<u32>,
    /// Vertices that it came to, and what finding refusals cost.
    searched: u64,
}

impl<'a> LayerGraph<'a> {
    /// No dependencies among `vertices`.
    pub(in crate::routing) fn new(vertices: &'a Vertices) -> Self {
        let count = vertices.count;
        let words = count.div_ceil(WORD as usize);
        Self {
            vertices,
            bits: vertices.after.empty(),
            refused: vertices.after.empty(),
            is_stale: false,
            wasted: 0,
            edges: 0,
            unmet: vec![0; words],
            open: vec![0; words],
            after: vec![Vec::new(); count],
            before: vertices.before.empty(),
            order: Order::new(vertices),
            way: Vec::new(),
            left: Vec::new(),
            searched: 0,
        }
    }

    /// Vertices that searches have come to so far.
    pub(super) fn searched(&self) -> u64 {
        self.searched + self.order.searched()
    }

    /// Adds all dependencies, which differ, or none when they would close a cycle; tells whether it did.
    pub(in crate::routing) fn try_add(&mut self, dependencies: &[Dependency]) -> bool {
        if std::mem::take(&mut self.is_stale) {
            self.refused.fill(0);
        }
        if self.wasted > self.learning() {
            self.learn();
        }
        let has = |bits: &[u64], &(from, to, _): &Dependency| {
            let (word, mask) = self.vertices.bit(from, to);
            bits[word] & mask != 0
        };
        if dependencies.iter().any(|new| has(&self.refused, new)) {
            return false;
        }
        let absent = |new: &&Dependency| !has(&self.bits, new);
        let new: Vec<Dependency> = dependencies.iter().filter(absent).copied().collect();
        let fits = if new.len() > MANY {
            self.insert_all(&new)
        } else {
            self.insert_each(&new)
        };
        if !fits {
            return false;
        }
        for &(from, to, paths) in dependencies {
            let edges = self.after[from as usize].iter_mut();
            for edge in edges.filter(|edge| edge.0 == to) {
                edge.1 += paths;
            }
        }
        true
    }

    /// What [`Self::learn`] costs, in vertices that a search comes to: it takes some words at a time.
    fn learning(&self) -> u64 {
        self.edges * self.vertices.count as u64 / 1024
    }

    /// Finds all refusals.
    fn learn(&mut self) {
        let order = self.order.vertices();
        closure::add_refused(self.vertices, order, &self.after, &mut self.refused);
        // about what it costs
        self.searched += self.wasted;
        self.wasted = 0;
    }

    /// Adds new dependencies one by one, or none.
    fn insert_each(&mut self, new: &[Dependency]) -> bool {
        for (i, &(from, to, _)) in new.iter().enumerate() {
            if self.insert(from, to) {
                continue;
            }
            for &(from, to, _) in &new[..i] {
                self.unlink(from, to);
            }
            // together with those before it, or already by itself
            if i > 0 && self.insert(from, to) {
                self.unlink(from, to);
            } else {
                let (word, mask) = self.vertices.bit(from, to);
                self.refused[word] |= mask;
            }
            return false;
        }
        true
    }

    /// Adds new dependencies at once, or none: one search finds a cycle if there is one, and the order is made
    /// anew from the order in which vertices were left.
    fn insert_all(&mut self, new: &[Dependency]) -> bool {
        for &(from, to, _) in new {
            self.set(from, to);
        }
        self.unmet.fill(u64::MAX);
        self.open.fill(0);
        self.left.clear();
        // every cycle has a dependency against the order
        let against = |&&(from, to, _): &&Dependency| self.order.is_against(from, to);
        let likely: Vec<u32> = new.iter().filter(against).map(|new| new.0).collect();
        let all = 0..self.vertices.count as u32;
        if !likely
            .into_iter()
            .chain(all)
            .all(|start| self.leave_all(start))
        {
            for &(from, to, _) in new {
                self.clear(from, to);
            }
            return false;
        }
        self.edges += new.len() as u64;
        for &(from, to, _) in new {
            self.link(from, to);
        }
        self.order.set_reversed(&self.left);
        true
    }

    /// Depth-first search from `start`, unless it was met before: appends every vertex to `left` after all
    /// that it leads to; false when it meets a cycle.
    fn leave_all(&mut self, start: u32) -> bool {
        if self.unmet[(start / WORD) as usize] >> (start % WORD) & 1 == 0 {
            return true;
        }
        self.enter(start);
        while let Some(&vertex) = self.way.last() {
            match self.onward(vertex) {
                Onward::Cycle => {
                    self.way.clear();
                    return false;
                }
                Onward::To(next) => self.enter(next),
                Onward::Done => {
                    self.open[(vertex / WORD) as usize] &= !(1 << (vertex % WORD));
                    self.left.push(vertex);
                    self.way.pop();
                }
            }
        }
        true
    }

    fn enter(&mut self, vertex: u32) {
        let (word, mask) = ((vertex / WORD) as usize, 1 << (vertex % WORD));
        self.unmet[word] &= !mask;
        self.open[word] |= mask;
        self.way.push(vertex);
        self.searched += 1;
    }

    /// How the search goes on from a vertex on its way.
    #[inline]
    fn onward(&self, vertex: u32) -> Onward {
        for (word, successors) in self.vertices.after.of(&self.bits, vertex) {
            let (open, unmet) = (self.open[word as usize], self.unmet[word as usize]);
            if successors & open != 0 {
                return Onward::Cycle;
            }
            if successors & unmet != 0 {
                return Onward::To(word * WORD + (successors & unmet).trailing_zeros());
            }
        }
        Onward::Done
    }

    fn set(&mut self, from: u32, to: u32) {
        let (word, mask) = self.vertices.bit(from, to);
        self.bits[word] |= mask;
    }

    fn clear(&mut self, from: u32, to: u32) {
        let (word, mask) = self.vertices.bit(from, to);
        self.bits[word] &= !mask;
    }

    /// A dependency of which the bit is set among the successors.
    fn link(&mut self, from: u32, to: u32) {
        self.after[from as usize].push((to, 0));
        let (word, mask) = self.vertices.bit_before(from, to);
        self.before[word] |= mask;
    }

    /// Takes away what [`Self::try_add`] added.
    pub(super) fn remove(&mut self, dependencies: &[Dependency]) {
        for &(from, to, paths) in dependencies {
            let edges = &mut self.after[from as usize];
            let Some(edge) = edges.iter_mut().find(|edge| edge.0 == to) else {
                continue;
            };
            edge.1 -= paths;
            if edge.1 == 0 {
                self.unlink(from, to);
                self.is_stale = true;
            }
        }
    }

    fn unlink(&mut self, from: u32, to: u32) {
        self.edges -= 1;
        self.clear(from, to);
        self.after[from as usize].retain(|edge| edge.0 != to);
        let (word, mask) = self.vertices.bit_before(from, to);
        self.before[word] &= !mask;
    }

    /// Adds a dependency that is not there; false when it would close a cycle.
    fn insert(&mut self, from: u32, to: u32) -> bool {
        if self.order.is_against(from, to) {
            let searched = self.order.searched();
            let rows = (&self.bits[..], &self.before[..]);
            if !self.order.work_in(self.vertices, rows, (from, to)) {
                self.wasted += self.order.searched() - searched;
                return false;
            }
        }
        self.edges += 1;
        self.set(from, to);
        self.link(from, to);
        true
    }
}

#[cfg(test)]
mod tests;
