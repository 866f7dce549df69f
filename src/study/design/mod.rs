//! Points and runs of a sweep: every combination of axes, times seeds.

use super::StudyError;
use super::axes::{Pair, Written};
use crate::scenario::sections::Sweep;
use crate::scenario::sections::sweep::Axis;
use crate::scenario::syntax::{At, Mistake, Place};
use crate::scenario::{Document, ScenarioError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Most runs of a study: far beyond what a cluster runs in a year.
const MOST_RUNS: u64 = 1_000_000;
/// Longest readable part of a run's name \[bytes\].
const LONGEST_NAME: usize = 60;

/// What is run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// Axes, in the order of the scenario.
    pub axes: Vec<AxisHeader>,
    /// Points; the last axis changes fastest.
    pub points: Vec<Point>,
    /// Runs in order of point, then seed.
    pub runs: Vec<RunKey>,
}

/// Heading of an axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisHeader {
    /// Key path.
    pub path: String,
    /// Unit of the cells; `None` when they have none or name it themselves.
    pub unit: Option<String>,
}

/// One combination of values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Values as in the scenario, `[axis]`.
    pub values: Vec<String>,
    /// Values as in tables, `[axis]`.
    pub cells: Vec<String>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunKey {
    /// Number of its point.
    pub point: usize,
    /// Its seed.
    pub seed: u64,
    /// What it is known by; see [`Document::identity`].
    pub identity: String,
    /// Name of its directory: values and seed for people, the start of the identity for uniqueness.
    pub name: String,
}

impl Design {
    /// The runs that the section `sweep` of a scenario asks for.
    ///
    /// # Errors
    /// When there is no such section, a value does not fit, or two runs are the same.
    pub fn new(document: &Document) -> Result<Self, StudyError> {
        let scenario = document.scenario()?;
        let Some(sweep) = &scenario.sweep else {
            let message = "the scenario has no section `sweep`, such as \
                           `sweep: (axes: [(\"traffic.0.process.load\", [0.1, 0.5])], seeds: 4)`";
            let mistake = Mistake::new(Place::default(), "", message);
            return Err(document.error(mistake).into());
        };
        require_few(document, &sweep.axes, Some(&sweep.seeds))?;
        document.require_seeds(scenario.seed, &sweep.seeds)?;
        let (axes, points) = points(&sweep.axes);
        let mut design = Self {
            axes,
            points,
            runs: Vec::new(),
        };
        design.add_runs(document, scenario.seed, sweep)?;
        Ok(design)
    }

    fn add_runs(
        &mut self,
        document: &Document,
        first: u64,
        sweep: &Sweep,
    ) -> Result<(), StudyError> {
        let written = Written::new(document, &sweep.axes);
        // files are the same for most points; those that name others are read again
        let (mut identities, mut senses) = (BTreeMap::new(), BTreeMap::new());
        let document = &self.bare(document);
        for point in 0..self.points.len() {
            for number in 0..u64::from(sweep.seeds.value) {
                let seed = first + number;
                let run = self.document(document, point, seed);
                let run = run.map_err(|error| written.located(error, &self.pairs(point)))?;
                let identity = run.identity();
                let same = identities.insert(identity.clone(), point);
                // the seeds of all points are the same: with the first of them it shows
                let alike = (number == 0).then(|| senses.insert(run.sense(), point));
                if let Some(other) = same.or(alike.flatten()) {
                    let pairs = [other, point].map(|point| self.pairs(point));
                    let [other_pairs, own_pairs] = &pairs;
                    return Err(written.same_run([other, point], [other_pairs, own_pairs]));
                }
                let name = run_name(&self.points[point].cells, seed, &identity);
                self.runs.push(RunKey {
                    point,
                    seed,
                    identity,
                    name,
                });
            }
        }
        Ok(())
    }

    /// The scenario without the long sections about runs, unless an axis changes something there.
    pub(super) fn bare(&self, document: &Document) -> Document {
        if self.axes.iter().any(|axis| axis.path.starts_with("expect")) {
            document.clone()
        } else {
            document.bare()
        }
    }

    /// The scenario of one run.
    ///
    /// # Errors
    /// When a value does not fit the scenario.
    pub fn document(
        &self,
        document: &Document,
        point: usize,
        seed: u64,
    ) -> Result<Document, ScenarioError> {
        let mut document = document.clone().into_point();
        self.points[point].assign(&self.axes, &mut document)?;
        document.assign("seed", &seed.to_string())?;
        Ok(document)
    }

    /// Numbers of the runs of a point.
    pub fn runs_of(&self, point: usize) -> Range<usize> {
        // runs are in order of point
        let before = |point| self.runs.partition_point(|key| key.point < point);
        before(point)..before(point + 1)
    }

    /// Key paths and values of a point.
    pub(super) fn pairs(&self, point: usize) -> Vec<Pair<'_>> {
        self.points[point].pairs(&self.axes)
    }

    /// A point for people: `traffic.0.process.load = 0.5, fabric.switch.lanes = 2`.
    pub fn describe(&self, point: usize) -> String {
        self.points[point].describe(&self.axes)
    }
}

impl Point {
    /// Key paths and values.
    pub(super) fn pairs<'a>(&'a self, axes: &'a [AxisHeader]) -> Vec<Pair<'a>> {
        let paths = axes.iter().map(|axis| axis.path.as_str());
        paths.zip(self.values.iter().map(String::as_str)).collect()
    }

    /// Changes a scenario to this point.
    pub(super) fn assign(
        &self,
        axes: &[AxisHeader],
        document: &mut Document,
    ) -> Result<(), ScenarioError> {
        for (axis, value) in axes.iter().zip(&self.values) {
            document.assign(&axis.path, value)?;
        }
        Ok(())
    }

    /// The point for people.
    pub(super) fn describe(&self, axes: &[AxisHeader]) -> String {
        let values = axes.iter().zip(&self.values);
        let words: Vec<_> = values
            .map(|(axis, value)| format!("{} = {value}", axis.path))
            .collect();
        words.join(", ")
    }
}

/// Refuses more runs than anybody makes: points of these axes, with so many seeds each.
///
/// # Errors
/// Where most of them come from.
pub(super) fn require_few(
    document: &Document,
    groups: &[Vec<Axis>],
    seeds: Option<&At<u32>>,
) -> Result<(), ScenarioError> {
    let counts = groups.iter().map(|group| group[0].values.len() as u64);
    let points = counts.fold(1, u64::saturating_mul);
    let each = seeds.map_or(1, |seeds| u64::from(seeds.value));
    let runs = points.saturating_mul(each);
    if runs <= MOST_RUNS {
        return Ok(());
    }
    let message = format!(
        "the sweep asks for {runs} runs, {points} points with {each} seeds each: at most {MOST_RUNS} are possible"
    );
    let longest = groups.iter().max_by_key(|group| group[0].values.len());
    let mistake = match (longest, seeds) {
        (Some(group), seeds) if seeds.is_none() || points > each => group[0].path.mistake(message),
        (_, Some(seeds)) => seeds.mistake(message),
        (_, None) => return Ok(()),
    };
    Err(document.error(mistake))
}

/// Headings and points of axes, the last of which changes fastest.
pub(super) fn points(groups: &[Vec<Axis>]) -> (Vec<AxisHeader>, Vec<Point>) {
    let axes: Vec<&Axis> = groups.iter().flatten().collect();
    let (headers, cells): (Vec<_>, Vec<_>) = axes.iter().map(|axis| header(axis)).unzip();
    let choices = combinations(groups);
    let points = choices.iter().map(|choice| Point {
        values: values(&axes, choice),
        cells: cells
            .iter()
            .zip(choice)
            .map(|(cells, &at)| cells[at].clone())
            .collect(),
    });
    (headers, points.collect())
}

/// Index of the value of every axis, for every point.
fn combinations(groups: &[Vec<Axis>]) -> Vec<Vec<usize>> {
    groups.iter().fold(vec![Vec::new()], |points, group| {
        let extend = |point: &Vec<usize>| {
            let choices = 0..group[0].values.len();
            let point = point.clone();
            choices.map(move |at| [&point[..], &vec![at; group.len()]].concat())
        };
        points.iter().flat_map(extend).collect()
    })
}

fn values(axes: &[&Axis], choice: &[usize]) -> Vec<String> {
    let pairs = axes.iter().zip(choice);
    pairs
        .map(|(axis, &at)| axis.values[at].value.clone())
        .collect()
}

/// Heading and cells of an axis: a unit that all values share stands in the heading.
fn header(axis: &Axis) -> (AxisHeader, Vec<String>) {
    let path = axis.path.value.clone();
    let bare = |text: &str| text.trim_matches('"').to_owned();
    let texts: Vec<String> = axis.values.iter().map(|value| bare(&value.value)).collect();
    let quantity = |text: &String| {
        let (number, unit) = text.split_once(' ')?;
        number.parse::<f64>().ok()?;
        Some((number.to_owned(), unit.to_owned()))
    };
    let quantities: Option<Vec<_>> = texts.iter().map(quantity).collect();
    if let Some(quantities) = quantities
        && quantities.iter().all(|(_, unit)| *unit == quantities[0].1)
    {
        let unit = Some(quantities[0].1.clone());
        let numbers = quantities.into_iter().map(|(number, _)| number).collect();
        return (AxisHeader { path, unit }, numbers);
    }
    let is_load = path.rsplit('.').next() == Some("load");
    let unit = is_load.then(|| "fraction of link rate".to_owned());
    (AxisHeader { path, unit }, texts)
}

/// Values and seed as a file name, with the start of the identity.
pub(super) fn run_name(cells: &[String], seed: u64, identity: &str) -> String {
    let mut name = String::new();
    for c in cells.join("_").chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '.' || c == '_' => name.push(c),
            _ if name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    name.truncate(LONGEST_NAME);
    let name = name.trim_matches(['-', '.', '_']);
    let separator = if name.is_empty() { "" } else { "_" };
    format!("{name}{separator}seed{seed}_{}", &identity[..8])
}

#[cfg(test)]
mod tests;
