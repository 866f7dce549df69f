//! Slow sinks: hosts that consume at less than the rate of their link (rule 11 of the model, D12).
//!
//! Part of `Slot::Deliver` and `Slot::Route`; active only when `sink_rate` is set.
//!
//! # Rules
//! 1. Packets drain one at a time, round robin over lanes, each from the cycle in which no flit of it can run
//!    dry; flit `k` leaves its slot at `start + k * pace`.
//! 2. The packet is delivered with its last flit; the next may start one pace later.
//!
//! Cost: O(1) per packet.

use super::cross::return_credits;
use super::view::View;
use crate::fabric::components::NONE;

/// A packet at a host may start draining from now on.
pub(super) fn arrive<const W: usize, const P: bool>(
    view: &mut View<'_, W, P>,
    lane: u32,
    packet: u32,
) {
    let stride = view.shared.voq_stride().max(1);
    let queue = &mut view.queues[(lane * stride) as usize];
    if queue.head == NONE {
        queue.head = packet;
    } else {
        view.packets[queue.tail as usize].next = packet;
    }
    queue.tail = packet;
    let port_row = lane >> view.shared.lane_shift;
    view.ins[port_row as usize].occupied |= 1 << (lane & view.shared.lane_mask);
    view.work.sink_visits.push(port_row);
}

/// Starts packets at the sinks that became free or got a packet in this cycle.
pub(super) fn run<const W: usize, const P: bool>(view: &mut View<'_, W, P>) {
    let mut visits = std::mem::take(&mut view.work.sink_visits);
    for port_row in visits.drain(..) {
        drain(view, port_row);
    }
    view.work.sink_visits = visits;
}

/// Starts the next packet when the sink is free.
fn drain<const W: usize, const P: bool>(view: &mut View<'_, W, P>, port_row: u32) {
    let now = view.now;
    let host = (port_row - view.work.first_host_port) as usize;
    let occupied = view.ins[port_row as usize].occupied;
    let sink = &view.work.sinks[host];
    if sink.free_at > now || occupied == 0 {
        return;
    }
    let ahead = occupied & (u64::MAX << sink.pointer);
    let lane = if ahead == 0 { occupied } else { ahead }.trailing_zeros();
    let stride = view.shared.voq_stride().max(1);
    let queue_row = ((port_row << view.shared.lane_shift) + lane) * stride;
    let queue = &mut view.queues[queue_row as usize];
    let packet_row = queue.head;
    if packet_row == queue.tail {
        queue.head = NONE;
        view.ins[port_row as usize].occupied &= !(1 << lane);
    } else {
        queue.head = view.packets[packet_row as usize].next;
    }
    let flits = view.packets[packet_row as usize].size;
    let pace = view.shared.sink_step();
    let sink = &mut view.work.sinks[host];
    sink.pointer = (lane as u8 + 1) & view.shared.lane_mask as u8;
    sink.free_at = now + u64::from(flits) * u64::from(pace);
    let free_at = sink.free_at;
    view.work.calendar.at(free_at).sinks.push(port_row);
    let tail = u64::from(flits - 1) * u64::from(pace);
    if tail == 0 {
        view.work.consumed.push(packet_row);
    } else {
        view.work
            .calendar
            .at(now + tail)
            .deliveries
            .push(packet_row);
    }
    return_credits(view, queue_row, port_row, now, flits, pace);
}
