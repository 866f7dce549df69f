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

use crate::cycle::mechanisms::replay::{MessageKey, Replay};
use crate::cycle::records::Records;
use crate::cycle::state::{Calendar, PacketPool, Worklists};
use crate::cycle::view::column;
use crate::fabric::rows::{PacketRow, Rows};
use crate::fabric::{Packet, PacketRecord};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, Res, ResMut};

/// The system.
pub fn system(
    calendar: Res<'_, Calendar>,
    mut lists: ResMut<'_, Worklists>,
    mut pool: ResMut<'_, PacketPool>,
    mut records: ResMut<'_, Records>,
    mut replay: Option<ResMut<'_, Replay>>,
    mut packets: Query<'_, '_, (&mut Packet, &mut PacketRecord)>,
) {
    let lists = lists.bypass_change_detection();
    if lists.consumed.is_empty() {
        return;
    }
    let (pool, records) = (
        pool.bypass_change_detection(),
        records.bypass_change_detection(),
    );
    let (packets, packet_records) = column!(packets, pair);
    let packets: Rows<'_, PacketRow, _> = Rows::new(packets);
    let packet_records: Rows<'_, PacketRow, _> = Rows::new(packet_records);
    for &row in &lists.consumed {
        let (packet, record) = (&packets[row], &packet_records[row]);
        records.delivered(calendar.now(), packet, record);
        if let Some(replay) = &mut replay
            && replay.sends(record.class)
        {
            let (name, host) = (MessageKey::of(record), packet.destination);
            let complete = replay.delivered(name, record.created, host, calendar.now());
            if let Some(created) = complete {
                records.message(calendar.now(), record.class, created);
            }
        }
    }
    if !lists.facts.delivered {
        release(lists, pool);
    }
}

/// Gives the rows of the packets back that their hosts took.
pub(in crate::cycle) fn release(lists: &mut Worklists, pool: &mut PacketPool) {
    for row in lists.consumed.drain(..) {
        pool.release(row);
    }
}
