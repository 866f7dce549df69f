//! One host: sources, source queues, injection, sink.
//!
//! Model rules 2 (holding), 11, 12; D11 (hosts, injection arbiter), D12 (sink), D17 (sources), D21 (messages).

use super::Setting;
use super::lane_choice::LaneChooser;
use super::link::{Link, Moving, Start};
use super::messages::Messages;
use super::packet::{Flit, Packet, PacketId, Rejected};
use super::routing::{Routing, group};
use virtlane::ids::{ChannelId, HostId};
use virtlane::traffic::{Creation, Gap, Source};

/// When a source makes its next packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    At(u64),
    /// One cycle after this packet has started on the channel.
    AfterStartOf(PacketId),
    Never,
}

/// One class at this host.
#[derive(Debug)]
struct ClassSource {
    class: usize,
    source: Source,
    next: Next,
}

/// The packet that is entering the first channel.
#[derive(Clone, Copy, Debug)]
struct Sending {
    packet: PacketId,
    lane: usize,
    start: u64,
}

/// The packet that a slow sink is draining.
#[derive(Clone, Copy, Debug)]
struct Draining {
    packet: PacketId,
    start: u64,
}

/// A host.
#[derive(Debug)]
pub(super) struct Host {
    id: HostId,
    /// Injection channel.
    outgoing: usize,
    /// Ejection channel.
    incoming: usize,
    sources: Vec<ClassSource>,
    /// Packets that have not started, per lane.
    queues: Vec<Vec<PacketId>>,
    chooser: LaneChooser,
    /// First cycle in which the channel can be granted again.
    free_at: u64,
    sending: Option<Sending>,
    /// Slow sink: packets per lane, with the first cycle in which they can drain.
    arrived: Vec<Vec<(PacketId, u64)>>,
    /// Slow sink: next lane.
    sink_pointer: usize,
    draining: Option<Draining>,
}

impl Host {
    pub(super) fn new(setting: Setting<'_>, id: HostId) -> Self {
        let outgoing = setting.graph.host_channel(id);
        let options = &setting.plan.switch;
        let lanes = usize::from(options.lane_count());
        let mut sources = Vec::new();
        for (index, class) in setting.plan.classes.iter().enumerate() {
            if class.hosts.contains(&id) {
                let mut source = Source::new(setting.plan.seed, index, class, id);
                let next = match source.next_gap(class) {
                    Gap::After(cycles) => Next::At(cycles),
                    Gap::WhenSent => Next::At(0),
                    Gap::Never => Next::Never,
                };
                sources.push(ClassSource {
                    class: index,
                    source,
                    next,
                });
            }
        }
        Self {
            id,
            outgoing: outgoing.index(),
            incoming: outgoing.reverse().index(),
            sources,
            queues: vec![Vec::new(); lanes],
            chooser: LaneChooser::new(options),
            free_at: 0,
            sending: None,
            arrived: vec![Vec::new(); lanes],
            sink_pointer: 0,
            draining: None,
        }
    }

    /// Stage Generate: one packet of each class that is due, in class order; adds the rejected ones.
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
                    sl: class.service_levels[0],
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
                    size: made.size,
                    created: now,
                });
                continue;
            }
            self.enqueue(setting, packets, class_index, made, now);
        }
    }

    /// Goes on with the sources of another plan, whose first gaps count from now; their numbers of packets go on, and
    /// saturating sources stay as they are.
    pub(super) fn fork(&mut self, setting: Setting<'_>, now: u64) {
        let mut forked = Self::new(setting, self.id).sources;
        for new in &mut forked {
            let old = self.sources.iter_mut().find(|old| old.class == new.class);
            let old = old.expect("the same senders");
            if setting.plan.classes[new.class].is_backlogged() {
                std::mem::swap(new, old);
                continue;
            }
            new.source.number_after(&old.source);
            new.next = match new.next {
                Next::At(first) if !new.source.is_done() => Next::At(first + now),
                _ => Next::Never,
            };
        }
        self.sources = forked;
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
        let (first, _) = setting.graph.attachment(self.id).expect("a switch");
        let packet = Packet {
            source: self.id,
            class: class as u16,
            sequence: made.sequence,
            destination: made.destination,
            sl: made.sl,
            management: setting.plan.classes[class].management,
            layer: match setting.routing {
                Routing::Tables(tables) => tables.path_layer(first, made.destination),
                Routing::Adaptive(_) => 0,
            },
            course: None,
            size: made.size,
            created: now,
            injected: None,
            delivered: None,
            fecn: false,
            switches: 0,
            flits_sent: 0,
            flits_consumed: 0,
            consumed: Vec::new(),
        };
        let lane = self.injection_lane(setting, &packet);
        self.queues[lane].push(packets.len());
        packets.push(packet);
        packets.len() - 1
    }

    fn injection_lane(&self, setting: Setting<'_>, packet: &Packet) -> usize {
        let options = &setting.plan.switch;
        let lane = match setting.routing {
            Routing::Tables(_) if packet.management => return usize::from(options.lanes),
            Routing::Tables(tables) => {
                let channel = ChannelId::from(self.outgoing);
                let lane = tables
                    .lanes
                    .injection_lane(channel, packet.sl, packet.layer);
                lane.index()
            }
            Routing::Adaptive(routing) => {
                let lanes = group(routing, options, packet);
                lanes.start + packet.sequence as usize % lanes.len()
            }
        };
        assert!(lane < usize::from(options.lanes));
        lane
    }

    /// Stage Inject: starts a packet when the channel is free, then moves the flit that is due.
    pub(super) fn inject(
        &mut self,
        setting: Setting<'_>,
        links: &mut [Link],
        packets: &mut [Packet],
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
            });
            packet.flits_sent += 1;
        }
    }

    fn start_packet(
        &mut self,
        setting: Setting<'_>,
        link: &mut Link,
        packets: &mut [Packet],
        now: u64,
    ) {
        if let Some(last) = self.sending.take() {
            assert_eq!(packets[last.packet].flits_sent, packets[last.packet].size);
        }
        let eligible: Vec<bool> = (0..self.queues.len())
            .map(|lane| {
                let head = self.queues[lane].first();
                head.is_some_and(|&head| link.fits(lane, packets[head].size))
            })
            .collect();
        let Some(choice) = self.chooser.choose(&eligible) else {
            return;
        };
        let id = self.queues[choice.lane].remove(0);
        let size = packets[id].size;
        link.starts.push(Start {
            cycle: now,
            lane: choice.lane,
            size,
        });
        let bytes = u64::from(size) * u64::from(setting.plan.flit_bytes);
        self.chooser.accepted(choice, bytes);
        link.take_credits(choice.lane, size);
        packets[id].injected = Some(now);
        self.free_at = now + u64::from(size) * link.cycles_per_flit;
        self.sending = Some(Sending {
            packet: id,
            lane: choice.lane,
            start: now,
        });
        for source in &mut self.sources {
            if source.next == Next::AfterStartOf(id) {
                source.next = Next::At(now + 1);
            }
        }
    }

    /// A header arrives: with a slow sink the packet queues for it (D12).
    pub(super) fn arrive(
        &mut self,
        setting: Setting<'_>,
        link: &Link,
        packets: &[Packet],
        (id, lane): (PacketId, usize),
        now: u64,
    ) {
        assert_eq!(
            packets[id].destination, self.id,
            "delivered to another host"
        );
        if let Some(c) = setting.plan.host.sink_cycles_per_flit {
            let tail = u64::from(packets[id].size) - 1;
            let wait = tail * link.cycles_per_flit.saturating_sub(u64::from(c));
            self.arrived[lane].push((id, now + wait));
        }
    }

    /// Stage Consume (rule 11, D12).
    pub(super) fn consume(
        &mut self,
        setting: Setting<'_>,
        links: &mut [Link],
        packets: &mut [Packet],
        now: u64,
    ) {
        let link = &mut links[self.incoming];
        let Some(c) = setting.plan.host.sink_cycles_per_flit else {
            for stored in link.buffer.clone() {
                assert_eq!(stored.since, now);
                consume_flit(link, packets, stored.flit, now);
            }
            return;
        };
        let c = u64::from(c);
        if let Some(Draining { packet, start }) = self.draining
            && now >= start + u64::from(packets[packet].size) * c
        {
            assert!(packets[packet].delivered.is_some());
            self.draining = None;
        }
        if self.draining.is_none() {
            self.start_draining(now);
        }
        let Some(Draining { packet, start }) = self.draining else {
            return;
        };
        let index = packets[packet].flits_consumed;
        if index < packets[packet].size && start + u64::from(index) * c == now {
            consume_flit(link, packets, Flit { packet, index }, now);
        }
    }

    /// D12: round robin over lanes whose first packet can drain.
    fn start_draining(&mut self, now: u64) {
        let lanes = self.arrived.len();
        let next = (0..lanes)
            .map(|step| (self.sink_pointer + step) % lanes)
            .find(|&lane| self.arrived[lane].first().is_some_and(|p| p.1 <= now));
        if let Some(lane) = next {
            let (packet, _) = self.arrived[lane].remove(0);
            self.sink_pointer = (lane + 1) % lanes;
            self.draining = Some(Draining { packet, start: now });
        }
    }

    /// Packets that have not started.
    pub(super) fn queued(&self) -> impl Iterator<Item = PacketId> {
        self.queues.iter().flatten().copied()
    }
}

/// When a source goes on after a packet made now, which was accepted as `packet` or rejected (D11, D17).
fn next_creation(gap: Gap, now: u64, packet: Option<PacketId>) -> Next {
    match (gap, packet) {
        (Gap::Never, _) => Next::Never,
        (Gap::After(cycles), _) => {
            assert!(cycles > 0, "two packets of a source in one cycle");
            Next::At(now + cycles)
        }
        (Gap::WhenSent, None) => Next::At(now + 1),
        (Gap::WhenSent, Some(id)) => Next::AfterStartOf(id),
    }
}

/// The next flit of a packet is consumed; its credit goes back; with the tail the packet is delivered.
fn consume_flit(link: &mut Link, packets: &mut [Packet], flit: Flit, now: u64) {
    link.remove(flit, now);
    let packet = &mut packets[flit.packet];
    assert_eq!(
        packet.flits_consumed, flit.index,
        "flits of a packet out of order"
    );
    packet.flits_consumed += 1;
    packet.consumed.push(now);
    if packet.flits_consumed == packet.size {
        assert_eq!(packet.delivered, None);
        packet.delivered = Some(now);
    }
}
