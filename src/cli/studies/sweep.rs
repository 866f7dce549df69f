//! `virtlane sweep`: many runs, one table.

use super::outlook::require;
use crate::claims::{self, Judgement};
use crate::cli::args::{Sweep, Work};
use crate::cli::progress::{Runs, Spinner};
use crate::cli::run::{RUNS, verdict as claims_verdict};
use crate::cli::signals::Signals;
use crate::error::{Error, SIMULATION_FAULT, UNWRITTEN, WRONG_INPUT, code_of};
use crate::report::directory::slug;
use crate::report::table::align;
use crate::scenario::{Document, Known};
use crate::study::directory::{Finished, finished};
use crate::study::execute::Event;
use crate::study::{
    Order, Outlook, Record, StudyDirectory, StudyError, Table, execute as simulate, states,
};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Writing the table takes at most this part of the time.
const WRITING: u32 = 20;

/// Makes the runs that are not there yet and writes the table.
///
/// # Errors
/// When the scenario is wrong, the directory cannot be used, or results cannot be written.
pub(in crate::cli) fn execute(arguments: &Sweep) -> Result<ExitCode, Error> {
    let document = arguments.input.open()?;
    let shard = arguments.shard.map(|shard| (shard.number, shard.count));
    let record = Record::new(&document, shard)?;
    (arguments.input.changes).tell_axes(&document, &record.design.axes);
    let place = place(arguments, &record);
    let signals = Signals::listen();
    let known = Known::new();
    let outlook = outlook(&document, &record, &place, arguments, (&known, &signals))?;
    let sight = Sight { known, outlook };
    let outlook = &sight.outlook;
    if arguments.dry_run {
        crate::cli::print(&list(&record, &place, arguments, outlook)?)?;
    }
    require(outlook, &record.design, arguments.keep_going)?;
    if arguments.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    let directory = StudyDirectory::open(&place, &record, arguments.work.force)?;
    let made = make(
        &document,
        &record,
        &directory,
        &arguments.work,
        (&sight, &signals),
    )?;
    let Made { table, claims, .. } = &made;
    if !arguments.work.quiet || made.kept.is_err() {
        crate::cli::print(&(shown(&record, table, &place) + &claims::lines(claims)))?;
    }
    let (table, claims) = made.kept()?;
    let left = record.own_runs().len().saturating_sub(table.entered());
    // a signal that came when all was done has stopped nothing
    let Some(code) = signals.code().filter(|_| left > 0) else {
        return Ok(match verdict(&table) {
            ExitCode::SUCCESS => claims_verdict(&claims),
            fault => fault,
        });
    };
    let saved = begun(&record, &place);
    crate::cli::note(&format!(
        "stopped; runs to do: {left}, {saved} of them with a saved state in {}: the same command goes on",
        place.join(states::STATES).display()
    ));
    Ok(code)
}

/// What is known before the runs: their routes, and which of them cannot be simulated.
#[derive(Debug, Default)]
pub(super) struct Sight {
    known: Known,
    outlook: Outlook,
}

/// Looks at the runs that are to be made.
fn outlook(
    document: &Document,
    record: &Record,
    place: &Path,
    arguments: &Sweep,
    (known, signals): (&Known, &Signals),
) -> Result<Outlook, Error> {
    let mut todo = Vec::new();
    for run in record.own_runs() {
        if finished(place, &record.design.runs[run])?.is_none() {
            todo.push(run);
        }
    }
    let crew = arguments.work.crew(todo.len());
    let threads = crew.slots * crew.threads;
    let stop = signals.stop();
    let line = Spinner::new(arguments.work.quiet);
    line.show(&format!("looking at {} runs", todo.len()));
    Ok(Outlook::new(
        document,
        &record.design,
        &todo,
        threads,
        known,
        stop,
    )?)
}

/// Runs that have a saved state.
fn begun(record: &Record, place: &Path) -> usize {
    let runs = record.own_runs().into_iter();
    let files = runs.map(|run| states::file(place, &record.design.runs[run]));
    files.filter(|file| file.exists()).count()
}

/// A sweep that was made, to be shown before what was not kept is told.
pub(super) struct Made<'a> {
    /// All runs that are done.
    pub(super) table: Table<'a>,
    /// Its claims.
    pub(super) claims: Vec<Judgement>,
    /// Whether all of that is kept.
    kept: Result<(), Error>,
}

impl<'a> Made<'a> {
    /// Table and claims.
    ///
    /// # Errors
    /// When results could not be written, or runs not be made.
    pub(super) fn kept(self) -> Result<(Table<'a>, Vec<Judgement>), Error> {
        self.kept.map(|()| (self.table, self.claims))
    }
}

/// Makes the runs that are not there yet and holds the sweep to the claims of its scenario.
///
/// # Errors
/// When results cannot be read, or a claim needs routes that cannot be computed; what fails later is told by
/// [`Made::kept`].
pub(super) fn make<'a>(
    document: &Document,
    record: &'a Record,
    directory: &StudyDirectory,
    work: &Work,
    (sight, signals): (&Sight, &Signals),
) -> Result<Made<'a>, Error> {
    let mut table = Table::new(&record.design);
    let mut kept = make_all(
        document,
        record,
        directory,
        work,
        (sight, signals.stop()),
        &mut table,
    );
    let mut claims = Vec::new();
    if kept.is_ok() && table.entered() == record.design.runs.len() {
        claims = claims::of_sweep(document, &record.design, &table)?;
        if !claims.is_empty() {
            let text = claims::csv(&claims)?;
            kept = directory.write(claims::FILE, &text).map_err(Error::from);
        }
    }
    Ok(Made {
        table,
        claims,
        kept,
    })
}

/// Title, table and place.
pub(super) fn shown(record: &Record, table: &Table<'_>, place: &Path) -> String {
    let Record { title, design, .. } = record;
    let failed = match table.count("failed") {
        0 => String::new(),
        failed => format!(", {failed} of them failed"),
    };
    format!(
        "{title}\n\n{} points, {} of {} runs done{failed}\n\n{}\nresults  {}\n",
        design.points.len(),
        table.entered(),
        design.runs.len(),
        table.human(),
        place.join(record.kind.table()).display()
    )
}

/// 3 when a run deadlocked or broke an invariant, 2 when some could not be simulated only because their scenarios are wrong.
pub(super) fn verdict(table: &Table<'_>) -> ExitCode {
    let runs = |count| if count == 1 { "run" } else { "runs" };
    let told = match (table.count("failed"), table.count("deadlocked")) {
        (0, 0) => return ExitCode::SUCCESS,
        (failed, 0) => format!("{failed} {} failed", runs(failed)),
        (0, deadlocked) => format!("{deadlocked} {} deadlocked", runs(deadlocked)),
        (failed, deadlocked) => {
            format!("{failed} {} failed, {deadlocked} deadlocked", runs(failed))
        }
    };
    crate::cli::complain(&format!("{told}: see column `reason` of the table"));
    ExitCode::from(if table.is_broken() || table.count("deadlocked") > 0 {
        SIMULATION_FAULT
    } else {
        WRONG_INPUT
    })
}

fn place(arguments: &Sweep, record: &Record) -> PathBuf {
    let name = slug(&record.title);
    match (&arguments.out, record.shard) {
        (Some(path), _) => path.clone(),
        (None, None) => Path::new(RUNS).join(format!("{name}-sweep")),
        (None, Some((number, count))) => {
            Path::new(RUNS).join(format!("{name}-sweep-{number}-of-{count}"))
        }
    }
}

/// Makes the runs that are not there yet and enters all into the table.
fn make_all(
    document: &Document,
    record: &Record,
    directory: &StudyDirectory,
    work: &Work,
    (sight, stop): (&Sight, &AtomicBool),
    table: &mut Table<'_>,
) -> Result<(), Error> {
    let todo = enter_finished(record, directory, table)?;
    directory.write_table(table)?;
    note_begun(begun(record, directory.path()));
    let order = Order {
        document,
        design: &record.design,
        directory,
        todo: &todo,
        known: &sight.known,
        crew: work.crew(todo.len()),
        overload: None,
        save_every: work.checkpoint_every,
        stop,
    };
    let mut line = Runs::new(todo.len(), work.quiet);
    let (mut written, mut took) = (Instant::now(), Duration::ZERO);
    let mut watch = |event: Event| {
        match event {
            Event::Tick(parts) => line.show(parts),
            Event::Finished(run, finished) => {
                // what was known before is told already
                if !sight.outlook.fails(run) {
                    warn(record, run, &finished);
                }
                table.enter(run, &finished);
                line.add();
                if written.elapsed() >= took * WRITING {
                    let started = Instant::now();
                    directory.write_table(table)?;
                    (written, took) = (Instant::now(), started.elapsed());
                }
            }
        }
        Ok(())
    };
    let made = simulate(order, &mut watch);
    drop(line);
    // what is done is written even when something else failed
    let last = directory.write_table(table);
    Ok(made.and(last)?)
}

/// Enters the runs that are there into the table; those that are not.
fn enter_finished(
    record: &Record,
    directory: &StudyDirectory,
    table: &mut Table<'_>,
) -> Result<Vec<usize>, Error> {
    let mut todo = Vec::new();
    for run in record.own_runs() {
        match directory.finished(&record.design.runs[run])? {
            Some(finished) => table.enter(run, &finished),
            None => todo.push(run),
        }
    }
    Ok(todo)
}

/// Tells how many runs have a saved state, if any.
fn note_begun(saved: usize) {
    let words = match saved {
        0 => return,
        1 => "run goes on from its",
        _ => "runs go on from their",
    };
    crate::cli::note(&format!("{saved} {words} saved state"));
}

/// A run that gives no result is told at once.
fn warn(record: &Record, run: usize, finished: &Finished) {
    if finished.is_measured() {
        return;
    }
    let key = &record.design.runs[run];
    let (point, word, reason) = (key.point + 1, finished.word(), finished.reason());
    let reason = reason.lines().next().unwrap_or_default();
    tracing::warn!("point {point}, seed {}: {word}: {reason}", key.seed);
}

/// The runs and where they stand.
fn list(
    record: &Record,
    place: &Path,
    arguments: &Sweep,
    outlook: &Outlook,
) -> Result<String, Error> {
    let mut heading: Vec<String> = ["run", "point"].map(String::from).to_vec();
    heading.extend(record.design.axes.iter().map(|axis| axis.path.clone()));
    heading.extend(["seed", "state"].map(String::from));
    let mut rows = vec![heading];
    let (mut left, mut failing) = (0, 0);
    for run in record.own_runs() {
        let key = &record.design.runs[run];
        let found = finished(place, key)?;
        let is_failing = found.is_none() && outlook.fails(run);
        failing += usize::from(is_failing);
        left += usize::from(found.is_none() && !is_failing);
        let is_begun = states::file(place, key).exists();
        let open = match is_begun {
            _ if is_failing => "cannot run",
            true => "begun",
            false => "to do",
        };
        let state = found.as_ref().map_or(open, Finished::word);
        let mut row = vec![(run + 1).to_string(), (key.point + 1).to_string()];
        row.extend(record.design.points[key.point].values.iter().cloned());
        row.extend([key.seed.to_string(), state.to_owned()]);
        rows.push(row);
    }
    let crew = arguments.work.crew(left);
    let others = match failing {
        0 => String::new(),
        failing => format!(", {failing} that cannot run"),
    };
    Ok(format!(
        "{}\n{left} of {} runs to do{others}, {} at a time with {} thread{} each, in {}\n",
        align(&rows),
        rows.len() - 1,
        crew.slots,
        crew.threads,
        if crew.threads == 1 { "" } else { "s" },
        place.display()
    ))
}

impl From<StudyError> for Error {
    fn from(error: StudyError) -> Self {
        match error {
            StudyError::Scenario(error) => Self::Scenario(error),
            StudyError::Run(error) => error.into(),
            StudyError::Stopped => Self::Interrupted,
            StudyError::Report(error) => error.into(),
            StudyError::FailedRun {
                reason,
                is_broken: true,
            } => Self::Fault(reason),
            StudyError::Write { ref cause, .. } if code_of(cause) == UNWRITTEN => {
                Self::Unwritten(error.to_string())
            }
            error => Self::Usage(error.to_string()),
        }
    }
}
