//! Output lanes of single flits (D79): what has passed the crossbar, and the channels that take it.
//!
//! Stage: `Slot::Transmit`, only with `output_lane_buffer`
//! Reads: flits behind the crossbar, channels that are due
//! Writes: these, the next hop, wake-ups of outputs that wait for room
//! Cost: O(lanes with flits) per flit
//!
//! # Rules
//! 1. A lane is open for a flit if fewer than the buffer holds are behind the crossbar and its crossbar side is free; its credit is taken as it
//!    passes, so it waits for the channel alone. How many there are, and when the crossbar side is free, is in the columns of output lanes.
//! 2. A channel is visited when it is free and a flit is ready; what it takes makes room from the next cycle on.
//!
//! # Deviations
//! None.

use super::Crossed;
use super::crossed::Flit;
use super::passing::{Aboard, Passing, Pick};
use crate::cycle::columns::{Held, WaitingLane};
use crate::cycle::joints::{LaneChoice as _, Sending as _};
use crate::cycle::ledger::{Channels, Ledger};
use crate::cycle::look::Columns;
use crate::cycle::mechanisms::output_lanes::ledger::claim;
use crate::cycle::mechanisms::output_lanes::{choose, schedule};
use crate::cycle::rules::Any;
use crate::cycle::view::{Fabric, Transmission};
use crate::fabric::mask::LaneMask;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, Row as _};
use crate::qos::vl_arbitration::VlChoice;
use bevy_ecs::prelude::Local;

impl Held {
    /// Of a flit of the packet that holds a lane: the packet, if this is the first one (`header`) and goes to a switch or a sink, and the same of
    /// the last one, which is, if none is left, if it goes to a host.
    pub(super) fn ends(&self, header: PacketRow) -> [PacketRow; 2] {
        let to_host = self.packet != PacketRow::NONE;
        let header = if to_host { PacketRow::NONE } else { header };
        let is_last = self.left == 0;
        let last = if is_last {
            self.packet
        } else {
            PacketRow::NONE
        };
        [header, last]
    }
}

/// Terms of the conservation laws: credits of the next hop, and packets of which no switch has the header, or no lane the rest.
pub(super) fn enter(view: &dyn Columns, channels: Channels<'_>, ledger: &mut Ledger) {
    let Some(crossed) = view.resource::<Crossed>() else {
        return;
    };
    for (lane, waiting) in view.grouped::<LaneRow, WaitingLane>().enumerate() {
        let mut flits = 0;
        for flit in crossed.of(lane.index()) {
            flits += 1;
            for packet in [flit.header, flit.last] {
                if packet != PacketRow::NONE {
                    ledger.holds(packet);
                }
            }
        }
        claim(view, (channels, lane), (waiting, flits), ledger);
    }
}

/// The system of `Slot::Transmit`.
pub(super) fn system<const W: usize>(
    mut fabric: Fabric<'_, '_, W>,
    mut channels: Transmission<'_, '_>,
    mut aboard: Aboard<'_, '_>,
    mut picks: Local<'_, Vec<Pick>>,
) {
    if fabric.events.lists().channel_visits.is_empty() {
        return;
    }
    let view = fabric.view::<Any>(channels.columns(fabric.events.rules::<Any>()));
    let mut passing = aboard.passing(view, &mut picks);
    let Some(crossed) = passing.crossed.take() else {
        return;
    };
    let mut due = std::mem::take(&mut passing.view.lists.channel_visits);
    for out in due.drain(..) {
        passing.visit(out, crossed);
    }
    passing.view.lists.channel_visits = due;
}

impl<const W: usize> Passing<'_, W> {
    /// A flit that passes goes into the buffer of its lane; `header`: its packet, if it is the first one.
    #[inline(never)]
    pub(super) fn put_behind(&mut self, (out, lane): (PortRow, LaneRow), header: PacketRow) {
        let Some(crossed) = &mut self.crossed else {
            return;
        };
        let [header, last] = self.held[lane].ends(header);
        let view = &mut self.view;
        let ready = view.now + view.shared.switch.crossbar_delay;
        crossed.push(
            lane,
            Flit {
                ready,
                header,
                last,
            },
        );
        let waiting = &mut view.optional.waiting[lane];
        waiting.flits += 1;
        waiting.free_at = view.now + u64::from(view.outs[out].step);
        let channel = &mut view.optional.channels[out];
        channel.waiting.insert(view.shared.numbering.number(lane));
        let at = ready.max(channel.free_at);
        schedule(view, out, at);
    }

    /// Visits a free channel.
    fn visit(&mut self, out: PortRow, crossed: &mut Crossed) {
        self.view.optional.channels[out].scheduled = false;
        let ready = self.ready_behind(out, crossed);
        if let Some((number, choice)) = choose(&mut self.view, out, ready) {
            self.take_channel((out, number), choice, crossed);
        }
        let view = &self.view;
        let channel = &view.optional.channels[out];
        let waiting = channel.waiting.into_iter();
        let first = |number| crossed.first(view.shared.numbering.lane(out, number)).ready;
        if let Some(soonest) = waiting.map(first).min() {
            let at = soonest.max(channel.free_at).max(view.now + 1);
            schedule(&mut self.view, out, at);
        }
    }

    /// Lanes of a channel with a flit that it may take.
    fn ready_behind(&self, out: PortRow, crossed: &Crossed) -> LaneMask {
        let view = &self.view;
        let waiting = view.optional.channels[out].waiting.into_iter();
        let is_ready = |number: &u32| {
            let lane = view.shared.numbering.lane(out, *number);
            crossed.first(lane).ready <= view.now
        };
        waiting.filter(is_ready).collect()
    }

    /// A channel takes the oldest flit of a lane.
    fn take_channel(
        &mut self,
        (out, number): (PortRow, u32),
        choice: Option<VlChoice>,
        crossed: &mut Crossed,
    ) {
        let view = &mut self.view;
        let (now, shared) = (view.now, view.shared);
        let lane = shared.numbering.lane(out, number);
        let flit = crossed.pop(lane);
        let delay = view.late(out, 1);
        let step = view.outs[out].step;
        let waiting = &mut view.optional.waiting[lane];
        waiting.flits -= 1;
        let is_empty = waiting.flits == 0;
        let channel = &mut view.optional.channels[out];
        if is_empty {
            channel.waiting.remove(number);
        }
        channel.free_at = now + u64::from(step) + delay;
        (channel.taken_at, channel.lane, channel.flits) = (now, lane, 1);
        if !shared.management().contains(number) {
            channel.pointer = shared.numbering.after(number);
        }
        if let Some(choice) = choice {
            view.commit(out, choice, 1);
        }
        let row = &mut view.lanes[lane];
        row.sent = row.sent.wrapping_add(1);
        if row.need != 0 {
            view.wake_with_room(out, lane);
        }
        self.lose_time(out, now + u64::from(step));
        let start = now + delay;
        if flit.header != PacketRow::NONE {
            self.lead((out, lane), flit.header, start);
        }
        let last = (flit.last != PacketRow::NONE).then_some(flit.last);
        self.send((out, lane), last, start);
    }
}
