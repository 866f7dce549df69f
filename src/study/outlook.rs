//! Which runs of a study cannot be simulated, before any of them begins: every scenario is resolved, every route proved.
//!
//! Cost: that of resolving a run of every point, those of all seeds where routes depend on them, and the graphs of the others;
//! routes and proofs once for each fabric and engine. What was found is used again by the runs.

use super::trouble::count;
use super::{Design, StudyError, Trouble};
use crate::scenario::{Document, Known, Parts};
use crate::topology::Graph;
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
    pub failing: Failing,
}

/// Number and reason.
type Failing = Vec<(usize, String)>;

/// What is looked at.
struct Look<'a> {
    document: &'a Document,
    design: &'a Design,
    known: &'a Known,
}

impl Look<'_> {
    /// The runs of a point that cannot be simulated. Those whose routes and proof do not depend on their seed, on the graph of
    /// the first, are as the first.
    fn at_point(&self, runs: &[usize]) -> Result<Failing, StudyError> {
        let parts = Parts::registered();
        let mut failing = Vec::new();
        let mut first: Option<Graph> = None;
        for &run in runs {
            let key = &self.design.runs[run];
            let document = self.design.document(self.document, key.point, key.seed)?;
            if let Some(first) = &first
                && document
                    .layout(&parts)
                    .is_ok_and(|(_, layout)| layout.graph == *first)
            {
                continue;
            }
            match document.resolve_known(&parts, self.known) {
                Err(error) => failing.push((run, error.of_run())),
                Ok(resolved) if first.is_none() && !resolved.is_drawn(&parts) => {
                    first = Some(resolved.layout.graph);
                }
                Ok(_) => {}
            }
        }
        Ok(failing)
    }
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
        let document = design.bare(document);
        let look = Look {
            document: &document,
            design,
            known,
        };
        let point = |a: &usize, b: &usize| design.runs[*a].point == design.runs[*b].point;
        let points: Vec<&[usize]> = runs.chunk_by(point).collect();
        let next = AtomicUsize::new(0);
        let found: Mutex<Vec<Result<Failing, StudyError>>> = Mutex::default();
        // threads of their own, for the routes come from those of rayon
        thread::scope(|scope| {
            for _ in 0..threads.min(points.len()) {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed)
                        && let Some(runs) = points.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        let failing = look.at_point(runs);
                        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                        found.push(failing);
                    }
                });
            }
        });
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut failing = found.concat();
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
