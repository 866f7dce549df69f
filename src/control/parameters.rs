//! Parameters of algorithms: checked against what is allowed, times in cycles, rates and fractions in fixed point.

use super::ONE_FLIT_PER_CYCLE;
use crate::registry::ArgumentError;
use crate::units::{BitRate, Clock, Time};
use std::ops::RangeInclusive;

/// Longest time of an algorithm \[cycles\], as of all that waits at a host.
pub(super) const LONGEST: u64 = 1 << 31;

/// One in fixed point of 16 bits behind the point.
pub(super) const ONE: u32 = 1 << 16;

/// Largest window \[packets\]: what fixed point holds.
pub(super) const LARGEST_WINDOW: u64 = (1 << 16) - 1;

/// A complaint about arguments as a whole.
pub(super) fn invalid(message: impl Into<String>) -> ArgumentError {
    ArgumentError {
        message: message.into(),
        line: 1,
        column: 1,
    }
}

/// A whole number within limits; `why` says where these come from.
pub(super) fn within(
    name: &str,
    value: u64,
    range: RangeInclusive<u64>,
    why: &str,
) -> Result<u64, ArgumentError> {
    if range.contains(&value) {
        return Ok(value);
    }
    let (least, most) = range.into_inner();
    Err(invalid(format!(
        "`{name}` is {value}: expected {least} to {most}, {why}"
    )))
}

/// A time in cycles, at least 1.
pub(super) fn cycles(name: &str, time: Time, clock: Clock) -> Result<u64, ArgumentError> {
    let cycles = time.cycles(clock);
    if (1..=LONGEST).contains(&cycles) {
        return Ok(cycles);
    }
    let length = match time {
        Time::Cycles(_) => String::new(),
        Time::Picoseconds(_) => {
            let cycle = clock.cycle_picoseconds() / 1000.0;
            format!(" = {cycles} cycles of {cycle:.3} ns")
        }
    };
    Err(invalid(format!(
        "`{name}` is `{time}`{length}: expected 1 to {LONGEST} cycles, what a host can wait"
    )))
}

/// A rate \[2^-32 flits per cycle\], rounded up; no more than the reference rate.
pub(super) fn rate(name: &str, rate: BitRate, clock: Clock) -> Result<u64, ArgumentError> {
    let reference = BitRate(clock.reference_rate);
    if rate > reference {
        return Err(invalid(format!(
            "`{name}` is `{rate}`: expected at most `{reference}`, the reference rate"
        )));
    }
    let exact = u128::from(rate.0) * u128::from(ONE_FLIT_PER_CYCLE);
    Ok(exact.div_ceil(u128::from(reference.0)) as u64)
}

/// A number above 0 \[2^-16\], rounded to the nearest, at least the smallest there is.
pub(super) fn fixed(name: &str, value: f64, most: f64) -> Result<u32, ArgumentError> {
    if value > 0.0 && value <= most {
        return Ok(((value * f64::from(ONE)).round() as u32).max(1));
    }
    Err(invalid(format!(
        "`{name}` is {value}: expected a number above 0, at most {most}"
    )))
}
