//! Runs of a search for the saturation point: one search per point of the axes, and one table of all that was tried.

use super::design::{Design, RunKey, run_name};
use super::directory::Finished;
use super::execute::{Event, execute};
use super::found::{self, Failure, Finding, Found};
use super::grid::{Grid, Place};
use super::level::{Judged, Level, Sample, growth_inside};
use super::limit::Limit;
use super::saturation::{Criterion, Request, Saturation, search};
use super::{Crew, Order, StudyDirectory, StudyError, Table};
use crate::report::Verdict;
use crate::run::Overload;
use crate::scenario::identity::hexadecimal;
use crate::scenario::{Document, Known};
use sha2::{Digest as _, Sha256};
use std::sync::atomic::{AtomicBool, Ordering};

/// Part of the offered load that must certainly be missing, beyond the tolerance, before a run is cut short: runs near
/// the saturation point go to their end.
const CUT: f64 = 0.05;
/// Bytes of an identity.
const BYTES: usize = 16;

/// Searches with all that they work with.
#[derive(Debug)]
pub struct Hunt<'a> {
    /// The scenario.
    pub document: &'a Document,
    /// First seed; those of [`Criterion::most_seeds`] from there on are no larger than the largest.
    pub seed: u64,
    /// Where runs are kept.
    pub directory: &'a StudyDirectory,
    /// What is searched.
    pub grid: &'a Grid,
    /// What is known of the routes of its runs.
    pub known: &'a Known,
    /// When it is found.
    pub criterion: Criterion,
    /// Threads of all runs together.
    pub threads: Option<usize>,
    /// Runs at the same time.
    pub jobs: Option<usize>,
    /// Least distance of two saved states of a run \[cycles\]; `None` = only when it is stopped.
    pub save_every: Option<u64>,
    /// Ends everything when set.
    pub stop: &'a AtomicBool,
}

/// What a search does next.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Number of the search.
    pub place: usize,
    /// The load that is tried.
    pub load: f64,
    /// Runs so far.
    pub runs: usize,
}

/// What the runs of all searches are and gave, by search and load.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Points and runs.
    pub design: Design,
    /// `[run]`
    pub finished: Vec<Finished>,
    /// `[point]`
    pub judged: Vec<Judged>,
    /// Search, load and samples, `[point]`.
    levels: Vec<(usize, Level)>,
}

impl Hunt<'_> {
    /// Searches, and writes what was found; `tell` gets what is done next.
    ///
    /// # Errors
    /// When a run was stopped, or cannot be kept; when one fails and there is no other search.
    pub fn run(&self, tell: &mut dyn FnMut(Step)) -> Result<(Found, Tried), StudyError> {
        let Grid { axes, places, .. } = self.grid;
        let loads = places.first().map(|place| place.loads.headers());
        let mut tried = Tried {
            design: Design {
                axes: [axes.clone(), loads.unwrap_or_default()].concat(),
                points: Vec::new(),
                runs: Vec::new(),
            },
            finished: Vec::new(),
            judged: Vec::new(),
            levels: Vec::new(),
        };
        let (mut findings, mut failures) = (Vec::new(), Vec::new());
        for (number, place) in places.iter().enumerate() {
            let limit = self.limit(place);
            let bound = limit.as_ref().map(|limit| limit.load);
            let search = search(self.criterion, bound, &mut |request| {
                let (load, runs) = (request.load, tried.finished.len());
                let place = number;
                tell(Step { place, load, runs });
                self.evaluate(&mut tried, number, request)
            });
            let axes = axes.iter().map(|axis| axis.path.clone());
            let values = axes.zip(place.point.values.iter().cloned()).collect();
            let search = match search {
                // the other searches know nothing of it
                Err(StudyError::FailedRun { reason, is_broken }) if places.len() > 1 => {
                    failures.push(Failure {
                        values,
                        reason,
                        is_broken,
                    });
                    continue;
                }
                search => search?,
            };
            tried.conclude(number, &search);
            self.directory
                .write_table(&tried.clone().sorted().table())?;
            let names = |load: f64| tried.names(number, load);
            findings.push(Finding::new(
                &search,
                (self.criterion.tolerance, limit),
                values,
                &place.loads.classes,
                names,
            ));
        }
        let found = Found::new(self.criterion, findings, failures);
        let text = serde_json::to_string_pretty(&found);
        let text = text.map_err(|cause| StudyError::Design(cause.to_string()))? + "\n";
        self.directory.write(found::FILE, text.as_bytes())?;
        Ok((found, tried.sorted()))
    }

    /// The load at which a channel is full by routes and patterns alone: the largest of the seeds, where they differ.
    fn limit(&self, place: &Place) -> Option<Limit> {
        let seeds = (0..self.criterion.seeds).map(|seed| self.seed + seed as u64);
        let limits = seeds.map(|seed| Limit::of(self.document, self.grid, place, seed, self.known));
        let limits: Option<Vec<Limit>> = limits.collect();
        (limits?.into_iter()).reduce(|most, next| if next.load > most.load { next } else { most })
    }

    /// Runs of one load with some seeds.
    fn evaluate(
        &self,
        tried: &mut Tried,
        number: usize,
        request: Request,
    ) -> Result<Vec<Sample>, StudyError> {
        let Request {
            load, first, count, ..
        } = request;
        let point = tried.point(number, &self.grid.places[number], load);
        let overload = Overload {
            part: self.criterion.tolerance + CUT,
            is_early: !request.is_whole,
        };
        let start = tried.design.runs.len();
        for seed in first..first + count {
            let seed = self.seed + seed as u64;
            let document = tried.design.document(self.document, point, seed)?;
            let identity = identity(&document, overload);
            tried.design.runs.push(RunKey {
                point,
                seed,
                name: run_name(&tried.design.points[point].cells, seed, &identity),
                identity,
            });
        }
        self.make(tried, start, overload)?;
        let made = start..tried.design.runs.len();
        let samples = made.map(|run| {
            let (key, finished) = (&tried.design.runs[run], &tried.finished[run]);
            self.sample(&tried.design, key, finished)
        });
        let samples = samples.collect::<Result<Vec<_>, _>>()?;
        tried.judge(point, &samples, self.criterion.tolerance);
        let sorted = tried.clone().sorted();
        self.directory.write_table(&sorted.table())?;
        Ok(samples)
    }

    /// Makes the runs from `start` on that are not there yet.
    fn make(&self, tried: &mut Tried, start: usize, overload: Overload) -> Result<(), StudyError> {
        let mut found: Vec<Option<Finished>> = Vec::new();
        for key in &tried.design.runs[start..] {
            found.push(self.directory.finished(key)?);
        }
        let missing = (0..found.len()).filter(|&at| found[at].is_none());
        let todo: Vec<usize> = missing.map(|at| start + at).collect();
        let order = Order {
            document: self.document,
            design: &tried.design,
            directory: self.directory,
            todo: &todo,
            known: self.known,
            crew: Crew::new(self.threads, self.jobs, todo.len()),
            overload: Some(overload),
            save_every: self.save_every,
            stop: self.stop,
        };
        execute(order, &mut |event| {
            if let Event::Finished(run, finished) = event {
                found[run - start] = Some(finished);
            }
            Ok(())
        })?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(StudyError::Stopped);
        }
        tried.finished.extend(found.into_iter().flatten());
        Ok(())
    }

    /// What a run says about its load.
    fn sample(
        &self,
        design: &Design,
        key: &RunKey,
        finished: &Finished,
    ) -> Result<Sample, StudyError> {
        let gone = |word: &str, reason: &str| {
            let (point, seed) = (design.describe(key.point), key.seed);
            format!("{point}, seed {seed}: the run {word}, so the load cannot be judged: {reason}")
        };
        match finished {
            Finished::Failed { reason, is_broken } => Err(StudyError::FailedRun {
                reason: gone("failed", reason),
                is_broken: *is_broken,
            }),
            Finished::Run { summary, reason } if summary.run.verdict == Verdict::Interrupted => {
                Err(StudyError::Design(gone("was interrupted", reason)))
            }
            Finished::Run { summary, .. } => Ok(Sample {
                offered: summary.load.offered,
                accepted: summary.load.accepted,
                growth: summary.load.backlog_growth,
                growth_inside: growth_inside(&self.directory.timeline(key)?, summary.run.cycles),
                hosts: self.directory.hosts(key)?,
                is_deadlocked: summary.run.verdict == Verdict::Deadlocked,
                is_cut: summary.run.is_cut,
            }),
        }
    }
}

/// What a run is known by: one that may be cut short is not the run of the scenario alone.
fn identity(document: &Document, overload: Overload) -> String {
    let Overload { part, is_early } = overload;
    let text = format!("{} overload {part} {is_early}", document.identity());
    let hash = Sha256::digest(text);
    hexadecimal(&hash[..BYTES])
}

impl Tried {
    /// The table of all loads.
    pub fn table(&self) -> Table<'_> {
        Table::of(&self.design, &self.finished).judged(&self.judged)
    }

    /// The point of a load of a search; a new one, unless it was tried.
    fn point(&mut self, number: usize, place: &Place, load: f64) -> usize {
        if let Some(point) = self.find(number, load) {
            return point;
        }
        let samples = Vec::new();
        let level = Level { load, samples };
        self.judged.push(level.judge(0.0));
        self.levels.push((number, level));
        self.design.points.push(place.at(load));
        self.levels.len() - 1
    }

    /// The point of a load of a search, if it was tried.
    fn find(&self, number: usize, load: f64) -> Option<usize> {
        let is_meant = |(place, level): &(usize, Level)| {
            *place == number && level.load.total_cmp(&load).is_eq()
        };
        self.levels.iter().position(is_meant)
    }

    /// Judges a point by these runs too.
    fn judge(&mut self, point: usize, samples: &[Sample], tolerance: f64) {
        let level = &mut self.levels[point].1;
        level.samples.extend_from_slice(samples);
        self.judged[point] = level.judge(tolerance);
    }

    /// Takes over what a search says of its loads.
    fn conclude(&mut self, number: usize, search: &Saturation) {
        for (level, judged) in &search.levels {
            if let Some(point) = self.find(number, level.load) {
                self.judged[point] = judged.clone();
            }
        }
    }

    /// Directories of the runs of a load.
    fn names(&self, number: usize, load: f64) -> Vec<String> {
        let point = self.find(number, load);
        let runs = self.design.runs.iter();
        let runs = runs.filter(|run| Some(run.point) == point);
        runs.map(|run| run.name.clone()).collect()
    }

    /// The same in order of search and load.
    fn sorted(self) -> Self {
        let Design { axes, points, runs } = self.design;
        let levels = self.levels;
        let mut order: Vec<usize> = (0..points.len()).collect();
        let key = |point: usize| (levels[point].0, levels[point].1.load);
        order.sort_by(|&a, &b| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let mut rank = vec![0; order.len()];
        for (place, &point) in order.iter().enumerate() {
            rank[point] = place;
        }
        let mut pairs: Vec<_> = runs.into_iter().zip(self.finished).collect();
        for (key, _) in &mut pairs {
            key.point = rank[key.point];
        }
        pairs.sort_by_key(|(key, _)| key.point);
        let (runs, finished) = pairs.into_iter().unzip();
        let points = order.iter().map(|&point| points[point].clone()).collect();
        let judged = order.iter().map(|&at| self.judged[at].clone()).collect();
        Self {
            design: Design { axes, points, runs },
            finished,
            judged,
            levels: order.iter().map(|&at| levels[at].clone()).collect(),
        }
    }
}
