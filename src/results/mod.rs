//! Reads what runs and sweeps have left behind: summaries at once, tables when they are asked for.
//!
//! A directory is a run (it has a `manifest.ron`), a sweep (its runs are below `runs`) or a folder of runs. What is
//! unfinished, damaged or of another form is refused with the file that says so: a report never shows half of a result.

pub mod claims;
pub mod curves;
mod jobs;
mod labels;
pub mod latency_log;
pub mod places;
pub mod run;
pub mod settings;
pub mod tables;

pub use claims::Claim;
pub use curves::{Across, Curve, Curves, Detailed, Point};
pub use places::{Place, Places};
pub use run::Run;

use crate::report::directory::is_partial;
use crate::report::manifest;
use crate::report::result::Verdict;
use crate::study::found::{self, Found};
use crate::study::level::Judgement;
use crate::study::record::{self, Record};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Folder of the run directories of a sweep.
const RUNS: &str = "runs";
/// What a run of a sweep that could not be simulated leaves instead of results.
const FAILURE: &str = "failure.ron";

/// Why results cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", .path.display())]
pub struct ResultsError {
    /// File or directory.
    pub path: PathBuf,
    /// What is wrong with it, and the way out.
    pub reason: String,
}

impl ResultsError {
    pub(crate) fn new(path: &Path, reason: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}

/// A run of a sweep that could not be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Its directory.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
    /// Where it is in its study; `None` outside of studies.
    pub place: Option<Place>,
}

/// What a report is made of.
#[derive(Debug)]
pub struct Results {
    /// Directories as given.
    pub directories: Vec<PathBuf>,
    /// Finished runs, in order of the directories, of a study's axes, or of names.
    pub runs: Vec<Run>,
    /// Runs without results.
    pub failed: Vec<Failed>,
    /// What the scenarios claim, with verdicts.
    pub claims: Vec<Claim>,
    /// What searches for the saturation point have found.
    pub searches: Vec<Found>,
    /// Where runs are in the studies that they are of.
    pub places: Places,
}

#[derive(Deserialize)]
struct Failure {
    reason: String,
}

impl Results {
    /// Reads run and sweep directories.
    ///
    /// # Errors
    /// When one holds no finished run, or something that cannot be read.
    pub fn read(directories: &[PathBuf]) -> Result<Self, ResultsError> {
        let mut results = Self {
            directories: directories.to_vec(),
            runs: Vec::new(),
            failed: Vec::new(),
            claims: Vec::new(),
            searches: Vec::new(),
            places: Places::default(),
        };
        for directory in directories {
            results.places.add(directory);
            results.claims.extend(claims::read(directory)?);
            results.searches.extend(search(directory)?);
            for path in run_directories(directory)? {
                results.add(&path)?;
            }
        }
        if results.runs.is_empty() {
            let first = directories.first().map_or(Path::new("."), PathBuf::as_path);
            let reason = match results.failed.first() {
                Some(failed) => format!(
                    "none of its {} runs could be simulated; the first says: {}",
                    results.failed.len(),
                    failed.reason
                ),
                None => "no run was named".to_owned(),
            };
            return Err(ResultsError::new(first, reason));
        }
        Ok(results)
    }

    fn add(&mut self, path: &Path) -> Result<(), ResultsError> {
        let failure = path.join(FAILURE);
        if failure.exists() {
            let text = read_text(&failure)?;
            let failure: Failure = ron::from_str(&text)
                .map_err(|cause| ResultsError::new(&failure, cause.to_string()))?;
            self.failed.push(Failed {
                path: path.to_owned(),
                reason: failure.reason,
                place: self.places.of(path),
            });
            return Ok(());
        }
        let run = Run::read(path)?;
        let is_same =
            |other: &&Run| fs::canonicalize(&other.path).ok() == fs::canonicalize(path).ok();
        if self.runs.iter().find(is_same).is_none() {
            self.runs.push(run);
        }
        Ok(())
    }

    /// What a search says about the load of a run, by the name of its directory; `None` for a run of no search.
    fn judgement(&self, run: &Run) -> Option<Judgement> {
        let name = run.path.file_name()?.to_str()?;
        let points = self.searches.iter().flat_map(|search| &search.points);
        let mut levels = points.flat_map(|point| &point.levels);
        let level = levels.find(|level| level.runs.iter().any(|run| run == name))?;
        Some(level.judgement)
    }

    /// Number of runs that ended so.
    pub fn count(&self, verdict: Verdict) -> usize {
        let verdicts = self.runs.iter().map(|run| run.summary.run.verdict);
        verdicts.filter(|found| *found == verdict).count()
    }
}

/// What the search that worked in a directory has found; `None` where there was none, or it was stopped.
fn search(directory: &Path) -> Result<Option<Found>, ResultsError> {
    let file = directory.join(found::FILE);
    if !file.exists() {
        return Ok(None);
    }
    let read: Result<Found, _> = serde_json::from_str(&read_text(&file)?);
    let read = read.ok().filter(Found::is_known);
    let damaged = || ResultsError::new(&file, "is damaged or of another version of Virtlane");
    read.ok_or_else(damaged).map(Some)
}

/// The run directories that `directory` is or holds: those of a study in its order, others by their names.
fn run_directories(directory: &Path) -> Result<Vec<PathBuf>, ResultsError> {
    if is_partial(directory) {
        let reason = "is an unfinished run, left by a process that was stopped: run it again";
        return Err(ResultsError::new(directory, reason));
    }
    if directory.join(manifest::FILE).is_file() {
        return Ok(vec![directory.to_owned()]);
    }
    let entries = folders(directory)?;
    for folder in [directory.join(RUNS), directory.to_owned()] {
        let found = if folder.is_dir() {
            folders(&folder)?
        } else {
            Vec::new()
        };
        let is_run =
            |path: &PathBuf| path.join(manifest::FILE).is_file() || path.join(FAILURE).is_file();
        let runs: Vec<PathBuf> = found
            .into_iter()
            .filter(|path| !is_partial(path) && is_run(path))
            .collect();
        if !runs.is_empty() {
            return Ok(in_order(runs, directory));
        }
    }
    let reason = if directory.join(run::SUMMARY).exists() {
        format!(
            "has results but no `{}`: the run is half-written; run it again",
            manifest::FILE
        )
    } else if directory.join(record::FILE).exists() {
        "is a study without a finished run: run it first".to_owned()
    } else if entries.iter().any(|path| is_partial(path)) {
        "holds unfinished runs only: run them again".to_owned()
    } else {
        format!(
            "holds no results: expected a run directory (with `{}`), a sweep directory or a folder of run directories",
            manifest::FILE
        )
    };
    Err(ResultsError::new(directory, reason))
}

/// Folders in a folder, by name.
fn folders(path: &Path) -> Result<Vec<PathBuf>, ResultsError> {
    let unreadable = |cause: std::io::Error| {
        ResultsError::new(path, format!("cannot read the directory: {cause}"))
    };
    let mut all = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            all.push(path);
        }
    }
    all.sort_by_cached_key(|path| natural(&path.to_string_lossy()));
    Ok(all)
}

/// The runs of a study in the order of its axes; as they are where nothing says what that is.
fn in_order(mut runs: Vec<PathBuf>, directory: &Path) -> Vec<PathBuf> {
    let study = Record::read(directory);
    let design = study.map(|study| study.design.runs).unwrap_or_default();
    let places: BTreeMap<&str, usize> = design
        .iter()
        .map(|key| key.name.as_str())
        .zip(0..)
        .collect();
    let place = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?;
        places.get(name).copied()
    };
    runs.sort_by_key(|path| place(path).unwrap_or(usize::MAX));
    runs
}

/// A key that sorts numbers within names by their value.
fn natural(text: &str) -> Vec<(u64, String)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let letters = tail
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(tail.len());
        let (word, tail) = tail.split_at(letters);
        parts.push((number.parse().unwrap_or(0), word.to_owned()));
        rest = tail;
    }
    parts
}

/// Text of a file.
pub(crate) fn read_text(path: &Path) -> Result<String, ResultsError> {
    fs::read_to_string(path).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::NotFound => {
            ResultsError::new(path, "is missing: the run is half-written; run it again")
        }
        _ => ResultsError::new(path, format!("cannot read the file: {cause}")),
    })
}
