//! The injection wheel: sources sleep until their next packet is due.
//!
//! One intrusive list per bucket; a source farther away than the wheel is long goes round and is looked
//! at once per turn. A bitset of non-empty buckets finds the next cycle with something to do.
//!
//! Cost: O(1) per packet and per turn of the wheel; a silent host costs nothing in between.

use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::ring::Ring;
use crate::fabric::components::NONE;
use crate::plan::ClassPlan;
use crate::traffic::{Gap, Source};
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// Buckets of the wheel \[cycles\].
const LENGTH: u64 = 1024;

/// A source on the wheel.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    source: Source,
    /// Cycle of its next packet.
    due: u64,
    /// Next of the same bucket.
    next: u32,
}

/// All sources of a shard, in (host, class) order.
#[derive(Resource, Debug, Serialize, Deserialize)]
pub struct Sources {
    entries: Vec<Entry>,
    buckets: Vec<u32>,
    busy: Ring,
    /// Entries due in the current cycle, ascending.
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
            entries: Vec::with_capacity(sources.len()),
            buckets: vec![NONE; LENGTH as usize],
            busy: Ring::new(LENGTH),
            due: Vec::new(),
        };
        for (mut source, class) in sources {
            let gap = source.next_gap(&classes[usize::from(class)]);
            let row = wheel.entries.len() as u32;
            wheel.entries.push(Entry {
                source,
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
        let saved = std::mem::replace(&mut self.entries, others.entries);
        self.buckets.fill(NONE);
        self.busy.clear();
        for (row, old) in saved.into_iter().enumerate() {
            let entry = &mut self.entries[row];
            let due = if saturating[row % saturating.len()] {
                *entry = old;
                // on the wheel, or waiting for its packet to start
                Some(entry.due).filter(|&due| due >= now && due != u64::MAX)
            } else {
                entry.source.number_after(&old.source);
                (entry.due != u64::MAX && !entry.source.is_done()).then(|| entry.due + now)
            };
            if let Some(due) = due {
                self.insert(row as u32, due);
            }
        }
    }

    /// Whether none will ever make a packet by itself.
    pub fn are_silent(&self) -> bool {
        self.entries.iter().all(|entry| entry.due == u64::MAX)
    }

    /// A source by its row.
    #[inline]
    pub fn source(&mut self, row: u32) -> &mut Source {
        &mut self.entries[row as usize].source
    }

    /// Packets that the source in this row has made.
    pub fn made(&self, row: u32) -> u64 {
        self.entries[row as usize].source.made()
    }

    /// Puts a source on the wheel for cycle `due`.
    #[inline]
    pub fn insert(&mut self, row: u32, due: u64) {
        let bucket = due % LENGTH;
        let entry = &mut self.entries[row as usize];
        entry.due = due;
        entry.next = self.buckets[bucket as usize];
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
            let entry = &self.entries[row as usize];
            let (due, next) = (entry.due, entry.next);
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
