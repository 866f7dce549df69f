//! The study directory: `study.ron`, a table, one run directory per run below `runs`, states of stopped runs in `states`.
//!
//! Everything appears by a rename, so the directory is consistent at any instant; what a killed process left half
//! done has a hidden name and is removed by the next one. A lock keeps two processes apart.

use super::found;
use super::record::{FILE, Kind, Record};
use super::shortfall::HostFlits;
use super::states::STATES;
use super::{RunKey, StudyError, Table};
use crate::report::directory::{is_partial, replace_file};
use crate::report::result::TimelineRow;
use crate::report::{RunDirectory, Summary, manifest};
use ron::ser::PrettyConfig;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Folder of the run directories.
pub const RUNS: &str = "runs";
/// Held by the process that works here.
const LOCK: &str = ".lock";
/// What a run that could not be simulated leaves instead of results.
const FAILURE: &str = "failure.ron";

/// How a run ended.
#[derive(Clone, Debug)]
pub enum Finished {
    /// It was simulated.
    Run {
        /// Its results.
        summary: Box<Summary>,
        /// Why its verdict is what it is.
        reason: String,
    },
    /// It could not be simulated.
    Failed {
        /// Why.
        reason: String,
        /// An invariant broke: it is not the scenario that is wrong.
        is_broken: bool,
    },
}

/// What is read of a manifest.
#[derive(Deserialize)]
#[serde(rename = "Manifest")]
struct ManifestHead {
    identity: String,
    reason: String,
}

/// A run that could not be simulated.
#[derive(Serialize, Deserialize)]
struct Failure {
    identity: String,
    reason: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_broken: bool,
}

/// A study directory that this process works in.
#[derive(Debug)]
pub struct StudyDirectory {
    path: PathBuf,
    kind: Kind,
    /// Released when the process ends, however it ends.
    _lock: File,
}

impl StudyDirectory {
    /// Opens the directory of a study, or makes it. `force` gives it to another study than before.
    ///
    /// # Errors
    /// When it holds another study or something else, another process works there, or nothing can be
    /// written.
    pub fn open(path: &Path, record: &Record, force: bool) -> Result<Self, StudyError> {
        let is_missing = |place: &&Path| !place.as_os_str().is_empty() && !place.exists();
        let new: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
        if !path.join(FILE).exists() {
            check_free(path)?;
        }
        let opened = Self::open_free(path, record, force);
        if opened.is_err() && !path.join(FILE).exists() {
            give_up(path, &new);
        }
        opened
    }

    /// Opens a directory that holds a study or nothing.
    fn open_free(path: &Path, record: &Record, force: bool) -> Result<Self, StudyError> {
        for folder in [path.join(RUNS), path.join(STATES)] {
            let made = fs::create_dir_all(&folder);
            made.map_err(|cause| StudyError::Write {
                path: folder,
                cause,
            })?;
        }
        let directory = Self {
            path: path.to_owned(),
            kind: record.kind,
            _lock: lock(path)?,
        };
        let has_record = path.join(FILE).exists();
        let earlier = has_record.then(|| Record::read(path)).transpose()?;
        if let Some(earlier) = &earlier
            && let Some(difference) = record.difference(earlier)
            && !force
        {
            let path = path.to_owned();
            return Err(StudyError::Changed { path, difference });
        }
        directory.remove_leftovers()?;
        if earlier.as_ref() != Some(record) {
            directory.forget_finding()?;
            replace_file(&path.join(FILE), record.to_text().as_bytes())?;
        }
        Ok(directory)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the table in place of the one before, in every form.
    ///
    /// # Errors
    /// When it cannot be made or written; the one before then stays.
    pub fn write_table(&self, table: &Table<'_>) -> Result<(), StudyError> {
        for (file, content) in table.sheet(self.kind.table()).forms()? {
            self.write(&file, &content)?;
        }
        Ok(())
    }

    /// Puts a file in place of the one before.
    ///
    /// # Errors
    /// When it cannot be written; the one before then stays.
    pub fn write(&self, file: &str, content: &[u8]) -> Result<(), StudyError> {
        Ok(replace_file(&self.path.join(file), content)?)
    }

    /// Prepares the place for the results of a run.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub fn prepare(&self, key: &RunKey) -> Result<RunDirectory, StudyError> {
        Ok(RunDirectory::create_at(
            &self.path.join(RUNS).join(&key.name),
        )?)
    }

    /// Keeps why a run could not be simulated, and whether an invariant broke.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_failure(
        &self,
        key: &RunKey,
        reason: &str,
        is_broken: bool,
    ) -> Result<(), StudyError> {
        let failure = Failure {
            identity: key.identity.clone(),
            reason: reason.to_owned(),
            is_broken,
        };
        let run = self.prepare(key)?;
        let text = ron::ser::to_string_pretty(&failure, PrettyConfig::default().struct_names(true));
        let text = text.map_err(|cause| StudyError::foreign(FAILURE, cause))?;
        run.write(FAILURE, text.as_bytes())?;
        run.finish()?;
        Ok(())
    }

    /// The results of a run, if it is finished.
    ///
    /// # Errors
    /// As [`finished`].
    pub fn finished(&self, key: &RunKey) -> Result<Option<Finished>, StudyError> {
        finished(&self.path, key)
    }

    /// What the hosts of a finished run have created and sent, in order of their numbers.
    ///
    /// # Errors
    /// When the table is missing or damaged.
    pub fn hosts(&self, key: &RunKey) -> Result<Vec<HostFlits>, StudyError> {
        self.rows(key, "hosts.csv")
    }

    /// Counters of a finished run over time.
    ///
    /// # Errors
    /// When the table is missing or damaged.
    pub fn timeline(&self, key: &RunKey) -> Result<Vec<TimelineRow>, StudyError> {
        self.rows(key, "timeline.csv")
    }

    /// The rows of a table of a finished run.
    fn rows<T: DeserializeOwned>(&self, key: &RunKey, table: &str) -> Result<Vec<T>, StudyError> {
        let path = self.path.join(RUNS).join(&key.name).join(table);
        let rows =
            csv::Reader::from_path(&path).and_then(|table| table.into_deserialize().collect());
        rows.map_err(|cause| StudyError::foreign(&path, format!("cannot be read: {cause}")))
    }

    /// Removes what the search of another study has found here: a report would take it for this one's.
    fn forget_finding(&self) -> Result<(), StudyError> {
        let path = self.path.join(found::FILE);
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                Err(StudyError::Write { path, cause })
            }
            _ => Ok(()),
        }
    }

    /// Removes what killed processes left half done.
    fn remove_leftovers(&self) -> Result<(), StudyError> {
        for folder in [
            self.path.clone(),
            self.path.join(RUNS),
            self.path.join(STATES),
        ] {
            for path in entries(&folder)?
                .into_iter()
                .filter(|path| is_partial(path))
            {
                let removed = if path.is_dir() {
                    fs::remove_dir_all(&path)
                } else {
                    fs::remove_file(&path)
                };
                removed.map_err(|cause| StudyError::Write { path, cause })?;
            }
        }
        Ok(())
    }
}

impl Drop for StudyDirectory {
    /// Takes the folder of states away when none is left.
    fn drop(&mut self) {
        let _ = fs::remove_dir(self.path.join(STATES));
    }
}

/// The results of a run below the study directory `study`, if it is finished there.
///
/// # Errors
/// When what has its name is another run or cannot be read.
pub fn finished(study: &Path, key: &RunKey) -> Result<Option<Finished>, StudyError> {
    let path = study.join(RUNS).join(&key.name);
    if !path.exists() {
        return Ok(None);
    }
    let read = |file: &str| {
        let file = path.join(file);
        fs::read_to_string(&file).map_err(|cause| StudyError::foreign(file, cause))
    };
    let unreadable = |cause: &dyn ToString| {
        let reason = format!("is not a finished run: {}; remove it", cause.to_string());
        StudyError::foreign(&path, reason)
    };
    let check = |identity: &str| {
        if identity == key.identity {
            return Ok(());
        }
        let reason = "its manifest is that of another run: remove it";
        Err(StudyError::foreign(&path, reason))
    };
    if path.join(FAILURE).exists() {
        let failure: Failure =
            ron::from_str(&read(FAILURE)?).map_err(|cause| unreadable(&cause))?;
        check(&failure.identity)?;
        let Failure {
            reason, is_broken, ..
        } = failure;
        return Ok(Some(Finished::Failed { reason, is_broken }));
    }
    let head = ron::from_str(&read(manifest::FILE)?);
    let head: ManifestHead = head.map_err(|cause| unreadable(&cause))?;
    check(&head.identity)?;
    let summary = Summary::read(&read("summary.json")?);
    Ok(Some(Finished::Run {
        summary: Box::new(summary.map_err(|cause| unreadable(&cause))?),
        reason: head.reason,
    }))
}

impl Finished {
    /// How it ended, in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Failed { .. } => "failed",
            Self::Run { summary, .. } => summary.run.verdict.word(),
        }
    }

    /// Whether its numbers count in means.
    pub fn is_measured(&self) -> bool {
        matches!(self, Self::Run { summary, .. } if summary.run.verdict.is_measured())
    }

    /// Why.
    pub fn reason(&self) -> &str {
        match self {
            Self::Failed { reason, .. } | Self::Run { reason, .. } => reason,
        }
    }

    /// Whether it could not be simulated because an invariant broke.
    pub fn is_broken(&self) -> bool {
        matches!(
            self,
            Self::Failed {
                is_broken: true,
                ..
            }
        )
    }
}

/// Takes away what a study that could not be begun has made, `new` folders among it, unless another process works there.
fn give_up(path: &Path, new: &[&Path]) {
    let Ok(held) = lock(path) else {
        return;
    };
    // folders with something in them stay
    for folder in [RUNS, STATES] {
        let _ = fs::remove_dir(path.join(folder));
    }
    let _ = fs::remove_file(path.join(LOCK));
    for folder in new {
        let _ = fs::remove_dir(folder);
    }
    drop(held);
}

/// A place for a new study must not exist or be empty.
fn check_free(path: &Path) -> Result<(), StudyError> {
    if !path.exists() {
        return Ok(());
    }
    let known = [LOCK, RUNS, STATES].map(|name| path.join(name));
    // a process may have been killed before it wrote its record
    let is_ours = |entry: &PathBuf| known.contains(entry) || is_partial(entry);
    let runs = path.join(RUNS);
    let has_runs = runs.is_dir() && !entries(&runs)?.is_empty();
    if has_runs || !entries(path)?.iter().all(is_ours) {
        let reason = format!("is not empty and has no {FILE}: choose a new or an empty directory");
        return Err(StudyError::foreign(path, reason));
    }
    Ok(())
}

/// What is in a folder, in order of name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, StudyError> {
    let list =
        fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut list: Vec<_> = list.map_err(|cause| StudyError::foreign(folder, cause))?;
    list.sort();
    Ok(list)
}

/// The lock of the directory, held until the file is closed.
fn lock(directory: &Path) -> Result<File, StudyError> {
    let path = directory.join(LOCK);
    let file = File::create(&path).map_err(|cause| StudyError::Write { path, cause })?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(StudyError::Busy(directory.to_owned())),
        // some network file systems have no locks: then the user must keep processes apart
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}
