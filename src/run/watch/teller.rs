//! The events of one packet, told from looks in a row.

use super::super::simulation::Simulation;
use super::look::Look;
use super::places::Spot;
use super::story::{Event, Story, What};
use super::{PacketName, digest};
use crate::fabric::components::Packet;
use crate::ids::{ChannelId, HostId};
use crate::measure::Digest;
use crate::plan::{DropRule, Plan};
use crate::scenario::Resolved;
use crate::topology::{ChannelTiming, Endpoint};

/// Makes the story.
pub(super) struct Teller<'a> {
    resolved: &'a Resolved,
    class: u16,
    story: Story,
    is_over: bool,
    before: Spot,
    /// Switches passed, as of the last look.
    hops: u8,
    /// Channel of the last flight.
    flight: Option<ChannelId>,
    /// It has requested at this switch.
    has_requested: bool,
}

impl<'a> Teller<'a> {
    pub(super) fn new(resolved: &'a Resolved, name: PacketName) -> Self {
        let class = &resolved.plan.classes[usize::from(name.class)];
        Self {
            resolved,
            class: name.class,
            story: Story {
                source: name.source.0,
                class: class.name.clone(),
                sequence: name.sequence,
                destination: None,
                size: None,
                created: 0,
                injected: None,
                delivered: None,
                dropped: None,
                hops: 0,
                events: Vec::new(),
                cycles: 0,
                is_stuck: false,
                digest: Digest::default(),
            },
            is_over: false,
            before: Spot::Nowhere,
            hops: 0,
            flight: None,
            has_requested: false,
        }
    }

    /// Whether the packet has been made.
    pub(super) fn has_begun(&self) -> bool {
        !self.story.events.is_empty()
    }

    /// Whether nothing more will happen.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// What `cycle` has brought.
    pub(super) fn tell(&mut self, cycle: u64, look: Look) {
        if !self.has_begun() {
            self.create(cycle, &look);
        }
        let packet = look.packet.map(|(packet, _)| packet);
        if let Some((packet, record)) = &look.packet
            && self.story.injected.is_none()
        {
            self.inject(record.injected, packet, &look.spot);
        }
        if let Some(packet) = packet.filter(|packet| packet.hops > self.hops) {
            self.hops = packet.hops;
            self.story.hops = u16::from(packet.hops - 1);
            self.grant(cycle, &look.spot);
        }
        if let Some(packet) = &packet {
            self.fly(&look.spot, packet);
        }
        self.wait(cycle, &look);
        if look.spot == Spot::Nowhere && !self.is_over {
            match self.last_switch() {
                Some(input) => self.drop(cycle, input),
                None => self.deliver(cycle),
            }
        }
        self.before = look.spot;
    }

    /// The story, told to its end or to the last cycle.
    pub(super) fn finish(mut self, simulation: &Simulation, is_stuck: bool) -> Story {
        self.story.events.sort_by_key(|event| event.cycle);
        self.story.cycles = simulation.now();
        self.story.is_stuck = is_stuck;
        self.story.digest = digest(simulation);
        self.story
    }

    fn push(
        &mut self,
        cycles: (u64, u64),
        event: What,
        place: (String, Option<u8>),
        detail: String,
    ) {
        self.story.events.push(Event {
            cycle: cycles.0,
            until: cycles.1,
            event,
            place: place.0,
            lane: place.1,
            reason: None,
            detail,
        });
    }

    fn host(&self, host: u32) -> String {
        self.resolved.layout.graph.hosts()[HostId(host).index()]
            .name
            .clone()
    }

    /// Name of an end of a channel.
    fn end(&self, end: Endpoint) -> String {
        self.resolved.layout.graph.endpoint_name(end)
    }

    fn timing(&self, channel: ChannelId) -> ChannelTiming {
        self.resolved.layout.graph.channel(channel).timing
    }

    fn create(&mut self, cycle: u64, look: &Look) {
        self.story.created = cycle;
        let place = (self.host(self.story.source), None);
        let known = look
            .packet
            .map(|(packet, _)| (packet.destination, packet.size));
        let known = known.or(look
            .waiting
            .map(|waiting| (waiting.destination, waiting.size)));
        let Some((destination, size)) = known else {
            let class = usize::from(self.class);
            let queue = match self.resolved.plan.classes[class].flows {
                Some(_) => "the full queue of its flow",
                None => "its full source queue",
            };
            let detail = format!("by {queue}");
            self.push((cycle, cycle), What::Created, place.clone(), String::new());
            self.push((cycle, cycle), What::Rejected, place, detail);
            self.is_over = true;
            return;
        };
        (self.story.destination, self.story.size) = (Some(destination), Some(size));
        let detail = format!("{size} flits for {}", self.host(destination));
        self.push((cycle, cycle), What::Created, place, detail);
    }

    fn inject(&mut self, cycle: u64, packet: &Packet, spot: &Spot) {
        self.story.injected = Some(cycle);
        let channel = self
            .resolved
            .layout
            .graph
            .host_channel(HostId(self.story.source));
        let lane = match spot {
            Spot::Channel { lane, .. } => Some(*lane),
            _ => None,
        };
        let tail = cycle + tail(packet, self.timing(channel));
        let place = (self.host(self.story.source), lane);
        let detail = String::from("header to tail start on the channel of the host");
        self.push((cycle, tail), What::Injected, place, detail);
    }

    /// A switch has granted it.
    fn grant(&mut self, cycle: u64, spot: &Spot) {
        let out = match spot {
            Spot::Channel { into, lane, .. } => Some((*into, Some(*lane))),
            Spot::OutputLane { out, lane, .. } => Some((*out, Some(*lane))),
            Spot::Ending { .. } => Some((self.last_channel(), None)),
            _ => None,
        };
        let Some((out, lane)) = out else { return };
        let place = (self.end(self.resolved.layout.graph.channel(out).from), lane);
        if !self.has_requested {
            self.request(cycle, &[(out, lane)]);
        }
        self.has_requested = false;
        let detail = match spot {
            Spot::OutputLane { .. } => "passes the crossbar into its output lane",
            _ => "arbitration won",
        };
        self.push((cycle, cycle), What::Granted, place, detail.into());
    }

    /// It requests these outputs.
    fn request(&mut self, cycle: u64, wants: &[(ChannelId, Option<u8>)]) {
        let graph = &self.resolved.layout.graph;
        let Some(into) = self.flight else { return };
        let name = |(out, lane): &(ChannelId, Option<u8>)| {
            let port = match graph.channel(*out).from {
                Endpoint::Switch(_, port) => format!("port {port}"),
                Endpoint::Host(_) => String::from("its channel"),
            };
            let lane = lane.map_or(String::new(), |lane| format!(" lane {lane}"));
            let to = graph.endpoint_name(graph.channel(*out).to);
            format!("{port}{lane} to {to}")
        };
        let list: Vec<_> = wants.iter().map(name).collect();
        let place = (self.end(graph.channel(into).to), None);
        self.push((cycle, cycle), What::Requests, place, list.join(", "));
        self.has_requested = true;
    }

    /// Channel to its destination.
    fn last_channel(&self) -> ChannelId {
        let host = HostId(self.story.destination.unwrap_or_default());
        self.resolved.layout.graph.host_channel(host).reverse()
    }

    /// It is on a channel that it was not on before.
    fn fly(&mut self, spot: &Spot, packet: &Packet) {
        let (into, lane, arrives) = match spot {
            Spot::Channel {
                into,
                lane,
                arrives,
                ..
            } => (*into, Some(*lane), *arrives),
            Spot::Ending { delivered } => {
                let into = self.last_channel();
                (into, None, delivered - tail(packet, self.timing(into)))
            }
            _ => return,
        };
        if self.flight == Some(into) {
            return;
        }
        self.flight = Some(into);
        let timing = self.timing(into);
        let rest = tail(packet, timing);
        let graph = &self.resolved.layout.graph;
        let (from, to) = (
            self.end(graph.channel(into).from),
            self.end(graph.channel(into).to),
        );
        if self.hops > 0 {
            let starts = arrives - u64::from(timing.latency);
            let detail = String::from("header to tail start on the channel");
            self.push((starts, starts + rest), What::Leaves, (from, lane), detail);
        }
        let detail = String::from("header to tail arrive");
        self.push((arrives, arrives + rest), What::Arrives, (to, lane), detail);
    }

    /// It has not moved in this cycle for a reason.
    fn wait(&mut self, cycle: u64, look: &Look) {
        if let Spot::Queue { wants, .. } = &look.spot
            && !wants.is_empty()
            && !self.has_requested
        {
            let wants: Vec<_> = wants.iter().map(|&(out, lane)| (out, Some(lane))).collect();
            self.request(cycle, &wants);
        }
        let Some((reason, number)) = look.reason else {
            return;
        };
        let graph = &self.resolved.layout.graph;
        let (place, lane) = match &look.spot {
            Spot::Source { lane, .. } => (self.host(self.story.source), Some(*lane)),
            Spot::OutputLane { out, lane, .. } => (self.end(graph.channel(*out).from), Some(*lane)),
            Spot::Queue { .. } => match self.flight {
                Some(into) => (self.end(graph.channel(into).to), None),
                None => return,
            },
            _ => return,
        };
        let is_same = |event: &&mut Event| {
            event.until + 1 == cycle && event.reason == Some(reason) && event.place == place
        };
        if let Some(event) = self.story.events.last_mut().filter(is_same) {
            event.until = cycle;
            return;
        }
        let size = self.story.size.unwrap_or_default();
        self.story.events.push(Event {
            cycle,
            until: cycle,
            event: What::Waits,
            place,
            lane,
            reason: Some(reason),
            detail: reason.words(number, size),
        });
    }

    /// The input where it was last, or was about to be, if that is one of a switch: nobody takes it there.
    fn last_switch(&self) -> Option<Endpoint> {
        let into = match &self.before {
            Spot::Channel { into, .. } => *into,
            Spot::Queue { .. } => self.flight?,
            _ => return None,
        };
        let input = self.resolved.layout.graph.channel(into).to;
        input.switch().is_some().then_some(input)
    }

    fn drop(&mut self, cycle: u64, input: Endpoint) {
        self.story.dropped = Some(cycle);
        self.is_over = true;
        let detail = why_dropped(&self.resolved.plan);
        let place = (self.end(input), None);
        self.push((cycle, cycle), What::Dropped, place, detail);
    }

    fn deliver(&mut self, cycle: u64) {
        self.story.delivered = Some(cycle);
        self.is_over = true;
        let whole = cycle - self.story.created;
        let network = cycle - self.story.injected.unwrap_or(cycle);
        let host = self.host(self.story.destination.unwrap_or_default());
        let detail = format!("network latency {network} cycles, packet latency {whole} cycles");
        self.push((cycle, cycle), What::Delivered, (host, None), detail);
    }
}

/// Why switches drop packets, in words.
pub(super) fn why_dropped(plan: &Plan) -> String {
    match plan.switch.drop.as_ref().map(|drop| drop.rule) {
        Some(DropRule::Threshold(flits)) => {
            format!("{flits} flits or more of others wait for the lane it wants")
        }
        _ => String::from("the next buffer has no room for it"),
    }
}

/// Cycles from the header to the tail of a packet on a channel.
fn tail(packet: &Packet, timing: ChannelTiming) -> u64 {
    u64::from(packet.size - 1) * u64::from(timing.cycles_per_flit)
}
