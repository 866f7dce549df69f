//! Phases of a run.

use serde::{Deserialize, Serialize};

/// When a measurement is long enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// Level of the confidence interval.
    pub confidence: f64,
    /// Half of its width, as a fraction of the mean, that is narrow enough.
    pub half_width: f64,
}

/// What the end of a measurement waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Until {
    /// Messages.
    Messages,
    /// Flows with a size.
    Flows,
}

/// Length of the phases of a run \[cycles\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Cycles before measurement; the most when [`Self::find_warmup`] is set.
    pub warmup: u64,
    /// The run finds the end of the warm-up.
    pub find_warmup: bool,
    /// Cycles in which created packets are tagged and deliveries counted; the most when [`Self::precision`] or
    /// [`Self::until`] is set.
    pub measure: u64,
    /// The measurement ends when this is reached.
    pub precision: Option<Precision>,
    /// The measurement ends when all of these are delivered.
    pub until: Option<Until>,
    /// Time on the clock after which the run is interrupted \[s\].
    pub wall_seconds: Option<f64>,
    /// Most cycles to wait for tagged packets afterwards.
    pub drain_limit: u64,
    /// Least cycles between two looks for packets that can never move again.
    pub watchdog: u64,
}

impl Phases {
    /// Whether both phases have a length given beforehand.
    pub fn is_fixed(&self) -> bool {
        !self.find_warmup && self.precision.is_none() && self.until.is_none()
    }
}
