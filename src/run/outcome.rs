//! What a run is asked and what it tells: settings, progress, verdict, phases, timeline.

use super::checkpoint::CheckpointError;
pub use crate::cycle::profile::StageCost;
use crate::measure::precision::BatchMeans;
use crate::measure::{Flow, FlowRecord, Records};
use crate::traffic::messages::MessageError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;

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

impl TimelineRow {
    /// Neighbouring rows as one.
    pub(super) fn joined(rows: &[Self]) -> Self {
        let mut sum = rows[0];
        for row in &rows[1..] {
            sum.length += row.length;
            sum.created_flits += row.created_flits;
            sum.delivered_flits += row.delivered_flits;
            sum.delivered_packets += row.delivered_packets;
            sum.network_latency_sum += row.network_latency_sum;
            sum.queued_packets = row.queued_packets;
            sum.in_flight_packets = row.in_flight_packets;
        }
        sum
    }
}

/// What a run took: all its parts, when it was stopped and went on. A fork counts the run it comes from, too: its
/// cycles and hops are counted from cycle 0 as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Elapsed time \[s\].
    pub wall_seconds: f64,
    /// Processor time, all threads \[s\].
    pub cpu_seconds: f64,
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

impl Estimates {
    /// Leaves loads only.
    pub(in crate::run) fn forget_latencies(&mut self) {
        (self.network_latency, self.packet_latency) = (None, None);
    }

    /// Whether packet latency and accepted load are known within this fraction, and how that is said.
    pub(super) fn judge(&self, half_width: f64) -> (bool, String) {
        let (Some(latency), Some(accepted)) = (self.packet_latency, self.accepted) else {
            return (false, "too few batches for an interval".into());
        };
        let named = [("packet latency", latency), ("accepted load", accepted)];
        if let Some((name, _)) = named.iter().find(|(_, found)| !found.independent) {
            return (
                false,
                format!("the batches of the {name} are still correlated"),
            );
        }
        let widths = named.map(|(name, found)| {
            format!("{name} within {:.2} %", found.relative_half_width() * 100.0)
        });
        let is_enough = (named.iter()).all(|(_, found)| found.relative_half_width() <= half_width);
        let words = widths.join(", ");
        if is_enough {
            (true, words)
        } else {
            (
                false,
                format!("{words}, wanted {:.2} %", half_width * 100.0),
            )
        }
    }
}

/// What the user asks of a run beside the scenario.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// Worker threads; `None` = by cores and work.
    pub threads: Option<usize>,
    /// Shards; `None` = by work.
    pub shards: Option<usize>,
    /// Check the conservation laws at every step.
    pub check: bool,
    /// Time every stage.
    pub profile: bool,
    /// Tells the processor time used so far \[s\]; `None` = it is not counted.
    pub cpu_clock: Option<fn() -> f64>,
    /// When a run is certainly overloaded and need not go on; `None` = it goes to its end.
    pub overload: Option<Overload>,
    /// Judge by what was measured alone, though the expected load of every channel is known: to test the judgement.
    pub measured_only: bool,
}

/// What ends a run that is certainly overloaded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overload {
    /// Part of the flits created that is not delivered, beyond which it is.
    pub part: f64,
    /// Whether the measurement is cut short then, and its packets are not waited for long: a probe of loads, which tells no
    /// latencies when packets are left over. Else only the drain of a run that is overloaded is left out.
    pub is_early: bool,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Name of the phase.
    pub phase: &'static str,
    /// Cycles done.
    pub cycle: u64,
    /// Cycles of warm-up and measurement together.
    pub planned: u64,
}

/// What a run gives, before it is joined with names and machine facts.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub verdict: Verdict,
    /// Why, in one sentence (a deadlock: with the wait-for cycle).
    pub reason: String,
    /// Length of the phases as run.
    pub cycles: CycleCounts,
    /// All counters.
    pub records: Records,
    /// Counters over time.
    pub timeline: Vec<TimelineRow>,
    /// Packets in source queues after the measurement, less those before it.
    pub backlog_growth: i64,
    /// Flits created in the measurement, less those delivered in it.
    pub present_growth: i64,
    /// How precise the means are.
    pub precision: Estimates,
    /// Whether the measurement was cut short because the fabric is certainly overloaded.
    pub is_cut: bool,
    /// Where the phases that find their own length ended, and why.
    pub length: Option<String>,
    /// What it took.
    pub cost: Cost,
    /// Cost per stage, with profiling.
    pub stages: Vec<StageCost>,
    /// Threads used.
    pub threads: usize,
    /// Shards used.
    pub shards: usize,
    /// Flows in order, when asked for.
    pub flows: Option<Vec<(Flow, FlowRecord)>>,
}

/// Why a run could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Worker threads could not be started.
    #[error("cannot start the worker threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The state to start from cannot be used, or one that was asked for cannot be kept.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The records of packets cannot be written.
    #[error("cannot write the records of packets: {0}")]
    Packets(io::Error),
    /// The messages cannot be read.
    #[error(transparent)]
    Messages(#[from] MessageError),
    /// A conservation law is broken: a defect of the program, not of the scenario.
    #[error("invariant broken at cycle {cycle}: {law}")]
    Invariant {
        /// First cycle not simulated.
        cycle: u64,
        /// What does not hold.
        law: String,
    },
}
