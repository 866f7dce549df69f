//! What happened in a run: packets that were delivered or dropped, and counts.

use super::closed_sets::Stuck;
use super::link::Start;
use super::packet::Packet;
use super::window::{self, ControlCounts, FlowCounts, Window};
use super::{AdmissionCounts, ClaimCounts, Fabric, ReservationCounts, SetUpCounts, TreesSeen};
use virtlane::ids::HostId;

/// A packet that was delivered.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Debug)]
pub(crate) struct Delivery {
    /// Sending host.
    pub(crate) source: HostId,
    /// Traffic class.
    pub(crate) class: u16,
    /// Number within its source, from 0; rejected packets have numbers, too.
    pub(crate) sequence: u64,
    /// Flow, when it is a packet of one.
    pub(crate) flow: Option<u32>,
    /// Receiving host.
    pub(crate) destination: HostId,
    /// Flits.
    pub(crate) size: u16,
    /// Cycle of creation.
    pub(crate) created: u64,
    /// Cycle in which its first flit entered the first channel.
    pub(crate) injected: u64,
    /// Cycle in which its tail was consumed.
    pub(crate) delivered: u64,
    /// Channels between switches that it crossed.
    pub(crate) hops: u16,
    /// Whether it was marked.
    pub(crate) fecn: bool,
}

/// A packet that a switch dropped (D58).
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Debug)]
pub(crate) struct Lost {
    /// Sending host.
    pub(crate) source: HostId,
    /// Traffic class.
    pub(crate) class: u16,
    /// Number within its source, from 0; rejected packets have numbers, too.
    pub(crate) sequence: u64,
    /// Flits.
    pub(crate) size: u16,
    /// Cycle in which its first flit entered the first channel.
    pub(crate) injected: u64,
    /// Cycle of the drop.
    pub(crate) dropped: u64,
    /// Channel that it would have left by.
    pub(crate) channel: usize,
    /// Switches that had granted it.
    pub(crate) grants: u16,
}

/// What happened in a run.
#[derive(PartialEq, Eq, Clone, Debug)]
pub(crate) struct Outcome {
    /// Delivered packets, sorted.
    pub(crate) deliveries: Vec<Delivery>,
    /// Dropped packets, sorted.
    pub(crate) lost: Vec<Lost>,
    /// (host, cycle) with packets that could drain and had no room (D57).
    pub(crate) held: u64,
    /// Packets made by the sources, rejected ones included.
    pub(crate) created: u64,
    /// Packets rejected by full queues of sources and flows.
    pub(crate) rejected: u64,
    /// Messages delivered.
    pub(crate) messages: u64,
    /// Grants of switches.
    pub(crate) packet_hops: u64,
    /// Flits of the packets granted: for packets delivered, size times switches passed.
    pub(crate) flit_hops: u64,
    /// Packets in input queues of switches, summed over the cycles of the measurement, and most at one input.
    pub(crate) queued: (u64, u64),
    /// Repeats of all packets that channels were granted to since cycle 0, or single flits (D65); with an output buffer those
    /// that are still to start, too (D74).
    pub(crate) repeats: u64,
    /// Flits of these repeats.
    pub(crate) repeated_flits: u64,
    /// What the measurement window counts.
    pub(crate) window: Window,
    /// What the flows count, by id.
    pub(crate) flows: Vec<FlowCounts>,
    /// What the classes with control count of their control packets, by class.
    pub(crate) control: Vec<ControlCounts>,
    /// Rounds of admission, requests, and flows admitted.
    pub(crate) admission: AdmissionCounts,
    /// Flows that their own senders begin.
    pub(crate) reservations: ReservationCounts,
    /// What switches keep of routes set up by packets.
    pub(crate) set_ups: SetUpCounts,
    /// Heads that can never move again, and packets that have started and are in the fabric, by name.
    pub(crate) closed_set: Vec<Stuck>,
    pub(crate) in_fabric: Vec<Stuck>,
    /// Heads that have waited.
    pub(crate) claims: ClaimCounts,
    /// Looks at congestion trees (D43).
    pub(crate) trees: Vec<TreesSeen>,
}

impl Fabric<'_> {
    /// After cycles `0..cycles`.
    pub(super) fn outcome(self, cycles: u64) -> Outcome {
        let delivery = |packet: &Packet| {
            let controlled = packet.saying.map(|saying| saying.flow);
            let named = packet.flow.or(controlled);
            Some(Delivery {
                source: packet.source,
                class: packet.class,
                sequence: packet.sequence,
                flow: named.map(|flow| flow as u32),
                destination: packet.destination,
                size: packet.size,
                created: packet.created,
                injected: packet.injected?,
                delivered: packet.delivered?,
                hops: packet.switches - 1,
                fecn: packet.fecn,
            })
        };
        let mut deliveries: Vec<Delivery> = self.packets.iter().filter_map(delivery).collect();
        deliveries.sort();
        let mut lost: Vec<Lost> = self.packets.iter().filter_map(lost).collect();
        lost.sort();
        let rejected = self.rejected.len() as u64;
        let starts = || self.links.iter().flat_map(|link| &link.starts);
        let again = |start: &Start| start.repeats * u64::from(start.size);
        let hops = |packet: &Packet| u64::from(packet.switches);
        let flit_hops = |packet: &Packet| hops(packet) * u64::from(packet.size);
        Outcome {
            deliveries,
            lost,
            held: self.hosts.iter().map(|host| host.sink.held).sum(),
            created: self.packets.len() as u64 + rejected,
            rejected,
            messages: self.messages.delivered(&self.packets),
            packet_hops: self.packets.iter().map(hops).sum(),
            flit_hops: self.packets.iter().map(flit_hops).sum(),
            queued: self.queued,
            repeats: starts().map(|start| start.repeats).sum(),
            repeated_flits: starts().map(again).sum(),
            window: Window::of(&self, cycles),
            flows: window::flows(&self, cycles),
            control: window::control(&self),
            admission: self.admission_counts(),
            reservations: self.reservation_counts(),
            set_ups: self.set_up_counts(),
            closed_set: self.closed_set(cycles.saturating_sub(1)),
            in_fabric: self.in_fabric(),
            claims: self.claim_counts(),
            trees: self.trees,
        }
    }
}

/// A packet that was dropped.
fn lost(packet: &Packet) -> Option<Lost> {
    let dropped = packet.dropped?;
    Some(Lost {
        source: packet.source,
        class: packet.class,
        sequence: packet.sequence,
        size: packet.size,
        injected: packet.injected.expect("it has started"),
        dropped: dropped.cycle,
        channel: dropped.channel,
        grants: packet.switches,
    })
}
