//! One run: shards in windows, phases, watchdog.

mod build;
pub mod execute;
pub mod inspect;
pub mod invariants;
pub mod layout;
pub mod lower;
pub mod outcome;
pub mod shard;
pub mod simulation;
pub mod sizing;
pub mod wait_for;
pub mod watchdog;

pub use execute::execute;
pub use outcome::{Outcome, Progress, RunError, Settings};
pub use simulation::{Options, Simulation};
