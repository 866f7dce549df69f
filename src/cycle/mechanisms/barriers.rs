//! Barriers: which phases of applications are over (D50 of the model).
//!
//! Stage: `Slot::Notify`; only where flows belong to phases
//! Reads: delivered packets
//! Writes: its own counts; the act of all shards reads them and opens the next phases
//! Cost: O(packets delivered)
//!
//! # Rules
//! 1. A flow is complete when all its flits are delivered; a phase is over when all its flows are, wherever they end.
//!
//! # Deviations
//! None.

use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::{Calendar, Fact, Place, Worklists};
use crate::cycle::view::Packets;
use crate::fabric::components::NONE;
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::{Local, Res, ResMut, Resource};
use serde::{Deserialize, Serialize};

/// Flows that end in a shard, by phase.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct Barriers {
    /// Classes from this one on are answers.
    #[serde(skip)]
    answers: u16,
    /// Phase of a flow by its row here, `NONE` of one without.
    #[serde(skip)]
    of: Vec<u32>,
    /// Its flits that have not been delivered.
    left: Vec<u64>,
    /// By phase.
    phases: Vec<PhaseCount>,
}

/// Flows of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseCount {
    /// Those that are not complete.
    pub left: u64,
    /// Latest delivery of the last packet of one \[cycle\].
    pub last: u64,
}

impl Persistent for Barriers {
    fn resume(&mut self, built: Self, _: &Resume<'_>) {
        (self.answers, self.of) = (built.answers, built.of);
    }
}

impl Barriers {
    /// What ends here of a phase.
    pub fn phase(&self, phase: usize) -> PhaseCount {
        self.phases[phase]
    }
}

impl Mechanism for Barriers {
    fn of(site: &Site<'_>) -> Option<Self> {
        let plan = site.plan;
        if plan.app_phases.is_empty() {
            return None;
        }
        let shards = &site.placement.host_shard;
        let here = |end: usize| shards[end] as usize == site.number;
        let mut own = Self {
            answers: plan.first_answers() as u16,
            phases: vec![PhaseCount::default(); plan.app_phases.len()],
            ..Self::default()
        };
        let tails = plan.flows.iter();
        for flow in tails.filter(|flow| here(flow.destination.index())) {
            own.of.push(flow.phase.unwrap_or(NONE));
            own.left.push(flow.flits.unwrap_or_default());
            if let Some(phase) = flow.phase {
                own.phases[phase as usize].left += 1;
            }
        }
        Some(own)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.resource(self);
        shard.subscribe(Fact::Delivered);
        shard.system(Slot::Notify, "barriers", system);
    }
}

fn system(
    place: Local<'_, Place>,
    calendar: Res<'_, Calendar>,
    lists: Res<'_, Worklists>,
    mut own: ResMut<'_, Barriers>,
    packets: Packets<'_, '_>,
) {
    if lists.consumed.is_empty() {
        return;
    }
    let own = own.bypass_change_detection();
    let (packets, records) = packets.rows();
    for &row in &lists.consumed {
        let record = &records[row];
        if record.flow == NONE || record.class >= own.answers {
            continue;
        }
        let tail = place.shared.flow_ends[record.flow as usize].tail as usize;
        let phase = own.of[tail];
        if phase == NONE {
            continue;
        }
        own.left[tail] -= u64::from(packets[row].size);
        if own.left[tail] == 0 {
            let count = &mut own.phases[phase as usize];
            count.left -= 1;
            count.last = calendar.now();
        }
    }
}
