//! Bounded source queues: a packet that finds its class's queue full is rejected (D11).
//!
//! Part of `Slot::Generate` (admission) and `Slot::Inject` (a place comes free); only where the plan gives a bound.
//!
//! Cost: O(1) per packet.

use crate::cycle::joints::Bounds;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::snapshot::Persistent;
use crate::fabric::rows::{HostRow, Row};
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// Packets that wait, per local host and class.
#[derive(Resource, Debug, Serialize, Deserialize)]
pub struct BoundedQueues {
    limit: u32,
    classes: usize,
    /// `[host][class]`
    waiting: Vec<u32>,
}

impl Persistent for BoundedQueues {}

impl Bounds for BoundedQueues {
    #[inline]
    fn admit(&mut self, host: HostRow, class: u16) -> bool {
        let waiting = &mut self.waiting[host.index() * self.classes + usize::from(class)];
        let has_place = *waiting < self.limit;
        *waiting += u32::from(has_place);
        has_place
    }

    #[inline]
    fn leave(&mut self, host: HostRow, class: u16) {
        self.waiting[host.index() * self.classes + usize::from(class)] -= 1;
    }
}

/// Bounded source queues as a mechanism.
pub struct Bounding {
    limit: u32,
}

impl Mechanism for Bounding {
    fn of(site: &Site<'_>) -> Option<Self> {
        let limit = site.plan.host.source_queue;
        limit.map(|limit| Self { limit })
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let site = shard.site();
        let classes = site.plan.classes.len();
        let hosts = site.placement.hosts[site.number].len();
        shard.resource(BoundedQueues {
            limit: self.limit,
            classes,
            waiting: vec![0; hosts * classes],
        });
    }
}
