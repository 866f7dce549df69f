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

use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::rules::RuleSet;
use crate::cycle::snapshot::Persistent;
use crate::cycle::stages::cross::return_credits;
use crate::cycle::view::View;
use crate::fabric::Host;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow};
use bevy_ecs::component::Component;
use serde::{Deserialize, Serialize};

/// A slow sink.
#[derive(Component, Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sink {
    /// First cycle in which it can take a packet.
    free_at: u64,
    /// Lane asked first.
    pointer: u8,
}

impl Persistent for Sink {}

/// Slow sinks as a mechanism: a sink for every host. Their packets are taken by the core's stages.
pub struct SlowSinks;

impl Mechanism for SlowSinks {
    fn of(site: &Site<'_>) -> Option<Self> {
        (site.shared.switch.sink_step != 0).then_some(Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.column::<Host, Sink>(Sink::default());
    }
}

/// A packet at a host may start draining from now on.
pub(in crate::cycle) fn arrive<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    lane: LaneRow,
    packet: PacketRow,
) {
    let queue = &mut view.queues[view.shared.classifier().behind(lane, 0)];
    if queue.head == PacketRow::NONE {
        queue.head = packet;
    } else {
        view.packets[queue.tail].next = packet;
    }
    queue.tail = packet;
    let port_row = view.shared.numbering.port(lane);
    let number = view.shared.numbering.number(lane);
    view.ins[port_row].occupied.insert(number);
    view.lists.sink_visits.push(port_row);
}

/// Starts packets at the sinks that became free or got a packet in this cycle.
pub(in crate::cycle) fn run<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    let mut visits = std::mem::take(&mut view.lists.sink_visits);
    for port_row in visits.drain(..) {
        drain(view, port_row);
    }
    view.lists.sink_visits = visits;
}

/// Starts the next packet when the sink is free.
fn drain<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, port_row: PortRow) {
    let now = view.now;
    let (shared, host) = (view.shared, view.place.host(port_row));
    let occupied = view.ins[port_row].occupied;
    let sink = &view.optional.sinks[host];
    if sink.free_at > now || occupied.is_empty() {
        return;
    }
    // the marks of a host are its lanes
    let number = occupied.first_from(sink.pointer);
    let lane = shared.numbering.lane(port_row, number);
    let queue_row = shared.classifier().behind(lane, 0);
    let queue = &mut view.queues[queue_row];
    let packet_row = queue.head;
    if packet_row == queue.tail {
        queue.head = PacketRow::NONE;
        view.ins[port_row].occupied.remove(number);
    } else {
        queue.head = view.packets[packet_row].next;
    }
    let flits = view.packets[packet_row].size;
    let pace = shared.sink_step();
    let sink = &mut view.optional.sinks[host];
    sink.pointer = shared.numbering.after(number);
    sink.free_at = now + u64::from(flits) * u64::from(pace);
    let free_at = sink.free_at;
    view.calendar.at(free_at).starts.push(port_row);
    let tail = u64::from(flits - 1) * u64::from(pace);
    if tail == 0 {
        view.lists.consumed.push(packet_row);
    } else {
        view.calendar.at(now + tail).deliveries.push(packet_row);
    }
    return_credits(view, queue_row, port_row, now, flits, pace);
}
