//! What a run tells beside its counters: verdict, phases, timeline, cost per stage.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Accepted load follows offered load and latencies are stationary.
    Steady,
    /// The fabric accepts less than is offered.
    Saturated,
    /// Packets in flight cannot move any more.
    Deadlocked,
    /// Stopped before its end.
    Interrupted,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steady => "steady",
            Self::Saturated => "saturated",
            Self::Deadlocked => "deadlocked",
            Self::Interrupted => "interrupted",
        })
    }
}

/// Length of the phases as run [cycles].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleCounts {
    /// Before measurement.
    pub warmup: u64,
    /// The window.
    pub measure: u64,
    /// Until the last tagged packet.
    pub drain: u64,
    /// All.
    pub total: u64,
}

/// Counters of one interval of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TimelineRow {
    /// First cycle.
    #[serde(rename = "start [cycle]")]
    pub start: u64,
    /// Length.
    #[serde(rename = "length [cycles]")]
    pub length: u64,
    /// Flits created.
    #[serde(rename = "created [flits]")]
    pub created_flits: u64,
    /// Flits delivered.
    #[serde(rename = "delivered [flits]")]
    pub delivered_flits: u64,
    /// Packets delivered.
    #[serde(rename = "delivered [packets]")]
    pub delivered_packets: u64,
    /// Sum of the network latencies of these packets.
    #[serde(rename = "network_latency_sum [cycles]")]
    pub network_latency_sum: u64,
    /// Packets in source queues at the end.
    #[serde(rename = "queued [packets]")]
    pub queued_packets: u64,
    /// Packets in the fabric at the end.
    #[serde(rename = "in_flight [packets]")]
    pub in_flight_packets: u64,
}

/// Cost of one stage of the cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageCost {
    /// Name of the stage.
    pub name: String,
    /// Fraction of the time of all stages.
    pub share: f64,
    /// Processor time [ns per cycle].
    pub ns_per_cycle: f64,
}
