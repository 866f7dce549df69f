//! `virtlane profile`: a run that times every stage.

use super::args::RunOptions;
use crate::error::Error;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `profile`.
#[derive(Args, Clone, Debug)]
pub struct Profile {
    /// Scenario file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "a doc comment would replace the help text of the command"
    )]
    pub options: RunOptions,
}

/// Resolves the scenario and runs it with timers.
///
/// # Errors
/// As [`super::run::execute`].
pub fn execute(arguments: &Profile) -> Result<ExitCode, Error> {
    let document = arguments.options.open(Some(&arguments.file))?;
    let options = RunOptions {
        profile: true,
        ..arguments.options.clone()
    };
    super::run::simulate(&document, &options)
}
