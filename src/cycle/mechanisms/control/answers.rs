//! Answers: from the receiver that gives one to the control queue of its lane.

use crate::control::Answer;
use crate::cycle::joints::{Replies, Taken};
use crate::cycle::shown::{AnswersShown, Queued};
use crate::cycle::snapshot::{Persistent, Resume};
use crate::fabric::numbering::Numbering;
use crate::fabric::rows::HostRow;
use crate::fabric::source_queue::Waiting;
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Where the answers of a flow go.
#[derive(Clone, Copy, Debug)]
pub(in crate::cycle::mechanisms) struct Way {
    /// Host that answers.
    pub(in crate::cycle::mechanisms) host: HostRow,
    /// The same (global id).
    pub(in crate::cycle::mechanisms) source: u32,
    /// The flow's source (global id).
    pub(in crate::cycle::mechanisms) destination: u32,
    /// The flow (global id).
    pub(in crate::cycle::mechanisms) flow: u32,
    /// Class of the answers.
    pub(in crate::cycle::mechanisms) class: u16,
    /// Size \[flits\].
    pub(in crate::cycle::mechanisms) size: u16,
    /// Packets of an answer.
    pub(in crate::cycle::mechanisms) packets: u16,
    /// Key of the lane map.
    pub(in crate::cycle::mechanisms) key: u8,
    /// Lane of the host's channel.
    pub(in crate::cycle::mechanisms) lane: u8,
}

/// An answer to be made: cycle, host, class, cycle of the delivery, row of the flow at its end, value.
type Due = (u64, u32, u16, u64, u32, u32);

/// Answers of the hosts of a shard that have not started.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct Answers {
    /// By row of the flow at its end.
    #[serde(skip)]
    pub(super) ways: Vec<Option<Way>>,
    /// First class of answers; all behind it are, too.
    #[serde(skip)]
    pub(super) first: u16,
    /// Classes of answers.
    #[serde(skip)]
    pub(super) classes: u16,
    pub(super) due: BinaryHeap<Reverse<Due>>,
    /// Number of the next answer, `[host][class]`.
    pub(super) numbers: Vec<u32>,
    /// By source queue.
    pub(super) queues: Vec<VecDeque<Queued>>,
    /// Packets in them.
    pub(super) waiting: u64,
}

impl Persistent for Answers {
    fn resume(&mut self, built: Self, _: &Resume<'_>) {
        (self.ways, self.first, self.classes) = (built.ways, built.first, built.classes);
    }
}

impl Answers {
    /// First cycle in which one is made.
    #[inline]
    pub fn next(&self) -> u64 {
        self.due.peek().map_or(u64::MAX, |Reverse((at, ..))| *at)
    }

    /// Packets in control queues.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Calls `act` with host, class and packets of all answers that are to be made, and of all packets in control queues.
    pub(in crate::cycle::mechanisms) fn each(
        &self,
        numbering: Numbering,
        mut act: impl FnMut(HostRow, u16, u32),
    ) {
        for Reverse((_, host, class, _, tail, _)) in &self.due {
            let packets = self.way(*tail).map_or(0, |way| way.packets);
            act(HostRow(*host), *class, packets.into());
        }
        for (row, queue) in self.queues.iter().enumerate() {
            let host = HostRow((row / numbering.lanes() as usize) as u32);
            for queued in queue {
                act(host, queued.packet.class, 1);
            }
        }
    }

    /// Whether packets of a class are answers.
    #[inline]
    pub fn is_answer(&self, class: u16) -> bool {
        class >= self.first
    }

    /// Where the answers of the flow that ends in this row go.
    pub(in crate::cycle::mechanisms) fn way(&self, tail: u32) -> Option<Way> {
        self.ways[tail as usize]
    }

    /// The receiver of the flow that ends in this row answers the packet delivered in cycle `now`.
    pub(super) fn promise(&mut self, now: u64, tail: u32, answer: Answer) {
        if let Some(way) = &self.ways[tail as usize] {
            let at = now + answer.after;
            let due = (at, way.host.0, way.class, now, tail, answer.value);
            self.due.push(Reverse(due));
        }
    }

    /// A packet created in cycle `at` joins the control queue of its lane; returns its number.
    pub(in crate::cycle::mechanisms) fn queue(
        &mut self,
        numbering: Numbering,
        way: &Way,
        at: u64,
        value: u32,
    ) -> u32 {
        let class = usize::from(way.class - self.first);
        let number = &mut self.numbers[way.host.0 as usize * usize::from(self.classes) + class];
        let sequence = *number;
        *number += 1;
        let packet = Waiting {
            created: at,
            destination: way.destination,
            sequence,
            class: way.class,
            size: way.size,
            key: way.key,
        };
        let queue = numbering.source_queue(way.host, way.lane.into());
        self.queues[queue].push_back(Queued {
            packet,
            flow: way.flow,
            value,
        });
        self.waiting += 1;
        sequence
    }
}

impl Replies for Answers {
    #[inline]
    fn front(&self, queue: usize) -> Option<u16> {
        self.queues[queue].front().map(|queued| queued.packet.size)
    }

    fn pop(&mut self, queue: usize) -> Option<Taken> {
        let queued = self.queues[queue].pop_front()?;
        self.waiting -= 1;
        Some(Taken {
            flow: queued.flow,
            answer: queued.value,
            ..Taken::queued(queued.packet, false)
        })
    }
}

impl AnswersShown for Answers {
    fn made(&self, host: u32, class: u16) -> u32 {
        let class = usize::from(class - self.first);
        self.numbers[host as usize * usize::from(self.classes) + class]
    }

    fn queued(&self, queue: usize) -> &VecDeque<Queued> {
        &self.queues[queue]
    }
}
