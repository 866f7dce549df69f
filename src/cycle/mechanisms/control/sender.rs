//! What is kept and counted of one sender.

use crate::control::Sender;
use serde::{Deserialize, Serialize};

/// A sender and its timer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::cycle::mechanisms) struct Controlled {
    pub(in crate::cycle::mechanisms) sender: Sender,
    /// Cycle that the timer is set to; `u64::MAX` = none.
    pub(in crate::cycle::mechanisms) timer: u64,
    /// Events logged.
    pub(in crate::cycle::mechanisms) logged: u64,
    /// Cycle of the last of them; `u64::MAX` = none.
    pub(in crate::cycle::mechanisms) last_logged: u64,
    /// Answers and replies told.
    pub(in crate::cycle::mechanisms) told: u64,
    /// By the last event logged.
    pub(in crate::cycle::mechanisms) told_then: u64,
}

impl Controlled {
    /// Before cycle 0.
    pub(super) fn new(sender: Sender, timer: u64) -> Self {
        Self {
            sender,
            timer,
            logged: 0,
            last_logged: u64::MAX,
            told: 0,
            told_then: 0,
        }
    }

    /// An event is logged.
    pub(super) fn log(&mut self, now: u64) {
        self.logged += 1;
        (self.last_logged, self.told_then) = (now, self.told);
    }
}

/// What is counted of flows that their senders begin (D60, D67).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Begun {
    /// Such flows.
    pub(super) flows: u64,
    /// Sum of their waits \[cycles\].
    pub(super) waits: u64,
    /// The longest one \[cycles\].
    pub(super) longest: u64,
}
