//! What comes in: flits that may leave their lanes, in the queue of the packet that they belong to.

use super::{Flits, Swallowing};
use crate::cycle::columns::{Discarded, LaneQueue, Present};
use crate::cycle::mechanisms::dropping::Drops;
use crate::cycle::rules::Any;
use crate::cycle::stages::cross::return_credits;
use crate::cycle::state::Worklists;
use crate::cycle::view::{Heads, Optional, View, column};
use crate::fabric::Group;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow, Rows};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, Res, ResMut};

/// The end of `Slot::Deliver`, where packets are dropped: heads whose turn in their queue has come.
pub(super) fn note_heads(lists: Res<'_, Worklists>, mut drops: ResMut<'_, Drops>) {
    drops.bypass_change_detection().note_heads(&lists.heads);
}

/// The end of `Slot::Route`: flits that may leave their lanes from this cycle on.
pub(super) fn system<const W: usize>(
    mut heads: Heads<'_, '_, W>,
    mut flits: ResMut<'_, Flits>,
    mut present: Query<'_, '_, &mut Group<Present>>,
    (mut arriving, mut discarded): (
        Query<'_, '_, &mut Group<LaneQueue>>,
        Query<'_, '_, &mut Group<Discarded>>,
    ),
    swallowing: Option<ResMut<'_, Swallowing>>,
) {
    let now = heads.events.now();
    if !flits.are_due(now) {
        return;
    }
    let mut present: Rows<'_, QueueRow, Present> = Rows::new(column!(present));
    let view = &mut heads.view::<Any>(Optional::default());
    let arriving = Rows::new(column!(arriving));
    let flits = flits.bypass_change_detection();
    let mut due = flits.take(now);
    let discarded = Rows::new(column!(discarded));
    if !discarded.seen().is_empty() {
        discard(view, discarded, &mut due);
    }
    count(view, &due, (&mut present, arriving), swallowing);
    flits.put_back(now, due);
}

/// The flits that may leave from this cycle on.
fn count<const W: usize>(
    view: &mut View<'_, W>,
    due: &[LaneRow],
    (present, mut arriving): (
        &mut Rows<'_, QueueRow, Present>,
        Rows<'_, LaneRow, LaneQueue>,
    ),
    mut swallowing: Option<ResMut<'_, Swallowing>>,
) {
    let has_queues = !view.shared.classifier().is_lane();
    if has_queues {
        find_queues(view, &mut arriving);
    }
    for &lane in due {
        let port = view.shared.numbering.port(lane);
        let is_host = view.place.is_host(port);
        let queue = if has_queues && !is_host {
            arriving[lane].queue
        } else {
            view.shared.classifier().behind(lane, 0)
        };
        present[queue].flits += 1;
        if is_host {
            view.lists.sink_visits.push(port);
        } else if present[queue].flits == 1 {
            go_on(view, present[queue], queue, swallowing.as_deref_mut());
        }
    }
}

/// Flits of packets that have been dropped before they joined a queue leave as soon as they may: they are taken out of those that have
/// come.
fn discard<const W: usize>(
    view: &mut View<'_, W>,
    mut discarded: Rows<'_, LaneRow, Discarded>,
    due: &mut Vec<LaneRow>,
) {
    due.retain(|&lane| {
        let row = &mut discarded[lane];
        if row.left == 0 {
            return true;
        }
        row.left -= 1;
        let (input, now) = (view.shared.numbering.port(lane), view.now);
        // any queue of the lane: the packet is in none
        let queue = view.shared.classifier().behind(lane, 0);
        return_credits(view, queue, input, now, 1, 1);
        false
    });
}

/// The next flit of a packet is there.
fn go_on<const W: usize>(
    view: &mut View<'_, W>,
    present: Present,
    queue: QueueRow,
    swallowing: Option<&mut Swallowing>,
) {
    if present.lost > 0 {
        if let Some(swallowing) = swallowing {
            swallowing.push(queue);
        }
    } else if present.holds {
        // the rest of a packet that holds its output lane
        let row = &view.queues[queue];
        let (out, number) = (row.out, u32::from(row.out_lane));
        if view.shared.has_output_lanes() {
            // the output looks whether there is room
            return view.visit_when_free(out);
        }
        let lane = view.shared.numbering.lane(out, number);
        view.consider(out, lane, 1);
    }
}

/// The queues of headers that have come in this cycle: what follows in their lanes goes there.
fn find_queues<const W: usize>(view: &View<'_, W>, arriving: &mut Rows<'_, LaneRow, LaneQueue>) {
    let (classifier, numbering) = (view.shared.classifier(), view.shared.numbering);
    for &(lane, packet) in &view.lists.arrived {
        let input = numbering.port(lane);
        if !view.place.is_host(input) {
            let output = || output_of(view, input, packet);
            arriving[lane].queue = classifier.classify(numbering, lane, output).0;
        }
    }
}

/// Output of a packet that has joined its queue in this cycle.
fn output_of<const W: usize>(view: &View<'_, W>, input: PortRow, packet: PacketRow) -> u32 {
    let first = view.switches[view.ins[input].owner].first_port;
    let out = if view.shared.sorts() {
        view.packets[packet].chosen(first).0
    } else {
        view.next_hop(input, packet).0
    };
    out.minus(first)
}

/// First cycle in which the packet behind the one whose last flit leaves `queue` now may request.
pub(super) fn next_head<const W: usize>(view: &View<'_, W>, queue: QueueRow) -> u64 {
    // one that is not there yet waits for its routing delay from its arrival on
    let is_there = view.queues[queue].head != PacketRow::NONE;
    let delay = view.shared.switch.head_delay;
    view.now + 1 + if is_there { delay } else { 0 }
}
