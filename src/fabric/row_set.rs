//! A set of rows that gives them back in ascending order.
//!
//! Cost: O(1) per row; nothing while it is empty. Memory: a bit per row up to the largest, and 1/64 of that twice.
//!
//! # Algorithm
//! A bit per row, a bit per word of these that is not 0, and a bit per word of those: the first row is three looks away.

use super::rows::Row;
use std::marker::PhantomData;

/// A set of rows of one kind.
#[derive(Clone, Debug)]
pub struct RowSet<R> {
    rows: Vec<u64>,
    /// Words of `rows` that are not 0.
    words: Vec<u64>,
    /// Words of `words` that are not 0.
    groups: Vec<u64>,
    kind: PhantomData<R>,
}

impl<R> Default for RowSet<R> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            words: Vec::new(),
            groups: Vec::new(),
            kind: PhantomData,
        }
    }
}

impl<R: Row> RowSet<R> {
    /// Adds a row.
    #[inline]
    pub fn insert(&mut self, row: R) {
        let (word, bit) = (row.index() / 64, row.index() % 64);
        if word >= self.rows.len() {
            self.grow(word);
        }
        self.rows[word] |= 1 << bit;
        self.words[word / 64] |= 1 << (word % 64);
        self.groups[word / 64 / 64] |= 1 << (word / 64 % 64);
    }

    /// Whether a row is in.
    pub fn contains(&self, row: R) -> bool {
        let word = self.rows.get(row.index() / 64);
        word.is_some_and(|word| word >> (row.index() % 64) & 1 != 0)
    }

    #[cold]
    fn grow(&mut self, word: usize) {
        self.rows.resize(word + 1, 0);
        self.words.resize(word / 64 + 1, 0);
        self.groups.resize(word / 64 / 64 + 1, 0);
    }

    /// Calls `act` for every row.
    #[inline(always)]
    pub fn each(&self, mut act: impl FnMut(R)) {
        for (place, &groups) in self.groups.iter().enumerate() {
            for group in ones(groups).map(|bit| place * 64 + bit) {
                for word in ones(self.words[group]).map(|bit| group * 64 + bit) {
                    ones(self.rows[word]).for_each(|bit| act(R::of(word * 64 + bit)));
                }
            }
        }
    }

    /// Takes all rows out.
    #[inline(always)]
    pub fn drain(&mut self, mut act: impl FnMut(R)) {
        for (place, groups) in self.groups.iter_mut().enumerate() {
            for group in ones(std::mem::take(groups)).map(|bit| place * 64 + bit) {
                for word in ones(std::mem::take(&mut self.words[group])) {
                    let word = group * 64 + word;
                    for bit in ones(std::mem::take(&mut self.rows[word])) {
                        act(R::of(word * 64 + bit));
                    }
                }
            }
        }
    }
}

/// Places of the bits that are set, ascending.
#[inline(always)]
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::rows::QueueRow;
    use crate::rng::{Purpose, below, stream};
    use std::collections::BTreeSet;

    #[test]
    fn rows_come_back_in_ascending_order() {
        let mut rng = stream(1, Purpose::Routing, 0);
        let mut set: RowSet<QueueRow> = RowSet::default();
        for round in 0..200 {
            let most = [70, 5000, 600_000][round % 3];
            let rows: BTreeSet<u32> = (0..round).map(|_| below(&mut rng, most)).collect();
            for &row in &rows {
                assert!(!set.contains(QueueRow(row)));
                set.insert(QueueRow(row));
                set.insert(QueueRow(row));
                assert!(set.contains(QueueRow(row)));
            }
            let (mut seen, mut found) = (Vec::new(), Vec::new());
            set.each(|row| seen.push(row.0));
            set.drain(|row| found.push(row.0));
            assert_eq!(seen, found);
            assert_eq!(found, rows.into_iter().collect::<Vec<u32>>());
            set.drain(|row| panic!("{row:?} is still there"));
        }
    }
}
