//! Arrival processes: when the packets of a class are made.
//!
//! Every process turns a load into a mean interval of `mean size * cycles per flit / load` cycles between
//! packets. Times that are not whole cycles are kept in fixed point, 32 bits for the fraction, so rounding
//! to cycles never changes the rate. Logarithms come from `libm`: the same draws on every platform.

pub mod aggregate;
mod bernoulli;
mod constant_rate;
mod normal;
mod normal_gaps;
pub mod normal_poisson;
mod on_off;
pub mod pareto;
mod poisson;
mod saturating;
pub mod self_similar;
#[cfg(test)]
mod tests;

use super::{BuildProcess, ProcessContext, invalid};
use crate::registry::{ArgumentError, Parameter, Registry};
use crate::rng::{Stream, unit_interval};

/// Every process a scenario can name. New ones: one file, one `mod` line, one line here.
pub static PROCESSES: Registry<BuildProcess> = Registry {
    kind: "arrival process",
    entries: &[
        bernoulli::ENTRY,
        constant_rate::ENTRY,
        normal_gaps::ENTRY,
        normal_poisson::ENTRY,
        on_off::ENTRY,
        poisson::ENTRY,
        saturating::ENTRY,
        self_similar::ENTRY,
    ],
    unclear: &[],
};

/// Documents the parameter `load`.
const LOAD: Parameter = Parameter {
    name: "load",
    kind: "number in (0, 1] [fraction of the host's link rate]",
    default: None,
    summary: "mean load each sending host offers, source queue permitting",
};

/// One cycle in fixed point.
const ONE_CYCLE: u64 = 1 << 32;

/// Longest mean interval between packets \[cycles\]: below 2^31 every fixed-point sum fits 64 bits.
const LONGEST_INTERVAL: f64 = (1u64 << 31) as f64;

/// Mean interval between packets \[cycles\], at least 1.
///
/// # Errors
/// When the load of parameter `name` is not in (0, 1], or too low to count.
fn interval(name: &str, load: f64, context: ProcessContext) -> Result<f64, ArgumentError> {
    // not with 300 zeros
    let shown = match load.abs() {
        plain if plain == 0.0 || (1e-6..1e9).contains(&plain) => load.to_string(),
        _ => format!("{load:e}"),
    };
    if !(load > 0.0 && load <= 1.0) {
        return Err(invalid(format!(
            "`{name}` is {shown}; it must be above 0 and at most 1 (fraction of the link rate)"
        )));
    }
    let interval = context.mean_size * f64::from(context.cycles_per_flit) / load;
    if interval > LONGEST_INTERVAL {
        return Err(invalid(format!(
            "`{name}` is {shown}, less than one packet in 2^31 cycles; use a higher load"
        )));
    }
    Ok(interval.max(1.0))
}

/// Cycles in 32.32 fixed point, rounded to the nearest.
fn fixed_point(cycles: f64) -> u64 {
    (cycles * ONE_CYCLE as f64).round() as u64
}

/// Failures before the first success in independent trials; `inverse_log` = 1 / ln(1 - p).
///
/// Inversion: floor(ln(u) / ln(1 - p)) with u uniform in (0, 1], exact up to the 53 bits of u.
fn geometric(inverse_log: f64, rng: &mut Stream) -> u64 {
    (libm::log(unit_interval(rng)) * inverse_log) as u64
}

/// 1 / ln(1 - p) for [`geometric`]; 0 for p = 1, which makes every draw 0.
fn inverse_log(probability: f64) -> f64 {
    if probability >= 1.0 {
        0.0
    } else {
        1.0 / libm::log1p(-probability)
    }
}
