//! What comes in: flits that may leave their lanes, and headers that are routed when they are the first of their buffer.

use super::{Flits, Swallowing};
use crate::cycle::columns::Present;
use crate::cycle::mechanisms::dropping::Drops;
use crate::cycle::rules::Any;
use crate::cycle::view::{Inputs, Optional, View, column};
use crate::fabric::Group;
use crate::fabric::rows::{PacketRow, QueueRow, Rows};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, ResMut};

/// The end of `Slot::Deliver`: flits that may leave their lanes from this cycle on.
pub(super) fn system<const W: usize>(
    mut inputs: Inputs<'_, '_, W>,
    mut flits: ResMut<'_, Flits>,
    mut present: Query<'_, '_, &mut Group<Present>>,
    (drops, mut swallowing): (Option<ResMut<'_, Drops>>, Option<ResMut<'_, Swallowing>>),
) {
    let now = inputs.events.now();
    if let Some(mut drops) = drops {
        let drops = drops.bypass_change_detection();
        drops.note_heads(&inputs.events.lists().heads);
    }
    if !flits.are_due(now) {
        return;
    }
    let flits = flits.bypass_change_detection();
    let mut present: Rows<'_, QueueRow, Present> = Rows::new(column!(present));
    let view = &mut inputs.view::<Any>(Optional::default());
    if view.shared.switch.head_delay > 0 {
        route_first(view);
    }
    let due = flits.take(now);
    for &lane in &due {
        let queue = view.shared.classifier().behind(lane, 0);
        present[queue].flits += 1;
        let port = view.shared.numbering.port(lane);
        if view.place.is_host(port) {
            view.lists.sink_visits.push(port);
            continue;
        }
        let row = &view.queues[queue];
        if present[queue].flits != 1 {
            continue;
        }
        if present[queue].lost > 0 {
            if let Some(swallowing) = &mut swallowing {
                swallowing.bypass_change_detection().push(queue);
            }
        } else if present[queue].holds {
            // the rest of a packet that holds its output lane
            let (out, number) = (row.out, u32::from(row.out_lane));
            let lane = view.shared.numbering.lane(out, number);
            view.consider(out, lane, 1);
        }
    }
    flits.put_back(now, due);
}

/// Headers that find their queue empty request when their routing delay is over: until then the queue counts as one that
/// a packet leaves.
fn route_first<const W: usize>(view: &mut View<'_, W>) {
    let at = view.now + view.shared.switch.head_delay;
    for number in 0..view.lists.arrived.len() {
        let (lane, _) = view.lists.arrived[number];
        let input = view.shared.numbering.port(lane);
        if view.place.is_host(input) {
            continue;
        }
        let queue = view.shared.classifier().behind(lane, 0);
        let row = &mut view.queues[queue];
        if row.leaving || row.head != PacketRow::NONE {
            continue;
        }
        row.leaving = true;
        view.ins[input].leaving += 1;
        view.calendar.at(at).frees.push(queue.into());
    }
}

/// First cycle in which the packet behind the one whose last flit leaves `queue` now may request.
pub(super) fn next_head<const W: usize>(view: &View<'_, W>, queue: QueueRow) -> u64 {
    // one that is not there yet waits for its routing delay from its arrival on
    let is_there = view.queues[queue].head != PacketRow::NONE;
    let delay = view.shared.switch.head_delay;
    view.now + 1 + if is_there { delay } else { 0 }
}
