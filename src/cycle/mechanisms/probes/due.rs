//! What is to be made of classes apart, in the order of D47 and D68.

use super::Probes;
use crate::control::{Answer, Probe, Reply};
use crate::cycle::mechanisms::control::Answers;
use crate::cycle::mechanisms::control::answers::Way;
use crate::cycle::state::Place;
use crate::cycle::state::parcel::{Content, Kind, Parcel};
use crate::fabric::components::NONE;
use crate::fabric::rows::{HostRow, PortRow};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// A control packet to be made; the fields are in the order that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Due {
    /// Cycle.
    pub(super) at: u64,
    host: u32,
    class: u16,
    /// Cycle of the call that wanted it; 0 for a broadcast, which goes first.
    wanted: u64,
    pub(super) kind: Kind,
    flow: u32,
    /// Number of that call.
    call: u64,
    content: Content,
    /// Row of the flow at its source, of a probe; else at its end.
    row: u32,
}

impl Probes {
    /// The receiver of the flow that ends in a row answers the packet delivered in cycle `now`.
    pub(in crate::cycle::mechanisms) fn answer(
        &mut self,
        now: u64,
        (way, tail): (&Way, u32),
        answer: Answer,
    ) {
        let content = Content {
            kind: Kind::Answer,
            visits: false,
            payload: [answer.value, 0, 0, 0],
        };
        self.want((now, answer.after), (way, tail), content);
    }

    /// It replies to what was delivered in cycle `now`.
    pub(in crate::cycle::mechanisms) fn reply(
        &mut self,
        now: u64,
        (way, tail): (&Way, u32),
        reply: Reply,
    ) {
        let content = Content {
            kind: Kind::Reply,
            visits: reply.visits && self.has_agents(way.class),
            payload: reply.payload,
        };
        self.want((now, reply.after), (way, tail), content);
    }

    /// The sender of the flow in a row sends, in cycle `now`.
    pub(super) fn send(&mut self, now: u64, row: u32, probe: Probe) {
        if let Some(way) = self.given.ways[row as usize] {
            let content = Content {
                kind: Kind::Probe,
                visits: self.has_agents(way.class),
                payload: probe.payload,
            };
            self.want((now, probe.after), (&way, row), content);
        }
    }

    /// The element of the host that a way begins at broadcasts, in cycle `now`.
    pub(super) fn broadcast(&mut self, now: u64, way: &Way, word: u32) {
        let content = Content {
            kind: Kind::Copy,
            visits: false,
            payload: [word, 0, 0, 0],
        };
        self.due.push(Reverse(Due {
            at: now + 1,
            host: way.host.0,
            class: way.class,
            wanted: 0,
            kind: content.kind,
            flow: NONE,
            call: 0,
            content,
            row: NONE,
        }));
    }

    fn want(&mut self, (now, after): (u64, u64), (way, row): (&Way, u32), content: Content) {
        debug_assert!(after >= 1, "it is made in a later cycle");
        self.due.push(Reverse(Due {
            at: now + after,
            host: way.host.0,
            class: way.class,
            wanted: now,
            kind: content.kind,
            flow: way.flow,
            call: self.calls,
            content,
            row,
        }));
        self.calls += 1;
    }

    /// A broadcast begins at the port of a host.
    fn begin(&mut self, number: usize, port: PortRow, due: Due) {
        if let Some(times) = self.given.times[number].and_then(|times| times.broadcast) {
            let copy = Parcel::copy(due.content);
            self.networks[number].copy(port, due.at, times, copy);
        }
    }

    /// Makes those of cycle `now`; `enter` is told of each that is a packet, with its number.
    pub(in crate::cycle::mechanisms) fn make(
        &mut self,
        (now, place): (u64, &Place),
        answers: &mut Answers,
        mut enter: impl FnMut(&Way, u32),
    ) {
        while self.next_due() <= now {
            let Some(Reverse(due)) = self.due.pop() else {
                break;
            };
            let number = usize::from(due.class - self.given.first);
            let way = match due.kind {
                Kind::Probe => self.given.ways[due.row as usize],
                Kind::Answer | Kind::Reply => answers.way(due.row),
                Kind::Data => unreachable!("packets of data are made by flows"),
                Kind::Copy => {
                    self.begin(number, place.port(HostRow(due.host)), due);
                    continue;
                }
            };
            let Some(way) = way else { continue };
            let own = place.shared.own_routes.as_ref();
            if let Some(times) = self.given.times[number] {
                let parcel = Parcel {
                    flow: way.flow,
                    destination: way.destination,
                    created: now,
                    place: own.map_or(NONE, |routes| routes.begin(way.flow, way.source)),
                    content: due.content,
                };
                let service = now..now + u64::from(times.serialisation);
                self.networks[number].create(place.port(way.host), service, parcel);
            } else {
                let row = self.contents.put(due.content);
                let sequence = answers.queue(place.shared.numbering, &way, now, row);
                enter(&way, sequence);
            }
        }
    }
}
