//! Sinks at a rate of their own that take single flits (D78).
//!
//! Stage: the end of `Slot::Route`, only where `sink_rate` is set
//! Reads: flits in the lanes of hosts
//! Writes: these, credits back to the sender, what is delivered
//! Cost: O(lanes) per flit

use crate::cycle::columns::Present;
use crate::cycle::mechanisms::sink::Sink;
use crate::cycle::rules::Any;
use crate::cycle::stages::cross::return_credits;
use crate::cycle::view::{Heads, Optional, View, column};
use crate::fabric::Group;
use crate::fabric::mask::QueueMask;
use crate::fabric::rows::{HostRow, PacketRow, PortRow, QueueRow, Rows};
use bevy_ecs::change_detection::ContiguousMut;
use bevy_ecs::prelude::Query;

/// The system: sinks that have become free or have got a flit take one.
pub(super) fn system<const W: usize>(
    mut heads: Heads<'_, '_, W>,
    mut sinks: Query<'_, '_, &mut Sink>,
    mut present: Query<'_, '_, &mut Group<Present>>,
) {
    if heads.events.lists().sink_visits.is_empty() {
        return;
    }
    let view = &mut heads.view::<Any>(Optional::default());
    let mut sinks: Rows<'_, HostRow, Sink> = Rows::new(column!(sinks));
    let mut present: Rows<'_, QueueRow, Present> = Rows::new(column!(present));
    let mut visits = std::mem::take(&mut view.lists.sink_visits);
    for port in visits.drain(..) {
        let sink = &mut sinks[view.place.host(port)];
        if sink.free_at <= view.now {
            take(view, sink, &mut present, port);
        }
    }
    view.lists.sink_visits = visits;
}

/// A free sink takes a flit of the first lane from its pointer on that has one.
fn take<const W: usize>(
    view: &mut View<'_, W>,
    sink: &mut Sink,
    present: &mut Rows<'_, QueueRow, Present>,
    port: PortRow,
) {
    let (classifier, numbering) = (view.shared.classifier(), view.shared.numbering);
    let queue_of = |number| classifier.behind(numbering.lane(port, number), 0);
    // the marks of a host are its lanes
    let occupied = view.ins[port].occupied.into_iter();
    let lanes: QueueMask = occupied
        .filter(|&number| present[queue_of(number)].flits > 0)
        .collect();
    if lanes.is_empty() {
        return;
    }
    let number = lanes.first_from(sink.pointer);
    let queue = queue_of(number);
    sink.pointer = numbering.after(number);
    sink.free_at = view.now + u64::from(sink.pace);
    view.calendar.at(sink.free_at).starts.push(port);
    present[queue].flits -= 1;
    let row = &mut view.queues[queue];
    row.size -= 1;
    if row.size == 0 {
        let packet = row.head;
        if packet == row.tail {
            row.head = PacketRow::NONE;
            view.ins[port].occupied.remove(number);
        } else {
            row.head = view.packets[packet].next;
            row.size = view.packets[row.head].size;
        }
        view.lists.consumed.push(packet);
    }
    let now = view.now;
    return_credits(view, queue, port, now, 1, 1);
}
