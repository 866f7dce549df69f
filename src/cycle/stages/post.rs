//! Puts what leaves the shard into its mail: packets and credits that cross the border.
//!
//! Stage: the last of `Slot::Consume`; only in shards with a border
//! Reads: departures, packets
//! Writes: mail, packet pool
//! Cost: O(packets and credits that leave)

use crate::cycle::state::{Mail, Outbox, PacketPool, Place, Worklists};
use crate::cycle::view::column;
use crate::fabric::{Packet, PacketRecord};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, Res, ResMut};

/// The system.
pub fn system(
    place: Res<'_, Place>,
    mut lists: ResMut<'_, Worklists>,
    mut pool: ResMut<'_, PacketPool>,
    mut outbox: ResMut<'_, Outbox>,
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
    let shift = place.shared.lane_shift;
    for departure in lists.departures.drain(..) {
        let border = place.border[departure.border as usize];
        outbox.0[border.shard as usize].push(Mail::Packet {
            lane: (border.port << shift) + departure.lane,
            at: departure.at,
            packet: packets[departure.packet as usize],
            record: records[departure.packet as usize],
        });
        pool.release(departure.packet);
    }
    for credits in lists.returns.drain(..) {
        let border = place.border[credits.border as usize];
        outbox.0[border.shard as usize].push(Mail::Credits {
            lane: (border.port << shift) + credits.lane,
            at: credits.at,
            flits: credits.flits,
            step: credits.step,
        });
    }
}
