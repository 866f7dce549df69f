//! What the driver of a run knows between two steps.

use crate::run::congestion::Looks;
use crate::run::execute::{Batches, Ready, Timeline};
use crate::run::outcome::Cost;
use crate::run::packet_sink::Written;
use crate::run::waits::Waited;
use crate::run::watchdog::Watchdog;
use serde::{Deserialize, Serialize};

/// Counters at the border of two phases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// First cycle of the next phase.
    pub cycle: u64,
    /// Packets in source queues.
    pub queued: u64,
    /// Packets made by each flow of the plan, rejected ones included, by id.
    pub made: Vec<u64>,
    /// How long heads have waited at switches.
    pub waited: Waited,
}

/// State of the driver.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Driver {
    /// Sees when nothing moves.
    pub watchdog: Watchdog,
    /// Counters over time.
    pub timeline: Timeline,
    /// Looks at congestion trees.
    pub congestion: Looks,
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
    /// Flits of every lane that have crossed its channel (D22) at these two marks, `[channel * lanes + lane]`.
    pub sent: [Vec<u64>; 2],
}

impl Driver {
    /// At cycle 0.
    pub fn new(watchdog: Watchdog, timeline: Timeline) -> Self {
        Self {
            watchdog,
            timeline,
            congestion: Looks::default(),
            batches: Batches::default(),
            decision: None,
            ready: None,
            length: Vec::new(),
            spent: Cost::default(),
            packets: Written::default(),
            warm: None,
            measured: None,
            sent: Default::default(),
        }
    }
}
