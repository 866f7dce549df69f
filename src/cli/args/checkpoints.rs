//! Flags that start a run from a saved state and save it.

use clap::Args;
use std::path::PathBuf;

/// Where a run starts and what it saves.
#[derive(Args, Clone, Debug, Default)]
pub struct Checkpoints {
    /// Save the whole state at least every N cycles, to go on after a crash with `--resume`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub checkpoint_every: Option<u64>,
    /// Where the state is saved; default: the run directory's name with `.checkpoint` appended
    ///
    /// SIGINT, SIGTERM and SIGUSR1 save it, too, and end the run. It is removed when the run is finished.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Go on from the saved state, when there is one; the result is that of a run never interrupted
    #[arg(long)]
    pub resume: bool,
    /// Save the state at the end of the warm-up, for `--fork`
    #[arg(long, value_name = "FILE")]
    pub save_warmup: Option<PathBuf>,
    /// Start from the state of another run on the same network; loads, seed and phases may differ
    ///
    /// Sources start anew at the cycle of that state; the rest of the warm-up is run, if any is left.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub fork: Option<PathBuf>,
}
