//! Puts arrived packets into their queues, looks up the output of every new head and raises its request.
//!
//! Stage: `Slot::Route` (buffer write, route computation)
//! Reads: arrived packets, forwarding table, lane map, input state
//! Writes: queues (packets, route of the head), request masks of the same switch, visit list
//! Cost: O(arrived packets), one table look-up per new head, then never again while the head is blocked
//!
//! # Rules
//! 0. With adaptive routing the head chooses (`adaptive`), with VOQ every packet that comes (D75, D84); a packet with a route of its own has the output of that, and the lane
//!    of no layer (D66); else:
//! 1. Output = table entry of (row of the input, destination), one row per switch unless the input matters; lane = lane map of (input, output, key + hop layer).
//! 2. A request stands from this cycle until it is granted. It is considered at once when the input has a
//!    place left, else when the input is free again.
//! 3. A packet becomes head when its queue is empty and no packet of the queue is leaving; otherwise the
//!    event that frees the input finds it.
//!
//! # Deviations
//! The routing delay is part of the event time (see `deliver`), so this stage takes no time of its own.

use crate::cycle::joints::{Sinking as _, Way as _};
use crate::cycle::rules::RuleSet;
use crate::cycle::state::Forwarding;
use crate::cycle::view::View;
use crate::fabric::rows::{Column, LaneRow, PacketRow, PortRow, QueueRow};
use crate::fabric::{InPort, OutPort, Packet};
use crate::plan::OutputArbitration;
use std::ops::Deref;

/// Runs the stage.
#[inline(never)]
pub fn run<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    let mut arrived = std::mem::take(&mut view.lists.arrived);
    if let Some(routes) = view.shared.own_routes() {
        for &(_, packet) in &arrived {
            let record = &mut view.records[packet];
            record.via = routes.behind(record.via);
        }
    }
    let sorts = view.shared.sorts();
    for part in arrived.chunks(view.place.group(arrived.len())) {
        if view.place.prefetches {
            view.prefetch_arrivals(part);
        }
        for &(lane, packet) in part {
            let port = view.shared.numbering.port(lane);
            if view.shared.sink_step() != 0 && view.place.is_host(port) {
                view.arrive_at_sink(lane, packet);
            } else if !sorts {
                append(view, lane, packet);
            }
        }
    }
    if const { P::ADAPTIVE.is_possible() }
        && let Some(adaptation) = view.shared.adaptation().filter(|_| sorts)
    {
        view.sort(adaptation, &arrived);
    }
    if !view.lists.facts.arrived {
        arrived.clear();
    }
    view.lists.arrived = arrived;
    let mut heads = std::mem::take(&mut view.lists.heads);
    for queue in heads.drain(..) {
        let classifier = view.shared.classifier();
        let (lane, output) = (classifier.lane(queue), classifier.output(queue));
        let port = view.shared.numbering.port(lane);
        raise(view, queue, (port, lane), output.map(|output| output as u8));
    }
    view.lists.heads = heads;
    if const { P::ADAPTIVE.is_possible() }
        && let Some(adaptation) = view.shared.adaptation()
    {
        view.choose(adaptation);
    }
}

/// Finds the queue of a packet, and appends it. A new head raises its request when it can be head now, else (its
/// predecessor is still leaving) the freeing of the input finds it.
#[inline(always)]
fn append<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, lane: LaneRow, packet: PacketRow) {
    let shared = view.shared;
    let mut known = None;
    let output = || {
        let output = output_of(view, lane, packet);
        known = Some(output);
        u32::from(output)
    };
    let found = (shared.classifier()).classify(shared.numbering, lane, output);
    join(view, found, (lane, packet), known);
}

/// Appends a packet of an input lane to a queue, which has this mark; `known`: its output by tables or a route of its own, where that
/// was looked up.
#[inline(always)]
pub(in crate::cycle) fn join<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    (queue_row, mark): (QueueRow, u32),
    (lane, packet): (LaneRow, PacketRow),
    known: Option<u8>,
) {
    let shared = view.shared;
    let port_row = shared.numbering.port(lane);
    let queue = &mut view.queues[queue_row];
    if queue.head != PacketRow::NONE {
        view.packets[queue.tail].next = packet;
        queue.tail = packet;
        return;
    }
    queue.head = packet;
    queue.tail = packet;
    let port = &mut view.ins[port_row];
    port.occupied.insert(mark);
    if shared.speedup() == 1 {
        if port.free_at > view.now && port.leaving_queue == queue_row {
            return port.wake_when_free(port_row, view.calendar);
        }
        // a dropped packet leaves the queue beside what its input sends
        if shared.adaptation().is_some() && queue.leaving {
            return;
        }
    } else if queue.leaving {
        return;
    }
    if shared.single_flits() && shared.switch.head_delay > 0 {
        return put_off(view, queue_row, port_row);
    }
    raise(view, queue_row, (port_row, lane), known);
}

/// A header that finds its queue empty is routed then (D65): until its request the queue counts as one that a packet leaves.
#[inline(never)]
fn put_off<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, queue: QueueRow, input: PortRow) {
    let at = view.now + view.shared.switch.head_delay;
    view.queues[queue].leaving = true;
    view.ins[input].leaving += 1;
    view.calendar.at(at).frees.push(queue.into());
}

/// Output index a packet in `lane` is forwarded to.
#[inline]
fn output_of<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    lane: LaneRow,
    packet: PacketRow,
) -> u8 {
    if let Some(output) = own_output(view, packet) {
        return output;
    }
    let port = &view.ins[view.shared.numbering.port(lane)];
    let destination = view.packets[packet].destination;
    (view.shared.forwarding.next).at(port.table_start, destination)
}

/// Output index of a packet with a route of its own.
#[inline(always)]
fn own_output<const W: usize, P: RuleSet>(view: &View<'_, W, P>, packet: PacketRow) -> Option<u8> {
    let routes = view.shared.own_routes()?;
    routes.output(&view.records[packet])
}

/// Output and lane that a packet at an input of a switch is forwarded to; `own`: the output of its own route.
#[inline(always)]
pub(in crate::cycle) fn next_hop<S: Deref<Target = [OutPort]>>(
    tables: &Forwarding,
    port: &InPort,
    first_port: PortRow,
    (packet, own): (&Packet, Option<u8>),
    outs: &Column<PortRow, S>,
) -> (PortRow, u8) {
    let by_tables = || tables.next.at(port.table_start, packet.destination);
    let output = own.unwrap_or_else(by_tables);
    let way = (first_port.plus(u32::from(output)), own.is_some());
    (way.0, lane_behind(tables, port, way, packet, outs))
}

/// The lane of output `out` that a packet at an input is forwarded to; `is_own`: by its own route.
#[inline(always)]
fn lane_behind<S: Deref<Target = [OutPort]>>(
    tables: &Forwarding,
    port: &InPort,
    (out, is_own): (PortRow, bool),
    packet: &Packet,
    outs: &Column<PortRow, S>,
) -> u8 {
    let (start, destination) = (port.table_start, packet.destination);
    let layered = !is_own && !tables.hop_layer.is_empty() && packet.key != tables.management_key;
    let hop_layer = if layered {
        tables.hop_layer.at(start, destination)
    } else {
        0
    };
    let profile = outs[out].profile + port.profile_offset;
    let key = profile + u32::from(packet.key) + u32::from(hop_layer);
    tables.profiles[key as usize]
}

impl<const W: usize, P: RuleSet> View<'_, W, P> {
    /// Output and lane that a packet at an input of a switch is forwarded to, wherever it stands in its queue; not where adaptive
    /// routing lets heads choose.
    pub(in crate::cycle) fn next_hop(&self, input: PortRow, packet: PacketRow) -> (PortRow, u8) {
        let port = &self.ins[input];
        let first = self.switches[port.owner].first_port;
        if self.shared.sorts() {
            return self.packets[packet].chosen(first);
        }
        next_hop(
            &self.shared.forwarding,
            port,
            first,
            (&self.packets[packet], own_output(self, packet)),
            &self.outs,
        )
    }

    /// The same before the stage has told a packet with a route of its own that it is at the switch.
    pub(in crate::cycle) fn next_hop_ahead(
        &self,
        input: PortRow,
        packet: PacketRow,
    ) -> (PortRow, u8) {
        let port = &self.ins[input];
        let first = self.switches[port.owner].first_port;
        let routes = self.shared.own_routes();
        let via = self.records[packet].via;
        let own = routes.and_then(|routes| routes.output_at(routes.behind(via)));
        next_hop(
            &self.shared.forwarding,
            port,
            first,
            (&self.packets[packet], own),
            &self.outs,
        )
    }

    /// Lane and flits of every packet that has come to an input of a switch in this cycle, of the lane that it goes to there;
    /// not with adaptive routing.
    #[inline]
    pub(in crate::cycle) fn each_arrival(&self, mut act: impl FnMut(LaneRow, u32)) {
        let numbering = self.shared.numbering;
        for &(lane, packet) in &self.lists.arrived {
            let input = numbering.port(lane);
            if self.place.is_host(input) {
                continue;
            }
            let (out, number) = self.hop_of((input, lane), packet);
            let lane = numbering.lane(out, number.into());
            act(lane, u32::from(self.packets[packet].size));
        }
    }

    /// [`Self::next_hop`] of a packet that has come to an input lane in this cycle, after arbitration.
    ///
    /// The last packet of a FIFO that has raised its request is the only one, whether it was granted in this cycle or stands: what it
    /// requests is written in the queue. (A dropped packet may not have raised one, and single flits leave a head where it is.)
    #[inline(always)]
    fn hop_of(&self, (input, lane): (PortRow, LaneRow), packet: PacketRow) -> (PortRow, u8) {
        let shared = self.shared;
        let are_told = shared.classifier().is_lane()
            && shared.speedup() == 1
            && !shared.single_flits()
            && self.lists.dropped.is_empty();
        if are_told {
            let queue = &self.queues[QueueRow(lane.0)];
            let stands = queue.head == packet && queue.requesting;
            if queue.tail == packet && (stands || queue.head == PacketRow::NONE) {
                return (queue.out, queue.out_lane);
            }
        }
        self.next_hop(input, packet)
    }
}

/// Routes the head of a queue and raises its request; `known`: its output by tables or its own route, where that is known.
#[inline(always)]
pub(in crate::cycle) fn raise<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    queue_row: QueueRow,
    (port_row, input_lane): (PortRow, LaneRow),
    known: Option<u8>,
) {
    let shared = view.shared;
    let sorts = shared.sorts();
    if shared.is_adaptive() && !sorts {
        return view.lists.choosing.insert(queue_row);
    }
    if sorts && shared.open() {
        return view.rise(queue_row);
    }
    let own = own_output(view, view.queues[queue_row].head);
    let port = &mut view.ins[port_row];
    let switch = &mut view.switches[port.owner];
    let queue = &mut view.queues[queue_row];
    let packet = &view.packets[queue.head];
    let (out_row, out_lane) = if sorts {
        packet.chosen(switch.first_port)
    } else {
        let (tables, outs) = (&shared.forwarding, &view.outs);
        let by_tables = || tables.next.at(port.table_start, packet.destination);
        let output = known.or(own).unwrap_or_else(by_tables);
        let way = (switch.first_port.plus(output.into()), own.is_some());
        (way.0, lane_behind(tables, port, way, packet, outs))
    };
    let out = &mut view.outs[out_row];
    let size = shared.request_size(packet.size);
    queue.out = out_row;
    queue.out_lane = out_lane;
    queue.size = size;
    queue.requesting = true;
    queue.since = view.now as u32;
    if shared.output_arbitration() == OutputArbitration::FirstComeFirstServed {
        view.records[queue.head].requested = view.now;
    }
    out.request_lanes.insert(u32::from(out_lane));
    let lane = shared.numbering.lane(out_row, u32::from(out_lane));
    let bit = shared.numbering.bit(switch.first_port, input_lane);
    debug_assert_eq!(
        input_lane,
        shared.numbering.input_lane(switch.first_port, bit, lane)
    );
    view.lanes[lane].requests.insert(bit);
    if shared.speedup() == 1 {
        if port.free_at > view.now {
            return port.wake_when_free(port_row, view.calendar);
        }
        switch.free.insert_all(shared.numbering.beside(bit));
    } else if port.leaving >= shared.speedup() {
        return;
    }
    view.consider(out_row, lane, size);
}
