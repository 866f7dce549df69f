//! Marks packets that leave behind a queue: the FECN bit.
//!
//! Stage: `Slot::Mark` (congestion detection)
//! Reads: this cycle's grants, the requests that still stand
//! Writes: FECN bit of the granted packets
//! Cost: O(requests of the output lanes granted in this cycle); nothing when marking is off
//!
//! # Rules
//! 1. A packet granted in this cycle is marked when the flits of the other packets whose request for the same
//!    (output, lane) stands after all grants of the cycle reach the threshold.
//!
//! # Deviations
//! InfiniBand leaves the byte meaning of the threshold to the vendor; this is one reading of it. Root and
//! victim are not told apart. References: [`IBA`](crate::references::IBA) annex A10.

use crate::cycle::joints::Joints;
use crate::cycle::mechanism::{Fetched, Mechanism, Rider, ShardBuilder, Site};
use crate::cycle::rules::{Any, RuleSet};
use crate::cycle::slot::Slot;
use crate::cycle::state::Fact;
use crate::cycle::ties::Riding;
use crate::cycle::view::{Optional, Requests, View};
use crate::fabric::rows::{LaneRow, PortRow};
use crate::plan;
use bevy_ecs::prelude::{Res, Resource};
use bevy_ecs::system::SystemParam;

/// Marking as a mechanism.
#[derive(Resource, Debug)]
pub struct Marking {
    /// \[flits\]
    threshold: u32,
}

impl Mechanism for Marking {
    fn of(site: &Site<'_>) -> Option<Self> {
        match site.plan.switch.marking {
            Some(plan::Marking::Requests(threshold)) => Some(Self { threshold }),
            _ => None,
        }
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.subscribe(Fact::Granted);
        shard.constant(self);
        shard.system(Slot::Mark, "mark", system::<W>);
        shard.rides(Riding::beside(&[(Slot::Mark, "mark")]));
    }
}

fn system<const W: usize>(mut requests: Requests<'_, '_, W>, marking: Res<'_, Marking>) {
    if !requests.events.lists().grants.is_empty() {
        run(
            &mut requests.view::<Any>(Optional::default()),
            marking.threshold,
        );
    }
}

fn run<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, threshold: u32) {
    let grants = std::mem::take(&mut view.lists.grants);
    for grant in grants.iter().filter(|grant| grant.accepted) {
        if waiting_flits(view, grant.out, grant.lane) >= threshold {
            view.packets[grant.packet].fecn = true;
        }
    }
    view.lists.grants = grants;
}

/// System parameter: marking in the pass.
#[derive(SystemParam)]
pub(in crate::cycle) struct MarkingAboard<'w> {
    marking: Option<Res<'w, Marking>>,
}

impl<J: Joints> Rider<J> for MarkingAboard<'_> {
    #[inline(always)]
    fn run<const W: usize, P: RuleSet>(
        &mut self,
        slot: Slot,
        on: &mut Fetched<'_, '_, '_, W, P, J>,
    ) {
        if let (Slot::Mark, Some(marking)) = (slot, &self.marking) {
            run(on.view, marking.threshold);
        }
    }
}

/// Flits of the packets whose request for the lane stands.
fn waiting_flits<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    out: PortRow,
    lane: LaneRow,
) -> u32 {
    let requests = &view.lanes[lane].requests;
    if requests.is_empty() {
        return 0;
    }
    let first_port = view.switches[view.outs[out].owner].first_port;
    let size = |bit| {
        let queue = &view.queues[view.queue_of(first_port, bit, lane)];
        // one credit is enough where flits go one by one
        let is_whole = !view.shared.single_flits();
        let size = || view.packets[queue.head].size;
        u32::from(if is_whole { queue.size } else { size() })
    };
    requests.iter().map(size).sum()
}
