//! Bursts at a peak load with silence in between.
//!
//! # Rules
//! 1. Within a burst packets follow at equal intervals of mean size * cycles per flit / peak cycles.
//! 2. After each packet the burst ends with probability 1 / burst: geometric burst lengths, mean `burst`.
//! 3. An off gap is a geometric number of whole cycles added to the interval, with the mean that gives `load`:
//!    burst * (1 / load - 1 / peak) * mean size * cycles per flit.
//! 4. A source starts in its stationary mix: off with probability 1 - load / peak, otherwise at a
//!    uniform point of an interval within a burst.
//!
//! With `load` equal to `peak` there is no silence.
//!
//! Cost: one draw per packet, one draw and one logarithm more per burst.
//!
//! References: [`DALLY_TOWLES`]

use super::constant_rate::fraction_of;
use super::{LOAD, ONE_CYCLE, fixed_point, geometric, interval, inverse_log};
use crate::references::DALLY_TOWLES;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::{Stream, unit_interval};
use crate::traffic::{
    BuildProcess, Gap, OfferedProcess, Process, ProcessContext, ProcessState, invalid,
};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `OnOff`.
pub(super) const ENTRY: Entry<BuildProcess> = Entry {
    name: "OnOff",
    aliases: &["Burst"],
    summary: "bursts at a peak load with silence in between",
    parameters: &[
        LOAD,
        Parameter {
            name: "burst",
            kind: "number >= 1 [packets]",
            default: None,
            summary: "mean number of packets in a burst (geometric)",
        },
        Parameter {
            name: "peak",
            kind: "number in [load, 1] [fraction of the host's link rate]",
            default: Some("1.0"),
            summary: "load within a burst",
        },
    ],
    guarantees: &["geometric burst lengths and off gaps"],
    references: &[DALLY_TOWLES],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "OnOff")]
struct Parameters {
    load: f64,
    burst: f64,
    #[serde(default = "default_peak")]
    peak: f64,
}

fn default_peak() -> f64 {
    1.0
}

/// `ProcessState::phase` is the part of a cycle carried on, 32.32 fixed point.
#[derive(Debug)]
struct OnOff {
    /// Interval within a burst, 32.32 fixed point, at least one cycle.
    interval: u64,
    /// Probability that a packet is the last of its burst.
    end: f64,
    /// For the off gap.
    off_inverse_log: f64,
    /// Share of time spent off.
    off_share: f64,
}

impl Process for OnOff {
    fn start(&self, _: &mut Stream) -> ProcessState {
        ProcessState::default()
    }

    fn gap(&self, state: &mut ProcessState, rng: &mut Stream) -> Gap {
        let is_first = state.calls == 0;
        state.calls += 1;
        let ticket = unit_interval(rng);
        let (mut time, silent) = if is_first {
            let is_off = ticket <= self.off_share;
            let phase = if is_off {
                0
            } else {
                fraction_of(self.interval, rng)
            };
            (phase, is_off)
        } else {
            (state.phase + self.interval, ticket <= self.end)
        };
        let off = if silent {
            geometric(self.off_inverse_log, rng)
        } else {
            0
        };
        let cycles = time / ONE_CYCLE;
        time %= ONE_CYCLE;
        state.phase = time;
        Gap::After(cycles + off)
    }
}

fn build(
    arguments: Arguments<'_>,
    context: ProcessContext,
) -> Result<OfferedProcess, ArgumentError> {
    let Parameters { load, burst, peak } = arguments.parse()?;
    let mean = interval("load", load, context)?;
    let within = interval("peak", peak, context)?;
    if load > peak {
        return Err(invalid(format!(
            "`load` is {load}, above `peak` {peak}: the load within bursts cannot be below the mean load"
        )));
    }
    if !(burst >= 1.0 && burst.is_finite()) {
        return Err(invalid(format!(
            "`burst` is {burst}; a burst has at least 1 packet on average"
        )));
    }
    let off_mean = burst * (mean - within);
    Ok(OfferedProcess {
        process: Arc::new(OnOff {
            interval: fixed_point(within),
            end: 1.0 / burst,
            off_inverse_log: inverse_log(1.0 / (1.0 + off_mean)),
            off_share: 1.0 - within / mean,
        }),
        load,
    })
}
