//! Flits under way, by the cycle in which they may leave the lane that they go to.

use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::ring::Ring;
use crate::fabric::rows::LaneRow;
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// The flits that are under way to a shard: a ring of cycles, for each the input lanes that get one.
#[derive(Resource, Clone, Debug, Serialize, Deserialize)]
pub struct Flits {
    slots: Vec<Vec<LaneRow>>,
    busy: Ring,
    /// Number of the receiver of flits from other shards.
    #[serde(skip)]
    receiver: u16,
}

impl Flits {
    /// None, for cycles up to `farthest` ahead; `receiver` takes those from other shards.
    pub(super) fn new(farthest: u64, receiver: u16) -> Self {
        let length = (farthest + 2).next_power_of_two().max(64);
        Self {
            slots: vec![Vec::new(); length as usize],
            busy: Ring::new(length),
            receiver,
        }
    }

    /// Number of the receiver of flits from other shards.
    pub fn receiver(&self) -> u16 {
        self.receiver
    }

    fn slot(&mut self, at: u64) -> &mut Vec<LaneRow> {
        let mask = self.slots.len() as u64 - 1;
        &mut self.slots[(at & mask) as usize]
    }

    /// A flit that may leave this input lane from cycle `at` on.
    #[inline]
    pub(super) fn push(&mut self, at: u64, lane: LaneRow) {
        self.busy.insert(at);
        self.slot(at).push(lane);
    }

    /// Whether there are flits for cycle `now`.
    #[inline]
    pub(super) fn are_due(&self, now: u64) -> bool {
        self.busy.contains(now)
    }

    /// The flits of cycle `now`, to be given back by [`Self::put_back`].
    #[inline]
    pub(super) fn take(&mut self, now: u64) -> Vec<LaneRow> {
        self.busy.remove(now);
        std::mem::take(self.slot(now))
    }

    /// Keeps the room of what was taken.
    #[inline]
    pub(super) fn put_back(&mut self, now: u64, mut taken: Vec<LaneRow>) {
        taken.clear();
        *self.slot(now) = taken;
    }

    /// First cycle from `from` on that has flits; `u64::MAX` = none.
    #[inline]
    pub(super) fn next(&self, from: u64) -> u64 {
        self.busy.next(from).unwrap_or(u64::MAX)
    }

    /// All of them: the lanes that they go to.
    pub(super) fn lanes(&self) -> impl Iterator<Item = LaneRow> {
        self.slots.iter().flatten().copied()
    }
}

impl Persistent for Flits {
    fn resume(&mut self, built: Self, _: &Resume<'_>) {
        self.receiver = built.receiver;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flits_come_in_their_cycles() {
        let mut flits = Flits::new(70, 3);
        for (at, lane) in [(5, 1), (75, 2), (5, 4)] {
            flits.push(at, LaneRow(lane));
        }
        assert_eq!(flits.next(0), 5);
        let due = flits.take(5);
        assert_eq!(due, [LaneRow(1), LaneRow(4)]);
        flits.put_back(5, due);
        assert!(!flits.are_due(5) && flits.are_due(75));
        assert_eq!(flits.next(6), 75);
        assert_eq!(flits.lanes().collect::<Vec<_>>(), [LaneRow(2)]);
        let due = flits.take(75);
        flits.put_back(75, due);
        assert_eq!((flits.next(76), flits.receiver()), (u64::MAX, 3));
    }
}
