//! How a run went: verdict, phases, course over time, precision, cost of the stages.

use super::precision::BatchMeans;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All messages, or all flows with a size, are delivered.
    Complete,
    /// Accepted load follows offered load and nothing grows; an overload of 10 % would be called so in less than 1 %.
    Steady,
    /// Too close to the limit to tell in the cycles measured.
    Undecided,
    /// The fabric accepts less than is offered, beyond what chance explains.
    Saturated,
    /// Messages, or flows with a size, were not delivered: the bound of the measurement came first, or packets are lost.
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
    pub const ALL: [Self; 7] = [
        Self::Complete,
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
            Self::Complete => "complete",
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
        matches!(
            self,
            Self::Complete | Self::Steady | Self::Undecided | Self::Saturated
        )
    }

    /// Whether it is told in place of one that ended the run early: what becomes of jobs, before any load.
    pub fn precedes(self, early: Self) -> bool {
        matches!(self, Self::Complete | Self::Incomplete) && early == Self::Saturated
    }

    /// Whether the fabric did all that was asked of it.
    pub fn keeps_up(self) -> bool {
        matches!(self, Self::Complete | Self::Steady)
    }
}

/// What is told of one class beside the verdict of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassVerdict {
    /// Complete or incomplete where it has messages or flows with a size, else what its load is.
    pub verdict: Verdict,
    /// Why, in some words.
    pub reason: String,
}

/// What the measurement left more of than it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// Packets in source queues after it, less those before it.
    pub backlog: i64,
    /// Flits created in it, less those delivered in it.
    pub present: i64,
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
