//! `virtlane reproduce`: shipped studies of published experiments, claim by claim.

use super::sweep::{Sight, make};
use crate::claims::{self, Judgement, Verdict};
use crate::cli::args::Reproduce;
use crate::cli::run::verdict;
use crate::cli::signals::Signals;
use crate::error::Error;
use crate::scenario::shipped::{STUDIES, Shipped};
use crate::study::{Record, StudyDirectory, StudyError, Table, record};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// Name that stands for all studies.
const ALL: &str = "all";

/// Makes the runs of the chosen studies and shows claim, published value, value found, verdict.
///
/// # Errors
/// When there is no such study, or results cannot be written.
pub(in crate::cli) fn execute(arguments: &Reproduce) -> Result<ExitCode, Error> {
    let Some(id) = &arguments.id else {
        crate::cli::print(&list()?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let chosen = match id.as_str() {
        ALL => STUDIES.iter().collect(),
        id => vec![Shipped::find(id).map_err(Error::Usage)?],
    };
    if arguments.print {
        let text = |study: &Shipped| {
            if arguments.quick {
                Ok(study.document()?.quick()?.to_text())
            } else {
                Ok(study.text.to_owned())
            }
        };
        let texts = chosen.iter().map(|study| text(study));
        let texts: Result<Vec<String>, Error> = texts.collect();
        crate::cli::print(&texts?.join("\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let signals = Signals::listen();
    let mut all = Vec::new();
    if arguments.table {
        crate::cli::print(claims::MARKDOWN_HEADING)?;
    }
    for study in chosen {
        let found = reproduce(study, arguments, &signals)?;
        if let Some(code) = signals.code() {
            return Ok(code);
        }
        if arguments.table {
            crate::cli::print(&claims::markdown(study.id, &found))?;
        }
        all.extend(found);
    }
    if !arguments.table && !arguments.work.quiet {
        crate::cli::print(&summary(&all))?;
    }
    Ok(verdict(&all))
}

/// One study, from its runs to its claims.
fn reproduce(
    study: &Shipped,
    arguments: &Reproduce,
    signals: &Signals,
) -> Result<Vec<Judgement>, Error> {
    let mut document = study.document()?;
    if arguments.quick {
        document = document.quick()?;
    }
    if document.scenario()?.sweep.is_none() {
        document.assign("sweep", "(axes: [])")?;
    }
    let record = Record::new(&document, None)?;
    let place = arguments.out.join(study.id);
    if !arguments.resume {
        remove(&place, &record)?;
    }
    let directory = StudyDirectory::open(&place, &record, arguments.work.force)?;
    let sight = Sight::default();
    let made = make(
        &document,
        &record,
        &directory,
        &arguments.work,
        (&sight, signals),
    )?;
    if !arguments.table && !arguments.work.quiet {
        crate::cli::print(&shown(study, &record, &made.table, &made.claims, &place))?;
    }
    Ok(made.kept()?.1)
}

/// Removes an earlier reproduction: its numbers are those of the program that made it.
///
/// # Errors
/// When another study is there, or it cannot be removed.
fn remove(place: &Path, record: &Record) -> Result<(), Error> {
    if !place.join(record::FILE).exists() {
        return Ok(());
    }
    if Record::read(place).is_ok_and(|earlier| earlier.title != record.title) {
        return Err(Error::Usage(format!(
            "`{}` holds another study: choose another folder with --out",
            place.display()
        )));
    }
    fs::remove_dir_all(place).map_err(|cause| {
        let path = place.to_owned();
        StudyError::Write { path, cause }.into()
    })
}

fn shown(
    study: &Shipped,
    record: &Record,
    table: &Table<'_>,
    found: &[Judgement],
    place: &Path,
) -> String {
    let mut text = format!(
        "{}  {}\n{} runs in {}\n\n{}\n",
        study.id,
        record.title,
        table.entered(),
        place.display(),
        claims::table(found)
    );
    for word in ["failed", "deadlocked", "interrupted"] {
        let count = table.count(word);
        if count > 0 {
            let runs = if count == 1 { "run" } else { "runs" };
            let _ = writeln!(text, "{count} {runs} {word}\n");
        }
    }
    text
}

fn summary(all: &[Judgement]) -> String {
    let count = |verdict| all.iter().filter(|found| found.verdict == verdict).count();
    format!(
        "{} claims: {} reproduced, {} by their order only, {} differ from the source as stated, {} fail\n",
        all.len(),
        count(Verdict::Reproduced),
        count(Verdict::OrderingOnly),
        count(Verdict::Differs),
        count(Verdict::Fails)
    )
}

/// Every study with its title, claims and runs.
fn list() -> Result<String, Error> {
    let mut rows = vec![
        ["study", "claims", "runs", "about"]
            .map(String::from)
            .to_vec(),
    ];
    for study in STUDIES {
        let scenario = study.document()?.scenario()?;
        let runs = scenario.sweep.as_ref().map_or(1, |sweep| {
            let points = sweep.axes.iter().map(|group| group[0].values.len());
            points.product::<usize>() * sweep.seeds as usize
        });
        rows.push(vec![
            study.id.to_owned(),
            scenario.expect.len().to_string(),
            runs.to_string(),
            scenario.title,
        ]);
    }
    Ok(claims::text_last(rows) + "\n`virtlane reproduce STUDY` makes its runs; `all` makes all.\n")
}
