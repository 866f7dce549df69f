//! Dropping: a packet of some service levels that would have to wait in a switch is taken out of the fabric (D58).
//!
//! Stage: the end of `Slot::Deliver` (queues whose dropped packet is gone), the end of `Slot::Route` (decisions), for a
//! threshold the end of `Slot::Cross` (what has left); only where switches drop
//! Reads: heads that have raised their request in this cycle, credits of output lanes
//! Writes: these requests, queues, credits back to the sender, its own state and counters
//! Cost: O(heads), for a threshold O(arrivals and grants); the stages of the core know nothing of it
//!
//! # Rules
//! 1. A packet is decided once at a switch: in the cycle in which its request is raised for the first time, on the state
//!    before any drop and any grant of this cycle. A head that stays is as any other from then on.
//! 2. `Held`: dropped when it does not fit the credits in hand of its output lane. `Threshold`: dropped when the flits of
//!    other packets that waited for this lane at the end of the cycle before reach it.
//! 3. A dropped packet takes its request back and leaves its queue at the pace of the channel it came by: its slots come
//!    free one by one, the next packet becomes head behind the last of them. A request that is raised before (the input
//!    is free, or a packet arrived) is taken back until then.
//! 4. Its row is free at once: facts of the cycle name it by place and size.
//!
//! # Deviations
//! The thesis looks at a header again for as long as it is blocked on its virtual lane by another packet; here that is
//! no flow control. References: [`SEM_JACOBSEN`](crate::references::SEM_JACOBSEN) sections 5.4 and 7.6.

use crate::cycle::counts::{Count, Reduction};
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::records::Records;
use crate::cycle::rules::Any;
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::stages::cross::{clear_occupied, return_credits};
use crate::cycle::state::{Calendar, Dropped, Fact, PacketPool, Worklists};
use crate::cycle::view::{Heads, Room, View, column};
use crate::fabric::components::NONE;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow, Row, Rows, Seen};
use crate::fabric::{OutLane, Packet, Queue};
use crate::measure::flow_counts::Amount;
use crate::plan::DropRule;
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::component::Component;
use bevy_ecs::prelude::{Query, Res, ResMut, Resource};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An input queue.
#[derive(Component, Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Leaving {
    /// First cycle in which its next packet may be head, as far as dropped ones go.
    until: u64,
}

impl Persistent for Leaving {}

/// An output lane, of a rule that asks for it.
#[derive(Component, Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Waiting {
    /// Flits of the packets that wait for it (D36).
    flits: u32,
}

impl Persistent for Waiting {}

/// What never changes.
#[derive(Debug, Default)]
struct Given {
    rule: Option<DropRule>,
    /// Whether packets with a key of the lane map may be dropped.
    by_key: Vec<bool>,
    /// Cycles per flit of the channel that leads to each port of a switch.
    pace: Vec<u16>,
}

/// A packet that is to be dropped.
#[derive(Clone, Copy, Debug)]
struct Doomed {
    queue: QueueRow,
    packet: PacketRow,
}

/// What a shard has dropped, and what it waits for.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct Drops {
    #[serde(skip)]
    given: Given,
    /// Queues that get their next head in a cycle, because a dropped packet is gone then.
    ends: BinaryHeap<Reverse<(u64, QueueRow)>>,
    /// Queues whose heads raise their request in this cycle.
    #[serde(skip)]
    heads: Vec<QueueRow>,
    #[serde(skip)]
    doomed: Vec<Doomed>,
    /// Packets dropped in the measurement, by output lane.
    by_lane: Vec<u64>,
    /// Packets dropped since cycle 0, by flow (global id).
    by_flow: Vec<Amount>,
}

impl Persistent for Drops {
    fn resume(&mut self, built: Self, _: &Resume<'_>) {
        self.given = built.given;
    }
}

impl Drops {
    /// Packets dropped in the measurement that would have left by an output lane of the shard.
    pub fn at(&self, lane: LaneRow) -> u64 {
        self.by_lane[lane.index()]
    }

    /// Packets of a flow dropped in this shard.
    pub fn of_flow(&self, flow: usize) -> Amount {
        self.by_flow[flow]
    }
}

/// Dropping as a mechanism.
pub struct Dropping {
    given: Given,
    /// Lanes of all ports, and flows of the fabric.
    counts: (usize, usize),
}

impl Mechanism for Dropping {
    fn of(site: &Site<'_>) -> Option<Self> {
        let drop = site.plan.switch.drop.as_ref()?;
        let levels = site.shared.service_levels().into_iter();
        let is_dropped = |level: Option<u8>| {
            let mut dropped = drop.service_levels.iter();
            dropped.any(|other| level == Some(other.0))
        };
        let inputs = site.placement.switch_channels(site.graph, site.number);
        let pace = inputs.map(|channel| {
            let timing = site.graph.channel(channel.reverse()).timing;
            timing.cycles_per_flit as u16
        });
        let pace: Vec<u16> = pace.collect();
        Some(Self {
            counts: (
                site.shared.numbering.rows(pace.len()),
                site.plan.flows.len(),
            ),
            given: Given {
                rule: Some(drop.rule),
                by_key: levels.map(is_dropped).collect(),
                pace,
            },
        })
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let (lanes, flows) = self.counts;
        shard.column::<Queue, Leaving>(Leaving::default());
        shard.subscribe(Fact::Arrived);
        shard.last_system(Slot::Deliver, "drop_gone", gather);
        shard.last_system(Slot::Route, "drop", system::<W>);
        if let Some(DropRule::Threshold(_)) = self.given.rule {
            shard.column::<OutLane<W>, Waiting>(Waiting::default());
            shard.subscribe(Fact::Granted);
            shard.last_system(Slot::Cross, "drop_waiting", granted);
        }
        shard.count(Count {
            name: "dropped.packets",
            by: Reduction::Sum,
            value: |world, _| world.resource::<Records>().totals.dropped,
        });
        shard.alarm(|world, from| {
            let next = world.resource::<Drops>().ends.peek();
            next.map_or(u64::MAX, |Reverse((at, _))| (*at).max(from))
        });
        shard.resource(Drops {
            given: self.given,
            by_lane: vec![0; lanes],
            by_flow: vec![Amount::default(); flows],
            ..Drops::default()
        });
    }
}

/// The end of `Slot::Deliver`: queues whose dropped packet is gone have their next head routed, and all heads that are
/// routed in this cycle are noted.
fn gather(
    calendar: Res<'_, Calendar>,
    mut lists: ResMut<'_, Worklists>,
    mut own: ResMut<'_, Drops>,
    mut queues: Query<'_, '_, &mut Queue>,
) {
    let (own, lists) = (
        own.bypass_change_detection(),
        lists.bypass_change_detection(),
    );
    let now = calendar.now();
    if (own.ends.peek()).is_some_and(|Reverse((at, _))| *at <= now) {
        let queues: Rows<'_, QueueRow, Queue> = Rows::new(column!(queues));
        while let Some(&Reverse((at, queue))) = own.ends.peek()
            && at <= now
        {
            own.ends.pop();
            let row = &queues[queue];
            if row.head != PacketRow::NONE && !row.requesting {
                lists.heads.push(queue);
            }
        }
    }
    own.heads.clone_from(&lists.heads);
}

/// The end of `Slot::Route`.
fn system<const W: usize>(
    mut heads: Heads<'_, '_, W>,
    mut room: Room<'_, '_>,
    mut own: ResMut<'_, Drops>,
    (mut leaving, mut waiting): (Query<'_, '_, &mut Leaving>, Query<'_, '_, &mut Waiting>),
    mut pool: ResMut<'_, PacketPool>,
    mut records: ResMut<'_, Records>,
) {
    let own = own.bypass_change_detection();
    if heads.events.lists().arrived.is_empty() && own.heads.is_empty() {
        return;
    }
    let mut waiting: Rows<'_, LaneRow, Waiting> = Rows::new(column!(waiting));
    let mut stage = Stage {
        view: heads.view::<Any>(room.columns()),
        own,
        leaving: Rows::new(column!(leaving)),
        pool: pool.bypass_change_detection(),
        records: records.bypass_change_detection(),
    };
    stage.decide(waiting.seen());
    let mut doomed = std::mem::take(&mut stage.own.doomed);
    for one in doomed.drain(..) {
        stage.drop(one);
    }
    stage.own.doomed = doomed;
    if let Some(DropRule::Threshold(_)) = stage.own.given.rule {
        stage.arrived(&mut waiting);
    }
}

/// The end of `Slot::Cross`, for a threshold: granted packets no longer wait.
fn granted(
    lists: Res<'_, Worklists>,
    mut waiting: Query<'_, '_, &mut Waiting>,
    mut packets: Query<'_, '_, &mut Packet>,
) {
    if lists.grants.is_empty() {
        return;
    }
    let mut waiting: Rows<'_, LaneRow, Waiting> = Rows::new(column!(waiting));
    let packets: Rows<'_, PacketRow, Packet> = Rows::new(column!(packets));
    for grant in lists.grants.iter().filter(|grant| grant.accepted) {
        waiting[grant.lane].flits -= u32::from(packets[grant.packet].size);
    }
}

/// What the decisions of a cycle change.
struct Stage<'a, const W: usize> {
    view: View<'a, W>,
    own: &'a mut Drops,
    leaving: Rows<'a, QueueRow, Leaving>,
    pool: &'a mut PacketPool,
    records: &'a mut Records,
}

impl<const W: usize> Stage<'_, W> {
    /// Rules 1 and 2: names the packets that are to be dropped.
    fn decide(&mut self, waiting: Seen<'_, LaneRow, Waiting>) {
        for number in 0..self.view.lists.arrived.len() {
            let (lane, packet) = self.view.lists.arrived[number];
            let input = self.view.shared.numbering.port(lane);
            if self.view.place.is_host(input) {
                continue;
            }
            let queue = self.queue_of(lane, packet);
            if self.view.queues[queue].head == packet {
                self.look(queue, false, waiting);
            }
        }
        let mut heads = std::mem::take(&mut self.own.heads);
        for queue in heads.drain(..) {
            self.look(queue, true, waiting);
        }
        self.own.heads = heads;
    }

    /// The queue that an arrived packet has joined.
    fn queue_of(&self, lane: LaneRow, packet: PacketRow) -> QueueRow {
        let view = &self.view;
        let input = view.shared.numbering.port(lane);
        let output = || {
            let first = view.switches[view.ins[input].owner].first_port;
            view.next_hop(input, packet).0.minus(first)
        };
        let classifier = view.shared.classifier();
        classifier.classify(view.shared.numbering, lane, output).0
    }

    /// A queue whose head may have raised its request in this cycle; `waited`: the head has waited before.
    fn look(&mut self, queue: QueueRow, waited: bool, waiting: Seen<'_, LaneRow, Waiting>) {
        let row = &self.view.queues[queue];
        if row.head == PacketRow::NONE || !row.requesting {
            return;
        }
        let until = self.leaving[queue].until;
        if until > self.view.now {
            self.withdraw(queue);
            if !waited {
                self.own.ends.push(Reverse((until, queue)));
            }
            return;
        }
        let packet = &self.view.packets[row.head];
        if !self.own.given.by_key[usize::from(packet.key)] {
            return;
        }
        let size = u32::from(packet.size);
        let lane = (self.view.shared.numbering).lane(row.out, u32::from(row.out_lane));
        let is_dropped = match self.own.given.rule {
            Some(DropRule::Held) => self.view.credits(lane) < size,
            Some(DropRule::Threshold(flits)) => {
                let own = if waited { size } else { 0 };
                waiting[lane].flits - own >= flits
            }
            None => false,
        };
        if is_dropped {
            let packet = row.head;
            self.own.doomed.push(Doomed { queue, packet });
        }
    }

    /// The head of a queue no longer requests.
    fn withdraw(&mut self, queue: QueueRow) {
        let view = &mut self.view;
        let numbering = view.shared.numbering;
        let row = &mut view.queues[queue];
        row.requesting = false;
        let (out, number) = (row.out, u32::from(row.out_lane));
        let first = view.switches[view.outs[out].owner].first_port;
        let bit = numbering.bit(first, view.shared.classifier().lane(queue));
        let lane = &mut view.lanes[numbering.lane(out, number)];
        lane.requests.remove(bit);
        if lane.requests.is_empty() {
            lane.need = 0;
            view.outs[out].request_lanes.remove(number);
        }
    }

    /// Rule 3.
    fn drop(&mut self, Doomed { queue, packet }: Doomed) {
        let row = &self.view.queues[queue];
        if row.head != packet {
            // named twice
            return;
        }
        let lane = (self.view.shared.numbering).lane(row.out, u32::from(row.out_lane));
        self.withdraw(queue);
        let view = &mut self.view;
        let (now, input) = (view.now, view.queue_port(queue));
        let flits = view.packets[packet].size;
        let step = self.own.given.pace[input.index()];
        let until = now + u64::from(flits) * u64::from(step);
        self.leaving[queue].until = until;
        let row = &mut view.queues[queue];
        if row.head == row.tail {
            row.head = PacketRow::NONE;
            clear_occupied(view, queue, input);
        } else {
            row.head = view.packets[packet].next;
            self.own.ends.push(Reverse((until, queue)));
        }
        return_credits(view, queue, input, now, flits, step);
        self.count(packet, input, lane);
        self.pool.release(packet);
    }

    fn count(&mut self, packet: PacketRow, input: PortRow, lane: LaneRow) {
        let view = &mut self.view;
        let (row, record) = (&view.packets[packet], &view.records[packet]);
        self.records.dropped(view.now, row, record);
        if self.records.in_window(view.now) {
            self.own.by_lane[lane.index()] += 1;
        }
        if record.flow != NONE {
            self.own.by_flow[record.flow as usize].add(row.size);
        }
        view.lists.dropped.push(Dropped {
            input,
            lane,
            flits: row.size,
        });
    }

    /// For a threshold: what has arrived and was not dropped waits from now on.
    fn arrived(&mut self, waiting: &mut Rows<'_, LaneRow, Waiting>) {
        let view = &self.view;
        let numbering = view.shared.numbering;
        for &(lane, packet) in &view.lists.arrived {
            let input = numbering.port(lane);
            if view.place.is_host(input) {
                continue;
            }
            let (out, number) = view.next_hop(input, packet);
            let lane = numbering.lane(out, number.into());
            waiting[lane].flits += u32::from(view.packets[packet].size);
        }
        for dropped in &view.lists.dropped {
            waiting[dropped.lane].flits -= u32::from(dropped.flits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_small() {
        assert_eq!((size_of::<Leaving>(), size_of::<Waiting>()), (8, 4));
    }
}
