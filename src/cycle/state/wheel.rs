//! A wheel of alarms: what is due in which cycle, and in which order.
//!
//! An entry is one number, its cycle before its code, so that words are compared and not variants: entries come in the order of cycles, then
//! of codes.
//! Cost: O(1) to add one of the next turn, O(log entries of its cycle) to take it; O(log others) for what is farther away

use super::ring::Ring;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bits of a code.
pub const CODE_BITS: u32 = 68;

/// Bits of a cycle; later ones are as good as never.
const CYCLE_BITS: u32 = u128::BITS - CODE_BITS;

#[inline]
fn entry(at: u64, code: u128) -> u128 {
    debug_assert!(code < 1 << CODE_BITS);
    u128::from(at.min((1 << CYCLE_BITS) - 1)) << CODE_BITS | code
}

#[inline]
fn cycle(entry: u128) -> u64 {
    (entry >> CODE_BITS) as u64
}

#[inline]
fn code(entry: u128) -> u128 {
    entry & ((1 << CODE_BITS) - 1)
}

/// Cycles of a turn of the wheel.
const LENGTH: u64 = 1024;

/// All that is due: buckets for the next turn, a heap for what is farther away or comes up at once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wheel {
    /// Cycle up to which buckets have been emptied.
    base: u64,
    /// Entries of each of the cycles of a turn behind that.
    buckets: Vec<Vec<u128>>,
    busy: Ring,
    /// What has been taken out of buckets, the last one first.
    current: Vec<u128>,
    others: BinaryHeap<Reverse<u128>>,
}

impl Default for Wheel {
    fn default() -> Self {
        Self {
            base: 0,
            buckets: vec![Vec::new(); LENGTH as usize],
            busy: Ring::new(LENGTH),
            current: Vec::new(),
            others: BinaryHeap::new(),
        }
    }
}

impl Wheel {
    /// Something is due in cycle `at`.
    #[inline]
    pub fn push(&mut self, at: u64, code: u128) {
        let entry = entry(at, code);
        if at > self.base && at - self.base < LENGTH {
            self.buckets[(at % LENGTH) as usize].push(entry);
            self.busy.insert(at);
        } else {
            self.others.push(Reverse(entry));
        }
    }

    /// The cycle of the next one; `u64::MAX`: there is none.
    #[inline]
    pub fn next(&self) -> u64 {
        if let Some(&entry) = self.current.last() {
            return cycle(entry);
        }
        let other = self.others.peek();
        let other = other.map_or(u64::MAX, |&Reverse(entry)| cycle(entry));
        let near = self.busy.next(self.base + 1);
        near.map_or(other, |near| near.min(other))
    }

    /// Takes the next one, if it is due by cycle `now`.
    #[inline]
    pub fn due(&mut self, now: u64) -> Option<u128> {
        if self.base < now {
            self.collect(now);
        }
        let other = self.others.peek().map(|&Reverse(entry)| entry);
        let other = other.filter(|&entry| cycle(entry) <= now);
        let is_other = match (other, self.current.last()) {
            (Some(other), Some(&entry)) => other < entry,
            (other, _) => other.is_some(),
        };
        let entry = if is_other {
            self.others.pop().map(|Reverse(entry)| entry)
        } else {
            self.current.pop()
        };
        entry.map(code)
    }

    /// Empties the buckets up to cycle `now`.
    fn collect(&mut self, now: u64) {
        let mut from = self.base + 1;
        while let Some(at) = self.busy.next(from).filter(|&at| at <= now) {
            let bucket = &mut self.buckets[(at % LENGTH) as usize];
            self.current.append(bucket);
            self.busy.remove(at);
            from = at + 1;
        }
        self.base = now;
        self.current.sort_unstable_by_key(|&entry| Reverse(entry));
    }

    /// Keeps those for whose code `keeps` says so.
    pub fn retain(&mut self, keeps: impl Fn(u128) -> bool) {
        let base = self.base;
        let all = std::mem::take(self).into_sorted();
        self.base = base;
        for (at, code) in all.filter(|&(_, code)| keeps(code)) {
            self.push(at, code);
        }
    }

    /// All of them, cycle and code, in order.
    pub fn into_sorted(self) -> impl Iterator<Item = (u64, u128)> {
        let mut entries: Vec<u128> = self.buckets.into_iter().flatten().collect();
        entries.extend(self.current);
        entries.extend(self.others.into_iter().map(|Reverse(entry)| entry));
        entries.sort_unstable();
        entries.into_iter().map(|entry| (cycle(entry), code(entry)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Rng as _, stream};
    use std::collections::BTreeSet;

    #[test]
    fn what_is_as_good_as_never_stays_last() {
        let mut wheel = Wheel::default();
        wheel.push(u64::MAX, 1);
        wheel.push(5, 2);
        wheel.retain(|code| code != 2);
        assert_eq!(wheel.due(1 << 50), None);
        assert_eq!(wheel.next(), (1 << CYCLE_BITS) - 1);
    }

    /// What is added while a cycle is taken, far ahead, for a cycle before and around the wheel comes in the same order as from a
    /// sorted list, through a save in the middle.
    #[test]
    fn buckets_and_heap_are_one_list() {
        let mut draws = stream(1, Purpose::FlowArrivals, 0);
        let (mut wheel, mut list) = (Wheel::default(), BTreeSet::new());
        let (mut now, mut taken) = (0, 0);
        let largest = (1 << CODE_BITS) - 1;
        for step in 0..4000_u64 {
            for _ in 0..draws.next_u64() % 4 {
                let ahead = match draws.next_u64() % 8 {
                    0 => 0,
                    1 => LENGTH - 1 + draws.next_u64() % 3,
                    2 => draws.next_u64() % (20 * LENGTH),
                    _ => draws.next_u64() % 64,
                };
                let at = (now + ahead).saturating_sub(draws.next_u64() % 2);
                let code = largest - u128::from(draws.next_u64() % 16);
                if list.insert((at, code)) {
                    wheel.push(at, code);
                }
            }
            assert_eq!(wheel.next(), list.first().map_or(u64::MAX, |first| first.0));
            if step % 500 == 250 {
                let bytes = postcard::to_stdvec(&wheel).expect("it is written");
                wheel = postcard::from_bytes(&bytes).expect("it is read");
            }
            if step % 700 == 350 {
                wheel.retain(|code| code != largest);
                list.retain(|&(_, code)| code != largest);
            }
            while let Some(&first) = list.first().filter(|first| first.0 <= now) {
                list.pop_first();
                assert_eq!(wheel.due(now), Some(first.1));
                taken += 1;
                if draws.next_u64().is_multiple_of(5) && list.insert((now, step.into())) {
                    wheel.push(now, step.into());
                }
            }
            assert_eq!(wheel.due(now), None);
            let next = list.first().map_or(now + 1, |first| first.0);
            now += 1 + draws.next_u64() % (next - now);
        }
        assert!(taken > 3000, "{taken}");
        let sorted: Vec<_> = wheel.into_sorted().collect();
        assert!(sorted.into_iter().eq(list));
    }
}
