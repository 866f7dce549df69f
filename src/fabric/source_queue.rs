//! Source queues: packets that exist but have not entered the fabric.
//!
//! One FIFO per (host, lane) in one slab with a free list. A waiting packet is a 40-byte record and not yet
//! a packet entity, so an overloaded source costs little memory and no pool growth inside the fabric.
//! Cost: O(1) per packet; the slab grows by doubling.

use super::components::NONE;

/// A packet that waits at its host.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Creation cycle.
    pub created: u64,
    /// Destination host (global id).
    pub destination: u32,
    /// Number within its source.
    pub sequence: u32,
    /// Next of the same queue.
    next: u32,
    /// Traffic class.
    pub class: u16,
    /// Size [flits].
    pub size: u16,
    /// Key of the lane map.
    pub key: u8,
}

/// All source queues of a shard.
#[derive(Clone, Debug, Default)]
pub struct SourceQueues {
    slab: Vec<Waiting>,
    free: u32,
    /// First and last of each (host, lane).
    ends: Vec<(u32, u32)>,
    waiting: u64,
}

impl SourceQueues {
    /// `count` empty queues.
    pub fn new(count: usize) -> Self {
        Self {
            slab: Vec::new(),
            free: NONE,
            ends: vec![(NONE, NONE); count],
            waiting: 0,
        }
    }

    /// Appends a packet to `queue`.
    pub fn push(&mut self, queue: usize, created: u64, class: u16, packet: (u32, u32, u16, u8)) {
        let (destination, sequence, size, key) = packet;
        let entry = Waiting {
            created,
            destination,
            sequence,
            next: NONE,
            class,
            size,
            key,
        };
        let slot = if self.free == NONE {
            self.slab.push(entry);
            self.slab.len() as u32 - 1
        } else {
            let slot = self.free;
            self.free = self.slab[slot as usize].next;
            self.slab[slot as usize] = entry;
            slot
        };
        let (first, last) = &mut self.ends[queue];
        if *last == NONE {
            *first = slot;
        } else {
            self.slab[*last as usize].next = slot;
        }
        *last = slot;
        self.waiting += 1;
    }

    /// First packet of `queue`.
    pub fn front(&self, queue: usize) -> Option<&Waiting> {
        let (first, _) = self.ends[queue];
        (first != NONE).then(|| &self.slab[first as usize])
    }

    /// Takes the first packet of `queue`; whether the queue is empty now.
    pub fn pop(&mut self, queue: usize) -> Option<(Waiting, bool)> {
        let (first, last) = &mut self.ends[queue];
        if *first == NONE {
            return None;
        }
        let slot = *first;
        let entry = self.slab[slot as usize];
        *first = entry.next;
        let drained = *first == NONE;
        if drained {
            *last = NONE;
        }
        self.slab[slot as usize].next = self.free;
        self.free = slot;
        self.waiting -= 1;
        Some((entry, drained))
    }

    /// Packets that wait in all queues.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_first_in_first_out_and_reuse_space() {
        let mut queues = SourceQueues::new(2);
        for round in 0..3u32 {
            queues.push(0, 1, 0, (round, 0, 1, 0));
            queues.push(1, 1, 0, (9, 0, 1, 0));
            queues.push(0, 1, 0, (round + 10, 0, 1, 0));
            assert_eq!(queues.front(0).map(|w| w.destination), Some(round));
            assert_eq!(queues.pop(0).map(|(w, _)| w.destination), Some(round));
            assert_eq!(queues.pop(0).map(|(w, _)| w.destination), Some(round + 10));
            assert!(queues.pop(0).is_none() && queues.pop(1).is_some());
        }
        assert_eq!((queues.waiting(), queues.slab.len()), (0, 3));
    }
}
