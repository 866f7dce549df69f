//! Calls senders, and does what they want.

use super::parts::Parts;
use super::sender::{Begun, Controlled};
use crate::control::{Actions, Algorithm, Event, Payload, Probe, Receiver, Sender};
use crate::cycle::mechanisms::flows::Flows;
use crate::cycle::mechanisms::probes::Probes;
use crate::cycle::shown::SenderState;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::Place;
use crate::measure::flow_counts::FlowSent;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::{Mut, World};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Senders and receivers of the flows of a shard.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct Senders {
    /// By class.
    #[serde(skip)]
    pub(in crate::cycle::mechanisms) algorithms: Vec<Option<Algorithm>>,
    /// By class: whether a packet that starts concerns anybody here.
    #[serde(skip)]
    pub(super) hears_starts: Vec<bool>,
    /// Packets of an answer, by class of answers.
    #[serde(skip)]
    pub(in crate::cycle::mechanisms) packets: Vec<u16>,
    /// By row of the flow at its source; of a group the first.
    pub(in crate::cycle::mechanisms) rows: Vec<Option<Controlled>>,
    /// Answers delivered, by row of the flow at its source.
    pub(in crate::cycle::mechanisms) answered: Vec<u64>,
    pub(super) parts: Parts,
    /// By row of the flow at its end.
    pub(in crate::cycle::mechanisms) receivers: Vec<Option<Receiver>>,
    /// Cycles for which timers were set, with the row.
    pub(in crate::cycle::mechanisms) timers: BinaryHeap<Reverse<(u64, u32)>>,
    /// Written start of the flows, by row, where senders begin some.
    #[serde(skip)]
    pub(super) starts: Vec<u64>,
    /// Flows that have begun so.
    pub(super) begun: Begun,
    /// Next flow of the connection, by row, where routes are set up (D67).
    #[serde(skip)]
    pub(super) next: Vec<Option<u32>>,
    /// Whether the flow in a row has made its connection free.
    pub(super) closed: Vec<bool>,
    /// What packets of a flow carry that start, by its row at its source; nothing where no class carries (D69).
    pub(super) laid: Vec<Payload>,
    /// Probes that calls of this cycle have sent, with the row.
    #[serde(skip)]
    pub(in crate::cycle::mechanisms) sent: Vec<(u32, Probe)>,
}

impl Persistent for Senders {
    fn resume(&mut self, built: Self, _: &Resume<'_>) {
        (self.algorithms, self.packets) = (built.algorithms, built.packets);
        (self.hears_starts, self.starts) = (built.hears_starts, built.starts);
        self.next = built.next;
    }
}

impl Senders {
    /// First cycle for which a timer is set.
    #[inline]
    pub fn next(&self) -> u64 {
        self.timers.peek().map_or(u64::MAX, |Reverse((at, _))| *at)
    }

    /// Whether a packet of this class that starts concerns anybody here.
    #[inline]
    pub(super) fn hears_starts(&self, class: u16) -> bool {
        self.hears_starts[usize::from(class)]
    }

    /// Counts what the sender in the row of a flow was told and has logged.
    pub fn count(&self, row: u32, sent: &mut FlowSent) {
        sent.answered = self.answered[row as usize];
        if let Some(controlled) = &self.rows[row as usize] {
            let last = controlled.last_logged;
            sent.logged = controlled.logged;
            sent.last_logged = (last != u64::MAX).then_some(last);
            sent.told_then = controlled.told_then;
        }
    }

    /// Requests for flows that their senders begin: events that these have logged.
    pub(super) fn requests(&self, flows: &Flows) -> u64 {
        let senders = flows.rows().iter().zip(&self.rows);
        let reserving = senders.filter(|(flow, _)| {
            let algorithm = self.algorithms[usize::from(flow.class)].as_ref();
            algorithm.is_some_and(|one| one.reserves() || one.set_up().is_some())
        });
        let logged = reserving.filter_map(|(_, sender)| Some(sender.as_ref()?.logged));
        logged.sum()
    }

    /// What the sender of the flow in a row is about, for who looks on; `None`: it has none.
    pub fn state(&self, flows: &Flows, row: u32) -> Option<SenderState> {
        let row = flows.speaker(row);
        let class = flows.rows()[row as usize].class;
        let controlled = self.rows[row as usize].as_ref()?;
        let algorithm = self.algorithms[usize::from(class)].as_ref()?;
        Some(SenderState {
            words: algorithm.show(&controlled.sender),
            timer: (controlled.timer != u64::MAX).then_some(controlled.timer),
            logged: controlled.logged,
        })
    }

    /// Events that all senders have logged.
    pub(super) fn all_logged(&self) -> u64 {
        let senders = self.rows.iter().flatten();
        senders.map(|sender| sender.logged).sum()
    }

    /// Calls the sender of the flow in a row.
    pub(in crate::cycle::mechanisms) fn call(
        &mut self,
        flows: &mut Flows,
        row: u32,
        now: u64,
        event: Event,
    ) {
        self.ask(flows, row, now, |algorithm, sender, actions| {
            algorithm.send(sender, now, event, actions);
        });
    }

    /// Calls the sender of the flow in a row in a way of its own, and does what it wants.
    pub(in crate::cycle::mechanisms) fn ask(
        &mut self,
        flows: &mut Flows,
        row: u32,
        now: u64,
        call: impl FnOnce(&Algorithm, &mut Sender, &mut Actions),
    ) {
        let row = flows.speaker(row);
        let class = flows.rows()[row as usize].class;
        let Some(controlled) = &mut self.rows[row as usize] else {
            return;
        };
        let Some(algorithm) = &self.algorithms[usize::from(class)] else {
            return;
        };
        let mut actions = Actions::default();
        call(algorithm, &mut controlled.sender, &mut actions);
        self.act(flows, row, now, actions);
    }

    /// Does what a call of the sender in a row wants.
    fn act(&mut self, flows: &mut Flows, row: u32, now: u64, actions: Actions) {
        let Some(controlled) = &mut self.rows[row as usize] else {
            return;
        };
        if let Some(timer) = actions.timer {
            controlled.timer = timer.unwrap_or(u64::MAX);
            if let Some(at) = timer {
                debug_assert!(at > now, "a timer is set to a later cycle");
                self.timers.push(Reverse((at, row)));
            }
        }
        if actions.limit.is_some() || actions.window.is_some() {
            flows.control(row, actions.limit, actions.window, now + 1);
        }
        if let Some(those) = actions.acknowledge {
            flows.acknowledge(row, those.packets, now + those.after);
        }
        if actions.log {
            controlled.log(now);
        }
        if actions.begin
            && let Some(&start) = self.starts.get(row as usize)
            && flows.begin(row, now + 1)
        {
            let wait = now + 1 - start;
            self.begun.flows += 1;
            self.begun.waits += wait;
            self.begun.longest = self.begun.longest.max(wait);
        }
        if let Some(probe) = actions.send {
            self.sent.push((row, probe));
        }
        if actions.close {
            self.close(row, now);
        }
        self.lay(row, &actions);
    }

    /// What packets of the flow in a row carry from now on, if the actions say so.
    pub(super) fn lay(&mut self, row: u32, actions: &Actions) {
        if let Some(payload) = actions.carry
            && let Some(laid) = self.laid.get_mut(row as usize)
        {
            *laid = payload;
        }
    }

    /// What packets of the flow in a row carry.
    #[inline]
    pub(in crate::cycle::mechanisms) fn laid(&self, row: u32) -> Payload {
        self.laid[row as usize]
    }

    /// The connection of the flow in a row is free for its next flow (D67).
    fn close(&mut self, row: u32, now: u64) {
        let Some(closed) = self.closed.get_mut(row as usize) else {
            return;
        };
        if std::mem::replace(closed, true) {
            return;
        }
        let Some(next) = self.next[row as usize] else {
            return;
        };
        if let Some(controlled) = &mut self.rows[next as usize] {
            let at = self.starts[next as usize].max(now + 1);
            controlled.timer = at;
            self.timers.push(Reverse((at, next)));
        }
    }

    /// The sender of a flow (global id) is told what its own switch shows after cycle `now`.
    pub fn look(world: &mut World, flow: u32, now: u64, event: Event) {
        let row = world.resource::<Place>().shared.flow_ends[flow as usize].row;
        world.resource_scope(|world, mut senders: Mut<'_, Self>| {
            let flows = &mut *world.resource_mut::<Flows>();
            senders.call(flows, row, now, event);
            if let Some(mut probes) = world.get_resource_mut::<Probes>() {
                probes.post(now, &mut senders);
            }
        });
    }

    /// Calls the senders whose timers are set to this cycle.
    pub(in crate::cycle::mechanisms) fn ring(&mut self, flows: &mut Flows, now: u64) {
        while self.next() <= now {
            let Some(Reverse((at, row))) = self.timers.pop() else {
                break;
            };
            let set = self.rows[row as usize].as_mut();
            if let Some(controlled) = set.filter(|controlled| controlled.timer == at) {
                controlled.timer = u64::MAX;
                self.call(flows, row, now, Event::Timer);
            }
        }
    }

    /// An answer or reply to the flow in a row is delivered.
    pub(in crate::cycle::mechanisms) fn note_answer(&mut self, flows: &Flows, row: u32) {
        self.answered[row as usize] += 1;
        if let Some(controlled) = &mut self.rows[flows.speaker(row) as usize] {
            controlled.told += 1;
        }
    }
}
