//! A wheel: things that are due at known cycles, taken out in their order.
//!
//! What is due within [`NEAR`] cycles stands in the list of its cycle, what is due within [`NEAR`] blocks of as many cycles in
//! that of its block, which is dealt out when the block begins; what is farther away is in a heap.
//!
//! Guarantees: the order of a heap of (cycle, thing), whatever the order in which things were put in.
//! Cost: O(1) to put in, O(log things of the cycle) to take out; once O(log far things) for what is far; one look at a list
//! per cycle in which nothing is due

use super::ring::Ring;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cycles with a list of their own, cycles of a block, and blocks with a list.
const NEAR: u64 = 256;

/// Things that are due.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wheel<T: Ord> {
    /// First cycle that was not opened yet.
    ahead: u64,
    /// What is left of those before, the last one first.
    open: Vec<T>,
    /// By cycle, `NEAR` of them from `ahead` on.
    cycles: Vec<Vec<T>>,
    busy_cycles: Ring,
    /// By block, those that begin after `ahead`.
    blocks: Vec<Vec<(u64, T)>>,
    busy_blocks: Ring,
    far: BinaryHeap<Reverse<(u64, T)>>,
}

impl<T: Ord> Default for Wheel<T> {
    fn default() -> Self {
        Self {
            ahead: 0,
            open: Vec::new(),
            cycles: (0..NEAR).map(|_| Vec::new()).collect(),
            busy_cycles: Ring::new(NEAR),
            blocks: (0..NEAR).map(|_| Vec::new()).collect(),
            busy_blocks: Ring::new(NEAR),
            far: BinaryHeap::new(),
        }
    }
}

impl<T: Ord> Wheel<T> {
    /// Puts in what is due in cycle `at`; in a cycle that has been opened it is the next to come in its order.
    #[inline]
    pub fn insert(&mut self, at: u64, thing: T) {
        if at.wrapping_sub(self.ahead) < NEAR {
            self.busy_cycles.insert(at);
            self.cycles[(at % NEAR) as usize].push(thing);
        } else {
            self.insert_beyond(at, thing);
        }
    }

    #[inline(never)]
    fn insert_beyond(&mut self, at: u64, thing: T) {
        let block = at / NEAR;
        if at < self.ahead {
            let place = self.open.partition_point(|other| *other > thing);
            self.open.insert(place, thing);
        } else if block - self.ahead / NEAR < NEAR {
            self.busy_blocks.insert(block);
            self.blocks[(block % NEAR) as usize].push((at, thing));
        } else {
            self.far.push(Reverse((at, thing)));
        }
    }

    /// A cycle from `from` on, no later than the first in which something is due; `u64::MAX`: nothing ever is.
    #[inline]
    pub fn next(&self, from: u64) -> u64 {
        if !self.open.is_empty() {
            return from;
        }
        let cycle = self.busy_cycles.next(self.ahead).unwrap_or(u64::MAX);
        let block = self.busy_blocks.next(self.ahead / NEAR + 1);
        let block = block.map_or(u64::MAX, |block| block * NEAR);
        let far = self.far.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        cycle.min(block).min(far).max(from)
    }

    /// Goes to cycle `now`: from now on [`Self::pop`] gives what is due by then. Returns whether there may be something.
    #[inline]
    pub fn open(&mut self, now: u64) -> bool {
        let may_be_due = self.next(0) <= now;
        if may_be_due {
            self.take_out(now);
        }
        may_be_due
    }

    fn take_out(&mut self, now: u64) {
        let before = std::mem::replace(&mut self.ahead, now + 1);
        while let Some(at) = self.busy_cycles.next(before).filter(|&at| at <= now) {
            self.busy_cycles.remove(at);
            self.open.append(&mut self.cycles[(at % NEAR) as usize]);
        }
        let last = self.ahead / NEAR;
        while let Some(block) = self.busy_blocks.next(before / NEAR + 1)
            && block <= last
        {
            self.busy_blocks.remove(block);
            let mut things = std::mem::take(&mut self.blocks[(block % NEAR) as usize]);
            for (at, thing) in things.drain(..) {
                self.place(at, thing);
            }
            self.blocks[(block % NEAR) as usize] = things;
        }
        while self
            .far
            .peek()
            .is_some_and(|Reverse((at, _))| at / NEAR - last < NEAR)
            && let Some(Reverse((at, thing))) = self.far.pop()
        {
            self.place(at, thing);
        }
        self.open.sort_unstable_by(|one, other| other.cmp(one));
    }

    /// Puts in what is due in cycle `at` before the open things are sorted.
    fn place(&mut self, at: u64, thing: T) {
        if at < self.ahead {
            self.open.push(thing);
        } else {
            self.insert(at, thing);
        }
    }

    /// Leaves out what `keep` does not want.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.open.retain(&mut keep);
        for things in &mut self.cycles {
            things.retain(&mut keep);
        }
        for things in &mut self.blocks {
            things.retain(|(_, thing)| keep(thing));
        }
        self.far.retain(|Reverse((_, thing))| keep(thing));
    }

    /// All of a wheel that was never opened, in order.
    pub fn into_sorted(self) -> Vec<(u64, T)> {
        debug_assert_eq!(self.ahead, 0, "cycles that were opened are not known");
        let near = (0..).zip(self.cycles);
        let near = near.flat_map(|(at, things)| things.into_iter().map(move |thing| (at, thing)));
        let far = self.far.into_iter().map(|Reverse(one)| one);
        let mut all: Vec<_> = near
            .chain(self.blocks.into_iter().flatten())
            .chain(far)
            .collect();
        all.sort_unstable();
        all
    }

    /// The next thing that is due by the cycle opened last.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.open.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, below, stream};

    /// Against a heap: gaps of all lengths, things put in while a cycle is open, cycles without anything left out.
    #[test]
    fn things_come_in_the_order_of_a_heap() {
        let mut random = stream(3, Purpose::Arrivals, 0);
        let (mut wheel, mut heap) = (Wheel::default(), BinaryHeap::new());
        let mut put = |wheel: &mut Wheel<u32>, heap: &mut BinaryHeap<_>, now: u64| {
            let farthest = [1, 3, 300, 70_000, 400_000][below(&mut random, 5) as usize];
            let at = now + u64::from(below(&mut random, farthest));
            let thing = below(&mut random, 50);
            wheel.insert(at, thing);
            heap.push(Reverse((at, thing)));
            thing
        };
        for _ in 0..300 {
            put(&mut wheel, &mut heap, 0);
        }
        let (mut from, mut taken, mut looks) = (0, 0, 0);
        while let Some(&Reverse((first, _))) = heap.peek() {
            let now = wheel.next(from);
            assert!((from..=first).contains(&now), "{from} {now} {first}");
            looks += 1;
            wheel.open(now);
            while heap.peek().is_some_and(|Reverse((at, _))| *at <= now) {
                let thing = heap.pop().map(|Reverse((_, thing))| thing);
                assert_eq!(wheel.pop(), thing);
                taken += 1;
                if taken < 20_000 && taken % 20 != 0 {
                    put(&mut wheel, &mut heap, now);
                }
            }
            assert_eq!(wheel.pop(), None);
            from = now + 1;
        }
        assert_eq!(wheel.next(from), u64::MAX);
        assert!(taken > 5_000 && looks < taken, "{taken} {looks}");
    }

    /// What is due in the cycle that is open, or was before, comes in this cycle still, in its order.
    #[test]
    fn an_open_cycle_takes_more() {
        let mut wheel = Wheel::default();
        wheel.insert(9, 5);
        assert!(!wheel.open(8));
        assert_eq!((wheel.pop(), wheel.next(0)), (None, 9));
        assert!(wheel.open(9));
        for (at, thing) in [(9, 7), (9, 3), (2, 4), (10, 1)] {
            wheel.insert(at, thing);
        }
        assert_eq!(wheel.next(9), 9);
        let all: Vec<u32> = std::iter::from_fn(|| wheel.pop()).collect();
        assert_eq!(all, [3, 4, 5, 7]);
        assert!(wheel.open(10));
        assert_eq!((wheel.pop(), wheel.next(11)), (Some(1), u64::MAX));
    }

    /// Either side of the end of every list, from the first cycle, the last one of a block and one that comes late.
    #[test]
    fn lists_end_where_the_next_begin() {
        let edges = [
            1,
            255,
            256,
            257,
            65_279,
            65_280,
            65_535,
            65_536,
            65_537,
            1 << 40,
        ];
        for ahead in [0, 1, 255, 256, 65_535, 1 << 33] {
            for after in edges {
                let mut wheel = Wheel::default();
                wheel.insert(ahead, 0);
                assert!(wheel.open(ahead));
                assert_eq!(wheel.pop(), Some(0));
                wheel.insert(ahead + after, 1);
                let (mut now, mut looks) = (wheel.next(ahead + 1), 1);
                while !wheel.open(now) || wheel.open.is_empty() {
                    assert!(now < ahead + after, "{ahead} {after}");
                    (now, looks) = (wheel.next(now + 1), looks + 1);
                }
                assert_eq!((now, wheel.pop()), (ahead + after, Some(1)));
                assert!(looks <= 3, "{ahead} {after}: {looks} looks");
            }
        }
    }

    #[test]
    fn a_wheel_is_thinned_out_and_taken_apart() {
        let mut wheel = Wheel::default();
        let cycles = [70_000, 3, 0, 255, 256, 3, 65_536, 1 << 40];
        for (thing, at) in (0..).zip(cycles) {
            wheel.insert(at, thing);
        }
        wheel.retain(|thing| thing % 4 != 0);
        let left = [(3, 1), (3, 5), (65_536, 6), (255, 3), (0, 2), (1 << 40, 7)];
        let mut left: Vec<(u64, u32)> = left.into();
        left.sort_unstable();
        assert_eq!(wheel.clone().into_sorted(), left);
        assert!(wheel.open(0));
        wheel.retain(|&thing| thing == 5 || thing == 7);
        assert_eq!(wheel.pop(), None);
        assert!(wheel.open(3));
        assert_eq!((wheel.pop(), wheel.pop()), (Some(5), None));
        assert!(wheel.open(1 << 40));
        assert_eq!((wheel.pop(), wheel.next(0)), (Some(7), u64::MAX));
    }

    #[test]
    fn a_saved_wheel_is_the_wheel() {
        let mut wheel = Wheel::default();
        for at in [4, 4, 256, 300, 65_535, 65_536, 1 << 40] {
            wheel.insert(at, at as u32);
        }
        wheel.open(4);
        wheel.pop();
        let bytes = postcard::to_stdvec(&wheel).unwrap();
        let mut other: Wheel<u32> = postcard::from_bytes(&bytes).unwrap();
        for at in [4, 256, 300, 65_535, 65_536, 1 << 40] {
            let mut now = other.next(5);
            while !other.open(now) || other.open.is_empty() {
                now = other.next(now + 1);
            }
            assert_eq!((other.pop(), now), (Some(at as u32), at.max(5)));
        }
        assert_eq!(other.next(0), u64::MAX);
    }
}
