//! A normal approximation of Poisson: normal counts per window, arrivals uniform in the window.
//!
//! # Rules
//! 1. A window of W cycles has round(lambda W + sqrt(lambda W) Z) arrivals, at least 0, Z a standard normal deviate and lambda
//!    the packets per cycle of `load`; windows follow each other from cycle 0 on, independently.
//! 2. Arrivals are uniform in their window, in continuous time; drawn in their order, as order statistics: of n that are left
//!    between t and the end, the next lies 1 - U^(1 / n) of the way.
//! 3. Rounding to cycles, and at most one packet per cycle: as `Poisson`, rules 1 and 2, across windows as well.
//!
//! lambda W >= 10, or the counts are not close to Poisson's and the bound at 0 moves their mean: at 10 by 0.0001 of it.
//!
//! Cost: per packet one draw, a logarithm and an exponential; per window a normal deviate.
//!
//! References: [`REINEMO`], [`DEVROYE`] section V.3 (order statistics one by one)

use super::normal::deviate;
use super::poisson::next_free;
use super::{LOAD, ONE_CYCLE, interval};
use crate::references::{DEVROYE, REINEMO};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::{Stream, unit_interval};
use crate::traffic::{
    BuildProcess, Gap, OfferedProcess, Process, ProcessContext, ProcessPart, ProcessState, invalid,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Least mean number of packets in a window.
const LEAST_PACKETS: f64 = 10.0;

/// Longest window \[cycles\]: positions in it fit 64 bits of fixed point.
const LONGEST_WINDOW: u64 = 1 << 31;

/// Registers `NormalPoisson`.
pub(super) const ENTRY: Entry<BuildProcess> = Entry {
    name: "NormalPoisson",
    aliases: &[],
    summary: "normally distributed counts per window, arrivals uniform in it",
    parameters: &[
        LOAD,
        Parameter {
            name: "window",
            kind: "integer in 10..=2147483648 [cycles]",
            default: None,
            summary: "length of a window; at least 10 packets fall into it on average",
        },
    ],
    guarantees: &["no bias of the rate by rounding to cycles"],
    references: &[REINEMO, DEVROYE],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "NormalPoisson")]
struct Parameters {
    load: f64,
    window: u64,
}

/// What is left of a window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowState {
    /// Time of the last arrival in the window, 32.32 fixed point.
    position: u64,
    /// Arrivals that are still to come in it.
    left: u64,
}

/// `ProcessState::phase` is that of `Poisson`.
#[derive(Debug)]
struct NormalPoisson {
    /// Length of a window \[cycles\].
    window: u64,
    /// Mean number of arrivals in a window.
    mean: f64,
}

impl NormalPoisson {
    /// Cycles from the last arrival to the next one.
    fn advance(&self, window: &mut WindowState, rng: &mut Stream) -> f64 {
        let end = self.window * ONE_CYCLE;
        let mut passed = 0.0;
        while window.left == 0 {
            let count = self.mean + libm::sqrt(self.mean) * deviate(rng);
            passed += (end - window.position) as f64;
            *window = WindowState {
                position: 0,
                left: libm::round(count).max(0.0) as u64,
            };
        }
        let share = -libm::expm1(libm::log(unit_interval(rng)) / window.left as f64);
        let step = ((end - window.position) as f64 * share) as u64;
        let step = step.min(end - window.position);
        window.position += step;
        window.left -= 1;
        (passed + step as f64) / ONE_CYCLE as f64
    }
}

impl Process for NormalPoisson {
    fn start(&self, _: &mut Stream) -> ProcessState {
        // a window without arrivals that ends in cycle 0
        let before = WindowState {
            position: self.window * ONE_CYCLE,
            left: 0,
        };
        ProcessState {
            part: Some(Box::new(ProcessPart::Window(before))),
            ..ProcessState::default()
        }
    }

    fn gap(&self, state: &mut ProcessState, rng: &mut Stream) -> Gap {
        let Some(ProcessPart::Window(window)) = state.part.as_deref_mut() else {
            unreachable!("made by `start`")
        };
        let cycles = self.advance(window, rng);
        next_free(state, cycles)
    }
}

fn build(
    arguments: Arguments<'_>,
    context: ProcessContext,
) -> Result<OfferedProcess, ArgumentError> {
    let Parameters { load, window } = arguments.parse()?;
    let interval = interval("load", load, context)?;
    let mean = window as f64 / interval;
    if mean < LEAST_PACKETS {
        let least = (LEAST_PACKETS * interval).ceil();
        return Err(invalid(format!(
            "`window` is {window}: {mean:.3} packets fall into it on average, and a normal approximation needs {LEAST_PACKETS}; use at \
             least {least} cycles"
        )));
    }
    if window > LONGEST_WINDOW {
        return Err(invalid(format!(
            "`window` is {window}; it must be at most {LONGEST_WINDOW} cycles"
        )));
    }
    Ok(OfferedProcess {
        process: Arc::new(NormalPoisson { window, mean }),
        load,
    })
}
