//! Counters of flows (D34 of the model).

use super::jitter::JitterRecord;
use serde::{Deserialize, Serialize};

/// Packets and their flits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Packets.
    pub packets: u64,
    /// Their flits.
    pub flits: u64,
}

impl Amount {
    /// So many more.
    pub fn merge(&mut self, other: Self) {
        self.packets += other.packets;
        self.flits += other.flits;
    }

    /// One packet more.
    #[inline]
    pub fn add(&mut self, flits: u16) {
        self.packets += 1;
        self.flits += u64::from(flits);
    }
}

/// Sum and largest of some numbers of cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// Sum \[cycles\].
    pub sum: u64,
    /// Largest \[cycles\].
    pub most: u64,
}

impl Spread {
    /// One number more.
    #[inline]
    pub fn add(&mut self, cycles: u64) {
        self.sum += cycles;
        self.most = self.most.max(cycles);
    }
}

/// What a flow sent, counted at its source since cycle 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowSent {
    /// Made, rejected ones included.
    pub created: Amount,
    /// Refused by the full queue of the flow.
    pub rejected: Amount,
    /// Started on the channel of the host.
    pub started: Amount,
    /// Start cycle; `None` before it.
    pub start: Option<u64>,
    /// First start; `None` before it.
    pub first_start: Option<u64>,
    /// Answers delivered at the source.
    pub answered: u64,
    /// Events that its sender logged; those of a group count for its first flow.
    pub logged: u64,
    /// Cycle of the last of them.
    pub last_logged: Option<u64>,
    /// Answers and replies that the sender had been told by then.
    pub told_then: u64,
    /// Packets made in the measurement, rejected ones included; filled once per run.
    pub attempted: u64,
}

/// What of it arrived, counted at its destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowReceived {
    /// Delivered since cycle 0.
    pub delivered: Amount,
    /// Packets of these with FECN.
    pub marked: u64,
    /// Flits taken by the destination in the measurement.
    pub received: u64,
    /// Tagged packets delivered.
    pub tagged: u64,
    /// Their network latencies.
    pub network: Spread,
    /// Their packet latencies.
    pub packet: Spread,
    /// Change of network latency from one of them to the next.
    pub jitter: Spread,
    /// Network latency of the last of them; `None` before the first.
    pub last_latency: Option<u64>,
    /// Last delivery; `None` before the first.
    pub last_delivery: Option<u64>,
}

impl FlowReceived {
    /// Changes of network latency: one for each tagged packet delivered after the first.
    pub fn jitter(&self) -> JitterRecord {
        JitterRecord {
            count: self.tagged.saturating_sub(1),
            sum: self.jitter.sum.into(),
            max: self.jitter.most,
        }
    }
}

/// A flow and what it did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowResult {
    /// Traffic class.
    pub class: u16,
    /// Sending host (global id).
    pub source: u32,
    /// Receiving host (global id).
    pub destination: u32,
    /// Service level.
    pub level: u8,
    /// Phase it belongs to, by its place among all.
    pub phase: Option<u32>,
    /// Its application among those of the generator of its class.
    pub application: Option<u32>,
    /// Weight, at least 1.
    pub weight: u16,
    /// What it sends in all \[flits\]; `None` = without end.
    pub flits: Option<u64>,
    /// Inter-switch channels on its way, where routing has tables.
    pub hops: Option<u32>,
    /// Cycles it would take alone in the empty fabric, of a flow with a size whose path is known.
    pub alone: Option<u64>,
    /// Its weighted max-min fair rate in the measurement \[flits per cycle\], where it is known.
    pub fair: Option<f64>,
    /// Its counters.
    pub counts: FlowCounts,
}

impl FlowResult {
    /// Cycles from its start to the delivery of its last packet; `None` before that, or without a size.
    pub fn completion(&self) -> Option<u64> {
        let arrived = &self.counts.arrived;
        let is_complete = self.flits == Some(arrived.delivered.flits);
        let last = arrived.last_delivery.filter(|_| is_complete)?;
        Some(last - self.counts.sent.start?)
    }

    /// Completion time over that in the empty fabric.
    pub fn slowdown(&self) -> Option<f64> {
        Some(self.completion()? as f64 / self.alone? as f64)
    }
}

/// Both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCounts {
    /// At the source.
    pub sent: FlowSent,
    /// At the destination.
    pub arrived: FlowReceived,
    /// Dropped by switches since cycle 0.
    pub dropped: Amount,
}
