//! What flows are like between two cycles, and what a lane would send of them: for who looks on.
//!
//! Cost: O(1) for a flow; a copy of its lane for what that picks

use super::Flows;
use super::flow::{Made, NEVER};
use super::lane::Pick;
use super::ready::first_cycle;
use crate::fabric::source_queue::{SourceQueues, Waiting};
use crate::measure::flow_counts::FlowSent;
use crate::plan::{Limit, Scheduler};

/// A flow between two cycles. Limit, window and what is outstanding are those of its group, if it is in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowState {
    /// Lane of its host's channel.
    pub lane: u8,
    /// Start cycle; `None`: not known yet.
    pub start: Option<u64>,
    /// Stop cycle.
    pub stop: Option<u64>,
    /// Flits that it may still make; `None` = without end.
    pub unmade: Option<u64>,
    /// Whether it is in a group.
    pub is_grouped: bool,
    /// Limit.
    pub limit: Limit,
    /// First cycle in which the limit lets a packet go; `None` = never.
    pub eligible: Option<u64>,
    /// Packets that may be on their way at once; `None` = any number.
    pub window: Option<u32>,
    /// Those that are.
    pub outstanding: u32,
    /// Packets in its own queue; `None`: it makes them when they go.
    pub queued: Option<u64>,
    /// Packets in the FIFO of its lane, where there is one.
    pub entered: Option<u64>,
    /// Size of its next packet \[flits\].
    pub next_flits: u16,
    /// Whether lanes have ticks, which hold flows in place of their limits.
    pub has_ticks: bool,
    /// First cycle in which its lane lets flows go, where it has a tick and flows that could.
    pub tick: Option<u64>,
    /// What it sent.
    pub sent: FlowSent,
}

/// What a lane would send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picked {
    /// The head of its source queue.
    Queue,
    /// A packet of this flow (id).
    Flow(u32),
}

/// A packet of a flow that waits at its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its flow (id).
    pub flow: u32,
    /// The packet.
    pub packet: Waiting,
    /// Packets before it, in the queue of its flow or in the FIFO of its lane.
    pub ahead: u64,
}

impl Flows {
    /// The flow in this row.
    pub fn state(&self, row: u32) -> FlowState {
        let flow = &self.rows[row as usize];
        let lane = &self.lanes[flow.lane as usize];
        let scheduler = self.given.scheduler;
        let cycle = |at: u64| (at != NEVER).then_some(at);
        let group = self.groups.get(lane.group as usize);
        let (limit, eligible, window, outstanding) = match group {
            Some(group) => group.state(lane.pace),
            None => (
                flow.limit(),
                first_cycle(flow, lane.pace, scheduler).filter(|&at| at != NEVER),
                (flow.window > 0 && flow.window < u32::MAX).then_some(flow.window),
                flow.outstanding,
            ),
        };
        let entered = self.buckets.all(flow.lane).filter(|&(of, _)| of == row);
        FlowState {
            lane: lane.number,
            start: cycle(flow.active.0),
            stop: cycle(flow.active.1).filter(|_| flow.active.0 != NEVER),
            unmade: cycle(flow.left),
            is_grouped: group.is_some(),
            limit,
            eligible,
            window,
            outstanding,
            queued: self.maker(flow).map(|maker| maker.queue.len() as u64),
            entered: (self.buckets.are_there()).then(|| entered.count() as u64),
            next_flits: self.size_of(row),
            has_ticks: scheduler == Scheduler::Paced,
            tick: (scheduler == Scheduler::Paced)
                .then(|| lane.tick(scheduler))
                .flatten(),
            sent: self.sent(row),
        }
    }

    /// What a lane would send in cycle `now`, by its source queue, credits aside.
    pub fn picked(&self, queues: &SourceQueues, queue: usize, now: u64) -> Option<Picked> {
        let front = queues.front(queue);
        let number = self.lane_of[queue];
        let Some(lane) = self.lanes.get(number as usize) else {
            return front.map(|_| Picked::Queue);
        };
        if self.buckets.are_there() {
            let first = self.buckets.first_row(number, front);
            let first = first.map(|row| Picked::Flow(self.rows[row as usize].id));
            return first.or(front.map(|_| Picked::Queue));
        }
        let pick = (lane.clone()).pick(self.given.scheduler, &self.rows, front, now)?;
        Some(match pick {
            Pick::Queue => Picked::Queue,
            Pick::Flow(row) => Picked::Flow(self.rows[row as usize].id),
        })
    }

    /// Packets that a host (row) has made in a class for its flows.
    pub fn made(&self, host: u32, class: u16) -> u32 {
        let classes = self.given.sizes.len();
        self.numbers[host as usize * classes + usize::from(class)]
    }

    /// Packets of flows that wait for the lane of a source queue, in the queues of the flows and in its FIFO.
    pub fn waiting_at(&self, queue: usize) -> Vec<Held> {
        let number = self.lane_of[queue];
        let Some(lane) = self.lanes.get(number as usize) else {
            return Vec::new();
        };
        let held = |row: u32, made: Made, ahead| {
            let flow = &self.rows[row as usize];
            Held {
                flow: flow.id,
                packet: flow.taken(made, false, false).packet,
                ahead,
            }
        };
        let mut all = Vec::new();
        for &row in lane.rows() {
            let maker = self.maker(&self.rows[row as usize]);
            let queued = maker.into_iter().flat_map(|maker| &maker.queue);
            all.extend(
                (0..)
                    .zip(queued)
                    .map(|(ahead, made)| held(row, *made, ahead)),
            );
        }
        let entered = (0..).zip(self.buckets.all(number));
        all.extend(entered.map(|(ahead, (row, made))| held(row, made, ahead)));
        all
    }
}
