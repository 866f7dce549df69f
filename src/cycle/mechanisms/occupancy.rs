//! Occupancy of the input queues of switches: packets that wait there, and most of them at one input.
//!
//! Stage: `Slot::Observe`; only where the plan observes queues
//! Reads: packets that arrived, were granted or dropped in this cycle
//! Writes: its own counters
//! Cost: O(arrivals, grants and drops)
//!
//! # Rules
//! 1. A packet is in an input queue from the cycle in which it may request to the cycle before its grant or
//!    its drop.
//! 2. What is counted of a cycle of the measurement is what is in the queues at its end. Between two events nothing
//!    changes, so cycles that are jumped over are counted at the next event.
//!
//! # Deviations
//! None.

use crate::cycle::counts::{Count, Reduction};
use crate::cycle::joints::Joints;
use crate::cycle::look;
use crate::cycle::mechanism::{Fetched, Mechanism, Rider, ShardBuilder, Site};
use crate::cycle::records::Records;
use crate::cycle::rules::RuleSet;
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::Persistent;
use crate::cycle::state::{Calendar, Fact, Place, Worklists};
use crate::cycle::ties::Riding;
use crate::cycle::view::column;
use crate::fabric::InPort;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, Rows, Seen};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::component::Component;
use bevy_ecs::prelude::{Query, Res, ResMut, Resource};
use bevy_ecs::system::SystemParam;
use bevy_ecs::world::World;
use serde::{Deserialize, Serialize};

/// Packets in the queues of an input.
#[derive(Component, Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Depth(u32);

impl Persistent for Depth {}

/// Packets in the queues of all inputs of the shard.
#[derive(Resource, Clone, Debug, Default, Serialize, Deserialize)]
pub struct Occupancy {
    packets: u64,
    /// Cycle of the last change.
    since: u64,
    /// Packets summed over the cycles of the measurement before that \[packet cycles\].
    sum: u64,
    /// Most packets of one input; `None` before the measurement.
    most: Option<u32>,
}

impl Persistent for Occupancy {}

impl Mechanism for Occupancy {
    const LOOKS_ON: bool = true;

    fn of(site: &Site<'_>) -> Option<Self> {
        site.plan.observe.queues.then(Self::default)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.resource(self);
        shard.column::<InPort, Depth>(Depth::default());
        shard.subscribe(Fact::Arrived);
        shard.subscribe(Fact::Granted);
        shard.on_resume(recount);
        shard.count(Count {
            name: "queues.packet_cycles",
            by: Reduction::Sum,
            value: |world, now| so_far(world, now).sum,
        });
        shard.count(Count {
            name: "queues.most",
            by: Reduction::Most,
            value: |world, now| so_far(world, now).most.unwrap_or(0).into(),
        });
        shard.system(Slot::Observe, "occupancy", system);
        shard.rides(Riding::beside(&[(Slot::Observe, "occupancy")]));
    }
}

fn system(
    place: Res<'_, Place>,
    calendar: Res<'_, Calendar>,
    lists: Res<'_, Worklists>,
    records: Res<'_, Records>,
    mut own: ResMut<'_, Occupancy>,
    mut depths: Query<'_, '_, &mut Depth>,
) {
    if lists.have_moved() {
        let seen = Seeing {
            now: calendar.now(),
            place: &place,
            lists: &lists,
            records: &records,
        };
        run(
            own.bypass_change_detection(),
            Rows::new(column!(depths)),
            seen,
        );
    }
}

/// What is looked at.
struct Seeing<'a> {
    now: u64,
    place: &'a Place,
    lists: &'a Worklists,
    records: &'a Records,
}

/// Runs the stage.
fn run(own: &mut Occupancy, mut depths: Rows<'_, PortRow, Depth>, seen: Seeing<'_>) {
    let Seeing {
        now,
        place,
        lists,
        records,
    } = seen;
    own.advance(now, records, depths.seen());
    let at_switch = |&(lane, _): &(LaneRow, PacketRow)| {
        let port = place.shared.numbering.port(lane);
        (!place.is_host(port)).then_some(port)
    };
    for port in lists.arrived.iter().filter_map(at_switch) {
        own.packets += 1;
        depths[port].0 += 1;
    }
    for grant in lists.grants.iter().filter(|grant| grant.accepted) {
        own.packets -= 1;
        depths[grant.input].0 -= 1;
    }
    for dropped in &lists.dropped {
        own.packets -= 1;
        depths[dropped.input].0 -= 1;
    }
    if records.in_window(now) {
        let deepest = match own.most {
            Some(most) => {
                let arrived = lists.arrived.iter().filter_map(at_switch);
                arrived.map(|port| depths[port].0).fold(most, u32::max)
            }
            None => deepest(depths.seen()),
        };
        own.most = Some(deepest);
    }
}

/// System parameter: occupancy in the pass.
#[derive(SystemParam)]
pub(in crate::cycle) struct OccupancyAboard<'w, 's> {
    own: Option<ResMut<'w, Occupancy>>,
    depths: Query<'w, 's, &'static mut Depth>,
}

impl<J: Joints> Rider<J> for OccupancyAboard<'_, '_> {
    #[inline(always)]
    fn run<const W: usize, P: RuleSet>(
        &mut self,
        slot: Slot,
        on: &mut Fetched<'_, '_, '_, W, P, J>,
    ) {
        let (Slot::Observe, Some(own)) = (slot, &mut self.own) else {
            return;
        };
        if on.view.lists.have_moved() {
            let seen = Seeing {
                now: on.view.now,
                place: on.view.place,
                lists: on.view.lists,
                records: on.start.records,
            };
            let depths = Rows::new(column!(self.depths));
            run(own.bypass_change_detection(), depths, seen);
        }
    }
}

/// Packets at the input that has most.
fn deepest(depths: Seen<'_, PortRow, Depth>) -> u32 {
    let depths = depths.enumerate().map(|(_, depth)| depth.0);
    depths.max().unwrap_or(0)
}

impl Occupancy {
    /// Counts the cycles before `now`, in which nothing has changed.
    fn advance(&mut self, now: u64, records: &Records, depths: Seen<'_, PortRow, Depth>) {
        let measured = records.measured_between(self.since, now);
        self.since = now;
        self.sum += self.packets * measured;
        if measured > 0 && self.most.is_none() {
            self.most = Some(deepest(depths));
        }
    }
}

/// Counts what is in the queues: a state may have been saved without it.
fn recount(world: &mut World) {
    let place = world.resource::<Place>();
    let mut depths = vec![0; look::column::<Depth>(world).len()];
    let mut counts: Rows<'_, PortRow, u32> = Rows::new(&mut depths);
    look::each_queued(world, |lane, _| {
        let port = place.shared.numbering.port(lane);
        if !place.is_host(port) {
            counts[port] += 1;
        }
    });
    let packets = depths.iter().map(|&depth| u64::from(depth)).sum();
    world.resource_mut::<Occupancy>().packets = packets;
    let mut rows = world.query::<&mut Depth>();
    for (mut row, depth) in rows.iter_mut(world).zip(depths) {
        *row = Depth(depth);
    }
}

/// The counters with the cycles before `now`.
fn so_far(world: &World, now: u64) -> Occupancy {
    let mut counters = world.resource::<Occupancy>().clone();
    let depths = Seen::new(look::column(world));
    counters.advance(now, world.resource(), depths);
    counters
}
