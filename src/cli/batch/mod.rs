//! `virtlane batch`: a sweep as jobs of a batch system.
//!
//! A batch folder holds all that its jobs need and make:
//!
//! ```text
//! batch.ron   what it is: scenario, number of tasks, jobs so far
//! input/      the scenario with its changes, and the files it names
//! job.sbatch  one array task per slice of the sweep: stops before the time limit, saves its state, queues itself again
//! merge.sbatch  joins what is there and names what is missing
//! parts/N     sweep directory of task N
//! logs/       what the jobs say
//! merged/     the joined sweep
//! ```

mod estimate;
mod folder;
mod inputs;
mod slurm;
mod tasks;

use crate::error::Error;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Arguments of `batch`.
#[derive(Args, Clone, Debug)]
pub struct Batch {
    /// The batch system.
    #[command(subcommand)]
    pub system: System,
}

/// Batch systems.
#[derive(Clone, Debug, Subcommand)]
pub enum System {
    /// A Slurm job array that stops before its time limit, goes on by itself, and is merged at the end
    Slurm(Box<slurm::Slurm>),
}

/// Hands over to the batch system.
///
/// # Errors
/// As that of the system.
pub(super) fn execute(arguments: &Batch) -> Result<ExitCode, Error> {
    match &arguments.system {
        System::Slurm(arguments) => slurm::execute(arguments),
    }
}
