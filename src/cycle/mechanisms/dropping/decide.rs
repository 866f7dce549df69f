//! The decisions of a cycle on heads (`Held`), and what becomes of the packets that are dropped.

use super::{Doomed, Drops, Leaving};
use crate::cycle::columns::{Discarded, Held, Present, Request};
use crate::cycle::joints::Way as _;
use crate::cycle::mechanisms::wormhole::Swallowing;
use crate::cycle::records::Records;
use crate::cycle::stages::cross::{clear_occupied, return_credits};
use crate::cycle::state::{Dropped, PacketPool};
use crate::cycle::view::View;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow, Row, Rows, Seen};
use std::cmp::Reverse;

/// Lanes and queues as single flits see them (D65).
pub(super) struct SingleFlits<'a> {
    pub(super) held: Seen<'a, LaneRow, Held>,
    pub(super) present: Rows<'a, QueueRow, Present>,
    pub(super) discarded: Rows<'a, LaneRow, Discarded>,
    pub(super) swallowing: &'a mut Swallowing,
}

/// What the decisions of a cycle change.
pub(super) struct Stage<'a, const W: usize> {
    pub(super) view: View<'a, W>,
    pub(super) own: &'a mut Drops,
    pub(super) leaving: Rows<'a, QueueRow, Leaving>,
    /// Where packets go flit by flit.
    pub(super) flits: Option<SingleFlits<'a>>,
    pub(super) pool: &'a mut PacketPool,
    pub(super) records: &'a mut Records,
}

impl<const W: usize> Stage<'_, W> {
    /// Rules 1 and 2: names the packets that are to be dropped.
    pub(super) fn decide(&mut self) {
        self.each_new(|stage, queue, packet, waited| {
            if stage.view.queues[queue].head == packet {
                stage.look(queue, waited);
            }
        });
    }

    /// What has come to an input of a switch in this cycle, with its queue, then the heads of queues that have got one; whether it
    /// has waited before.
    pub(super) fn each_new(&mut self, mut act: impl FnMut(&mut Self, QueueRow, PacketRow, bool)) {
        for number in 0..self.view.lists.arrived.len() {
            let (lane, packet) = self.view.lists.arrived[number];
            let input = self.view.shared.numbering.port(lane);
            if !self.view.place.is_host(input) {
                let queue = self.queue_of(lane, packet);
                act(self, queue, packet, false);
            }
        }
        let mut heads = std::mem::take(&mut self.own.heads);
        for queue in heads.drain(..) {
            let head = self.view.queues[queue].head;
            act(self, queue, head, true);
        }
        self.own.heads = heads;
    }

    /// The queue that an arrived packet has joined; of one that stands in several (D84) the first of its lane.
    fn queue_of(&self, lane: LaneRow, packet: PacketRow) -> QueueRow {
        let view = &self.view;
        let input = view.shared.numbering.port(lane);
        if self.stands() {
            return view.shared.classifier().behind(lane, 0);
        }
        let output = || {
            let first = view.switches[view.ins[input].owner].first_port;
            view.next_hop(input, packet).0.minus(first)
        };
        let classifier = view.shared.classifier();
        classifier.classify(view.shared.numbering, lane, output).0
    }

    /// A queue whose head may have raised its request in this cycle; `waited`: the head has waited before.
    fn look(&mut self, queue: QueueRow, waited: bool) {
        let row = &self.view.queues[queue];
        if row.head == PacketRow::NONE || !row.requesting {
            return;
        }
        let until = self.leaving[queue].until;
        if until > self.view.now {
            self.withdraw(queue);
            if !waited {
                self.own.ends.push(Reverse((until, queue)));
            }
            return;
        }
        let packet = row.head;
        if self.may_drop(packet) && self.is_kept_from_all(queue) {
            self.own.doomed.push(Doomed { queue, packet });
        }
    }

    /// Whether packets stand in several queues (D84).
    pub(super) fn stands(&self) -> bool {
        self.view.shared.sorts() && self.view.shared.open()
    }

    /// Whether a packet is of a service level of which some are dropped.
    pub(super) fn may_drop(&self, packet: PacketRow) -> bool {
        self.own.given.by_key[usize::from(self.view.packets[packet].key)]
    }

    /// Whether the head of a queue cannot be granted anything that it requests.
    fn is_kept_from_all(&self, queue: QueueRow) -> bool {
        let view = &self.view;
        let size = match self.flits {
            Some(_) => 1,
            None => u32::from(view.packets[view.queues[queue].head].size),
        };
        let is_kept = |lane| self.is_held(lane) || view.credits(lane) < size;
        if !view.shared.open() {
            return is_kept(self.first_request(queue));
        }
        let mut requests = view.optional.choices[queue].requests.iter();
        requests.all(|request: &Request| {
            let needs_empty = self.flits.is_some() && request.needs_empty;
            is_kept(request.lane) || needs_empty && !view.is_empty_behind(request.lane)
        })
    }

    /// The lane that the head of a queue requests, or the first of them.
    pub(super) fn first_request(&self, queue: QueueRow) -> LaneRow {
        let view = &self.view;
        if view.shared.open()
            && let Some(first) = view.optional.choices[queue].requests.first()
        {
            return first.lane;
        }
        let row = &view.queues[queue];
        (view.shared.numbering).lane(row.out, u32::from(row.out_lane))
    }

    /// Whether a packet has passed a part of its flits over a lane (D65).
    fn is_held(&self, lane: LaneRow) -> bool {
        let flits = self.flits.as_ref();
        flits.is_some_and(|flits| flits.held[lane].is_held())
    }

    /// The head of a queue no longer requests.
    pub(super) fn withdraw(&mut self, queue: QueueRow) {
        let view = &mut self.view;
        let numbering = view.shared.numbering;
        let row = &mut view.queues[queue];
        row.requesting = false;
        let (out, number) = (row.out, u32::from(row.out_lane));
        let first = view.switches[view.outs[out].owner].first_port;
        let bit = numbering.bit(first, view.shared.classifier().lane(queue));
        let row = numbering.lane(out, number);
        if view.shared.adaptation().is_some() {
            view.withdraw(queue, row, bit);
            if view.shared.single_flits() {
                let flits = view.packets[view.queues[queue].head].size;
                view.release(row, flits);
            }
        }
        let lane = &mut view.lanes[row];
        lane.requests.remove(bit);
        let is_empty = lane.requests.is_empty();
        if is_empty && !self.is_held(row) {
            let view = &mut self.view;
            let lane = &mut view.lanes[row];
            lane.need = 0;
            view.outs[out].request_lanes.remove(number);
        }
    }

    /// Rule 3.
    pub(super) fn drop(&mut self, Doomed { queue, packet }: Doomed) {
        let row = &self.view.queues[queue];
        if row.head != packet {
            // named twice
            return;
        }
        let lane = self.first_request(queue);
        self.withdraw(queue);
        let view = &mut self.view;
        let is_adaptive = view.shared.adaptation().is_some();
        let (now, input) = (view.now, view.queue_port(queue));
        let flits = view.packets[packet].size;
        let step = self.own.given.pace[input.index()];
        let until = now + u64::from(flits) * u64::from(step);
        if let Some(single) = &mut self.flits {
            single
                .swallowing
                .swallow(queue, &mut single.present[queue], flits);
            view.queues[queue].leaving = true;
            view.ins[input].leaving += 1;
        } else {
            self.leaving[queue].until = until;
            // a head chooses once, so none is raised before its time
            view.queues[queue].leaving |= is_adaptive;
        }
        let row = &mut view.queues[queue];
        let is_only = row.head == row.tail;
        if is_only {
            row.head = PacketRow::NONE;
            clear_occupied(view, queue, input);
        } else {
            row.head = view.packets[packet].next;
        }
        if self.flits.is_none() && (is_adaptive || !is_only) {
            self.own.ends.push(Reverse((until, queue)));
        }
        if self.flits.is_none() {
            return_credits(view, queue, input, now, flits, step);
        }
        self.count(packet, input, lane);
        self.pool.release(packet);
    }

    pub(super) fn count(&mut self, packet: PacketRow, input: PortRow, lane: LaneRow) {
        let view = &mut self.view;
        let (row, record) = (&view.packets[packet], &view.records[packet]);
        self.own.count(view.now, (row, record), lane, self.records);
        view.lists.dropped.push(Dropped {
            input,
            lane,
            flits: row.size,
        });
    }
}
