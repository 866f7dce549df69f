//! Slots: a clock of a host says which of its flows makes a packet (D52 of the model).
//!
//! Cost: O(log flows of the shard) per tick; O(flows of the class at the host) when one starts or stops.

use super::make::Making;
use super::{Flows, Wake};
use crate::plan::Slots;
use crate::rng::{Purpose, Stream, source_id, stream};
use crate::traffic::{Gap, ProcessState};
use serde::{Deserialize, Serialize};

/// The clock of a class at a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SlotClock {
    /// Traffic class.
    class: u16,
    /// Slot of the next tick.
    slot: u32,
    /// Gaps between ticks.
    ticks: Stream,
    /// State of their process.
    state: ProcessState,
    /// Rows of the flows that are active, ascending.
    holders: Vec<u32>,
    /// Flows that can make a packet now or later.
    pub(super) able: u32,
    /// Packets in the queues of its flows.
    pub(super) queued: u32,
}

impl SlotClock {
    /// A clock before cycle 0, and the cycle of its first tick.
    pub(super) fn new(seed: u64, class: u16, host: u32, slots: &Slots) -> (Self, Option<u64>) {
        let id = source_id(class.into(), host);
        let mut ticks = stream(seed, Purpose::SlotTicks, id);
        let state = slots.ticks.start(&mut ticks);
        let mut clock = Self {
            class,
            slot: 0,
            ticks,
            state,
            holders: Vec::new(),
            able: 0,
            queued: 0,
        };
        let first = clock.gap(slots);
        (clock, first)
    }

    /// Ticks come from the streams of another clock, with the next slot.
    pub(super) fn restart(&mut self, other: Self) {
        (self.ticks, self.state) = (other.ticks, other.state);
    }

    fn gap(&mut self, slots: &Slots) -> Option<u64> {
        match slots.ticks.gap(&mut self.state, &mut self.ticks) {
            Gap::After(cycles) => Some(cycles),
            Gap::WhenSent | Gap::Never => None,
        }
    }

    /// Row of the flow that holds a slot of so many.
    fn holder(&self, slot: u32, count: u32) -> Option<u32> {
        let holders = self.holders.len() as u64;
        let (slot, count) = (u64::from(slot), u64::from(count));
        let rank = (slot * holders).div_ceil(count);
        // ranks have slots that ascend: no smaller one can have this slot
        let is_its = rank < holders && rank * count / holders == slot;
        is_its.then(|| self.holders[rank as usize])
    }

    /// A flow starts (`is_active`) or stops.
    fn hold(&mut self, row: u32, is_active: bool) {
        match self.holders.binary_search(&row) {
            Ok(place) if !is_active => drop(self.holders.remove(place)),
            Err(place) if is_active => self.holders.insert(place, row),
            _ => {}
        }
    }
}

impl Flows {
    /// A flow with a slot starts or stops in this cycle.
    pub(super) fn hold(&mut self, row: u32, now: u64) {
        let flow = &self.rows[row as usize];
        let clock = &mut self.slot_clocks[self.makers[flow.maker as usize].clock as usize];
        let (from, until) = flow.active;
        clock.hold(row, from <= now && now < until);
        clock.able -= u32::from(until == now && flow.left > 0);
    }

    /// A tick of a slot clock.
    pub(super) fn tick(&mut self, number: u32, making: &mut Making<'_>) {
        let clock = &mut self.slot_clocks[number as usize];
        let slots = self.given.slots[usize::from(clock.class)].as_ref();
        let Some(slots) = slots.filter(|_| clock.able > 0) else {
            return;
        };
        if let Some(cycles) = clock.gap(slots) {
            let wake = Wake::Tick(number);
            self.wakes.push(making.now + cycles, wake.code());
        }
        let slot = clock.slot;
        clock.slot = (slot + 1) % slots.count;
        let Some(row) = clock.holder(slot, slots.count) else {
            return;
        };
        let flow = &self.rows[row as usize];
        if flow.left == 0 {
            return;
        }
        let maker = &mut self.makers[flow.maker as usize];
        let sends = (slots.source.as_ref())
            .is_none_or(|source| source.sends(&mut maker.source, &mut maker.arrivals));
        if sends {
            self.make(row, making);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{PROCESSES, ProcessContext};
    use std::sync::Arc;

    fn clock() -> SlotClock {
        let context = ProcessContext {
            mean_size: 4.0,
            cycles_per_flit: 1,
        };
        let build = PROCESSES.find("ConstantRate").unwrap().build;
        let arguments = crate::registry::Arguments {
            text: "(load: 0.5)",
        };
        let ticks = Arc::clone(&build(arguments, context).unwrap().process);
        let slots = Slots {
            load: 0.0,
            count: 7,
            ticks,
            source: None,
        };
        SlotClock::new(1, 0, 0, &slots).0
    }

    /// The rank of each slot against the rule of the page, for every number of holders.
    #[test]
    fn holders_are_spread_over_the_slots() {
        for count in 1..40u32 {
            let mut clock = clock();
            for holders in 0..=count {
                let mut expected = vec![None; count as usize];
                for rank in 0..holders {
                    expected[(rank * count / holders) as usize] = Some(100 + rank);
                }
                let found: Vec<_> = (0..count).map(|slot| clock.holder(slot, count)).collect();
                assert_eq!(found, expected, "{holders} of {count}");
                clock.hold(100 + holders, true);
            }
        }
    }

    #[test]
    fn holders_come_and_go_in_order() {
        let mut clock = clock();
        for (row, is_active) in [(5, true), (3, true), (9, true), (3, true), (5, false)] {
            clock.hold(row, is_active);
        }
        clock.hold(5, false);
        assert_eq!(clock.holders, [3, 9]);
    }
}
