//! The congestion control table: entries of (shift, multiplier), one for each CCTI.

use super::super::parameters::{invalid, within};
use crate::registry::ArgumentError;
use crate::units::Time;
use serde::Deserialize;

/// Largest number of an entry: `ControlTableCap` counts up to 255 blocks of 64 entries.
const LAST_ENTRY: u64 = 255 * 64 - 1;

/// Largest multiplier, of 14 bits.
const LARGEST_MULTIPLIER: u64 = (1 << 14) - 1;

/// Last entry of a shape that names none.
const LAST: u64 = 127;

/// The table as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum Table {
    /// Multipliers from 0 to the most.
    Linear {
        /// Of the last entry.
        most: u64,
        /// Of all entries.
        shift: u64,
    },
    /// The same shape: the last entry delays the largest packet of the class by so much, as exactly as shifts allow.
    Longest(Time),
    /// Entry by entry.
    Entries(Vec<(u64, u64)>),
}

/// The entries up to the limit; `packet` is the time of the largest packet \[cycles\], `cycles` counts a time.
pub(super) fn entries(
    table: &Table,
    limit: Option<u64>,
    packet: u64,
    cycles: impl Fn(Time) -> u64,
) -> Result<Vec<(u8, u16)>, ArgumentError> {
    match table {
        &Table::Linear { most, shift } => {
            let (shift, most) = entry("table", (shift, most))?;
            linear(most, shift, limit)
        }
        Table::Longest(time) => {
            let (shift, most) = longest(cycles(*time), packet).ok_or_else(|| {
                let largest = packet * LARGEST_MULTIPLIER;
                invalid(format!(
                    "`table: Longest({time})`: expected at least an eighth of the {packet} cycles of the largest packet, at most \
                     {largest} cycles (14 bits, CCT_Multiplier)"
                ))
            })?;
            linear(most, shift, limit)
        }
        Table::Entries(written) => {
            let count = written.len() as u64;
            if !(1..=LAST_ENTRY + 1).contains(&count) {
                return Err(invalid(format!(
                    "`table` has {count} entries: expected 1 to {}, {BLOCKS}",
                    LAST_ENTRY + 1
                )));
            }
            let last = limit.unwrap_or(count - 1);
            let last = within("limit", last, 0..=count - 1, "the last entry of `table`")?;
            let all = written[..=last as usize].iter();
            all.map(|&pair| entry("table", pair)).collect()
        }
    }
}

const BLOCKS: &str = "255 blocks of 64 entries (ControlTableCap)";

fn entry(name: &str, (shift, multiplier): (u64, u64)) -> Result<(u8, u16), ArgumentError> {
    const SHIFT: &str = "2 bits (CCT_Shift)";
    const MULTIPLIER: &str = "14 bits (CCT_Multiplier)";
    let shift = within(&format!("{name}`: the shift `h"), shift, 0..=3, SHIFT)?;
    let most = 0..=LARGEST_MULTIPLIER;
    let multiplier = within(
        &format!("{name}`: the multiplier `m"),
        multiplier,
        most,
        MULTIPLIER,
    )?;
    Ok((shift as u8, multiplier as u16))
}

/// Multipliers in equal steps, rounded down, from 0 in the first entry.
fn linear(most: u16, shift: u8, limit: Option<u64>) -> Result<Vec<(u8, u16)>, ArgumentError> {
    let last = within("limit", limit.unwrap_or(LAST), 0..=LAST_ENTRY, BLOCKS)?;
    let multiplier = |index| (u64::from(most) * index / last.max(1)) as u16;
    Ok((0..=last).map(|index| (shift, multiplier(index))).collect())
}

/// The largest shift whose multiplier fits, for a delay of so many cycles after a packet of so many.
fn longest(delay: u64, packet: u64) -> Option<(u8, u16)> {
    let allowed = 1..=LARGEST_MULTIPLIER;
    (0..=3_u8)
        .rev()
        .filter(|shift| packet >> shift > 0)
        .map(|shift| (shift, (delay << shift) / packet))
        .find(|(_, multiplier)| allowed.contains(multiplier))
        .map(|(shift, multiplier)| (shift, multiplier as u16))
}
