//! Equal gaps: one packet per interval, with the remainder of a cycle carried on.
//!
//! The interval is mean size * cycles per flit / load cycles in 32.32 fixed point, so gaps differ by at most
//! one cycle and the rate is exact to 2^-33 cycles per packet. Each source starts at a random point
//! of its interval; with `phase: Zero` all sources start in cycle 0, in step.
//!
//! Cost: no draw per packet; one per source at the start.

use super::{LOAD, ONE_CYCLE, fixed_point, interval};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::{Rng, Stream};
use crate::traffic::{BuildProcess, Gap, OfferedProcess, Process, ProcessContext, ProcessState};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `ConstantRate`.
pub(super) const ENTRY: Entry<BuildProcess> = Entry {
    name: "ConstantRate",
    aliases: &["Periodic"],
    summary: "equal gaps between packets",
    parameters: &[
        LOAD,
        Parameter {
            name: "phase",
            kind: "Random | Zero",
            default: Some("Random"),
            summary: "where in its interval a source starts: at random, or all sources together in cycle 0",
        },
    ],
    guarantees: &["gaps differ by at most one cycle"],
    references: &[],
    build,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Phase {
    #[default]
    Random,
    Zero,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "ConstantRate")]
struct Parameters {
    load: f64,
    #[serde(default)]
    phase: Phase,
}

/// `ProcessState::phase` is the time from the last creation (at first: from cycle 0) to the start of the
/// next interval, 32.32 fixed point.
#[derive(Debug)]
struct ConstantRate {
    /// 32.32 fixed point, at least one cycle.
    interval: u64,
    phase: Phase,
}

impl Process for ConstantRate {
    fn start(&self, rng: &mut Stream) -> ProcessState {
        let phase = match self.phase {
            Phase::Zero => 0,
            Phase::Random => fraction_of(self.interval, rng),
        };
        ProcessState {
            phase,
            ..ProcessState::default()
        }
    }

    fn gap(&self, state: &mut ProcessState, _: &mut Stream) -> Gap {
        let is_first = state.calls == 0;
        state.calls += 1;
        let next = state.phase + if is_first { 0 } else { self.interval };
        state.phase = next % ONE_CYCLE;
        Gap::After(next / ONE_CYCLE)
    }
}

/// A uniform value in `0..interval`.
pub(super) fn fraction_of(interval: u64, rng: &mut Stream) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(interval)) >> 64) as u64
}

fn build(
    arguments: Arguments<'_>,
    context: ProcessContext,
) -> Result<OfferedProcess, ArgumentError> {
    let Parameters { load, phase } = arguments.parse()?;
    let interval = fixed_point(interval("load", load, context)?);
    Ok(OfferedProcess {
        process: Arc::new(ConstantRate { interval, phase }),
        load,
    })
}
