//! Masks: sets of small numbers as bits of words.
//!
//! [`Mask`] holds the request bits of a switch, [`LaneMask`] lanes of a port, [`QueueMask`] queues of an input. Cost: O(words), set bits O(1) each.

mod small;

pub use self::small::{LaneMask, Lanes, Marks, QueueMask};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::{BitAnd, BitOrAssign};

/// A set of numbers below `64 * W`, `W` a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask<const W: usize>([u64; W]);

/// How many bits two masks have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Common {
    /// None.
    Nothing,
    /// This one.
    One(u16),
    /// Two or more.
    Several,
}

/// Neighbouring bits of one word.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    word: usize,
    bits: u64,
}

impl Span {
    /// The bits from `first` to `first + more`; all are in one word.
    #[inline(always)]
    pub fn new(first: u32, more: u32) -> Self {
        Self {
            word: (first / 64) as usize,
            bits: (u64::MAX >> (63 - more)) << (first % 64),
        }
    }
}

impl<const W: usize> Mask<W> {
    /// No bit.
    pub const EMPTY: Self = Self([0; W]);
    /// All bits.
    pub const FULL: Self = Self([u64::MAX; W]);

    /// Puts a bit in.
    #[inline(always)]
    pub fn insert(&mut self, bit: u16) {
        self.0[usize::from(bit / 64) % W] |= 1 << (bit % 64);
    }

    /// Takes a bit out.
    #[inline(always)]
    pub fn remove(&mut self, bit: u16) {
        self.0[usize::from(bit / 64) % W] &= !(1 << (bit % 64));
    }

    /// Whether a bit is in.
    #[inline(always)]
    pub fn contains(&self, bit: u16) -> bool {
        self.0[usize::from(bit / 64) % W] >> (bit % 64) & 1 != 0
    }

    /// Puts all bits of a span in.
    #[inline(always)]
    pub fn insert_all(&mut self, span: Span) {
        self.0[span.word % W] |= span.bits;
    }

    /// Takes all bits of a span out.
    #[inline(always)]
    pub fn remove_all(&mut self, span: Span) {
        self.0[span.word % W] &= !span.bits;
    }

    /// The bits of a span that are in, where they stand in their word.
    #[inline(always)]
    pub fn within(&self, span: Span) -> u64 {
        self.0[span.word % W] & span.bits
    }

    /// Whether no bit is in.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// What is in both masks, word by word in registers: as a mask, and asked for bit by bit, it would go through memory.
    #[inline(always)]
    pub fn in_common(&self, other: &Self) -> Common {
        let (mut found, mut at, mut several) = (0, 0, false);
        for word in 0..W {
            let both = self.0[word] & other.0[word];
            if both != 0 {
                several |= found != 0 || !both.is_power_of_two();
                (found, at) = (both, word as u16);
            }
        }
        if several {
            Common::Several
        } else if found == 0 {
            Common::Nothing
        } else {
            Common::One(at * 64 + found.trailing_zeros() as u16)
        }
    }

    /// The first bit that is in both masks.
    #[inline(always)]
    pub fn first_in_common(&self, other: &Self) -> Option<u16> {
        let words = self.0.iter().zip(&other.0).map(|(own, other)| own & other);
        let mut words = (0..).zip(words);
        let (at, word) = words.find(|&(_, word)| word != 0)?;
        Some(at * 64 + word.trailing_zeros() as u16)
    }

    /// Number of bits.
    #[inline]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The bit after `bit`, around the end.
    #[inline(always)]
    pub fn after(bit: u16) -> u16 {
        (bit + 1) % (W as u16 * 64)
    }

    /// Round robin: the first bit at or after `pointer`, around the end.
    #[inline]
    pub fn first_from(&self, pointer: u16) -> Option<u16> {
        let mask = &self.0;
        if W == 1 {
            let turned = mask[0].rotate_right(u32::from(pointer));
            return (turned != 0).then(|| (pointer + turned.trailing_zeros() as u16) % 64);
        }
        let word = usize::from(pointer / 64);
        let ahead = mask[word] & (u64::MAX << (pointer % 64));
        if ahead != 0 {
            return Some(word as u16 * 64 + ahead.trailing_zeros() as u16);
        }
        (1..=W).map(|step| (word + step) % W).find_map(|at| {
            (mask[at] != 0).then(|| at as u16 * 64 + mask[at].trailing_zeros() as u16)
        })
    }

    /// The bit before which there are `n` others.
    pub fn nth(&self, n: u32) -> Option<u16> {
        let mut left = n;
        for (at, &word) in self.0.iter().enumerate() {
            let count = word.count_ones();
            if left < count {
                let mut rest = word;
                for _ in 0..left {
                    rest &= rest - 1;
                }
                return Some(at as u16 * 64 + rest.trailing_zeros() as u16);
            }
            left -= count;
        }
        None
    }

    /// All bits, ascending.
    #[inline(always)]
    pub fn iter(&self) -> Bits<'_, W> {
        Bits {
            words: &self.0,
            at: 0,
            rest: self.0[0],
        }
    }

    /// Takes the bits out that `keep` refuses.
    #[inline(always)]
    pub fn retain(&mut self, mut keep: impl FnMut(u16) -> bool) {
        for (at, word) in self.0.iter_mut().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                if !keep(at as u16 * 64 + bit as u16) {
                    *word &= !(1 << bit);
                }
            }
        }
    }
}

impl<'a, const W: usize> IntoIterator for &'a Mask<W> {
    type Item = u16;
    type IntoIter = Bits<'a, W>;

    #[inline(always)]
    fn into_iter(self) -> Bits<'a, W> {
        self.iter()
    }
}

impl<const W: usize> FromIterator<u16> for Mask<W> {
    fn from_iter<I: IntoIterator<Item = u16>>(bits: I) -> Self {
        let mut mask = Self::EMPTY;
        bits.into_iter().for_each(|bit| mask.insert(bit));
        mask
    }
}

impl<const W: usize> BitAnd for &Mask<W> {
    type Output = Mask<W>;

    #[inline(always)]
    fn bitand(self, other: Self) -> Mask<W> {
        let mut both = *self;
        for (word, other) in both.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
        both
    }
}

impl<const W: usize> BitOrAssign<&Self> for Mask<W> {
    #[inline(always)]
    fn bitor_assign(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }
}

/// The bits of a mask, ascending.
#[derive(Clone, Debug)]
pub struct Bits<'a, const W: usize> {
    words: &'a [u64; W],
    at: usize,
    rest: u64,
}

impl<const W: usize> Iterator for Bits<'_, W> {
    type Item = u16;

    #[inline(always)]
    fn next(&mut self) -> Option<u16> {
        while self.rest == 0 {
            self.at += 1;
            self.rest = *self.words.get(self.at)?;
        }
        let bit = self.at as u16 * 64 + self.rest.trailing_zeros() as u16;
        self.rest &= self.rest - 1;
        Some(bit)
    }
}

// An array whose length is a parameter, which serde does not know: a sequence of exactly `W` words.

impl<const W: usize> Serialize for Mask<W> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.0)
    }
}

impl<'de, const W: usize> Deserialize<'de> for Mask<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = Vec::<u64>::deserialize(deserializer)?;
        let found = words.len();
        let words = words.try_into();
        words
            .map(Self)
            .map_err(|_| Error::invalid_length(found, &"as many words as a mask has"))
    }
}

#[cfg(test)]
mod tests;
