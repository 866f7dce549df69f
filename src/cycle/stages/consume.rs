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
use bevy_ecs::system::SystemParam;

/// System parameter: what every fabric has.
#[derive(SystemParam)]
pub struct Consuming<'w, 's> {
    calendar: Res<'w, Calendar>,
    lists: ResMut<'w, Worklists>,
    pool: ResMut<'w, PacketPool>,
    records: ResMut<'w, Records>,
    packets: Query<'w, 's, (&'static mut Packet, &'static mut PacketRecord)>,
}

/// The system of a fabric without messages.
pub fn system(mut consuming: Consuming<'_, '_>) {
    consuming.run(|_, _, _, _| {});
}

/// The system of a fabric with messages.
pub fn with_messages(mut consuming: Consuming<'_, '_>, mut replay: ResMut<'_, Replay>) {
    consuming.run(|now, packet, record, records| {
        if !replay.sends(record.class) {
            return;
        }
        let (name, host) = (MessageKey::of(record), packet.destination);
        if let Some(created) = replay.delivered(name, record.created, host, now) {
            records.message(now, record.class, created);
        }
    });
}

impl Consuming<'_, '_> {
    #[inline(always)]
    fn run(&mut self, mut delivered: impl FnMut(u64, &Packet, &PacketRecord, &mut Records)) {
        let lists = self.lists.bypass_change_detection();
        if lists.consumed.is_empty() {
            return;
        }
        let records = self.records.bypass_change_detection();
        let (packets, packet_records) = column!(self.packets, pair);
        let packets: Rows<'_, PacketRow, _> = Rows::new(packets);
        let packet_records: Rows<'_, PacketRow, _> = Rows::new(packet_records);
        let now = self.calendar.now();
        for &row in &lists.consumed {
            let (packet, record) = (&packets[row], &packet_records[row]);
            records.delivered(now, packet, record);
            delivered(now, packet, record, records);
        }
        if !lists.facts.delivered {
            release(lists, self.pool.bypass_change_detection());
        }
    }
}

/// Gives the rows of the packets back that their hosts took.
pub(in crate::cycle) fn release(lists: &mut Worklists, pool: &mut PacketPool) {
    for row in lists.consumed.drain(..) {
        pool.release(row);
    }
}
