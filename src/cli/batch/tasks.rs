//! Array tasks: which runs each makes, and where they stand.

use super::folder::{Folder, MERGED};
use crate::report::table::align;
use crate::study::directory::finished;
use crate::study::{Record, RunKey, states};
use std::path::Path;

/// Where a task stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// Its runs.
    pub(super) runs: usize,
    /// Those that are finished.
    pub(super) finished: usize,
    /// Those that have a saved state.
    pub(super) begun: usize,
}

impl Standing {
    /// Whether something is left to do.
    pub(super) fn is_open(self) -> bool {
        self.finished < self.runs
    }
}

/// Runs of every task, `[task]`: every n-th, as `--shard` cuts them.
pub(super) fn slices(record: &Record, tasks: u32) -> Vec<Vec<usize>> {
    let slice = |number| {
        let record = Record {
            shard: Some((number, tasks)),
            ..record.clone()
        };
        record.own_runs()
    };
    (1..=tasks).map(slice).collect()
}

/// Where every task of a batch stands, `[task]`. A run that is damaged is not finished.
pub(super) fn standing(folder: &Folder, record: &Record) -> Vec<Standing> {
    let merged = folder.path.join(MERGED);
    let is_finished =
        |study: &Path, key: &RunKey| finished(study, key).is_ok_and(|found| found.is_some());
    let slices = slices(record, folder.batch.tasks);
    let of = |(task, runs): (usize, Vec<usize>)| {
        let part = folder.part(task as u32);
        let mut standing = Standing {
            runs: runs.len(),
            ..Standing::default()
        };
        for key in runs.iter().map(|&run| &record.design.runs[run]) {
            let is_done = is_finished(&part, key) || is_finished(&merged, key);
            standing.finished += usize::from(is_done);
            standing.begun += usize::from(!is_done && states::file(&part, key).exists());
        }
        standing
    };
    slices.into_iter().enumerate().map(of).collect()
}

/// Every run with its task.
pub(super) fn list(record: &Record, tasks: u32) -> String {
    let design = &record.design;
    let mut heading: Vec<String> = ["task", "run", "point"].map(String::from).to_vec();
    heading.extend(design.axes.iter().map(|axis| axis.path.clone()));
    heading.push("seed".into());
    let mut rows = vec![heading];
    for (task, runs) in slices(record, tasks).into_iter().enumerate() {
        for run in runs {
            let key = &design.runs[run];
            let numbers = [task, run + 1, key.point + 1];
            let mut row: Vec<_> = numbers.iter().map(ToString::to_string).collect();
            row.extend(design.points[key.point].values.iter().cloned());
            row.push(key.seed.to_string());
            rows.push(row);
        }
    }
    align(&rows)
}

/// Numbers as a job array takes them: `0-2,5`.
pub(super) fn ranges(tasks: &[u32]) -> String {
    let runs = tasks.chunk_by(|a, b| a + 1 == *b);
    let range = |run: &[u32]| match run {
        [first, .., last] => format!("{first}-{last}"),
        [only] => only.to_string(),
        [] => String::new(),
    };
    runs.map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_as_short_as_can_be() {
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(ranges(&[4]), "4");
    }
}
