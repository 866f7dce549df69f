//! Sinks at a rate of their own that take single flits (D78).
//!
//! Stage: the end of `Slot::Route`, behind the flits that come in, only where `sink_rate` is set or a class bounds its answers
//! Reads: flits in the lanes of hosts, room for answers
//! Writes: these, credits back to the sender, what is delivered
//! Cost: O(lanes) per flit
//!
//! # Rules
//! 1. A packet without room for its answers (D57) is passed by as long as no flit of it has been taken.

use crate::cycle::columns::Present;
use crate::cycle::mechanisms::answer_rooms::AnswerRooms;
use crate::cycle::mechanisms::sink::{Sink, take_head};
use crate::cycle::rules::Any;
use crate::cycle::stages::cross::return_credits;
use crate::cycle::view::{Heads, Optional, View, column};
use crate::fabric::Group;
use crate::fabric::mask::QueueMask;
use crate::fabric::rows::{HostRow, PortRow, QueueRow, Rows};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, ResMut};

/// The system.
pub(super) fn system<const W: usize>(
    mut heads: Heads<'_, '_, W>,
    mut present: Query<'_, '_, &mut Group<Present>>,
    mut sinks: Query<'_, '_, &mut Sink>,
    mut rooms: Option<ResMut<'_, AnswerRooms>>,
) {
    let rooms = rooms
        .as_mut()
        .map(DetectChangesMut::bypass_change_detection);
    let has_freed = rooms.as_ref().is_some_and(|rooms| rooms.has_freed());
    if !has_freed && heads.events.lists().sink_visits.is_empty() {
        return;
    }
    let mut present: Rows<'_, QueueRow, Present> = Rows::new(column!(present));
    let mut sinks = Rows::new(column!(sinks));
    let view = &mut heads.view::<Any>(Optional::default());
    run(view, &mut sinks, &mut present, rooms);
}

/// Sinks that have become free, have got a flit or room for answers take one.
fn run<const W: usize>(
    view: &mut View<'_, W>,
    sinks: &mut Rows<'_, HostRow, Sink>,
    present: &mut Rows<'_, QueueRow, Present>,
    mut rooms: Option<&mut AnswerRooms>,
) {
    let mut visits = std::mem::take(&mut view.lists.sink_visits);
    if let Some(rooms) = &mut rooms {
        let freed = rooms.freed().drain(..);
        visits.extend(freed.map(|host| view.place.port(host)));
    }
    for port in visits.drain(..) {
        let sink = &mut sinks[view.place.host(port)];
        if sink.free_at <= view.now {
            take(view, sink, present, (port, rooms.as_deref_mut()));
        }
    }
    view.lists.sink_visits = visits;
}

/// A free sink takes a flit of the first lane from its pointer on that has one, and room if that is the first of a packet.
fn take<const W: usize>(
    view: &mut View<'_, W>,
    sink: &mut Sink,
    present: &mut Rows<'_, QueueRow, Present>,
    (port, mut rooms): (PortRow, Option<&mut AnswerRooms>),
) {
    let (classifier, numbering) = (view.shared.classifier(), view.shared.numbering);
    let host = view.place.host(port);
    let queue_of = |number| classifier.behind(numbering.lane(port, number), 0);
    // the marks of a host are its lanes
    let occupied = view.ins[port].occupied.into_iter();
    let lanes: QueueMask = occupied
        .filter(|&number| present[queue_of(number)].flits > 0)
        .collect();
    if lanes.is_empty() {
        return;
    }
    let may_drain = |number: &u32| {
        let row = &view.queues[queue_of(*number)];
        let class = view.records[row.head].class;
        let has_begun = row.size < view.packets[row.head].size;
        has_begun || (rooms.as_ref()).is_none_or(|rooms| rooms.has_room(host, class))
    };
    let lanes: QueueMask = lanes.into_iter().filter(may_drain).collect();
    if lanes.is_empty() {
        if let Some(rooms) = &mut rooms {
            rooms.hold(host, view.now);
        }
        return;
    }
    let number = lanes.first_from(sink.pointer);
    let queue = queue_of(number);
    sink.pointer = numbering.after(number);
    sink.free_at = view.now + u64::from(sink.pace);
    view.calendar.at(sink.free_at).starts.push(port);
    present[queue].flits -= 1;
    let row = &mut view.queues[queue];
    if let Some(rooms) = rooms {
        let is_first = row.size == view.packets[row.head].size;
        rooms.go_on(host, view.now);
        if is_first {
            rooms.begin(host, view.records[row.head].class);
        }
    }
    row.size -= 1;
    if row.size == 0 {
        let packet = take_head(view, queue, (port, number));
        view.lists.consumed.push(packet);
    }
    let now = view.now;
    return_credits(view, queue, port, now, 1, 1);
}
