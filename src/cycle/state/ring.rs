//! Which of the next cycles have something to do: one bit per slot of a ring.
//!
//! Cost: O(1) to change; finding the next one O(slots / 64).

use serde::{Deserialize, Serialize};

/// A set of cycles ahead; a cycle and the one a whole turn later share a bit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ring {
    words: Vec<u64>,
}

impl Ring {
    /// An empty set over `length` slots, a power of two and at least 64.
    pub fn new(length: u64) -> Self {
        Self {
            words: vec![0; (length / 64) as usize],
        }
    }

    #[inline]
    fn word(&self, at: u64) -> usize {
        (at / 64) as usize & (self.words.len() - 1)
    }

    /// Adds cycle `at`.
    #[inline]
    pub fn insert(&mut self, at: u64) {
        let word = self.word(at);
        self.words[word] |= 1 << (at % 64);
    }

    /// Takes cycle `at` out.
    #[inline]
    pub fn remove(&mut self, at: u64) {
        let word = self.word(at);
        self.words[word] &= !(1 << (at % 64));
    }

    /// Whether cycle `at` is in the set.
    #[inline]
    pub fn contains(&self, at: u64) -> bool {
        self.words[self.word(at)] >> (at % 64) & 1 != 0
    }

    /// Takes all cycles out.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The first cycle from `from` on, within one turn.
    pub fn next(&self, from: u64) -> Option<u64> {
        let first = self.words[self.word(from)] >> (from % 64);
        if first != 0 {
            return Some(from + u64::from(first.trailing_zeros()));
        }
        let aligned = from - from % 64;
        (1..=self.words.len() as u64).find_map(|step| {
            let at = aligned + step * 64;
            let word = self.words[self.word(at)];
            (word != 0).then(|| at + u64::from(word.trailing_zeros()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_next_cycle_around_the_ring() {
        let mut ring = Ring::new(256);
        assert_eq!(ring.next(7), None);
        for (now, at) in [(7, 8), (250, 255), (250, 256), (300, 500), (1000, 1255)] {
            ring.insert(at);
            assert!(ring.contains(at));
            assert_eq!(ring.next(now), Some(at));
            ring.remove(at);
            assert_eq!(ring.next(now), None);
        }
    }
}
