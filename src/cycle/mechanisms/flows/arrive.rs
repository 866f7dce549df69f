//! What is delivered of flows: their counts, and acknowledgements for their windows (D33, D34).
//!
//! Stage: `Slot::Notify`
//! Reads: delivered packets
//! Writes: counts at the destination; acknowledgements, by mail where the source is in another shard
//! Cost: O(packets delivered)

use super::Flows;
use super::build::FlowEnd;
use crate::cycle::records::Records;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::{Calendar, Outbox, Worklists};
use crate::cycle::view::Packets;
use crate::fabric::components::NONE;
use crate::fabric::{Packet, PacketRecord};
use crate::measure::flow_counts::FlowReceived;
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::{Res, ResMut};
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Flows that end in a shard.
#[derive(Resource, Debug, Serialize, Deserialize)]
pub struct Tails {
    /// Both ends of every flow of the fabric.
    #[serde(skip)]
    pub(super) ends: Arc<[FlowEnd]>,
    /// Classes from this one on are answers.
    #[serde(skip)]
    pub(super) answers: u16,
    /// Number of the shard.
    #[serde(skip)]
    pub(super) shard: u32,
    /// Who takes notices of acknowledgements.
    #[serde(skip)]
    pub(super) receiver: u16,
    /// What arrived, by row.
    pub(super) rows: Vec<FlowReceived>,
}

impl Persistent for Tails {
    fn resume(&mut self, built: Self, _: &Resume<'_>) {
        (self.ends, self.shard) = (built.ends, built.shard);
        (self.receiver, self.answers) = (built.receiver, built.answers);
    }
}

impl Tails {
    /// What arrived of a flow that ends in this shard.
    pub fn row(&self, row: u32) -> &FlowReceived {
        &self.rows[row as usize]
    }
}

/// The system.
pub(super) fn system(
    calendar: Res<'_, Calendar>,
    lists: Res<'_, Worklists>,
    records: Res<'_, Records>,
    mut flows: ResMut<'_, Flows>,
    mut tails: ResMut<'_, Tails>,
    mut outbox: ResMut<'_, Outbox>,
    packets: Packets<'_, '_>,
) {
    if lists.consumed.is_empty() {
        return;
    }
    let (packets, packet_records) = packets.rows();
    let tails = tails.bypass_change_detection();
    let now = calendar.now();
    for &row in &lists.consumed {
        let (packet, record) = (&packets[row], &packet_records[row]);
        if record.flow == NONE || record.class >= tails.answers {
            continue;
        }
        let end = tails.ends[record.flow as usize];
        tails.rows[end.tail as usize].deliver(now, packet, record, &records);
        if end.delay == 0 {
            continue;
        }
        let at = now + u64::from(end.delay);
        if end.shard == tails.shard {
            flows.bypass_change_detection().acknowledge(end.row, 1, at);
        } else {
            let outbox = outbox.bypass_change_detection();
            outbox.of(end.shard).add_notice(tails.receiver, end.row, at);
        }
    }
}

impl FlowReceived {
    fn deliver(&mut self, now: u64, packet: &Packet, record: &PacketRecord, records: &Records) {
        self.delivered.add(packet.size);
        self.marked += u64::from(packet.fecn);
        self.last_delivery = Some(now);
        self.received += records.arrived_in_window(now, packet.destination, packet.size);
        if !records.in_window(record.created) {
            return;
        }
        let latency = now - record.injected;
        self.tagged += 1;
        self.network.add(latency);
        self.packet.add(now - record.created);
        if let Some(last) = self.last_latency.replace(latency) {
            self.jitter.add(latency.abs_diff(last));
        }
    }
}
