//! What a run is asked and what it tells: settings, progress, counters, errors.

use super::checkpoint::CheckpointError;
pub use crate::measure::outcome::{
    ClassVerdict, CycleCounts, Estimates, Growth, StageCost, TimelineRow, Verdict,
};
use crate::measure::percentiles::{ByFlow, ByHops};
use crate::measure::{CongestionLook, Flow, FlowCounts, FlowRecord, Records};
use crate::traffic::messages::MessageError;
use serde::{Deserialize, Serialize};
use std::io;

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

/// How a run was divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Threads used.
    pub threads: usize,
    /// Shards used.
    pub shards: usize,
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
    /// What is told of each class, where some class has a job; `None` of what the program makes.
    pub classes: Vec<Option<ClassVerdict>>,
    /// What the measurement left more of than it found.
    pub growth: Growth,
    /// How precise the means are.
    pub precision: Estimates,
    /// Whether the measurement was cut short because the fabric is certainly overloaded.
    pub is_cut: bool,
    /// Whether it has written its state to the place for it: what is there is its own.
    pub has_saved: bool,
    /// Where the phases that find their own length ended, and why.
    pub length: Option<String>,
    /// What it took.
    pub cost: Cost,
    /// Cost per stage, with profiling.
    pub stages: Vec<StageCost>,
    /// How it was divided.
    pub division: Division,
    /// Flows in order, when asked for.
    pub flows: Option<Vec<(Flow, FlowRecord)>>,
    /// Latencies of flows; `None` when they are not recorded.
    pub flow_latencies: Option<ByFlow>,
    /// Latencies by hops; `None` when they are not recorded.
    pub hop_latencies: Option<ByHops>,
    /// Looks at congestion trees, when asked for.
    pub congestion: Option<Vec<CongestionLook>>,
    /// What the flows of the plan did, by id.
    pub flow_counts: Vec<FlowCounts>,
}

/// Why a run could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Worker threads could not be started.
    #[error("cannot start the worker threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// It does not fit into the memory that is there.
    #[error("the simulation is too large: {0}")]
    Memory(String),
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
