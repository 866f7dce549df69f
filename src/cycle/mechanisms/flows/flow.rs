//! A flow at its source.
//!
//! Flows are rows of a resource and not entities: an entity costs sixty bytes of bookkeeping, and a host's flows are
//! looked up by row only.

use super::limit::LastStart;
use crate::measure::flow_counts::FlowSent;
use crate::plan::{FlowPlan, Limit, Window};
use crate::rng::Stream;
use crate::traffic::ProcessState;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The state of a flow.
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
    /// Traffic class.
    pub class: u16,
    /// Key of the lane map.
    pub key: u8,
    /// Weight.
    pub weight: u16,
    /// Size of its next packet, if it is backlogged \[flits\].
    pub next_size: u16,
    /// Whether an arrival process makes its packets.
    pub is_process: bool,
    /// Whether it is among the contenders of its lane.
    pub is_ready: bool,
    /// Changes whenever it joins or leaves them.
    pub stamp: u32,
    /// Its limit now.
    pub limit: Limit,
    /// First cycle in which it makes packets, and the first in which it does no more.
    pub active: (u64, u64),
    /// Flits that it may still make; `u64::MAX` = without end.
    pub left: u64,
    /// Cycle, size and debt of its last start; `None` before the first.
    last: Option<(u64, u16, u64)>,
    /// Virtual clock \[2^-32 cycles\].
    pub clock: u128,
    /// Rate that it adds to the sum of its lane.
    pub counted: u64,
    /// Packets on their way, of a flow with a window.
    pub outstanding: u32,
    /// Its window.
    pub window: Option<Window>,
    /// First cycle for which a look at it is arranged; `u64::MAX` = none.
    pub wake: u64,
    /// What it sent.
    pub sent: FlowSent,
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
    /// Packets that have been made and have not started.
    pub queue: VecDeque<Made>,
    /// Their flits.
    pub flits: u64,
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
            class: plan.class,
            key,
            weight: plan.weight,
            next_size: 0,
            is_process: plan.process.is_some(),
            is_ready: false,
            stamp: 0,
            limit: plan.limit,
            active: (plan.start, plan.stop.unwrap_or(u64::MAX)),
            left: plan.flits.unwrap_or(u64::MAX),
            last: None,
            clock: 0,
            counted: 0,
            outstanding: 0,
            window: plan.window,
            wake: u64::MAX,
            sent: FlowSent::default(),
        }
    }

    /// Its last start.
    #[inline]
    pub fn last(&self) -> Option<LastStart> {
        let (at, flits, debt) = self.last?;
        Some(LastStart { at, flits, debt })
    }

    /// It starts a packet.
    #[inline]
    pub fn set_last(&mut self, last: LastStart) {
        self.last = Some((last.at, last.flits, last.debt));
    }

    /// Whether its window lets a packet go.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.window
            .is_none_or(|window| self.outstanding < window.packets)
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
