//! One run: shards in windows, phases, watchdog.

pub mod executor;
pub mod shard;
pub mod simulation;

pub use simulation::{Options, Simulation};
