//! Which lanes of an output could pass a flit in a cycle, and which of them does.

use super::accept::NO_PICK;
use super::passing::{Passing, Pick};
use crate::cycle::joints::{Behind as _, LaneChoice as _, Way as _};
use crate::cycle::stages::arbitrate::choose;
use crate::fabric::mask::{LaneMask, Mask};
use crate::fabric::rows::{LaneRow, PortRow, QueueRow};
use crate::qos::vl_arbitration::VlChoice;

/// What makes a lane ready.
pub(super) enum Ready<const W: usize> {
    /// The next flit of the packet that holds it, in this queue.
    Holder(QueueRow),
    /// Requests for a lane that nobody holds; with round robin the one whose turn it is.
    Requests(Mask<W>),
}

impl<const W: usize> Passing<'_, W> {
    /// An output that may pass a flit picks one; its input accepts it if nobody before it in turn has picked the input.
    pub(super) fn look(&mut self, out: PortRow) {
        if !self.may_pass(out) {
            return;
        }
        let port = &self.view.outs[out];
        let (asked, pointer) = (port.request_lanes, port.lane_pointer);
        let has_tables = self.has_tables;
        let mut found = LaneMask::EMPTY;
        let mut lanes = asked;
        while !lanes.is_empty() {
            let number = self.view.shared.first_lane(lanes, pointer);
            lanes.remove(number);
            let lane = self.view.shared.numbering.lane(out, number);
            let Some(ready) = self.ready(out, lane) else {
                continue;
            };
            if !has_tables {
                return self.offer((out, lane), ready, None);
            }
            found.insert(number);
        }
        if found.is_empty() {
            return;
        }
        let Some(choice) = self.view.consult(out, found) else {
            if self.view.shared.legacy_arbitration() {
                self.wake(out, self.view.now + 1);
            }
            return;
        };
        let lane = (self.view.shared.numbering).lane(out, u32::from(choice.lane));
        if let Some(ready) = self.ready(out, lane) {
            self.offer((out, lane), ready, Some(choice));
        }
    }

    /// Whether an output that is visited may pass a flit in this cycle; one that is busy is looked at again when it is free.
    #[inline(always)]
    pub(super) fn may_pass(&mut self, out: PortRow) -> bool {
        let view = &mut self.view;
        let port = &mut view.outs[out];
        port.visited = false;
        if port.request_lanes.is_empty() {
            return false;
        }
        let is_free = port.free_at <= view.now;
        if !is_free {
            port.wake_when_free(out, view.calendar);
        }
        is_free
    }

    /// Whether a lane would pass a flit in this cycle; if not, the output is looked at again when it may.
    pub(super) fn ready(&mut self, out: PortRow, lane: LaneRow) -> Option<Ready<W>> {
        let held = self.held[lane];
        let ready = if held.left > 0 {
            let is_there = self.present[held.queue].flits > 0;
            if !is_there || !self.is_input_free(out, held.queue) {
                return None;
            }
            Ready::Holder(held.queue)
        } else {
            Ready::Requests(self.requests(out, lane)?)
        };
        let view = &mut self.view;
        view.lanes[lane].need = 0;
        let is_full = self.crossed.is_some() && view.room(lane) == 0;
        if is_full || view.credits(lane) == 0 {
            view.starve(out, lane, 1);
            return None;
        }
        match ready {
            Ready::Holder(queue) => Some(Ready::Holder(queue)),
            Ready::Requests(mask) => self.with_room(out, lane, mask).map(Ready::Requests),
        }
    }

    /// Whether a flit may leave the input of a queue.
    fn is_input_free(&mut self, out: PortRow, queue: QueueRow) -> bool {
        let free_at = self.free_at(self.view.queue_port(queue));
        let is_free = free_at <= self.view.now;
        if !is_free {
            self.wake(out, free_at);
        }
        is_free
    }

    /// The requests of free inputs for a lane that nobody holds, if there are some.
    fn requests(&mut self, out: PortRow, lane: LaneRow) -> Option<Mask<W>> {
        let view = &self.view;
        let first_port = view.switches[view.outs[out].owner].first_port;
        let (all, pointer) = (view.lanes[lane].requests, view.lanes[lane].pointer);
        let (mut left, mut mask) = (all, Mask::EMPTY);
        let mut soonest = u64::MAX;
        while let Some(bit) = left.first_from(pointer) {
            left.remove(bit);
            let input = first_port.plus(view.shared.numbering.input_index(bit));
            // the last flit of what keeps a port wakes the output
            if view.ins[input].leaving_queue != QueueRow::NONE {
                continue;
            }
            let free_at = self.free_at(input);
            if free_at > view.now {
                soonest = soonest.min(free_at);
                continue;
            }
            mask.insert(bit);
            if self.one_will_do {
                return Some(mask);
            }
        }
        if all.is_empty() {
            let number = view.shared.numbering.number(lane);
            self.view.outs[out].request_lanes.remove(number);
        }
        if soonest < u64::MAX {
            self.wake(out, soonest);
        }
        (!mask.is_empty()).then_some(mask)
    }

    /// Those that need no more than a credit, and the others where the buffer behind the lane is empty (D76).
    fn with_room(&mut self, out: PortRow, lane: LaneRow, mut mask: Mask<W>) -> Option<Mask<W>> {
        let view = &self.view;
        if !view.shared.open() || view.is_empty_behind(lane) {
            return Some(mask);
        }
        let first_port = view.switches[view.outs[out].owner].first_port;
        let all = mask.count();
        mask.retain(|bit| !view.needs_empty(view.queue_of(first_port, bit, lane), lane));
        if mask.count() < all {
            let capacity = view.shared.adaptation().map_or(0, |one| one.capacity);
            let capacity = u16::try_from(capacity).unwrap_or(u16::MAX);
            self.view.starve(out, lane, capacity);
        }
        (!mask.is_empty()).then_some(mask)
    }

    /// A lane that is ready is picked: its input may accept the flit that goes over it.
    fn offer(
        &mut self,
        (out, lane): (PortRow, LaneRow),
        ready: Ready<W>,
        choice: Option<VlChoice>,
    ) {
        let (queue, first) = match ready {
            Ready::Holder(queue) => (queue, None),
            Ready::Requests(mask) => {
                let first_port = self.view.switches[self.view.outs[out].owner].first_port;
                let Some(bit) = choose(&mut self.view, lane, &mask) else {
                    return;
                };
                (self.view.queue_of(first_port, bit, lane), Some(bit))
            }
        };
        self.accept(Pick {
            out,
            lane,
            queue,
            input: self.view.queue_port(queue),
            first,
            choice,
            accepted: false,
            is_latest: true,
            before: NO_PICK,
        });
    }
}
