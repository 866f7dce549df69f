//! Dropping: a packet of some service levels that would have to wait in a switch is taken out of the fabric (D58).
//!
//! Stage: for `Held` the end of `Slot::Deliver` (queues whose dropped packet is gone) and the end of `Slot::Route` (decisions);
//! for a threshold the end of `Slot::Deliver` (decisions), of `Slot::Route` (what waits now) and of `Slot::Cross` (what has
//! left); only where switches drop
//! Reads: heads that have raised their request in this cycle, credits of output lanes; for a threshold what has arrived
//! Writes: these requests, queues, what has arrived, credits back to the sender, its own state and counters
//! Cost: O(heads), for a threshold O(arrivals and grants); the stages of the core know nothing of it
//!
//! # Rules
//! 1. A packet is decided once at a switch, on the state before any drop and any grant of this cycle: with `Held` in the cycle in
//!    which its request is raised for the first time, with a threshold in that in which it arrives. One that stays is as any
//!    other from then on.
//! 2. `Held`: dropped when it does not fit the credits in hand of its output lane (D65: when the lane is held, or has none). `Threshold`: dropped when the flits of
//!    the packets that waited for this lane at the end of the cycle before reach it; it never joins a queue then, so that facts of
//!    the cycle say nothing of it. Its slots come free beside those of others of its lane, as ramps of one flit.
//! 3. `Held`: a dropped packet takes its request back and leaves its queue at the pace of the channel it came by: its slots come
//!    free one by one, the next packet becomes head behind the last of them. A request that is raised before (the input
//!    is free, or a packet arrived) is taken back until then.
//!    With adaptive routing, where a head chooses once, none is raised before.
//!    Where packets go flit by flit (D65) its flits are swallowed as they come: `wormhole` has them from then on, whether or not it has
//!    joined a queue (D79).
//! 4. Its row is free at once: facts of the cycle name it by place and size.
//!
//! # Deviations
//! The thesis looks at a header again for as long as it is blocked on its virtual lane by another packet; here that is
//! no flow control. References: [`SEM_JACOBSEN`](crate::references::SEM_JACOBSEN) sections 5.4 and 7.6.

mod chosen;
mod decide;
mod tails;

use self::decide::{SingleFlits, Stage};
use crate::cycle::columns::{Discarded, Held, Present};
use crate::cycle::counts::{Count, Reduction};
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::mechanisms::wormhole::Swallowing;
use crate::cycle::records::Records;
use crate::cycle::rules::Any;
use crate::cycle::shown::Losses;
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::{Calendar, Fact, PacketPool, Place, Worklists};
use crate::cycle::view::{Choosing, Heads, column};
use crate::fabric::components::NONE;
use crate::fabric::rows::{LaneRow, PacketRow, QueueRow, Row, Rows, Seen};
use crate::fabric::{Group, OutLane, Packet, PacketRecord, Queue};
use crate::ids::ChannelId;
use crate::measure::flow_counts::Amount;
use crate::plan::DropRule;
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, Res, ResMut, Resource};
use bevy_ecs::system::SystemParam;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An input queue.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Leaving {
    /// First cycle in which its next packet may be head, as far as dropped ones go.
    until: u64,
}

impl Persistent for Leaving {}

/// An output lane, of a rule that asks for it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
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

/// A packet that has chosen in this cycle, in the queue that it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Chosen {
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
    #[serde(skip)]
    chosen: Vec<Chosen>,
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
    /// These queues have their next head routed in this cycle.
    pub(in crate::cycle) fn note_heads(&mut self, heads: &Vec<QueueRow>) {
        self.heads.clone_from(heads);
    }

    /// A packet that would have left by an output lane is dropped in cycle `now`.
    fn count(
        &mut self,
        now: u64,
        (packet, record): (&Packet, &PacketRecord),
        lane: LaneRow,
        records: &mut Records,
    ) {
        records.dropped(now, packet, record);
        if records.in_window(now) {
            self.by_lane[lane.index()] += 1;
        }
        if record.flow != NONE {
            self.by_flow[record.flow as usize].add(packet.size);
        }
    }
}

/// Whether packets that go flit by flit are dropped before they join a queue (D79).
pub(super) fn discards(site: &Site<'_>) -> bool {
    let shared = &site.shared;
    let rule = site.plan.switch.drop.as_ref().map(|drop| drop.rule);
    let joins_first = shared.adaptation.is_some() && !shared.sorts();
    matches!(rule, Some(DropRule::Threshold(_))) && !joins_first
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
        let pace = |channel: ChannelId| {
            let timing = site.graph.channel(channel.reverse()).timing;
            timing.cycles_per_flit as u16
        };
        let inputs = site.placement.switch_channels(site.graph, site.number);
        let pace: Vec<u16> = inputs.map(pace).collect();
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
        shard.subscribe(Fact::Arrived);
        let is_adaptive = shard.site().shared.adaptation.is_some();
        if let (Some(DropRule::Threshold(_)), false) = (self.given.rule, is_adaptive) {
            shard.column::<Group<OutLane<W>>, Group<Waiting>>(Group::default());
            shard.subscribe(Fact::Granted);
            shard.last_system(Slot::Deliver, "drop", tails::system::<W>);
            shard.last_system(Slot::Route, "drop_joined", tails::joined::<W>);
            shard.last_system(Slot::Cross, "drop_waiting", tails::granted);
        } else {
            shard.column::<Group<Queue>, Group<Leaving>>(Group::default());
            if !shard.site().shared.switch.single_flits {
                shard.last_system(Slot::Deliver, "drop_gone", gather);
            }
            shard.last_system(Slot::Route, "drop", system::<W>);
        }
        shard.count(Count {
            name: "dropped.packets",
            by: Reduction::Sum,
            value: |world, _| world.resource::<Records>().totals.dropped,
        });
        shard.shown().losses = Some(Losses {
            at: |world, lane| world.resource::<Drops>().by_lane[lane.index()],
            of_flow: |world, flow| world.resource::<Drops>().by_flow[flow],
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
    (place, calendar): (Res<'_, Place>, Res<'_, Calendar>),
    mut lists: ResMut<'_, Worklists>,
    mut own: ResMut<'_, Drops>,
    mut queues: Query<'_, '_, &mut Group<Queue>>,
) {
    let (own, lists) = (
        own.bypass_change_detection(),
        lists.bypass_change_detection(),
    );
    let now = calendar.now();
    if (own.ends.peek()).is_some_and(|Reverse((at, _))| *at <= now) {
        let mut queues: Rows<'_, QueueRow, Queue> = Rows::new(column!(queues));
        while let Some(&Reverse((at, queue))) = own.ends.peek()
            && at <= now
        {
            own.ends.pop();
            let row = &mut queues[queue];
            if place.shared.adaptation.is_some() {
                row.leaving = false;
            }
            if row.head != PacketRow::NONE && !row.requesting {
                lists.heads.push(queue);
            }
        }
    }
    own.note_heads(&lists.heads);
}

/// System parameter: what packets that go flit by flit have (D65).
#[derive(SystemParam)]
struct FlitByFlit<'w, 's> {
    held: Query<'w, 's, &'static Group<Held>>,
    present: Query<'w, 's, &'static mut Group<Present>>,
    discarded: Query<'w, 's, &'static mut Group<Discarded>>,
    swallowing: Option<ResMut<'w, Swallowing>>,
}

impl FlitByFlit<'_, '_> {
    /// `None` where packets travel as units.
    fn parts(&mut self) -> Option<SingleFlits<'_>> {
        let held = self.held.contiguous_iter().into_iter().flatten().next();
        Some(SingleFlits {
            swallowing: self.swallowing.as_mut()?.bypass_change_detection(),
            held: Seen::new(Group::rows(held.unwrap_or_default())),
            present: Rows::new(column!(self.present)),
            discarded: Rows::new(column!(self.discarded)),
        })
    }
}

/// The end of `Slot::Route`, for `Held`, and for thresholds with adaptive routing.
fn system<const W: usize>(
    mut heads: Heads<'_, '_, W>,
    mut choosing: Choosing<'_, '_>,
    mut own: ResMut<'_, Drops>,
    mut leaving: Query<'_, '_, &mut Group<Leaving>>,
    mut flits: FlitByFlit<'_, '_>,
    mut pool: ResMut<'_, PacketPool>,
    mut records: ResMut<'_, Records>,
) {
    let own = own.bypass_change_detection();
    if heads.events.lists().arrived.is_empty() && own.heads.is_empty() {
        return;
    }
    let mut stage = Stage {
        view: heads.view::<Any>(choosing.columns(heads.events.rules::<Any>())),
        own,
        leaving: Rows::new(column!(leaving)),
        flits: flits.parts(),
        pool: pool.bypass_change_detection(),
        records: records.bypass_change_detection(),
    };
    let by_fill = match stage.own.given.rule {
        Some(DropRule::Threshold(most)) => Some(most),
        _ => None,
    };
    match by_fill {
        Some(most) => stage.decide_by_fill(most),
        None if stage.stands() => stage.decide_standing(),
        None => stage.decide(),
    }
    let joins = by_fill.is_some() && stage.view.shared.sorts();
    let mut doomed = std::mem::take(&mut stage.own.doomed);
    for one in doomed.drain(..) {
        if stage.stands() {
            stage.drop_standing(one);
        } else if joins {
            stage.drop_joined(one);
        } else {
            stage.drop(one);
        }
    }
    stage.own.doomed = doomed;
}
