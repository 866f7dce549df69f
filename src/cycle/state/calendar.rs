//! The calendar: everything that takes time, by the cycle in which it happens.
//!
//! A ring of slots longer than the farthest event (largest packet time plus all latencies and delays), so
//! an event is one append to its slot and one read from it. A bitset of non-empty slots finds the next
//! busy cycle, which lets an idle shard jump.
//!
//! Cost: O(1) per event; finding the next busy slot O(slots / 64).

use super::ring::Ring;
use crate::cycle::snapshot::Persistent;
use crate::fabric::rows::{Freed, LaneRow, PacketRow, PortRow, QueueRow};
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// Credits that begin to count at a sender.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Ramp {
    /// Lane of the sender.
    pub lane: LaneRow,
    /// Number of credits \[flits\].
    pub flits: u16,
    /// Cycles between two.
    pub step: u16,
}

/// Events of one cycle.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Slot {
    /// Packets that may request from now on: (lane of the receiving input, packet).
    pub heads: Vec<(LaneRow, PacketRow)>,
    /// Inputs that are free again (one packet at a time), or queues (higher speed-up).
    pub frees: Vec<Freed>,
    /// Outputs to look at: became free, or computed to have enough credits.
    pub wakes: Vec<PortRow>,
    /// Credits that begin to count.
    pub ramps: Vec<Ramp>,
    /// Packets whose tail reaches its host now.
    pub deliveries: Vec<PacketRow>,
    /// Queues that have a new head since the cycle before, where packets stand in several queues (D84).
    pub raises: Vec<QueueRow>,
    /// Ports that have something to start of their own: slow sinks (ports of hosts) and channels behind output lanes.
    pub starts: Vec<PortRow>,
    /// The slot is in the set of busy ones.
    busy: bool,
}

impl Slot {
    /// Whether nothing but credits is in it.
    pub fn has_ramps_only(&self) -> bool {
        let packets = self.heads.is_empty() && self.deliveries.is_empty();
        let looks = self.frees.is_empty() && self.wakes.is_empty() && self.raises.is_empty();
        packets && looks && self.starts.is_empty()
    }
}

/// The ring of slots.
#[derive(Resource, Clone, Debug, Serialize, Deserialize)]
pub struct Calendar {
    now: u64,
    slots: Vec<Slot>,
    busy: Ring,
    mask: u64,
}

impl Calendar {
    /// A calendar for events up to `horizon` cycles ahead.
    pub fn new(horizon: u64) -> Self {
        let length = (horizon + 2).next_power_of_two().max(64);
        Self {
            now: 0,
            slots: vec![Slot::default(); length as usize],
            busy: Ring::new(length),
            mask: length - 1,
        }
    }

    /// The current cycle.
    #[inline]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Goes to cycle `now`.
    #[inline]
    pub fn set_now(&mut self, now: u64) {
        self.now = now;
    }

    /// The slot of cycle `at`, for appending.
    #[inline]
    pub fn at(&mut self, at: u64) -> &mut Slot {
        let slot = &mut self.slots[(at & self.mask) as usize];
        if !slot.busy {
            slot.busy = true;
            self.busy.insert(at);
        }
        slot
    }

    /// Whether cycle `now` has events.
    #[inline]
    pub fn is_busy(&self, now: u64) -> bool {
        self.busy.contains(now)
    }

    /// The slot of the current cycle.
    #[inline]
    pub fn due(&mut self, now: u64) -> &mut Slot {
        &mut self.slots[(now & self.mask) as usize]
    }

    /// The slot of the current cycle, for draining; it counts as empty from now on.
    #[inline]
    pub fn take(&mut self, now: u64) -> &mut Slot {
        self.busy.remove(now);
        let slot = self.due(now);
        slot.busy = false;
        slot
    }

    /// The slots from cycle `now` on, with their cycles.
    pub fn ahead(&self, now: u64) -> impl Iterator<Item = (u64, &Slot)> {
        let cycles = now..=now + self.mask;
        cycles.map(|at| (at, &self.slots[(at & self.mask) as usize]))
    }

    /// All slots, for checks.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The first busy cycle from `from` on.
    pub fn next_busy(&self, from: u64) -> Option<u64> {
        self.busy.next(from)
    }
}

impl Persistent for Calendar {}
