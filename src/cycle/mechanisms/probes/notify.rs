//! What senders, receivers and elements of hosts are told of control packets of classes apart, and what they send (D47, D68).

use super::Probes;
use super::elements::Elements;
use crate::control::Event;
use crate::cycle::mechanisms::control::Answers;
use crate::cycle::mechanisms::control::senders::Senders;
use crate::cycle::mechanisms::flows::Flows;
use crate::cycle::state::parcel::{Content, Kind};
use crate::cycle::state::{FlowEnd, Place};
use crate::fabric::PacketRecord;

impl Probes {
    /// A packet of a class of answers starts on the channel of its host.
    pub(in crate::cycle::mechanisms) fn started(
        &mut self,
        (now, place): (u64, &Place),
        answers: &Answers,
        record: &PacketRecord,
    ) {
        let Some(number) = self.number(record.class) else {
            return;
        };
        if !self.visits_agents(number) {
            return;
        }
        let end = place.shared.flow_ends[record.flow as usize];
        let is_probe = self.contents.of(record.answer).kind == Kind::Probe;
        let way = if is_probe {
            self.given.ways[end.row as usize]
        } else {
            answers.way(end.tail)
        };
        if let Some(way) = way {
            self.pass(now, place.port(way.host), record);
        }
    }

    /// Delivers what came out of band in this cycle, calls the senders whose timers are set to it and those that elements have
    /// something to say to, and sends what all calls of the cycle want.
    pub(in crate::cycle::mechanisms) fn end(
        &mut self,
        (now, ends): (u64, &[FlowEnd]),
        flows: &mut Flows,
        senders: &mut Senders,
        answers: &Answers,
    ) {
        for number in 0..self.networks.len() {
            let mut parcels = std::mem::take(&mut self.networks[number].delivered);
            for parcel in parcels.drain(..) {
                let end = ends[parcel.flow as usize];
                self.tell((now, end), flows, senders, answers, parcel.content);
            }
            self.networks[number].delivered = parcels;
        }
        senders.ring(flows, now);
        self.say(now, flows, senders);
        self.post(now, senders);
    }

    /// Tells senders what the elements of their hosts say, where that is something else than after the last cycle.
    fn say(&mut self, now: u64, flows: &mut Flows, senders: &mut Senders) {
        let given = &self.given;
        for (number, elements) in self.elements.iter_mut().enumerate() {
            let Some(algorithm) = &given.algorithms[number] else {
                continue;
            };
            let has = |class: u16| {
                let other = usize::from(class - given.first);
                usize::from(given.common[other]) == number
            };
            elements.say(algorithm, |host, word| {
                let host = host.0 as usize;
                for row in given.first_flows[host]..given.first_flows[host + 1] {
                    let way = given.ways[row as usize].as_ref();
                    if way.is_some_and(|way| has(way.class)) {
                        senders.call(flows, row, now, Event::Told(word));
                    }
                }
            });
        }
    }

    /// What calls of cycle `now` have sent.
    pub(in crate::cycle::mechanisms) fn post(&mut self, now: u64, senders: &mut Senders) {
        for (row, probe) in senders.sent.drain(..) {
            self.send(now, row, probe);
        }
    }

    /// A control packet of a flow was delivered.
    pub(in crate::cycle::mechanisms) fn tell(
        &mut self,
        (now, end): (u64, FlowEnd),
        flows: &mut Flows,
        senders: &mut Senders,
        answers: &Answers,
        content: Content,
    ) {
        let payload = content.payload;
        match content.kind {
            Kind::Answer => {
                senders.note_answer(flows, end.row);
                senders.call(flows, end.row, now, Event::Answered(payload[0]));
            }
            Kind::Reply => senders.returned(flows, end.row, now, payload),
            Kind::Probe => {
                let Some(way) = answers.way(end.tail) else {
                    return;
                };
                let number = usize::from(way.class - self.given.first);
                let Some(algorithm) = self.given.algorithms[number].as_ref() else {
                    return;
                };
                let common = usize::from(self.given.common[number]);
                let word = self.elements[common].arrive(algorithm, way.host, now, payload);
                let receiver = senders.receivers[end.tail as usize].as_mut();
                let reply =
                    receiver.and_then(|receiver| algorithm.received(receiver, now, payload));
                if let Some(word) = word {
                    self.broadcast(now, &way, word);
                }
                if let Some(reply) = reply {
                    self.reply(now, (&way, end.tail), reply);
                }
            }
            Kind::Data => unreachable!("receivers are told of packets of data"),
            Kind::Copy => unreachable!("elements hear copies in their network"),
        }
    }

    /// Whether something came out of band in this cycle that senders, receivers or hosts are told.
    pub(in crate::cycle::mechanisms) fn has_news(&self) -> bool {
        let mut networks = self.networks.iter();
        let mut elements = self.elements.iter();
        networks.any(|network| !network.delivered.is_empty()) || elements.any(Elements::may_say)
    }
}

impl Senders {
    /// A reply was delivered at the source of the flow in a row.
    fn returned(&mut self, flows: &mut Flows, row: u32, now: u64, payload: [u32; 4]) {
        self.note_answer(flows, row);
        self.ask(flows, row, now, |algorithm, sender, actions| {
            algorithm.returned(sender, now, payload, actions);
        });
    }
}
