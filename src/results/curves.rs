//! Runs put together: replications to points, points to curves.
//!
//! Runs that differ in seeds only are one point: in the seed of the scenario, of its faults, of a drawn topology. Points that
//! differ in the load only are one curve. Where no load differs but exactly one other number does, curves go over that
//! number.

use super::labels::Labels;
use super::settings::{Settings, is_load, settings};
use super::{Place, Results, ResultsError, Run};
use crate::measure::precision::{CONFIDENCE, Interval, replications};
use crate::report::Verdict;
use crate::report::summary::Summary;
use crate::study::level::Judgement;
use std::collections::{BTreeMap, BTreeSet};

/// Most runs shown in detail.
const MOST_DETAILED: usize = 4;

/// What curves go over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Across {
    /// Offered load, as measured.
    Offered,
    /// A number of the scenario.
    Setting {
        /// Key path.
        path: String,
        /// Unit, when the value has one.
        unit: String,
    },
}

/// Runs that differ in the seed only.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    /// Where it is on the curve.
    pub x: f64,
    /// The runs, by seed.
    pub runs: Vec<&'a Run>,
    /// The worst verdict of its runs.
    pub verdict: Verdict,
    /// What a search says about it.
    pub judgement: Option<Judgement>,
    /// Runs of it that could not be simulated.
    pub failed: usize,
}

impl<'a> Point<'a> {
    /// Whether the fabric keeps up with what is offered: a load that is sustained, or all runs steady or complete.
    pub fn keeps_up(&self) -> bool {
        let is_steady = self.verdict.keeps_up() && self.failed == 0;
        (self.judgement).map_or(is_steady, |judgement| judgement == Judgement::Sustained)
    }

    /// Its runs that measured what they were asked to: those that means are of.
    pub fn counted(&self) -> usize {
        counted(&self.runs).count()
    }

    /// The first run with the verdict of the point.
    fn typical(&self) -> Option<&'a Run> {
        let is_worst = |run: &&&Run| run.summary.run.verdict == self.verdict;
        self.runs.iter().find(is_worst).copied()
    }

    /// Mean of a number over the runs that have it and went to their end, with its confidence interval.
    pub fn mean(&self, number: impl Fn(&Summary) -> Option<f64>) -> Option<Interval> {
        let values: Vec<f64> = counted(&self.runs)
            .filter_map(|run| number(&run.summary))
            .collect();
        replications(&values, CONFIDENCE)
    }
}

/// Runs that measured what they were asked to.
fn counted<'a>(runs: &[&'a Run]) -> impl Iterator<Item = &'a Run> {
    let is_measured = |run: &&Run| run.summary.run.verdict.is_measured();
    runs.iter().copied().filter(is_measured)
}

/// Points that differ in load (or one number) only.
#[derive(Clone, Debug)]
pub struct Curve<'a> {
    /// What tells it from the other curves; empty when there is one.
    pub label: String,
    /// The same by what differs, one word for each.
    pub parts: Vec<String>,
    /// Points from left to right.
    pub points: Vec<Point<'a>>,
}

/// A run to show in detail.
#[derive(Clone, Copy, Debug)]
pub struct Detailed<'a> {
    /// Label of its curve.
    pub label: &'a str,
    /// Where its point is on the curve.
    pub x: f64,
    /// The run.
    pub run: &'a Run,
}

/// All curves of a study.
#[derive(Clone, Debug)]
pub struct Curves<'a> {
    /// What they go over.
    pub across: Across,
    /// The curves, in the order of their first runs.
    pub curves: Vec<Curve<'a>>,
}

impl<'a> Curves<'a> {
    /// Sorts runs into curves.
    ///
    /// # Errors
    /// When a plan cannot be read.
    pub fn new(results: &'a Results) -> Result<Self, ResultsError> {
        let plans = results
            .runs
            .iter()
            .map(settings)
            .collect::<Result<Vec<_>, _>>()?;
        let varying = varying(&plans);
        let across = across(&plans, &varying);
        let is_along = |path: &str| match &across {
            Across::Offered => is_load(path),
            Across::Setting { path: along, .. } => path == along,
        };
        let mut groups: BTreeMap<Vec<String>, BTreeMap<Vec<String>, Vec<usize>>> = BTreeMap::new();
        for (number, plan) in plans.iter().enumerate() {
            let values = |along: bool| -> Vec<String> {
                let keys = varying.iter().filter(|path| is_along(path) == along);
                keys.map(|path| plan.get(*path).cloned().unwrap_or_default())
                    .collect()
            };
            let points = groups.entry(values(false)).or_default();
            points.entry(values(true)).or_default().push(number);
        }
        let firsts: Vec<&Settings> = groups
            .values()
            .filter_map(|points| Some(&plans[*points.values().next()?.first()?]))
            .collect();
        let axes: Vec<&str> = results.places.axes().collect();
        let candidates = varying.iter().copied().filter(|path| !is_along(path));
        let labels = Labels::new(&firsts, candidates.collect(), &axes);
        let mut curves: Vec<(usize, Curve<'a>)> = groups
            .values()
            .zip(&firsts)
            .map(|(points, plan)| {
                let first = points.values().flatten().min().copied();
                let points = points.values();
                let mut points: Vec<Point<'a>> = points
                    .map(|runs| point(results, runs, &plans, &across))
                    .collect();
                points.sort_by(|a, b| a.x.total_cmp(&b.x));
                let parts = labels.parts(plan);
                let curve = Curve {
                    label: parts.join(", "),
                    parts,
                    points,
                };
                (first.unwrap_or_default(), curve)
            })
            .collect();
        // as the user has them: runs are in the order of directories and sweeps
        curves.sort_by_key(|(first, _)| *first);
        let curves = curves.into_iter().map(|(_, curve)| curve).collect();
        Ok(Self { across, curves })
    }

    /// Whether any curve has two points.
    pub fn is_drawable(&self) -> bool {
        self.curves.iter().any(|curve| curve.points.len() > 1)
    }

    /// The runs that are shown in detail, at most four: all, or of each curve the last steady point and then
    /// the last point; of a point the first seed with the verdict of the point.
    pub fn detailed(&self) -> Vec<Detailed<'_>> {
        let of = |curve: usize, x: f64, run: &'a Run| Detailed {
            label: &self.curves[curve].label,
            x,
            run,
        };
        let mut all = Vec::new();
        for (number, curve) in self.curves.iter().enumerate() {
            for point in &curve.points {
                all.extend(point.runs.iter().map(|run| of(number, point.x, run)));
            }
        }
        if all.len() <= MOST_DETAILED {
            return all;
        }
        let mut places: Vec<(usize, usize)> = Vec::new();
        let last_steady = |curve: &Curve<'_>| curve.points.iter().rposition(Point::keeps_up);
        let last = |curve: &Curve<'_>| curve.points.len().checked_sub(1);
        for place in [&last_steady as &dyn Fn(&Curve<'_>) -> Option<usize>, &last] {
            for (number, curve) in self.curves.iter().enumerate() {
                let found = place(curve).map(|point| (number, point));
                let is_new = |found: &(usize, usize)| !places.contains(found);
                places.extend(found.filter(is_new));
            }
        }
        places.truncate(MOST_DETAILED);
        places.sort_unstable();
        let firsts = places.into_iter().filter_map(|(curve, point)| {
            let point = &self.curves[curve].points[point];
            point.typical().map(|run| of(curve, point.x, run))
        });
        firsts.collect()
    }

    /// Whether any point was judged by a search.
    pub fn has_judgements(&self) -> bool {
        let mut points = self.curves.iter().flat_map(|curve| &curve.points);
        points.any(|point| point.judgement.is_some())
    }

    /// Whether any point has several runs.
    pub fn has_replications(&self) -> bool {
        let mut points = self.curves.iter().flat_map(|curve| &curve.points);
        points.any(|point| point.runs.len() > 1)
    }
}

fn point<'a>(
    results: &'a Results,
    numbers: &[usize],
    plans: &[Settings],
    across: &Across,
) -> Point<'a> {
    let mut runs: Vec<&Run> = numbers
        .iter()
        .map(|number| &results.runs[*number])
        .collect();
    runs.sort_by_key(|run| run.manifest.seed);
    let is_told = |verdict: &Verdict| {
        let mut verdicts = runs.iter().map(|run| run.summary.run.verdict);
        verdicts.any(|found| found == *verdict)
    };
    let worst = Verdict::ALL.into_iter().rfind(is_told);
    let verdict = worst.unwrap_or(Verdict::Interrupted);
    let judgement = runs.first().and_then(|run| results.judgement(run));
    let offered = |runs: &[&Run]| {
        let sum: f64 = runs.iter().map(|run| run.summary.load.offered).sum();
        sum / runs.len() as f64
    };
    let x = match across {
        Across::Offered => {
            let counted: Vec<&Run> = counted(&runs).collect();
            offered(if counted.is_empty() { &runs } else { &counted })
        }
        Across::Setting { path, .. } => plans[numbers[0]]
            .get(path)
            .and_then(|text| quantity(text))
            .map_or(f64::NAN, |(value, _)| value),
    };
    let places: BTreeSet<Place> = runs
        .iter()
        .filter_map(|run| results.places.of(&run.path))
        .collect();
    let failed = results.failed.iter().filter_map(|failed| failed.place);
    Point {
        failed: failed.filter(|place| places.contains(place)).count(),
        x,
        runs,
        verdict,
        judgement,
    }
}

/// Key paths whose values differ between plans.
fn varying(plans: &[Settings]) -> Vec<&str> {
    let paths: BTreeSet<&str> = plans
        .iter()
        .flat_map(|plan| plan.keys().map(String::as_str))
        .collect();
    let differs = |path: &&str| {
        let mut values = plans.iter().map(|plan| plan.get(*path));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    paths.into_iter().filter(differs).collect()
}

/// Loads where any differs; else the only number that differs; else loads.
fn across(plans: &[Settings], varying: &[&str]) -> Across {
    if varying.iter().any(|path| is_load(path)) {
        return Across::Offered;
    }
    let numbers = varying.iter().filter_map(|path| {
        let values = plans.iter().map(|plan| quantity(plan.get(*path)?));
        let values: Vec<(f64, String)> = values.collect::<Option<_>>()?;
        let unit = values.first()?.1.clone();
        values
            .iter()
            .all(|value| value.1 == unit)
            .then(|| Across::Setting {
                path: (*path).to_owned(),
                unit,
            })
    });
    let numbers: Vec<Across> = numbers.collect();
    match <[Across; 1]>::try_from(numbers) {
        Ok([only]) => only,
        Err(_) => Across::Offered,
    }
}

/// `(16, "flits")` of `16 flits`.
fn quantity(text: &str) -> Option<(f64, String)> {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    Some((number.parse().ok()?, unit.to_owned()))
}
