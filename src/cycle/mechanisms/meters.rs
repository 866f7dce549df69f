//! Meters of hosts: what arrives of classes that ask for admission (D55 of the model).
//!
//! Stage: `Slot::Notify`; only where the admission control measures
//! Reads: delivered packets
//! Writes: its own state; the act of admission reads it
//! Cost: that of the meter per packet delivered
//!
//! # Rules
//! 1. A meter is told every packet delivered at its host, in the cycle of its delivery.
//!
//! # Deviations
//! None.

use crate::admission::{Arrived, Meter};
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::{Calendar, Fact, Worklists};
use crate::cycle::view::Packets;
use crate::fabric::rows::HostRow;
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::{Res, ResMut, Resource};
use serde::{Deserialize, Serialize};

/// Meters of a shard.
#[derive(Resource, Debug, Serialize, Deserialize)]
pub struct Meters {
    /// Whether a class asks.
    #[serde(skip)]
    asks: Vec<bool>,
    /// Row of a host of the shard, by number in the fabric.
    #[serde(skip)]
    rows: Vec<u32>,
    /// By row of the host.
    all: Vec<Meter>,
}

impl Persistent for Meters {
    fn resume(&mut self, built: Self, _: &Resume<'_>) {
        (self.asks, self.rows) = (built.asks, built.rows);
    }
}

impl Meters {
    /// That of a host.
    pub fn at(&self, host: HostRow) -> &Meter {
        &self.all[host.0 as usize]
    }
}

impl Mechanism for Meters {
    fn of(site: &Site<'_>) -> Option<Self> {
        let plan = site.plan;
        let meter = plan.admission.as_ref()?.control.meter()?;
        let mut rows = vec![u32::MAX; site.graph.hosts().len()];
        let hosts = &site.placement.hosts[site.number];
        for (row, host) in (0..).zip(hosts) {
            rows[host.index()] = row;
        }
        let asks = plan.classes.iter().map(|class| class.requests.is_some());
        Some(Self {
            asks: asks.collect(),
            rows,
            all: vec![meter; hosts.len()],
        })
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.resource(self);
        shard.subscribe(Fact::Delivered);
        shard.system(Slot::Notify, "meters", system);
    }
}

fn system(
    calendar: Res<'_, Calendar>,
    lists: Res<'_, Worklists>,
    mut own: ResMut<'_, Meters>,
    packets: Packets<'_, '_>,
) {
    if lists.consumed.is_empty() {
        return;
    }
    let own = own.bypass_change_detection();
    let (packets, records) = packets.rows();
    for &row in &lists.consumed {
        let (packet, record) = (&packets[row], &records[row]);
        if !own.asks[usize::from(record.class)] {
            continue;
        }
        let host = own.rows[packet.destination as usize];
        own.all[host as usize].arrive(Arrived {
            now: calendar.now(),
            created: record.created,
            source: record.source,
            host: packet.destination,
            class: record.class,
            flits: packet.size,
        });
    }
}
