//! Tells senders and receivers of packets that start and are delivered.

use super::answers::Answers;
use super::make::{self, Making};
use super::senders::Senders;
use crate::control::{Arrival, Event, Payload, Reply};
use crate::cycle::joints::{Contents as _, Joints};
use crate::cycle::mechanism::{Fetched, Rider};
use crate::cycle::mechanisms::answer_rooms::AnswerRooms;
use crate::cycle::mechanisms::flows::Flows;
use crate::cycle::mechanisms::probes::Probes;
use crate::cycle::rules::RuleSet;
use crate::cycle::slot::Slot;
use crate::cycle::stages::inject::Start;
use crate::cycle::state::{Calendar, Place, Worklists};
use crate::cycle::view::Packets;
use crate::fabric::components::NONE;
use crate::fabric::rows::{PacketRow, Seen};
use crate::fabric::{Packet, PacketRecord};
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::{Local, Res, ResMut};
use bevy_ecs::system::SystemParam;

impl Senders {
    /// A packet of an answer to the flow in a row is delivered.
    fn answer(&mut self, flows: &mut Flows, row: u32, now: u64, record: &PacketRecord, first: u16) {
        let packets = self.packets[usize::from(record.class - first)];
        if self.parts.deliver(row, record.sequence, packets) {
            self.note_answer(flows, row);
            self.call(flows, row, now, Event::Answered(record.answer));
        }
    }

    /// Calls the receiver of the flow that ends in a row; whether it answers.
    fn receive(
        &mut self,
        (answers, probes): (&mut Answers, Option<&mut Probes>),
        tail: u32,
        now: u64,
        (packet, record): (&Packet, &PacketRecord),
    ) -> bool {
        let algorithm = self.algorithms[usize::from(record.class)].as_ref();
        let receiver = self.receivers[tail as usize].as_mut();
        let (Some(algorithm), Some(receiver)) = (algorithm, receiver) else {
            return false;
        };
        let arrival = arrival(now, packet, record);
        let Some(answer) = algorithm.receive(receiver, arrival) else {
            return false;
        };
        match probes.zip(answers.way(tail)) {
            Some((probes, way)) if probes.is_apart(way.class) => {
                probes.answer(now, (&way, tail), answer);
            }
            _ => answers.promise(now, tail, answer),
        }
        true
    }

    /// Tells the receiver of the flow that ends in a row of a packet and what it carries; what it replies.
    fn carried(
        &mut self,
        class: u16,
        tail: u32,
        arrival: Arrival,
        payload: Payload,
    ) -> Option<Reply> {
        let algorithm = self.algorithms[usize::from(class)].as_ref()?;
        let receiver = self.receivers[tail as usize].as_mut()?;
        algorithm.carried(receiver, arrival, payload)
    }
}

/// What a receiver is told of a packet delivered in cycle `now`.
fn arrival(now: u64, packet: &Packet, record: &PacketRecord) -> Arrival {
    Arrival {
        now,
        flits: packet.size,
        is_marked: packet.fecn,
        latency: now - record.injected,
    }
}

/// Room for answers comes back where the flow ends in this row, by a packet of a class.
fn give_room(answers: &Answers, rooms: &mut AnswerRooms, tail: u32, class: u16) {
    if let Some(way) = answers.way(tail) {
        rooms.give(way.host, class);
    }
}

/// Who is told in a cycle.
struct Told<'a> {
    now: u64,
    place: &'a Place,
    flows: &'a mut Flows,
    senders: &'a mut Senders,
    answers: &'a mut Answers,
    probes: Option<&'a mut Probes>,
    rooms: Option<&'a mut AnswerRooms>,
}

impl Told<'_> {
    /// A packet starts.
    fn started(&mut self, packet: &Packet, record: &PacketRecord) {
        if record.flow == NONE || !self.senders.hears_starts(record.class) {
            return;
        }
        let (now, class) = (self.now, record.class);
        let end = self.place.shared.flow_ends[record.flow as usize];
        if !self.answers.is_answer(class) {
            let event = Event::Started(packet.size);
            self.senders.call(self.flows, end.row, now, event);
        } else if let Some(rooms) = self.rooms.as_mut().filter(|rooms| rooms.concerns(class)) {
            give_room(self.answers, rooms, end.tail, class);
        } else if let Some(probes) = &mut self.probes {
            probes.started((now, self.place), self.answers, record);
        }
    }

    /// A packet is delivered.
    fn delivered(&mut self, packet: &Packet, record: &PacketRecord) {
        if record.flow == NONE {
            return;
        }
        let now = self.now;
        let end = self.place.shared.flow_ends[record.flow as usize];
        let (flows, senders) = (&mut *self.flows, &mut *self.senders);
        let answers = &mut *self.answers;
        if let Some(probes) = &mut self.probes
            && let Some(content) = probes.take(record.class, record.answer)
        {
            if let Some(payload) = content.of_data() {
                let arrival = arrival(now, packet, record);
                let reply = senders.carried(record.class, end.tail, arrival, payload);
                if let Some((reply, way)) = reply.zip(answers.way(end.tail)) {
                    probes.reply(now, (&way, end.tail), reply);
                }
            } else {
                probes.tell((now, end), flows, senders, answers, content);
            }
        } else if answers.is_answer(record.class) {
            senders.answer(flows, end.row, now, record, answers.first);
        } else {
            let into = (&mut *answers, self.probes.as_deref_mut());
            let is_answered = senders.receive(into, end.tail, now, (packet, record));
            if let Some(rooms) = self.rooms.as_mut().filter(|_| !is_answered) {
                give_room(answers, rooms, end.tail, record.class);
            }
        }
    }
}

/// The system.
pub(super) fn system(
    place: Local<'_, Place>,
    calendar: Res<'_, Calendar>,
    lists: Res<'_, Worklists>,
    mut flows: ResMut<'_, Flows>,
    mut senders: ResMut<'_, Senders>,
    mut answers: ResMut<'_, Answers>,
    mut probes: Option<ResMut<'_, Probes>>,
    mut rooms: Option<ResMut<'_, AnswerRooms>>,
    packets: Packets<'_, '_>,
) {
    let now = calendar.now();
    let has_news = (probes.as_ref()).is_some_and(|probes| probes.has_news());
    let is_busy = has_news || !(lists.sent.is_empty() && lists.consumed.is_empty());
    if !is_busy && senders.next() > now {
        return;
    }
    let told = Told {
        now,
        place: &place,
        flows: flows.bypass_change_detection(),
        senders: senders.bypass_change_detection(),
        answers: answers.bypass_change_detection(),
        probes: probes.as_deref_mut(),
        rooms: rooms.as_deref_mut(),
    };
    run(told, &lists, packets.rows());
}

/// Runs the stage.
fn run(
    mut told: Told<'_>,
    lists: &Worklists,
    (packets, records): (
        Seen<'_, PacketRow, Packet>,
        Seen<'_, PacketRow, PacketRecord>,
    ),
) {
    for &row in &lists.sent {
        told.started(&packets[row], &records[row]);
    }
    for &row in &lists.consumed {
        told.delivered(&packets[row], &records[row]);
    }
    let (flows, senders, answers) = (told.flows, told.senders, told.answers);
    match told.probes {
        None => senders.ring(flows, told.now),
        Some(probes) => {
            let ends = &told.place.shared.flow_ends;
            probes.end((told.now, ends), flows, senders, answers);
        }
    }
}

/// System parameter: control in the pass, where all control packets are answers.
#[derive(SystemParam)]
pub(in crate::cycle) struct ControlAboard<'w> {
    senders: Option<ResMut<'w, Senders>>,
}

impl<J: Joints<Supply = Flows, Replies = Answers>> Rider<J> for ControlAboard<'_> {
    #[inline]
    fn next(&self, start: &Start<'_, J>) -> u64 {
        let answers = start.replies.as_ref().map(|answers| answers.next());
        let senders = self.senders.as_ref().map(|senders| senders.next());
        let next = answers.into_iter().chain(senders).min();
        next.unwrap_or(u64::MAX)
    }

    #[inline(always)]
    fn run<const W: usize, P: RuleSet>(
        &mut self,
        slot: Slot,
        on: &mut Fetched<'_, '_, '_, W, P, J>,
    ) {
        let (view, start) = (&mut *on.view, &mut *on.start);
        let senders = self.senders.as_deref_mut();
        let (flows, answers) = (start.supply.as_deref_mut(), start.replies.as_deref_mut());
        let (Some(senders), Some(flows), Some(answers)) = (senders, flows, answers) else {
            return;
        };
        if slot == Slot::Admit && answers.next() <= view.now {
            let making = Making {
                now: view.now,
                place: view.place,
                lists: &mut *view.lists,
                records: &mut *start.records,
                outs: view.outs.reborrow(),
            };
            return make::run(answers, making, None);
        }
        let lists = &*view.lists;
        let is_busy = !(lists.sent.is_empty() && lists.consumed.is_empty());
        if slot == Slot::Notify && (is_busy || senders.next() <= view.now) {
            let told = Told {
                now: view.now,
                place: view.place,
                flows,
                senders,
                answers,
                probes: None,
                rooms: None,
            };
            run(told, lists, (view.packets.seen(), view.records.seen()));
        }
    }
}
