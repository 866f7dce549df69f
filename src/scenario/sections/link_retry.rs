//! Section `retry` of `fabric.link`: errors in bits, and what it takes to repeat a packet.

use super::Scenario;
use super::values::{Read, fraction, time};
use crate::plan;
use crate::plan::{Forwarding, Plan};
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

    /// The largest packet comes through at the first attempt more often than not.
    pub(in crate::scenario) fn check(scenario: &Scenario, plan: &Plan) -> Result<(), Mistake> {
        let (Some(written), Some(retry)) = (&scenario.fabric.link.retry, plan.link_retry) else {
            return Ok(());
        };
        let (what, flits) = match plan.switch.forwarding {
            Forwarding::Wormhole => ("flits", 1),
            _ => ("largest packets", plan.largest_packet()),
        };
        let bytes = u64::from(flits) * u64::from(plan.flit_bytes);
        let failure = retry.failure(8 * bytes);
        if failure <= 0.5 {
            return Ok(());
        }
        let most = std::f64::consts::LN_2 / (8 * bytes) as f64;
        Err(written.bit_error_rate.mistake(format!(
            "{:.0} % of the {what}, of {bytes} B, would come with an error: a link like that is down; expected at most {most:.1e}",
            failure * 100.0
        )))
    }
}
