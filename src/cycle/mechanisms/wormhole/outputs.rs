//! Outputs of switches: which flit passes in this cycle, and what follows from it.

use super::Flits;
use super::arrive::next_head;
use crate::cycle::columns::{Held, Holder, Present};
use crate::cycle::joints::{LaneChoice as _, Sending as _};
use crate::cycle::rules::Any;
use crate::cycle::stages::cross::return_credits;
use crate::cycle::state::calendar::Ramp;
use crate::cycle::state::{Departure, Grant, Outbox};
use crate::cycle::view::{Crossing, Fabric, View, column};
use crate::fabric::Group;
use crate::fabric::components::Peer;
use crate::fabric::mask::{LaneMask, Mask};
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow, Rows};
use crate::qos::vl_arbitration::VlChoice;
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Local, Query, ResMut};

/// A flit that an output has picked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    out: PortRow,
    lane: LaneRow,
    queue: QueueRow,
    input: PortRow,
    /// Request bit of a packet that holds no lane so far.
    first: Option<u16>,
    choice: Option<VlChoice>,
    accepted: bool,
}

/// What passing flits changes.
struct Passing<'a, const W: usize> {
    view: View<'a, W>,
    flits: &'a mut Flits,
    outbox: &'a mut Outbox,
    present: Rows<'a, QueueRow, Present>,
    held: Rows<'a, LaneRow, Held>,
    picks: &'a mut Vec<Pick>,
}

/// The system of `Slot::Arbitrate`.
pub(super) fn system<const W: usize>(
    mut fabric: Fabric<'_, '_, W>,
    mut crossing: Crossing<'_, '_>,
    (mut present, mut held): (
        Query<'_, '_, &mut Group<Present>>,
        Query<'_, '_, &mut Group<Held>>,
    ),
    (mut flits, mut outbox): (ResMut<'_, Flits>, ResMut<'_, Outbox>),
    mut picks: Local<'_, Vec<Pick>>,
) {
    if fabric.events.lists().visits.is_empty() {
        return;
    }
    let mut passing = Passing {
        view: fabric.view::<Any>(crossing.columns(fabric.events.rules::<Any>())),
        flits: flits.bypass_change_detection(),
        outbox: outbox.bypass_change_detection(),
        present: Rows::new(column!(present)),
        held: Rows::new(column!(held)),
        picks: &mut picks,
    };
    let mut visits = std::mem::take(&mut passing.view.lists.visits);
    for out in visits.drain(..) {
        passing.look(out);
    }
    passing.view.lists.visits = visits;
    for number in 0..passing.picks.len() {
        let pick = passing.picks[number];
        if pick.accepted {
            passing.pass(&pick);
        } else {
            passing.wake(pick.out, passing.view.now + 1);
        }
    }
    passing.picks.clear();
}

impl<const W: usize> Passing<'_, W> {
    fn wake(&mut self, out: PortRow, at: u64) {
        self.view.calendar.at(at).wakes.push(out);
    }

    /// An output that may pass a flit picks one; its input accepts it if nobody before it in turn has picked the input.
    fn look(&mut self, out: PortRow) {
        let view = &mut self.view;
        let port = &mut view.outs[out];
        port.visited = false;
        if port.request_lanes.is_empty() {
            return;
        }
        if port.free_at > view.now {
            return port.wake_when_free(out, view.calendar);
        }
        let (asked, pointer) = (port.request_lanes, port.lane_pointer);
        let has_tables = view.shared.tables().is_some();
        let mut ready = LaneMask::EMPTY;
        let mut lanes = asked;
        while !lanes.is_empty() {
            let number = lanes.first_from(pointer);
            lanes.remove(number);
            let lane = self.view.shared.numbering.lane(out, number);
            let Some(pick) = self.next_of(out, lane) else {
                continue;
            };
            if !has_tables {
                return self.offer(pick);
            }
            ready.insert(number);
        }
        if ready.is_empty() {
            return;
        }
        let Some(choice) = self.view.consult(out, ready) else {
            if self.view.shared.legacy_arbitration() {
                self.wake(out, self.view.now + 1);
            }
            return;
        };
        let lane = (self.view.shared.numbering).lane(out, u32::from(choice.lane));
        if let Some(pick) = self.next_of(out, lane) {
            self.offer(Pick {
                choice: Some(choice),
                ..pick
            });
        }
    }

    /// The flit that would pass over a lane in this cycle.
    fn next_of(&mut self, out: PortRow, lane: LaneRow) -> Option<Pick> {
        let held = self.held[lane];
        let (queue, first) = if held.left > 0 {
            if self.present[held.queue].flits == 0 {
                return None;
            }
            (held.queue, None)
        } else {
            let bit = self.request(out, lane)?;
            let first_port = self.view.switches[self.view.outs[out].owner].first_port;
            (self.view.queue_of(first_port, bit, lane), Some(bit))
        };
        let view = &mut self.view;
        let input = view.queue_port(queue);
        let free_at = view.ins[input].free_at;
        if free_at > view.now {
            self.wake(out, free_at);
            return None;
        }
        view.lanes[lane].need = 0;
        if view.credits(lane) == 0 {
            view.starve(out, lane, 1);
            return None;
        }
        Some(Pick {
            out,
            lane,
            queue,
            input,
            first,
            choice: None,
            accepted: false,
        })
    }

    /// The request bit whose turn it is in a lane that nobody holds, among those of free inputs.
    fn request(&mut self, out: PortRow, lane: LaneRow) -> Option<u16> {
        let view = &self.view;
        let first_port = view.switches[view.outs[out].owner].first_port;
        let (mut mask, pointer) = (view.lanes[lane].requests, view.lanes[lane].pointer);
        let mut soonest = u64::MAX;
        while let Some(bit) = mask.first_from(pointer) {
            let input = &view.ins[first_port.plus(view.shared.numbering.input_index(bit))];
            // the last flit of what keeps a port wakes the output
            if input.leaving_queue == QueueRow::NONE {
                if input.free_at <= view.now {
                    return Some(bit);
                }
                soonest = soonest.min(input.free_at);
            }
            mask.remove(bit);
        }
        if soonest < u64::MAX {
            self.wake(out, soonest);
        }
        None
    }

    /// The input keeps the pick that comes first in its [`Self::turn`].
    fn offer(&mut self, mut pick: Pick) {
        let view = &self.view;
        let input = &view.ins[pick.input];
        pick.accepted = true;
        if input.granted_in == view.now && view.shared.switch.single_inputs {
            let rival = input.grant as usize;
            pick.accepted = self.turn(&pick) < self.turn(&self.picks[rival]);
            self.picks[rival].accepted = !pick.accepted;
        }
        if pick.accepted {
            let input = &mut self.view.ins[pick.input];
            (input.granted_in, input.grant) = (self.view.now, self.picks.len() as u32);
        }
        self.picks.push(pick);
    }

    /// When an input takes a pick: by priority (D71), then around the switch from its accept pointer.
    fn turn(&self, pick: &Pick) -> (u16, u16) {
        let view = &self.view;
        let index = u16::from(view.outs[pick.out].index);
        let distance = index.wrapping_sub(view.ins[pick.input].accept_pointer) & 0x1ff;
        (view.kind(pick.lane), distance)
    }

    /// A flit passes.
    fn pass(&mut self, pick: &Pick) {
        let &Pick {
            out,
            lane,
            queue,
            input,
            ..
        } = pick;
        let delay = self.view.late(out, 1);
        if let Some(bit) = pick.first {
            self.begin(pick, bit, delay);
        }
        let held = &mut self.held[lane];
        held.left -= 1;
        let (is_last, packet) = (held.left == 0, held.packet);
        self.present[queue].flits -= 1;
        let view = &mut self.view;
        let now = view.now;
        let port = &mut view.outs[out];
        let until = now + u64::from(port.step);
        port.free_at = until + delay;
        let number = view.shared.numbering.number(lane);
        port.lane_pointer = view.shared.numbering.after(number);
        let index = port.index;
        let row = &mut view.lanes[lane];
        row.sent = row.sent.wrapping_add(1);
        if !port.is_boundless() {
            row.take(1, now);
        }
        if is_last && row.requests.is_empty() {
            port.request_lanes.remove(number);
        }
        if !port.request_lanes.is_empty() {
            port.wake_when_free(out, view.calendar);
        }
        let from = &mut view.ins[input];
        if view.shared.switch.single_inputs {
            from.free_at = until;
        }
        from.accept_pointer = u16::from(index) + 1;
        if view.shared.switch.kept_inputs {
            from.leaving_queue = if is_last { QueueRow::NONE } else { queue };
        }
        if let Some(choice) = pick.choice {
            view.commit(out, choice, 1);
        }
        return_credits(view, queue, input, now, 1, 1);
        if is_last {
            self.present[queue].holds = false;
            let at = next_head(view, queue);
            view.calendar.at(at).frees.push(queue.into());
            if view.shared.switch.kept_inputs {
                self.leave_input(input, until);
            }
        }
        self.send((out, lane), is_last.then_some(packet), delay);
    }

    /// Nobody keeps an input from `at` on: the outputs that its heads request are looked at again.
    fn leave_input(&mut self, input: PortRow, at: u64) {
        let view = &mut self.view;
        for lane in view.shared.numbering.lanes_of(input) {
            let queue = &view.queues[view.shared.classifier().behind(lane, 0)];
            if queue.requesting {
                view.calendar.at(at).wakes.push(queue.out);
            }
        }
    }

    /// The first flit of a packet passes: it holds the lane, leaves its queue, and is on its way to the next.
    fn begin(&mut self, pick: &Pick, bit: u16, delay: u64) {
        let &Pick {
            out,
            lane,
            queue,
            input,
            ..
        } = pick;
        let view = &mut self.view;
        let row = &mut view.queues[queue];
        let packet = row.head;
        let is_only = packet == row.tail;
        let body = &mut view.packets[packet];
        body.hops = body.hops.saturating_add(1);
        row.head = if is_only { PacketRow::NONE } else { body.next };
        (row.requesting, row.leaving) = (false, true);
        self.present[queue].holds = true;
        let (size, destination) = (body.size, body.destination);
        let longest = view.lists.hops.longest.max(row.waited(view.now));
        view.lists.hops.longest = longest;
        let from = &mut view.ins[input];
        from.leaving += 1;
        if is_only {
            let mark = view.shared.classifier().mark(view.shared.numbering, queue);
            from.occupied.remove(mark);
        }
        let requests = &mut view.lanes[lane];
        requests.requests.remove(bit);
        requests.pointer = Mask::<W>::after(bit);
        view.lists.hops.packets += 1;
        view.lists.hops.flits += u64::from(size);
        if view.lists.facts.granted {
            view.lists.grants.push(Grant {
                out,
                lane,
                queue,
                input,
                bit,
                accepted: true,
                by_inputs: false,
                choice: pick.choice,
                packet,
            });
        }
        let record = &view.records[packet];
        let holder = Holder {
            source: record.source,
            destination,
            sequence: record.sequence,
            class: record.class,
            size,
        };
        let to_host = self.lead((out, lane), packet, delay);
        self.held[lane] = Held {
            left: size,
            queue,
            packet: if to_host { packet } else { PacketRow::NONE },
            holder,
        };
    }

    /// Where a header goes: the queue it joins when it may leave the next switch; whether it goes to a host instead.
    fn lead(&mut self, (out, lane): (PortRow, LaneRow), packet: PacketRow, delay: u64) -> bool {
        let view = &mut self.view;
        let port = &view.outs[out];
        let arrival = view.now + delay + u64::from(port.latency);
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
            Peer::Host | Peer::Sink => return true,
        }
        false
    }

    /// Where the flit goes; `last`: the packet that it is the last of, if it goes to a host.
    fn send(&mut self, (out, lane): (PortRow, LaneRow), last: Option<PacketRow>, delay: u64) {
        let view = &mut self.view;
        let port = &view.outs[out];
        let arrival = view.now + delay + u64::from(port.latency);
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
            Peer::Host | Peer::Sink => {
                if port.peer == Peer::Host {
                    let at = arrival + u64::from(view.ins[port.to.port()].credit_latency);
                    let (flits, step) = (1, 1);
                    view.calendar.at(at).ramps.push(Ramp { lane, flits, step });
                }
                if let Some(packet) = last {
                    view.calendar.at(arrival).deliveries.push(packet);
                }
            }
        }
    }
}
