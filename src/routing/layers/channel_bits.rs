//! The channels between switches, numbered so that those which leave one switch are neighbours in a set of bits.
//!
//! What a channel leads on to are channels that leave one switch, so that all of them are a few bits of one word. What leads
//! to a channel enters one switch: for that there is a second numbering.
//!
//! Cost: O(channels + switches).

use std::ops::Range;

/// The channels between switches as vertices: those that leave one switch are neighbours in a set of bits.
#[derive(Clone, Debug)]
pub(in crate::routing) struct Vertices {
    /// Vertex of each channel, `u32::MAX` for those of hosts.
    of_channel: Vec<u32>,
    /// Number of vertices, with unused ones that fill words.
    pub(super) count: usize,
    /// What a vertex leads to.
    pub(super) after: Rows,
    /// What leads to a vertex, in numbers among those that enter switches.
    pub(super) before: Rows,
    /// Number of each vertex among those that enter switches, and the vertex of each such number.
    entering: Vec<u32>,
    pub(super) of_entering: Vec<u32>,
}

/// Neighbours of every vertex as bits of a few words.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// Words of a set of bits that the neighbours of a vertex lie in, `[vertex]`: the first and behind the last.
    words: Vec<(u32, u32)>,
    /// First word of each vertex's neighbours in the rows of a graph; one more entry than vertices.
    row: Vec<usize>,
}

impl Rows {
    fn new(words: Vec<(u32, u32)>) -> Self {
        let mut row = Vec::with_capacity(words.len() + 1);
        row.push(0);
        let mut end = 0;
        for &(first, behind) in &words {
            end += (behind - first) as usize;
            row.push(end);
        }
        Self { words, row }
    }

    /// No neighbours.
    pub(super) fn empty(&self) -> Vec<u64> {
        vec![0; self.row[self.words.len()]]
    }

    /// The words of a set of bits that the neighbours of a vertex lie in, and where they are in `bits`.
    #[inline]
    pub(super) fn of<'a>(
        &self,
        bits: &'a [u64],
        vertex: u32,
    ) -> impl Iterator<Item = (u32, u64)> + use<'a> {
        let vertex = vertex as usize;
        let (first, end) = self.words[vertex];
        let row = &bits[self.row[vertex]..self.row[vertex + 1]];
        (first..end).zip(row.iter().copied())
    }

    /// The numbers that the neighbours of a vertex may have.
    pub(super) fn numbers(&self, vertex: usize) -> Range<u32> {
        let (first, end) = self.words[vertex];
        first * WORD..end * WORD
    }

    /// Word in the rows, and mask, of a neighbour of a vertex.
    #[inline]
    fn bit(&self, vertex: u32, neighbour: u32) -> (usize, u64) {
        let word = neighbour / WORD - self.words[vertex as usize].0;
        (
            self.row[vertex as usize] + word as usize,
            1 << (neighbour % WORD),
        )
    }
}

/// Numbers in which those of a switch share words: the first of each switch, the words of each, and how many numbers there are.
fn lay_out(switches: impl Iterator<Item = u32>) -> (Vec<u32>, Vec<(u32, u32)>, usize) {
    let mut degrees: Vec<u32> = Vec::new();
    for switch in switches {
        if degrees.len() <= switch as usize {
            degrees.resize(switch as usize + 1, 0);
        }
        degrees[switch as usize] += 1;
    }
    let (mut next, mut first) = (0u32, Vec::with_capacity(degrees.len()));
    for &degree in &degrees {
        // one that would begin a word and end in the next starts with the next
        if next % WORD + degree > WORD {
            next = next.next_multiple_of(WORD);
        }
        first.push(next);
        next += degree;
    }
    let places = first.iter().zip(&degrees);
    let words = places.map(|(&first, &degree)| (first / WORD, (first + degree).div_ceil(WORD)));
    let words = words.collect();
    (first, words, next as usize)
}

impl Vertices {
    /// Vertices of channels of which `ends` are the switches: from, to.
    pub(in crate::routing) fn new(ends: &[Option<(u32, u32)>]) -> Self {
        let between = || ends.iter().flatten();
        let (mut leaving, leaving_words, count) = lay_out(between().map(|&(from, _)| from));
        let (mut entering, entering_words, entering_count) = lay_out(between().map(|&(_, to)| to));
        let mut of_channel = vec![u32::MAX; ends.len()];
        let [mut after, mut before] = [(); 2].map(|()| vec![(0, 0); count]);
        let mut numbers = vec![u32::MAX; count];
        let mut of_entering = vec![u32::MAX; entering_count];
        for (channel, ends) in ends.iter().enumerate() {
            let &Some((from, to)) = ends else {
                continue;
            };
            let vertex = take(&mut leaving[from as usize]);
            let number = take(&mut entering[to as usize]);
            of_channel[channel] = vertex;
            numbers[vertex as usize] = number;
            of_entering[number as usize] = vertex;
            // a switch that nothing leaves, or enters, has no words
            let words = |words: &[(u32, u32)], switch: u32| words.get(switch as usize).copied();
            after[vertex as usize] = words(&leaving_words, to).unwrap_or_default();
            before[vertex as usize] = words(&entering_words, from).unwrap_or_default();
        }
        Self {
            of_channel,
            count,
            after: Rows::new(after),
            before: Rows::new(before),
            entering: numbers,
            of_entering,
        }
    }

    /// Vertex of a channel between switches.
    pub(in crate::routing) fn of(&self, channel: u32) -> u32 {
        self.of_channel[channel as usize]
    }

    /// Word and mask of a dependency in the rows of what comes after.
    #[inline]
    pub(super) fn bit(&self, from: u32, to: u32) -> (usize, u64) {
        self.after.bit(from, to)
    }

    /// Word and mask of a dependency in the rows of what comes before.
    #[inline]
    pub(super) fn bit_before(&self, from: u32, to: u32) -> (usize, u64) {
        self.before.bit(to, self.entering[from as usize])
    }
}

/// A number, and the next one from then on.
fn take(number: &mut u32) -> u32 {
    *number += 1;
    *number - 1
}

/// Bits of a word.
pub(super) const WORD: u32 = u64::BITS;

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Vertices of which each may depend on each.
    pub(in crate::routing::layers) fn any(count: u32) -> Vertices {
        let rows = Rows::new(vec![(0, count.div_ceil(WORD)); count as usize]);
        Vertices {
            of_channel: (0..count).collect(),
            count: count as usize,
            after: rows.clone(),
            before: rows,
            entering: (0..count).collect(),
            of_entering: (0..count).collect(),
        }
    }

    /// The channels of a star whose middle needs several words, and one of a host.
    pub(in crate::routing::layers) fn star() -> Vertices {
        Vertices::new(&star_ends())
    }

    fn star_ends() -> Vec<Option<(u32, u32)>> {
        let star = (1..=100).flat_map(|leaf| [Some((0, leaf)), Some((leaf, 0))]);
        star.chain([None]).collect()
    }

    #[test]
    fn channels_of_a_switch_share_its_words() {
        let (ends, vertices) = (star_ends(), star());
        let mut seen = std::collections::HashSet::new();
        for (from, a) in (0u32..).zip(&ends) {
            let Some((_, to)) = *a else {
                continue;
            };
            assert!(seen.insert(vertices.of(from)));
            for (after, b) in (0u32..).zip(&ends) {
                if b.is_some_and(|(start, _)| start == to) {
                    let [from, after] = [from, after].map(|channel| vertices.of(channel));
                    let (word, _) = vertices.bit(from, after);
                    let row = &vertices.after.row[from as usize..];
                    assert!((row[0]..row[1]).contains(&word));
                    let (word, mask) = vertices.bit_before(from, after);
                    let mut bits = vertices.before.empty();
                    bits[word] |= mask;
                    let found = vertices.before.of(&bits, after);
                    let found: Vec<u32> = found
                        .filter(|&(_, bits)| bits != 0)
                        .map(|(word, bits)| word * WORD + bits.trailing_zeros())
                        .collect();
                    let [number] = found[..] else {
                        panic!("{found:?}")
                    };
                    assert_eq!(vertices.of_entering[number as usize], from);
                }
            }
        }
    }
}
