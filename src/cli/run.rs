//! `virtlane run`: one scenario to one run directory.

use super::args::{Format, Run, RunOptions};
use super::expectations;
use super::progress::Bar;
use crate::error::{EXPECTATION_FAILED, Error, INTERRUPTED, SIMULATION_FAULT};
use crate::report::result::Cost;
use crate::report::{self, ReportError, RunDirectory, RunResult, Verdict, usage};
use crate::run::{self, RunError, Settings};
use crate::scenario::{Document, Parts, Resolved};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

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
    let directory = match &options.out {
        Some(path) => RunDirectory::create_at(path),
        None => RunDirectory::create_in(Path::new(RUNS), &resolved.plan.title, resolved.plan.seed),
    }?;
    let settings = Settings {
        threads: options.threads.map(|threads| threads as usize),
        shards: options.shards.map(|shards| shards as usize),
        check: options.check,
        profile: options.profile,
        keep_deliveries: false,
    };
    if options.profile {
        super::log::collect_spans();
    }
    let stop = stop_on_signal();
    let mut bar = Bar::new(&resolved.plan, options.quiet);
    let (started, before) = (Instant::now(), usage().cpu_seconds);
    let outcome = run::execute(
        &resolved,
        settings,
        &mut |progress| bar.show(progress),
        &stop,
    )?;
    let cost = Cost {
        wall_seconds: started.elapsed().as_secs_f64(),
        cpu_seconds: usage().cpu_seconds - before,
    };
    bar.finish();
    let result = RunResult::new(&resolved, outcome, cost, document.identity());
    report::write_run(&directory, &result, &super::log::spans())?;
    let place = directory.finish()?;
    present(&result, &resolved, &place, options)
}

/// A flag that the first SIGINT or SIGTERM sets; the second one ends the program as usual.
pub(super) fn stop_on_signal() -> Arc<AtomicBool> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // without the handler the signal ends the program at once, as it always has
        let _ = signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop));
        let _ = signal_hook::flag::register(signal, Arc::clone(&stop));
    }
    stop
}

/// Shows the result and turns it into an exit code.
fn present(
    result: &RunResult,
    resolved: &Resolved,
    place: &Path,
    options: &RunOptions,
) -> Result<ExitCode, Error> {
    // a run of another length than the scenario says cannot be held to its claims
    let claims = match options.cycles {
        None => expectations::judge(&resolved.scenario.expect, result),
        Some(_) => Vec::new(),
    };
    match options.format {
        Format::Json => super::print(&(report::summary_json(result) + "\n"))?,
        Format::Human if !options.quiet => {
            super::print(&report::human_table(result, Some(place)))?;
            super::print(&expectations::table(&claims))?;
        }
        Format::Human => {}
    }
    match result.verdict {
        Verdict::Deadlocked => {
            super::complain(&format!("deadlock: {}", result.reason));
            Ok(ExitCode::from(SIMULATION_FAULT))
        }
        Verdict::Interrupted => Ok(ExitCode::from(INTERRUPTED)),
        Verdict::Steady | Verdict::Saturated if claims.iter().all(|claim| claim.holds) => {
            Ok(ExitCode::SUCCESS)
        }
        Verdict::Steady | Verdict::Saturated => {
            for claim in claims.iter().filter(|claim| !claim.holds) {
                super::complain(&format!("expectation failed: {claim}"));
            }
            Ok(ExitCode::from(EXPECTATION_FAILED))
        }
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        Self::Fault(error.to_string())
    }
}

impl From<ReportError> for Error {
    fn from(error: ReportError) -> Self {
        Self::Usage(error.to_string())
    }
}
