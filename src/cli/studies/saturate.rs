//! `virtlane saturate`: the largest load a fabric sustains.

use crate::cli::args::Saturate;
use crate::cli::progress::Spinner;
use crate::cli::run::RUNS;
use crate::cli::signals::Signals;
use crate::error::{Error, SIMULATION_FAULT};
use crate::report::directory::slug;
use crate::study::found::Found;
use crate::study::hunt::{Hunt, Loads};
use crate::study::record::{Kind, Record};
use crate::study::saturation::{Behaviour, Criterion};
use crate::study::{StudyDirectory, StudyError, Table};
use std::path::Path;
use std::process::ExitCode;

/// Searches and shows the curve.
///
/// # Errors
/// When the scenario is wrong, the directory cannot be used, a run fails, or the search was stopped.
pub(in crate::cli) fn execute(arguments: &Saturate) -> Result<ExitCode, Error> {
    let document = arguments.input.open()?;
    let scenario = document.scenario()?;
    let loads = Loads::of(&scenario, arguments.class.as_deref())?;
    let record = Record::of_search(&document)?;
    let place = match &arguments.out {
        Some(path) => path.clone(),
        None => Path::new(RUNS).join(format!("{}-saturate", slug(&record.title))),
    };
    let directory = StudyDirectory::open(&place, &record, arguments.work.force)?;
    let criterion = Criterion {
        tolerance: arguments.tolerance,
        resolution: arguments.resolution,
        seeds: arguments.seeds as usize,
    };
    let signals = Signals::listen();
    let hunt = Hunt {
        document: &document,
        seed: scenario.seed,
        directory: &directory,
        loads,
        threads: arguments.work.threads.map(|threads| threads as usize),
        jobs: arguments.work.jobs.map(|jobs| jobs as usize),
        save_every: arguments.work.checkpoint_every,
        stop: signals.stop(),
    };
    let line = Spinner::new(arguments.work.quiet);
    let found = hunt.run(criterion, &mut |load, runs| {
        line.show(&format!("load {load}, {runs} runs so far"));
    });
    drop(line);
    if let (Err(StudyError::Stopped), Some(code)) = (&found, signals.code()) {
        return Ok(code);
    }
    let (found, design, finished) = found?;
    let table = Table::of(&design, &finished);
    if !arguments.work.quiet {
        crate::cli::print(&shown(&record.title, &found, &table, &place))?;
    }
    Ok(match found.behaviour {
        Behaviour::Deadlocked => ExitCode::from(SIMULATION_FAULT),
        _ => ExitCode::SUCCESS,
    })
}

fn shown(title: &str, found: &Found, table: &Table<'_>, place: &Path) -> String {
    let beyond = found.beyond();
    let beyond = beyond.map_or(String::new(), |words| format!("behaviour  {words}\n"));
    format!(
        "{title}\n\n{}\n{}\n{beyond}criterion  accepted load at most {} % below offered load, also of the worst host; source \
         queues grow by at\n           most as much of the packets created; over the seeds of a load, at 95 % \
         confidence\nresults    {}\n",
        table.human(),
        found.point(),
        found.criterion.tolerance * 100.0,
        place.join(Kind::Saturate.table()).display(),
    )
}
