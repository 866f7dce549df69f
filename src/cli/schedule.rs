//! `virtlane schedule`: the effective cycle of a scenario.

use super::args::Schedule;
use crate::error::Error;
use crate::scenario::Parts;
use std::process::ExitCode;

/// Resolves the scenario and prints its stages.
///
/// # Errors
/// When the scenario is wrong.
pub fn execute(arguments: &Schedule) -> Result<ExitCode, Error> {
    arguments.input.open()?.resolve(&Parts::registered())?;
    Err(Error::Fault("engine not linked yet".into()))
}
