//! `virtlane reproduce`: shipped studies of published experiments, claim by claim.

use super::sweep::{Sight, make};
use crate::claims::{self, Judgement, Verdict};
use crate::cli::args::Reproduce;
use crate::cli::run::verdict;
use crate::cli::signals::Signals;
use crate::error::Error;
use crate::scenario::Document;
use crate::scenario::shipped::{STUDIES, Shipped};
use crate::study::{Record, StudyDirectory, StudyError, Table, record};
use std::fmt::Write;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

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
            let document = study.document()?;
            let is_whole = !arguments.quick && document.changes_of_base().is_none();
            match (is_whole, arguments.quick) {
                (true, _) => Ok(study.text.to_owned()),
                (false, true) => Ok(document.quick()?.to_text()),
                (false, false) => Ok(comment(study.text).to_owned() + &document.to_text()),
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
        let text = shown(study, &record, &made.table, &made.claims, &place);
        crate::cli::print(&(text + &of_base(&document)))?;
    }
    let (_, found) = made.kept()?;
    if let Some(folder) = &arguments.store
        && signals.code().is_none()
    {
        store(study, &found, folder, arguments)?;
    }
    Ok(found)
}

/// The comment at the head of a study, which says what it is about.
fn comment(text: &str) -> &str {
    let is_comment = |line: &&str| line.starts_with("//");
    let length = text.split_inclusive('\n').take_while(is_comment);
    &text[..length.map(str::len).sum()]
}

/// What is other in a study than in its base: a table of key paths.
fn of_base(document: &Document) -> String {
    let Some(changes) = document.changes_of_base() else {
        return String::new();
    };
    if changes.is_empty() {
        return "runs on its base as it is\n\n".into();
    }
    let heading = ["base", "here", "other than its base"].map(String::from);
    let rows = changes
        .into_iter()
        .map(|(path, there, here)| vec![there, here, path]);
    let rows = std::iter::once(heading.to_vec()).chain(rows).collect();
    claims::text_last(rows) + "\n"
}

/// Puts what was found into the table of the study.
///
/// # Errors
/// When the table cannot be read or written.
fn store(
    study: &Shipped,
    found: &[Judgement],
    folder: &Path,
    arguments: &Reproduce,
) -> Result<(), Error> {
    let scenario = study.document()?.scenario()?;
    let has_quick = scenario.sweep.is_some_and(|sweep| sweep.quick.is_some());
    let [whole, quick] = claims::store::FORMS;
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let origin = claims::store::Origin {
        form: if arguments.quick && has_quick {
            quick
        } else {
            whole
        },
        date: date.split('T').next().unwrap_or(&date),
        commit: &arguments.commit,
    };
    let path = folder.join(format!("{}.tsv", study.id));
    let refused = |cause| StudyError::Write {
        path: path.clone(),
        cause,
    };
    let earlier = match fs::read_to_string(&path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => String::new(),
        earlier => earlier.map_err(refused)?,
    };
    let text = claims::store::merged(&earlier, &scenario.expect, found, origin);
    fs::create_dir_all(folder).map_err(refused)?;
    fs::write(&path, text).map_err(refused)?;
    Ok(())
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
            points.product::<usize>() * sweep.seeds.value as usize
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
