//! The calendar: everything that takes time, by the cycle in which it happens.
//!
//! A ring of slots longer than the farthest event (largest packet time plus all latencies and delays), so
//! an event is one append to its slot and one read from it. A bitset of non-empty slots finds the next
//! busy cycle, which lets an idle shard jump.
//!
//! Cost: O(1) per event; finding the next busy slot O(slots / 64).

use crate::cycle::snapshot::Persistent;
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// Credits that begin to count at a sender.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Ramp {
    /// Lane row of the sender.
    pub lane: u32,
    /// Number of credits \[flits\].
    pub flits: u16,
    /// Cycles between two.
    pub step: u16,
}

/// Events of one cycle.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Slot {
    /// Packets that may request from now on: (lane row of the receiving input, packet).
    pub heads: Vec<(u32, u32)>,
    /// Inputs that are free again: port row (one packet at a time) or queue row (higher speed-up).
    pub frees: Vec<u32>,
    /// Outputs to look at: became free, or computed to have enough credits; port rows.
    pub wakes: Vec<u32>,
    /// Credits that begin to count.
    pub ramps: Vec<Ramp>,
    /// Packets whose tail reaches its host now.
    pub deliveries: Vec<u32>,
    /// Ports that have something to start of their own: slow sinks (host port rows) and channels behind output lanes.
    pub starts: Vec<u32>,
    /// The slot's bit in the bitset is set.
    busy: bool,
}

/// The ring of slots.
#[derive(Resource, Clone, Debug, Serialize, Deserialize)]
pub struct Calendar {
    now: u64,
    slots: Vec<Slot>,
    busy: Vec<u64>,
    mask: u64,
}

impl Calendar {
    /// A calendar for events up to `horizon` cycles ahead.
    pub fn new(horizon: u64) -> Self {
        let length = (horizon + 2).next_power_of_two().max(64);
        Self {
            now: 0,
            slots: vec![Slot::default(); length as usize],
            busy: vec![0; (length / 64) as usize],
            mask: length - 1,
        }
    }

    /// The current cycle.
    #[inline]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Goes to cycle `now`.
    #[inline]
    pub fn set_now(&mut self, now: u64) {
        self.now = now;
    }

    /// The slot of cycle `at`, for appending.
    #[inline]
    pub fn at(&mut self, at: u64) -> &mut Slot {
        let index = at & self.mask;
        let slot = &mut self.slots[index as usize];
        if !slot.busy {
            slot.busy = true;
            self.busy[(index / 64) as usize] |= 1 << (index % 64);
        }
        slot
    }

    /// Whether cycle `now` has events.
    #[inline]
    pub fn is_busy(&self, now: u64) -> bool {
        let index = now & self.mask;
        self.busy[(index / 64) as usize] >> (index % 64) & 1 != 0
    }

    /// The slot of the current cycle.
    #[inline]
    pub fn due(&mut self, now: u64) -> &mut Slot {
        &mut self.slots[(now & self.mask) as usize]
    }

    /// The slot of the current cycle, for draining; it counts as empty from now on.
    #[inline]
    pub fn take(&mut self, now: u64) -> &mut Slot {
        let index = now & self.mask;
        self.busy[(index / 64) as usize] &= !(1 << (index % 64));
        let slot = &mut self.slots[index as usize];
        slot.busy = false;
        slot
    }

    /// The slots from cycle `now` on, with their cycles.
    pub fn ahead(&self, now: u64) -> impl Iterator<Item = (u64, &Slot)> {
        let cycles = now..=now + self.mask;
        cycles.map(|at| (at, &self.slots[(at & self.mask) as usize]))
    }

    /// All slots, for checks.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The first busy cycle from `from` on.
    pub fn next_busy(&self, from: u64) -> Option<u64> {
        let length = self.mask + 1;
        let words = self.busy.len() as u64;
        let start = from & self.mask;
        let first = self.busy[(start / 64) as usize] >> (start % 64);
        if first != 0 {
            return Some(from + u64::from(first.trailing_zeros()));
        }
        let aligned = from - start % 64;
        (1..=words).find_map(|step| {
            let word = self.busy[((start / 64 + step) % words) as usize];
            let at = aligned + step * 64 + u64::from(word.trailing_zeros());
            (word != 0 && at < from + length).then_some(at)
        })
    }
}

impl Persistent for Calendar {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_next_busy_cycle_around_the_ring() {
        let mut calendar = Calendar::new(200);
        assert_eq!(calendar.next_busy(7), None);
        for (now, at) in [(7, 8), (250, 255), (250, 256), (300, 500), (1000, 1255)] {
            calendar.at(at).wakes.push(1);
            assert!(calendar.is_busy(at));
            assert_eq!(calendar.next_busy(now), Some(at));
            calendar.take(at).wakes.clear();
            assert_eq!(calendar.next_busy(now), None);
        }
    }
}
