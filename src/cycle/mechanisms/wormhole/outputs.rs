//! Outputs of switches: which flit passes in this cycle, and what follows from it.

use super::arrive::next_head;
use super::{Behind, Flits, Places};
use crate::cycle::columns::{Held, Holder, Present};
use crate::cycle::joints::{LaneChoice as _, Way as _};
use crate::cycle::mechanisms::ahead::Booked;
use crate::cycle::mechanisms::congestion::Pace;
use crate::cycle::rules::Any;
use crate::cycle::stages::cross::{clear_occupied, hold_channel, return_credits};
use crate::cycle::state::calendar::Ramp;
use crate::cycle::state::{Departure, Grant, Outbox};
use crate::cycle::view::{Arbiters, Fabric, View, column};
use crate::fabric::Group;
use crate::fabric::bit_errors::Retry;
use crate::fabric::components::Peer;
use crate::fabric::mask::Mask;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow, Rows};
use crate::plan::{Matching, OutputArbitration};
use crate::qos::vl_arbitration::VlChoice;
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Local, Query, ResMut};
use bevy_ecs::system::SystemParam;

/// A flit that an output has picked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    pub(super) out: PortRow,
    pub(super) lane: LaneRow,
    pub(super) queue: QueueRow,
    pub(super) input: PortRow,
    /// Request bit of a packet that holds no lane so far.
    pub(super) first: Option<u16>,
    pub(super) choice: Option<VlChoice>,
    pub(super) accepted: bool,
    /// Whether nothing that its input accepts in the round comes behind it in turn.
    pub(super) is_latest: bool,
    /// The pick of the same input before it in the round, `NO_PICK` without one.
    pub(super) before: u32,
}

/// What passing flits changes.
pub(super) struct Passing<'a, const W: usize> {
    pub(super) view: View<'a, W>,
    flits: &'a mut Flits,
    outbox: &'a mut Outbox,
    pub(super) present: Rows<'a, QueueRow, Present>,
    pub(super) held: Rows<'a, LaneRow, Held>,
    booked: Rows<'a, PortRow, Booked>,
    /// Whether flits that take a channel are told of: for buffers before it, or the times that it loses.
    books: bool,
    /// Whether an output chooses the first request of a lane in turn.
    pub(super) one_will_do: bool,
    /// Where InfiniBand's marking asks for them.
    idle_times: Rows<'a, PortRow, Pace>,
    /// Of inputs that let several flits pass at a time.
    pub(super) places: Option<&'a mut Places>,
    /// What waits behind the crossbar, where flits do.
    pub(super) behind: Option<&'a mut Behind>,
    /// Whether they do.
    pub(super) has_lanes: bool,
    /// Whether VL tables choose the lane of an output.
    pub(super) has_tables: bool,
    pub(super) picks: &'a mut Vec<Pick>,
}

/// System parameter: what passing flits changes beside the fabric.
#[derive(SystemParam)]
pub(super) struct Aboard<'w, 's> {
    present: Query<'w, 's, &'static mut Group<Present>>,
    held: Query<'w, 's, &'static mut Group<Held>>,
    booked: Query<'w, 's, &'static mut Booked>,
    idle_times: Query<'w, 's, &'static mut Pace>,
    flits: ResMut<'w, Flits>,
    outbox: ResMut<'w, Outbox>,
    places: Option<ResMut<'w, Places>>,
    behind: Option<ResMut<'w, Behind>>,
}

impl Aboard<'_, '_> {
    /// With the view of a system, and the picks that it keeps the room of.
    #[inline(always)]
    pub(super) fn passing<'a, const W: usize>(
        &'a mut self,
        view: View<'a, W>,
        picks: &'a mut Vec<Pick>,
    ) -> Passing<'a, W> {
        let idle_times: Rows<'_, PortRow, Pace> = Rows::new(column!(self.idle_times));
        let shared = view.shared;
        let has_buffers = shared.output_buffer() > 0;
        let is_by_turn = shared.output_arbitration() == OutputArbitration::RoundRobin;
        let output_first = shared.matching() == Matching::OutputFirst;
        Passing {
            view,
            flits: self.flits.bypass_change_detection(),
            outbox: self.outbox.bypass_change_detection(),
            present: Rows::new(column!(self.present)),
            held: Rows::new(column!(self.held)),
            booked: Rows::new(column!(self.booked)),
            books: has_buffers || !idle_times.seen().is_empty() && !shared.has_output_lanes(),
            one_will_do: is_by_turn && output_first && !shared.open(),
            idle_times,
            places: self
                .places
                .as_mut()
                .map(DetectChangesMut::bypass_change_detection),
            behind: self
                .behind
                .as_mut()
                .map(DetectChangesMut::bypass_change_detection),
            has_lanes: shared.has_output_lanes(),
            has_tables: shared.crossbar_tables().is_some(),
            picks,
        }
    }
}

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

impl Pick {
    /// As facts of the cycle tell it, of the first flit of a packet.
    pub(super) fn grant(&self, packet: PacketRow) -> Grant {
        Grant {
            out: self.out,
            lane: self.lane,
            queue: self.queue,
            input: self.input,
            bit: self.first.unwrap_or(0),
            accepted: true,
            by_inputs: false,
            choice: self.choice,
            packet,
        }
    }
}

impl<const W: usize> Passing<'_, W> {
    pub(super) fn wake(&mut self, out: PortRow, at: u64) {
        self.view.calendar.at(at).wakes.push(out);
    }

    /// A flit passes.
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
        let start = hold_channel::<W, Any, true>(&mut self.view, out, 1, until);
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
        let held = *held;
        let (is_last, flits) = (held.left == 0, held.holder.size);
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
        row.sent = row.sent.wrapping_add(u32::from(!self.has_lanes));
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
        if let Some(behind) = self.behind.take() {
            let ends = held.ends(header);
            self.put_behind(behind, (out, lane), ends);
            self.behind = Some(behind);
        } else {
            self.send((out, lane), is_last.then_some(held.packet), start);
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
        let to_host = if self.has_lanes {
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
