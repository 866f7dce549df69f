//! What the packets of a flow do, and the control packets that belong to it.

use super::super::places::Spot;
use super::super::teller::why_dropped;
use super::look::{FlowLook, Key, Seen};
use super::story::FlowWhat;
use super::teller::{Happening, Teller};
use crate::ids::HostId;
use crate::plan::Limit;
use crate::topology::Endpoint;
use std::fmt::Write;

impl Teller<'_> {
    /// Packets that start on the channels of hosts, control packets that are made.
    pub(super) fn starts(&mut self, cycle: u64, now: &FlowLook) {
        let is_known = |known: &FlowLook, key: &Key| {
            known.packets.contains_key(key) || known.control.contains(key)
        };
        let queued = now.control.iter().map(|&key| (key, None));
        let seen = now.packets.iter().map(|(&key, seen)| (key, Some(seen)));
        let new: Vec<(Key, Option<&Seen>)> = queued
            .chain(seen)
            .filter(|(key, _)| !self.before.packets.contains_key(key))
            .collect();
        for (key, seen) in new {
            let is_control = key.1 != self.watched.flow.class;
            let host = HostId(key.0);
            if is_control && !is_known(&self.before, &key) {
                let place = (self.host(host), None);
                self.note_packet((cycle, cycle), FlowWhat::Created, key, place, String::new());
            }
            let Some(Seen {
                packet,
                record,
                spot,
                ..
            }) = seen
            else {
                continue;
            };
            let channel = self.resolved.layout.graph.host_channel(host);
            let step = self
                .resolved
                .layout
                .graph
                .channel(channel)
                .timing
                .cycles_per_flit;
            let flits = u64::from(packet.size);
            let until = record.injected + (flits - 1) * u64::from(step);
            let lane = match spot {
                Spot::Channel { lane, .. } => Some(*lane),
                _ => None,
            };
            let mut detail = format!("{flits} flits");
            if !is_control {
                self.sending_until = record.injected + flits * u64::from(step);
                detail += &after_start(now);
            }
            let place = (self.host(host), lane);
            self.note_packet(
                (record.injected, until),
                FlowWhat::Starts,
                key,
                place,
                detail,
            );
        }
    }

    /// Switches that have granted its packets.
    pub(super) fn grants(&mut self, cycle: u64, now: &FlowLook) {
        for (&key, seen) in &now.packets {
            let before = self.before.packets.get(&key).map(|seen| &seen.packet);
            if seen.packet.hops == before.map_or(0, |packet| packet.hops) {
                continue;
            }
            let is_new = seen.packet.fecn && before.is_some_and(|packet| !packet.fecn);
            let detail = if is_new { "gets FECN" } else { "" };
            let place = self.output(seen);
            self.note_packet((cycle, cycle), FlowWhat::Granted, key, place, detail.into());
        }
    }

    /// The output that a packet has been granted.
    fn output(&self, seen: &Seen) -> (String, Option<u8>) {
        let graph = &self.resolved.layout.graph;
        let (out, lane) = match &seen.spot {
            Spot::Channel { into, lane, .. } => (*into, Some(*lane)),
            Spot::OutputLane { out, lane, .. } => (*out, Some(*lane)),
            _ => {
                let host = HostId(seen.packet.destination);
                (graph.host_channel(host).reverse(), None)
            }
        };
        (graph.endpoint_name(graph.channel(out).from), lane)
    }

    /// Input where a packet was last, or was about to be, if that is one of a switch: nobody but that switch takes it there.
    fn last_switch(&self, seen: &Seen) -> Option<Endpoint> {
        let input = self.resolved.layout.graph.channel(seen.into?).to;
        input.switch().is_some().then_some(input)
    }

    /// Packets that hosts hold back for want of room.
    pub(super) fn hold(&mut self, now: &FlowLook) {
        for (&key, _) in now.packets.iter().filter(|(_, seen)| seen.is_held) {
            *self.held_there.entry(key).or_default() += 1;
        }
    }

    /// Packets that are gone: a switch has dropped them, or their hosts have taken them.
    pub(super) fn deliveries(&mut self, cycle: u64, now: &FlowLook) {
        let gone = self.before.packets.iter();
        let gone = gone.filter(|(key, _)| !now.packets.contains_key(key));
        let gone: Vec<(Key, Seen)> = gone.map(|(&key, seen)| (key, seen.clone())).collect();
        for (key, seen) in gone {
            if let Some(input) = self.last_switch(&seen) {
                let place = (self.resolved.layout.graph.endpoint_name(input), None);
                let detail = why_dropped(self.watched.plan);
                self.story.dropped += 1;
                self.note_packet((cycle, cycle), FlowWhat::Dropped, key, place, detail);
                continue;
            }
            let Seen { packet, record, .. } = seen;
            let network = cycle - record.injected;
            let mut detail = format!("network latency {network} cycles");
            if key.1 != self.watched.flow.class {
                let _ = write!(detail, ", says {}", record.answer);
            } else if packet.fecn {
                detail += ", with FECN";
            }
            if let Some(cycles) = self.held_there.remove(&key) {
                let _ = write!(detail, ", held there for {cycles} cycles");
            }
            let place = (self.host(HostId(packet.destination)), None);
            self.note_packet((cycle, cycle), FlowWhat::Delivered, key, place, detail);
        }
        let arrived = now.arrived.delivered;
        self.story.delivered = arrived.packets;
        self.story.started = now.state.sent.started.packets;
        if Some(arrived.flits) == self.watched.flow.flits && self.story.complete.is_none() {
            self.story.complete = Some(cycle);
            let start = now.state.start.unwrap_or(cycle);
            let place = (self.host(self.watched.flow.destination), None);
            let detail = format!("after {} cycles", cycle - start);
            self.push(Happening {
                cycles: (cycle, cycle),
                event: FlowWhat::Complete,
                packet: None,
                place,
                reason: None,
                detail,
            });
        }
    }
}

/// How a flow stands that has sent in this cycle.
fn after_start(now: &FlowLook) -> String {
    let state = &now.state;
    let mut text = String::new();
    if let Some(window) = state.window {
        let _ = write!(text, ", {} of {window} outstanding", state.outstanding);
    }
    let waiting = state.queued.unwrap_or(0) + state.entered.unwrap_or(0);
    if state.unmade == Some(0) && waiting == 0 {
        text += ", its last";
    } else if state.limit != Limit::None
        && let Some(next) = state.eligible
    {
        let _ = write!(text, ", the next from cycle {next} on");
    }
    text
}
