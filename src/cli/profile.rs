//! `virtlane profile`: a run that times every stage.

use super::args::Profile;
use crate::error::Error;
use std::process::ExitCode;

/// Resolves the scenario and runs it with timers.
///
/// # Errors
/// As [`super::run::execute`].
pub fn execute(arguments: &Profile) -> Result<ExitCode, Error> {
    let document = arguments.options.open(Some(&arguments.file))?;
    let options = super::args::RunOptions {
        profile: true,
        ..arguments.options.clone()
    };
    super::run::simulate(&document, &options)
}
