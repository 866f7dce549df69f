//! Joins the directories of shards to one study.
//!
//! A finished run is never changed, so the joined directory links to the files instead of copying them, where the
//! file system can.

use super::directory::{RUNS, StudyDirectory, finished};
use super::{Record, StudyError, Table};
use crate::report::RunDirectory;
use std::fs;
use std::path::{Path, PathBuf};

/// A run that is in none of the parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Number of the run.
    pub run: usize,
    /// What is wrong with the one that has its name, when there is one.
    pub damage: Option<String>,
}

/// Joins the studies `parts` in the directory `out`; returns the record and the runs that are missing.
///
/// A run that is damaged in a part counts as missing there, so that it costs none of the others.
///
/// # Errors
/// When a part is not a study, is another study than the first, or something cannot be written.
pub fn merge(
    parts: &[PathBuf],
    out: &Path,
    force: bool,
) -> Result<(Record, Vec<Missing>), StudyError> {
    let Some((first, others)) = parts.split_first() else {
        return Err(StudyError::Design("there is no study to merge".into()));
    };
    let mut record = Record::read(first)?;
    record.shard = None;
    for other in others {
        let mut theirs = Record::read(other)?;
        theirs.shard = None;
        if let Some(difference) = theirs.difference(&record) {
            let first = first.display();
            let reason = format!("is another study than `{first}`: {difference}");
            return Err(StudyError::foreign(other, reason));
        }
    }
    let directory = StudyDirectory::open(out, &record, force)?;
    let mut table = Table::new(&record.design);
    let mut missing = Vec::new();
    for (run, key) in record.design.runs.iter().enumerate() {
        let mut found = directory.finished(key)?;
        let mut damage = None;
        for part in parts {
            if found.is_some() {
                break;
            }
            match finished(part, key) {
                Ok(theirs) => found = theirs,
                Err(error) => damage = Some(error.to_string()),
            }
            if found.is_some() {
                let from = part.join(RUNS).join(&key.name);
                adopt(&from, &directory.path().join(RUNS).join(&key.name))?;
            }
        }
        match found {
            Some(found) => table.enter(run, &found),
            None => missing.push(Missing { run, damage }),
        }
    }
    directory.write_table(&table)?;
    Ok((record, missing))
}

/// Links or copies a finished run.
fn adopt(from: &Path, to: &Path) -> Result<(), StudyError> {
    let run = RunDirectory::create_at(to)?;
    let entries = fs::read_dir(from).map_err(|cause| StudyError::foreign(from, cause))?;
    for entry in entries {
        let entry = entry.map_err(|cause| StudyError::foreign(from, cause))?;
        let to = run.path().join(entry.file_name());
        if fs::hard_link(entry.path(), &to).is_err() {
            let copied = fs::copy(entry.path(), &to);
            copied.map_err(|cause| StudyError::Write { path: to, cause })?;
        }
    }
    run.finish()?;
    Ok(())
}
