//! Rows that are asked for ahead, in fabrics that exceed a core's share of the caches.
//!
//! A hop touches some ten rows that lie anywhere, and what it has read says which come next: where memory answers slowly, a stage
//! would wait for one after the other. In a large fabric it takes its events in groups and asks, before it works on a group, for the
//! rows that it will touch: step by step, each step for all events of the group, so that memory brings them at the same time. Where one
//! step is all, for credits and packets that are delivered, all events are one group. Nothing is asked for by input-first arbitration, by
//! flits that pass one by one, for packets that have left an input beside others, and of columns that the system of a stage does not
//! fetch. Nothing here changes a result; what is asked for in vain costs a line of the cache.
//!
//! Cost: some 400 instructions per hop, nothing in other fabrics; the time of 32,768 hosts is 0.51 of what it was without, that of
//! 4,096 hosts 0.91 (`benches/README.md`).

use super::joints::Joints;
use super::rules::RuleSet;
use super::stages::generate::Hosts;
use super::state::Place;
use super::state::calendar::Ramp;
use super::view::View;
use crate::fabric::components::Peer;
use crate::fabric::rows::{Freed, HostRow, LaneRow, PacketRow, PortRow, QueueRow, TurnRow};
use crate::fabric::source_queue::SourceQueues;

/// Events of a group: what they touch stays in the first cache.
const GROUP: usize = 16;

/// Rows of more bytes than these are often in memory and not in a cache, which a core shares with others. Measured: hints gain nothing in a
/// fabric of 1.9 MiB (1,000 hosts) and a tenth of the time in one of 7.7 MiB (4,096).
const CACHE: usize = 6 << 20;

/// Whether a fabric with rows of so many bytes is large: those of all shards, which share the last cache.
pub fn is_large(bytes: usize) -> bool {
    bytes > CACHE
}

impl Place {
    /// How many of `all` events a stage takes at a time.
    #[inline(always)]
    pub(in crate::cycle) fn group(&self, all: usize) -> usize {
        if self.prefetches { GROUP } else { all.max(1) }
    }
}

impl<const W: usize, P: RuleSet> View<'_, W, P> {
    /// For packets that arrive: their queues, and where tables tell the output, what their requests touch.
    #[inline(never)]
    pub(in crate::cycle) fn prefetch_arrivals(&self, arrived: &[(LaneRow, PacketRow)]) {
        let (shared, numbering) = (self.shared, self.shared.numbering);
        for &(lane, packet) in arrived {
            self.ins.prefetch(numbering.port(lane));
            self.packets.prefetch(packet);
            if shared.classifier().is_lane() {
                self.queues.prefetch(shared.classifier().behind(lane, 0));
            }
        }
        if shared.is_adaptive() || shared.own_routes().is_some() {
            return;
        }
        for &(lane, _) in arrived {
            self.switches.prefetch(self.ins[numbering.port(lane)].owner);
        }
        let mut inputs = [None; GROUP];
        for (input, &(lane, packet)) in inputs.iter_mut().zip(arrived) {
            let port = &self.ins[numbering.port(lane)];
            if self.place.is_host(numbering.port(lane)) {
                continue;
            }
            let destination = self.packets[packet].destination;
            let output = u32::from(shared.forwarding.next.at(port.table_start, destination));
            let first = self.switches[port.owner].first_port;
            self.outs.prefetch(first.plus(output));
            if !shared.classifier().is_lane() {
                self.queues
                    .prefetch(shared.classifier().behind(lane, output));
            }
            *input = Some((numbering.port(lane), packet));
        }
        for (input, packet) in inputs.into_iter().flatten() {
            let (out, number) = self.next_hop(input, packet);
            self.lanes.prefetch(numbering.lane(out, number.into()));
        }
    }

    /// For outputs that are looked at: the requests for them, and what a grant touches.
    #[inline(never)]
    pub(in crate::cycle) fn prefetch_visits(&self, outs: &[PortRow]) {
        let numbering = self.shared.numbering;
        for &out in outs {
            self.outs.prefetch(out);
        }
        for &out in outs {
            let port = &self.outs[out];
            self.switches.prefetch(port.owner);
            for number in port.request_lanes {
                self.lanes.prefetch(numbering.lane(out, number));
            }
        }
        let mut heads = [None; GROUP];
        for (head, &out) in heads.iter_mut().zip(outs) {
            let port = &self.outs[out];
            let switch = &self.switches[port.owner];
            let lanes = port.request_lanes.into_iter();
            let mut requests = lanes.filter_map(|number| {
                let lane = numbering.lane(out, number);
                let bit = switch.free.first_in_common(&self.lanes[lane].requests)?;
                Some((bit, lane))
            });
            let Some((bit, lane)) = requests.next() else {
                continue;
            };
            let queue = self.queue_of(switch.first_port, bit, lane);
            let index = numbering.input_index(bit);
            self.queues.prefetch(queue);
            self.ins.prefetch(switch.first_port.plus(index));
            self.turns.prefetch(TurnRow(port.turns.0 + index));
            *head = Some((queue, switch.first_port.plus(index)));
        }
        for (queue, input) in heads.into_iter().flatten() {
            self.packets.prefetch(self.queues[queue].head);
            let port = &self.ins[input];
            if port.peer != Peer::Border {
                let number = numbering.number(self.shared.classifier().lane(queue));
                let sender = numbering.lane(port.from.port(), number);
                self.lanes.prefetch(sender);
            }
        }
    }

    /// For inputs that are free again: their heads, and the outputs that these request.
    #[inline(never)]
    pub(in crate::cycle) fn prefetch_freed(&self, inputs: &[Freed]) {
        let numbering = self.shared.numbering;
        for freed in inputs {
            self.ins.prefetch(freed.input());
        }
        for freed in inputs {
            let input = &self.ins[freed.input()];
            self.switches.prefetch(input.owner);
            for mark in input.occupied {
                self.marked(freed.input(), mark, |queue| self.queues.prefetch(queue));
            }
        }
        for freed in inputs {
            for mark in self.ins[freed.input()].occupied {
                self.marked(freed.input(), mark, |queue| {
                    let queue = &self.queues[queue];
                    if queue.requesting {
                        self.outs.prefetch(queue.out);
                        let lane = numbering.lane(queue.out, queue.out_lane.into());
                        self.lanes.prefetch(lane);
                    } else {
                        self.packets.prefetch(queue.head);
                    }
                });
            }
        }
    }

    fn marked(&self, input: PortRow, mark: u32, mut act: impl FnMut(QueueRow)) {
        (self.shared.classifier()).each(self.shared.numbering, input, mark, |first, count| {
            (first.0..first.0 + count).for_each(|queue| act(QueueRow(queue)));
        });
    }

    /// For outputs that are woken.
    pub(in crate::cycle) fn prefetch_woken(&self, outs: &[PortRow]) {
        for &out in outs {
            self.outs.prefetch(out);
        }
    }

    /// For credits that begin to count.
    pub(in crate::cycle) fn prefetch_ramps(&self, ramps: &[Ramp]) {
        for ramp in ramps {
            self.lanes.prefetch(ramp.lane);
        }
    }

    /// For hosts that may start a packet.
    #[inline(never)]
    pub(in crate::cycle) fn prefetch_hosts(&self, outs: &[PortRow], queues: &SourceQueues) {
        let numbering = self.shared.numbering;
        for &out in outs {
            self.outs.prefetch(out);
            queues.prefetch_ends(numbering.source_queue(self.place.host(out), 0));
        }
        for &out in outs {
            for number in self.outs[out].request_lanes {
                let queue = numbering.source_queue(self.place.host(out), number);
                queues.prefetch_front(queue);
                self.lanes.prefetch(numbering.lane(out, number));
            }
        }
    }

    /// For packets that their hosts take.
    pub(in crate::cycle) fn prefetch_packets(&self, packets: &[PacketRow]) {
        for &packet in packets {
            self.packets.prefetch(packet);
            self.records.prefetch(packet);
        }
    }
}

impl<P: RuleSet, J: Joints> Hosts<'_, P, J> {
    /// For sources that make a packet: themselves, and what a packet of their host is put into.
    #[inline(never)]
    pub(in crate::cycle) fn prefetch(&self, rows: &[u32], class_count: u32) {
        for &row in rows {
            let host = HostRow(row / class_count);
            self.sources.prefetch(row);
            self.outs.prefetch(self.place.port(host));
            let queue = self.shared.numbering.source_queue(host, 0);
            self.queues.prefetch_ends(queue);
        }
    }
}
