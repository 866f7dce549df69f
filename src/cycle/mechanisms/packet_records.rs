//! Records of single packets and of flows, and the check of their order: what only some runs look at.
//!
//! Stage: `Slot::Notify`; only where the plan observes packets or flows, or a test asks for deliveries
//! Reads: delivered packets
//! Writes: its records
//! Cost: O(packets delivered)

use crate::cycle::ledger::{Channels, Ledger};
use crate::cycle::look::Columns;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::records::{Records, delivery};
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::{Calendar, Fact, Worklists};
use crate::cycle::view::Packets;

use crate::fabric::{Packet, PacketRecord};
use crate::measure::{Delivery, Observation};
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::{Res, ResMut, Resource};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What arrives in order: source, class, destination, key, flow.
type Line = (u32, u16, u32, u8, u32);

/// The records of a shard.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct PacketRecords {
    /// Every delivery, when asked for.
    deliveries: Option<Vec<Delivery>>,
    /// Cycle in which the last packet of each line was made, when order is checked: a class
    /// makes at most one per host and cycle.
    order: Option<BTreeMap<Line, u64>>,
    /// The first packet that was overtaken: (source, destination, class, sequence).
    overtaken: Option<(u32, u32, u16, u32)>,
    /// Records of packets and flows, when asked for.
    observation: Option<Observation>,
}

impl Persistent for PacketRecords {
    fn resume(&mut self, built: Self, how: &Resume<'_>) {
        // what is asked for is asked of the run that goes on
        let saved = std::mem::replace(self, built);
        self.overtaken = saved.overtaken;
        self.deliveries = self
            .deliveries
            .take()
            .map(|none| saved.deliveries.unwrap_or(none));
        self.order = self.order.take().map(|none| saved.order.unwrap_or(none));
        if !how.fork {
            let known = saved.observation;
            self.observation = self.observation.take().map(|none| known.unwrap_or(none));
        }
    }
}

/// Packet records as a mechanism.
pub struct Recording(PacketRecords);

impl Mechanism for Recording {
    const LOOKS_ON: bool = true;

    fn of(site: &Site<'_>) -> Option<Self> {
        let (plan, wanted) = (site.plan, site.wanted);
        let levels = || site.shared.service_levels();
        let observe = || Observation::new(&plan.observe, plan.seed, levels());
        let records = PacketRecords {
            deliveries: wanted.deliveries.then(Vec::new),
            order: wanted.order.then(BTreeMap::new),
            overtaken: None,
            observation: plan.observe.is_on().then(observe),
        };
        let is_on = wanted.deliveries || wanted.order || plan.observe.is_on();
        is_on.then_some(Self(records))
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.resource(self.0);
        shard.subscribe(Fact::Delivered);
        shard.ledger(enter);
        shard.system(Slot::Notify, "packet_records", system);
    }
}

fn system(
    calendar: Res<'_, Calendar>,
    lists: Res<'_, Worklists>,
    records: Res<'_, Records>,
    mut own: ResMut<'_, PacketRecords>,
    packets: Packets<'_, '_>,
) {
    if lists.consumed.is_empty() {
        return;
    }
    let own = own.bypass_change_detection();
    let (packets, packet_records) = packets.rows();
    for &row in &lists.consumed {
        let (packet, record) = (&packets[row], &packet_records[row]);
        let delivery = delivery(calendar.now(), packet, record);
        own.delivered(&delivery, records.in_window(record.created), packet, record);
    }
}

/// A packet that was overtaken breaks a law.
fn enter(view: &dyn Columns, _: Channels<'_>, ledger: &mut Ledger) {
    let overtaken = view
        .resource::<PacketRecords>()
        .and_then(|own| own.overtaken);
    if let Some((source, destination, class, sequence)) = overtaken {
        ledger.breaks(format!(
            "packet {sequence} of class {class} from host {source} to host {destination} was overtaken"
        ));
    }
}

impl PacketRecords {
    /// Every delivery so far, when kept.
    pub fn deliveries(&self) -> &[Delivery] {
        self.deliveries.as_deref().unwrap_or_default()
    }

    /// The first packet that was overtaken: (source, destination, class, sequence), when order is checked.
    pub fn overtaken(&self) -> Option<(u32, u32, u16, u32)> {
        self.overtaken
    }

    /// Records of packets and flows, when asked for.
    pub fn observation(&self) -> Option<&Observation> {
        self.observation.as_ref()
    }

    /// Records of packets and flows, when asked for.
    pub fn observation_mut(&mut self) -> Option<&mut Observation> {
        self.observation.as_mut()
    }

    /// A packet is delivered.
    fn delivered(
        &mut self,
        delivery: &Delivery,
        is_tagged: bool,
        packet: &Packet,
        record: &PacketRecord,
    ) {
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.push(*delivery);
        }
        if is_tagged && let Some(observation) = &mut self.observation {
            observation.record(delivery, packet.key);
        }
        self.note_order(packet, record);
    }

    fn note_order(&mut self, packet: &Packet, record: &PacketRecord) {
        let Some(order) = &mut self.order else { return };
        let ends = (record.source, packet.destination);
        let line = (ends.0, record.class, ends.1, packet.key, record.flow);
        let last = order.insert(line, record.created);
        if last.is_some_and(|last| last > record.created) && self.overtaken.is_none() {
            self.overtaken = Some((
                record.source,
                packet.destination,
                record.class,
                record.sequence,
            ));
        }
    }
}
