//! Occupancy of the input queues of switches: packets that wait there, and most of them at one input.
//!
//! Stage: `Slot::Observe`; only where the plan observes queues
//! Reads: packets that arrived and packets granted in this cycle
//! Writes: its own counters
//! Cost: O(arrivals and grants)
//!
//! # Rules
//! 1. A packet is in an input queue from the cycle in which it may request to the cycle before its grant.
//! 2. What is counted of a cycle of the measurement is what is in the queues at its end. Between two events nothing
//!    changes, so cycles that are jumped over are counted at the next event.
//!
//! # Deviations
//! None.

use super::counts::{Count, Reduction};
use super::mechanism::{Mechanism, ShardBuilder, Site};
use super::records::Records;
use super::slot::Slot;
use super::snapshot::Persistent;
use super::state::{Calendar, Fact, Place, Worklists};
use super::view::column;
use crate::fabric::InPort;
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::component::Component;
use bevy_ecs::prelude::{Query, Res, ResMut, Resource};
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
    /// Most packets of one input.
    most: u32,
}

impl Persistent for Occupancy {}

impl Mechanism for Occupancy {
    fn of(site: &Site<'_>) -> Option<Self> {
        site.plan.observe.queues.then(Self::default)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.resource(self);
        shard.column::<InPort, Depth>(Depth::default());
        shard.subscribe(Fact::Arrived);
        shard.subscribe(Fact::Granted);
        shard.count(Count {
            name: "queues.packet_cycles",
            by: Reduction::Sum,
            value: |world, now| world.resource::<Self>().sum_before(now, world),
        });
        shard.count(Count {
            name: "queues.most",
            by: Reduction::Most,
            value: |world, _| u64::from(world.resource::<Self>().most),
        });
        shard.system(Slot::Observe, "occupancy", system);
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
    if lists.arrived.is_empty() && lists.grants.is_empty() {
        return;
    }
    let own = own.bypass_change_detection();
    let depths = column!(depths);
    let now = calendar.now();
    own.sum += own.packets * records.measured_between(own.since, now);
    own.since = now;
    for &(lane, _) in &lists.arrived {
        let port = lane >> place.shared.lane_shift;
        if port < place.first_host_port {
            own.packets += 1;
            depths[port as usize].0 += 1;
        }
    }
    for grant in lists.grants.iter().filter(|grant| grant.accepted) {
        own.packets -= 1;
        depths[grant.input as usize].0 -= 1;
    }
    if records.in_window(now) {
        let arrived = lists.arrived.iter();
        let at_switches = arrived.map(|&(lane, _)| lane >> place.shared.lane_shift);
        let here = at_switches.filter(|&port| port < place.first_host_port);
        let most = here.map(|port| depths[port as usize].0).max();
        own.most = own.most.max(most.unwrap_or(0));
    }
}

impl Occupancy {
    /// Packets summed over the cycles of the measurement before `now` \[packet cycles\].
    fn sum_before(&self, now: u64, world: &World) -> u64 {
        let records = world.resource::<Records>();
        self.sum + self.packets * records.measured_between(self.since, now)
    }
}
