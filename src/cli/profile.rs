//! `virtlane profile`: a run that times every stage.

use super::args::Profile;
use crate::error::Error;
use crate::scenario::Parts;
use std::process::ExitCode;

/// Resolves the scenario and runs it with timers.
///
/// # Errors
/// When the scenario is wrong, or the simulation fails.
pub fn execute(arguments: &Profile) -> Result<ExitCode, Error> {
    let document = arguments.options.open(Some(&arguments.file))?;
    document.resolve(&Parts::registered())?;
    Err(Error::Fault("engine not linked yet".into()))
}
