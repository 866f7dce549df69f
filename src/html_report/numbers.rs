//! Numbers as a page shows them.

use crate::chart::axis::number;
use crate::chart::bars::three_digits;
use crate::measure::precision::Interval;
use crate::results::Across;
use serde_json::Value;

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

/// A value of that unit: a count as it is, a share with four digits behind the point, any other number with one.
pub(super) fn found(value: Option<&Value>, unit: &str) -> String {
    match value {
        Some(Value::Number(whole)) if whole.is_u64() => count(whole.as_u64().unwrap_or_default()),
        Some(Value::Number(load)) if unit.starts_with("fraction") => {
            share(load.as_f64().unwrap_or_default())
        }
        Some(Value::Number(other)) => cycles(other.as_f64()),
        _ => NONE.into(),
    }
}

/// `2.47 channels`, with so many digits behind the point.
pub(super) fn measured(value: Option<f64>, decimals: usize, unit: &str) -> String {
    value.map_or_else(
        || NONE.into(),
        |value| format!("{} {unit}", number(value, decimals)),
    )
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

/// Where a point is on its curve: `offered load 0.3000`, `fabric.switch.lane_capacity 16 flits`.
pub(super) fn place(across: &Across, x: f64) -> String {
    match across {
        Across::Offered => format!("offered load {}", share(x)),
        Across::Setting { path, unit } => format!("{path} {x} {unit}").trim_end().to_owned(),
    }
}

/// `1 cycle = 51.2 ns`, to the picosecond.
pub(super) fn cycle_length(cycle_ns: f64) -> String {
    let time = format!("{cycle_ns:.3}");
    let time = time.trim_end_matches('0').trim_end_matches('.');
    format!("1 cycle = {time} ns")
}

/// So many cycles in units of the world: `3.28 \u{b5}s`.
pub(super) fn real_time(cycles: f64, cycle_ns: f64) -> String {
    let (value, unit) = match cycles * cycle_ns {
        ns if ns >= 1e9 => (ns / 1e9, "s"),
        ns if ns >= 1e6 => (ns / 1e6, "ms"),
        ns if ns >= 1e3 => (ns / 1e3, "\u{b5}s"),
        ns => (ns, "ns"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A load as the rate of a host whose link has the reference rate \[bit/s\]: `4.99 Gbit/s`.
pub(super) fn real_rate(load: f64, reference_rate: u64) -> String {
    format!(
        "{} Gbit/s",
        three_digits(load * reference_rate as f64 / 1e9)
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_told_by_what_its_curve_goes_over() {
        assert_eq!(place(&Across::Offered, 0.7025), "offered load 0.7025");
        let setting = |unit: &str| Across::Setting {
            path: "fabric.switch.lanes".into(),
            unit: unit.into(),
        };
        assert_eq!(place(&setting(""), 4.0), "fabric.switch.lanes 4");
        assert_eq!(place(&setting("flits"), 4.0), "fabric.switch.lanes 4 flits");
    }

    #[test]
    fn cycles_and_loads_have_units_of_the_world() {
        assert_eq!(real_time(64.0, 51.2), "3.28 \u{b5}s");
        assert_eq!(real_time(2.0, 0.64), "1.28 ns");
        assert_eq!(cycle_length(51.2), "1 cycle = 51.2 ns");
        assert_eq!(cycle_length(0.6404), "1 cycle = 0.64 ns");
        assert_eq!(cycle_length(1000.0), "1 cycle = 1000 ns");
        assert_eq!(real_rate(0.4997, 10_000_000_000), "5.00 Gbit/s");
    }
}
