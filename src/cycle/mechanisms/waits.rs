//! Flows that wait for others: counts what these have sent and delivered, and starts the ones that are released (D63 of the
//! model).
//!
//! Stages: `Slot::Notify` (what started and was delivered in the cycle), `Slot::Generate` (flows whose start cycle it is); only
//! where a flow waits
//! Reads: packets that started (with single flits: those whose last flit has passed), until when they keep the channels of their hosts, delivered packets
//! Writes: its own counts; start cycles of flows
//! Cost: O(packets started and delivered), O(log flows released) per flow that waits; 16 bytes per flow, 16 per one that is
//! waited for
//!
//! # Rules
//! 1. What a flow waits for begins or ends at its host, so all of it is known in the shard of the flow.
//! 2. What is sent or delivered in a cycle is so from a later cycle on, so a start cycle is known before it comes.
//!
//! # Deviations
//! None.

use super::flows::Flows;
use super::wormhole::Tails;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::{Calendar, Fact, Place, Worklists};
use crate::cycle::view::Packets;
use crate::fabric::OutPort;
use crate::fabric::components::NONE;
use crate::fabric::rows::{PortRow, Seen};
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::{Local, Query, Res, ResMut, Resource};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A flow that waits (row at its source), and its delay.
type Dependent = (u32, u64);

/// Who waits for the flows of a list, and how much of each is missing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Awaited {
    /// First in `all` of each flow; one more at the end.
    #[serde(skip)]
    first: Vec<u32>,
    /// Who waits for the first flow, for the next, and so on.
    #[serde(skip)]
    all: Vec<Dependent>,
    /// Flits that are missing of each flow.
    missing: Vec<u64>,
}

impl Awaited {
    /// Nobody has sent anything; `pairs`: (flow that is waited for, who waits).
    fn new(flits: Vec<u64>, mut pairs: Vec<(u32, Dependent)>) -> Self {
        pairs.sort_by_key(|&(flow, _)| flow);
        let before = |flow: usize| pairs.partition_point(|pair| (pair.0 as usize) < flow);
        Self {
            first: (0..=flits.len()).map(|flow| before(flow) as u32).collect(),
            all: pairs.iter().map(|pair| pair.1).collect(),
            missing: flits,
        }
    }

    /// So many flits of a flow more: those who wait for it if these are the last and anybody does.
    #[inline]
    fn take(&mut self, flow: u32, flits: u16) -> &[Dependent] {
        let flow = flow as usize;
        let range = self.first[flow] as usize..self.first[flow + 1] as usize;
        if range.is_empty() {
            return &[];
        }
        self.missing[flow] -= u64::from(flits);
        match self.missing[flow] {
            0 => &self.all[range],
            _ => &[],
        }
    }

    /// Takes over what does not change.
    fn resume(&mut self, built: Self) {
        (self.first, self.all) = (built.first, built.all);
    }
}

/// What a flow waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Waiting {
    /// Flows that are not sent or received.
    count: u32,
    /// First cycle in which it may start as far as is known.
    release: u64,
}

/// Flows of a shard that wait, and those they wait for.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct Waits {
    /// Classes from this one on are answers.
    #[serde(skip)]
    answers: u16,
    /// Port of its host, by row of a flow.
    #[serde(skip)]
    ports: Vec<PortRow>,
    /// By row of a flow at its source.
    sent: Awaited,
    /// By row of a flow at its end.
    received: Awaited,
    /// By row at the source.
    rows: Vec<Waiting>,
    /// Start cycles that are known, with the rows.
    released: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Persistent for Waits {
    fn resume(&mut self, built: Self, _: &Resume<'_>) {
        (self.answers, self.ports) = (built.answers, built.ports);
        self.sent.resume(built.sent);
        self.received.resume(built.received);
    }
}

impl Mechanism for Waits {
    fn of(site: &Site<'_>) -> Option<Self> {
        let mut flows = site.plan.flows.iter();
        flows
            .any(|flow| !flow.after.is_empty())
            .then(|| Self::new(site))
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.resource(self);
        shard.shown().release = Some(|world, row| world.resource::<Waits>().release(row));
        shard.subscribe(Fact::Sent);
        shard.subscribe(Fact::Delivered);
        shard.alarm(|world, from| world.resource::<Self>().next().max(from));
        shard.system(Slot::Generate, "flow_releases", release);
        shard.system(Slot::Notify, "flow_waits", notify);
    }
}

impl Waits {
    fn new(site: &Site<'_>) -> Self {
        let (plan, ends) = (site.plan, &site.shared.flow_ends);
        let number = site.number as u32;
        let here = |id: usize| ends[id].shard == number;
        let rows = ends.iter().filter(|end| end.shard == number).count();
        let tails = ends.iter().filter(|end| end.tail_shard == number).count();
        let (mut unsent, mut undelivered) = (vec![0; rows], vec![0; tails]);
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        let mut own = Self {
            answers: plan.first_answers() as u16,
            ports: vec![PortRow::NONE; rows],
            rows: vec![Waiting::default(); rows],
            ..Self::default()
        };
        for (id, flow) in plan.flows.iter().enumerate() {
            let end = ends[id];
            let flits = flow.flits.unwrap_or_default();
            if end.tail_shard == number {
                undelivered[end.tail as usize] = flits;
            }
            if !here(id) {
                continue;
            }
            unsent[end.row as usize] = flits;
            own.ports[end.row as usize] = site.placement.host_port[flow.source.index()];
            own.rows[end.row as usize] = Waiting {
                count: flow.after.len() as u32,
                release: flow.start,
            };
            for after in &flow.after {
                let (other, dependent) = (after.flow as usize, (end.row, after.delay));
                if plan.flows[other].source == flow.source {
                    sent.push((ends[other].row, dependent));
                } else {
                    received.push((ends[other].tail, dependent));
                }
            }
        }
        let waiting = own.rows.iter().filter(|row| row.count > 0).count();
        own.released.reserve(waiting);
        own.sent = Awaited::new(unsent, sent);
        own.received = Awaited::new(undelivered, received);
        own
    }

    /// First start cycle that is known and has not come.
    #[inline]
    fn next(&self) -> u64 {
        self.released
            .peek()
            .map_or(u64::MAX, |Reverse((at, _))| *at)
    }

    /// Start cycle of the flow in a row that waits for nothing any more; `None`: it does.
    pub fn release(&self, row: u32) -> Option<u64> {
        let waiting = self.rows[row as usize];
        (waiting.count == 0).then_some(waiting.release)
    }
}

/// What flows wait for is complete from cycle `since` on.
fn complete(
    rows: &mut [Waiting],
    released: &mut BinaryHeap<Reverse<(u64, u32)>>,
    dependents: &[Dependent],
    since: u64,
) {
    for &(row, delay) in dependents {
        let waiting = &mut rows[row as usize];
        waiting.release = waiting.release.max(since + delay);
        waiting.count -= 1;
        if waiting.count == 0 {
            released.push(Reverse((waiting.release, row)));
        }
    }
}

/// The flows that start in this cycle.
fn release(calendar: Res<'_, Calendar>, mut own: ResMut<'_, Waits>, mut flows: ResMut<'_, Flows>) {
    let now = calendar.now();
    if own.next() > now {
        return;
    }
    let (own, flows) = (
        own.bypass_change_detection(),
        flows.bypass_change_detection(),
    );
    while own.next() <= now {
        if let Some(Reverse((at, row))) = own.released.pop() {
            flows.admit(row, at);
        }
    }
}

/// What has started and been delivered.
fn notify(
    place: Local<'_, Place>,
    calendar: Res<'_, Calendar>,
    lists: Res<'_, Worklists>,
    mut own: ResMut<'_, Waits>,
    packets: Packets<'_, '_>,
    outs: Query<'_, '_, &OutPort>,
    mut tails: Option<ResMut<'_, Tails>>,
) {
    if lists.sent.is_empty() && lists.consumed.is_empty() && tails.is_none() {
        return;
    }
    let now = calendar.now();
    let own = own.bypass_change_detection();
    let outs = outs.contiguous_iter().into_iter().flatten().next();
    let outs: Seen<'_, PortRow, OutPort> = Seen::new(outs.unwrap_or_default());
    let (packets, records) = packets.rows();
    let (ends, answers) = (&place.shared.flow_ends, own.answers);
    let (rows, released) = (&mut own.rows, &mut own.released);
    let is_own = |flow: u32, class: u16| flow != NONE && class < answers;
    let starts = if tails.is_some() {
        &[][..]
    } else {
        &lists.sent[..]
    };
    for &row in starts {
        let (record, flits) = (&records[row], packets[row].size);
        if is_own(record.flow, record.class) {
            let flow = ends[record.flow as usize].row;
            let free = outs[own.ports[flow as usize]].free_at;
            complete(rows, released, own.sent.take(flow, flits), free);
        }
    }
    if let Some(tails) = &mut tails {
        for tail in tails.bypass_change_detection().drain() {
            if is_own(tail.flow, tail.class) {
                let flow = ends[tail.flow as usize].row;
                complete(rows, released, own.sent.take(flow, tail.flits), tail.free);
            }
        }
    }
    for &row in &lists.consumed {
        let (record, flits) = (&records[row], packets[row].size);
        if is_own(record.flow, record.class) {
            let tail = ends[record.flow as usize].tail;
            complete(rows, released, own.received.take(tail, flits), now + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_told_once_with_the_last_flit() {
        let pairs = vec![(2, (7, 5)), (0, (4, 0)), (2, (4, 9))];
        let mut awaited = Awaited::new(vec![3, 10, 8], pairs);
        assert!(awaited.take(2, 7).is_empty());
        assert!(awaited.take(1, 10).is_empty(), "nobody waits for it");
        assert_eq!(awaited.take(2, 1), [(7, 5), (4, 9)]);
        assert_eq!(awaited.take(0, 3), [(4, 0)]);
    }

    /// The later of the time and of what is waited for.
    #[test]
    fn a_flow_is_released_when_all_is_complete() {
        let waiting = |count, release| Waiting { count, release };
        let mut rows = [waiting(2, 30), waiting(1, 100)];
        let mut released = BinaryHeap::new();
        complete(&mut rows, &mut released, &[(0, 15), (1, 3)], 20);
        assert_eq!(released.pop(), Some(Reverse((100, 1))));
        assert_eq!((rows[0], released.pop()), (waiting(1, 35), None));
        complete(&mut rows, &mut released, &[(0, 0)], 33);
        assert_eq!(released.pop(), Some(Reverse((35, 0))));
    }
}
