//! What the driver of a run knows between two steps.

use crate::cycle::records::Totals;
use crate::run::execute::{Batches, Ready};
use crate::run::outcome::{Cost, TimelineRow};
use crate::run::packet_sink::Written;
use crate::run::watchdog::Watchdog;
use serde::{Deserialize, Serialize};

/// Counters at the border of two phases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// First cycle of the next phase.
    pub cycle: u64,
    /// Flits sent by every lane, `[channel * lanes + lane]`.
    pub sent: Vec<u64>,
    /// Packets in source queues.
    pub queued: u64,
}

/// State of the driver.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Driver {
    /// Sees when nothing moves.
    pub watchdog: Watchdog,
    /// Rows so far.
    pub timeline: Vec<TimelineRow>,
    /// Totals at the start of the current row.
    pub row_start: (u64, Totals),
    /// Flits sent by every lane, as of the last look.
    pub sent: Vec<u64>,
    /// Length of a timeline row \[cycles\].
    pub interval: u64,
    /// Batches of the running phase.
    pub batches: Batches,
    /// Where in the running phase it is decided whether that is long enough \[cycles of the phase\]; `None` = it
    /// has not begun.
    pub decision: Option<u64>,
    /// Why the measurement might have ended at the decision before.
    pub ready: Option<Ready>,
    /// Where the phases that find their own length ended, and why.
    pub length: Vec<String>,
    /// What the run has taken up to here; no result of the simulation.
    pub spent: Cost,
    /// Records of packets that were written.
    pub packets: Written,
    /// End of the warm-up.
    pub warm: Option<Mark>,
    /// End of the measurement.
    pub measured: Option<Mark>,
}

impl Driver {
    /// At cycle 0 of a fabric with `lanes` lanes in all, with timeline rows of `interval` cycles.
    pub fn new(lanes: usize, watchdog: Watchdog, interval: u64) -> Self {
        Self {
            watchdog,
            timeline: Vec::new(),
            row_start: (0, Totals::default()),
            sent: vec![0; lanes],
            interval,
            batches: Batches::default(),
            decision: None,
            ready: None,
            length: Vec::new(),
            spent: Cost::default(),
            packets: Written::default(),
            warm: None,
            measured: None,
        }
    }
}
