//! Takes this cycle's events off the calendar: freed inputs, arriving heads, wake-ups.
//!
//! Stage: `Slot::Deliver` (end of link traversal, buffer write)
//! Reads: the calendar slot of this cycle
//! Writes: freed inputs, worklists of the later stages
//! Cost: O(events due); an idle port costs nothing
//!
//! # Rules
//! 1. Freed inputs first, then wake-ups: whatever looks at inputs sees all that counts in this cycle.
//! 2. A head is in the calendar at the cycle in which it may *request* (arrival + routing delay + what keeps
//!    its flits from running dry), not at its arrival: per lane the order is the same (model rules 3, 4).
//!
//! # Deviations
//! None.

use crate::cycle::joints::Way as _;
use crate::cycle::rules::RuleSet;
use crate::cycle::state::Shared;
use crate::cycle::view::View;
use crate::fabric::components::{Packet, PacketRecord};
use crate::fabric::rows::{PacketRow, PortRow, QueueRow};

/// Runs the stage.
#[inline(never)]
pub fn run<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    let slot = view.calendar.take(view.now);
    std::mem::swap(&mut view.lists.arrived, &mut slot.heads);
    std::mem::swap(&mut view.lists.consumed, &mut slot.deliveries);
    let mut frees = std::mem::take(&mut slot.frees);
    let mut wakes = std::mem::take(&mut slot.wakes);
    if view.shared.speedup() == 1 {
        for part in frees.chunks(view.place.group(frees.len())) {
            if view.place.prefetches {
                view.prefetch_freed(part);
            }
            for freed in part {
                free_port(view, freed.input());
            }
        }
        frees.clear();
    } else {
        for freed in frees.drain(..) {
            free_queue(view, freed.queue());
        }
    }
    for part in wakes.chunks(view.place.group(wakes.len())) {
        if view.place.prefetches {
            view.prefetch_woken(part);
        }
        for &out in part {
            view.woken(out);
        }
    }
    wakes.clear();
    if view.shared.open() {
        let raises = view.calendar.due(view.now).raises.drain(..);
        view.lists.heads.extend(raises);
    }
    if view.shared.sink_step() != 0 || view.shared.has_output_lanes() {
        start_ports(view);
    }
    if view.place.prefetches {
        view.prefetch_packets(&view.lists.consumed);
    }
    let slot = view.calendar.due(view.now);
    (slot.frees, slot.wakes) = (frees, wakes);
}

/// Sinks and channels that may start a packet.
fn start_ports<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    for port in view.calendar.due(view.now).starts.drain(..) {
        if view.place.is_host(port) {
            view.lists.sink_visits.push(port);
        } else {
            view.lists.channel_visits.push(port);
        }
    }
}

/// An input that sends one packet at a time is free again: its heads may go.
fn free_port<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, port_row: PortRow) {
    let port = &mut view.ins[port_row];
    port.wake_scheduled = false;
    let occupied = port.occupied;
    view.open_input(port_row);
    for mark in occupied {
        view.each_queue(port_row, mark, |view, queue| offer(view, queue));
    }
}

/// The packet that left `queue` is gone (input speed-up above 1): the next is head, and the input may
/// have a place left for the heads of its other queues.
fn free_queue<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, queue_row: QueueRow) {
    let port_row = view.queue_port(queue_row);
    view.queues[queue_row].leaving = false;
    let port = &mut view.ins[port_row];
    let was_full = port.leaving >= view.shared.speedup();
    port.leaving -= 1;
    if view.queues[queue_row].head != PacketRow::NONE {
        view.lists.heads.push(queue_row);
    }
    if was_full {
        let occupied = view.ins[port_row].occupied;
        view.open_input(port_row);
        for mark in occupied {
            view.each_queue(port_row, mark, |view, queue| {
                if view.queues[queue].requesting {
                    offer(view, queue);
                }
            });
        }
    }
}

/// A head whose input is free: raises its request, or has its output looked at again.
#[inline(always)]
fn offer<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, queue_row: QueueRow) {
    let queue = &view.queues[queue_row];
    if queue.head == PacketRow::NONE {
        return;
    }
    if queue.requesting && view.shared.open() {
        view.offer(queue_row);
    } else if queue.requesting {
        let lane = view
            .shared
            .numbering
            .lane(queue.out, u32::from(queue.out_lane));
        let (out, size) = (queue.out, queue.size);
        view.consider(out, lane, size);
    } else if !(view.shared.adaptation().is_some() && queue.leaving) {
        view.lists.heads.push(queue_row);
    }
}

impl<const W: usize, P: RuleSet> View<'_, W, P> {
    /// The input a queue belongs to.
    #[inline]
    pub fn queue_port(&self, queue: QueueRow) -> PortRow {
        let lane = self.shared.classifier().lane(queue);
        self.shared.numbering.port(lane)
    }

    /// Calls `act` for the non-empty queues behind one `occupied` mark of an input.
    #[inline]
    pub(in crate::cycle) fn each_queue(
        &mut self,
        input: PortRow,
        mark: u32,
        mut act: impl FnMut(&mut Self, QueueRow),
    ) {
        let (classifier, numbering) = (self.shared.classifier(), self.shared.numbering);
        if classifier.is_lane() {
            // a mark of its own says that the queue has a packet
            return act(self, QueueRow(numbering.lane(input, mark).0));
        }
        classifier.each(numbering, input, mark, |first, count| {
            for queue in (first.0..first.0 + count).map(QueueRow) {
                if self.queues[queue].head != PacketRow::NONE {
                    act(self, queue);
                }
            }
        });
    }

    /// Lets the heads of an input take part in arbitration.
    #[inline]
    pub fn open_input(&mut self, input: PortRow) {
        let port = &self.ins[input];
        let first = self.shared.numbering.first_bit(port.index);
        let lanes = self.shared.numbering.beside(first);
        self.switches[port.owner].free.insert_all(lanes);
    }

    /// Keeps the heads of an input out of arbitration.
    #[inline]
    pub fn close_input(&mut self, input: PortRow) {
        let port = &self.ins[input];
        let first = self.shared.numbering.first_bit(port.index);
        let lanes = self.shared.numbering.beside(first);
        self.switches[port.owner].free.remove_all(lanes);
    }
}

impl<const W: usize, P: RuleSet> View<'_, W, P> {
    /// [`Shared::pipeline`] at the switch of an input of this shard.
    #[inline(always)]
    pub(in crate::cycle) fn pipeline_of(
        &self,
        input: PortRow,
        packet: PacketRow,
        step_in: u16,
    ) -> u64 {
        if self.shared.uniform_pace() && !self.shared.store_and_forward() {
            return self.shared.switch.request_delay;
        }
        let port = &self.ins[input];
        let switch = self.switches[port.owner].global;
        let packet = (&self.packets[packet], &self.records[packet]);
        self.shared
            .pipeline([switch, port.table_start], packet, step_in)
    }
}

impl Shared {
    /// Cycles from a header's arrival at `switch`, where its table row starts at `start`, to its earliest
    /// request.
    #[inline]
    pub fn pipeline(
        &self,
        [switch, start]: [u32; 2],
        (packet, record): (&Packet, &PacketRecord),
        step_in: u16,
    ) -> u64 {
        if self.switch.store_and_forward {
            return self.switch.request_delay + u64::from(packet.size - 1) * u64::from(step_in);
        }
        if self.switch.uniform_pace || self.switch.single_flits {
            return self.switch.request_delay;
        }
        let step_out = if let Some(adaptation) = &self.adaptation {
            adaptation.step_out(switch, (packet.key, packet.destination))
        } else {
            let tables = &self.forwarding;
            let first = tables.output_first[switch as usize] as usize;
            let own = self.own_routes.as_ref();
            let own = own.and_then(|routes| routes.output_ahead(record));
            let by_tables = || tables.next.at(start, packet.destination);
            tables.output_step[first + usize::from(own.unwrap_or_else(by_tables))]
        };
        self.switch.request_delay + self.underrun(packet.size, step_in, step_out)
    }

    /// Head start a packet needs so that its flits, arriving every `step_in` cycles, never run dry when
    /// they leave every `step_out` cycles.
    #[inline]
    pub fn underrun(&self, flits: u16, step_in: u16, step_out: u16) -> u64 {
        u64::from(flits - 1) * u64::from(step_in.saturating_sub(step_out))
    }
}
