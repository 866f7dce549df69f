//! `virtlane run`: one scenario to one run directory.

use super::args::{Format, Run, RunOptions};
use super::checkpoints;
use super::progress::Bar;
use super::signals::Signals;
use crate::claims::{self, Judgement};
use crate::error::{EXPECTATION_FAILED, Error, INTERRUPTED, SIMULATION_FAULT, UNWRITTEN, code_of};
use crate::report::{
    self, PacketFile, Replaces, ReportError, RunDirectory, RunResult, Verdict, leftovers, usage,
};
use crate::run::{self, CheckpointError, PacketSink, RunError, Settings, Start};
use crate::scenario::{Document, Parts, Resolved};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
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
    let saved = checkpoints::file(&options.checkpoints, directory.place())?;
    let mut packets = packet_file(&resolved, &saved);
    let sink = packets.as_mut().map(|file| file as &mut dyn PacketSink);
    let places = (directory.place(), &*saved);
    let (continuation, _holds) = checkpoints::continuation(&options.checkpoints, places, sink)?;
    let is_resumed = matches!(continuation.start, Start::Resume(_));
    if options.profile {
        super::log::collect_spans();
    }
    let signals = Signals::listen();
    let bar = Bar::new(&resolved.plan, options.quiet);
    let outcome = run::execute_from(
        &resolved,
        settings(options),
        continuation,
        &mut |progress| bar.show(progress),
        signals.stop(),
    );
    drop(bar);
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
    // a state that was there before belongs to another run
    let saved = (is_resumed || outcome.has_saved).then_some(saved);
    let result = RunResult::new(&resolved, outcome, document.identity());
    let done = Done {
        claims: claims_of(&resolved, &result, options),
        result,
        saved,
    };
    // shown before anything is written: whatever fails then, the numbers are there
    let shown = done.show(options.format, options.quiet);
    let place = match done.keep(directory, packets) {
        Ok(place) => place,
        Err(lost) => {
            if options.quiet && options.format == Format::Human {
                done.show(Format::Human, false)?;
            }
            return Err(lost);
        }
    };
    shown?;
    // a signal that came when the run was over has stopped nothing
    let told = signals
        .code()
        .filter(|_| done.result.verdict == Verdict::Interrupted);
    let code = done.end(&place, options)?;
    Ok(told.unwrap_or(code))
}

/// What became of the claims; a run of another length than the scenario says cannot be held to them.
fn claims_of(resolved: &Resolved, result: &RunResult, options: &RunOptions) -> Vec<Judgement> {
    match options.cycles {
        None => judge(resolved, result),
        Some(_) => Vec::new(),
    }
}

/// What the options say of the simulation.
fn settings(options: &RunOptions) -> Settings {
    Settings {
        overload: None,
        measured_only: false,
        threads: options.threads.map(|threads| threads as usize),
        shards: options.shards.map(|shards| shards as usize),
        check: options.check,
        profile: options.profile,
        cpu_clock: Some(|| usage().cpu_seconds),
    }
}

/// A run that is simulated.
struct Done {
    result: RunResult,
    claims: Vec<Judgement>,
    /// Where its state is, when it went on from there or has saved it.
    saved: Option<PathBuf>,
}

impl Done {
    /// Shows the result.
    fn show(&self, format: Format, quiet: bool) -> Result<(), Error> {
        match format {
            Format::Json => super::print(&(report::summary_json(&self.result) + "\n")),
            Format::Human if quiet => Ok(()),
            Format::Human => {
                let claims = claims::lines(&self.claims);
                super::print(&(report::human_table(&self.result) + &claims))
            }
        }
    }

    /// Writes the results; where that fails what could be written is kept, and the state, and both are named.
    fn keep(&self, directory: RunDirectory, packets: Option<PacketFile>) -> Result<PathBuf, Error> {
        let claims = match &self.claims[..] {
            [] => Ok(()),
            claims => directory.write(claims::FILE, &claims::csv(claims)?),
        };
        let tables = report::write_run(&directory, &self.result, packets, &super::log::spans());
        let cause = match tables.and(claims) {
            Ok(()) => match directory.finish() {
                Ok(place) => return Ok(place),
                Err(cause) => return Err(self.lost(&cause, None)),
            },
            Err(cause) => cause,
        };
        Err(self.lost(&cause, directory.keep_incomplete().ok()))
    }

    /// The error that says what is left.
    fn lost(&self, cause: &ReportError, kept: Option<PathBuf>) -> Error {
        let mut text = cause.to_string();
        if let Some(kept) = kept {
            let _ = write!(text, "; what could be written is in `{}`", kept.display());
        }
        if let Some(saved) = self.saved.as_ref().filter(|saved| saved.exists()) {
            let saved = saved.display();
            let _ = write!(text, "; `{saved}` stays, `--resume` goes on from there");
        }
        Error::Unwritten(text)
    }

    /// Says where the results are and turns the verdict into an exit code.
    fn end(&self, place: &Path, options: &RunOptions) -> Result<ExitCode, Error> {
        if options.format == Format::Human && !options.quiet {
            super::print(&report::results_line(place))?;
        }
        let reason = &self.result.reason;
        if let Some(saved) = &self.saved
            && self.result.verdict != Verdict::Interrupted
        {
            checkpoints::discard(saved);
        }
        match self.result.verdict {
            Verdict::Deadlocked => {
                super::complain(&format!("deadlock: {reason}"));
                Ok(ExitCode::from(SIMULATION_FAULT))
            }
            // the signal tells the code
            Verdict::Interrupted => {
                super::note(&format!("{reason}; `--resume` goes on from there"));
                Ok(ExitCode::from(INTERRUPTED))
            }
            Verdict::Complete
            | Verdict::Steady
            | Verdict::Undecided
            | Verdict::Saturated
            | Verdict::Incomplete => Ok(verdict(&self.claims)),
        }
    }
}

/// Where the records of packets grow, when the scenario asks for them: beside the checkpoint.
fn packet_file(resolved: &Resolved, saved: &Path) -> Option<PacketFile> {
    let place = checkpoints::records(saved);
    PacketFile::asked_for(&resolved.plan, place).map(PacketFile::or_without)
}

/// Takes the place for the results, and names what runs that were killed have left there.
fn open_directory(resolved: &Resolved, options: &RunOptions) -> Result<RunDirectory, Error> {
    let (title, seed) = (&resolved.plan.title, resolved.plan.seed);
    let replaces = match options.checkpoints.resume {
        _ if options.force => Replaces::AnyRun,
        true => Replaces::Interrupted,
        false => Replaces::Nothing,
    };
    let first = || RunDirectory::first_place(Path::new(RUNS), title, seed);
    let directory = match &options.out {
        Some(path) => RunDirectory::create_over(path, replaces),
        None if replaces == Replaces::Nothing => {
            RunDirectory::create_in(Path::new(RUNS), title, seed)
        }
        None => RunDirectory::create_over(&first(), replaces),
    };
    let directory = directory?;
    for left in leftovers(directory.place()) {
        let path = left.path.display();
        super::note(&match left.holder {
            Some(holder) => format!(
                "`{path}` is of {holder}; remove it when that run is over and you need nothing of it"
            ),
            None => format!(
                "`{path}` is left of a run that was killed; remove it when you need nothing of it"
            ),
        });
    }
    Ok(directory)
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
    claims::of_run(resolved, &report::summarize(result).values)
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Checkpoint(CheckpointError::Write { ref cause, .. })
                if code_of(cause) == UNWRITTEN =>
            {
                Self::Unwritten(error.to_string())
            }
            RunError::Checkpoint(cause) => Self::Usage(cause.to_string()),
            RunError::Memory(_) => Self::Usage(error.to_string()),
            RunError::Packets(_) => Self::Unwritten(error.to_string()),
            RunError::Messages(cause) => Self::Usage(cause.to_string()),
            other => Self::Fault(other.to_string()),
        }
    }
}

impl From<ReportError> for Error {
    fn from(error: ReportError) -> Self {
        match &error {
            ReportError::Io { error: cause, .. } if code_of(cause) == UNWRITTEN => {
                Self::Unwritten(error.to_string())
            }
            _ => Self::Usage(error.to_string()),
        }
    }
}
