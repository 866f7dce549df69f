//! Statistics of one shard: what the stages count as they run.
//!
//! Everything is an integer that merges by addition, so the sums do not depend on the number of shards. The
//! measurement window is set from outside; the stages need not know the phase they run in.

use super::snapshot::{Persistent, Resume};
use crate::fabric::components::NONE;
use crate::fabric::{Packet, PacketRecord};
use crate::ids::HostId;
use crate::measure::{self, Delivery, FlowLatencies};
use crate::plan::{Forwarding, Plan};
use crate::topology::Graph;
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// Running totals since cycle 0, in every phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Packets created, rejected ones included.
    pub created: u64,
    /// Their flits.
    pub created_flits: u64,
    /// Packets rejected by full source queues.
    pub rejected: u64,
    /// Packets that entered their first channel.
    pub injected: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Their flits.
    pub delivered_flits: u64,
    /// Sum of their network latencies \[cycles\].
    pub network_latency: u64,
    /// Sum of their packet latencies \[cycles\].
    pub packet_latency: u64,
    /// Packets that switches dropped.
    pub dropped: u64,
    /// Their flits.
    pub dropped_flits: u64,
}

impl Totals {
    /// Adds the totals of another shard.
    pub fn add(&mut self, other: &Self) {
        self.created += other.created;
        self.created_flits += other.created_flits;
        self.rejected += other.rejected;
        self.injected += other.injected;
        self.delivered += other.delivered;
        self.delivered_flits += other.delivered_flits;
        self.network_latency += other.network_latency;
        self.packet_latency += other.packet_latency;
        self.dropped += other.dropped;
        self.dropped_flits += other.dropped_flits;
    }

    /// Packets created that are neither rejected nor delivered nor dropped.
    pub fn present(&self) -> u64 {
        self.created - self.rejected - self.delivered - self.dropped
    }

    /// Packets in the fabric.
    pub fn in_fabric(&self) -> u64 {
        self.injected - self.delivered - self.dropped
    }
}

/// Counters of a shard.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct Records {
    /// Running totals.
    pub totals: Totals,
    /// What belongs to the measurement window and to tagged packets.
    pub measured: measure::Records,
    flows: FlowLatencies,
    /// First cycle of the measurement window and first one after it.
    window: (u64, u64),
    /// Cycles from one flit to the next where a host takes them, `[host]`.
    pace: Vec<u16>,
    /// Longest time from the first flit of a packet to its last where a host takes it \[cycles\].
    longest: u64,
    /// Whether all flits of a packet count with its last one (D65).
    is_whole: bool,
}

impl Persistent for Records {
    fn resume(&mut self, built: Self, how: &Resume<'_>) {
        if how.fork {
            // the measurement has not begun in either; other patterns may be flows
            self.window = built.window;
            self.flows = built.flows;
        }
    }
}

impl Records {
    /// Zeros.
    pub fn new(plan: &Plan, graph: &Graph) -> Self {
        let host_count = graph.hosts().len();
        let pace = graph.host_ids().map(|host| {
            let channel = graph.channel(graph.host_channel(host).reverse());
            let sink = plan.host.sink_cycles_per_flit;
            sink.unwrap_or(channel.timing.cycles_per_flit) as u16
        });
        let pace: Vec<u16> = pace.collect();
        let slowest = pace.iter().copied().max().unwrap_or(1);
        let end = plan.phases.warmup.saturating_add(plan.phases.measure);
        Self {
            measured: measure::Records::new(plan.classes.len(), host_count, 0, 1),
            flows: FlowLatencies::new(
                host_count,
                plan.classes.iter().map(|class| class.pattern.is_fixed()),
            ),
            window: (plan.phases.warmup, end),
            longest: u64::from(plan.largest_packet()) * u64::from(slowest),
            is_whole: plan.switch.forwarding == Forwarding::Wormhole,
            pace,
            ..Self::default()
        }
    }

    /// Moves the measurement window; nothing is counted twice or taken back.
    pub fn set_window(&mut self, start: u64, end: u64) {
        self.window = (start, end);
    }

    /// Cycles of `from..to` that are measured.
    pub fn measured_between(&self, from: u64, to: u64) -> u64 {
        to.min(self.window.1)
            .saturating_sub(from.max(self.window.0))
    }

    /// Whether what happens in a cycle is measured.
    #[inline]
    pub fn in_window(&self, cycle: u64) -> bool {
        cycle >= self.window.0 && cycle < self.window.1
    }

    /// Flits of a packet that its host takes within the window; the last one in cycle `tail`.
    #[inline]
    pub fn arrived_in_window(&self, tail: u64, destination: u32, size: u16) -> u64 {
        let (start, end) = self.window;
        if tail >= end || tail < start.saturating_add(self.longest) {
            self.arrived_before(end, tail, destination, size)
                - self.arrived_before(start, tail, destination, size)
        } else {
            u64::from(size)
        }
    }

    /// The same up to cycle `now`, of a packet whose tail is still to come.
    pub fn arrived_by(&self, now: u64, tail: u64, destination: u32, size: u16) -> u64 {
        let (start, end) = self.window;
        let before = |at| self.arrived_before(at, tail, destination, size);
        before(end.min(now)).saturating_sub(before(start))
    }

    /// Flits that its host takes before cycle `at`.
    fn arrived_before(&self, at: u64, tail: u64, destination: u32, size: u16) -> u64 {
        let size = u64::from(size);
        match tail.checked_sub(at) {
            None => size,
            Some(_) if self.is_whole => 0,
            Some(late) => {
                let pace = u64::from(self.pace[destination as usize]);
                size.saturating_sub(late / pace + 1)
            }
        }
    }

    /// A packet is created: source and destination.
    #[inline]
    pub fn created(&mut self, now: u64, class: u16, ends: [HostId; 2], flits: u16) {
        self.totals.created += 1;
        self.totals.created_flits += u64::from(flits);
        if self.in_window(now) {
            self.measured.create(usize::from(class), ends, flits, false);
        }
    }

    /// The packet just created is rejected.
    #[inline]
    pub fn rejected(&mut self, now: u64, class: u16) {
        self.totals.rejected += 1;
        if self.in_window(now) {
            self.measured.reject(usize::from(class));
        }
    }

    /// A packet enters its first channel.
    #[inline]
    pub fn injected(&mut self, now: u64, class: u16, flits: u16) {
        self.totals.injected += 1;
        if self.in_window(now) {
            self.measured.inject(usize::from(class), flits);
        }
    }

    /// A packet is dropped by a switch.
    pub fn dropped(&mut self, now: u64, packet: &Packet, record: &PacketRecord) {
        self.totals.dropped += 1;
        self.totals.dropped_flits += u64::from(packet.size);
        let (in_window, is_tagged) = (self.in_window(now), self.in_window(record.created));
        let what = (packet.size, packet.hops);
        self.measured
            .lose(usize::from(record.class), what, in_window, is_tagged);
    }

    /// The last packet of a message is delivered, of which the first was made in cycle `created`.
    pub fn message(&mut self, now: u64, class: u16, created: u64) {
        let is_tagged = self.in_window(created);
        self.measured
            .message(usize::from(class), now, now - created, is_tagged);
    }

    /// A packet is delivered.
    #[inline]
    pub fn delivered(&mut self, now: u64, packet: &Packet, record: &PacketRecord) {
        self.totals.delivered += 1;
        self.totals.delivered_flits += u64::from(packet.size);
        self.totals.network_latency += now - record.injected;
        self.totals.packet_latency += now - record.created;
        let delivery = delivery(now, packet, record);
        let (in_window, is_tagged) = (self.in_window(now), self.in_window(record.created));
        let flits = self.arrived_in_window(now, packet.destination, packet.size);
        let ends = [delivery.source, delivery.destination];
        self.measured.arrive(usize::from(record.class), ends, flits);
        self.measured
            .deliver(&delivery, in_window, is_tagged, &mut self.flows);
    }
}

/// What is told of a packet that is delivered in cycle `now`.
pub fn delivery(now: u64, packet: &Packet, record: &PacketRecord) -> Delivery {
    Delivery {
        source: HostId(record.source),
        destination: HostId(packet.destination),
        class: record.class,
        sequence: u64::from(record.sequence),
        size: packet.size,
        created: record.created,
        injected: record.injected,
        delivered: now,
        hops: u16::from(packet.hops.saturating_sub(1)),
        is_marked: packet.fecn,
        flow: (record.flow != NONE).then_some(record.flow),
    }
}
