//! What is written of DCQCN, and what its preset has.

use super::presets::Preset;
use super::settings::{Amounts, Dcqcn, WHOLE};
use crate::control::parameters::{cycles, invalid, rate, within};
use crate::control::{Algorithm, ControlContext};
use crate::registry::{ArgumentError, Arguments};
use crate::units::{Amount, BitRate, Clock, Time};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Dcqcn", default)]
struct Parameters {
    preset: Preset,
    interval: Option<Time>,
    gain: u64,
    alpha: f64,
    alpha_timer: Option<Time>,
    timer: Option<Time>,
    bytes: Option<Amount>,
    stages: Option<u64>,
    increase: Option<BitRate>,
    hyper_increase: Option<BitRate>,
    least: BitRate,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            preset: Preset::Paper,
            interval: None,
            gain: 8,
            alpha: 1.0,
            alpha_timer: None,
            timer: None,
            bytes: None,
            stages: None,
            increase: None,
            hyper_increase: None,
            least: BitRate(100_000_000),
        }
    }
}

pub(super) fn build(
    arguments: Arguments<'_>,
    context: ControlContext,
) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    let clock = context.clock;
    let preset = written.preset.parameters();
    let time = |name: &str, written: Option<Time>, us: u64| {
        let preset = Time::Picoseconds(us * 1_000_000);
        cycles(name, written.unwrap_or(preset), clock)
    };
    let increases =
        |name: &str, written: Option<BitRate>, bits: Option<u64>| -> Result<_, ArgumentError> {
            let written = written.map(|written| rate(name, written, clock));
            Ok(Amounts {
                written: written.transpose()?,
                preset: bits.map(|bits| preset.part(bits)),
            })
        };
    let gain = within(
        "gain",
        written.gain,
        1..=16,
        "so that g is below 1 and alpha has 16 more bits",
    )?;
    let stages = written.stages.unwrap_or(preset.stages);
    let stages = within("stages", stages, 0..=65_535, "16 bits")?;
    let increase = increases("increase", written.increase, Some(preset.increase))?;
    let hyper_increase = increases(
        "hyper_increase",
        written.hyper_increase,
        preset.hyper_increase,
    )?;
    let goes_on = hyper_increase.written.or(hyper_increase.preset).is_none();
    Ok(Algorithm::Dcqcn(Dcqcn {
        interval: time("interval", written.interval, preset.interval)?,
        gain: gain as u8,
        alpha_timer: time("alpha_timer", written.alpha_timer, preset.alpha_timer)?,
        timer: time("timer", written.timer, preset.timer)?,
        alpha: first_alpha(written.alpha)?,
        bytes: Amounts {
            written: written.bytes.map(|bytes| count(bytes, clock)).transpose()?,
            preset: (preset.bytes)
                .map(|bytes| preset.flits(bytes, clock.reference_rate, clock.flit_bytes)),
        },
        stages: stages as u32,
        increase,
        hyper_increase: if goes_on { increase } else { hyper_increase },
        least: rate("least", written.least, clock)?,
    }))
}

/// A stage by bytes \[flits\].
fn count(bytes: Amount, clock: Clock) -> Result<u64, ArgumentError> {
    match bytes.flits(clock) {
        0 => Err(invalid(format!(
            "`bytes` is `{bytes}`: expected at least 1 flit"
        ))),
        flits => Ok(flits),
    }
}

/// alpha before the first CNP \[2^-32\].
fn first_alpha(alpha: f64) -> Result<u64, ArgumentError> {
    if alpha > 0.0 && alpha <= 1.0 {
        return Ok(((alpha * WHOLE as f64).round() as u64).max(1));
    }
    Err(invalid(format!(
        "`alpha` is {alpha}: expected a number above 0, at most 1"
    )))
}
