//! Section `retry` of `fabric.link`: errors in bits, and what it takes to repeat a packet.

use super::super::values::{Read, fraction, time};
use crate::plan;
use crate::scenario::resolve::quantity::delay;
use crate::scenario::syntax::{At, Item, Mistake};
use crate::units::{Clock, Time};

section! {
    /// Errors of links, hosts' included: what comes with an error is repeated by the ends of the link, in order.
    LinkRetry = "link_retry" in "fabric.link.retry" {
        /// Probability of an error in a bit, after forward error correction
        bit_error_rate: At<f64> = rate, "number between 0 and 1";
        /// What both ends need until the next transmission starts, beside the latencies there and back
        delay: At<Time> = time, "time" or "\"0 cycles\"";
    }
}

fn rate(item: &Item<'_>) -> Read<f64> {
    let words = "a number between 0 and 1, both left out, such as 1e-12";
    fraction(item).map_err(|_| item.unexpected(words))
}

impl LinkRetry {
    /// In cycles.
    pub(in crate::scenario) fn plan(&self, clock: Clock) -> Result<plan::LinkRetry, Mistake> {
        Ok(plan::LinkRetry {
            bit_error_rate: self.bit_error_rate.value,
            delay: delay(&self.delay, clock, 0)?,
        })
    }
}
