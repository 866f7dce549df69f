//! Which runs of a study cannot be simulated, before any of them begins: every scenario is resolved, every route proved.
//!
//! Fails with: points that are the same run, whatever their values are called, and claims about classes or service levels that a
//! point does not have.
//!
//! Cost: that of resolving a run of every point, those of all seeds where routes depend on them, and the graphs of the others;
//! routes and proofs once for each fabric and engine. What was found is used again by the runs.

use super::axes::Written;
use super::trouble::count;
use super::{Design, StudyError, Trouble};
use crate::scenario::{
    Document, Expectation, Known, Parts, Resolved, ScenarioError, claimed, print,
};
use crate::topology::Graph;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
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
    /// The scenario, without its long sections about runs.
    document: &'a Document,
    design: &'a Design,
    known: &'a Known,
    written: Written<'a>,
    claims: &'a [Expectation],
}

/// What is seen of a point.
#[derive(Default)]
struct Seen {
    failing: Failing,
    /// Its first run that can be simulated, and what the plan of that says.
    plan: Option<(usize, [u8; 32])>,
}

impl Look<'_> {
    fn resolve(&self, document: &Document) -> Result<Resolved, ScenarioError> {
        document.resolve_known(&Parts::registered(), self.known)
    }

    /// The runs of a point that cannot be simulated. Those whose routes and proof do not depend on their seed, on the graph of
    /// the first, are as the first.
    fn at_point(&self, runs: &[usize]) -> Result<Seen, StudyError> {
        let parts = Parts::registered();
        let mut seen = Seen::default();
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
            match self.resolve(&document) {
                Err(error) => {
                    let error = self.written.located(error, &self.design.pairs(key.point));
                    seen.failing.push((run, error.of_run()));
                }
                Ok(resolved) => {
                    if seen.plan.is_none() {
                        self.check_claims(key.point, &resolved)?;
                        let text = print::plan(&resolved, &parts);
                        seen.plan = Some((run, Sha256::digest(text).into()));
                    }
                    if first.is_none() && !resolved.is_drawn(&parts) {
                        first = Some(resolved.layout.graph);
                    }
                }
            }
        }
        Ok(seen)
    }

    /// The claims about a point name what its runs have.
    fn check_claims(&self, point: usize, resolved: &Resolved) -> Result<(), StudyError> {
        let pairs = self.design.pairs(point);
        let is_about = |claim: &&Expectation| claim.is_about(&pairs);
        let claims = self.claims.iter().filter(is_about);
        claimed::check(claims, &resolved.plan).map_err(|mistake| self.written.mistake(mistake))
    }

    /// Refuses points that are the same run. Plans that are told alike are compared in full: they may differ in what is not
    /// told.
    fn check_points(&self, plans: &[(usize, [u8; 32])]) -> Result<(), StudyError> {
        let mut known: BTreeMap<[u8; 32], usize> = BTreeMap::new();
        for (run, plan) in plans {
            let point = self.design.runs[*run].point;
            let Some(&other) = known.get(plan) else {
                known.insert(*plan, point);
                continue;
            };
            if self.are_same([other, point])? {
                let [a, b] = [other, point].map(|point| self.design.pairs(point));
                return Err(self.written.same_run([other, point], [&a, &b]));
            }
        }
        Ok(())
    }

    /// Whether two points are the same run with all seeds, by the first and the last of them: what draws by the seed of the run,
    /// and by the same number where it is written, is the same with one seed only.
    fn are_same(&self, points: [usize; 2]) -> Result<bool, StudyError> {
        let runs = &self.design.runs[self.design.runs_of(points[0])];
        let mut seeds: Vec<u64> = [runs.first(), runs.last()]
            .into_iter()
            .flatten()
            .map(|run| run.seed)
            .collect();
        seeds.dedup();
        for seed in seeds {
            let mut found = Vec::new();
            for point in points {
                let document = self.design.document(self.document, point, seed)?;
                let Ok(resolved) = self.resolve(&document) else {
                    return Ok(false);
                };
                let plan = plan_of(&resolved);
                found.push((resolved.layout.graph, plan));
            }
            if found[0] != found[1] {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The whole plan of a run as one number, and its text.
fn plan_of(resolved: &Resolved) -> ([u8; 32], String) {
    struct Digest(Sha256);
    impl Write for Digest {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.update(text);
            Ok(())
        }
    }
    let mut digest = Digest(Sha256::new());
    // plans may be long: they are not kept as text
    let _ = write!(digest, "{:?}", resolved.plan);
    let text = print::plan(resolved, &Parts::registered());
    (digest.0.finalize().into(), text)
}

impl Outlook {
    /// Looks at these runs of a design, with so many threads; those that are left when `stop` is set are not looked at.
    ///
    /// # Errors
    /// When a value of an axis does not fit its key, two points are the same run, or a claim names what a point does not have.
    pub fn new(
        document: &Document,
        design: &Design,
        runs: &[usize],
        threads: usize,
        known: &Known,
        stop: &AtomicBool,
    ) -> Result<Self, StudyError> {
        let scenario = document.scenario()?;
        let axes = scenario.sweep.map_or_else(Vec::new, |sweep| sweep.axes);
        let look = Look {
            document: &design.bare(document),
            design,
            known,
            written: Written::new(document, &axes),
            claims: &scenario.expect,
        };
        let point = |a: &usize, b: &usize| design.runs[*a].point == design.runs[*b].point;
        let points: Vec<&[usize]> = runs.chunk_by(point).collect();
        let next = AtomicUsize::new(0);
        let found: Mutex<Vec<(usize, Result<Seen, StudyError>)>> = Mutex::default();
        // threads of their own, for the routes come from those of rayon
        thread::scope(|scope| {
            for _ in 0..threads.min(points.len()) {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(runs) = points.get(number) else {
                            return;
                        };
                        let seen = look.at_point(runs);
                        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                        found.push((number, seen));
                    }
                });
            }
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        // what is told first does not depend on who was first
        found.sort_by_key(|(number, _)| *number);
        let (mut failing, mut plans) = (Failing::new(), Vec::new());
        for (_, seen) in found {
            let seen = seen?;
            failing.extend(seen.failing);
            plans.extend(seen.plan);
        }
        look.check_points(&plans)?;
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
