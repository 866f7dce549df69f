//! Many runs: sweeps over axes and seeds, the search for the saturation point, their directories, tables of means
//! with confidence intervals.
//!
//! ```text
//! Document ── design ──> points x seeds = runs ── jobs in parallel ──> one run directory each ──> sweep.csv
//! ```
//!
//! Runs that are stopped leave their state in `states` and go on from there. The run directories are the truth: each appears by one rename when it is complete and says in its manifest
//! which run it is, so a study that was killed at any instant goes on where it was, and shards can be merged.

mod axes;
pub mod compare;
pub mod design;
pub mod directory;
pub mod execute;
pub mod found;
pub mod grid;
mod human_table;
pub mod hunt;
mod job_columns;
pub mod level;
pub mod limit;
pub mod merge;
pub mod outlook;
pub mod record;
pub mod saturation;
pub mod shortfall;
pub mod states;
pub mod table;
pub mod trouble;

pub use design::{Design, RunKey};
pub use directory::{Finished, StudyDirectory};
pub use execute::{Crew, Order, execute};
pub use merge::{Missing, merge};
pub use outlook::Outlook;
pub use record::Record;
pub use table::Table;
pub use trouble::Trouble;

use crate::report::ReportError;
use crate::run::RunError;
use crate::scenario::ScenarioError;
use std::io;
use std::path::PathBuf;

/// Every way a study can fail. What fails in one run only is a row of the table, not an error.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A run cannot be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// Worker threads cannot be started.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A run of a search gives no result.
    #[error("{reason}")]
    FailedRun {
        /// Why.
        reason: String,
        /// An invariant broke: it is not the scenario that is wrong.
        is_broken: bool,
    },
    /// The study itself makes no sense.
    #[error("{0}")]
    Design(String),
    /// The directory holds another study.
    #[error(
        "`{}` holds another study: {difference}; choose a new directory, or --force to keep the runs that \
         still belong to it and make the others",
        .path.display()
    )]
    Changed {
        /// The directory.
        path: PathBuf,
        /// What differs.
        difference: String,
    },
    /// The directory holds something that is no study.
    #[error("`{}`: {reason}", .path.display())]
    Foreign {
        /// File or directory.
        path: PathBuf,
        /// What it is, or what is wrong with it.
        reason: String,
    },
    /// Stopped from outside.
    #[error("interrupted")]
    Stopped,
    /// Another process works in the directory.
    #[error("another process works in `{}`: wait for it, or choose another directory", .0.display())]
    Busy(PathBuf),
    /// The file system refuses.
    #[error("cannot write `{}`: {cause}; earlier results are intact", .path.display())]
    Write {
        /// What was to be written.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
}

impl StudyError {
    fn foreign(path: impl Into<PathBuf>, reason: impl ToString) -> Self {
        Self::Foreign {
            path: path.into(),
            reason: reason.to_string(),
        }
    }
}
