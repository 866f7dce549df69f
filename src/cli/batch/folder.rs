//! The batch folder and what `batch.ron` says about it.

use super::inputs::{Inputs, refused};
use crate::error::Error;
use crate::report::directory::{RunDirectory, replace_file};
use crate::scenario::Document;
use crate::study::Record;
use ron::ser::PrettyConfig;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Says that a folder is a batch, and which.
const FILE: &str = "batch.ron";
/// Folder of the sweep directories of the tasks.
const PARTS: &str = "parts";
/// Folder of what the jobs say.
pub(super) const LOGS: &str = "logs";
/// The joined sweep.
pub(super) const MERGED: &str = "merged";

/// What stands in `batch.ron`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Batch {
    /// Version of the program.
    pub(super) version: String,
    /// Scenario, below the folder.
    pub(super) scenario: String,
    /// Array tasks, each of which makes a slice.
    pub(super) tasks: u32,
    /// Job numbers so far: array, merge, array, merge, ..
    pub(super) jobs: Vec<String>,
}

/// A batch folder.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    /// Absolute path.
    pub(super) path: PathBuf,
    /// What it holds.
    pub(super) batch: Batch,
}

impl Folder {
    /// Writes a new folder: the inputs and the given files. It appears by one rename when it is complete.
    ///
    /// # Errors
    /// When something is there already, or nothing can be written.
    pub(super) fn create(
        path: &Path,
        batch: Batch,
        inputs: &Inputs,
        files: &[(&str, String)],
    ) -> Result<Self, Error> {
        if path.join(FILE).exists() {
            return Err(Error::Usage(format!(
                "`{}` holds a batch already: `virtlane batch slurm --resubmit` goes on with it, or choose another \
                 folder",
                path.display()
            )));
        }
        let hidden = RunDirectory::create_at(path)?;
        inputs.write(hidden.path())?;
        for (name, text) in files {
            hidden.write(name, text.as_bytes())?;
        }
        hidden.write(FILE, text(&batch).as_bytes())?;
        for folder in [LOGS, PARTS] {
            let folder = hidden.path().join(folder);
            fs::create_dir(&folder).map_err(|cause| refused(&folder, cause))?;
        }
        inputs.verify(hidden.path())?;
        hidden.finish()?;
        let path = path.to_owned();
        Ok(Self { path, batch })
    }

    /// Opens the folder of a batch.
    ///
    /// # Errors
    /// When it is none, or another version wrote it.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let path = absolute(path)?;
        let file = path.join(FILE);
        let wrong = |cause: String| Error::Usage(format!("`{}`: {cause}", file.display()));
        let text = fs::read_to_string(&file).map_err(|cause| {
            Error::Usage(format!(
                "`{}` is not a batch folder: {cause}",
                path.display()
            ))
        })?;
        let batch: Batch = ron::from_str(&text).map_err(|cause| wrong(cause.to_string()))?;
        let version = env!("CARGO_PKG_VERSION");
        if batch.version != version {
            let made = &batch.version;
            return Err(wrong(format!(
                "the batch was made by version {made}, this is {version}; runs of two versions are never mixed"
            )));
        }
        if batch.tasks == 0 {
            return Err(wrong("a batch has at least one task".into()));
        }
        Ok(Self { path, batch })
    }

    /// The sweep of the batch.
    ///
    /// # Errors
    /// When its scenario cannot be read.
    pub(super) fn record(&self) -> Result<Record, Error> {
        let document = Document::read(&self.path.join(&self.batch.scenario))?;
        Ok(Record::new(&document, None)?)
    }

    /// Sweep directory of a task.
    pub(super) fn part(&self, task: u32) -> PathBuf {
        self.path.join(PARTS).join(task.to_string())
    }

    /// Adds jobs to the record.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn add_job(&mut self, job: &str) -> Result<(), Error> {
        self.batch.jobs.push(job.to_owned());
        replace_file(&self.path.join(FILE), text(&self.batch).as_bytes())?;
        Ok(())
    }
}

/// The path from the root of the file system.
///
/// # Errors
/// When it is empty or the current folder is gone.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path)
        .map_err(|cause| Error::Usage(format!("`{}`: {cause}", path.display())))
}

/// The record as text.
fn text(batch: &Batch) -> String {
    let config = PrettyConfig::default().struct_names(true).new_line("\n");
    let text = ron::ser::to_string_pretty(batch, config);
    text.expect("plain structs are always RON") + "\n"
}
