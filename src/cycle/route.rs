//! Looks up the output of every new head and raises its request.
//!
//! Stage: `Stage::Route` (route computation)
//! Reads: forwarding table, lane map, input state
//! Writes: queue (route of the head), request masks of the same switch, visit list
//! Cost: O(new heads): one table look-up each, then never again while the head is blocked
//!
//! # Rules
//! 1. Output = table entry of (row of the input, destination), one row per switch unless the input matters; lane = lane map of (input, output, key + hop layer).
//! 2. A request stands from this cycle until it is granted. It is considered at once when the input has a
//!    place left, else when the input is free again.
//!
//! # Deviations
//! The routing delay is part of the event time (see `deliver`), so this stage takes no time of its own.

use super::deliver::append;
use super::view::View;
use crate::scenario::plan::OutputArbitration;

/// Runs the stage.
#[inline]
pub fn run<const W: usize, const P: bool>(view: &mut View<'_, W, P>) {
    let delayed = view.shared.voq_stride() != 0 || view.shared.sink_step() != 0;
    if delayed && !view.work.arrived.is_empty() {
        let mut arrived = std::mem::take(&mut view.work.arrived);
        for (lane, packet) in arrived.drain(..) {
            if lane >> view.shared.lane_shift >= view.work.first_host_port {
                super::sink::arrive(view, lane, packet);
            } else {
                let output = output_of(view, lane, packet);
                append(view, lane * view.shared.voq_stride() + output, lane, packet);
            }
        }
        view.work.arrived = arrived;
    }
    if view.shared.sink_step() != 0 {
        super::sink::run(view);
    }
    let mut heads = std::mem::take(&mut view.work.heads);
    for queue in heads.drain(..) {
        raise(view, queue);
    }
    view.work.heads = heads;
}

/// Output index a packet in `lane` is forwarded to.
#[inline]
fn output_of<const W: usize, const P: bool>(view: &View<'_, W, P>, lane: u32, packet: u32) -> u32 {
    let port = &view.ins[(lane >> view.shared.lane_shift) as usize];
    let row = port.table_row as usize * view.shared.host_count;
    u32::from(view.shared.next[row + view.packets[packet as usize].destination as usize])
}

/// Routes the head of a queue and raises its request.
#[inline]
fn raise<const W: usize, const P: bool>(view: &mut View<'_, W, P>, queue_row: u32) {
    let shared = view.shared;
    let lane_row = match shared.voq_stride() {
        0 => queue_row,
        stride => queue_row / stride,
    };
    let port_row = lane_row >> shared.lane_shift;
    let port = &mut view.ins[port_row as usize];
    let switch = &mut view.switches[port.owner as usize];
    let queue = &mut view.queues[queue_row as usize];
    let packet = &view.packets[queue.head as usize];
    let entry = port.table_row as usize * shared.host_count + packet.destination as usize;
    let out_row = switch.first_port + u32::from(shared.next[entry]);
    let layered = !shared.hop_layer.is_empty() && packet.key != shared.management_key;
    let hop_layer = if layered { shared.hop_layer[entry] } else { 0 };
    let out = &mut view.outs[out_row as usize];
    let key = out.profile + port.profile_offset + u32::from(packet.key) + u32::from(hop_layer);
    let out_lane = shared.profiles[key as usize];
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
    let bit = lane_row - (switch.first_port << shared.lane_shift);
    view.lanes[lane as usize].requests[(bit / 64) as usize % W] |= 1 << (bit % 64);
    if shared.speedup() == 1 {
        if port.free_at > view.now {
            return port.wake_when_free(port_row, &mut view.work.calendar);
        }
        let (word, lanes) = shared.input_lanes(port.index);
        switch.free[word % W] |= lanes;
    } else if port.leaving >= shared.speedup() {
        return;
    }
    view.consider(out_row, lane, size);
}
