//! Commands that make, join, search, compare and reproduce studies of many runs.

pub(super) mod compare;
pub(super) mod merge;
pub(super) mod outlook;
pub(super) mod reproduce;
pub(super) mod saturate;
pub(super) mod sweep;
