//! How a run went: verdict, phases, course over time, precision, cost of the stages.

use super::precision::BatchMeans;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Accepted load follows offered load and nothing grows; an overload of 10 % would be called so in less than 1 %.
    Steady,
    /// Too close to the limit to tell in the cycles measured.
    Undecided,
    /// The fabric accepts less than is offered, beyond what chance explains.
    Saturated,
    /// Messages were not delivered before the bound of the measurement.
    Incomplete,
    /// Packets in flight cannot move any more.
    Deadlocked,
    /// Stopped before its end.
    Interrupted,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Verdict {
    /// All of them, from the best to the worst: what is told of several runs is the worst.
    pub const ALL: [Self; 6] = [
        Self::Steady,
        Self::Undecided,
        Self::Saturated,
        Self::Incomplete,
        Self::Interrupted,
        Self::Deadlocked,
    ];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Undecided => "undecided",
            Self::Saturated => "saturated",
            Self::Incomplete => "incomplete",
            Self::Interrupted => "interrupted",
            Self::Deadlocked => "deadlocked",
        }
    }

    /// Whether the run measured what it was asked to: means of others are of nothing in particular.
    pub fn is_measured(self) -> bool {
        matches!(self, Self::Steady | Self::Undecided | Self::Saturated)
    }
}

/// Length of the phases as run \[cycles\].
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// How precise the means of a run are; `None` where the run is too short to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimates {
    /// Level of the intervals.
    pub confidence: f64,
    /// Flits delivered per cycle, all hosts together.
    pub accepted: Option<BatchMeans>,
    /// Mean network latency of the packets delivered in the measurement \[cycles\].
    pub network_latency: Option<BatchMeans>,
    /// Mean packet latency of the packets delivered in the measurement \[cycles\].
    pub packet_latency: Option<BatchMeans>,
}

/// Cost of one stage of the cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageCost {
    /// Name of the stage.
    pub name: String,
    /// Fraction of the time of all stages.
    pub share: f64,
    /// Processor time \[ns per cycle\].
    pub ns_per_cycle: f64,
}
