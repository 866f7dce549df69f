//! The sink of a host: where packets end.
//!
//! Model rule 11, D12.

use super::Setting;
use super::link::Link;
use super::packet::{Flit, Packet, PacketId};
use virtlane::ids::HostId;

/// The packet that a slow sink is draining.
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
    /// Slow sink: packets per lane, with the first cycle in which they can drain.
    arrived: Vec<Vec<(PacketId, u64)>>,
    /// Slow sink: next lane.
    pointer: usize,
    draining: Option<Draining>,
}

impl Sink {
    pub(super) fn new(setting: Setting<'_>, host: HostId) -> Self {
        let lanes = usize::from(setting.plan.switch.lane_count());
        Self {
            host,
            incoming: setting.graph.host_channel(host).reverse().index(),
            arrived: vec![Vec::new(); lanes],
            pointer: 0,
            draining: None,
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
            packets[id].destination, self.host,
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
            .map(|step| (self.pointer + step) % lanes)
            .find(|&lane| self.arrived[lane].first().is_some_and(|p| p.1 <= now));
        if let Some(lane) = next {
            let (packet, _) = self.arrived[lane].remove(0);
            self.pointer = (lane + 1) % lanes;
            self.draining = Some(Draining { packet, start: now });
        }
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
