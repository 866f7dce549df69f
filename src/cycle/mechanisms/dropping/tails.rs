//! Dropping by a threshold: packets that begin to wait join a queue, or are dropped before.

use super::{Drops, Waiting};
use crate::cycle::columns::Discarded;
use crate::cycle::records::Records;
use crate::cycle::rules::Any;
use crate::cycle::stages::cross::return_credits;
use crate::cycle::state::{PacketPool, Worklists};
use crate::cycle::view::{Heads, Optional, Room, View, column};
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, Row, Rows};
use crate::fabric::{Group, Packet};
use crate::plan::DropRule;
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, Res, ResMut};

/// The end of `Slot::Deliver`: takes out of what has arrived what is dropped, all on what waited in the cycle before.
pub(super) fn system<const W: usize>(
    mut heads: Heads<'_, '_, W>,
    mut room: Room<'_, '_>,
    mut own: ResMut<'_, Drops>,
    (mut waiting, mut discarded): (
        Query<'_, '_, &mut Group<Waiting>>,
        Query<'_, '_, &mut Group<Discarded>>,
    ),
    mut pool: ResMut<'_, PacketPool>,
    mut records: ResMut<'_, Records>,
) {
    let own = own.bypass_change_detection();
    let Some(DropRule::Threshold(most)) = own.given.rule else {
        return;
    };
    if heads.events.lists().arrived.is_empty() {
        return;
    }
    let (pool, records) = (
        pool.bypass_change_detection(),
        records.bypass_change_detection(),
    );
    let waiting: Rows<'_, LaneRow, Waiting> = Rows::new(column!(waiting));
    let mut discarded: Rows<'_, LaneRow, Discarded> = Rows::new(column!(discarded));
    let mut view = heads.view::<Any>(room.columns(heads.events.rules::<Any>()));
    let mut arrived = std::mem::take(&mut view.lists.arrived);
    arrived.retain(|&(lane, packet)| {
        let input = view.shared.numbering.port(lane);
        let is_named = own.given.by_key[usize::from(view.packets[packet].key)];
        if view.place.is_host(input) || !is_named {
            return true;
        }
        let output = output_of(&view, input, packet);
        if waiting[output].flits < most {
            return true;
        }
        let flits = view.packets[packet].size;
        let step = own.given.pace[input.index()];
        let numbering = view.shared.numbering;
        // any queue of its lane: it joins none
        let (queue, _) = (view.shared.classifier()).classify(numbering, lane, || 0);
        let now = view.now;
        if let Some(discarded) = discarded.get_mut(lane) {
            // its flits come one by one, the first one in this cycle
            discarded.left = flits;
        } else {
            return_credits(&mut view, queue, input, now, flits, step);
        }
        let packets = (&view.packets[packet], &view.records[packet]);
        own.count(view.now, packets, output, records);
        pool.release(packet);
        false
    });
    view.lists.arrived = arrived;
}

/// Output lane of a packet that has come to an input of a switch and has not been told so yet.
fn output_of<const W: usize>(view: &View<'_, W>, input: PortRow, packet: PacketRow) -> LaneRow {
    let (out, number) = view.next_hop_ahead(input, packet);
    view.shared.numbering.lane(out, number.into())
}

/// The end of `Slot::Route`: what has arrived and was not dropped waits.
pub(super) fn joined<const W: usize>(
    mut heads: Heads<'_, '_, W>,
    mut waiting: Query<'_, '_, &mut Group<Waiting>>,
) {
    if heads.events.lists().arrived.is_empty() {
        return;
    }
    let mut waiting: Rows<'_, LaneRow, Waiting> = Rows::new(column!(waiting));
    let view = heads.view::<Any>(Optional::default());
    view.each_arrival(|lane, flits| waiting[lane].flits += flits);
}

/// The end of `Slot::Cross`: granted packets no longer wait.
pub(super) fn granted(
    lists: Res<'_, Worklists>,
    mut waiting: Query<'_, '_, &mut Group<Waiting>>,
    mut packets: Query<'_, '_, &mut Group<Packet>>,
) {
    if lists.grants.is_empty() {
        return;
    }
    let mut waiting: Rows<'_, LaneRow, Waiting> = Rows::new(column!(waiting));
    let packets: Rows<'_, PacketRow, Packet> = Rows::new(column!(packets));
    for grant in lists.grants.iter().filter(|grant| grant.accepted) {
        waiting[grant.lane].flits -= u32::from(packets[grant.packet].size);
    }
}
