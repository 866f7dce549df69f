//! What a command can fail with, and the exit code that says so.

use crate::scenario::ScenarioError;
use std::io;

/// Done, but an expectation of the scenario or study failed, or runs of the study are missing.
pub const EXPECTATION_FAILED: u8 = 1;
/// Usage or scenario wrong.
pub const WRONG_INPUT: u8 = 2;
/// Simulation fault: deadlock or broken invariant.
pub const SIMULATION_FAULT: u8 = 3;
/// Results could not be written, all of them or some; what was simulated was shown. Before a run: their place could not be made.
pub const UNWRITTEN: u8 = 4;
/// Interrupted; the results so far are written.
pub const INTERRUPTED: u8 = 130;

/// As [`INTERRUPTED`], by SIGTERM or SIGUSR1.
pub const TERMINATED: u8 = 143;

/// Every way a command can fail.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The command is wrong.
    #[error("{0}")]
    Usage(String),
    /// A file cannot be read.
    #[error("{path}: cannot read the file: {cause}")]
    Read {
        /// Path as given.
        path: String,
        /// Why.
        cause: io::Error,
    },
    /// A file cannot be written.
    #[error("{path}: cannot write the file: {cause}")]
    Write {
        /// Path as given.
        path: String,
        /// Why.
        cause: io::Error,
    },
    /// A table cannot be made.
    #[error("cannot make the table: {0}")]
    Table(#[from] csv::Error),
    /// Standard output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
    /// Results of a simulation could not be written.
    #[error("{0}")]
    Unwritten(String),
    /// A simulation went wrong: deadlock, broken invariant.
    #[error("{0}")]
    Fault(String),
    /// Stopped from outside.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Exit code of the program.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Write { cause, .. } => code_of(cause),
            Self::Scenario(_) | Self::Usage(_) | Self::Read { .. } | Self::Table(_) => WRONG_INPUT,
            Self::Output(_) | Self::Unwritten(_) => UNWRITTEN,
            Self::Fault(_) => SIMULATION_FAULT,
            Self::Interrupted => INTERRUPTED,
        }
    }

    /// Whether the reader of standard output has gone, which is its right.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(cause) if cause.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Whether a place was chosen wrongly, or takes nothing: it has no room, or we have no right to write there.
pub fn code_of(cause: &io::Error) -> u8 {
    use io::ErrorKind::{AlreadyExists, InvalidInput, IsADirectory, NotADirectory, NotFound};
    match cause.kind() {
        AlreadyExists | InvalidInput | IsADirectory | NotADirectory | NotFound => WRONG_INPUT,
        _ => UNWRITTEN,
    }
}
