//! Which runs of a study cannot be simulated, before any of them begins: every scenario is resolved, every route proved.
//!
//! Cost: that of resolving every run, but routes and proofs once for each fabric and engine; what was found is used again by
//! the runs.

use super::trouble::count;
use super::{Design, StudyError, Trouble};
use crate::scenario::{Document, Known, Parts};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What is to be expected of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// Runs that were looked at.
    pub runs: usize,
    /// Number and reason of those that cannot be simulated, by number.
    pub failing: Vec<(usize, String)>,
}

impl Outlook {
    /// Looks at these runs of a design, with so many threads; those that are left when `stop` is set are not looked at.
    ///
    /// # Errors
    /// When a value of an axis does not fit its key.
    pub fn new(
        document: &Document,
        design: &Design,
        runs: &[usize],
        threads: usize,
        known: &Known,
        stop: &AtomicBool,
    ) -> Result<Self, StudyError> {
        let next = AtomicUsize::new(0);
        let found: Mutex<Vec<Result<(usize, String), StudyError>>> = Mutex::default();
        let keep = |one| {
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.push(one);
        };
        // threads of their own, for the routes come from those of rayon
        thread::scope(|scope| {
            for _ in 0..threads.min(runs.len()) {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed)
                        && let Some(&run) = runs.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        let key = &design.runs[run];
                        match design.document(document, key.point, key.seed) {
                            Err(error) => keep(Err(error.into())),
                            Ok(document) => {
                                let resolved = document.resolve_known(&Parts::registered(), known);
                                if let Err(error) = resolved {
                                    keep(Ok((run, error.of_run())));
                                }
                            }
                        }
                    }
                });
            }
        });
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut failing = found.into_iter().collect::<Result<Vec<_>, _>>()?;
        failing.sort();
        Ok(Self {
            runs: runs.len(),
            failing,
        })
    }

    /// Whether all of them can be simulated.
    pub fn is_bright(&self) -> bool {
        self.failing.is_empty()
    }

    /// Whether this run cannot be simulated.
    pub fn fails(&self, run: usize) -> bool {
        let place = self.failing.binary_search_by_key(&run, |(run, _)| *run);
        place.is_ok()
    }

    /// Which cannot be simulated, once for each reason; empty when all can.
    pub fn told(&self, design: &Design) -> String {
        if self.is_bright() {
            return String::new();
        }
        let mut points: Vec<usize> = self
            .failing
            .iter()
            .map(|(run, _)| design.runs[*run].point)
            .collect();
        points.dedup();
        let mut text = format!(
            "{} of {} cannot be simulated ({})",
            self.failing.len(),
            count(self.runs, "run"),
            count(points.len(), "point")
        );
        let failing = self.failing.iter();
        let failing = failing.map(|(run, reason)| (design.runs[*run].point, reason.clone()));
        for trouble in Trouble::by_reason(failing) {
            let reason = trouble.reason.replace('\n', "\n    ");
            let _ = write!(text, "\n  {}:\n    {reason}", trouble.place(design));
        }
        text
    }
}
