//! Outputs of switches: which flit passes in this cycle, and what follows from it.

use super::arrive::next_head;
use super::passing::{Aboard, Passing, Pick};
use crate::cycle::columns::{Held, Holder};
use crate::cycle::joints::{LaneChoice as _, Way as _};
use crate::cycle::rules::Any;
use crate::cycle::stages::cross::{clear_occupied, hold_channel, return_credits};
use crate::cycle::state::Departure;
use crate::cycle::state::calendar::Ramp;
use crate::cycle::view::{Arbiters, Fabric};
use crate::fabric::bit_errors::Retry;
use crate::fabric::components::Peer;
use crate::fabric::mask::Mask;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow};
use bevy_ecs::prelude::Local;

/// The system of `Slot::Arbitrate`.
pub(super) fn system<const W: usize>(
    mut fabric: Fabric<'_, '_, W>,
    mut arbiters: Arbiters<'_, '_>,
    mut aboard: Aboard<'_, '_>,
    (mut picks, mut refused): (Local<'_, Vec<Pick>>, Local<'_, Vec<Pick>>),
) {
    if fabric.events.lists().visits.is_empty() {
        return;
    }
    let view = fabric.view::<Any>(arbiters.columns(fabric.events.rules::<Any>()));
    let mut passing = aboard.passing(view, &mut picks);
    let mut visits = std::mem::take(&mut passing.view.lists.visits);
    for out in visits.drain(..) {
        passing.look(out);
    }
    passing.view.lists.visits = visits;
    passing.settle(true);
    for _ in 1..passing.view.shared.iterations() {
        // who found nothing finds nothing later: inputs and credits only get fewer
        std::mem::swap(passing.picks, &mut *refused);
        for pick in refused.drain(..) {
            passing.look(pick.out);
        }
        passing.settle(false);
    }
    let next = passing.view.now + 1;
    for number in 0..passing.picks.len() {
        passing.wake(passing.picks[number].out, next);
    }
    passing.picks.clear();
}

impl<const W: usize> Passing<'_, W> {
    pub(super) fn wake(&mut self, out: PortRow, at: u64) {
        self.view.calendar.at(at).wakes.push(out);
    }

    /// The channel is held for a flit: when it begins on it.
    #[inline(always)]
    fn hold(&mut self, out: PortRow, until: u64) -> u64 {
        if self.view.shared.errors().is_some() {
            hold_channel::<W, Any, true>(&mut self.view, out, 1, until)
        } else {
            hold_channel::<W, Any, false>(&mut self.view, out, 1, until)
        }
    }

    /// A flit passes.
    #[inline(always)]
    pub(super) fn pass(&mut self, pick: &Pick, is_first_round: bool) {
        let &Pick {
            out,
            lane,
            queue,
            input,
            ..
        } = pick;
        let now = self.view.now;
        let until = now + u64::from(self.view.outs[out].step);
        let start = self.hold(out, until);
        if self.books {
            self.book(out, lane, start);
        }
        let mut header = PacketRow::NONE;
        if let Some(bit) = pick.first {
            header = self.begin(pick, bit, start);
            if is_first_round {
                self.view.lanes[lane].pointer = Mask::<W>::after(bit);
            }
        }
        let held = &mut self.held[lane];
        held.left -= 1;
        let (is_last, packet, flits) = (held.left == 0, held.packet, held.holder.size);
        self.present[queue].flits -= 1;
        let view = &mut self.view;
        if is_last {
            view.release(lane, flits);
        }
        let port = &mut view.outs[out];
        let number = view.shared.numbering.number(lane);
        if !view.shared.management().contains(number) {
            port.lane_pointer = view.shared.numbering.after(number);
        }
        let index = port.index;
        let row = &mut view.lanes[lane];
        // behind the crossbar it is counted as the channel takes it
        row.sent = row.sent.wrapping_add(u32::from(self.crossed.is_none()));
        if is_last && row.requests.is_empty() {
            port.request_lanes.remove(number);
        }
        if !port.is_boundless() {
            view.lanes[lane].take(1, now);
        }
        if !port.request_lanes.is_empty() {
            port.wake_when_free(out, view.calendar);
        }
        if is_first_round && pick.is_latest {
            view.ins[input].accept_pointer = u16::from(index) + 1;
        }
        if let Some(choice) = pick.choice {
            view.commit(out, choice, 1);
        }
        self.take_from(queue, until, is_last);
        if self.crossed.is_some() {
            self.put_behind((out, lane), header);
        } else {
            self.send((out, lane), is_last.then_some(packet), start);
        }
    }

    /// A flit takes the channel: it may wait behind the crossbar for that (D22), and the time that the channel loses may count (D37).
    fn book(&mut self, out: PortRow, lane: LaneRow, start: u64) {
        let view = &self.view;
        let step = view.outs[out].step;
        let repeats = Retry::late(view.optional.retries.seen(), out);
        let end = start - repeats + u64::from(step);
        let mut delay = 0;
        if view.shared.output_buffer() > 0 {
            let number = view.shared.numbering.number(lane);
            self.booked[out].add(view.now, end, (1, number));
            delay = view.shared.switch.crossbar_delay;
        }
        self.lose_time(out, end + delay);
    }

    /// A flit takes the channel of an output up to `end`: the time that it has lost may count (D37).
    pub(super) fn lose_time(&mut self, out: PortRow, end: u64) {
        let (step, largest) = (self.view.outs[out].step, self.view.shared.traffic.largest);
        if let Some(pace) = self.idle_times.get_mut(out) {
            pace.pass(end, step, largest);
        }
    }

    /// A flit leaves its queue, and keeps the input until then.
    fn take_from(&mut self, queue: QueueRow, until: u64, is_last: bool) {
        let view = &mut self.view;
        let (now, input) = (view.now, view.queue_port(queue));
        let from = &mut view.ins[input];
        match &mut self.places {
            None => from.free_at = until,
            Some(places) => places.take(input, now, until),
        }
        if view.shared.switch.kept_inputs {
            from.leaving_queue = if is_last { QueueRow::NONE } else { queue };
        }
        return_credits(view, queue, input, now, 1, 1);
        if !is_last {
            return;
        }
        self.present[queue].holds = false;
        let at = next_head(view, queue);
        view.calendar.at(at).frees.push(queue.into());
        if view.shared.switch.kept_inputs {
            self.leave_input(input, until);
        }
    }

    /// Nobody keeps an input from `at` on: the outputs that its heads request are looked at again.
    fn leave_input(&mut self, input: PortRow, at: u64) {
        let view = &mut self.view;
        for mark in view.ins[input].occupied {
            view.each_queue(input, mark, |view, queue| {
                if !view.queues[queue].requesting {
                    return;
                }
                if view.shared.open() {
                    let requests = &view.optional.choices[queue].requests;
                    let outs = requests
                        .iter()
                        .map(|one| view.shared.numbering.port(one.lane));
                    view.calendar.at(at).wakes.extend(outs);
                } else {
                    view.calendar.at(at).wakes.push(view.queues[queue].out);
                }
            });
        }
    }

    /// The first flit of a packet passes: it holds the lane, leaves its queue, and is on its way to the next. Returns the packet.
    fn begin(&mut self, pick: &Pick, bit: u16, start: u64) -> PacketRow {
        let &Pick {
            out, lane, queue, ..
        } = pick;
        let view = &mut self.view;
        let grant = pick.grant(view.queues[queue].head);
        if view.shared.adaptation().is_some() {
            view.withdraw(queue, lane, bit);
        }
        view.lanes[lane].requests.remove(bit);
        let packet = self.take_header(queue, lane);
        let view = &mut self.view;
        let body = &mut view.packets[packet];
        body.hops = body.hops.saturating_add(1);
        let (size, destination) = (body.size, body.destination);
        view.lists.hops.packets += 1;
        view.lists.hops.flits += u64::from(size);
        if view.lists.facts.granted {
            view.lists.grants.push(grant);
        }
        let record = &view.records[packet];
        let holder = Holder {
            source: record.source,
            destination,
            sequence: record.sequence,
            flow: record.flow,
            class: record.class,
            size,
        };
        let to_host = if self.crossed.is_some() {
            self.is_to_host(out)
        } else {
            self.lead((out, lane), packet, start)
        };
        self.held[lane] = Held {
            left: size,
            queue,
            packet: if to_host { packet } else { PacketRow::NONE },
            holder,
        };
        packet
    }

    /// Whether flits of an output are consumed as they arrive.
    fn is_to_host(&self, out: PortRow) -> bool {
        let view = &self.view;
        let is_host = matches!(view.outs[out].peer, Peer::Host | Peer::Sink);
        is_host && view.shared.sink_step() == 0
    }

    /// The first packet of a queue leaves it, over a lane: who has requested several holds that one from now on.
    fn take_header(&mut self, queue: QueueRow, lane: LaneRow) -> PacketRow {
        let view = &mut self.view;
        let numbering = view.shared.numbering;
        let row = &mut view.queues[queue];
        let packet = row.head;
        let is_only = packet == row.tail;
        row.head = if is_only {
            PacketRow::NONE
        } else {
            view.packets[packet].next
        };
        (row.requesting, row.leaving) = (false, true);
        (row.out, row.out_lane) = (numbering.port(lane), numbering.number(lane) as u8);
        let longest = view.lists.hops.longest.max(row.waited(view.now));
        view.lists.hops.longest = longest;
        self.present[queue].holds = true;
        let input = view.queue_port(queue);
        view.ins[input].leaving += 1;
        if is_only {
            clear_occupied(view, queue, input);
        }
        packet
    }

    /// Where a header goes: the queue it joins when it may leave the next switch; whether it goes to a host instead.
    pub(super) fn lead(
        &mut self,
        (out, lane): (PortRow, LaneRow),
        packet: PacketRow,
        start: u64,
    ) -> bool {
        let view = &mut self.view;
        let port = &view.outs[out];
        let arrival = start + u64::from(port.latency);
        let at = arrival + view.shared.switch.request_delay;
        let number = view.shared.numbering.number(lane);
        match port.peer {
            Peer::Switch => {
                let lane = view.shared.numbering.lane(port.to.port(), number);
                view.calendar.at(at).heads.push((lane, packet));
            }
            Peer::Border => view.lists.outgoing.packets.push(Departure {
                border: port.to.border(),
                lane: number,
                at,
                packet,
            }),
            Peer::Host | Peer::Sink if view.shared.sink_step() == 0 => return true,
            Peer::Host | Peer::Sink => {
                let lane = view.shared.numbering.lane(port.to.port(), number);
                view.calendar.at(arrival).heads.push((lane, packet));
            }
        }
        false
    }

    /// Where the flit goes; `last`: the packet that it is the last of, if it goes to a host.
    pub(super) fn send(
        &mut self,
        (out, lane): (PortRow, LaneRow),
        last: Option<PacketRow>,
        start: u64,
    ) {
        let view = &mut self.view;
        let port = &view.outs[out];
        let arrival = start + u64::from(port.latency);
        let at = arrival + view.shared.switch.request_delay;
        let numbering = view.shared.numbering;
        let number = numbering.number(lane);
        match port.peer {
            Peer::Switch => self.flits.push(at, numbering.lane(port.to.port(), number)),
            Peer::Border => {
                let border = view.place.border(port.to.border());
                let row = numbering.lane(border.port, number).0;
                let mail = self.outbox.of(border.shard);
                mail.add_notice(self.flits.receiver(), row, at);
            }
            Peer::Host | Peer::Sink if view.shared.sink_step() > 0 => {
                let lane = numbering.lane(port.to.port(), number);
                self.flits.push(arrival, lane);
            }
            Peer::Host | Peer::Sink => {
                if port.peer == Peer::Host {
                    let at = arrival + u64::from(view.ins[port.to.port()].credit_latency);
                    view.calendar.at(at).ramps.push(Ramp {
                        lane,
                        flits: 1,
                        step: 1,
                    });
                }
                if let Some(packet) = last {
                    view.calendar.at(arrival).deliveries.push(packet);
                }
            }
        }
    }
}
