//! Puts what leaves the shard into its mail: packets and credits that cross the border.
//!
//! Stage: the last of `Slot::Consume`; only in shards with a border
//! Reads: departures, packets
//! Writes: mail, packet pool
//! Cost: O(packets and credits that leave)

use crate::cycle::joints::{Contents as _, Joints};
use crate::cycle::state::{CreditMail, Outbox, PacketMail, PacketPool, Place, Worklists};
use crate::cycle::view::column;
use crate::fabric::rows::{PacketRow, Seen};
use crate::fabric::{Group, Packet, PacketRecord};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, Res, ResMut};

/// The system.
pub fn system<J: Joints>(
    place: Res<'_, Place>,
    mut lists: ResMut<'_, Worklists>,
    mut pool: ResMut<'_, PacketPool>,
    mut outbox: ResMut<'_, Outbox>,
    mut contents: Option<ResMut<'_, J::Contents>>,
    mut packets: Query<'_, '_, (&mut Group<Packet>, &mut Group<PacketRecord>)>,
) {
    let lists = lists.bypass_change_detection();
    if lists.outgoing.is_empty() {
        return;
    }
    let (packets, records) = column!(packets, pair);
    run(&mut Leaving::<J> {
        place: &place,
        lists,
        pool: pool.bypass_change_detection(),
        outbox: outbox.bypass_change_detection(),
        contents: contents.as_deref_mut(),
        packets: Seen::new(packets),
        records: Seen::new(records),
    });
}

/// What the stage works on.
pub(in crate::cycle) struct Leaving<'a, J: Joints> {
    pub(in crate::cycle) place: &'a Place,
    pub(in crate::cycle) lists: &'a mut Worklists,
    pub(in crate::cycle) pool: &'a mut PacketPool,
    pub(in crate::cycle) outbox: &'a mut Outbox,
    pub(in crate::cycle) contents: Option<&'a mut J::Contents>,
    pub(in crate::cycle) packets: Seen<'a, PacketRow, Packet>,
    pub(in crate::cycle) records: Seen<'a, PacketRow, PacketRecord>,
}

/// Runs the stage.
pub(in crate::cycle) fn run<J: Joints>(leaving: &mut Leaving<'_, J>) {
    let (place, outbox) = (leaving.place, &mut *leaving.outbox);
    let numbering = place.shared.numbering;
    for departure in leaving.lists.outgoing.packets.drain(..) {
        let border = place.border(departure.border);
        let record = &leaving.records[departure.packet];
        let mail = outbox.of(border.shard);
        mail.add_packet(PacketMail {
            at: departure.at,
            lane: numbering.lane(border.port, departure.lane),
            packet: leaving.packets[departure.packet],
            record: *record,
        });
        if let Some(contents) = &mut leaving.contents
            && let Some(content) = contents.take(record.class, record.answer)
        {
            mail.add_content(content);
        }
        leaving.pool.release(departure.packet);
    }
    for credits in leaving.lists.outgoing.credits.drain(..) {
        let border = place.border(credits.border);
        outbox.of(border.shard).add_credits(CreditMail {
            at: credits.at,
            lane: numbering.lane(border.port, credits.lane),
            flits: credits.flits,
            step: credits.step,
        });
    }
}
