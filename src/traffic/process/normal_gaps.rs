//! Normally distributed gaps, at least one cycle: a normal approximation of Poisson.
//!
//! # Rules
//! 1. A gap is normal with standard deviation `deviation`, cut off below one cycle, in continuous time. The centre of the normal
//!    law lies where the mean of what is left is the interval of `load`: below it, hardly where gaps of less than a cycle are
//!    rare. The standard deviation of what is left is smaller than `deviation` in the same way.
//! 2. The fraction of a cycle is carried to the next gap, so rounding never changes the rate.
//! 3. A source starts in its stationary state: at a uniform point of a gap that is drawn in proportion to its length.
//!
//! Without `deviation` it is the square root of the mean interval, as for the number of cycles in which a Poisson process of rate
//! one has that many arrivals: far more regular than Poisson's gaps, whose deviation is the mean.
//!
//! Cost: two logarithms or a logarithm, a root and a cosine per packet.
//!
//! # Deviations
//! The source has gaps of "normal approximation of Poisson" without their deviation, and nothing about gaps below one cycle.
//!
//! References: [`SEM_JACOBSEN`], [`ROBERT_NORMAL`]

use super::normal::{FURTHEST, bound_with_excess, deviate_above};
use super::{LOAD, ONE_CYCLE, interval};
use crate::references::{ROBERT_NORMAL, SEM_JACOBSEN};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::{Stream, unit_interval};
use crate::traffic::{
    BuildProcess, Gap, OfferedProcess, Process, ProcessContext, ProcessState, invalid,
};
use serde::Deserialize;
use std::sync::Arc;

/// Gaps further above the cut or the centre than so many deviations do not occur: Box and Muller's largest is 8.6.
const LARGEST_DEVIATE: f64 = 10.0;

/// Registers `NormalGaps`.
pub(super) const ENTRY: Entry<BuildProcess> = Entry {
    name: "NormalGaps",
    aliases: &[],
    summary: "normally distributed gaps, at least one cycle",
    parameters: &[
        LOAD,
        Parameter {
            name: "deviation",
            kind: "number >= 0 [cycles]",
            default: Some("square root of the mean gap"),
            summary: "standard deviation of the gaps before they are cut off below one cycle",
        },
    ],
    guarantees: &["no bias of the rate by the cut or by rounding to cycles"],
    references: &[SEM_JACOBSEN, ROBERT_NORMAL],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "NormalGaps")]
struct Parameters {
    load: f64,
    #[serde(default)]
    deviation: Option<f64>,
}

/// `ProcessState::phase` is the part of a cycle carried on, 32.32 fixed point.
#[derive(Debug)]
struct NormalGaps {
    /// Mean \[cycles\].
    mean: f64,
    /// Before the cut \[cycles\].
    deviation: f64,
    /// One cycle in deviations from the centre.
    bound: f64,
}

impl NormalGaps {
    /// A gap \[cycles\], at least 1.
    fn draw(&self, rng: &mut Stream) -> f64 {
        if self.deviation == 0.0 {
            return self.mean;
        }
        1.0 + self.deviation * (deviate_above(self.bound, rng) - self.bound)
    }

    /// A gap in proportion to its length.
    fn draw_by_length(&self, rng: &mut Stream) -> f64 {
        let above = LARGEST_DEVIATE + (-self.bound).max(0.0);
        let longest = (1.0 + self.deviation * above).max(self.mean);
        loop {
            let gap = self.draw(rng);
            if unit_interval(rng) * longest <= gap {
                return gap;
            }
        }
    }
}

impl Process for NormalGaps {
    fn start(&self, _: &mut Stream) -> ProcessState {
        ProcessState::default()
    }

    fn gap(&self, state: &mut ProcessState, rng: &mut Stream) -> Gap {
        let gap = if state.calls == 0 {
            // below the gap, so that it may be cycle 0
            self.draw_by_length(rng) * (1.0 - unit_interval(rng))
        } else {
            self.draw(rng)
        };
        state.calls += 1;
        let whole = gap.floor();
        let time = state.phase + ((gap - whole) * ONE_CYCLE as f64) as u64;
        state.phase = time % ONE_CYCLE;
        Gap::After(whole as u64 + time / ONE_CYCLE)
    }
}

fn build(
    arguments: Arguments<'_>,
    context: ProcessContext,
) -> Result<OfferedProcess, ArgumentError> {
    let Parameters { load, deviation } = arguments.parse()?;
    let mean = interval("load", load, context)?;
    let deviation = deviation.unwrap_or_else(|| libm::sqrt(mean));
    if !(deviation >= 0.0 && deviation.is_finite()) {
        return Err(invalid(format!(
            "`deviation` is {deviation}; it must be at least 0 cycles"
        )));
    }
    let bound = match deviation {
        0.0 => 0.0,
        _ => bound_with_excess((mean - 1.0) / deviation).ok_or_else(|| {
            let most = FURTHEST * (mean - 1.0);
            invalid(format!(
                "`deviation` is {deviation:.3}: gaps of {mean:.3} cycles on average that are at least one cycle cannot vary so much; \
                 give a `deviation` of at most {most:.3} cycles, or a lower load"
            ))
        })?,
    };
    Ok(OfferedProcess {
        process: Arc::new(NormalGaps {
            mean,
            deviation,
            bound,
        }),
        load,
    })
}
