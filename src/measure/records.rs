//! Counters of a run: per class, host and channel.
//!
//! *Window*: the measurement phase. *Tagged*: created within the window; the drain phase waits for tagged
//! packets. Loads count what happens within the window, latencies belong to tagged packets.
//!
//! Flits are delivered one by one, at the pace of the channel or sink: of a packet at an edge of the window those
//! inside count, so that no host accepts more than its channel carries. A packet is created as a whole, in one cycle:
//! sources make packets, not flits. Offered load of a short window may therefore exceed 1, by at most a packet per host
//! beyond what the process makes; over windows it has the same mean as accepted load, as both count each flit once.

use super::delivery::Delivery;
use super::{Digest, FlowLatencies, JitterRecord, LatencyRecord};
use crate::ids::{ChannelId, HostId, VlId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counters of one class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassRecords {
    /// Packets created within the window, rejected ones included.
    pub created_packets: u64,
    /// Their flits.
    pub created_flits: u64,
    /// Packets that started on their first channel within the window.
    pub injected_packets: u64,
    /// Their flits.
    pub injected_flits: u64,
    /// Packets delivered within the window, whenever created.
    pub delivered_packets: u64,
    /// Flits delivered within the window, also of packets that begin before it or end after it.
    pub delivered_flits: u64,
    /// Packets created within the window and rejected by a full source queue.
    pub rejected: u64,
    /// Tagged packets (rejected ones are not tagged).
    pub tagged_created: u64,
    /// Tagged packets delivered.
    pub tagged_delivered: u64,
    /// Tagged packets delivered with the FECN bit.
    pub marked: u64,
    /// Packets that switches dropped.
    pub lost: LossRecord,
    /// First channel to delivery, of tagged packets.
    pub network: LatencyRecord,
    /// Creation to delivery, of tagged packets.
    pub packet: LatencyRecord,
    /// Change of network latency within flows, of tagged packets.
    pub jitter: JitterRecord,
    /// Tagged packets by inter-switch channels crossed, `[hops]`.
    pub hops: Vec<u64>,
    /// Latest delivery of any packet \[cycle\].
    pub last_delivery: u64,
    /// Of a class that sends messages.
    pub messages: Option<Box<MessageRecords>>,
}

/// Packets of a class that switches dropped (D58).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossRecord {
    /// Packets, in the whole run.
    pub packets: u64,
    /// Their flits.
    pub flits: u64,
    /// Switches that they had passed before, summed over the packets.
    pub hops: u64,
    /// Flits of those that were dropped within the window, whenever created.
    pub window_flits: u64,
    /// Tagged packets dropped, whenever that was.
    pub tagged: u64,
}

impl LossRecord {
    /// Adds those of another class or shard.
    pub fn merge(&mut self, other: &Self) {
        self.packets += other.packets;
        self.flits += other.flits;
        self.hops += other.hops;
        self.window_flits += other.window_flits;
        self.tagged += other.tagged;
    }
}

/// Messages of a class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageRecords {
    /// Delivered, in the whole run.
    pub delivered: u64,
    /// Latest delivery \[cycle\].
    pub last_delivery: u64,
    /// First packet made to last packet delivered, of messages whose first packet is tagged.
    pub latency: LatencyRecord,
}

impl MessageRecords {
    fn merge(&mut self, other: &Self) {
        self.delivered += other.delivered;
        self.last_delivery = self.last_delivery.max(other.last_delivery);
        self.latency.merge(&other.latency);
    }
}

/// Counters of one host, within the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Flits created here, rejected packets included.
    pub created_flits: u64,
    /// Flits created anywhere for here, rejected packets included.
    pub destined_flits: u64,
    /// Flits from here that were delivered anywhere.
    pub accepted_flits: u64,
    /// Flits delivered here.
    pub received_flits: u64,
}

/// Counters of all channels, within the window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelRecords {
    lanes: usize,
    /// Flits of the packets that started within the window, `[channel * lanes + lane]`.
    sent: Vec<u64>,
    /// Packets that were dropped within the window where they would have started, `[channel * lanes + lane]`; empty where
    /// nothing drops.
    dropped: Vec<u64>,
}

/// Everything one shard counts, and after merging everything a run counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Records {
    /// `[class]`
    pub classes: Vec<ClassRecords>,
    /// `[host]`
    pub hosts: Vec<HostRecord>,
    /// All channels; filled once per run, not per shard.
    pub channels: ChannelRecords,
    /// Digest of all deliveries of the whole run.
    pub digest: Digest,
    /// Switches passed by packets, in the whole run.
    pub packet_hops: u64,
    /// Switches passed by flits, in the whole run.
    pub flit_hops: u64,
    /// Counters of mechanisms, by name; filled once per run, not per shard.
    pub counts: BTreeMap<String, u64>,
}

impl ClassRecords {
    /// Flits of the packets that were rejected, which have the mean size of all that were created.
    pub fn rejected_flits(&self) -> f64 {
        let size = self.created_flits as f64 / self.created_packets.max(1) as f64;
        self.rejected as f64 * size
    }

    fn deliver(&mut self, delivery: &Delivery, in_window: bool, is_tagged: bool) {
        self.last_delivery = self.last_delivery.max(delivery.delivered);
        if in_window {
            self.delivered_packets += 1;
        }
        if is_tagged {
            self.tagged_delivered += 1;
            self.marked += u64::from(delivery.is_marked);
            self.network.record(delivery.delivered - delivery.injected);
            self.packet.record(delivery.delivered - delivery.created);
            let hops = usize::from(delivery.hops);
            if self.hops.len() <= hops {
                self.hops.resize(hops + 1, 0);
            }
            self.hops[hops] += 1;
        }
    }

    /// Adds the counts of another shard.
    pub fn merge(&mut self, other: &Self) {
        self.created_packets += other.created_packets;
        self.created_flits += other.created_flits;
        self.injected_packets += other.injected_packets;
        self.injected_flits += other.injected_flits;
        self.delivered_packets += other.delivered_packets;
        self.delivered_flits += other.delivered_flits;
        self.rejected += other.rejected;
        self.tagged_created += other.tagged_created;
        self.tagged_delivered += other.tagged_delivered;
        self.marked += other.marked;
        self.lost.merge(&other.lost);
        self.network.merge(&other.network);
        self.packet.merge(&other.packet);
        self.jitter.merge(&other.jitter);
        if self.hops.len() < other.hops.len() {
            self.hops.resize(other.hops.len(), 0);
        }
        for (sum, count) in self.hops.iter_mut().zip(&other.hops) {
            *sum += count;
        }
        self.last_delivery = self.last_delivery.max(other.last_delivery);
        if let Some(messages) = &other.messages {
            self.messages.get_or_insert_default().merge(messages);
        }
    }
}

impl ChannelRecords {
    /// Counters for `channels` channels of `lanes` lanes each.
    pub fn new(channels: usize, lanes: usize) -> Self {
        Self {
            lanes,
            sent: vec![0; channels * lanes],
            dropped: Vec::new(),
        }
    }

    /// Counts packets that were dropped within the window and would have started on a lane of a channel.
    pub fn drop(&mut self, channel: ChannelId, lane: VlId, packets: u64) {
        self.dropped.resize(self.sent.len(), 0);
        self.dropped[channel.index() * self.lanes + lane.index()] += packets;
    }

    /// What `lanes` lanes of every channel have sent within the window, `[channel * lanes + lane]`.
    pub fn of(sent: Vec<u64>, lanes: usize) -> Self {
        Self {
            lanes,
            sent,
            dropped: Vec::new(),
        }
    }

    /// Packets that were dropped where they would have started, by lane of a channel; `None` where nothing drops.
    pub fn dropped(&self, channel: ChannelId) -> Option<&[u64]> {
        self.dropped
            .get(channel.index() * self.lanes..)?
            .get(..self.lanes)
    }

    /// Counts flits that a lane of a channel sent within the window.
    #[inline]
    pub fn send(&mut self, channel: ChannelId, lane: VlId, flits: u64) {
        self.sent[channel.index() * self.lanes + lane.index()] += flits;
    }

    /// Flits of each lane of a channel.
    pub fn lanes(&self, channel: ChannelId) -> &[u64] {
        &self.sent[channel.index() * self.lanes..][..self.lanes]
    }

    /// Flits sent on all lanes of a channel.
    pub fn flits(&self, channel: ChannelId) -> u64 {
        self.lanes(channel).iter().sum()
    }
}

impl Records {
    /// Leaves counts only: no latencies and no jitter.
    pub fn forget_latencies(&mut self) {
        for class in &mut self.classes {
            (class.network, class.packet) = (LatencyRecord::default(), LatencyRecord::default());
            class.jitter = JitterRecord::default();
        }
    }

    /// Zeros for a fabric.
    pub fn new(classes: usize, hosts: usize, channels: usize, lanes: usize) -> Self {
        Self {
            classes: vec![ClassRecords::default(); classes],
            hosts: vec![HostRecord::default(); hosts],
            channels: ChannelRecords::new(channels, lanes),
            ..Self::default()
        }
    }

    /// Counts a packet created within the window. A packet of a full source queue is `rejected`; all
    /// others are tagged.
    pub fn create(
        &mut self,
        class: usize,
        [source, destination]: [HostId; 2],
        flits: u16,
        rejected: bool,
    ) {
        let record = &mut self.classes[class];
        record.created_packets += 1;
        record.created_flits += u64::from(flits);
        record.rejected += u64::from(rejected);
        record.tagged_created += u64::from(!rejected);
        self.hosts[source.index()].created_flits += u64::from(flits);
        self.hosts[destination.index()].destined_flits += u64::from(flits);
    }

    /// A packet counted as created meets a full source queue: it is rejected and not tagged.
    pub fn reject(&mut self, class: usize) {
        self.classes[class].rejected += 1;
        self.classes[class].tagged_created -= 1;
    }

    /// Counts a packet that starts on its first channel within the window.
    pub fn inject(&mut self, class: usize, flits: u16) {
        self.classes[class].injected_packets += 1;
        self.classes[class].injected_flits += u64::from(flits);
    }

    /// Counts flits of a packet that arrive within the window.
    #[inline]
    pub fn arrive(&mut self, class: usize, [source, destination]: [HostId; 2], flits: u64) {
        self.classes[class].delivered_flits += flits;
        self.hosts[source.index()].accepted_flits += flits;
        self.hosts[destination.index()].received_flits += flits;
    }

    /// Counts a delivered packet, in any phase: delivered within the window or not, tagged or not. Its flits that
    /// arrive within the window are counted by [`Self::arrive`].
    pub fn deliver(
        &mut self,
        delivery: &Delivery,
        in_window: bool,
        is_tagged: bool,
        flows: &mut FlowLatencies,
    ) {
        self.digest.add(delivery);
        let class = usize::from(delivery.class);
        self.classes[class].deliver(delivery, in_window, is_tagged);
        if is_tagged {
            let latency = delivery.delivered - delivery.injected;
            let difference = flows.observe(class, delivery.source.index(), latency);
            if let Some(difference) = difference {
                self.classes[class].jitter.record(difference);
            }
        }
    }

    /// Counts a packet that a switch dropped, in any phase.
    pub fn lose(
        &mut self,
        class: usize,
        (flits, hops): (u16, u8),
        in_window: bool,
        is_tagged: bool,
    ) {
        let lost = &mut self.classes[class].lost;
        lost.packets += 1;
        lost.flits += u64::from(flits);
        lost.hops += u64::from(hops);
        lost.window_flits += u64::from(flits) * u64::from(in_window);
        lost.tagged += u64::from(is_tagged);
    }

    /// Counts a message that is complete, in any phase: its latency is measured or not.
    pub fn message(&mut self, class: usize, now: u64, latency: u64, is_tagged: bool) {
        let messages = self.classes[class].messages.get_or_insert_default();
        messages.delivered += 1;
        messages.last_delivery = messages.last_delivery.max(now);
        if is_tagged {
            messages.latency.record(latency);
        }
    }

    /// Adds the counts of another shard of the same run (not those of channels).
    pub fn merge(&mut self, other: &Self) {
        for (sum, part) in self.classes.iter_mut().zip(&other.classes) {
            sum.merge(part);
        }
        for (sum, part) in self.hosts.iter_mut().zip(&other.hosts) {
            sum.created_flits += part.created_flits;
            sum.destined_flits += part.destined_flits;
            sum.accepted_flits += part.accepted_flits;
            sum.received_flits += part.received_flits;
        }
        self.digest.merge(other.digest);
        self.packet_hops += other.packet_hops;
        self.flit_hops += other.flit_hops;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(source: u32, hops: u16, delivered: u64) -> Delivery {
        Delivery {
            source: HostId(source),
            destination: HostId(1 - source),
            class: 0,
            sequence: delivered,
            size: 4,
            created: 10,
            injected: 12,
            delivered,
            hops,
            is_marked: hops == 3,
            flow: None,
        }
    }

    #[test]
    fn channels_count_by_lane() {
        let mut channels = ChannelRecords::new(3, 2);
        channels.send(ChannelId(2), VlId(0), 4);
        channels.send(ChannelId(2), VlId(1), 8);
        assert_eq!(
            (channels.lanes(ChannelId(2)), channels.flits(ChannelId(2))),
            (&[4, 8][..], 12)
        );
        assert_eq!(channels.flits(ChannelId(1)), 0);
    }

    #[test]
    fn shards_merge_to_the_whole() {
        let record = |parts: &[usize]| {
            let mut records = Records::new(1, 2, 4, 2);
            let mut flows = FlowLatencies::new(2, [false]);
            for &part in parts {
                let source = HostId(part as u32);
                records.create(0, [source, HostId(1 - source.0)], 4, part == 1);
                records.inject(0, 4);
                let delivery = delivery(source.0, part as u16 * 3, 40 + part as u64);
                let ends = [source, HostId(1 - source.0)];
                records.arrive(0, ends, if part == 0 { 4 } else { 0 });
                records.deliver(&delivery, part == 0, true, &mut flows);
            }
            records
        };
        let whole = record(&[0, 1]);
        let mut merged = record(&[0]);
        merged.merge(&record(&[1]));
        assert_eq!(merged, whole);
        let class = &whole.classes[0];
        assert_eq!((class.created_packets, class.rejected), (2, 1));
        assert_eq!((class.delivered_flits, class.tagged_delivered), (4, 2));
        assert_eq!((&class.hops[..], class.marked), (&[1, 0, 0, 1][..], 1));
        assert_eq!(class.last_delivery, 41);
        assert_eq!(whole.hosts[0].accepted_flits, 4);
        assert_eq!(whole.hosts[1].received_flits, 4);
        assert_eq!(whole.hosts[1].destined_flits, 4);
    }
}
