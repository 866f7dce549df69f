//! Puts what leaves the shard into its mail: packets and credits that cross the border.
//!
//! Stage: the last of `Slot::Consume`; only in shards with a border
//! Reads: departures, packets
//! Writes: mail, packet pool
//! Cost: O(packets and credits that leave)

use crate::cycle::mechanisms::probes::Probes;
use crate::cycle::state::{Mail, Outbox, PacketPool, Place, Worklists};
use crate::cycle::view::column;
use crate::fabric::rows::{PacketRow, Rows};
use crate::fabric::{Packet, PacketRecord};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, Res, ResMut};

/// The system.
pub fn system(
    place: Res<'_, Place>,
    mut lists: ResMut<'_, Worklists>,
    mut pool: ResMut<'_, PacketPool>,
    mut outbox: ResMut<'_, Outbox>,
    mut probes: Option<ResMut<'_, Probes>>,
    mut packets: Query<'_, '_, (&mut Packet, &mut PacketRecord)>,
) {
    let lists = lists.bypass_change_detection();
    if lists.departures.is_empty() && lists.returns.is_empty() {
        return;
    }
    let (pool, outbox) = (
        pool.bypass_change_detection(),
        outbox.bypass_change_detection(),
    );
    let (packets, records) = column!(packets, pair);
    let packets: Rows<'_, PacketRow, _> = Rows::new(packets);
    let records: Rows<'_, PacketRow, _> = Rows::new(records);
    let numbering = place.shared.numbering;
    for departure in lists.departures.drain(..) {
        let border = place.border(departure.border);
        outbox.0[border.shard as usize].push(Mail::Packet {
            lane: numbering.lane(border.port, departure.lane),
            at: departure.at,
            packet: packets[departure.packet],
            record: records[departure.packet],
        });
        if let Some(probes) = &mut probes {
            let record = &records[departure.packet];
            let content = probes.take(record.class, record.answer);
            outbox.0[border.shard as usize].extend(content.map(Mail::Content));
        }
        pool.release(departure.packet);
    }
    for credits in lists.returns.drain(..) {
        let border = place.border(credits.border);
        outbox.0[border.shard as usize].push(Mail::Credits {
            lane: numbering.lane(border.port, credits.lane),
            at: credits.at,
            flits: credits.flits,
            step: credits.step,
        });
    }
}
