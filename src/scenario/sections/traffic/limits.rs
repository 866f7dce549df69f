//! Limits of flows as they are written.

use crate::scenario::sections::values::{Read, list, time};
use crate::scenario::syntax::{At, Item};
use crate::units::Time;

/// A limit as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// None.
    Any,
    /// A fraction of the link rate.
    Rate(f64),
    /// Entry and shift of a congestion control table.
    Delay(u16, u8),
}

/// Reads one.
pub(super) fn allowed(item: &Item<'_>) -> Read<Allowed> {
    const EXPECTED: &str = "a limit: expected `None`, `Rate(fraction)` or `Delay(entry, shift)`";
    match item.variant() {
        Some(("None", None)) => Ok(Allowed::Any),
        Some(("Rate", Some(arguments))) => {
            let rate =
                &arguments.tuple(1, "a rate: expected `Rate(fraction of the link rate)`")?[0];
            match rate.number() {
                Ok(value) if (0.0..=1.0).contains(&value) => Ok(Allowed::Rate(value)),
                _ => Err(rate.unexpected("a fraction of the link rate from 0 to 1")),
            }
        }
        Some(("Delay", Some(arguments))) => {
            let pair = arguments.tuple(2, "a delay: expected `Delay(entry, shift)`")?;
            let entry = pair[0].integer(0..=16_383)? as u16;
            Ok(Allowed::Delay(entry, pair[1].integer(0..=3)? as u8))
        }
        _ => Err(item.unexpected(EXPECTED)),
    }
}

/// Reads later ones, each with its time.
pub(super) fn changes(item: &Item<'_>) -> Read<Vec<(At<Time>, At<Allowed>)>> {
    let entry = |item: &Item<'_>| {
        let pair = item.tuple(2, "a change: expected `(time, limit)`")?;
        Ok((pair[0].at(time(&pair[0])?), pair[1].at(allowed(&pair[1])?)))
    };
    list(entry)(item)
}

/// As it is written.
pub(super) fn written(limit: Allowed) -> String {
    match limit {
        Allowed::Any => "None".into(),
        Allowed::Rate(rate) => format!("Rate({rate:?})"),
        Allowed::Delay(entry, shift) => format!("Delay({entry}, {shift})"),
    }
}
