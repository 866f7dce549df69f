//! Runs of a search for the saturation point: the loads of a scenario, and one table of all that was tried.

use super::design::{AxisHeader, Design, Point, RunKey, run_name};
use super::directory::Finished;
use super::execute::{Event, execute};
use super::found::{self, Found};
use super::level::Sample;
use super::saturation::{Criterion, search};
use super::{Crew, Order, StudyDirectory, StudyError, Table};
use crate::report::Verdict;
use crate::scenario::schema::Demand;
use crate::scenario::syntax::Node;
use crate::scenario::{Document, Scenario};
use std::sync::atomic::{AtomicBool, Ordering};

/// The loads that are varied together.
#[derive(Clone, Debug, PartialEq)]
pub struct Loads {
    /// Key path and share of the largest load.
    classes: Vec<(String, f64)>,
}

impl Loads {
    /// The load of one class, or of all in their proportion.
    ///
    /// # Errors
    /// When there is no such class, or its process has no load.
    pub fn of(scenario: &Scenario, class: Option<&str>) -> Result<Self, StudyError> {
        let names = || {
            scenario
                .traffic
                .iter()
                .map(|class| class.name.value.as_str())
        };
        if let Some(name) = class
            && !names().any(|other| other == name)
        {
            let message = crate::registry::unknown("class", name, names());
            return Err(StudyError::Design(format!("--class: {message}")));
        }
        let chosen = scenario.traffic.iter();
        let chosen = chosen.filter(|other| class.is_none_or(|name| other.name.value == name));
        let mut classes = Vec::new();
        for class in chosen {
            let name = &class.name.value;
            let part = match &class.demand {
                Demand::Packets { process, .. } => process,
                Demand::Messages(messages) => messages,
            };
            let load = part.parameter("load").map(Node::to_text);
            let Some(load) = load.and_then(|load| load.parse::<f64>().ok()) else {
                let part = &part.name.value;
                let message = format!("`{part}` of class `{name}` has no load to vary");
                return Err(StudyError::Design(message));
            };
            classes.push((format!("traffic.{name}.process.load"), load));
        }
        let largest = classes.iter().map(|class| class.1);
        let largest = largest.fold(f64::MIN_POSITIVE, f64::max);
        for class in &mut classes {
            class.1 /= largest;
        }
        Ok(Self { classes })
    }

    fn headers(&self) -> Vec<AxisHeader> {
        let header = |(path, _): &(String, f64)| AxisHeader {
            path: path.clone(),
            unit: Some("fraction of link rate".into()),
        };
        self.classes.iter().map(header).collect()
    }

    fn point(&self, load: f64) -> Point {
        let texts = self.classes.iter();
        let texts = texts.map(|(_, share)| (load * share).to_string());
        let values: Vec<String> = texts.collect();
        let cells = values.clone();
        Point { values, cells }
    }
}

/// A search with all that it works with.
#[derive(Debug)]
pub struct Hunt<'a> {
    /// The scenario.
    pub document: &'a Document,
    /// First seed.
    pub seed: u64,
    /// Where runs are kept.
    pub directory: &'a StudyDirectory,
    /// Which loads are varied.
    pub loads: Loads,
    /// Threads of all runs together.
    pub threads: Option<usize>,
    /// Runs at the same time.
    pub jobs: Option<usize>,
    /// Least distance of two saved states of a run \[cycles\]; `None` = only when it is stopped.
    pub save_every: Option<u64>,
    /// Ends everything when set.
    pub stop: &'a AtomicBool,
}

/// What the runs of a search are and gave, in the order they were asked for.
#[derive(Clone)]
struct Tried {
    design: Design,
    /// `[run]`
    finished: Vec<Finished>,
}

impl Hunt<'_> {
    /// Searches, and writes what was found; `tell` gets the load and runs that are made next.
    ///
    /// # Errors
    /// When a run fails, was stopped, or cannot be kept.
    pub fn run(
        &self,
        criterion: Criterion,
        tell: &mut dyn FnMut(f64, usize),
    ) -> Result<(Found, Design, Vec<Finished>), StudyError> {
        let mut tried = Tried {
            design: Design {
                axes: self.loads.headers(),
                points: Vec::new(),
                runs: Vec::new(),
            },
            finished: Vec::new(),
        };
        let search = search(criterion, &mut |load, first, count| {
            tell(load, tried.finished.len());
            self.evaluate(&mut tried, load, first..first + count)
        })?;
        let tried = tried.sorted();
        let result = Found::new(&search, criterion, &self.loads.classes);
        let text = serde_json::to_string_pretty(&result);
        let text = text.map_err(|cause| StudyError::Design(cause.to_string()))? + "\n";
        self.directory.write(found::FILE, text.as_bytes())?;
        Ok((result, tried.design, tried.finished))
    }

    /// Runs of one load with some seeds.
    fn evaluate(
        &self,
        tried: &mut Tried,
        load: f64,
        seeds: std::ops::Range<usize>,
    ) -> Result<Vec<Sample>, StudyError> {
        if seeds.start == 0 {
            tried.design.points.push(self.loads.point(load));
        }
        let point = tried.design.points.len() - 1;
        let start = tried.design.runs.len();
        for number in seeds {
            let seed = self.seed.wrapping_add(number as u64);
            let identity = tried
                .design
                .document(self.document, point, seed)?
                .identity();
            tried.design.runs.push(RunKey {
                point,
                seed,
                name: run_name(&tried.design.points[point].cells, seed, &identity),
                identity,
            });
        }
        self.make(tried, start)?;
        let sorted = tried.clone().sorted();
        let table = Table::of(&sorted.design, &sorted.finished);
        self.directory.write_table(&table)?;
        let samples = start..tried.design.runs.len();
        samples
            .map(|run| self.sample(load, &tried.design.runs[run], &tried.finished[run]))
            .collect()
    }

    /// Makes the runs from `start` on that are not there yet.
    fn make(&self, tried: &mut Tried, start: usize) -> Result<(), StudyError> {
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
            crew: Crew::new(self.threads, self.jobs, todo.len()),
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
    fn sample(&self, load: f64, key: &RunKey, finished: &Finished) -> Result<Sample, StudyError> {
        let gone = |word: &str, reason: &str| {
            let seed = key.seed;
            let message = format!(
                "load {load}, seed {seed}: the run {word}, so the load cannot be judged: {reason}"
            );
            Err(StudyError::Design(message))
        };
        match finished {
            Finished::Failed { reason } => gone("failed", reason),
            Finished::Run { summary, reason } if summary.run.verdict == Verdict::Interrupted => {
                gone("was interrupted", reason)
            }
            Finished::Run { summary, .. } => Ok(Sample {
                offered: summary.load.offered,
                accepted: summary.load.accepted,
                growth: summary.load.backlog_growth,
                hosts: self.directory.hosts(key)?,
                is_deadlocked: summary.run.verdict == Verdict::Deadlocked,
            }),
        }
    }
}

impl Tried {
    /// The same in order of load.
    fn sorted(self) -> Self {
        let Design { axes, points, runs } = self.design;
        let load = |point: usize| points[point].cells[0].parse::<f64>().unwrap_or(0.0);
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| load(a).total_cmp(&load(b)));
        let rank = |point: usize| order.iter().position(|&other| other == point).unwrap_or(0);
        let mut pairs: Vec<_> = runs.into_iter().zip(self.finished).collect();
        for (key, _) in &mut pairs {
            key.point = rank(key.point);
        }
        pairs.sort_by_key(|(key, _)| key.point);
        let (runs, finished) = pairs.into_iter().unzip();
        let points = order.iter().map(|&point| points[point].clone()).collect();
        Self {
            design: Design { axes, points, runs },
            finished,
        }
    }
}
