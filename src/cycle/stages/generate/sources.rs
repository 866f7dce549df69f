//! The injection wheel: sources sleep until their next packet is due.
//!
//! One intrusive list per bucket; a source farther away than the wheel is long goes round and is looked
//! at once per turn. A bitset of non-empty buckets finds the next cycle with something to do.
//!
//! Cost: O(1) per packet and per turn of the wheel; a silent host costs nothing in between.

use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::ring::Ring;
use crate::fabric::components::NONE;
use crate::fabric::prefetch::prefetch;
use crate::plan::ClassPlan;
use crate::traffic::{Gap, Source};
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// Buckets of the wheel \[cycles\].
const LENGTH: u64 = 1024;

/// The position of a source on the wheel. Apart from the source, which is many times as large: who goes along a bucket waits for one
/// position after the other.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Position {
    /// Cycle of its next packet.
    due: u64,
    /// Next of the same bucket.
    next: u32,
}

/// All sources of a shard, in (host, class) order.
#[derive(Resource, Debug, Serialize, Deserialize)]
pub struct Sources {
    all: Vec<Source>,
    /// Of each of them.
    positions: Vec<Position>,
    buckets: Vec<u32>,
    busy: Ring,
    /// Sources due in the current cycle.
    pub due: Vec<u32>,
}

impl Persistent for Sources {
    fn resume(&mut self, built: Self, how: &Resume<'_>) {
        if how.fork {
            self.replace(built, how.now, how.saturating);
        }
    }
}

impl Sources {
    /// A wheel with every source at its first packet.
    pub fn new(sources: Vec<(Source, u16)>, classes: &[ClassPlan]) -> Self {
        let mut wheel = Self {
            all: Vec::with_capacity(sources.len()),
            positions: Vec::with_capacity(sources.len()),
            buckets: vec![NONE; LENGTH as usize],
            busy: Ring::new(LENGTH),
            due: Vec::new(),
        };
        for (mut source, class) in sources {
            let gap = source.next_gap(&classes[usize::from(class)]);
            let row = wheel.all.len() as u32;
            wheel.all.push(source);
            wheel.positions.push(Position {
                due: u64::MAX,
                next: NONE,
            });
            match gap {
                Gap::After(cycles) => wheel.insert(row, cycles),
                Gap::WhenSent => wheel.insert(row, 0),
                Gap::Never => {}
            }
        }
        wheel
    }

    /// Replaces the sources by `others`, whose first gap counts from cycle `now`; numbers of packets go on.
    /// Sources of saturating classes stay.
    fn replace(&mut self, others: Self, now: u64, saturating: &[bool]) {
        let saved = std::mem::replace(&mut self.all, others.all);
        let positions = std::mem::replace(&mut self.positions, others.positions);
        self.buckets.fill(NONE);
        self.busy.clear();
        for (row, (old, position)) in saved.into_iter().zip(positions).enumerate() {
            let (source, due) = (&mut self.all[row], self.positions[row].due);
            let due = if saturating[row % saturating.len()] {
                *source = old;
                self.positions[row] = position;
                // on the wheel, or waiting for its packet to start
                Some(position.due).filter(|&due| due >= now && due != u64::MAX)
            } else {
                source.number_after(&old);
                (due != u64::MAX && !source.is_done()).then(|| due + now)
            };
            if let Some(due) = due {
                self.insert(row as u32, due);
            }
        }
    }

    /// A source by its row.
    #[inline]
    pub fn source(&mut self, row: u32) -> &mut Source {
        &mut self.all[row as usize]
    }

    /// Packets that the source in this row has made.
    pub fn made(&self, row: u32) -> u64 {
        self.all[row as usize].made()
    }

    /// Whether all sources of a class, one of so many, have made all that they may.
    pub fn are_done(&self, class: usize, classes: usize) -> bool {
        let mut own = self.all.iter().skip(class).step_by(classes);
        own.all(Source::is_done)
    }

    /// Asks for a source that will be needed soon.
    pub fn prefetch(&self, row: u32) {
        if let Some(source) = self.all.get(row as usize) {
            prefetch(source);
        }
    }

    /// Puts a source on the wheel for cycle `due`.
    #[inline]
    pub fn insert(&mut self, row: u32, due: u64) {
        let bucket = due % LENGTH;
        self.positions[row as usize] = Position {
            due,
            next: self.buckets[bucket as usize],
        };
        self.buckets[bucket as usize] = row;
        self.busy.insert(due);
    }

    /// Whether the bucket of `now` has entries (due now or in a later turn).
    #[inline]
    pub fn is_busy(&self, now: u64) -> bool {
        self.busy.contains(now)
    }

    /// Fills [`Self::due`] with the sources of cycle `now`, in (host, class) order when `ordered`.
    #[inline]
    pub fn collect(&mut self, now: u64, ordered: bool) {
        let bucket = now % LENGTH;
        let mut row = std::mem::replace(&mut self.buckets[bucket as usize], NONE);
        self.busy.remove(now);
        while row != NONE {
            let Position { due, next } = self.positions[row as usize];
            if due == now {
                self.due.push(row);
            } else {
                self.insert(row, due);
            }
            row = next;
        }
        if ordered {
            self.due.sort_unstable();
        }
    }

    /// First cycle from `from` on whose bucket has entries.
    pub fn next_busy(&self, from: u64) -> Option<u64> {
        self.busy.next(from)
    }
}
