//! Numbers as a page shows them.

use crate::chart::axis::number;
use crate::chart::bars::three_digits;
use crate::measure::precision::Interval;

/// Shown where there is no value.
pub(super) const NONE: &str = "\u{2013}";

/// A load or share.
pub(super) fn share(value: f64) -> String {
    number(value, 4)
}

/// A count.
pub(super) fn count(value: u64) -> String {
    number(value as f64, 0)
}

/// A number of cycles with a digit behind the point.
pub(super) fn cycles(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.into(), |value| number(value, 1))
}

/// A whole number of cycles.
pub(super) fn whole(value: Option<u64>) -> String {
    value.map_or_else(|| NONE.into(), count)
}

/// `0.4996 ± 0.0012`, with so many digits behind the point.
pub(super) fn interval(interval: Option<Interval>, decimals: usize) -> String {
    match interval {
        None => NONE.into(),
        Some(Interval {
            mean,
            half_width: None,
        }) => number(mean, decimals),
        Some(Interval {
            mean,
            half_width: Some(half),
        }) => {
            format!(
                "{} \u{b1} {}",
                number(mean, decimals),
                number(half, decimals)
            )
        }
    }
}

/// A time.
pub(super) fn seconds(value: f64) -> String {
    format!("{} s", three_digits(value))
}

/// Memory.
pub(super) fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", count(bytes >> 20))
}

/// `1 switch`, `2 switches`.
pub(super) fn plural(value: usize, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        count(value as u64),
        if value == 1 { one } else { many }
    )
}
