//! Dropping by a threshold with adaptive routing: what has chosen in this cycle, on what waited in the cycle before.
//!
//! Part of the end of `Slot::Route`.
//! Cost: O(requests of what has chosen); for what is dropped from the middle of a queue O(packets there)

use super::decide::Stage;
use super::{Chosen, Doomed};
use crate::cycle::joints::Way as _;
use crate::cycle::stages::cross::{clear_occupied, return_credits};
use crate::cycle::stages::route::raise;
use crate::fabric::rows::{LaneRow, PacketRow, QueueRow, Row as _};

impl<const W: usize> Stage<'_, W> {
    /// Names the packets that are to be dropped.
    pub(super) fn decide_by_fill(&mut self, most: u32) {
        let mut chosen = std::mem::take(&mut self.own.chosen);
        self.collect(&mut chosen);
        for &one in &chosen {
            self.each_request(one, |stage, lane, flits| {
                let row = stage.view.shared.credit_lane(lane);
                stage.view.optional.contention.remove((lane, row), flits);
            });
        }
        for &one in &chosen {
            let mut is_full = self.may_drop(one.packet);
            self.each_request(one, |stage, lane, _| {
                is_full &= stage.view.optional.contention.fill(lane) >= most;
            });
            if is_full {
                let Chosen { queue, packet } = one;
                self.own.doomed.push(Doomed { queue, packet });
            }
        }
        for one in chosen.drain(..) {
            self.each_request(one, |stage, lane, flits| {
                let row = stage.view.shared.credit_lane(lane);
                stage.view.optional.contention.add((lane, row), flits);
            });
        }
        self.own.chosen = chosen;
    }

    /// `Held`, where packets stand in several queues (D84): names those that have come and cannot be granted anything that they may take.
    pub(super) fn decide_standing(&mut self) {
        let mut chosen = std::mem::take(&mut self.own.chosen);
        self.collect(&mut chosen);
        for one in chosen.drain(..) {
            let mut is_kept = self.may_drop(one.packet);
            self.each_request(one, |stage, lane, flits| {
                is_kept &= stage.view.credits(lane) < u32::from(flits);
            });
            if is_kept {
                let Chosen { queue, packet } = one;
                self.own.doomed.push(Doomed { queue, packet });
            }
        }
        self.own.chosen = chosen;
    }

    /// What has chosen in this cycle: new heads, with VOQ all that has come.
    fn collect(&mut self, chosen: &mut Vec<Chosen>) {
        let sorts = self.view.shared.sorts();
        self.each_new(|stage, queue, packet, waited| {
            let row = &stage.view.queues[queue];
            // with VOQ what has waited has chosen as it came
            let has_chosen = if sorts {
                !waited
            } else {
                packet != PacketRow::NONE && row.head == packet && row.requesting
            };
            if has_chosen {
                chosen.push(Chosen { queue, packet });
            }
        });
        // a queue that is free may get its head from either list
        chosen.sort_unstable();
        chosen.dedup();
    }

    /// Every lane that a packet has chosen, with its flits.
    fn each_request(&mut self, one: Chosen, mut act: impl FnMut(&mut Self, LaneRow, u16)) {
        let view = &self.view;
        let flits = view.packets[one.packet].size;
        if self.stands() {
            let standing = self.view.optional.choices[one.queue].standing.take();
            let own = standing.iter().flat_map(|standing| standing.of(one.packet));
            own.for_each(|request| act(self, request.lane, flits));
            self.view.optional.choices[one.queue].standing = standing;
            return;
        }
        if view.shared.open() {
            for number in 0..view.optional.choices[one.queue].requests.len() {
                let lane = self.view.optional.choices[one.queue].requests[number].lane;
                act(self, lane, flits);
            }
            return;
        }
        let lane = if view.shared.sorts() {
            self.choice(one)
        } else {
            self.first_request(one.queue)
        };
        act(self, lane, flits);
    }

    /// The lane that a packet has chosen as it came.
    fn choice(&self, one: Chosen) -> LaneRow {
        let view = &self.view;
        let input = view.queue_port(one.queue);
        let first = view.switches[view.ins[input].owner].first_port;
        let (out, number) = view.packets[one.packet].chosen(first);
        view.shared.numbering.lane(out, number.into())
    }

    /// A packet is dropped as it comes, and stands nowhere (D84).
    pub(super) fn drop_standing(&mut self, Doomed { queue, packet }: Doomed) {
        let view = &self.view;
        let standing = view.optional.choices[queue].standing.as_ref();
        let first = standing.and_then(|standing| standing.of(packet).next());
        let (now, input) = (view.now, view.queue_port(queue));
        let (flits, step) = (
            view.packets[packet].size,
            self.own.given.pace[input.index()],
        );
        let lane = view.shared.classifier().lane(queue);
        self.view.retire(lane, packet);
        return_credits(&mut self.view, queue, input, now, flits, step);
        if let Some(first) = first {
            self.count(packet, input, first.lane);
        }
        self.pool.release(packet);
    }

    /// A packet is dropped as it joins its queue (VOQ): what is ahead of it and behind it goes as if it had not come.
    pub(super) fn drop_joined(&mut self, Doomed { queue, packet }: Doomed) {
        let lane = self.choice(Chosen { queue, packet });
        let is_head = self.view.queues[queue].head == packet;
        let flits = self.view.packets[packet].size;
        if is_head && self.view.queues[queue].requesting {
            self.withdraw(queue);
        } else {
            let row = self.view.shared.credit_lane(lane);
            self.view.optional.contention.remove((lane, row), flits);
        }
        let view = &mut self.view;
        let (now, input) = (view.now, view.queue_port(queue));
        let step = self.own.given.pace[input.index()];
        if is_head {
            self.behead(queue, packet);
        } else {
            self.unlink(queue, packet);
        }
        if let Some(single) = &mut self.flits {
            // its flits come one by one, the first one in this cycle
            let lane = self.view.shared.classifier().lane(queue);
            single.discarded[lane].left = flits;
            self.call_off(queue);
        } else {
            return_credits(&mut self.view, queue, input, now, flits, step);
        }
        self.count(packet, input, lane);
        self.pool.release(packet);
    }

    /// A header that has found its queue empty is not routed: the next one is routed from its own coming on (D65).
    fn call_off(&mut self, queue: QueueRow) {
        let view = &mut self.view;
        let delay = view.shared.switch.head_delay;
        if delay == 0 || view.queues[queue].head != PacketRow::NONE {
            return;
        }
        // what leaves the queue now has no such entry before its last flit passes
        let frees = &mut view.calendar.at(view.now + delay).frees;
        if let Some(place) = frees.iter().rposition(|freed| freed.queue() == queue) {
            frees.remove(place);
            view.queues[queue].leaving = false;
            let input = view.queue_port(queue);
            view.ins[input].leaving -= 1;
        }
    }

    /// The first packet of a queue is taken out, and the next one is its head now.
    fn behead(&mut self, queue: QueueRow, packet: PacketRow) {
        let view = &mut self.view;
        let (input, lane) = (view.queue_port(queue), view.shared.classifier().lane(queue));
        let row = &mut view.queues[queue];
        if row.head == row.tail {
            row.head = PacketRow::NONE;
            return clear_occupied(view, queue, input);
        }
        row.head = view.packets[packet].next;
        let is_leaving = if view.shared.speedup() == 1 {
            let port = &view.ins[input];
            port.free_at > view.now && port.leaving_queue == queue
        } else {
            row.leaving
        };
        if !is_leaving {
            raise(view, queue, (input, lane), None);
        }
    }

    /// A packet that is not the first of a queue is taken out.
    fn unlink(&mut self, queue: QueueRow, packet: PacketRow) {
        let view = &mut self.view;
        let row = &mut view.queues[queue];
        let mut before = row.head;
        while view.packets[before].next != packet {
            before = view.packets[before].next;
        }
        view.packets[before].next = view.packets[packet].next;
        if row.tail == packet {
            row.tail = before;
        }
    }
}
