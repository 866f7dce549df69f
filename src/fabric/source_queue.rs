//! Source queues: packets that exist but have not entered the fabric.
//!
//! One FIFO per (host, lane), a list of blocks from one slab with a free list. A waiting packet is a 24-byte
//! record and not yet a packet entity, so an overloaded source costs little memory and no pool growth
//! inside the fabric, and a long queue is read in the order of its memory. A queue that ran empty keeps its last block,
//! so a queue of a few packets never takes or gives one.
//! Cost: O(1) per packet; the slab grows by doubling; 100 bytes for every queue that was ever used.

use super::components::NONE;
use super::prefetch::prefetch;
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// A packet that waits at its host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Creation cycle.
    pub created: u64,
    /// Destination host (global id).
    pub destination: u32,
    /// Number within its source.
    pub sequence: u32,
    /// Traffic class.
    pub class: u16,
    /// Size \[flits\].
    pub size: u16,
    /// Key of the lane map.
    pub key: u8,
}

/// Packets of a block.
const BLOCK: usize = 4;

/// Packets that follow one another in a queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Block {
    packets: [Waiting; BLOCK],
    /// Next block of the same queue, or of the free list.
    next: u32,
}

/// One queue: its packets are those from `head` of the first block to before `tail` of the last. The queue is empty when
/// the two meet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Ends {
    first: u32,
    last: u32,
    head: u8,
    tail: u8,
}

impl Ends {
    /// A queue that has no block yet: its last one is full.
    const UNUSED: Self = Self {
        first: NONE,
        last: NONE,
        head: BLOCK as u8,
        tail: BLOCK as u8,
    };

    #[inline]
    fn is_empty(self) -> bool {
        self.head == self.tail && self.first == self.last
    }
}

/// All source queues of a shard.
#[derive(Resource, Clone, Debug, Default, Serialize, Deserialize)]
pub struct SourceQueues {
    slab: Vec<Block>,
    free: u32,
    /// `[host][lane]`
    ends: Vec<Ends>,
    waiting: u64,
}

impl SourceQueues {
    /// `count` empty queues.
    pub fn new(count: usize) -> Self {
        Self {
            slab: Vec::new(),
            free: NONE,
            ends: vec![Ends::UNUSED; count],
            waiting: 0,
        }
    }

    /// Appends a packet to `queue`.
    #[inline]
    pub fn push(&mut self, queue: usize, packet: Waiting) {
        self.waiting += 1;
        if usize::from(self.ends[queue].tail) == BLOCK {
            self.extend(queue);
        }
        let ends = &mut self.ends[queue];
        self.slab[ends.last as usize].packets[usize::from(ends.tail) % BLOCK] = packet;
        ends.tail += 1;
    }

    /// Adds an empty block at the end of `queue`.
    fn extend(&mut self, queue: usize) {
        let block = if self.free == NONE {
            self.slab.push(Block {
                packets: [Waiting::default(); BLOCK],
                next: NONE,
            });
            self.slab.len() as u32 - 1
        } else {
            let block = self.free;
            self.free = self.slab[block as usize].next;
            block
        };
        let ends = &mut self.ends[queue];
        if ends.last == NONE {
            ends.first = block;
            ends.head = 0;
        } else {
            self.slab[ends.last as usize].next = block;
        }
        ends.last = block;
        ends.tail = 0;
    }

    /// First packet of `queue`.
    #[inline]
    pub fn front(&self, queue: usize) -> Option<&Waiting> {
        let ends = &self.ends[queue];
        (!ends.is_empty())
            .then(|| &self.slab[ends.first as usize].packets[usize::from(ends.head) % BLOCK])
    }

    /// Asks for where `queue` and those after it begin.
    #[inline(always)]
    pub fn prefetch_ends(&self, queue: usize) {
        if let Some(ends) = self.ends.get(queue) {
            prefetch(ends);
        }
    }

    /// Asks for the first packet of `queue`.
    #[inline(always)]
    pub fn prefetch_front(&self, queue: usize) {
        if let Some(block) = self.slab.get(self.ends[queue].first as usize) {
            prefetch(&block.packets[usize::from(self.ends[queue].head) % BLOCK]);
        }
    }

    /// Takes the first packet of `queue`; whether the queue is empty now.
    #[inline]
    pub fn pop(&mut self, queue: usize) -> Option<(Waiting, bool)> {
        let packet = *self.front(queue)?;
        self.waiting -= 1;
        let ends = &mut self.ends[queue];
        ends.head += 1;
        let drained = ends.is_empty();
        if drained {
            (ends.head, ends.tail) = (0, 0);
        } else if usize::from(ends.head) == BLOCK {
            let used = ends.first;
            let block = &mut self.slab[used as usize];
            ends.first = block.next;
            ends.head = 0;
            block.next = self.free;
            self.free = used;
        }
        Some((packet, drained))
    }

    /// Packets of `queue`, first to last.
    pub fn packets(&self, queue: usize) -> impl Iterator<Item = &Waiting> {
        let ends = self.ends[queue];
        let (mut block, mut place) = (ends.first, usize::from(ends.head));
        std::iter::from_fn(move || {
            if block == ends.last && place == usize::from(ends.tail) {
                return None;
            }
            let packets = &self.slab[block as usize];
            let packet = &packets.packets[place];
            place += 1;
            if place == BLOCK && block != ends.last {
                (block, place) = (packets.next, 0);
            }
            Some(packet)
        })
    }

    /// Packets that wait in all queues.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// The same, counted packet by packet. Cost: O(packets).
    pub fn found(&self) -> u64 {
        let queues = 0..self.ends.len();
        queues.map(|queue| self.packets(queue).count() as u64).sum()
    }

    /// Counts one less than there are.
    #[cfg(test)]
    pub(crate) fn forget_one(&mut self) {
        self.waiting -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn queues_are_first_in_first_out_and_reuse_space() {
        let mut queues = SourceQueues::new(2);
        let mut expected = [VecDeque::new(), VecDeque::new()];
        // rounds of pushes, then of pops: across block borders, empty in between
        for (step, &count) in [3, 30, 1, 8, 16, 17, 7].iter().enumerate() {
            for sequence in 0..count {
                let queue = (sequence as usize + step) % 2;
                let packet = Waiting {
                    sequence,
                    created: step as u64,
                    ..Waiting::default()
                };
                queues.push(queue, packet);
                expected[queue].push_back(packet);
            }
            let left = if step % 3 == 0 { 0 } else { 2 };
            for (queue, expected) in expected.iter_mut().enumerate() {
                while expected.len() > left {
                    assert_eq!(queues.front(queue), expected.front());
                    let packet = expected.pop_front().unwrap();
                    assert_eq!(queues.pop(queue), Some((packet, expected.is_empty())));
                }
            }
            let waiting: usize = expected.iter().map(VecDeque::len).sum();
            assert_eq!(queues.waiting(), waiting as u64);
        }
        assert!(queues.pop(0).is_none() && queues.front(0).is_none());
        assert!(queues.slab.len() <= 2 * 30usize.div_ceil(BLOCK));
    }
}
