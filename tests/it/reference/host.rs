//! One host: source queues, injection; its sources are in `class_source`.
//!
//! Model rules 2 (holding), 11, 12; D11 (hosts, injection arbiter), D17 (sources), D21 (messages), D29 (flows and queues),
//! D40, D47 (control queues), D57 (room for answers), D74 (what keeps the channel).

use super::Setting;
use super::class_source::{ClassSource, Next, fork, next_creation, sources};
use super::flows::{
    Blocked, Candidate, ControlPackets, Flows, Look, NewSession, Receivers, Session, pace,
};
use super::lane_choice::LaneChooser;
use super::legacy_tables::Size;
use super::link::{Link, Moving};
use super::messages::Messages;
use super::packet::{Flit, Packet, PacketId, Rejected, Saying, Says, Through};
use super::rooms::Rooms;
use super::routing::injection_lane;
use super::sink::Sink;
use virtlane::ids::HostId;
use virtlane::traffic::Creation;

/// The packet that is entering the first channel.
#[derive(Clone, Copy, Debug)]
struct Sending {
    packet: PacketId,
    lane: usize,
    start: u64,
}

/// What a lane would send.
#[derive(Clone, Copy, Debug)]
pub(super) enum First {
    /// The head of its control queue (D40).
    Control(PacketId),
    /// What its scheduler picks (D29).
    Picked(Candidate),
}

/// A host.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) id: HostId,
    /// Injection channel.
    pub(super) outgoing: usize,
    sources: Vec<ClassSource>,
    /// Packets that have not started, per lane.
    queues: Vec<Vec<PacketId>>,
    flows: Flows,
    receivers: Receivers,
    control: ControlPackets,
    pub(super) chooser: LaneChooser,
    /// First cycle in which the channel can be granted again.
    pub(super) free_at: u64,
    /// The last packet that has started.
    sending: Option<Sending>,
    /// Packets that hold a lane of the channel (D65), by lane.
    pub(super) held: Vec<Option<PacketId>>,
    pub(super) sink: Sink,
    rooms: Rooms,
}

impl Host {
    pub(super) fn new(setting: Setting<'_>, id: HostId) -> Self {
        let outgoing = setting.graph.host_channel(id);
        let options = &setting.plan.switch;
        let lanes = usize::from(options.lane_count());
        Self {
            id,
            outgoing: outgoing.index(),
            sources: sources(setting, id),
            queues: vec![Vec::new(); lanes],
            flows: Flows::new(setting, id),
            receivers: Receivers::new(setting, id),
            control: ControlPackets::new(setting),
            chooser: LaneChooser::new(options),
            free_at: 0,
            sending: None,
            held: vec![None; lanes],
            sink: Sink::new(setting, id),
            rooms: Rooms::new(setting),
        }
    }

    /// A phase of an application opens in this cycle (D50).
    pub(super) fn open(&mut self, setting: Setting<'_>, phase: usize, now: u64) {
        self.flows.open(setting, phase, now);
    }

    /// D63: the start cycle of a flow that waits follows.
    pub(super) fn release(&mut self, setting: Setting<'_>, flow: usize, start: u64) {
        self.flows.release(setting, flow, start);
    }

    /// D53: the flow that a class asks for at this host.
    pub(super) fn asks_for(&self, setting: Setting<'_>, class: usize) -> Option<usize> {
        self.flows.asks_for(setting, class)
    }

    /// D53: a flow is admitted with this start cycle.
    pub(super) fn admit(&mut self, setting: Setting<'_>, flow: usize, start: u64) {
        self.flows.admit(setting, flow, start);
    }

    /// Flits of a flow that were rejected.
    pub(super) fn flits_rejected(&self, flow: usize) -> u64 {
        self.flows.flits_rejected(flow)
    }

    /// D59: a session of a probe flow begins.
    pub(super) fn try_out(&mut self, probe: usize, new: NewSession, now: u64) {
        self.flows.try_out(probe, new, now);
    }

    /// D59: the last session of a probe flow.
    pub(super) fn session(&self, probe: usize) -> Option<&Session> {
        self.flows.session(probe)
    }

    /// D51: the senders of a class see the switch, as an event of cycle `last`.
    pub(super) fn look(
        &mut self,
        setting: Setting<'_>,
        class: usize,
        seen: Blocked<'_>,
        last: u64,
    ) {
        let probes = self.flows.look(setting, class, seen, last);
        self.control.want(probes);
    }

    /// Stage Generate: one packet of each class that is due, in class order, then of each flow, then control packets;
    /// adds the rejected ones.
    pub(super) fn generate(
        &mut self,
        setting: Setting<'_>,
        messages: &mut Messages,
        packets: &mut Vec<Packet>,
        rejected: &mut Vec<Rejected>,
        now: u64,
    ) {
        for index in 0..self.sources.len() {
            let class_index = self.sources[index].class;
            let class = &setting.plan.classes[class_index];
            if let Some(next) = messages.next(setting, packets, (self.id, class_index), now) {
                let made = Creation {
                    destination: next.destination,
                    sl: next.level,
                    size: next.size,
                    sequence: next.sequence,
                };
                let id = self.enqueue(setting, packets, class_index, made, now);
                messages.make(next, id);
            }
            if self.sources[index].next != Next::At(now) {
                continue;
            }
            let waiting = self.queues.iter().flatten();
            let waiting = waiting.filter(|&&id| usize::from(packets[id].class) == class_index);
            let room = setting.plan.host.source_queue;
            let full = room.is_some_and(|room| waiting.count() >= room as usize);
            let source = &mut self.sources[index].source;
            let made = source.create(class).expect("a source that sends");
            let gap = source.next_gap(class);
            let id = packets.len();
            self.sources[index].next = next_creation(gap, now, (!full).then_some(id));
            if full {
                rejected.push(Rejected {
                    source: self.id,
                    class: class_index as u16,
                    flow: None,
                    size: made.size,
                    created: now,
                });
                continue;
            }
            self.enqueue(setting, packets, class_index, made, now);
        }
        self.flows.generate(setting, packets, rejected, now);
        self.control.generate(setting, packets, now);
    }

    /// Stage Deliver, after the arrivals.
    pub(super) fn take(&mut self, links: &[Link], packets: &[Packet], now: u64) {
        self.sink.take(links, &mut self.rooms, packets, now);
    }

    /// Stage Notify, first half: a packet of a flow was delivered here.
    pub(super) fn receive(&mut self, setting: Setting<'_>, packet: &Packet, now: u64) {
        let answer = self.receivers.receive(setting, packet, now);
        if answer.is_none() {
            self.rooms.give_back(packet);
        }
        self.control.want(answer);
    }

    /// Stage Notify, first half, after the packets of flows: a control packet was delivered here.
    pub(super) fn receive_control(&mut self, setting: Setting<'_>, saying: Saying, now: u64) {
        assert_eq!(saying.ends(setting).1, self.id);
        if let Says::Probe(payload) = saying.says {
            let probe = (saying.flow, payload);
            self.control.want(self.receivers.probe(setting, probe, now));
        }
    }

    /// Stage Notify, second half: the senders of the flows that begin here, with the control packets that were delivered
    /// anywhere in this cycle.
    pub(super) fn notify(
        &mut self,
        setting: Setting<'_>,
        packets: &[Packet],
        delivered: &[Saying],
        now: u64,
    ) {
        let look = Look {
            setting,
            packets,
            pace: pace(setting, self.id),
            now,
        };
        self.control.want(self.flows.notify(look, delivered));
    }

    /// Stage Notify, at its end: the element of a class says this from now on (D68).
    pub(super) fn tell(&mut self, setting: Setting<'_>, said: (usize, u32), now: u64) {
        self.control.want(self.flows.tell(setting, said, now));
    }

    /// Control packets made in this cycle for a network beside the data network (D49), in order.
    pub(super) fn take_beside(&mut self) -> Vec<Saying> {
        self.control.take_beside()
    }

    /// The packet that has started in this cycle.
    pub(super) fn started(&self, now: u64) -> Option<PacketId> {
        let sending = self.sending.filter(|sending| sending.start == now);
        sending.map(|sending| sending.packet)
    }

    /// Room for answers, for checks.
    pub(super) fn rooms(&self) -> &Rooms {
        &self.rooms
    }

    /// Both ends of control and what they want.
    pub(super) fn control(&self) -> (&Flows, &Receivers, &ControlPackets) {
        (&self.flows, &self.receivers, &self.control)
    }

    /// Goes on with the sources of another plan, whose first gaps count from now; their numbers of packets go on, and
    /// saturating sources stay as they are.
    pub(super) fn fork(&mut self, setting: Setting<'_>, now: u64) {
        fork(&mut self.sources, setting, self.id, now);
        self.flows.fork(setting, now);
    }

    /// A new packet joins its queue.
    fn enqueue(
        &mut self,
        setting: Setting<'_>,
        packets: &mut Vec<Packet>,
        class: usize,
        made: Creation,
        now: u64,
    ) -> PacketId {
        let packet = Packet::new(setting, self.id, class as u16, None, made, now);
        let lane = injection_lane(setting, &packet);
        self.queues[lane].push(packets.len());
        packets.push(packet);
        packets.len() - 1
    }

    /// Stage Inject: starts a packet when the channel is free, then moves the flit that is due.
    pub(super) fn inject(
        &mut self,
        setting: Setting<'_>,
        links: &mut [Link],
        packets: &mut Vec<Packet>,
        now: u64,
    ) {
        let link = &mut links[self.outgoing];
        if now >= self.free_at {
            self.start_packet(setting, link, packets, now);
        }
        let Some(sending) = self.sending else { return };
        let packet = &mut packets[sending.packet];
        let sent = u64::from(packet.flits_sent);
        if packet.flits_sent < packet.size && sending.start + sent * link.cycles_per_flit == now {
            link.hand_over(Moving {
                flit: Flit {
                    packet: sending.packet,
                    index: packet.flits_sent,
                },
                lane: sending.lane,
                past_crossbar: now,
                crosses: now,
                late: packet.late,
            });
            packet.flits_sent += 1;
        }
    }

    /// The first packet of a lane's source queue.
    fn head(&self, lane: usize) -> Option<PacketId> {
        self.queues[lane].first().copied()
    }

    /// What a lane would send.
    pub(super) fn first(&self, look: Look<'_>, lane: usize) -> Option<First> {
        if let Some(id) = self.control.head(lane) {
            return Some(First::Control(id));
        }
        let picked = self.flows.candidate(look, lane, self.head(lane));
        picked.map(First::Picked)
    }

    fn start_packet(
        &mut self,
        setting: Setting<'_>,
        link: &mut Link,
        packets: &mut Vec<Packet>,
        now: u64,
    ) {
        if let Some(last) = self.sending.take() {
            assert_eq!(packets[last.packet].flits_sent, packets[last.packet].size);
        }
        let look = Look {
            setting,
            packets,
            pace: link.cycles_per_flit,
            now,
        };
        let lanes = 0..self.queues.len();
        let firsts: Vec<Option<First>> = lanes.map(|lane| self.first(look, lane)).collect();
        let size = |first: First| match first {
            First::Control(id) => look.packets[id].size,
            First::Picked(candidate) => candidate.size,
        };
        let lanes = firsts.iter().enumerate();
        let eligible: Vec<bool> = lanes
            .map(|(lane, first)| first.is_some_and(|first| link.fits(lane, size(first))))
            .collect();
        let Some(choice) = self.chooser.choose(&eligible) else {
            return;
        };
        let first = firsts[choice.lane].expect("eligible");
        let pace = link.cycles_per_flit;
        let id = self.begin((setting, pace), packets, (choice.lane, first), now);
        let size = packets[id].size;
        let late = link.start(choice.lane, size, now);
        packets[id].late = late;
        let taken = Size::new(size, setting.plan.flit_bytes);
        self.chooser.accepted(choice, taken);
        link.take_credits(choice.lane, size);
        self.free_at = now + u64::from(size) * link.cycles_per_flit + late;
        packets[id].through = Some(Through {
            known: now,
            free: self.free_at,
        });
    }

    /// A packet starts: it leaves its queue or its flow.
    pub(super) fn begin(
        &mut self,
        (setting, pace): (Setting<'_>, u64),
        packets: &mut Vec<Packet>,
        (lane, first): (usize, First),
        now: u64,
    ) -> PacketId {
        let id = match first {
            First::Control(id) => {
                self.control.start(lane, id);
                self.rooms.start(&packets[id]);
                id
            }
            First::Picked(next) => {
                let of_lane = (lane, self.head(lane));
                let of_flow = self
                    .flows
                    .start((setting, pace), packets, of_lane, next, now);
                of_flow.unwrap_or_else(|| self.queues[lane].remove(0))
            }
        };
        packets[id].injected = Some(now);
        self.sending = Some(Sending {
            packet: id,
            lane,
            start: now,
        });
        for source in &mut self.sources {
            if source.next == Next::AfterStartOf(id) {
                source.next = Next::At(now + 1);
            }
        }
        id
    }

    /// Packets that have not started.
    pub(super) fn queued(&self) -> impl Iterator<Item = PacketId> {
        self.queues
            .iter()
            .flatten()
            .copied()
            .chain(self.flows.queued())
            .chain(self.control.queued())
    }
}
