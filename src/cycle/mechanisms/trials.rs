//! Counters of trials: what is delivered of probe flows (D59 of the model).
//!
//! Stage: `Slot::Notify`; only where flows are tried
//! Reads: delivered packets
//! Writes: its own state; the act of admission reads and resets it
//! Cost: O(1) per packet delivered
//!
//! # Rules
//! 1. All packets of a class of probes that a host makes are those of one session after the other, each of so many packets: the
//!    number of a packet within (host, class) says which session it belongs to. So packets carry nothing.
//! 2. A counter of a single flow expects the session that the flow has begun last: the act says so at its begin.
//!
//! # Deviations
//! None.

use crate::admission::Sessions;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::{Calendar, Fact, Place, Worklists};
use crate::cycle::view::Packets;
use crate::fabric::components::NONE;
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::{Local, Res, ResMut, Resource};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is counted of the session with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// Number of the session, from 1.
    pub expected: u32,
    /// Packets received.
    pub received: u32,
    /// Least and most network latency \[cycles\]; of no meaning without packets.
    least: u64,
    most: u64,
}

impl Counter {
    fn new(expected: u32) -> Self {
        Self {
            expected,
            received: 0,
            least: u64::MAX,
            most: 0,
        }
    }

    fn receive(&mut self, latency: u64) {
        self.received += 1;
        self.least = self.least.min(latency);
        self.most = self.most.max(latency);
    }

    /// Least and most network latency of the packets received \[cycles\].
    pub fn latencies(&self) -> Option<(u64, u64)> {
        (self.received > 0).then_some((self.least, self.most))
    }
}

/// Counters of a shard.
#[derive(Resource, Debug, Serialize, Deserialize)]
pub struct Counters {
    /// Packets of a session.
    #[serde(skip)]
    packets: u32,
    /// By class: whether it is one of probes.
    #[serde(skip)]
    is_probe: Vec<bool>,
    /// Number of the counter of a flow, by row of the flow at its end; `NONE`: it is no probe flow.
    #[serde(skip)]
    of: Vec<u32>,
    all: Vec<Counter>,
}

impl Persistent for Counters {
    fn resume(&mut self, built: Self, _: &Resume<'_>) {
        self.packets = built.packets;
        (self.is_probe, self.of) = (built.is_probe, built.of);
    }
}

impl Counters {
    /// The counter of the probe flow that ends in a row.
    pub fn at(&self, tail: u32) -> Counter {
        self.all[self.of[tail as usize] as usize]
    }

    /// It counts from nothing the session with this number.
    pub fn expect(&mut self, tail: u32, number: u32) {
        self.all[self.of[tail as usize] as usize] = Counter::new(number);
    }
}

impl Mechanism for Counters {
    fn of(site: &Site<'_>) -> Option<Self> {
        let plan = site.plan;
        let trials = plan.admission.as_ref()?.trials()?;
        let shard_of = |host: usize| site.placement.host_shard[host] as usize;
        let mut number_of: BTreeMap<(u16, u32), u32> = BTreeMap::new();
        let mut of = Vec::new();
        let mut count = 0;
        for (id, flow) in (0_u32..).zip(&plan.flows) {
            if shard_of(flow.destination.index()) != site.number {
                continue;
            }
            if !plan.is_of_probes(flow.class) {
                of.push(NONE);
                continue;
            }
            let name = match trials.sessions {
                Sessions::Own => id,
                Sessions::Shared => flow.destination.0,
            };
            of.push(*number_of.entry((flow.class, name)).or_insert_with(|| {
                count += 1;
                count - 1
            }));
        }
        Some(Self {
            packets: trials.packets,
            is_probe: (0..plan.classes.len() as u16)
                .map(|class| plan.is_of_probes(class))
                .collect(),
            of,
            all: vec![Counter::new(1); count as usize],
        })
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.resource(self);
        shard.subscribe(Fact::Delivered);
        shard.system(Slot::Notify, "trials", system);
    }
}

fn system(
    place: Local<'_, Place>,
    calendar: Res<'_, Calendar>,
    lists: Res<'_, Worklists>,
    mut counters: ResMut<'_, Counters>,
    packets: Packets<'_, '_>,
) {
    if lists.consumed.is_empty() {
        return;
    }
    let counters = counters.bypass_change_detection();
    let (_, records) = packets.rows();
    for &row in &lists.consumed {
        let record = &records[row];
        if !counters.is_probe[usize::from(record.class)] {
            continue;
        }
        let tail = place.shared.flow_ends[record.flow as usize].tail;
        let counter = &mut counters.all[counters.of[tail as usize] as usize];
        if record.sequence / counters.packets + 1 == counter.expected {
            counter.receive(calendar.now() - record.injected);
        }
    }
}
