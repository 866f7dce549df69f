//! `study.ron`: what a study directory is about, so that nothing else is ever mixed into it.

use super::{Design, StudyError};
use crate::scenario::Document;
use crate::scenario::identity::Settings;
use ron::ser::PrettyConfig;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file; a directory that holds one is a study directory.
pub const FILE: &str = "study.ron";
/// Differences shown at most.
const MOST_SHOWN: usize = 3;

/// What the runs of a study are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The points of a sweep.
    Sweep,
    /// A search for the saturation point.
    Saturate,
}

impl Kind {
    /// Name of the table.
    pub fn table(self) -> &'static str {
        match self {
            Self::Sweep => "sweep.csv",
            Self::Saturate => "saturate.csv",
        }
    }
}

/// Everything that decides what a study is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// What its runs are for.
    pub kind: Kind,
    /// Version of the program.
    pub version: String,
    /// Title of the scenario.
    pub title: String,
    /// Which slice of the runs is made here: number, from 1, of how many.
    pub shard: Option<(u32, u32)>,
    /// Every value of the scenario, by key path.
    pub scenario: Settings,
    /// SHA-256 of every file the scenario names.
    pub files: Settings,
    /// Axes, points and all runs of the study, those of other shards included.
    pub design: Design,
}

impl Record {
    /// The study of a scenario.
    ///
    /// # Errors
    /// As [`Design::new`].
    pub fn new(document: &Document, shard: Option<(u32, u32)>) -> Result<Self, StudyError> {
        let design = Design::new(document)?;
        let record = Self::with(document, Kind::Sweep, design)?;
        Ok(Self { shard, ..record })
    }

    /// A search for the saturation point: which runs it takes is known at its end.
    ///
    /// # Errors
    /// When the scenario is wrong.
    pub fn of_search(document: &Document) -> Result<Self, StudyError> {
        Self::with(document, Kind::Saturate, Design::default())
    }

    fn with(document: &Document, kind: Kind, design: Design) -> Result<Self, StudyError> {
        Ok(Self {
            kind,
            version: env!("CARGO_PKG_VERSION").into(),
            title: document.scenario()?.title,
            shard: None,
            scenario: document.settings(),
            files: document.files(),
            design,
        })
    }

    /// Numbers of the runs that are made here: every n-th, so that each shard gets some of every part.
    pub fn own_runs(&self) -> Vec<usize> {
        let (number, count) = self.shard.unwrap_or((1, 1));
        (0..self.design.runs.len())
            .filter(|run| run % count as usize == number as usize - 1)
            .collect()
    }

    /// Reads the record of a study directory.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn read(directory: &Path) -> Result<Self, StudyError> {
        let path = directory.join(FILE);
        let text = std::fs::read_to_string(&path)
            .map_err(|cause| StudyError::foreign(directory, format!("is not a study: {cause}")))?;
        let record: Self =
            ron::from_str(&text).map_err(|cause| StudyError::foreign(&path, cause))?;
        let points = record.design.points.len();
        match record.design.runs.iter().find(|key| key.point >= points) {
            None => Ok(record),
            Some(key) => Err(StudyError::foreign(
                path,
                format!("names point {} of {points} points", key.point),
            )),
        }
    }

    /// The record as text.
    ///
    /// # Panics
    /// Never: plain structs and strings are always RON.
    pub fn to_text(&self) -> String {
        let config = PrettyConfig::default().struct_names(true).new_line("\n");
        let text = ron::ser::to_string_pretty(self, config.depth_limit(4));
        text.expect("plain structs are always RON") + "\n"
    }

    /// What differs from `earlier`; `None` when they are the same study.
    pub fn difference(&self, earlier: &Self) -> Option<String> {
        if self.kind != earlier.kind {
            let (old, new) = (earlier.kind, self.kind);
            return Some(format!("its runs are those of a {old:?}, not of a {new:?}"));
        }
        if self.version != earlier.version {
            let (old, new) = (&earlier.version, &self.version);
            return Some(format!("it was made by version {old}, this is {new}"));
        }
        let mut found = changes(&earlier.scenario, &self.scenario);
        let files = changes(&earlier.files, &self.files).into_iter();
        found.extend(files.map(|_| "a file that the scenario names has changed".to_owned()));
        found.dedup();
        if self.shard != earlier.shard {
            let words = |shard: Option<(u32, u32)>| {
                shard.map_or("all runs".into(), |(number, count)| {
                    format!("shard {number} of {count}")
                })
            };
            let (old, new) = (words(earlier.shard), words(self.shard));
            found.push(format!("it holds {old}, not {new}"));
        }
        let more = found.len().saturating_sub(MOST_SHOWN);
        found.truncate(MOST_SHOWN);
        if more > 0 {
            found.push(format!("and {more} more"));
        }
        (!found.is_empty()).then(|| found.join(", "))
    }
}

/// Every changed, added and removed value in words.
fn changes(old: &Settings, new: &Settings) -> Vec<String> {
    let mut found = Vec::new();
    for (path, value) in new {
        match old.get(path) {
            Some(before) if before == value => {}
            Some(before) => found.push(format!("`{path}` was {before}, now {value}")),
            None => found.push(format!("`{path}` is new")),
        }
    }
    let gone = old.keys().filter(|path| !new.contains_key(*path));
    found.extend(gone.map(|path| format!("`{path}` is gone")));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(sets: &[&str], shard: Option<(u32, u32)>) -> Record {
        let mut document = Document::embedded();
        document
            .set("sweep=(axes: [(\"traffic.0.process.load\", [0.1, 0.2])], seeds: 3)")
            .unwrap();
        for set in sets {
            document.set(set).unwrap();
        }
        Record::new(&document, shard).unwrap()
    }

    #[test]
    fn shards_cover_all_runs_once() {
        let mut all: Vec<_> = (1..=4)
            .flat_map(|number| record(&[], Some((number, 4))).own_runs())
            .collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5]);
        assert_eq!(record(&[], Some((2, 4))).own_runs(), [1, 5]);
        assert_eq!(record(&[], None).own_runs(), all);
    }

    #[test]
    fn differences_are_named() {
        let first = record(&[], None);
        assert_eq!(first.difference(&record(&[], None)), None);
        for (sets, shard, expected) in [
            (
                &["fabric.switch.lanes=8"][..],
                None,
                "`fabric.switch.lanes` was 4, now 8",
            ),
            (&["seed=9"], None, "`seed` was 1, now 9"),
            (&[], Some((1, 2)), "it holds all runs, not shard 1 of 2"),
            (&["allow_deadlock=true"], None, "`allow_deadlock` is new"),
        ] {
            let found = record(sets, shard).difference(&first);
            assert_eq!(found.as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_record_is_read_back() {
        let base = tempfile::tempdir().unwrap();
        let record = record(&[], Some((1, 2)));
        std::fs::write(base.path().join(FILE), record.to_text()).unwrap();
        assert_eq!(Record::read(base.path()).unwrap(), record);
        assert!(Record::read(&base.path().join("none")).is_err());
    }

    #[test]
    fn a_run_of_no_point_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let mut damaged = record(&[], None);
        damaged.design.runs[1].point = 9;
        std::fs::write(directory.path().join(FILE), damaged.to_text()).unwrap();
        let error = Record::read(directory.path()).unwrap_err().to_string();
        assert!(error.contains("names point 9 of 2 points"), "{error}");
    }
}
