//! The events of a flow, told from looks in a row.

use super::super::digest;
use super::look::{FlowLook, Key};
use super::reasons::{Watched, words};
use super::story::{FlowEvent, FlowStory, FlowWhat, Hold};
use crate::cycle::shown::FlowState;
use crate::ids::HostId;
use crate::measure::{Digest, packet_id};
use crate::run::simulation::Simulation;
use crate::scenario::Resolved;
use std::collections::BTreeMap;

/// Makes the story.
pub(super) struct Teller<'a> {
    pub(super) resolved: &'a Resolved,
    pub(super) watched: Watched<'a>,
    /// Earlier cycles are not told.
    from: u64,
    pub(super) before: FlowLook,
    /// Last cycle in which a packet of the flow itself crosses the channel of its host, plus 1.
    pub(super) sending_until: u64,
    /// Number of the last event that says why it does not send.
    held: Option<usize>,
    /// Cycles for which packets have been held at their host so far (D57).
    pub(super) held_there: BTreeMap<Key, u64>,
    pub(super) story: FlowStory,
}

/// An event that is being made.
pub(super) struct Happening {
    pub(super) cycles: (u64, u64),
    pub(super) event: FlowWhat,
    pub(super) packet: Option<String>,
    pub(super) place: (String, Option<u8>),
    pub(super) reason: Option<Hold>,
    pub(super) detail: String,
}

impl<'a> Teller<'a> {
    /// At cycle 0, with the flow as it is built.
    pub(super) fn new(
        resolved: &'a Resolved,
        watched: Watched<'a>,
        from: u64,
        before: FlowLook,
    ) -> Self {
        let flow = watched.flow;
        Self {
            resolved,
            watched,
            from,
            before,
            sending_until: 0,
            held: None,
            held_there: BTreeMap::new(),
            story: FlowStory {
                flow: watched.id,
                class: watched.plan.classes[usize::from(flow.class)].name.clone(),
                source: flow.source.0,
                destination: flow.destination.0,
                size: flow.flits,
                start: None,
                started: 0,
                delivered: 0,
                dropped: 0,
                complete: None,
                events: Vec::new(),
                cycles: 0,
                is_stuck: false,
                digest: Digest::default(),
            },
        }
    }

    /// Whether the flow and all packets that belong to it are done.
    pub(super) fn is_over(&self) -> bool {
        let (now, sent) = (&self.before, &self.before.state.sent);
        let made = now.state.unmade == Some(0)
            || (now.state.stop).is_some_and(|stop| stop < self.story.cycles);
        let waiting = sent.created.packets - sent.rejected.packets - sent.started.packets;
        made && waiting == 0 && now.packets.is_empty() && now.control.is_empty()
    }

    /// What `cycle` has brought, in the order of the stages.
    pub(super) fn tell(&mut self, cycle: u64, now: FlowLook) {
        self.story.cycles = cycle + 1;
        self.grants(cycle, &now);
        self.begin(cycle, &now);
        self.make(cycle, &now);
        self.starts(cycle, &now);
        self.wait(cycle, &now);
        self.hold(&now);
        self.deliveries(cycle, &now);
        self.change(cycle, &now);
        self.before = now;
    }

    /// The story, told to its end or to the last cycle.
    pub(super) fn finish(mut self, simulation: &Simulation, is_stuck: bool) -> FlowStory {
        self.story.cycles = simulation.now();
        self.story.is_stuck = is_stuck;
        self.story.digest = digest(simulation);
        self.story
    }

    pub(super) fn push(&mut self, happening: Happening) {
        let Happening {
            cycles: (cycle, until),
            event,
            packet,
            place: (place, lane),
            reason,
            detail,
        } = happening;
        if until >= self.from {
            self.story.events.push(FlowEvent {
                cycle,
                until,
                event,
                packet,
                place,
                lane,
                reason,
                detail,
            });
        }
    }

    /// An event of one cycle at the host of the flow.
    fn note(&mut self, cycle: u64, event: FlowWhat, lane: Option<u8>, detail: String) {
        self.push(Happening {
            cycles: (cycle, cycle),
            event,
            packet: None,
            place: (self.host(self.watched.flow.source), lane),
            reason: None,
            detail,
        });
    }

    /// An event of a packet.
    pub(super) fn note_packet(
        &mut self,
        cycles: (u64, u64),
        event: FlowWhat,
        key: Key,
        place: (String, Option<u8>),
        detail: String,
    ) {
        self.push(Happening {
            cycles,
            event,
            packet: Some(self.packet(key)),
            place,
            reason: None,
            detail,
        });
    }

    pub(super) fn packet(&self, (source, class, number): Key) -> String {
        let class = &self.watched.plan.classes[usize::from(class)].name;
        packet_id(source, class, number.into())
    }

    pub(super) fn host(&self, host: HostId) -> String {
        let hosts = self.resolved.layout.graph.hosts();
        hosts[host.index()].name.clone()
    }

    /// Start and stop, and limits that the scenario changes.
    fn begin(&mut self, cycle: u64, now: &FlowLook) {
        if now.state.start == Some(cycle) {
            self.story.start = Some(cycle);
            let size = match self.watched.flow.flits {
                Some(flits) => format!("{flits} flits"),
                None => String::from("flits without end"),
            };
            let destination = self.host(self.watched.flow.destination);
            let detail = format!("{size} for {destination}, {}", rules(&self.before));
            self.note(cycle, FlowWhat::Begins, None, detail);
        }
        if now.state.stop == Some(cycle) {
            let detail = String::from("makes no more packets");
            self.note(cycle, FlowWhat::Stops, None, detail);
        }
        if now.sender.is_none() && now.state.limit != self.before.state.limit {
            self.note(cycle, FlowWhat::Limit, None, words(now.state.limit));
        }
    }

    /// Packets that are made, that enter, and that count as acknowledged.
    fn make(&mut self, cycle: u64, now: &FlowLook) {
        let (then, state) = (&self.before.state, &now.state);
        let (window, lane) = (state.window, Some(state.lane));
        let rejected = state.sent.rejected.packets - then.sent.rejected.packets;
        let made = state.sent.created.packets - then.sent.created.packets - rejected;
        let entered = entries(then, state);
        let started = state.sent.started.packets - then.sent.started.packets;
        let gone = state.entered.map_or(started, |_| entered);
        let acknowledged = self.acknowledged(now);
        if acknowledged > 0 {
            let left = u64::from(then.outstanding).saturating_sub(acknowledged);
            let of = window.map_or(String::new(), |window| format!(" of {window}"));
            let detail = format!("{acknowledged}, {left}{of} outstanding");
            self.note(cycle, FlowWhat::Acknowledged, lane, detail);
        }
        if rejected > 0 {
            let detail = format!("{rejected}, its queue is full");
            self.note(cycle, FlowWhat::Rejected, lane, detail);
        }
        if let Some(queued) = state.queued.filter(|_| made > 0) {
            // before any of this cycle has left it
            let detail = format!("{} in its queue", queued + gone);
            self.note(cycle, FlowWhat::Created, lane, detail);
        }
        if let Some(fifo) = state.entered.filter(|_| entered > 0) {
            let detail = format!("{} in the FIFO of its lane", fifo + started);
            self.note(cycle, FlowWhat::Enters, lane, detail);
        }
    }

    /// Packets that count as acknowledged from this cycle on.
    fn acknowledged(&self, now: &FlowLook) -> u64 {
        let (then, state) = (&self.before.state, &now.state);
        let is_counted = self.watched.flow.window.is_some() || now.sender.is_some();
        if !is_counted {
            return 0;
        }
        let started = now.host.started.map(|started| started.record.class);
        let more = match state.entered {
            _ if state.is_grouped => u64::from(started == Some(self.watched.flow.class)),
            Some(_) => entries(then, state),
            None => state.sent.started.packets - then.sent.started.packets,
        };
        (u64::from(then.outstanding) + more).saturating_sub(state.outstanding.into())
    }

    /// It has not sent in this cycle, for a reason.
    fn wait(&mut self, cycle: u64, now: &FlowLook) {
        if cycle < self.sending_until {
            return;
        }
        let Some((reason, detail)) = self.watched.holds(cycle, &self.before, now) else {
            return;
        };
        let known = self.held.and_then(|index| self.story.events.get_mut(index));
        // a packet that was chosen keeps the channel until its tail is on it
        let goes_on = |event: &&mut FlowEvent| match (reason, event.reason) {
            _ if event.until + 1 != cycle => false,
            (Hold::ChannelBusy, Some(before)) => before.keeps_channel(),
            // credits come one by one: what is there at first is told
            (Hold::NoCredit, Some(Hold::NoCredit)) => needed(&event.detail) == needed(&detail),
            _ => event.reason == Some(reason) && event.detail == detail,
        };
        if let Some(event) = known.filter(goes_on) {
            event.until = cycle;
            return;
        }
        self.held = Some(self.story.events.len());
        self.push(Happening {
            cycles: (cycle, cycle),
            event: FlowWhat::Waits,
            packet: None,
            place: (self.host(self.watched.flow.source), Some(now.state.lane)),
            reason: Some(reason),
            detail,
        });
    }

    /// What its sender is told and does.
    fn change(&mut self, cycle: u64, now: &FlowLook) {
        let control = self.watched.plan.classes[usize::from(self.watched.flow.class)]
            .control
            .as_ref();
        let is_told = control.is_some_and(|control| {
            control.is_apart() || control.algorithm.packets_per_answer() > 1
        });
        if now.answered > self.before.answered && is_told {
            self.note(cycle, FlowWhat::Answered, None, String::new());
        }
        let (Some(then), Some(sender)) = (&self.before.sender, &now.sender) else {
            return;
        };
        let (before, state) = (&self.before.state, &now.state);
        let mut changed = Vec::new();
        if sender.words != then.words {
            changed.push(sender.words.clone());
        }
        if state.limit != before.limit {
            changed.push(words(state.limit));
        }
        if state.window != before.window
            && let Some(window) = state.window
        {
            changed.push(format!("window {window}"));
        }
        if sender.timer != then.timer {
            changed.push(match sender.timer {
                Some(at) => format!("timer at cycle {at}"),
                None => String::from("no timer"),
            });
        }
        if sender.logged != then.logged {
            changed.push(String::from("an event is logged"));
        }
        if !changed.is_empty() {
            self.note(cycle, FlowWhat::Control, None, changed.join(", "));
        }
    }
}

/// What a reason says before it says how much of it is there.
fn needed(detail: &str) -> &str {
    detail.split(',').next().unwrap_or_default()
}

/// Packets that have entered the FIFO of the lane, where there is one.
fn entries(then: &FlowState, now: &FlowState) -> u64 {
    let (Some(before), Some(after)) = (then.entered, now.entered) else {
        return 0;
    };
    after + now.sent.started.packets - then.sent.started.packets - before
}

/// What the flow may send.
fn rules(look: &FlowLook) -> String {
    let window = look.state.window.map(|window| format!("window {window}"));
    let sender = look.sender.as_ref().map(|sender| sender.words.clone());
    let sender = sender.filter(|words| !words.is_empty());
    let all = [Some(words(look.state.limit)), window, sender];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
