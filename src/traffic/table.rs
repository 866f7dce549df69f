//! What tables of messages and flows have in common: cells without quotes, units in the header.

use crate::registry::unknown;
use crate::units::Clock;

/// The cells of a line.
pub(super) fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(str::trim)
}

/// `time` and `ns` of the heading `time [ns]`; the unit may be missing.
pub(super) fn named(heading: &str) -> (&str, &str) {
    match heading.split_once('[') {
        Some((name, rest)) => (name.trim(), rest.trim_end_matches(']').trim()),
        None => (heading, ""),
    }
}

/// Units of time with their length \[ps\]; 0 = cycles.
const UNITS: [(&str, f64); 6] = [
    ("cycles", 0.0),
    ("ps", 1.0),
    ("ns", 1e3),
    ("us", 1e6),
    ("ms", 1e9),
    ("s", 1e12),
];

/// The unit of the times of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeUnit {
    /// Cycles of it; `None` = whole cycles.
    cycles: Option<f64>,
}

impl TimeUnit {
    /// The unit that the heading of a column of times names behind the column's name.
    pub(super) fn of_column(name: &str, unit: &str, clock: Clock) -> Result<Self, String> {
        let names = UNITS.iter().map(|(name, _)| *name);
        if unit.is_empty() {
            let allowed: Vec<_> = names.map(|unit| format!("`{unit}`")).collect();
            return Err(format!(
                "the column `{name}` has no unit: expected `{name} [ns]`, or another unit of {}",
                allowed.join(", ")
            ));
        }
        let Some((_, length)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(unknown("unit of time", unit, names));
        };
        let cycles = (*length > 0.0).then(|| length / clock.cycle_picoseconds());
        Ok(Self { cycles })
    }

    /// A time below `end` \[cycles\].
    pub(super) fn cycles(self, text: &str, end: u64) -> Result<u64, String> {
        let cycles = match self.cycles {
            None => text.parse().ok(),
            Some(factor) => {
                // not after rounding: less than half of a cycle before 0 is before 0, too; NaN is in no range
                let units = text.parse().ok().filter(|units: &f64| *units >= 0.0);
                units.map(|units| (units * factor).round() as u64)
            }
        };
        match cycles {
            None => Err(format!(
                "`{text}` is no time in the unit of the header, from 0"
            )),
            Some(cycles) if cycles >= end => {
                Err(format!("`{text}`: a time of {end} cycles or more"))
            }
            Some(cycles) => Ok(cycles),
        }
    }
}
