//! The vertices of an acyclic graph in a topological order that dependencies against it are worked into.
//!
//! Cost: a search looks at each vertex that it comes to once, and at its neighbours as bits of a few words.
//!
//! # Algorithm
//! A dependency against the order is refused when its first end can be reached from its second; otherwise the vertices
//! between them that lead to the first end move before those that are reached from the second: to the places that both
//! have, each kind in its order.
//!
//! References: [`PEARCE_KELLY`](crate::references::PEARCE_KELLY)

use crate::routing::layers::channel_bits::{Rows, Vertices, WORD};

/// The order, and what searches need.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// By vertex.
    place: Vec<u32>,
    /// By place.
    vertex: Vec<u32>,
    /// Vertices that a search has met, by number.
    met: Vec<u64>,
    /// Words of them that are not 0.
    touched: Vec<u32>,
    /// What the second end leads to, and what leads to the first.
    reached: Vec<u32>,
    leading: Vec<u32>,
    /// Their places.
    reached_places: Vec<u64>,
    leading_places: Vec<u64>,
    /// All these places.
    places: Vec<u32>,
    /// Vertices that searches came to.
    searched: u64,
}

impl Order {
    /// By number.
    pub(super) fn new(vertices: &Vertices) -> Self {
        let count = vertices.count;
        let words = |count: usize| vec![0; count.div_ceil(WORD as usize)];
        Self {
            place: (0..count as u32).collect(),
            vertex: (0..count as u32).collect(),
            met: words(count.max(vertices.of_entering.len())),
            touched: Vec::new(),
            reached: Vec::new(),
            leading: Vec::new(),
            reached_places: words(count),
            leading_places: words(count),
            places: Vec::new(),
            searched: 0,
        }
    }

    /// Vertices that searches have come to so far.
    pub(super) fn searched(&self) -> u64 {
        self.searched
    }

    /// All vertices in order.
    pub(super) fn vertices(&self) -> &[u32] {
        &self.vertex
    }

    /// Whether a dependency runs against the order.
    pub(super) fn is_against(&self, from: u32, to: u32) -> bool {
        self.place[to as usize] < self.place[from as usize]
    }

    /// The last vertex first.
    pub(super) fn set_reversed(&mut self, vertices: &[u32]) {
        for (place, &vertex) in (0u32..).zip(vertices.iter().rev()) {
            self.place[vertex as usize] = place;
            self.vertex[place as usize] = vertex;
        }
    }

    /// Works in a dependency against the order among those of the graph, `after` and `before` each vertex; false, and nothing
    /// moves, when it would close a cycle.
    pub(super) fn work_in(
        &mut self,
        vertices: &Vertices,
        (after, before): (&[u64], &[u64]),
        (from, to): (u32, u32),
    ) -> bool {
        let (lower, upper) = (self.place[to as usize], self.place[from as usize]);
        if !self.search_forward(&vertices.after, after, (from, to), upper) {
            return false;
        }
        self.search_back(vertices, before, from, lower);
        self.reorder(lower, upper);
        true
    }

    /// What `to` leads to up to `upper`; false when `from` is among it.
    fn search_forward(
        &mut self,
        rows: &Rows,
        after: &[u64],
        (from, to): (u32, u32),
        upper: u32,
    ) -> bool {
        self.begin();
        let (last_word, last) = (from / WORD, 1 << (from % WORD));
        self.reached.clear();
        self.reached.push(to);
        let mut head = 0;
        while let Some(&vertex) = self.reached.get(head) {
            head += 1;
            for (word, bits) in rows.of(after, vertex) {
                if word == last_word && bits & last != 0 {
                    self.searched += head as u64;
                    return false;
                }
                let mut new = meet(&mut self.met, &mut self.touched, word, bits);
                while new != 0 {
                    let next = word * WORD + new.trailing_zeros();
                    new &= new - 1;
                    if self.place[next as usize] < upper {
                        self.reached.push(next);
                    }
                }
            }
        }
        self.searched += head as u64;
        true
    }

    /// What leads to `from`, down to `lower`.
    fn search_back(&mut self, vertices: &Vertices, before: &[u64], from: u32, lower: u32) {
        self.begin();
        self.leading.clear();
        self.leading.push(from);
        let mut head = 0;
        while let Some(&vertex) = self.leading.get(head) {
            head += 1;
            for (word, bits) in vertices.before.of(before, vertex) {
                let mut new = meet(&mut self.met, &mut self.touched, word, bits);
                while new != 0 {
                    let number = word * WORD + new.trailing_zeros();
                    let next = vertices.of_entering[number as usize];
                    new &= new - 1;
                    if self.place[next as usize] > lower {
                        self.leading.push(next);
                    }
                }
            }
        }
        self.searched += head as u64;
    }

    /// Nothing is met.
    fn begin(&mut self) {
        for word in self.touched.drain(..) {
            self.met[word as usize] = 0;
        }
    }

    /// Gives the places of both sets, which are between these two, to the leading vertices first, then to the reached ones.
    fn reorder(&mut self, lower: u32, upper: u32) {
        for (vertices, places) in [
            (&self.reached, &mut self.reached_places),
            (&self.leading, &mut self.leading_places),
        ] {
            for &vertex in vertices {
                let place = self.place[vertex as usize];
                places[(place / WORD) as usize] |= 1 << (place % WORD);
            }
        }
        for list in [&mut self.reached, &mut self.leading, &mut self.places] {
            list.clear();
        }
        for word in lower / WORD..=upper / WORD {
            let sets = [&mut self.reached_places, &mut self.leading_places];
            let [reached, leading] = sets.map(|set| std::mem::take(&mut set[word as usize]));
            let of = |place: u32| self.vertex[place as usize];
            self.places.extend(places(word, reached | leading));
            self.reached.extend(places(word, reached).map(of));
            self.leading.extend(places(word, leading).map(of));
        }
        let both = self.leading.iter().chain(&self.reached);
        for (&vertex, &place) in both.zip(&self.places) {
            self.place[vertex as usize] = place;
            self.vertex[place as usize] = vertex;
        }
    }
}

/// Those of some bits that were not met before, which are met now.
#[inline]
fn meet(met: &mut [u64], touched: &mut Vec<u32>, word: u32, bits: u64) -> u64 {
    let seen = &mut met[word as usize];
    let new = bits & !*seen;
    if new != 0 {
        if *seen == 0 {
            touched.push(word);
        }
        *seen |= new;
    }
    new
}

/// The places of the bits of a word, in order.
fn places(word: u32, mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| word * WORD + bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
        place
    })
}
