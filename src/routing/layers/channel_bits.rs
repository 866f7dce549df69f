//! The channels between switches, numbered so that those which leave one switch are neighbours in a set of bits.
//!
//! What a channel leads on to are channels that leave one switch, so that all of them are a few bits of one word.
//!
//! Cost: O(channels + switches).

/// The channels between switches as vertices: those that leave one switch are neighbours in a set of bits.
#[derive(Clone, Debug)]
pub(super) struct Vertices {
    /// Vertex of each channel, `u32::MAX` for those of hosts.
    of_channel: Vec<u32>,
    /// Number of vertices, with unused ones that fill words.
    pub(super) count: usize,
    /// Words that the successors of a vertex lie in, `[vertex]`: the first and behind the last.
    pub(super) words: Vec<(u32, u32)>,
    /// First word of each vertex's successors in the rows of a graph; one more entry than vertices.
    pub(super) row: Vec<usize>,
}

impl Vertices {
    /// Vertices of channels of which `ends` are the switches: from, to.
    pub(super) fn new(ends: &[Option<(u32, u32)>]) -> Self {
        let both = ends.iter().flatten();
        let switches = both.map(|&(from, to)| from.max(to) as usize + 1).max();
        let mut out = vec![0u32; switches.unwrap_or(0)];
        for &(from, _) in ends.iter().flatten() {
            out[from as usize] += 1;
        }
        // a switch that would begin a word and end in the next starts with the next
        let (mut next, mut first) = (0u32, Vec::with_capacity(out.len()));
        for &degree in &out {
            if next % WORD + degree > WORD {
                next = next.next_multiple_of(WORD);
            }
            first.push(next);
            next += degree;
        }
        let places = first.iter().zip(&out);
        let words: Vec<(u32, u32)> = places
            .map(|(&first, &degree)| (first / WORD, (first + degree).div_ceil(WORD)))
            .collect();
        let count = next as usize;
        let mut vertices = Self {
            of_channel: vec![u32::MAX; ends.len()],
            count,
            words: vec![(0, 0); count],
            row: Vec::with_capacity(count + 1),
        };
        for (channel, ends) in ends.iter().enumerate() {
            if let &Some((from, to)) = ends {
                let vertex = &mut first[from as usize];
                vertices.of_channel[channel] = *vertex;
                vertices.words[*vertex as usize] = words[to as usize];
                *vertex += 1;
            }
        }
        vertices.lay_rows();
        vertices
    }

    fn lay_rows(&mut self) {
        let mut row = 0;
        for &(first, end) in &self.words {
            self.row.push(row);
            row += (end - first) as usize;
        }
        self.row.push(row);
    }

    /// Vertex of a channel between switches.
    pub(super) fn of(&self, channel: u32) -> u32 {
        self.of_channel[channel as usize]
    }

    /// Word in the rows, and mask, of a dependency.
    pub(super) fn bit(&self, from: u32, to: u32) -> (usize, u64) {
        let word = to / WORD - self.words[from as usize].0;
        (self.row[from as usize] + word as usize, 1 << (to % WORD))
    }
}

/// Bits of a word.
pub(super) const WORD: u32 = u64::BITS;

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Vertices of which each may depend on each.
    pub(in crate::routing::layers) fn any(count: u32) -> Vertices {
        let words = (0, count.div_ceil(WORD));
        let mut vertices = Vertices {
            of_channel: (0..count).collect(),
            count: count as usize,
            words: vec![words; count as usize],
            row: Vec::new(),
        };
        vertices.lay_rows();
        vertices
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
                    let (word, _) = vertices.bit(vertices.of(from), vertices.of(after));
                    let row = &vertices.row[vertices.of(from) as usize..];
                    assert!((row[0]..row[1]).contains(&word));
                }
            }
        }
    }
}
