//! A flow at its source.
//!
//! Flows are rows of a resource and not entities: an entity costs sixty bytes of bookkeeping, and a host's flows are
//! looked up by row only.

use super::limit::LastStart;
use crate::cycle::joints::Taken;
use crate::fabric::source_queue::Waiting;
use crate::measure::flow_counts::{Amount, FlowSent};
use crate::plan::{FlowPlan, Limit};
use crate::rng::Stream;
use crate::traffic::{ProcessState, SlotState};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The state of a flow: what every flow has. Two cache lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Flow {
    /// Number within the fabric.
    pub id: u32,
    /// Destination host (global id).
    pub destination: u32,
    /// Row of its lane.
    pub lane: u32,
    /// Its place there, from 1.
    pub place: u32,
    /// Its maker; `NONE`: it is backlogged and all its packets have one size.
    pub maker: u32,
    /// Changes whenever it joins or leaves the contenders of its lane.
    pub stamp: u32,
    /// Packets that may be on their way at once; 0 = any number, and they are not counted.
    pub window: u32,
    /// Packets on their way, where they are counted.
    pub outstanding: u32,
    /// Traffic class.
    pub class: u16,
    /// Weight.
    pub weight: u16,
    /// Size of its next packet, if it is backlogged \[flits\].
    pub next_size: u16,
    /// Size of the last packet that started \[flits\].
    last_flits: u16,
    /// Key of the lane map.
    pub key: u8,
    /// Whether a process, or the clock of its slot, makes its packets.
    pub is_process: bool,
    /// Whether it is among the contenders of its lane.
    pub is_ready: bool,
    limit: SmallLimit,
    /// First cycle in which it makes packets, and the first in which it does no more; [`NEVER`] = not known, or none.
    pub active: (u64, u64),
    /// Flits that it may still make; `u64::MAX` = without end.
    pub left: u64,
    /// Cycle of its last start; [`NEVER`] before the first.
    last_at: u64,
    /// Debt of its last start \[2^-32 flits\].
    last_debt: u64,
    /// First cycle for which a look at it is arranged; [`NEVER`] = none.
    pub wake: u64,
    /// Cycle of its first start; [`NEVER`] before it.
    first_start: u64,
    /// Packets that started.
    started: Amount,
}

/// No cycle.
pub const NEVER: u64 = u64::MAX;

/// A limit in eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SmallLimit(u64);

impl SmallLimit {
    /// Marks a delay: rates are smaller.
    const DELAY: u64 = 1 << 63;
    const NONE: Self = Self(u64::MAX);

    fn new(limit: Limit) -> Self {
        match limit {
            Limit::None => Self::NONE,
            Limit::Rate(rate) => Self(rate),
            Limit::Delay { entry, shift } => {
                Self(Self::DELAY | u64::from(entry) << 8 | u64::from(shift))
            }
        }
    }

    #[inline]
    fn limit(self) -> Limit {
        match self {
            Self::NONE => Limit::None,
            Self(rate) if rate < Self::DELAY => Limit::Rate(rate),
            Self(delay) => Limit::Delay {
                entry: (delay >> 8) as u16,
                shift: delay as u8,
            },
        }
    }
}

/// What a flow has where lanes are shared by virtual clocks.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Clock {
    /// Virtual clock \[2^-32 cycles\].
    pub time: u128,
    /// Rate that it adds to the sum of its lane \[2^-32 flits per cycle\].
    pub counted: u64,
}

/// A packet in the queue of a flow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Made {
    /// Creation cycle.
    pub created: u64,
    /// Number within (host, class).
    pub sequence: u32,
    /// Size \[flits\].
    pub size: u16,
}

/// What flows have that draw sizes or arrivals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Maker {
    /// Packet sizes.
    pub sizes: Stream,
    /// Gaps between packets.
    pub arrivals: Stream,
    /// State of the process.
    pub state: ProcessState,
    /// Clock of its slot, `NONE` without one.
    pub clock: u32,
    /// State of the source of its slot.
    pub source: SlotState,
    /// Packets that have been made and have not started.
    pub queue: VecDeque<Made>,
    /// Their flits.
    pub flits: u64,
    /// Packets made, rejected ones included.
    pub created: Amount,
    /// Packets rejected.
    pub rejected: Amount,
}

impl Flow {
    /// A flow without a start so far.
    pub fn new(id: u32, (lane, place): (u32, u32), key: u8, plan: &FlowPlan, maker: u32) -> Self {
        Self {
            id,
            destination: plan.destination.0,
            lane,
            place,
            maker,
            stamp: 0,
            window: plan.window.map_or(0, |window| window.packets),
            outstanding: 0,
            class: plan.class,
            weight: plan.weight,
            next_size: 0,
            last_flits: 0,
            key,
            is_process: false,
            is_ready: false,
            limit: SmallLimit::new(plan.limit),
            active: (plan.start, plan.stop.unwrap_or(NEVER)),
            left: plan.flits.unwrap_or(u64::MAX),
            last_at: NEVER,
            last_debt: 0,
            wake: NEVER,
            first_start: NEVER,
            started: Amount::default(),
        }
    }

    /// Keeps it from everything until its start cycle is known.
    pub fn hold(&mut self) {
        self.active = (NEVER, NEVER);
    }

    /// Its limit now.
    #[inline]
    pub fn limit(&self) -> Limit {
        self.limit.limit()
    }

    /// Another limit.
    pub fn set_limit(&mut self, limit: Limit) {
        self.limit = SmallLimit::new(limit);
    }

    /// Its last start.
    #[inline]
    pub fn last(&self) -> Option<LastStart> {
        (self.last_at != NEVER).then_some(LastStart {
            at: self.last_at,
            flits: self.last_flits,
            debt: self.last_debt,
        })
    }

    /// It starts a packet.
    #[inline]
    pub fn start(&mut self, last: LastStart) {
        self.enter(last);
        self.count(last.at, last.flits);
    }

    /// A packet of it starts, or enters the FIFO of its lane: what its limit and its window go by.
    #[inline]
    pub fn enter(&mut self, last: LastStart) {
        (self.last_at, self.last_flits, self.last_debt) = (last.at, last.flits, last.debt);
        self.outstanding += u32::from(self.window > 0);
    }

    /// A packet of it starts: what is counted.
    #[inline]
    pub fn count(&mut self, now: u64, flits: u16) {
        self.first_start = self.first_start.min(now);
        self.started.add(flits);
    }

    /// Flits of its packets that started.
    pub fn started_flits(&self) -> u64 {
        self.started.flits
    }

    /// Its start cycle, if it is known and still to come.
    #[inline]
    pub fn starts_after(&self, now: u64) -> Option<u64> {
        let start = self.active.0;
        (start > now && start != NEVER).then_some(start)
    }

    /// Whether it may make a packet, if it is backlogged.
    #[inline]
    pub fn may_make(&self, now: u64) -> bool {
        self.left > 0 && self.active.0 <= now && now < self.active.1
    }

    /// Its packet that starts; `drained`: nothing of the lane could go after it.
    #[inline]
    pub fn taken(&self, made: Made, drained: bool, is_new: bool) -> Taken {
        Taken {
            packet: Waiting {
                created: made.created,
                destination: self.destination,
                sequence: made.sequence,
                class: self.class,
                size: made.size,
                key: self.key,
            },
            drained,
            flow: self.id,
            answer: 0,
            is_new,
        }
    }

    /// What it sent; `maker` its maker, if it has one.
    pub fn sent(&self, maker: Option<&Maker>) -> FlowSent {
        let made = maker.filter(|_| self.is_process);
        FlowSent {
            created: made.map_or(self.started, |maker| maker.created),
            rejected: made.map_or(Amount::default(), |maker| maker.rejected),
            started: self.started,
            start: (self.active.0 != NEVER).then_some(self.active.0),
            first_start: (self.first_start != NEVER).then_some(self.first_start),
            answered: 0,
            logged: 0,
            last_logged: None,
            told_then: 0,
            attempted: 0,
        }
    }

    /// Whether its window lets a packet go.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.window == 0 || self.outstanding < self.window
    }

    /// Takes a packet of at most `size` flits of what it may still make.
    #[inline]
    pub fn take(&mut self, size: u16) -> u16 {
        let size = u64::from(size).min(self.left) as u16;
        if self.left != u64::MAX {
            self.left -= u64::from(size);
        }
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A million of them are looked at in no order.
    #[test]
    fn a_flow_is_two_cache_lines() {
        assert_eq!(size_of::<Flow>(), 128);
    }

    #[test]
    fn a_small_limit_is_the_limit() {
        let delay = |entry, shift| Limit::Delay { entry, shift };
        let rates = [0, 1, 1 << 20, 1 << 32].map(Limit::Rate);
        let delays = [delay(0, 0), delay(1, 3), delay((1 << 14) - 1, 2)];
        for limit in rates.into_iter().chain(delays).chain([Limit::None]) {
            assert_eq!(SmallLimit::new(limit).limit(), limit);
        }
    }
}
