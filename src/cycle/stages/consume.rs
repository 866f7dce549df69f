//! Takes delivered packets out of the fabric and records them.
//!
//! Stage: `Slot::Consume` (ejection)
//! Reads: packets whose tail is at its host in this cycle
//! Writes: records, packet pool, messages
//! Cost: O(packets delivered)
//!
//! # Rules
//! 1. Delivery cycle = arrival of the tail (or its consumption by a slow sink); network latency = delivery -
//!    start on the first channel, packet latency = delivery - creation (model rule 11).
//! 2. A message is complete with its last packet; what waits for it goes on from the next cycle on (D21).
//!
//! # Deviations
//! The credits of a host at link rate were arranged when its last switch sent the packet.

use crate::cycle::joints::{Joints, Messages as _};
use crate::cycle::records::Records;
use crate::cycle::state::messages::MessageKey;
use crate::cycle::state::{Calendar, PacketPool, Worklists};
use crate::cycle::view::column;
use crate::fabric::rows::{PacketRow, Seen};
use crate::fabric::{Group, Packet, PacketRecord};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, Res, ResMut};

/// The system.
pub fn system<J: Joints>(
    calendar: Res<'_, Calendar>,
    mut lists: ResMut<'_, Worklists>,
    mut pool: ResMut<'_, PacketPool>,
    mut records: ResMut<'_, Records>,
    mut messages: Option<ResMut<'_, J::Messages>>,
    mut packets: Query<'_, '_, (&mut Group<Packet>, &mut Group<PacketRecord>)>,
) {
    let lists = lists.bypass_change_detection();
    if lists.consumed.is_empty() {
        return;
    }
    let (packets, packet_records) = column!(packets, pair);
    run(&mut Taking::<J> {
        now: calendar.now(),
        lists,
        pool: pool.bypass_change_detection(),
        records: records.bypass_change_detection(),
        messages: messages.as_deref_mut(),
        packets: Seen::new(packets),
        packet_records: Seen::new(packet_records),
    });
}

/// What the stage works on.
pub(in crate::cycle) struct Taking<'a, J: Joints> {
    pub(in crate::cycle) now: u64,
    pub(in crate::cycle) lists: &'a mut Worklists,
    pub(in crate::cycle) pool: &'a mut PacketPool,
    pub(in crate::cycle) records: &'a mut Records,
    pub(in crate::cycle) messages: Option<&'a mut J::Messages>,
    pub(in crate::cycle) packets: Seen<'a, PacketRow, Packet>,
    pub(in crate::cycle) packet_records: Seen<'a, PacketRow, PacketRecord>,
}

/// Runs the stage.
pub(in crate::cycle) fn run<J: Joints>(taking: &mut Taking<'_, J>) {
    let now = taking.now;
    for &row in &taking.lists.consumed {
        let (packet, record) = (&taking.packets[row], &taking.packet_records[row]);
        taking.records.delivered(now, packet, record);
        if let Some(messages) = &mut taking.messages
            && messages.sends(record.class)
        {
            let (name, host) = (MessageKey::of(record), packet.destination);
            let complete = messages.delivered(name, record.created, host, now);
            if let Some(created) = complete {
                taking.records.message(now, record.class, created);
            }
        }
    }
    if !taking.lists.facts.delivered {
        release(taking.lists, taking.pool);
    }
}

/// Gives the rows of the packets back that their hosts took.
pub(in crate::cycle) fn release(lists: &mut Worklists, pool: &mut PacketPool) {
    for row in lists.consumed.drain(..) {
        pool.release(row);
    }
}
