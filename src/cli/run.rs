//! `virtlane run`: one scenario to one run directory.

use super::args::Run;
use crate::error::Error;
use crate::scenario::{Parts, Resolved};
use std::process::ExitCode;

/// Resolves the scenario and runs it.
///
/// # Errors
/// When the scenario is wrong, or the simulation fails.
pub fn execute(arguments: &Run) -> Result<ExitCode, Error> {
    let document = arguments.options.open(arguments.file.as_deref())?;
    let resolved = document.resolve(&Parts::registered())?;
    simulate(&resolved, arguments)
}

fn simulate(_resolved: &Resolved, _arguments: &Run) -> Result<ExitCode, Error> {
    Err(Error::Fault("engine not linked yet".into()))
}
