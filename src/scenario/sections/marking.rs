//! Section `marking`: which packets get the congestion bit.

use super::values::amount;
use crate::scenario::resolve::quantity::buffer;
use crate::scenario::syntax::{At, Mistake};
use crate::units::{Amount, Clock};

section! {
    /// Congestion marking.
    Marking = "marking" in "fabric.switch.marking" {
        /// Waiting flits for the same output lane from which on a packet is marked
        threshold: At<Amount> = amount, "size, at least 1 flit";
    }
}

impl Marking {
    /// The threshold \[flits\].
    pub(super) fn plan(&self, clock: Clock) -> Result<u32, Mistake> {
        buffer(&self.threshold, clock, 1)
    }

    /// The section on one line.
    pub(super) fn print(threshold: u32) -> String {
        format!("(threshold: \"{threshold} flits\")")
    }
}
