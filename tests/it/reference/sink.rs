//! The sink of a host: where packets end.
//!
//! Model rule 11, D12, D57 (packets that are held), D78 (single flits: `wormhole::sink`).

use super::Setting;
use super::link::Link;
use super::packet::{Flit, Packet, PacketId};
use super::rooms::{Rooms, are_bounded};
use super::wormhole::{self, FlitSink};
use virtlane::ids::HostId;

/// The packet that a sink is draining.
#[derive(Clone, Copy, Debug)]
struct Draining {
    packet: PacketId,
    start: u64,
}

/// A sink.
#[derive(Debug)]
pub(super) struct Sink {
    host: HostId,
    /// Ejection channel.
    incoming: usize,
    /// c of D12 \[cycles per flit\] of a sink that takes packets; `None`: it consumes every flit when it comes, or single ones.
    pace: Option<u64>,
    /// What takes one flit after the other (D78).
    single: Option<FlitSink>,
    /// D65: all flits of a packet count with its last one.
    counts_whole: bool,
    /// Packets per lane that have not begun to drain, with the first cycle in which they can.
    arrived: Vec<Vec<(PacketId, u64)>>,
    /// Next lane.
    pointer: usize,
    draining: Option<Draining>,
    /// Cycles in which it was free, and all that could drain had no room (D57).
    pub(super) held: u64,
}

impl Sink {
    pub(super) fn new(setting: Setting<'_>, host: HostId) -> Self {
        let lanes = usize::from(setting.plan.switch.lane_count());
        let incoming = setting.graph.host_channel(host).reverse();
        let slow = setting.plan.host.sink_cycles_per_flit;
        let channel = setting.graph.channel(incoming).timing.cycles_per_flit;
        let pace = slow.or(are_bounded(setting.plan).then_some(channel));
        let pace = pace.map(u64::from);
        let is_single = wormhole::is_on(setting.plan);
        Self {
            host,
            incoming: incoming.index(),
            pace: pace.filter(|_| !is_single),
            single: pace
                .filter(|_| is_single)
                .map(|pace| FlitSink::new(pace, lanes)),
            counts_whole: is_single,
            arrived: vec![Vec::new(); lanes],
            pointer: 0,
            draining: None,
            held: 0,
        }
    }

    /// A header arrives: the packet queues (D12).
    pub(super) fn arrive(
        &mut self,
        link: &Link,
        packets: &[Packet],
        (id, lane): (PacketId, usize),
        now: u64,
    ) {
        assert_eq!(
            packets[id].destination, self.host,
            "delivered to another host"
        );
        if let Some(c) = self.pace {
            let tail = u64::from(packets[id].size) - 1;
            let wait = tail * link.cycles_per_flit.saturating_sub(c);
            self.arrived[lane].push((id, now + wait));
        }
    }

    /// Stage Deliver, after the arrivals, so with the room that the cycle before has left (D57): when the sink is free it takes
    /// a packet, round robin over the lanes whose first packet can drain and has room; or a single flit (D78).
    pub(super) fn take(&mut self, links: &[Link], rooms: &mut Rooms, packets: &[Packet], now: u64) {
        if let Some(single) = &mut self.single {
            let held = single.take(&links[self.incoming], rooms, packets, now);
            self.held += u64::from(held);
        }
        let Some(c) = self.pace else { return };
        if let Some(Draining { packet, start }) = self.draining {
            if now < start + u64::from(packets[packet].size) * c {
                return;
            }
            assert!(packets[packet].delivered.is_some());
            self.draining = None;
        }
        let lanes = self.arrived.len();
        let mut could = false;
        for lane in (0..lanes).map(|step| (self.pointer + step) % lanes) {
            let first = self.arrived[lane].first();
            let Some(&(packet, _)) = first.filter(|first| first.1 <= now) else {
                continue;
            };
            could = true;
            if rooms.has_room(&packets[packet]) {
                rooms.take(&packets[packet]);
                self.arrived[lane].remove(0);
                self.pointer = (lane + 1) % lanes;
                self.draining = Some(Draining { packet, start: now });
                return;
            }
        }
        self.held += u64::from(could);
    }

    /// Stage Consume (rule 11, D12).
    pub(super) fn consume(&mut self, links: &mut [Link], packets: &mut [Packet], now: u64) {
        let link = &mut links[self.incoming];
        let Some(c) = self.pace else {
            let taken: Vec<Flit> = if let Some(sink) = &mut self.single {
                sink.taken.take().into_iter().collect()
            } else {
                assert!(link.buffer.iter().all(|stored| stored.since == now));
                link.buffer.iter().map(|stored| stored.flit).collect()
            };
            for flit in taken {
                consume_flit(link, packets, flit, now);
                let packet = &mut packets[flit.packet];
                if self.counts_whole && packet.delivered == Some(now) {
                    packet.consumed.fill(now);
                }
            }
            return;
        };
        let Some(Draining { packet, start }) = self.draining else {
            return;
        };
        let index = packets[packet].flits_consumed;
        if index < packets[packet].size && start + u64::from(index) * c == now {
            consume_flit(link, packets, Flit { packet, index }, now);
        }
    }

    /// The first packet of a lane, if it can drain by now and has not begun to, and the flits of all of the lane that can, with
    /// D65 of those that are there.
    pub(super) fn waiting(
        &self,
        link: &Link,
        packets: &[Packet],
        lane: usize,
        now: u64,
    ) -> Option<(PacketId, u64)> {
        if self.single.is_some() {
            let there: Vec<Flit> = flits_of_lane(link, lane).collect();
            let first = there.first().filter(|flit| flit.index == 0)?;
            return Some((first.packet, there.len() as u64));
        }
        let ready = self.arrived[lane].iter();
        let ready = ready.take_while(move |(_, at)| *at <= now);
        let ready: Vec<PacketId> = ready.map(|&(packet, _)| packet).collect();
        let flits = ready.iter().map(|&id| u64::from(packets[id].size));
        Some((*ready.first()?, flits.sum()))
    }

    /// The packets that drain and are not delivered yet, one at most but for single flits.
    pub(super) fn drains(&self, packets: &[Packet]) -> Vec<PacketId> {
        let drain: Vec<PacketId> = match &self.single {
            Some(single) => single.begun.iter().flatten().copied().collect(),
            None => self.draining.iter().map(|one| one.packet).collect(),
        };
        let is_there = |packet: &PacketId| packets[*packet].delivered.is_none();
        drain.into_iter().filter(is_there).collect()
    }
}

/// Flits in the buffer of a host, in the order in which they came.
pub(super) fn flits_of_lane(link: &Link, lane: usize) -> impl Iterator<Item = Flit> {
    let stored = link.buffer.iter().filter(move |one| one.lane == lane);
    stored.map(|one| one.flit)
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
