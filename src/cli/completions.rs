//! `virtlane completions`: what shells complete, and `virtlane man`: the manual page.

use super::args::Cli;
use crate::error::Error;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use std::process::ExitCode;

/// Arguments of `completions`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  virtlane completions bash > ~/.local/share/bash-completion/completions/virtlane\n  virtlane \
                  completions zsh > ~/.zfunc/_virtlane"
)]
pub struct Completions {
    /// Shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Prints the completions.
///
/// # Errors
/// When standard output is closed.
pub(super) fn execute(arguments: &Completions) -> Result<ExitCode, Error> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Cli::command(),
        "virtlane",
        &mut script,
    );
    super::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page, in roff.
///
/// # Errors
/// When standard output is closed.
pub(super) fn manual() -> Result<ExitCode, Error> {
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
    rendered.map_err(Error::Output)?;
    super::print(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}
