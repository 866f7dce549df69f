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

use super::generate::replay::MessageKey;
use super::state::Message;
use super::view::View;
use crate::fabric::components::{NONE, Packet, PacketRecord, Peer};
use crate::fabric::source_queue::Waiting;
use crate::qos::vl_arbitration::VlChoice;
use crate::traffic::Gap;

/// Runs the stage.
#[inline]
pub fn run<const W: usize, const P: bool>(view: &mut View<'_, W, P>) {
    let mut visits = std::mem::take(&mut view.work.host_visits);
    for out in visits.drain(..) {
        let port = &mut view.outs[out as usize];
        port.visited = false;
        if port.request_lanes == 0 {
            continue;
        }
        if port.free_at > view.now {
            port.wake_when_free(out, &mut view.work.calendar);
        } else if let Some((lane, choice)) = pick(view, out) {
            start(view, out, lane, choice);
        }
    }
    view.work.host_visits = visits;
}

/// Rule 1.
#[inline]
fn pick<const W: usize, const P: bool>(
    view: &mut View<'_, W, P>,
    out: u32,
) -> Option<(u32, Option<VlChoice>)> {
    let port = &view.outs[out as usize];
    let (asked, pointer) = (port.request_lanes, port.lane_pointer);
    if view.shared.tables().is_some() {
        let mut eligible = 0;
        let mut lanes = asked;
        while lanes != 0 {
            let lane = lanes.trailing_zeros();
            lanes &= lanes - 1;
            eligible |= u16::from(fits(view, out, lane)) << lane;
        }
        let tables = view.shared.tables()?;
        let choice = view.work.arbiters.vl[out as usize].select(
            tables,
            eligible,
            view.shared.management(),
        )?;
        return Some((u32::from(choice.lane), Some(choice)));
    }
    let mut lanes = asked;
    while lanes != 0 {
        let lane = view.shared.first_lane(lanes, pointer);
        lanes &= !(1 << lane);
        if fits(view, out, lane) {
            return Some((lane, None));
        }
    }
    None
}

/// Whether the head of a source queue fits the credits of its lane; starves the lane otherwise.
#[inline]
fn fits<const W: usize, const P: bool>(view: &mut View<'_, W, P>, out: u32, lane: u32) -> bool {
    let row = (out << view.shared.lane_shift) + lane;
    let queue = ((out - view.work.first_host_port) << view.shared.lane_shift) + lane;
    let Some(head) = view.work.source_queues.front(queue as usize) else {
        return false;
    };
    let size = head.size;
    view.lanes[row as usize].need = 0;
    if view.credits(row) >= u32::from(size) {
        return true;
    }
    view.starve(out, row, size);
    false
}

/// Rule 2.
#[inline]
fn start<const W: usize, const P: bool>(
    view: &mut View<'_, W, P>,
    out: u32,
    lane: u32,
    choice: Option<VlChoice>,
) {
    let host = out - view.work.first_host_port;
    let queue = ((host << view.shared.lane_shift) + lane) as usize;
    let Some((waiting, drained)) = view.work.source_queues.pop(queue) else {
        return;
    };
    let port = &mut view.outs[out as usize];
    if drained {
        port.request_lanes &= !(1 << lane);
    }
    if view.shared.management() >> lane & 1 == 0 {
        port.lane_pointer = (lane as u8 + 1) & view.shared.lane_mask as u8;
    }
    port.free_at = view.now + u64::from(waiting.size) * u64::from(port.step);
    if port.request_lanes != 0 {
        port.wake_when_free(out, &mut view.work.calendar);
    }
    let row = &mut view.lanes[((out << view.shared.lane_shift) + lane) as usize];
    row.sent = row.sent.wrapping_add(u32::from(waiting.size));
    let credit_row = view
        .shared
        .credit_row((out << view.shared.lane_shift) + lane);
    view.lanes[credit_row as usize].take(waiting.size, view.now);
    if let (Some(choice), Some(tables)) = (choice, view.shared.tables()) {
        let bytes = u64::from(waiting.size) * u64::from(view.shared.flit_bytes);
        view.work.arbiters.vl[out as usize].commit(tables, choice, bytes);
    }
    launch(view, out, lane, &waiting);
    sent(view, out, &waiting);
}

/// The packet enters the fabric: its first hop's event.
#[inline]
fn launch<const W: usize, const P: bool>(
    view: &mut View<'_, W, P>,
    out: u32,
    lane: u32,
    waiting: &Waiting,
) {
    let now = view.now;
    let host = view.work.host_ids[(out - view.work.first_host_port) as usize];
    let port = &view.outs[out as usize];
    let packet = Packet {
        next: NONE,
        destination: waiting.destination,
        size: waiting.size,
        key: waiting.key,
        hops: 0,
        fecn: false,
    };
    let record = PacketRecord {
        created: waiting.created,
        injected: now,
        requested: 0,
        source: host,
        sequence: waiting.sequence,
        via: NONE,
        word: 0,
        class: waiting.class,
    };
    view.work.records.injected(now, waiting.class, waiting.size);
    let arrival = now + u64::from(port.latency);
    match port.peer {
        Peer::Border => {
            let border = view.work.border[port.to as usize];
            let at = arrival
                + view
                    .shared
                    .pipeline([border.switch, border.table_row], &packet, port.step);
            let lane = (border.port << view.shared.lane_shift) + lane;
            view.work.outbox[border.shard as usize].push(Message::Head {
                lane,
                at,
                packet,
                record,
            });
        }
        Peer::Switch | Peer::Host => {
            let at = arrival + view.pipeline_of(port.to, &packet, port.step);
            let lane = (port.to << view.shared.lane_shift) + lane;
            let row = view.work.claim_packet();
            view.packets[row as usize] = packet;
            view.records[row as usize] = record;
            view.work.calendar.at(at).heads.push((lane, row));
        }
    }
}

/// A packet has left its source queue: a saturating source makes the next, a message may be complete.
#[inline]
fn sent<const W: usize, const P: bool>(view: &mut View<'_, W, P>, out: u32, waiting: &Waiting) {
    let (host, class) = (out - view.work.first_host_port, waiting.class);
    if let Some(replay) = &mut view.work.replay
        && replay.sends(class)
    {
        let packet = MessageKey {
            source: view.work.host_ids[host as usize],
            class,
            first: waiting.sequence,
        };
        replay.sent(packet, view.outs[out as usize].free_at);
    }
    let class_count = view.shared.classes.len() as u32;
    let row = host * class_count + u32::from(class);
    if view.shared.source_queue.is_some() {
        view.work.class_waiting[row as usize] -= 1;
    }
    if view.shared.saturating[usize::from(class)] {
        let plan = &view.shared.classes[usize::from(class)];
        if view.work.sources.source(row).next_gap(plan) == Gap::WhenSent {
            view.work.sources.insert(row, view.now + 1);
        }
    }
}
