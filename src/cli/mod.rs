//! The command line: one file per command.
//!
//! Standard output carries results only; errors, warnings and progress go to standard error.

pub mod args;
mod batch;
mod catalog;
mod check;
mod checkpoints;
mod completions;
mod describe;
pub mod flow;
mod layers;
mod list;
mod log;
mod plot;
pub mod profile;
mod progress;
mod report;
mod routes;
pub mod run;
pub mod schedule;
mod signals;
mod sources;
mod studies;
mod topology;
mod watch;

use crate::error::Error;
use args::{Cli, Command};
use clap::Parser;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

/// Runs the program with its arguments (the first is its name).
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // help and version go to standard output, mistakes to standard error
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    log::start();
    signals::write_errors();
    match execute(cli) {
        Ok(code) => code,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(error.exit_code())
        }
    }
}

fn execute(cli: Cli) -> Result<ExitCode, Error> {
    match cli.command {
        None => run::execute(&args::Run {
            file: None,
            options: cli.run,
        }),
        Some(Command::Run(arguments)) => run::execute(&arguments),
        Some(Command::Sweep(arguments)) => studies::sweep::execute(&arguments),
        Some(Command::Saturate(arguments)) => studies::saturate::execute(&arguments),
        Some(Command::Compare(arguments)) => studies::compare::execute(&arguments),
        Some(Command::Reproduce(arguments)) => studies::reproduce::execute(&arguments),
        Some(Command::Merge(arguments)) => studies::merge::execute(&arguments),
        Some(Command::Batch(arguments)) => batch::execute(&arguments),
        Some(Command::Check(arguments)) => check::execute(&arguments),
        Some(Command::List(arguments)) => list::execute(&arguments),
        Some(Command::Describe(arguments)) => describe::execute(&arguments),
        Some(Command::Topology(arguments)) => topology::execute(&arguments),
        Some(Command::Routes(arguments)) => routes::execute(&arguments),
        Some(Command::Flow(arguments)) => flow::execute(&arguments),
        Some(Command::Layers(arguments)) => layers::execute(&arguments),
        Some(Command::Schedule(arguments)) => schedule::execute(&arguments),
        Some(Command::Sources(arguments)) => sources::execute(&arguments),
        Some(Command::Profile(arguments)) => profile::execute(&arguments),
        Some(Command::Watch(arguments)) => watch::execute(&arguments),
        Some(Command::Report(arguments)) => report::execute(&arguments),
        Some(Command::Plot(arguments)) => plot::execute(&arguments),
        Some(Command::Completions(arguments)) => completions::execute(&arguments),
        Some(Command::Man) => completions::manual(),
    }
}

/// Writes a result to standard output.
///
/// # Errors
/// When standard output is closed.
pub fn print(text: &str) -> Result<(), Error> {
    let mut output = io::stdout().lock();
    let written = output.write_all(text.as_bytes());
    written.and_then(|()| output.flush()).map_err(Error::Output)
}

/// A load with three digits that matter.
fn share(load: f64) -> String {
    let digits = if load > 0.0 && load < 0.1 {
        (2 - load.log10().floor() as i32).clamp(3, 9)
    } else {
        3
    };
    format!("{load:.*}", digits as usize)
}

/// A number with its noun, which takes an `s` but for one; `ending` is that of the plural.
fn count(number: usize, noun: &str, ending: &str) -> String {
    let ending = if number == 1 { "" } else { ending };
    format!("{number} {noun}{ending}")
}

/// Writes a remark to standard error.
fn note(message: &str) {
    let _ = writeln!(io::stderr(), "note: {message}");
}

/// Writes an error to standard error.
fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "error: {message}");
}
