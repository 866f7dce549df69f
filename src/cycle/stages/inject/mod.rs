//! Starts waiting packets on their hosts' channels.
//!
//! Stage: `Slot::Inject`
//! Reads: source queues, credits of the first channel
//! Writes: host output, packet pool, calendar
//! Cost: O(hosts visited): a host is visited when it gets a packet, when its channel becomes free with packets
//! waiting, and when credits arrive that a waiting head needs
//!
//! # Rules
//! 1. Among the lanes whose head fits the credits the injection arbiter (round robin or VL tables) picks one.
//! 2. The channel is held for the packet's time, all credits are taken at the start (model rules 2, 5, 11).
//!
//! # Deviations
//! None.

mod start;

pub use self::start::Starting;

pub(in crate::cycle) use self::start::{Start, left};

use self::start::{Tag, sent, take_next};
use crate::cycle::columns::Holder;
use crate::cycle::joints::{Joints, LaneChoice as _, Sending as _};
use crate::cycle::rules::RuleSet;
use crate::cycle::view::{Injection, InjectionArbiters, Optional, View};
use crate::fabric::components::{NONE, Packet, PacketRecord};
use crate::fabric::mask::LaneMask;
use crate::fabric::rows::{PacketRow, PortRow};
use crate::fabric::source_queue::Waiting;
use crate::qos::vl_arbitration::VlChoice;

/// The system without columns of mechanisms.
pub fn bare<const W: usize, P: RuleSet, J: Joints>(
    mut fabric: Injection<'_, '_, W>,
    mut starting: Starting<'_, '_, J>,
) {
    if !fabric.events.lists().host_visits.is_empty() {
        let view = &mut fabric.view::<P>(Optional::default());
        run(view, &mut starting.start());
    }
}

/// The system with those of arbiters.
pub fn system<const W: usize, P: RuleSet, J: Joints>(
    mut fabric: Injection<'_, '_, W>,
    mut arbiters: InjectionArbiters<'_, '_>,
    mut starting: Starting<'_, '_, J>,
) {
    if !fabric.events.lists().host_visits.is_empty() {
        let view = &mut fabric.view::<P>(arbiters.columns(fabric.events.rules::<P>()));
        run(view, &mut starting.start());
    }
}

/// Runs the stage.
#[inline(never)]
pub(in crate::cycle) fn run<const W: usize, P: RuleSet, J: Joints>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_, J>,
) {
    let mut visits = std::mem::take(&mut view.lists.host_visits);
    for part in visits.chunks(view.place.group(visits.len())) {
        if view.place.prefetches {
            view.prefetch_hosts(part, hosts.queues);
        }
        for &out in part {
            visit(view, hosts, out);
        }
    }
    visits.clear();
    view.lists.host_visits = visits;
}

/// A host that may start a packet.
#[inline(always)]
fn visit<const W: usize, P: RuleSet, J: Joints>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_, J>,
    out: PortRow,
) {
    let port = &mut view.outs[out];
    port.visited = false;
    if port.request_lanes.is_empty() {
        return;
    }
    if port.free_at > view.now {
        port.wake_when_free(out, view.calendar);
    } else if let Some((lane, choice)) = pick(view, hosts, out) {
        start(view, hosts, out, lane, choice);
    }
}

/// Rule 1.
#[inline]
fn pick<const W: usize, P: RuleSet, J: Joints>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_, J>,
    out: PortRow,
) -> Option<(u32, Option<VlChoice>)> {
    let port = &view.outs[out];
    let (asked, pointer) = (port.request_lanes, port.lane_pointer);
    if view.shared.tables().is_some() {
        let fitting = (asked.into_iter()).filter(|&lane| fits(view, hosts, out, lane));
        let eligible: LaneMask = fitting.collect();
        if eligible.is_empty() {
            return None;
        }
        let choice = view.consult(out, eligible);
        if choice.is_none() && view.shared.legacy_arbitration() {
            view.calendar.at(view.now + 1).wakes.push(out);
        }
        return choice.map(|choice| (u32::from(choice.lane), Some(choice)));
    }
    let mut lanes = asked;
    while !lanes.is_empty() {
        let lane = view.shared.first_lane(lanes, pointer);
        lanes.remove(lane);
        if fits(view, hosts, out, lane) {
            return Some((lane, None));
        }
    }
    None
}

/// Whether what a lane would send next fits its credits; starves the lane otherwise.
#[inline]
fn fits<const W: usize, P: RuleSet, J: Joints>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_, J>,
    out: PortRow,
    lane: u32,
) -> bool {
    let row = view.shared.numbering.lane(out, lane);
    let queue = (view.shared.numbering).source_queue(view.place.host(out), lane);
    let Some(size) = hosts.candidate(queue, view.now) else {
        view.outs[out].request_lanes.remove(lane);
        return false;
    };
    view.lanes[row].need = 0;
    if view.credits(row) >= u32::from(size) {
        return true;
    }
    view.starve(out, row, size);
    false
}

/// Rule 2.
#[inline]
fn start<const W: usize, P: RuleSet, J: Joints>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_, J>,
    out: PortRow,
    lane: u32,
    choice: Option<VlChoice>,
) {
    let numbering = view.shared.numbering;
    let Some((waiting, drained, tag)) = take_next(view, hosts, out, lane) else {
        return;
    };
    let delay = view.late(out, waiting.size);
    let port = &mut view.outs[out];
    if drained {
        port.request_lanes.remove(lane);
    }
    if !view.shared.management().contains(lane) {
        port.lane_pointer = numbering.after(lane);
    }
    port.free_at = view.now + u64::from(waiting.size) * u64::from(port.step) + delay;
    if !port.request_lanes.is_empty() {
        port.wake_when_free(out, view.calendar);
    }
    let row = numbering.lane(out, lane);
    view.lanes[row].sent = view.lanes[row].sent.wrapping_add(u32::from(waiting.size));
    let credit_row = view.shared.credit_row(row);
    view.lanes[credit_row].take(waiting.size, view.now);
    if let Some(choice) = choice {
        view.commit(out, choice, waiting.size);
    }
    launch(view, hosts, (out, lane), (&waiting, tag), delay);
}

/// A packet starts on a channel that passes single flits, the first of which is late by `delay`; returns what it is. Credits and
/// channel are the caller's.
pub(in crate::cycle) fn enter<const W: usize, P: RuleSet, J: Joints>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_, J>,
    (out, lane): (PortRow, u32),
    delay: u64,
) -> Option<Holder> {
    let (waiting, _, tag) = take_next(view, hosts, out, lane)?;
    launch(view, hosts, (out, lane), (&waiting, tag), delay);
    Some(Holder {
        source: hosts.hosts[view.place.host(out)].id,
        destination: waiting.destination,
        sequence: waiting.sequence,
        flow: tag.flow,
        class: waiting.class,
        size: waiting.size,
    })
}

/// The packet enters the fabric: its first hop's event. The switch of a host is in its shard.
#[inline]
fn launch<const W: usize, P: RuleSet, J: Joints>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_, J>,
    (out, lane): (PortRow, u32),
    (waiting, tag): (&Waiting, Tag),
    delay: u64,
) {
    let now = view.now;
    let packet = Packet {
        next: PacketRow::NONE,
        destination: waiting.destination,
        size: waiting.size,
        key: waiting.key,
        hops: 0,
        ..Packet::UNUSED
    };
    let source = hosts.hosts[view.place.host(out)].id;
    let routes = view.shared.own_routes();
    let record = PacketRecord {
        created: waiting.created,
        injected: now,
        requested: 0,
        source,
        sequence: waiting.sequence,
        via: routes.map_or(NONE, |routes| routes.begin(tag.flow, source)),
        word: 0,
        class: waiting.class,
        flow: tag.flow,
        answer: tag.answer,
    };
    hosts.records.injected(now, waiting.class, waiting.size);
    let row = hosts.pool.claim();
    view.packets[row] = packet;
    view.records[row] = record;
    let port = &view.outs[out];
    let arrival = now + delay + u64::from(port.latency);
    let at = arrival + view.pipeline_of(port.to.port(), row, port.step);
    let lane = view.shared.numbering.lane(port.to.port(), lane);
    view.calendar.at(at).heads.push((lane, row));
    if view.lists.facts.sent {
        view.lists.sent.push(row);
    }
    // a flow knows of its packets itself
    if tag.flow == NONE {
        sent(view, hosts, out, waiting);
    }
}
