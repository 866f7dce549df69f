//! Traffic patterns: where the packets of a class go.
//!
//! A pattern is random per packet (`Uniform`, `HotSpot`) or fixed: a table with one destination per
//! source, made once. A fixed point of a table does not send without `self_traffic`.

mod all_to;
mod bad_dragon;
mod bits;
mod digits;
mod hot_spot;
mod members;
mod offsets;
mod pairs;
mod permutation;
#[cfg(test)]
mod shares_tests;
#[cfg(test)]
mod tests;
mod uniform;

pub use members::Members;

use super::BuildPattern;
use crate::registry::Registry;

/// Every pattern a scenario can name. New ones: one file, one `mod` line, one line here.
pub static PATTERNS: Registry<BuildPattern> = Registry {
    kind: "traffic pattern",
    entries: &[
        all_to::ENTRY,
        offsets::ASYMMETRIC,
        bad_dragon::ENTRY,
        bits::BIT_REVERSE,
        bits::BIT_ROTATION,
        bits::BUTTERFLY,
        digits::COMPLEMENT,
        offsets::DIAGONAL,
        hot_spot::ENTRY,
        digits::NEIGHBOR,
        pairs::ENTRY,
        permutation::RANDOM_PAIRS,
        permutation::RANDOM_PERMUTATION,
        digits::SHIFT,
        bits::SHUFFLE,
        offsets::TAPER64,
        digits::TORNADO,
        digits::TRANSPOSE,
        uniform::ENTRY,
    ],
    unclear: &[],
};
