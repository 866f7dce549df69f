//! Where runs are in the studies that they are of: which point of which axes.

use crate::study::Design;
use crate::study::record::Record;
use std::collections::BTreeMap;
use std::path::Path;

/// A point of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Number of the study.
    pub study: usize,
    /// Number of its point.
    pub point: usize,
}

/// The studies that results are of, and the places of their runs by the names of their directories.
#[derive(Clone, Debug, Default)]
pub struct Places {
    studies: Vec<Record>,
    runs: BTreeMap<String, Place>,
}

impl Places {
    /// Enters the study of a directory, if it is of one.
    pub(super) fn add(&mut self, directory: &Path) {
        let Ok(record) = Record::read(directory) else {
            return;
        };
        let study = self.studies.len();
        for key in &record.design.runs {
            let place = Place {
                study,
                point: key.point,
            };
            self.runs.insert(key.name.clone(), place);
        }
        self.studies.push(record);
    }

    /// Where the run in this directory is.
    pub fn of(&self, run: &Path) -> Option<Place> {
        self.runs.get(run.file_name()?.to_str()?).copied()
    }

    /// Key paths of all axes.
    pub fn axes(&self) -> impl Iterator<Item = &str> {
        let axes = self.studies.iter().flat_map(|study| &study.design.axes);
        axes.map(|axis| axis.path.as_str())
    }

    /// The designs of all studies.
    pub fn designs(&self) -> impl Iterator<Item = &Design> {
        self.studies.iter().map(|study| &study.design)
    }
}
