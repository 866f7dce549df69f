//! `virtlane run`: one scenario to one run directory.

use super::args::{Format, Run, RunOptions};
use super::checkpoints;
use super::progress::Bar;
use super::signals::Signals;
use crate::claims::{self, Judgement};
use crate::error::{EXPECTATION_FAILED, Error, INTERRUPTED, SIMULATION_FAULT};
use crate::report::{self, PacketFile, ReportError, RunDirectory, RunResult, Verdict, usage};
use crate::run::{self, PacketSink, RunError, Settings};
use crate::scenario::{Document, Parts, Resolved};
use std::path::Path;
use std::process::ExitCode;

/// Folder of runs without `--out`.
pub(super) const RUNS: &str = "runs";

/// Resolves the scenario and runs it.
///
/// # Errors
/// When the scenario is wrong, the results cannot be written, or the simulation fails.
pub fn execute(arguments: &Run) -> Result<ExitCode, Error> {
    let document = arguments.options.open(arguments.file.as_deref())?;
    simulate(&document, &arguments.options)
}

/// Runs a scenario with the given options, from the place for its results to its exit code.
///
/// # Errors
/// As [`execute`].
pub fn simulate(document: &Document, options: &RunOptions) -> Result<ExitCode, Error> {
    let resolved = document.resolve(&Parts::registered())?;
    let directory = open_directory(&resolved, options)?;
    let saved = checkpoints::file(&options.checkpoints, directory.place());
    let mut packets = packet_file(&resolved, &saved);
    let sink = packets.as_mut().map(|file| file as &mut dyn PacketSink);
    let continuation = checkpoints::continuation(&options.checkpoints, directory.place(), sink)?;
    let settings = Settings {
        overload: None,
        measured_only: false,
        threads: options.threads.map(|threads| threads as usize),
        shards: options.shards.map(|shards| shards as usize),
        check: options.check,
        profile: options.profile,
        cpu_clock: Some(|| usage().cpu_seconds),
    };
    if options.profile {
        super::log::collect_spans();
    }
    let signals = Signals::listen();
    let bar = Bar::new(&resolved.plan, options.quiet);
    let outcome = run::execute_from(
        &resolved,
        settings,
        continuation,
        &mut |progress| bar.show(progress),
        signals.stop(),
    );
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            // what a checkpoint needs stays
            if let Some(packets) = packets.filter(|_| !saved.exists()) {
                packets.discard();
            }
            return Err(error.into());
        }
    };
    drop(bar);
    let result = RunResult::new(&resolved, outcome, document.identity());
    // a run of another length than the scenario says cannot be held to its claims
    let claims = match options.cycles {
        None => judge(&resolved, &result),
        Some(_) => Vec::new(),
    };
    report::write_run(&directory, &result, packets, &super::log::spans())?;
    if !claims.is_empty() {
        directory.write(claims::FILE, &claims::csv(&claims)?)?;
    }
    let place = directory.finish()?;
    if result.verdict == Verdict::Interrupted {
        super::note(&format!("{}; `--resume` goes on from there", result.reason));
    } else {
        checkpoints::discard(&saved);
    }
    let code = present(&result, &claims, &place, options)?;
    Ok(signals.code().unwrap_or(code))
}

/// Where the records of packets grow, when the scenario asks for them: beside the checkpoint.
fn packet_file(resolved: &Resolved, saved: &Path) -> Option<PacketFile> {
    let mut path = saved.as_os_str().to_owned();
    path.push(".packets");
    PacketFile::asked_for(&resolved.plan, path.into())
}

/// Prepares the place for the results.
fn open_directory(resolved: &Resolved, options: &RunOptions) -> Result<RunDirectory, ReportError> {
    let (title, seed) = (&resolved.plan.title, resolved.plan.seed);
    match (&options.out, options.checkpoints.resume) {
        (Some(path), false) => RunDirectory::create_at(path),
        (None, false) => RunDirectory::create_in(Path::new(RUNS), title, seed),
        (Some(path), true) => RunDirectory::create_over_interrupted(path),
        (None, true) => {
            let path = RunDirectory::first_place(Path::new(RUNS), title, seed);
            RunDirectory::create_over_interrupted(&path)
        }
    }
}

/// Shows the result and turns it into an exit code.
fn present(
    result: &RunResult,
    claims: &[Judgement],
    place: &Path,
    options: &RunOptions,
) -> Result<ExitCode, Error> {
    match options.format {
        Format::Json => super::print(&(report::summary_json(result) + "\n"))?,
        Format::Human if !options.quiet => {
            super::print(&report::human_table(result, Some(place)))?;
            super::print(&claims::lines(claims))?;
        }
        Format::Human => {}
    }
    match result.verdict {
        Verdict::Deadlocked => {
            super::complain(&format!("deadlock: {}", result.reason));
            Ok(ExitCode::from(SIMULATION_FAULT))
        }
        // the signal tells the code
        Verdict::Interrupted => Ok(ExitCode::from(INTERRUPTED)),
        Verdict::Steady | Verdict::Undecided | Verdict::Saturated | Verdict::Incomplete => {
            Ok(verdict(claims))
        }
    }
}

/// Tells the claims that do not hold, and turns them into an exit code.
pub(super) fn verdict(claims: &[Judgement]) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for claim in claims
        .iter()
        .filter(|claim| claim.verdict == claims::Verdict::Fails)
    {
        super::complain(&format!("expectation failed: {claim}"));
        code = ExitCode::from(EXPECTATION_FAILED);
    }
    code
}

fn judge(resolved: &Resolved, result: &RunResult) -> Vec<Judgement> {
    let summary = serde_json::to_value(report::summarize(result));
    claims::of_run(resolved, &summary.unwrap_or_default())
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Checkpoint(cause) => Self::Usage(cause.to_string()),
            RunError::Messages(cause) => Self::Usage(cause.to_string()),
            other => Self::Fault(other.to_string()),
        }
    }
}

impl From<ReportError> for Error {
    fn from(error: ReportError) -> Self {
        Self::Usage(error.to_string())
    }
}
