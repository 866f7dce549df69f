//! What flows are like between two cycles, and what a lane would send of them: for who looks on.
//!
//! Cost: O(1) for a flow; a copy of its lane for what that picks

use super::Flows;
use super::flow::{Made, NEVER};
use super::lane::Pick;
use super::ready::first_cycle;
use crate::cycle::shown::{FlowState, FlowsShown, Held, Picked};
use crate::fabric::source_queue::SourceQueues;
use crate::measure::flow_counts::{Amount, FlowSent};
use crate::plan::Scheduler;

impl FlowsShown for Flows {
    fn state(&self, row: u32) -> FlowState {
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

    fn picked(&self, queues: &SourceQueues, queue: usize, now: u64) -> Option<Picked> {
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

    fn made(&self, host: u32, class: u16) -> u32 {
        let classes = self.given.sizes.len();
        self.numbers[host as usize * classes + usize::from(class)]
    }

    fn waiting_at(&self, queue: usize) -> Vec<Held> {
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

    fn sent(&self, row: u32) -> FlowSent {
        let flow = &self.rows[row as usize];
        let sent = flow.sent(self.makers.get(flow.maker as usize));
        let entered = self.buckets.entered(row).filter(|_| !flow.is_process);
        FlowSent {
            created: entered.unwrap_or(sent.created),
            ..sent
        }
    }

    fn rejected(&self, row: u32) -> Amount {
        let maker = self.makers.get(self.rows[row as usize].maker as usize);
        maker.map_or(Amount::default(), |maker| maker.rejected)
    }
}
