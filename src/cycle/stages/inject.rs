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

use super::consume::Taking;
use super::generate::Hosts;
use super::generate::sources::Sources;
use super::post::Leaving;
use crate::cycle::mechanisms::bounded_queues::BoundedQueues;
use crate::cycle::mechanisms::control::Answers;
use crate::cycle::mechanisms::flows::{Flows, Taken};
use crate::cycle::mechanisms::replay::{MessageKey, Replay};
use crate::cycle::mechanisms::vl_tables;
use crate::cycle::records::Records;
use crate::cycle::rules::RuleSet;
use crate::cycle::state::worklists::Created;
use crate::cycle::state::{Outbox, PacketPool};
use crate::cycle::view::{Injection, InjectionArbiters, Optional, View};
use crate::fabric::Host;
use crate::fabric::components::{NONE, Packet, PacketRecord};
use crate::fabric::mask::LaneMask;
use crate::fabric::rows::{HostRow, PacketRow, PortRow, Seen};
use crate::fabric::source_queue::{SourceQueues, Waiting};
use crate::ids::HostId;
use crate::qos::vl_arbitration::VlChoice;
use crate::traffic::Gap;
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::{Query, ResMut};
use bevy_ecs::system::SystemParam;

/// System parameter: hosts, and what a packet that starts changes beside the fabric.
#[derive(SystemParam)]
pub struct Starting<'w, 's> {
    pool: ResMut<'w, PacketPool>,
    sources: ResMut<'w, Sources>,
    queues: ResMut<'w, SourceQueues>,
    records: ResMut<'w, Records>,
    replay: Option<ResMut<'w, Replay>>,
    bounds: Option<ResMut<'w, BoundedQueues>>,
    flows: Option<ResMut<'w, Flows>>,
    answers: Option<ResMut<'w, Answers>>,
    hosts: Query<'w, 's, &'static Host>,
}

/// The same, fetched.
pub(in crate::cycle) struct Start<'a> {
    pub(in crate::cycle) pool: &'a mut PacketPool,
    pub(in crate::cycle) sources: &'a mut Sources,
    queues: &'a mut SourceQueues,
    records: &'a mut Records,
    replay: Option<&'a mut Replay>,
    bounds: Option<&'a mut BoundedQueues>,
    flows: Option<&'a mut Flows>,
    answers: Option<&'a mut Answers>,
    hosts: Seen<'a, HostRow, Host>,
}

/// What a packet has of flows and control.
#[derive(Clone, Copy)]
struct Tag {
    /// Its flow (global id).
    flow: u32,
    /// What it says, if it is an answer.
    answer: u32,
}

impl Tag {
    const NONE: Self = Self {
        flow: NONE,
        answer: 0,
    };
}

impl Starting<'_, '_> {
    pub(in crate::cycle) fn start(&mut self) -> Start<'_> {
        let hosts = self.hosts.contiguous_iter().into_iter().flatten().next();
        Start {
            pool: self.pool.bypass_change_detection(),
            sources: self.sources.bypass_change_detection(),
            queues: self.queues.bypass_change_detection(),
            records: self.records.bypass_change_detection(),
            replay: self.replay.as_deref_mut(),
            bounds: self.bounds.as_deref_mut(),
            flows: self.flows.as_deref_mut(),
            answers: self.answers.as_deref_mut(),
            hosts: Seen::new(hosts.unwrap_or_default()),
        }
    }
}

impl Start<'_> {
    /// What generation works on, beside a view.
    #[inline(always)]
    pub(in crate::cycle) fn making<'b, const W: usize, P: RuleSet>(
        &'b mut self,
        view: &'b mut View<'_, W, P>,
    ) -> Hosts<'b, P> {
        Hosts {
            now: view.now,
            shared: view.shared,
            place: view.place,
            lists: &mut *view.lists,
            sources: &mut *self.sources,
            queues: &mut *self.queues,
            records: &mut *self.records,
            replay: self.replay.as_deref_mut(),
            bounds: self.bounds.as_deref_mut(),
            ids: self.hosts,
            outs: view.outs.reborrow(),
        }
    }

    /// What consumption works on, beside a view.
    #[inline(always)]
    pub(in crate::cycle) fn taking<'b, const W: usize, P: RuleSet>(
        &'b mut self,
        view: &'b mut View<'_, W, P>,
    ) -> Taking<'b> {
        Taking {
            now: view.now,
            lists: &mut *view.lists,
            pool: &mut *self.pool,
            records: &mut *self.records,
            replay: self.replay.as_deref_mut(),
            packets: view.packets.seen(),
            packet_records: view.records.seen(),
        }
    }

    /// What leaves the shard, beside a view.
    #[inline(always)]
    pub(in crate::cycle) fn leaving<'b, const W: usize, P: RuleSet>(
        &'b mut self,
        view: &'b mut View<'_, W, P>,
        outbox: &'b mut Outbox,
    ) -> Leaving<'b> {
        Leaving {
            place: view.place,
            lists: &mut *view.lists,
            pool: &mut *self.pool,
            outbox,
            probes: None,
            packets: view.packets.seen(),
            records: view.records.seen(),
        }
    }

    /// Size of what a lane sends next, by its source queue \[flits\].
    #[inline]
    pub(in crate::cycle) fn candidate(&mut self, queue: usize, now: u64) -> Option<u16> {
        if self.flows.is_none() {
            return self.queues.front(queue).map(|head| head.size);
        }
        self.next(queue, now)
    }

    /// The same in a fabric with flows.
    #[inline(never)]
    fn next(&mut self, queue: usize, now: u64) -> Option<u16> {
        let flows = self.flows.as_mut()?;
        let answers = self.answers.as_ref();
        let answer = answers.and_then(|answers| answers.front(queue));
        answer.or_else(|| flows.candidate(self.queues, queue, now))
    }

    /// That packet starts, in a fabric with flows.
    #[inline(never)]
    fn take(&mut self, queue: usize, now: u64) -> Option<Taken> {
        let flows = self.flows.as_mut()?;
        let answers = self.answers.as_mut();
        match answers.and_then(|answers| answers.pop(queue)) {
            None => flows.take(self.queues, queue, now),
            Some(answer) => Some(Taken {
                flow: answer.flow,
                answer: answer.value,
                ..Taken::queued(answer.packet, self.candidate(queue, now).is_none())
            }),
        }
    }
}

/// The system without columns of mechanisms.
pub fn bare<const W: usize, P: RuleSet>(
    mut fabric: Injection<'_, '_, W>,
    mut starting: Starting<'_, '_>,
) {
    if !fabric.events.lists().host_visits.is_empty() {
        let view = &mut fabric.view::<P>(Optional::default());
        run(view, &mut starting.start());
    }
}

/// The system with those of arbiters.
pub fn system<const W: usize, P: RuleSet>(
    mut fabric: Injection<'_, '_, W>,
    mut arbiters: InjectionArbiters<'_, '_>,
    mut starting: Starting<'_, '_>,
) {
    if !fabric.events.lists().host_visits.is_empty() {
        let view = &mut fabric.view::<P>(arbiters.columns());
        run(view, &mut starting.start());
    }
}

/// Runs the stage.
#[inline(never)]
pub(in crate::cycle) fn run<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_>,
) {
    let mut visits = std::mem::take(&mut view.lists.host_visits);
    for out in visits.drain(..) {
        let port = &mut view.outs[out];
        port.visited = false;
        if port.request_lanes.is_empty() {
            continue;
        }
        if port.free_at > view.now {
            port.wake_when_free(out, view.calendar);
        } else if let Some((lane, choice)) = pick(view, hosts, out) {
            start(view, hosts, out, lane, choice);
        }
    }
    view.lists.host_visits = visits;
}

/// Rule 1.
#[inline]
fn pick<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_>,
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
        let choice = vl_tables::consult(view, out, eligible);
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
fn fits<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_>,
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
fn start<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_>,
    out: PortRow,
    lane: u32,
    choice: Option<VlChoice>,
) {
    let numbering = view.shared.numbering;
    let Some((waiting, drained, tag)) = take_next(view, hosts, out, lane) else {
        return;
    };
    let port = &mut view.outs[out];
    if drained {
        port.request_lanes.remove(lane);
    }
    if !view.shared.management().contains(lane) {
        port.lane_pointer = numbering.after(lane);
    }
    port.free_at = view.now + u64::from(waiting.size) * u64::from(port.step);
    if !port.request_lanes.is_empty() {
        port.wake_when_free(out, view.calendar);
    }
    let row = numbering.lane(out, lane);
    view.lanes[row].sent = view.lanes[row].sent.wrapping_add(u32::from(waiting.size));
    let credit_row = view.shared.credit_row(row);
    view.lanes[credit_row].take(waiting.size, view.now);
    if let Some(choice) = choice {
        vl_tables::commit(view, out, choice, waiting.size);
    }
    launch(view, hosts, out, lane, (&waiting, tag));
}

/// What a lane sends next leaves its queue or flow; and whether nothing of the lane could go after it.
#[inline(always)]
fn take_next<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_>,
    out: PortRow,
    lane: u32,
) -> Option<(Waiting, bool, Tag)> {
    let queue = (view.shared.numbering).source_queue(view.place.host(out), lane);
    if hosts.flows.is_none() {
        let (packet, drained) = hosts.queues.pop(queue)?;
        return Some((packet, drained, Tag::NONE));
    }
    let taken = hosts.take(queue, view.now)?;
    note_made(view, hosts.records, hosts.hosts, out, &taken);
    let (flow, answer) = (taken.flow, taken.answer);
    Some((taken.packet, taken.drained, Tag { flow, answer }))
}

/// A packet starts on a channel that passes single flits; returns its size. Credits and channel are the caller's.
pub(in crate::cycle) fn enter<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_>,
    out: PortRow,
    lane: u32,
) -> Option<u16> {
    let (waiting, _, tag) = take_next(view, hosts, out, lane)?;
    launch(view, hosts, out, lane, (&waiting, tag));
    Some(waiting.size)
}

/// A flow that always has a packet makes it when it starts.
#[inline(never)]
fn note_made<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    records: &mut Records,
    hosts: Seen<'_, HostRow, Host>,
    out: PortRow,
    taken: &Taken,
) {
    if !taken.is_new {
        return;
    }
    let (host, packet) = (view.place.host(out), &taken.packet);
    let ends = [HostId(hosts[host].id), HostId(packet.destination)];
    records.created(view.now, packet.class, ends, packet.size);
    if view.lists.facts.created {
        view.lists.created.push(Created {
            host,
            class: packet.class,
            size: packet.size,
            destination: packet.destination,
            sequence: packet.sequence,
        });
    }
}

/// The packet enters the fabric: its first hop's event. The switch of a host is in its shard.
#[inline]
fn launch<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_>,
    out: PortRow,
    lane: u32,
    (waiting, tag): (&Waiting, Tag),
) {
    let now = view.now;
    let packet = Packet {
        next: PacketRow::NONE,
        destination: waiting.destination,
        size: waiting.size,
        key: waiting.key,
        hops: 0,
        fecn: false,
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
    let at = now + u64::from(port.latency) + view.pipeline_of(port.to.port(), row, port.step);
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

/// A packet has left its source queue: a saturating source makes the next, a message may be complete.
#[inline]
fn sent<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_>,
    out: PortRow,
    waiting: &Waiting,
) {
    let (host, class) = (view.place.host(out), waiting.class);
    if let Some(replay) = &mut hosts.replay
        && replay.sends(class)
    {
        let packet = MessageKey {
            source: hosts.hosts[host].id,
            class,
            first: waiting.sequence,
        };
        replay.sent(packet, view.outs[out].free_at);
    }
    if let Some(bounds) = &mut hosts.bounds {
        bounds.leave(host, class);
    }
    let traffic = &view.shared.shared().traffic;
    if traffic.saturating[usize::from(class)] {
        let row = host.0 * traffic.classes.len() as u32 + u32::from(class);
        let source = hosts.sources.source(row);
        if source.next_gap(&traffic.classes[usize::from(class)]) == Gap::WhenSent {
            hosts.sources.insert(row, view.now + 1);
        }
    }
}
