//! The dependencies of one layer: a graph that stays acyclic, with its vertices kept in order.
//!
//! Cost: a new dependency costs a search among the vertices between its two ends in the order; one that is
//! there already, or runs forward, costs a look at the successors of its first end.
//!
//! # Algorithm
//! Every vertex has a place in a topological order. A dependency against the order is refused when its first
//! end can be reached from its second; otherwise the vertices between them that lead to the first end move
//! before those that are reached from the second. A dependency that was refused by itself stays refused as long as none
//! are taken away, which is remembered; once as much time has gone into refusals as it takes to find all of them at once,
//! that is done (see `closure.rs`): where single paths are tried, most are refused by a look. Taking dependencies away keeps the order valid. Many new
//! dependencies at once are checked by one depth-first search, which also gives a new order; the channels that
//! leave one switch are neighbours in a set of bits, so that it looks at a vertex's successors at once.
//!
//! References: [`PEARCE_KELLY`](crate::references::PEARCE_KELLY)

use super::channel_bits::{Vertices, WORD};
use super::closure;

/// A dependency with the number of paths that bring it: (from, to, paths).
pub(super) type Dependency = (u32, u32, u32);

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
pub(super) struct LayerGraph<'a> {
    vertices: &'a Vertices,
    /// Successors of each vertex as bits.
    bits: Vec<u64>,
    /// Successors of each vertex that would close a cycle, as far as known; wrong once `is_stale`.
    refused: Vec<u64>,
    is_stale: bool,
    /// Dependencies looked at in vain since all refusals were known.
    wasted: u64,
    /// Number of dependencies.
    edges: u64,
    /// Vertices that a search has not met, and those on its way.
    unmet: Vec<u64>,
    open: Vec<u64>,
    /// (to, paths) of each vertex.
    after: Vec<Vec<(u32, u32)>>,
    before: Vec<Vec<u32>>,
    place: Vec<u32>,
    mark: Vec<u32>,
    stamp: u32,
    reached: Vec<u32>,
    leading: Vec<u32>,
    /// Depth-first search: vertices on the way.
    way: Vec<u32>,
    /// Dependencies of the vertices that searches came to.
    searched: u64,
}

impl<'a> LayerGraph<'a> {
    /// No dependencies among `vertices`.
    pub(super) fn new(vertices: &'a Vertices) -> Self {
        let count = vertices.count;
        let words = count.div_ceil(WORD as usize);
        Self {
            vertices,
            bits: vec![0; vertices.row[count]],
            refused: vec![0; vertices.row[count]],
            is_stale: false,
            wasted: 0,
            edges: 0,
            unmet: vec![0; words],
            open: vec![0; words],
            after: vec![Vec::new(); count],
            before: vec![Vec::new(); count],
            place: (0..count as u32).collect(),
            mark: vec![0; count],
            stamp: 0,
            reached: Vec::new(),
            leading: Vec::new(),
            way: Vec::new(),
            searched: 0,
        }
    }

    /// Dependencies that searches have looked at so far.
    pub(super) fn searched(&self) -> u64 {
        self.searched
    }

    /// Adds all dependencies, which differ, or none when they would close a cycle; tells whether it did.
    pub(super) fn try_add(&mut self, dependencies: &[Dependency]) -> bool {
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

    /// What [`Self::learn`] costs, in dependencies that a search looks at: it takes some words at a time.
    fn learning(&self) -> u64 {
        self.edges * self.vertices.count as u64 / 2048
    }

    /// Finds all refusals.
    fn learn(&mut self) {
        let mut order = vec![0; self.vertices.count];
        for (vertex, &place) in (0u32..).zip(&self.place) {
            order[place as usize] = vertex;
        }
        closure::add_refused(self.vertices, &order, &self.after, &mut self.refused);
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
        self.reached.clear();
        // every cycle has a dependency against the order
        let against =
            |&&(from, to, _): &&Dependency| self.place[to as usize] < self.place[from as usize];
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
            self.after[from as usize].push((to, 0));
            self.before[to as usize].push(from);
        }
        for (place, &vertex) in (0u32..).zip(self.reached.iter().rev()) {
            self.place[vertex as usize] = place;
        }
        true
    }

    /// Depth-first search from `start`, unless it was met before: appends every vertex to `reached` after all
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
                    self.reached.push(vertex);
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
        self.searched += u64::from(
            self.row(vertex)
                .iter()
                .map(|bits| bits.count_ones())
                .sum::<u32>(),
        );
    }

    /// The successors of a vertex.
    fn row(&self, vertex: u32) -> &[u64] {
        let rows = &self.vertices.row[vertex as usize..];
        &self.bits[rows[0]..rows[1]]
    }

    /// How the search goes on from a vertex on its way.
    #[inline]
    fn onward(&self, vertex: u32) -> Onward {
        let (first, end) = self.vertices.words[vertex as usize];
        for (&successors, word) in self.row(vertex).iter().zip(first..end) {
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
        self.before[to as usize].retain(|&other| other != from);
    }

    /// Adds a dependency that is not there; false when it would close a cycle.
    fn insert(&mut self, from: u32, to: u32) -> bool {
        let (lower, upper) = (self.place[to as usize], self.place[from as usize]);
        if lower < upper {
            let searched = self.searched;
            if !self.search_forward(from, to, upper) {
                self.wasted += self.searched - searched;
                return false;
            }
            self.search_back(from, lower);
            self.reorder();
        }
        self.edges += 1;
        self.set(from, to);
        self.after[from as usize].push((to, 0));
        self.before[to as usize].push(from);
        true
    }

    /// What `to` leads to up to `upper`; false when `from` is among it.
    fn search_forward(&mut self, from: u32, to: u32, upper: u32) -> bool {
        self.stamp += 1;
        self.reached.clear();
        self.reached.push(to);
        self.mark[to as usize] = self.stamp;
        let mut head = 0;
        while let Some(&vertex) = self.reached.get(head) {
            head += 1;
            self.searched += self.after[vertex as usize].len() as u64;
            for &(next, _) in &self.after[vertex as usize] {
                if next == from {
                    return false;
                }
                let n = next as usize;
                if self.place[n] < upper && self.mark[n] != self.stamp {
                    self.mark[n] = self.stamp;
                    self.reached.push(next);
                }
            }
        }
        true
    }

    /// What leads to `from`, down to `lower`.
    fn search_back(&mut self, from: u32, lower: u32) {
        self.stamp += 1;
        self.leading.clear();
        self.leading.push(from);
        self.mark[from as usize] = self.stamp;
        let mut head = 0;
        while let Some(&vertex) = self.leading.get(head) {
            head += 1;
            self.searched += self.before[vertex as usize].len() as u64;
            for &next in &self.before[vertex as usize] {
                let n = next as usize;
                if self.place[n] > lower && self.mark[n] != self.stamp {
                    self.mark[n] = self.stamp;
                    self.leading.push(next);
                }
            }
        }
    }

    /// Gives the places of both sets to the leading vertices first, then to the reached ones.
    fn reorder(&mut self) {
        let place = &mut self.place;
        self.leading.sort_unstable_by_key(|&v| place[v as usize]);
        self.reached.sort_unstable_by_key(|&v| place[v as usize]);
        let both = || self.leading.iter().chain(&self.reached);
        let mut places: Vec<u32> = both().map(|&v| place[v as usize]).collect();
        places.sort_unstable();
        for (&vertex, new) in both().zip(places) {
            place[vertex as usize] = new;
        }
    }
}

#[cfg(test)]
mod tests;
