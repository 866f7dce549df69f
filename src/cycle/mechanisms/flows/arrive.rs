//! What is delivered of flows: their counts, and acknowledgements for their windows (D33, D34).
//!
//! Stage: `Slot::Notify`
//! Reads: delivered packets
//! Writes: counts at the destination; acknowledgements, by mail where the source is in another shard
//! Cost: O(packets delivered)

use super::Flows;
use super::make::{self, Making};
use crate::cycle::joints::Joints;
use crate::cycle::mechanism::{Fetched, Rider};
use crate::cycle::records::Records;
use crate::cycle::rules::RuleSet;
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::stages::inject::Start;
use crate::cycle::state::{Calendar, FlowEnd, Outbox, Worklists};
use crate::cycle::view::Packets;
use crate::fabric::components::NONE;
use crate::fabric::rows::{PacketRow, Seen};
use crate::fabric::{Packet, PacketRecord};
use crate::measure::flow_counts::FlowReceived;
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::{Res, ResMut};
use bevy_ecs::resource::Resource;
use bevy_ecs::system::SystemParam;
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
    let arriving = Arriving {
        now: calendar.now(),
        consumed: &lists.consumed,
        records: &records,
        flows: flows.bypass_change_detection(),
        outbox: outbox.bypass_change_detection(),
    };
    run(tails.bypass_change_detection(), arriving, packets.rows());
}

/// What arrivals are told to.
struct Arriving<'a> {
    now: u64,
    consumed: &'a [PacketRow],
    records: &'a Records,
    flows: &'a mut Flows,
    outbox: &'a mut Outbox,
}

/// Runs the stage.
fn run(
    tails: &mut Tails,
    arriving: Arriving<'_>,
    (packets, packet_records): (
        Seen<'_, PacketRow, Packet>,
        Seen<'_, PacketRow, PacketRecord>,
    ),
) {
    let now = arriving.now;
    for &row in arriving.consumed {
        let (packet, record) = (&packets[row], &packet_records[row]);
        if record.flow == NONE || record.class >= tails.answers {
            continue;
        }
        let end = tails.ends[record.flow as usize];
        tails.rows[end.tail as usize].deliver(now, packet, record, arriving.records);
        if end.delay == 0 {
            continue;
        }
        let at = now + u64::from(end.delay);
        if end.shard == tails.shard {
            arriving.flows.acknowledge(end.row, 1, at);
        } else {
            let mail = arriving.outbox.of(end.shard);
            mail.add_notice(tails.receiver, end.row, at);
        }
    }
}

/// System parameter: flows in the pass.
#[derive(SystemParam)]
pub(in crate::cycle) struct FlowsAboard<'w> {
    tails: Option<ResMut<'w, Tails>>,
}

impl<J: Joints<Supply = Flows>> Rider<J> for FlowsAboard<'_> {
    #[inline]
    fn next(&self, start: &Start<'_, J>) -> u64 {
        start.supply.as_ref().map_or(u64::MAX, |flows| flows.next())
    }

    #[inline(always)]
    fn run<const W: usize, P: RuleSet>(
        &mut self,
        slot: Slot,
        on: &mut Fetched<'_, '_, '_, W, P, J>,
    ) {
        let (view, start) = (&mut *on.view, &mut *on.start);
        let Some(flows) = start.supply.as_deref_mut() else {
            return;
        };
        if slot == Slot::Admit && flows.next() <= view.now {
            let making = Making {
                now: view.now,
                hosts: start.hosts,
                records: &mut *start.records,
                lists: &mut *view.lists,
            };
            make::run(flows, making, view.outs.reborrow());
        }
        if slot == Slot::Notify
            && !view.lists.consumed.is_empty()
            && let Some(tails) = &mut self.tails
        {
            let arriving = Arriving {
                now: view.now,
                consumed: &view.lists.consumed,
                records: start.records,
                flows,
                outbox: on.outbox,
            };
            let packets = (view.packets.seen(), view.records.seen());
            run(tails.bypass_change_detection(), arriving, packets);
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
