//! What a packet that starts changes beside the fabric: its queue or flow, its source, records, the pool of packets.
//!
//! Part of `Slot::Inject`.
//! Cost: O(1) per question

use crate::cycle::joints::{Bounds as _, Joints, Messages as _, Replies as _, Supply as _, Taken};
use crate::cycle::records::Records;
use crate::cycle::rules::RuleSet;
use crate::cycle::stages::generate::sources::Sources;
use crate::cycle::state::PacketPool;
use crate::cycle::state::messages::MessageKey;
use crate::cycle::state::worklists::Created;
use crate::cycle::view::View;
use crate::fabric::Host;
use crate::fabric::components::NONE;
use crate::fabric::rows::{HostRow, PortRow, Seen};
use crate::fabric::source_queue::{SourceQueues, Waiting};
use crate::ids::HostId;
use crate::traffic::Gap;
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::{Query, ResMut};
use bevy_ecs::system::SystemParam;

/// System parameter: hosts, and what a packet that starts changes beside the fabric.
#[derive(SystemParam)]
pub struct Starting<'w, 's, J: Joints> {
    pool: ResMut<'w, PacketPool>,
    sources: ResMut<'w, Sources>,
    queues: ResMut<'w, SourceQueues>,
    records: ResMut<'w, Records>,
    messages: Option<ResMut<'w, <J as Joints>::Messages>>,
    bounds: Option<ResMut<'w, <J as Joints>::Bounds>>,
    supply: Option<ResMut<'w, <J as Joints>::Supply>>,
    replies: Option<ResMut<'w, <J as Joints>::Replies>>,
    hosts: Query<'w, 's, &'static Host>,
}

/// The same, fetched.
pub(in crate::cycle) struct Start<'a, J: Joints> {
    pub(in crate::cycle) pool: &'a mut PacketPool,
    pub(in crate::cycle) sources: &'a mut Sources,
    pub(in crate::cycle) queues: &'a mut SourceQueues,
    pub(in crate::cycle) records: &'a mut Records,
    pub(in crate::cycle) messages: Option<&'a mut J::Messages>,
    pub(in crate::cycle) bounds: Option<&'a mut J::Bounds>,
    pub(in crate::cycle) supply: Option<&'a mut J::Supply>,
    pub(in crate::cycle) replies: Option<&'a mut J::Replies>,
    pub(in crate::cycle) hosts: Seen<'a, HostRow, Host>,
}

/// What a packet has of flows and control.
#[derive(Clone, Copy)]
pub(super) struct Tag {
    /// Its flow (global id).
    pub(super) flow: u32,
    /// What it says, if it is an answer.
    pub(super) answer: u32,
}

impl Tag {
    pub(super) const NONE: Self = Self {
        flow: NONE,
        answer: 0,
    };
}

impl<J: Joints> Starting<'_, '_, J> {
    pub(in crate::cycle) fn start(&mut self) -> Start<'_, J> {
        let hosts = self.hosts.contiguous_iter().into_iter().flatten().next();
        Start {
            pool: self.pool.bypass_change_detection(),
            sources: self.sources.bypass_change_detection(),
            queues: self.queues.bypass_change_detection(),
            records: self.records.bypass_change_detection(),
            messages: self.messages.as_deref_mut(),
            bounds: self.bounds.as_deref_mut(),
            supply: self.supply.as_deref_mut(),
            replies: self.replies.as_deref_mut(),
            hosts: Seen::new(hosts.unwrap_or_default()),
        }
    }
}

impl<J: Joints> Start<'_, J> {
    /// Size of what a lane sends next, by its source queue \[flits\].
    #[inline]
    pub(in crate::cycle) fn candidate(&mut self, queue: usize, now: u64) -> Option<u16> {
        if self.supply.is_none() {
            return self.queues.front(queue).map(|head| head.size);
        }
        self.next(queue, now)
    }

    /// The same in a fabric with flows.
    #[inline(never)]
    fn next(&mut self, queue: usize, now: u64) -> Option<u16> {
        let supply = self.supply.as_mut()?;
        let replies = self.replies.as_ref();
        let answer = replies.and_then(|replies| replies.front(queue));
        answer.or_else(|| supply.candidate(self.queues, queue, now))
    }

    /// That packet starts, in a fabric with flows.
    #[inline(never)]
    fn take(&mut self, queue: usize, now: u64) -> Option<Taken> {
        let supply = self.supply.as_mut()?;
        let replies = self.replies.as_mut();
        match replies.and_then(|replies| replies.pop(queue)) {
            None => supply.take(self.queues, queue, now),
            Some(answer) => Some(Taken {
                drained: self.candidate(queue, now).is_none(),
                ..answer
            }),
        }
    }
}

/// What a lane sends next leaves its queue or flow; and whether nothing of the lane could go after it.
#[inline(always)]
pub(super) fn take_next<const W: usize, P: RuleSet, J: Joints>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_, J>,
    out: PortRow,
    lane: u32,
) -> Option<(Waiting, bool, Tag)> {
    let queue = (view.shared.numbering).source_queue(view.place.host(out), lane);
    if hosts.supply.is_none() {
        let (packet, drained) = hosts.queues.pop(queue)?;
        return Some((packet, drained, Tag::NONE));
    }
    let taken = hosts.take(queue, view.now)?;
    note_made(view, hosts.records, hosts.hosts, out, &taken);
    let (flow, answer) = (taken.flow, taken.answer);
    Some((taken.packet, taken.drained, Tag { flow, answer }))
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

/// The channel of a host is free of a packet that started there from the port's `free_at` on: its message may be complete.
#[inline]
pub(in crate::cycle) fn left<const W: usize, P: RuleSet, J: Joints>(
    view: &View<'_, W, P>,
    hosts: &mut Start<'_, J>,
    out: PortRow,
    (class, sequence): (u16, u32),
) {
    if let Some(messages) = &mut hosts.messages
        && messages.sends(class)
    {
        let packet = MessageKey {
            source: hosts.hosts[view.place.host(out)].id,
            class,
            first: sequence,
        };
        messages.sent(packet, view.outs[out].free_at);
    }
}

/// A packet has left its source queue: a saturating source makes the next.
#[inline]
pub(super) fn sent<const W: usize, P: RuleSet, J: Joints>(
    view: &mut View<'_, W, P>,
    hosts: &mut Start<'_, J>,
    out: PortRow,
    waiting: &Waiting,
) {
    let (host, class) = (view.place.host(out), waiting.class);
    if !view.shared.single_flits() {
        left(view, hosts, out, (class, waiting.sequence));
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
