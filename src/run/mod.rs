//! One run: shards in windows, acts between them, phases, watchdog.

pub mod acts;
mod build;
pub mod checkpoint;
pub mod congestion;
pub mod execute;
pub mod inspect;
pub mod laws;
pub mod lower;
pub mod outcome;
pub mod packet_sink;
pub mod shard;
pub mod shards;
pub mod simulation;
pub mod sizing;
pub mod transport;
pub mod wait_for;
pub mod waits;
pub mod watch;
pub mod watchdog;

pub use acts::{GlobalAct, LastingAct};
pub use checkpoint::{Checkpoint, CheckpointError, Continuation, Keeping, Start};
pub use execute::{execute, execute_from};
pub use outcome::{Outcome, Overload, Progress, RunError, Settings};
pub use packet_sink::{PacketSink, Written};
pub use shards::Shards;
pub use simulation::{Options, Simulation};
