//! Reasons to look at an output: the seam between state changes and arbitration.
//!
//! A blocked head sleeps until something it waits for changes. The complete list of reasons to visit an
//! output (model section 2): it became free; a new head requests it; an input that holds requests for it
//! became free; a credit ramp started on a lane with requests; a computed credit wake-up is due; its output
//! lane made room; it lost the accept step. Each of them ends here, and each visit re-checks that output,
//! credits and output lane are free *now*, so superfluous wake-ups change nothing.
//!
//! Invariant, between cycles: every standing request whose input could send is covered. Either its output
//! is busy and a wake-up at `free_at` is in the calendar, or its lane lacks credits and is starved, with a
//! `need` no larger than the request; then a wake-up at the cycle in which known ramps give `need` is in the
//! calendar, or no known ramp does and the next ramp computes it. With output lanes a lane starves for space
//! as well, and the channel's next packet of the lane computes the wake-up, too.

use super::joints::Behind as _;
use super::rules::RuleSet;
use super::state::Calendar;
use super::view::View;
use crate::fabric::rows::{LaneRow, PortRow};
use crate::fabric::{InPort, OutPort};

impl<const W: usize, P: RuleSet> View<'_, W, P> {
    /// Puts an output (or a host) on this cycle's visit list.
    #[inline]
    pub fn visit(&mut self, out: PortRow) {
        let port = &mut self.outs[out];
        if !port.visited {
            port.visited = true;
            if self.place.is_host(out) {
                self.lists.host_visits.push(out);
            } else {
                self.lists.visits.push(out);
            }
        }
    }

    /// The same of an output of a switch once it is free.
    pub fn visit_when_free(&mut self, out: PortRow) {
        let port = &mut self.outs[out];
        if port.free_at > self.now {
            return port.wake_when_free(out, self.calendar);
        }
        self.visit(out);
    }

    /// A request of `size` flits for `lane` of `out` stands and its input could send: visits the output
    /// if it can be granted now, else arranges the wake-up.
    #[inline(always)]
    pub fn consider(&mut self, out: PortRow, lane: LaneRow, size: u16) {
        let port = &mut self.outs[out];
        if port.free_at > self.now {
            port.wake_when_free(out, self.calendar);
        } else if port.visited {
            // already on the list
        } else if self.lanes[self.shared.credit_row(lane)].covers(size, self.now) {
            port.visited = true;
            self.lists.visits.push(out);
        } else {
            self.starve(out, lane, size);
        }
    }

    /// Credits of a lane now.
    #[inline]
    pub fn credits(&self, lane: LaneRow) -> u32 {
        self.lanes[self.shared.credit_row(lane)].available(self.now)
    }

    /// Notes that `lane` waits for `size` credits and schedules the wake-up when known ramps give them.
    #[inline]
    pub fn starve(&mut self, out: PortRow, lane: LaneRow, size: u16) {
        let row = &mut self.lanes[lane];
        if row.need != 0 && row.need <= size {
            return;
        }
        row.need = size;
        self.wake_with_room(out, lane);
    }

    /// Schedules the visit of a starved lane, when known ramps give it what it needs.
    #[inline]
    pub(super) fn wake_with_room(&mut self, out: PortRow, lane: LaneRow) {
        let need = self.lanes[lane].need;
        if let Some(at) = self.room_at(lane, need) {
            self.calendar.at(at.max(self.now + 1)).wakes.push(out);
        }
    }

    /// A ramp starts counting at `start`, not before now.
    #[inline(always)]
    pub fn ramp(&mut self, lane: LaneRow, start: u64, flits: u16, step: u16) {
        let row = &mut self.lanes[lane];
        row.start_ramp(start, flits, step);
        if self.shared.pool() {
            for lane in self
                .shared
                .numbering
                .lanes_of(self.shared.numbering.port(lane))
            {
                if self.lanes[lane].need != 0 {
                    self.credit_wake(lane, start);
                }
            }
        } else if row.need != 0 {
            self.credit_wake(lane, start);
        }
    }

    /// A starved lane has new credits, from `start` on. Credits that counted before have had their wake-up,
    /// so a ramp that starts later (written in `Cross`) never needs a visit now.
    fn credit_wake(&mut self, lane: LaneRow, start: u64) {
        let out = self.shared.numbering.port(lane);
        let need = self.lanes[lane].need;
        match self.room_at(lane, need) {
            Some(at) if at > self.now => self.calendar.at(at).wakes.push(out),
            Some(_) if start <= self.now && self.outs[out].free_at <= self.now => {
                self.visit(out);
            }
            _ => {}
        }
    }

    /// A wake-up of an output is due.
    #[inline]
    pub fn woken(&mut self, out: PortRow) {
        let port = &mut self.outs[out];
        if port.free_at > self.now {
            return;
        }
        port.wake_scheduled = false;
        self.visit(out);
    }
}

impl OutPort {
    /// Makes sure the output, in row `out`, is visited when it is free again.
    #[inline]
    pub fn wake_when_free(&mut self, out: PortRow, calendar: &mut Calendar) {
        if !self.wake_scheduled {
            self.wake_scheduled = true;
            calendar.at(self.free_at).wakes.push(out);
        }
    }
}

impl InPort {
    /// Makes sure the input, in row `input`, is looked at when it is free again (one packet at a time).
    #[inline]
    pub fn wake_when_free(&mut self, input: PortRow, calendar: &mut Calendar) {
        if !self.wake_scheduled {
            self.wake_scheduled = true;
            calendar.at(self.free_at).frees.push(input.into());
        }
    }
}
