//! Leaky buckets: packets of flows that enter the FIFO of their lane at their rates (D46 of the model).
//!
//! A flow that may enter is asked again at the end of `Slot::Admit`'s cycle, when all that happens to flows in it has been
//! done, so that flows of a cycle enter in their order.
//! Cost: O(log flows of the shard) per packet

use super::flow::{Flow, Made, Maker};
use super::limit::{LastStart, debt, eligible, wide};
use super::make::Making;
use super::ready::{first_cycle, limit_of, rate_of};
use super::{Flows, Wake};
use crate::cycle::joints::Taken;
use crate::fabric::rows::HostRow;
use crate::fabric::source_queue::{SourceQueues, Waiting};
use crate::measure::flow_counts::Amount;
use crate::plan::{Limit, Scheduler};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A packet in a FIFO.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entered {
    /// Cycle in which it entered.
    at: u64,
    /// Its flow.
    row: u32,
    made: Made,
}

/// The FIFOs of a shard; nothing with other schedulers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Buckets {
    /// By row of the lane.
    fifos: Vec<VecDeque<Entered>>,
    /// What has entered, by row of the flow.
    entered: Vec<Amount>,
}

impl Buckets {
    /// For so many lanes and flows.
    pub(super) fn new(scheduler: Scheduler, lanes: usize, flows: usize) -> Self {
        if scheduler != Scheduler::LeakyBucket {
            return Self::default();
        }
        Self {
            fifos: vec![VecDeque::new(); lanes],
            entered: vec![Amount::default(); flows],
        }
    }

    /// What the flow in a row has entered, where flows enter.
    pub(super) fn entered(&self, row: u32) -> Option<Amount> {
        self.entered.get(row as usize).copied()
    }

    /// Whether lanes have FIFOs.
    #[inline]
    pub(super) fn are_there(&self) -> bool {
        !self.fifos.is_empty()
    }

    /// The head of a lane's FIFO, if it goes before the head of the source queue.
    #[inline]
    fn first(&self, lane: u32, head: Option<&Waiting>) -> Option<&Entered> {
        let first = self.fifos[lane as usize].front()?;
        head.is_none_or(|head| first.at < head.created)
            .then_some(first)
    }

    /// Row of the flow whose packet goes before the head of the source queue, if one does.
    pub(super) fn first_row(&self, lane: u32, head: Option<&Waiting>) -> Option<u32> {
        self.first(lane, head).map(|first| first.row)
    }

    /// All packets in the FIFO of a lane, with the rows of their flows.
    pub(super) fn all(&self, lane: u32) -> impl Iterator<Item = (u32, Made)> {
        let entries = self.fifos.get(lane as usize).into_iter().flatten();
        entries.map(|entered| (entered.row, entered.made))
    }

    /// Size of the packet that a lane would send next \[flits\].
    #[inline]
    pub(super) fn candidate(&self, lane: u32, head: Option<&Waiting>) -> Option<u16> {
        let first = self.first(lane, head);
        first.map_or(head.map(|head| head.size), |first| Some(first.made.size))
    }
}

/// The debt of a flow after a packet that starts, or enters, now (D30).
pub(super) fn next_debt(flow: &Flow, pace: u16, scheduler: Scheduler, size: u16, now: u64) -> u64 {
    match (flow.last(), limit_of(flow, pace, scheduler)) {
        (Some(last), limit @ Limit::Rate(rate)) => {
            let from = eligible(limit, last, pace).unwrap_or(u64::MAX);
            debt(size, now, from, rate.into(), last)
        }
        _ => wide(size),
    }
}

impl Flows {
    /// The packet of the last candidate starts, where lanes have FIFOs.
    pub(super) fn take_entered(
        &mut self,
        queues: &mut SourceQueues,
        (queue, lane): (usize, u32),
        now: u64,
    ) -> Option<Taken> {
        let head = queues.front(queue);
        if self.buckets.first(lane, head).is_none() {
            let (packet, is_empty) = queues.pop(queue)?;
            let drained = is_empty && self.buckets.fifos[lane as usize].is_empty();
            return Some(Taken::queued(packet, drained));
        }
        let is_empty = head.is_none();
        let fifo = &mut self.buckets.fifos[lane as usize];
        let Entered { row, made, .. } = fifo.pop_front()?;
        let drained = is_empty && fifo.is_empty();
        self.waiting -= 1;
        let flow = &mut self.rows[row as usize];
        flow.count(now, made.size);
        Some(flow.taken(made, drained, false))
    }

    /// Whether the flow in a row may enter a packet.
    fn may_enter(&self, row: u32, now: u64) -> bool {
        let flow = &self.rows[row as usize];
        let (pace, scheduler) = (self.lanes[flow.lane as usize].pace, self.given.scheduler);
        let has_packet = match self.maker(flow) {
            Some(maker) => !maker.queue.is_empty(),
            None => flow.may_make(now),
        };
        let is_sendable = has_packet && flow.is_open() && rate_of(flow, pace, scheduler) > 0;
        is_sendable && first_cycle(flow, pace, scheduler).is_some_and(|from| from <= now)
    }

    /// The maker of a flow with a process.
    pub(super) fn maker(&self, flow: &Flow) -> Option<&Maker> {
        let maker = self.makers.get(flow.maker as usize);
        maker.filter(|_| flow.is_process)
    }

    /// The next packet of a flow enters its lane's FIFO, if it may.
    pub(super) fn enter(&mut self, row: u32, making: &mut Making<'_>) {
        let now = making.now;
        if !self.may_enter(row, now) {
            return;
        }
        let flits = self.size_of(row);
        let flow = &mut self.rows[row as usize];
        let (number, is_made) = (flow.lane, flow.is_process);
        let pace = self.lanes[number as usize].pace;
        let debt = next_debt(flow, pace, self.given.scheduler, flits, now);
        flow.enter(LastStart {
            at: now,
            flits,
            debt,
        });
        let Some(made) = self.next_packet(row, now) else {
            return;
        };
        if !is_made {
            let (class, destination) = {
                let flow = &self.rows[row as usize];
                (flow.class, flow.destination)
            };
            let host = HostRow(self.host_of(number) as u32);
            making.created(host, class, destination, made.size, made.sequence, false);
            self.waiting += 1;
        }
        self.buckets.entered[row as usize].add(made.size);
        let entered = Entered { at: now, row, made };
        self.buckets.fifos[number as usize].push_back(entered);
        self.asks.push(number);
        self.refresh(row, now);
    }

    /// Asks in this cycle, after all that happens to flows, whether a flow enters a packet.
    pub(super) fn ask_to_enter(&mut self, row: u32, now: u64) {
        self.wakes.push(now, Wake::Enter(row).code());
    }
}
