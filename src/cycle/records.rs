//! Statistics of one shard: what the stages count as they run.
//!
//! Everything is an integer that merges by addition, so the sums do not depend on the number of shards. The
//! measurement window is set from outside; the stages need not know the phase they run in.

use crate::fabric::{Packet, PacketRecord};
use crate::ids::HostId;
use crate::measure::{self, Delivery, FlowLatencies, Observation};
use crate::plan::Plan;
use crate::topology::Graph;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    }
}

/// Counters of a shard.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Records {
    /// Packets that passed a switch, summed over switches.
    pub packet_hops: u64,
    /// The same in flits.
    pub flit_hops: u64,
    /// Running totals.
    pub totals: Totals,
    /// What belongs to the measurement window and to tagged packets.
    pub measured: measure::Records,
    flows: FlowLatencies,
    /// First cycle of the measurement window and first one after it.
    window: (u64, u64),
    /// Global id of each local host.
    host_ids: Vec<u32>,
    /// Cycles from one flit to the next where a host takes them, `[host]`.
    pace: Vec<u16>,
    /// Longest time from the first flit of a packet to its last where a host takes it \[cycles\].
    longest: u64,
    /// What is looked at packet by packet, when anything is.
    close: Option<Box<Close>>,
}

/// What only some runs look at, packet by packet.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Close {
    /// Every delivery, when asked for.
    deliveries: Option<Vec<Delivery>>,
    /// Cycle in which the last packet of each (source, class, destination, key) was made, when order is checked: a class
    /// makes at most one per host and cycle.
    order: Option<BTreeMap<(u32, u16, u32, u8), u64>>,
    /// The first packet that was overtaken: (source, destination, class, sequence).
    overtaken: Option<(u32, u32, u16, u32)>,
    /// Records of packets and flows, when asked for.
    observation: Option<Observation>,
}

impl Records {
    /// Zeros for a shard with the given hosts.
    pub fn new(plan: &Plan, graph: &Graph, host_ids: Vec<u32>) -> Self {
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
            host_ids,
            longest: u64::from(plan.largest_packet()) * u64::from(slowest),
            pace,
            ..Self::default()
        }
    }

    /// From now on every delivery is kept.
    pub fn keep_deliveries(&mut self) {
        self.close.get_or_insert_default().deliveries = Some(Vec::new());
    }

    /// From now on packets of one flow and lane key must arrive in the order of their numbers.
    pub fn check_order(&mut self) {
        self.close.get_or_insert_default().order = Some(BTreeMap::new());
    }

    /// From now on tagged packets are recorded there.
    pub fn observe(&mut self, observation: Observation) {
        self.close.get_or_insert_default().observation = Some(observation);
    }

    /// Every delivery so far, when kept.
    pub fn deliveries(&self) -> &[Delivery] {
        let kept = self
            .close
            .as_ref()
            .and_then(|close| close.deliveries.as_deref());
        kept.unwrap_or_default()
    }

    /// The first packet that was overtaken: (source, destination, class, sequence), when order is checked.
    pub fn overtaken(&self) -> Option<(u32, u32, u16, u32)> {
        self.close.as_ref().and_then(|close| close.overtaken)
    }

    /// Records of packets and flows, when asked for.
    pub fn observation(&self) -> Option<&Observation> {
        self.close
            .as_ref()
            .and_then(|close| close.observation.as_ref())
    }

    /// Records of packets and flows, when asked for.
    pub fn observation_mut(&mut self) -> Option<&mut Observation> {
        self.close
            .as_mut()
            .and_then(|close| close.observation.as_mut())
    }

    /// Goes on with what `built` keeps beside the counters.
    pub fn observe_as(&mut self, built: Self) {
        let saved = self
            .close
            .take()
            .map_or_else(Close::default, |close| *close);
        self.close = built.close.map(|built| {
            Box::new(Close {
                deliveries: built
                    .deliveries
                    .map(|none| saved.deliveries.unwrap_or(none)),
                order: built.order.map(|none| saved.order.unwrap_or(none)),
                overtaken: saved.overtaken,
                observation: built
                    .observation
                    .map(|none| saved.observation.unwrap_or(none)),
            })
        });
    }

    /// Goes on with the measurement window of `built`, which has not begun in either.
    pub fn branch(&mut self, built: Self) {
        self.window = built.window;
        // other patterns may be flows
        self.flows.clone_from(&built.flows);
        // what is asked for is asked of the new run
        if let Some(close) = &mut self.close {
            close.observation = None;
        }
        self.observe_as(built);
    }

    /// Moves the measurement window; nothing is counted twice or taken back.
    pub fn set_window(&mut self, start: u64, end: u64) {
        self.window = (start, end);
    }

    #[inline]
    fn in_window(&self, cycle: u64) -> bool {
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
            Some(late) => {
                let pace = u64::from(self.pace[destination as usize]);
                size.saturating_sub(late / pace + 1)
            }
        }
    }

    /// A packet is created at a local host.
    #[inline]
    pub fn created(&mut self, now: u64, class: u16, host: u32, destination: HostId, flits: u16) {
        self.totals.created += 1;
        self.totals.created_flits += u64::from(flits);
        if self.in_window(now) {
            let host = HostId(self.host_ids[host as usize]);
            let ends = [host, destination];
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
        let delivery = Delivery {
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
        };
        let (in_window, is_tagged) = (self.in_window(now), self.in_window(record.created));
        let flits = self.arrived_in_window(now, packet.destination, packet.size);
        let ends = [delivery.source, delivery.destination];
        self.measured.arrive(usize::from(record.class), ends, flits);
        self.measured
            .deliver(&delivery, in_window, is_tagged, &mut self.flows);
        if let Some(close) = &mut self.close {
            close.delivered(&delivery, is_tagged, packet, record);
        }
    }
}

impl Close {
    /// A packet is delivered.
    fn delivered(
        &mut self,
        delivery: &Delivery,
        is_tagged: bool,
        packet: &Packet,
        record: &PacketRecord,
    ) {
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.push(*delivery);
        }
        if is_tagged && let Some(observation) = &mut self.observation {
            observation.record(delivery, packet.key);
        }
        self.note_order(packet, record);
    }

    fn note_order(&mut self, packet: &Packet, record: &PacketRecord) {
        let Some(order) = &mut self.order else { return };
        let flow = (record.source, record.class, packet.destination, packet.key);
        let last = order.insert(flow, record.created);
        if last.is_some_and(|last| last > record.created) && self.overtaken.is_none() {
            self.overtaken = Some((
                record.source,
                packet.destination,
                record.class,
                record.sequence,
            ));
        }
    }
}
