//! Times in cycles and amounts in flits, within the limits of the engine.

use crate::control::WHOLE_LINK;
use crate::scenario::syntax::{At, Mistake};
use crate::units::{Amount, Clock, Time};

/// Longest latency or delay \[cycles\]: milliseconds on any link, far beyond a cluster.
const LONGEST_DELAY: u64 = 1_000_000;
/// Longest phase \[cycles\]: far beyond any run, and sums of a few cannot overflow.
pub(in crate::scenario) const LONGEST_PHASE: u64 = 1_000_000_000_000_000;
/// Largest buffer \[flits\].
const LARGEST_BUFFER: u64 = 1 << 30;

/// A time in cycles, within limits.
pub(in crate::scenario) fn cycles(
    time: &At<Time>,
    clock: Clock,
    least: u64,
    most: u64,
) -> Result<u64, Mistake> {
    let cycles = time.value.cycles(clock);
    if (least..=most).contains(&cycles) {
        return Ok(cycles);
    }
    let length = match time.value {
        Time::Cycles(_) => String::new(),
        Time::Picoseconds(_) => {
            let cycle = clock.cycle_picoseconds() / 1000.0;
            format!(" = {cycles} cycles of {cycle:.3} ns")
        }
    };
    let limit = if cycles < least {
        format!(
            "at least {least} cycle{}",
            if least == 1 { "" } else { "s" }
        )
    } else {
        format!("at most {most} cycles")
    };
    Err(time.mistake(format!("`{}`{length}: expected {limit}", time.value)))
}

/// A latency or delay in cycles.
pub(in crate::scenario) fn delay(
    time: &At<Time>,
    clock: Clock,
    least: u64,
) -> Result<u32, Mistake> {
    cycles(time, clock, least, LONGEST_DELAY).map(|cycles| cycles as u32)
}

/// An amount in flits, within limits.
pub(in crate::scenario) fn flits(
    amount: &At<Amount>,
    clock: Clock,
    least: u64,
    most: u64,
) -> Result<u64, Mistake> {
    let flits = amount.value.flits(clock);
    if (least..=most).contains(&flits) {
        return Ok(flits);
    }
    let length = match amount.value {
        Amount::Flits(_) => String::new(),
        Amount::Bytes(_) => format!(" = {flits} flits of {} B", clock.flit_bytes),
    };
    let message = format!(
        "`{}`{length}: expected {least} to {most} flits",
        amount.value
    );
    Err(amount.mistake(message))
}

/// The size of a buffer in flits.
pub(in crate::scenario) fn buffer(
    amount: &At<Amount>,
    clock: Clock,
    least: u64,
) -> Result<u32, Mistake> {
    flits(amount, clock, least, LARGEST_BUFFER).map(|size| size as u32)
}

/// What rates may take of every link where so much is kept for other traffic, in parts of [`WHOLE_LINK`], rounded down.
pub(crate) fn of_links(reserved: f64) -> u32 {
    ((1.0 - reserved) * f64::from(WHOLE_LINK)).floor() as u32
}
