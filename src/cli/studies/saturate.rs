//! `virtlane saturate`: the largest load a fabric sustains.

use super::outlook::require;
use crate::cli::args::Saturate;
use crate::cli::progress::Spinner;
use crate::cli::run::RUNS;
use crate::cli::signals::Signals;
use crate::error::{Error, SIMULATION_FAULT, WRONG_INPUT};
use crate::report::directory::slug;
use crate::scenario::{Document, Known};
use crate::study::found::{Finding, Found};
use crate::study::grid::Grid;
use crate::study::hunt::{Hunt, Step, Tried};
use crate::study::record::{Kind, Record};
use crate::study::saturation::{Behaviour, Criterion};
use crate::study::{Design, Outlook, StudyDirectory, StudyError};
use std::path::Path;
use std::process::ExitCode;

/// Load at which the points are looked at before the searches begin: low, as routes do not depend on it.
const LOOK: f64 = 0.01;

/// Searches and shows the curve.
///
/// # Errors
/// When the scenario is wrong, the directory cannot be used, a run fails, or the search was stopped.
pub(in crate::cli) fn execute(arguments: &Saturate) -> Result<ExitCode, Error> {
    let document = arguments.input.open()?;
    let scenario = document.scenario()?;
    let grid = Grid::new(&document, arguments.class.as_deref())?;
    arguments.input.changes.tell_axes(&document, &grid.axes);
    for axis in &grid.replaced {
        crate::cli::note(&format!(
            "the axis `{axis}` of the sweep is what the search varies: its values are not used"
        ));
    }
    let record = Record::of_search(&document)?;
    let place = match &arguments.out {
        Some(path) => path.clone(),
        None => Path::new(RUNS).join(format!("{}-saturate", slug(&record.title))),
    };
    require_seeds(scenario.seed, arguments)?;
    let signals = Signals::listen();
    let known = Known::new();
    let seeds = (0..u64::from(arguments.seeds)).map(|seed| scenario.seed + seed);
    look(
        &document,
        &grid.design(LOOK, seeds),
        arguments,
        (&known, &signals),
    )?;
    let directory = StudyDirectory::open(&place, &record, arguments.work.force)?;
    let hunt = Hunt {
        document: &document,
        seed: scenario.seed,
        directory: &directory,
        grid: &grid,
        known: &known,
        criterion: criterion(arguments),
        threads: arguments.work.threads.map(|threads| threads as usize),
        jobs: arguments.work.jobs.map(|jobs| jobs as usize),
        save_every: arguments.work.checkpoint_every,
        stop: signals.stop(),
    };
    let line = Spinner::new(arguments.work.quiet);
    let found = hunt.run(&mut |Step { place, load, runs }| {
        let all = grid.places.len();
        let point = match all {
            1 => String::new(),
            _ => format!("point {} of {all}, ", place + 1),
        };
        line.show(&format!("{point}load {load:.4}, {runs} runs so far"));
    });
    drop(line);
    if let (Err(StudyError::Stopped), Some(code)) = (&found, signals.code()) {
        return Ok(code);
    }
    let (found, tried) = found?;
    if !arguments.work.quiet {
        crate::cli::print(&shown(&record.title, &found, &tried, &place))?;
    }
    Ok(code(&found))
}

/// Refuses a search that could need seeds beyond the largest, none of which begins again at 0.
fn require_seeds(first: u64, arguments: &Saturate) -> Result<(), Error> {
    let most = criterion(arguments).most_seeds() as u64;
    if first.checked_add(most - 1).is_some() {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "up to {most} seeds of a load from `seed: {first}` on, three times `--seeds {}`, go beyond {}, the largest: expected a \
         smaller `seed`",
        arguments.seeds,
        u64::MAX
    )))
}

/// What the options say of the search.
fn criterion(arguments: &Saturate) -> Criterion {
    Criterion {
        tolerance: arguments.tolerance,
        resolution: arguments.resolution,
        seeds: arguments.seeds as usize,
        has_curve: arguments.curve,
    }
}

/// Looks at all points before the searches begin.
fn look(
    document: &Document,
    design: &Design,
    arguments: &Saturate,
    (known, signals): (&Known, &Signals),
) -> Result<(), Error> {
    let runs: Vec<usize> = (0..design.runs.len()).collect();
    let crew = arguments.work.crew(runs.len());
    let (threads, stop) = (crew.slots * crew.threads, signals.stop());
    let outlook = Outlook::new(document, design, &runs, threads, known, stop)?;
    require(&outlook, design, arguments.keep_going)
}

/// Tells searches that failed; 3 when an invariant broke in one or there is a deadlock, 2 when scenarios of some are wrong.
fn code(found: &Found) -> ExitCode {
    let is_deadlocked = |point: &Finding| point.behaviour == Behaviour::Deadlocked;
    for failure in &found.failed {
        crate::cli::complain(&failure.reason);
    }
    let is_broken = found.failed.iter().any(|failure| failure.is_broken);
    if is_broken || found.points.iter().any(is_deadlocked) {
        ExitCode::from(SIMULATION_FAULT)
    } else if found.failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(WRONG_INPUT)
    }
}

fn shown(title: &str, found: &Found, tried: &Tried, place: &Path) -> String {
    let points: String = found.points.iter().map(point).collect();
    format!(
        "{title}\n\n{}\n{points}criterion  accepted load at most {} % below offered load, also of the worst sources and \
         destinations; source\n           queues grow by at most as much of the packets created; over the seeds of a \
         load, at 95 % confidence\nresults    {}\n",
        tried.table().human(),
        found.criterion.tolerance * 100.0,
        place.join(Kind::Saturate.table()).display(),
    )
}

/// What was found at a point of the axes.
fn point(finding: &Finding) -> String {
    let label = match finding.label() {
        label if label.is_empty() => label,
        label => format!("{label}\n"),
    };
    let beyond = finding.beyond();
    let beyond = beyond.map_or(String::new(), |words| format!("behaviour  {words}\n"));
    format!("{label}{}\n{beyond}", finding.point())
}
