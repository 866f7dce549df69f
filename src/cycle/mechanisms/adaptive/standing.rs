//! Open heads with VOQ: a packet stands in the queue of every output that it may take, until one of them grants it.
//!
//! Part of `Slot::Route` (`come`, `rise`) and `Slot::Cross` (`leave`).
//! Reads: the routing function
//! Writes: what stands at the input lane, heads of its queues and their requests
//! Cost: O(candidates) for a packet that comes; O(candidates * what stands at the lane) for one that leaves
//!
//! # Rules (D84)
//! 1. A packet gets its course and its candidates when it comes. It waits for all of them from then on.
//! 2. The head of a queue is the first of those that stand there, once nothing leaves the queue. It requests its candidates on that output.
//! 3. A grant takes a packet out of all its queues. The queue that it leaves has its next head as ever, the others in the cycle behind.
//! 4. Its request is as old as the first one that it made here.
//!
//! # Deviations
//! None.

use super::choice::{by_tables, head_of, list, set_out};
use super::{may_send, take_back};
use crate::cycle::columns::Request;
use crate::cycle::joints::Way as _;
use crate::cycle::rules::RuleSet;
use crate::cycle::stages::cross::clear_occupied;
use crate::cycle::state::Adaptation;
use crate::cycle::view::View;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow};
use crate::plan::OutputArbitration;

/// Not requested yet.
const NEVER: u64 = u64::MAX;

/// A packet has come to an input lane.
#[inline(never)]
pub(super) fn come<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    adaptation: &Adaptation,
    (lane, packet): (LaneRow, PacketRow),
) {
    let (classifier, numbering) = (view.shared.classifier(), view.shared.numbering);
    let (first_queue, input) = (classifier.behind(lane, 0), numbering.port(lane));
    let head = head_of(view, adaptation, (first_queue, input), packet);
    let mut found = std::mem::take(&mut view.lists.candidates);
    if let Some(only) = by_tables(view, head) {
        found.clear();
        found.push(only);
    } else {
        let course = set_out(view, head);
        list(view, head, course, &mut found);
    }
    if view.shared.output_arbitration() == OutputArbitration::FirstComeFirstServed {
        view.records[packet].requested = NEVER;
    }
    let size = view.packets[packet].size;
    let standing = &mut view.optional.choices[first_queue].standing;
    let standing = standing.get_or_insert_default();
    for candidate in &found {
        let out = head.first_port.plus(head.index(candidate.port));
        let number = head.first_lane + candidate.lane;
        let request = Request {
            lane: numbering.lane(out, number.into()),
            escape: candidate.escape,
            needs_empty: false,
        };
        standing.add(packet, request);
        let row = view.shared.credit_row(request.lane);
        view.optional.contention.add((request.lane, row), size);
    }
    for candidate in &found {
        let (queue, mark) = classifier.classify(numbering, lane, || head.index(candidate.port));
        if view.queues[queue].head == PacketRow::NONE {
            set_head(view, queue, packet);
            view.ins[input].occupied.insert(mark);
            rise(view, queue);
        }
    }
    view.lists.candidates = found;
}

/// The head of a queue requests, unless it does or a packet is leaving the queue.
pub(super) fn rise<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, queue: QueueRow) {
    let shared = view.shared;
    let row = &view.queues[queue];
    let packet = row.head;
    if packet == PacketRow::NONE || row.requesting || row.leaving {
        return;
    }
    let lane = shared.classifier().lane(queue);
    let input = shared.numbering.port(lane);
    let port = &mut view.ins[input];
    if shared.speedup() == 1 && port.free_at > view.now && port.leaving_queue == queue {
        return port.wake_when_free(input, view.calendar);
    }
    let first_port = view.switches[port.owner].first_port;
    let bit = shared.numbering.bit(first_port, lane);
    raise(view, (queue, packet), first_port, bit);
    if may_send(view, input, bit) {
        view.offer(queue);
    }
}

/// Raises the requests of the head of a queue for lanes of its output.
fn raise<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    (queue, packet): (QueueRow, PacketRow),
    first_port: PortRow,
    bit: u16,
) {
    let (now, numbering) = (view.now, view.shared.numbering);
    let Some(output) = view.shared.classifier().output(queue) else {
        return;
    };
    let out = first_port.plus(output);
    if view.shared.output_arbitration() == OutputArbitration::FirstComeFirstServed {
        let record = &mut view.records[packet];
        record.requested = record.requested.min(now);
    }
    let first_queue = (view.shared.classifier()).behind(view.shared.classifier().lane(queue), 0);
    let standing = view.optional.choices[first_queue].standing.take();
    let own = standing.iter().flat_map(|standing| standing.of(packet));
    for request in own.filter(|request| numbering.port(request.lane) == out) {
        view.lanes[request.lane].requests.insert(bit);
        let number = numbering.number(request.lane);
        view.outs[out].request_lanes.insert(number);
        view.queues[queue].out_lane = number as u8;
        view.optional.choices[queue].requests.push(request);
    }
    view.optional.choices[first_queue].standing = standing;
    let row = &mut view.queues[queue];
    row.out = out;
    row.size = view.packets[packet].size;
    row.requesting = true;
    row.since = now as u32;
}

/// The head of a queue, which has been granted `granted`, stands nowhere any more.
#[inline(never)]
pub(super) fn leave<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    queue: QueueRow,
    granted: LaneRow,
    bit: u16,
) {
    let packet = view.queues[queue].head;
    let (classifier, numbering) = (view.shared.classifier(), view.shared.numbering);
    let lane = classifier.lane(queue);
    let first_queue = classifier.behind(lane, 0);
    let first_port = view.switches[view.ins[numbering.port(lane)].owner].first_port;
    let Some(mut standing) = view.optional.choices[first_queue].standing.take() else {
        return;
    };
    let others = standing.of(packet).filter(|one| one.lane != granted);
    withdraw(view, others, (lane, packet), (first_port, bit));
    for request in standing.of(packet) {
        let out = numbering.port(request.lane);
        let next = standing.next(packet, |lane| numbering.port(lane) == out);
        let other = classifier.behind(lane, out.minus(first_port));
        if other == queue {
            let last = next.unwrap_or(packet);
            view.packets[packet].next = last;
            view.queues[queue].tail = last;
        } else if view.queues[other].head == packet {
            move_up(view, other, next);
        }
    }
    view.optional.choices[queue].requests.clear();
    standing.remove(packet);
    view.optional.choices[first_queue].standing = Some(standing);
}

/// A packet that has come to a lane in this cycle, behind all others there, is dropped.
pub(super) fn retire<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    lane: LaneRow,
    packet: PacketRow,
) {
    let (classifier, numbering) = (view.shared.classifier(), view.shared.numbering);
    let first_queue = classifier.behind(lane, 0);
    let first_port = view.switches[view.ins[numbering.port(lane)].owner].first_port;
    let bit = numbering.bit(first_port, lane);
    let Some(mut standing) = view.optional.choices[first_queue].standing.take() else {
        return;
    };
    withdraw(view, standing.of(packet), (lane, packet), (first_port, bit));
    for request in standing.of(packet) {
        let output = numbering.port(request.lane).minus(first_port);
        let queue = classifier.behind(lane, output);
        if view.queues[queue].head == packet {
            move_up(view, queue, None);
        }
    }
    standing.remove(packet);
    view.optional.choices[first_queue].standing = Some(standing);
}

/// A packet at an input lane no longer waits for lanes, and requests them no more; `bit`: of requests of the input lane, at the switch
/// with this first port.
fn withdraw<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    requests: impl Iterator<Item = Request>,
    (lane, packet): (LaneRow, PacketRow),
    (first_port, bit): (PortRow, u16),
) {
    let shared = view.shared;
    let size = view.packets[packet].size;
    for request in requests {
        let row = shared.credit_row(request.lane);
        view.optional.contention.remove((request.lane, row), size);
        let output = shared.numbering.port(request.lane).minus(first_port);
        let queue = &view.queues[shared.classifier().behind(lane, output)];
        if queue.head == packet && queue.requesting {
            let columns = (&mut view.outs, &mut view.lanes);
            take_back(shared, columns, request.lane, bit);
        }
    }
}

/// The head of a queue has gone by another one: the next one is head from the next cycle on.
fn move_up<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    queue: QueueRow,
    next: Option<PacketRow>,
) {
    view.optional.choices[queue].requests.clear();
    view.queues[queue].requesting = false;
    set_head(view, queue, next.unwrap_or(PacketRow::NONE));
    if next.is_some() {
        view.calendar.at(view.now + 1).raises.push(queue);
    } else {
        let input = view.queue_port(queue);
        clear_occupied(view, queue, input);
    }
}

/// The queue knows its head alone.
fn set_head<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    queue: QueueRow,
    packet: PacketRow,
) {
    let row = &mut view.queues[queue];
    (row.head, row.tail) = (packet, packet);
}
