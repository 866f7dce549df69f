//! Which flows contend for their lane, and from when on (D29, D30 of the model).

use super::flow::Flow;
use super::limit::eligible;
use super::{Flows, Wake};
use crate::plan::{Limit, ONE_FLIT_PER_CYCLE, Scheduler};

impl Flows {
    /// Finds out whether a flow is a contender of its lane, and when it may become one.
    pub(super) fn refresh(&mut self, row: u32, now: u64) {
        let scheduler = self.given.scheduler;
        let flow = &mut self.rows[row as usize];
        let number = flow.lane;
        let lane = &mut self.lanes[number as usize];
        let was_ready = flow.is_ready;
        if was_ready {
            lane.leave(flow);
        }
        let rate = rate_of(flow, lane.pace, scheduler);
        let made = (self.makers.get(flow.maker as usize)).filter(|_| flow.is_process);
        let head = made.and_then(|maker| maker.queue.front());
        let has_packet = match made {
            Some(_) => head.is_some(),
            None => flow.may_make(now),
        };
        let is_sendable = has_packet && flow.is_open() && !(scheduler.takes_rates() && rate == 0);
        let paced = scheduler == Scheduler::Paced;
        let clock = self.clocks.get_mut(row as usize);
        let time = clock.as_ref().map_or(0, |clock| clock.time);
        if paced && let Some(clock) = clock {
            lane.share(clock, if is_sendable { rate } else { 0 });
        }
        // a start that was told while a look was arranged has none of its own
        let mut later = flow.starts_after(now);
        if is_sendable {
            match first_cycle(flow, lane.pace, scheduler).filter(|_| !paced) {
                Some(from) if from > now => later = Some(from),
                None if !paced => {}
                // it contends for nothing: its packet enters the FIFO
                Some(_) if scheduler == Scheduler::LeakyBucket => {
                    return self.ask_to_enter(row, now);
                }
                from => {
                    let last = flow.last().map_or(0, |last| last.at + 1);
                    let since = match head {
                        Some(head) => head.created,
                        None => last.max(flow.active.0),
                    };
                    let since = since.max(from.unwrap_or(0));
                    let queued = made.map_or(0, |maker| maker.flits);
                    let unsent = flow.left.saturating_add(queued);
                    lane.join(scheduler, (row, flow, time), since, unsent);
                }
            }
        }
        let tick = lane.tick(scheduler);
        if let Some(tick) = tick.filter(|&tick| tick > now) {
            self.wake_lane(number, tick);
        }
        // another may be the candidate now
        if was_ready || tick.is_some_and(|tick| tick <= now) {
            self.asks.push(number);
        }
        if let Some(at) = later {
            self.wake(row, at);
        }
    }

    /// Arranges a look at a flow.
    pub(super) fn wake(&mut self, row: u32, at: u64) {
        let flow = &mut self.rows[row as usize];
        if at < flow.wake {
            flow.wake = at;
            self.wakes.push(at, Wake::Look(row).code());
        }
    }

    /// Arranges a look at a lane.
    pub(super) fn wake_lane(&mut self, number: u32, at: u64) {
        let lane = &mut self.lanes[number as usize];
        if at < lane.wake {
            lane.wake = at;
            self.wakes.push(at, Wake::Lane(number).code());
        }
    }
}

/// The rate of a flow, where each has one; else of no meaning.
#[inline]
pub(super) fn rate_of(flow: &Flow, pace: u16, scheduler: Scheduler) -> u64 {
    match flow.limit() {
        Limit::Rate(rate) => rate,
        _ if scheduler.takes_rates() => ONE_FLIT_PER_CYCLE.div_ceil(pace.into()),
        _ => 1,
    }
}

/// The limit that its eligible cycle follows from.
#[inline]
pub(super) fn limit_of(flow: &Flow, pace: u16, scheduler: Scheduler) -> Limit {
    if matches!(scheduler, Scheduler::VirtualClock | Scheduler::LeakyBucket) {
        Limit::Rate(rate_of(flow, pace, scheduler))
    } else {
        flow.limit()
    }
}

/// Its eligible cycle; `None` = never.
#[inline]
pub(super) fn first_cycle(flow: &Flow, pace: u16, scheduler: Scheduler) -> Option<u64> {
    match (limit_of(flow, pace, scheduler), flow.last()) {
        (Limit::Rate(0), _) => None,
        (_, None) => Some(flow.active.0),
        (limit, Some(last)) => eligible(limit, last, pace),
    }
}
