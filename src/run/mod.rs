//! One run: shards in windows, phases, watchdog.

mod build;
pub mod execute;
pub mod executor;
pub mod outcome;
pub mod profile;
pub mod shard;
pub mod simulation;
pub mod sizing;
pub mod wait_for;
pub mod watchdog;

pub use execute::{Outcome, Progress, RunError, Settings, execute};
pub use simulation::{Options, Simulation};
