//! `virtlane report`: one HTML page for runs and sweeps.

use crate::error::Error;
use crate::figures::FigureError;
use crate::html_report;
use crate::report::directory::replace_file;
use crate::results::{Results, ResultsError};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `report`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  virtlane report runs/10-ary-3-tree-uniform-1\n  virtlane report runs/load-* --out \
                  loads.html\n\nRuns that differ in load and seed only become one curve. The page needs no network and \
                  no other file."
)]
pub struct Report {
    /// Run directories, sweep directories or folders of run directories
    #[arg(value_name = "DIR", required = true)]
    pub directories: Vec<PathBuf>,
    /// File to write; default: report.html in the first directory
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Writes the page and prints its path.
///
/// # Errors
/// When results cannot be read or the page cannot be written.
pub(super) fn execute(arguments: &Report) -> Result<ExitCode, Error> {
    let results = Results::read(&arguments.directories)?;
    let page = html_report::page(&results)?;
    let out = match &arguments.out {
        Some(file) => file.clone(),
        None => arguments.directories[0].join("report.html"),
    };
    replace_file(&out, page.as_bytes())?;
    super::print(&format!("{}\n", out.display()))?;
    Ok(ExitCode::SUCCESS)
}

impl From<ResultsError> for Error {
    fn from(error: ResultsError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<FigureError> for Error {
    fn from(error: FigureError) -> Self {
        match error {
            FigureError::Results(error) => error.into(),
            FigureError::Chart(error) => error.into(),
        }
    }
}

impl From<crate::chart::ChartError> for Error {
    fn from(error: crate::chart::ChartError) -> Self {
        Self::Fault(error.to_string())
    }
}
