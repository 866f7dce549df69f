//! Records of single packets and of flows, for runs that ask for them.
//!
//! Recorded are tagged packets: those whose latencies the summary counts. A flow is one (class, source,
//! destination); it ends at one host, so one shard sees all of it. Which packets are in a sample depends on the
//! packet alone, never on the order of deliveries.
//! Cost: nothing when off; per delivered packet an entry of 64 bytes that is handed over at the next look, and
//! O(log flows) for its flow, which takes about 120 bytes; percentiles as in [`percentiles`](super::percentiles).

use super::delivery::Delivery;
use super::percentiles::Groups;
use crate::rng::mix;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which packets are recorded one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Sample {
    /// None of them.
    #[default]
    None,
    /// All of them.
    All,
    /// Every n-th that a source makes in a class, its first included.
    Every(u32),
    /// Each with this probability, drawn from seed and packet.
    Fraction(f64),
}

/// What a run is asked to record beside its counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observe {
    /// Packets.
    pub packets: Sample,
    /// Whether flows are recorded.
    pub flows: bool,
    /// Whether flows have percentiles of latency, `[class]`; empty = none of them.
    pub percentiles: Vec<bool>,
    /// Whether latencies are recorded by hops.
    pub hops: bool,
    /// Whether the occupancy of input queues is recorded.
    pub queues: bool,
    /// Cycles between two looks for congestion trees; `None` = there are none.
    pub congestion: Option<u64>,
    /// The classes of packets and flows, `[class]`.
    pub classes: Vec<bool>,
}

impl Observe {
    /// Whether anything is recorded packet by packet.
    pub fn is_on(&self) -> bool {
        self.packets != Sample::None || self.flows || self.has_groups()
    }

    /// Whether latencies are recorded in groups.
    pub fn has_groups(&self) -> bool {
        self.hops || !self.percentiles.is_empty()
    }
}

/// What a packet is known by: source host, class and its number there, `12/bulk/345`.
pub fn packet_id(source: u32, class: &str, sequence: u64) -> String {
    format!("{source}/{class}/{sequence}")
}

/// A recorded packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketRow {
    /// The packet and its times.
    pub delivery: Delivery,
    /// Its service level; `None` = VL15.
    pub sl: Option<u8>,
}

impl PacketRow {
    /// Order of rows: by delivery, then by source, class and number.
    pub fn order(&self) -> (u64, u32, u16, u64) {
        let packet = &self.delivery;
        (
            packet.delivered,
            packet.source.0,
            packet.class,
            packet.sequence,
        )
    }
}

/// One (class, source, destination).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Flow {
    /// Number of the class.
    pub class: u16,
    /// Host that sends.
    pub source: u32,
    /// Host that receives.
    pub destination: u32,
}

/// Counters of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowRecord {
    /// Packets delivered.
    pub packets: u64,
    /// Their flits.
    pub flits: u64,
    /// Packets with the FECN bit.
    pub marked: u64,
    /// Inter-switch channels crossed, all packets together.
    pub hops: u64,
    /// Sum of network latencies \[cycles\].
    pub network_sum: u128,
    /// Largest network latency \[cycles\].
    pub network_max: u64,
    /// Sum of packet latencies \[cycles\].
    pub packet_sum: u128,
    /// Largest packet latency \[cycles\].
    pub packet_max: u64,
    /// Earliest creation \[cycle\].
    pub first_created: u64,
    /// Latest delivery \[cycle\].
    pub last_delivered: u64,
}

impl FlowRecord {
    fn add(&mut self, packet: &Delivery) {
        let network = packet.delivered - packet.injected;
        let whole = packet.delivered - packet.created;
        let is_first = self.packets == 0;
        self.packets += 1;
        self.flits += u64::from(packet.size);
        self.marked += u64::from(packet.is_marked);
        self.hops += u64::from(packet.hops);
        self.network_sum += u128::from(network);
        self.network_max = self.network_max.max(network);
        self.packet_sum += u128::from(whole);
        self.packet_max = self.packet_max.max(whole);
        if is_first || packet.created < self.first_created {
            self.first_created = packet.created;
        }
        self.last_delivered = self.last_delivered.max(packet.delivered);
    }
}

/// What one shard has recorded.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Observation {
    observe: Observe,
    seed: u64,
    /// Service level of every key of the lane map.
    levels: Vec<Option<u8>>,
    packets: Vec<PacketRow>,
    flows: BTreeMap<Flow, FlowRecord>,
    groups: Groups,
}

impl Observation {
    /// Nothing recorded yet, of a run with that seed; `levels`: service level of every key of the lane map.
    pub fn new(observe: &Observe, seed: u64, levels: Vec<Option<u8>>) -> Self {
        Self {
            observe: observe.clone(),
            seed,
            levels,
            ..Self::default()
        }
    }

    /// Records a tagged packet with that key of the lane map.
    pub fn record(&mut self, delivery: &Delivery, key: u8) {
        if !self.observe.classes[usize::from(delivery.class)] {
            return;
        }
        if self.takes(delivery) {
            let delivery = *delivery;
            let sl = self.levels[usize::from(key)];
            self.packets.push(PacketRow { delivery, sl });
        }
        if self.observe.flows {
            let flow = Flow {
                class: delivery.class,
                source: delivery.source.0,
                destination: delivery.destination.0,
            };
            self.flows.entry(flow).or_default().add(delivery);
        }
        if self.observe.has_groups() {
            self.count(delivery);
        }
    }

    /// Counts a packet in its groups.
    fn count(&mut self, packet: &Delivery) {
        let network = packet.delivered - packet.injected;
        let whole = packet.delivered - packet.created;
        let class = usize::from(packet.class);
        if self.observe.percentiles.get(class) == Some(&true) {
            let ends = (packet.source.0, packet.destination.0);
            let key = (packet.class, packet.flow, ends.0, ends.1);
            let flow = self.groups.flows.entry(key).or_default();
            flow.record(network, whole);
        }
        if self.observe.hops {
            let key = (packet.class, packet.hops);
            let group = self.groups.hops.entry(key).or_default();
            group.record(network, whole);
        }
    }

    /// Whether a packet of a recorded class is in the sample.
    fn takes(&self, packet: &Delivery) -> bool {
        match self.observe.packets {
            Sample::None => false,
            Sample::All => true,
            Sample::Every(n) => packet.sequence.is_multiple_of(u64::from(n)),
            Sample::Fraction(fraction) => {
                let source = u64::from(packet.class) << 32 | u64::from(packet.source.0);
                let drawn = mix(mix(mix(self.seed) ^ source) ^ packet.sequence);
                ((drawn >> 11) as f64) < fraction * (1u64 << 53) as f64
            }
        }
    }

    /// Hands the packets over that were recorded since the last call.
    pub fn take_packets(&mut self, all: &mut Vec<PacketRow>) {
        all.append(&mut self.packets);
    }

    /// Latencies in groups so far.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// The flows so far.
    pub fn flows(&self) -> impl Iterator<Item = (Flow, FlowRecord)> {
        self.flows.iter().map(|(flow, record)| (*flow, *record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::HostId;

    fn packet(source: u32, class: u16, sequence: u64) -> Delivery {
        Delivery {
            source: HostId(source),
            destination: HostId(source + 1),
            class,
            sequence,
            size: 4,
            created: 90 - sequence % 3,
            injected: 100,
            delivered: 120 + sequence,
            hops: 3,
            is_marked: sequence == 1,
            flow: None,
        }
    }

    /// Numbers recorded of 10000 packets of one source.
    fn sample(packets: Sample, seed: u64, class: u16) -> Vec<u64> {
        let observe = Observe {
            packets,
            classes: vec![true, false],
            ..Observe::default()
        };
        let mut observation = Observation::new(&observe, seed, vec![Some(0)]);
        for sequence in 0..10_000 {
            observation.record(&packet(3, class, sequence), 0);
        }
        let mut rows = Vec::new();
        observation.take_packets(&mut rows);
        assert_eq!(observation.flows().count(), 0);
        rows.iter().map(|row| row.delivery.sequence).collect()
    }

    #[test]
    fn samples_are_what_they_say() {
        assert_eq!(sample(Sample::All, 1, 0).len(), 10_000);
        assert!(sample(Sample::All, 1, 1).is_empty(), "another class");
        assert!(sample(Sample::None, 1, 0).is_empty());
        let every: Vec<u64> = (0..10_000).step_by(300).collect();
        assert_eq!(sample(Sample::Every(300), 1, 0), every);
        let drawn = sample(Sample::Fraction(0.1), 1, 0);
        // binomial: mean 1000, standard deviation 30
        assert!((880..=1120).contains(&drawn.len()), "{}", drawn.len());
        assert_eq!(drawn, sample(Sample::Fraction(0.1), 1, 0));
        assert_ne!(drawn, sample(Sample::Fraction(0.1), 2, 0));
    }

    #[test]
    fn flows_sum_their_packets() {
        let observe = Observe {
            flows: true,
            percentiles: vec![true],
            hops: true,
            classes: vec![true],
            ..Observe::default()
        };
        let mut observation = Observation::new(&observe, 1, vec![Some(0)]);
        for (source, sequence) in [(5, 0), (5, 1), (2, 0), (5, 2)] {
            observation.record(&packet(source, 0, sequence), 0);
        }
        let flows: Vec<_> = observation.flows().collect();
        assert_eq!((flows[0].0.source, flows[0].0.destination), (2, 3));
        assert_eq!(
            flows[1].1,
            FlowRecord {
                packets: 3,
                flits: 12,
                marked: 1,
                hops: 9,
                network_sum: 20 + 21 + 22,
                network_max: 22,
                packet_sum: 30 + 32 + 34,
                packet_max: 34,
                first_created: 88,
                last_delivered: 122,
            }
        );
        let groups = observation.groups();
        let flow = &groups.flows[&(0, None, 5, 6)];
        assert_eq!(flow.network.quantile(500), Some(21));
        assert_eq!(flow.packet.quantile(999), Some(34));
        assert_eq!(groups.hops.len(), 1);
        assert_eq!(groups.hops[&(0, 3)].network.count(), 4);
    }
}
