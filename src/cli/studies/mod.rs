//! Commands that make, join, search and compare studies of many runs.

pub(super) mod compare;
pub(super) mod merge;
pub(super) mod saturate;
pub(super) mod sweep;
