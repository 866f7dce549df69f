//! Layers against deadlock: what puts paths into them, and the dependencies that must stay without a cycle.

mod assign;
mod channel_bits;
mod closure;
mod graph;
pub(super) mod layering;
pub mod study;
mod units;

pub(super) use channel_bits::Vertices;
pub(super) use graph::{Dependency, LayerGraph};

pub use assign::{Granularity, Layers, NO_LAYER, Options, Order, Paths, Work, assign, upper_bound};
