//! Exponential gaps in continuous time.
//!
//! Arrival times are sums of exponential gaps, kept in 32.32 fixed point; an arrival at time t creates its
//! packet in cycle floor(t).
//!
//! # Rules
//! 1. The fraction of a cycle is carried to the next gap, so rounding never changes the rate.
//! 2. At most one packet per cycle: an arrival in a cycle that already has one, or whose turn passed while
//!    earlier arrivals waited, is created in the next free cycle. With rate r per cycle this is a queue with
//!    service time 1: it delays an arrival by about r / (2 (1 - r)) cycles on average and leaves rates as they are.
//!
//! Cost: one draw and one logarithm per packet.
//!
//! References: [`LAW_KELTON`]

use super::{LOAD, ONE_CYCLE, interval};
use crate::references::LAW_KELTON;
use crate::registry::{ArgumentError, Arguments, Entry};
use crate::rng::{Stream, unit_interval};
use crate::traffic::{BuildProcess, Gap, OfferedProcess, Process, ProcessContext, ProcessState};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `Poisson`.
pub(super) const ENTRY: Entry<BuildProcess> = Entry {
    name: "Poisson",
    aliases: &["Exponential"],
    summary: "exponential gaps in continuous time, at most one packet per cycle",
    parameters: &[LOAD],
    guarantees: &["memoryless", "no bias of the rate by rounding to cycles"],
    references: &[LAW_KELTON],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Poisson")]
struct Parameters {
    load: f64,
}

/// `ProcessState::phase` is arrival time minus creation cycle of the last packet, 32.32 fixed point in
/// two's complement; below one cycle, negative when the packet had to wait for a free cycle.
#[derive(Debug)]
struct Poisson {
    /// Mean gap \[cycles\].
    interval: f64,
}

impl Process for Poisson {
    fn start(&self, _: &mut Stream) -> ProcessState {
        ProcessState::default()
    }

    fn gap(&self, state: &mut ProcessState, rng: &mut Stream) -> Gap {
        let exponential = -libm::log(unit_interval(rng)) * self.interval;
        next_free(state, exponential)
    }
}

/// The packet of the arrival that comes so many cycles after the last one: rules 1 and 2.
pub(super) fn next_free(state: &mut ProcessState, cycles: f64) -> Gap {
    let least = i64::from(state.calls > 0);
    state.calls += 1;
    let whole = cycles.floor();
    let fraction = ((cycles - whole) * ONE_CYCLE as f64) as i64;
    let sum = state.phase as i64 + fraction;
    let cycles = whole as i64 + (sum >> 32);
    let gap = cycles.max(least);
    let rest = sum & (ONE_CYCLE as i64 - 1);
    state.phase = (rest + ((cycles - gap) << 32)) as u64;
    Gap::After(gap as u64)
}

fn build(
    arguments: Arguments<'_>,
    context: ProcessContext,
) -> Result<OfferedProcess, ArgumentError> {
    let Parameters { load } = arguments.parse()?;
    let interval = interval("load", load, context)?;
    Ok(OfferedProcess {
        process: Arc::new(Poisson { interval }),
        load,
    })
}
