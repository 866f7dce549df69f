//! Paths of entries as patterns: `NAME`, `FLITS`, `HOPS`, `SL` and `STATISTIC` stand for what a run has there.

use super::{FLITS, HOPS, NAME, SL, STATISTIC, STATISTICS};

/// Whether a pattern has a path as a case; it has itself.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<_> = pattern.split('.').collect();
    let given: Vec<_> = path.split('.').collect();
    let mut steps = pattern.iter().zip(&given);
    pattern.len() == given.len()
        && steps.all(|(pattern, given)| match *pattern {
            NAME => !given.is_empty(),
            FLITS => *given == FLITS || is_size(given),
            HOPS | SL => given == pattern || is_number(given),
            STATISTIC => *given == STATISTIC || STATISTICS.contains(given),
            key => key == *given,
        })
}

/// Whether this is the name of a size class of flows.
fn is_size(text: &str) -> bool {
    let flits: Option<u64> = text.parse().ok();
    flits.is_some_and(|flits| flits.is_power_of_two() && flits.to_string() == text)
}

/// Whether this is a number as it is written.
fn is_number(text: &str) -> bool {
    let number: Option<u64> = text.parse().ok();
    number.is_some_and(|number| number.to_string() == text)
}
