//! Sinks: hosts that consume at a rate of their own, or hold packets back (rule 11 of the model, D12, D57).
//!
//! Stages: `Slot::Deliver` and `Slot::Route` note sinks to look at, a system of its own at the end of `Slot::Route` lets them
//! take packets; active only when `sink_rate` is set or a class bounds its answers.
//!
//! # Rules
//! 1. Packets drain one at a time, round robin over lanes, each from the cycle in which no flit of it can run
//!    dry; flit `k` leaves its slot at `start + k * pace`.
//! 2. The packet is delivered with its last flit; the next may start one pace later.
//! 3. Heads without room for their answers are passed by ([`answer_rooms`](super::answer_rooms)).
//!
//! Cost: O(1) per packet.

use super::answer_rooms::AnswerRooms;
use crate::cycle::joints::Sinking;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::rules::{Any, RuleSet};
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::Persistent;
use crate::cycle::stages::cross::return_credits;
use crate::cycle::state::SwitchRules;
use crate::cycle::view::{Heads, Room, View, column};
use crate::fabric::Host;
use crate::fabric::rows::{HostRow, LaneRow, PacketRow, PortRow, QueueRow, Rows};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::component::Component;
use bevy_ecs::prelude::{Query, ResMut};
use serde::{Deserialize, Serialize};

/// A sink.
#[derive(Component, Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sink {
    /// First cycle in which it can take a packet, or a flit where these go one by one.
    pub(super) free_at: u64,
    /// Cycles per flit.
    pub(super) pace: u16,
    /// Lane asked first.
    pub(super) pointer: u8,
}

impl Persistent for Sink {}

/// Sinks as a mechanism: one for every host.
pub struct Sinks;

impl Mechanism for Sinks {
    fn of(site: &Site<'_>) -> Option<Self> {
        (site.shared.switch.sink_step != 0).then_some(Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let site = shard.site();
        let step = site.shared.switch.sink_step;
        let pace = |&host| {
            let link = site.graph.channel(site.graph.host_channel(host).reverse());
            match step {
                SwitchRules::AS_LINK => link.timing.cycles_per_flit as u16,
                step => step,
            }
        };
        let hosts = site.placement.hosts[site.number].iter();
        let paces: Vec<u16> = hosts.map(pace).collect();
        shard.column_by::<Host, Sink>(move |row| Sink {
            pace: paces[row],
            ..Sink::default()
        });
        // those that take single flits have a system of their own
        if !site.shared.switch.single_flits {
            shard.last_system(Slot::Route, "sinks", system::<W>);
        }
    }
}

impl<const W: usize, P: RuleSet> Sinking for View<'_, W, P> {
    fn arrive_at_sink(&mut self, lane: LaneRow, packet: PacketRow) {
        let queue = &mut self.queues[self.shared.classifier().behind(lane, 0)];
        if queue.head == PacketRow::NONE {
            queue.head = packet;
            // what is left of the first packet, where flits go one by one
            queue.size = self.packets[packet].size;
        } else {
            self.packets[queue.tail].next = packet;
        }
        queue.tail = packet;
        let port_row = self.shared.numbering.port(lane);
        let number = self.shared.numbering.number(lane);
        self.ins[port_row].occupied.insert(number);
        self.lists.sink_visits.push(port_row);
    }
}

/// Starts packets at the sinks that became free, got a packet in this cycle or room for answers in the last one.
fn system<const W: usize>(
    mut heads: Heads<'_, '_, W>,
    mut room: Room<'_, '_>,
    mut sinks: Query<'_, '_, &mut Sink>,
    mut rooms: Option<ResMut<'_, AnswerRooms>>,
) {
    let mut rooms = rooms
        .as_mut()
        .map(DetectChangesMut::bypass_change_detection);
    let has_freed = rooms.as_ref().is_some_and(|rooms| rooms.has_freed());
    if heads.events.lists().sink_visits.is_empty() && !has_freed {
        return;
    }
    let view = &mut heads.view::<Any>(room.columns(heads.events.rules::<Any>()));
    let mut sinks = Rows::new(column!(sinks));
    let mut visits = std::mem::take(&mut view.lists.sink_visits);
    if let Some(rooms) = &mut rooms {
        let freed = rooms.freed().drain(..);
        visits.extend(freed.map(|host| view.place.port(host)));
    }
    for port_row in visits.drain(..) {
        drain(view, &mut sinks, rooms.as_deref_mut(), port_row);
    }
    view.lists.sink_visits = visits;
}

/// Starts the next packet when the sink is free.
fn drain<const W: usize>(
    view: &mut View<'_, W>,
    sinks: &mut Rows<'_, HostRow, Sink>,
    mut rooms: Option<&mut AnswerRooms>,
    port_row: PortRow,
) {
    let now = view.now;
    let (shared, host) = (view.shared, view.place.host(port_row));
    let sink = &mut sinks[host];
    if sink.free_at > now || view.ins[port_row].occupied.is_empty() {
        return;
    }
    let Some(number) = choose(view, rooms.as_deref(), sink.pointer, port_row) else {
        if let Some(rooms) = &mut rooms {
            rooms.hold(host, now);
        }
        return;
    };
    let lane = shared.numbering.lane(port_row, number);
    let queue_row = shared.classifier().behind(lane, 0);
    let packet_row = take_head(view, queue_row, (port_row, number));
    if let Some(rooms) = rooms {
        rooms.go_on(host, now);
        rooms.begin(host, view.records[packet_row].class);
    }
    let flits = view.packets[packet_row].size;
    let pace = sink.pace;
    sink.pointer = shared.numbering.after(number);
    sink.free_at = now + u64::from(flits) * u64::from(pace);
    view.calendar.at(sink.free_at).starts.push(port_row);
    let tail = u64::from(flits - 1) * u64::from(pace);
    if tail == 0 {
        view.lists.consumed.push(packet_row);
    } else {
        view.calendar.at(now + tail).deliveries.push(packet_row);
    }
    return_credits(view, queue_row, port_row, now, flits, pace);
}

/// The first packet of a host's lane leaves it.
pub(super) fn take_head<const W: usize>(
    view: &mut View<'_, W>,
    queue_row: QueueRow,
    (port_row, number): (PortRow, u32),
) -> PacketRow {
    let queue = &mut view.queues[queue_row];
    let packet = queue.head;
    if packet == queue.tail {
        queue.head = PacketRow::NONE;
        view.ins[port_row].occupied.remove(number);
    } else {
        queue.head = view.packets[packet].next;
        queue.size = view.packets[queue.head].size;
    }
    packet
}

/// The lane whose head is taken: the first from the pointer on whose head has room.
fn choose<const W: usize>(
    view: &View<'_, W>,
    rooms: Option<&AnswerRooms>,
    pointer: u8,
    port_row: PortRow,
) -> Option<u32> {
    let (shared, host) = (view.shared, view.place.host(port_row));
    // the marks of a host are its lanes
    let mut lanes = view.ins[port_row].occupied;
    while !lanes.is_empty() {
        let number = lanes.first_from(pointer);
        let lane = shared.numbering.lane(port_row, number);
        let head = view.queues[shared.classifier().behind(lane, 0)].head;
        if rooms.is_none_or(|rooms| rooms.has_room(host, view.records[head].class)) {
            return Some(number);
        }
        lanes.remove(number);
    }
    None
}
