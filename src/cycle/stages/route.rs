//! Puts arrived packets into their queues, looks up the output of every new head and raises its request.
//!
//! Stage: `Slot::Route` (buffer write, route computation)
//! Reads: arrived packets, forwarding table, lane map, input state
//! Writes: queues (packets, route of the head), request masks of the same switch, visit list
//! Cost: O(arrived packets), one table look-up per new head, then never again while the head is blocked
//!
//! # Rules
//! 0. With adaptive routing the head chooses (`adaptive`), else:
//! 1. Output = table entry of (row of the input, destination), one row per switch unless the input matters; lane = lane map of (input, output, key + hop layer).
//! 2. A request stands from this cycle until it is granted. It is considered at once when the input has a
//!    place left, else when the input is free again.
//! 3. A packet becomes head when its queue is empty and no packet of the queue is leaving; otherwise the
//!    event that frees the input finds it.
//!
//! # Deviations
//! The routing delay is part of the event time (see `deliver`), so this stage takes no time of its own.

use crate::cycle::mechanisms::adaptive;
use crate::cycle::rules::RuleSet;
use crate::cycle::view::View;
use crate::fabric::components::NONE;
use crate::plan::OutputArbitration;

/// Runs the stage.
#[inline]
pub fn run<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    let mut arrived = std::mem::take(&mut view.lists.arrived);
    for &(lane, packet) in &arrived {
        if view.shared.sink_step() != 0
            && lane >> view.shared.lane_shift >= view.place.first_host_port
        {
            crate::cycle::mechanisms::sink::arrive(view, lane, packet);
        } else {
            append(view, lane, packet);
        }
    }
    if !view.lists.facts.arrived {
        arrived.clear();
    }
    view.lists.arrived = arrived;
    if view.shared.sink_step() != 0 {
        crate::cycle::mechanisms::sink::run(view);
    }
    let mut heads = std::mem::take(&mut view.lists.heads);
    for queue in heads.drain(..) {
        raise(view, queue, view.queue_port(queue));
    }
    view.lists.heads = heads;
}

/// Appends a packet to its queue. A new head raises its request when it can be head now, else (its
/// predecessor is still leaving) the freeing of the input finds it.
#[inline(always)]
fn append<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, lane: u32, packet: u32) {
    let shared = view.shared;
    let (queue_row, bit) = match shared.voq_stride() {
        0 => (lane, lane & shared.lane_mask),
        stride => {
            let output = output_of(view, lane, packet);
            (lane * stride + output, output % 64)
        }
    };
    let port_row = lane >> shared.lane_shift;
    let queue = &mut view.queues[queue_row as usize];
    if queue.head != NONE {
        view.packets[queue.tail as usize].next = packet;
        queue.tail = packet;
        return;
    }
    queue.head = packet;
    queue.tail = packet;
    let port = &mut view.ins[port_row as usize];
    port.occupied |= 1 << bit;
    if shared.speedup() == 1 {
        if port.free_at > view.now && port.leaving_queue == queue_row {
            return port.wake_when_free(port_row, view.calendar);
        }
    } else if queue.leaving {
        return;
    }
    raise(view, queue_row, port_row);
}

/// Output index a packet in `lane` is forwarded to.
#[inline]
fn output_of<const W: usize, P: RuleSet>(view: &View<'_, W, P>, lane: u32, packet: u32) -> u32 {
    let port = &view.ins[(lane >> view.shared.lane_shift) as usize];
    let row = port.table_row as usize * view.shared.forwarding.host_count;
    u32::from(view.shared.forwarding.next[row + view.packets[packet as usize].destination as usize])
}

/// Routes the head of a queue and raises its request.
#[inline(always)]
fn raise<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, queue_row: u32, port_row: u32) {
    let shared = view.shared;
    if let Some(adaptation) = shared.adaptation() {
        return adaptive::raise(view, adaptation, queue_row, port_row);
    }
    let port = &mut view.ins[port_row as usize];
    let switch = &mut view.switches[port.owner as usize];
    let queue = &mut view.queues[queue_row as usize];
    let packet = &view.packets[queue.head as usize];
    let tables = &shared.forwarding;
    let entry = port.table_row as usize * tables.host_count + packet.destination as usize;
    let out_row = switch.first_port + u32::from(tables.next[entry]);
    let layered = !tables.hop_layer.is_empty() && packet.key != tables.management_key;
    let hop_layer = if layered { tables.hop_layer[entry] } else { 0 };
    let out = &mut view.outs[out_row as usize];
    let key = out.profile + port.profile_offset + u32::from(packet.key) + u32::from(hop_layer);
    let out_lane = tables.profiles[key as usize];
    let size = packet.size;
    queue.out = out_row;
    queue.out_lane = out_lane;
    queue.size = size;
    queue.requesting = true;
    if shared.output_arbitration() == OutputArbitration::FirstComeFirstServed {
        view.records[queue.head as usize].requested = view.now;
    }
    out.request_lanes |= 1 << out_lane;
    let lane = (out_row << shared.lane_shift) + u32::from(out_lane);
    let lane_row = match shared.voq_stride() {
        0 => queue_row,
        stride => queue_row / stride,
    };
    let bit = lane_row - (switch.first_port << shared.lane_shift);
    view.lanes[lane as usize].requests[(bit / 64) as usize % W] |= 1 << (bit % 64);
    if shared.speedup() == 1 {
        if port.free_at > view.now {
            return port.wake_when_free(port_row, view.calendar);
        }
        let (word, lanes) = shared.lanes_beside(bit as u16);
        switch.free[word % W] |= lanes;
    } else if port.leaving >= shared.speedup() {
        return;
    }
    view.consider(out_row, lane, size);
}
