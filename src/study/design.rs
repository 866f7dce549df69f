//! Points and runs of a sweep: every combination of axes, times seeds.

use super::StudyError;
use crate::scenario::sections::sweep::Axis;
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
            return Err(StudyError::Design(
                "the scenario has no section `sweep`, such as \
                 `sweep: (axes: [(\"traffic.0.process.load\", [0.1, 0.5])], seeds: 4)`"
                    .into(),
            ));
        };
        let (axes, points) = points(&sweep.axes, u64::from(sweep.seeds))?;
        let mut design = Self {
            axes,
            points,
            runs: Vec::new(),
        };
        design.add_runs(document, scenario.seed, sweep.seeds)?;
        Ok(design)
    }

    fn add_runs(&mut self, document: &Document, first: u64, seeds: u32) -> Result<(), StudyError> {
        // files are the same for most points; those that name others are read again
        let mut points = BTreeMap::new();
        let document = &self.bare(document);
        for point in 0..self.points.len() {
            for number in 0..u64::from(seeds) {
                let seed = first.wrapping_add(number);
                let identity = self.document(document, point, seed)?.identity();
                if let Some(other) = points.insert(identity.clone(), point) {
                    let message = format!(
                        "points {} and {} of the sweep are the same run",
                        other + 1,
                        point + 1
                    );
                    return Err(StudyError::Design(message));
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

    /// A point for people: `traffic.0.process.load = 0.5, fabric.switch.lanes = 2`.
    pub fn describe(&self, point: usize) -> String {
        self.points[point].describe(&self.axes)
    }
}

impl Point {
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

/// Headings and points of axes, the last of which changes fastest, for `seeds` runs each.
///
/// # Errors
/// When there are too many runs.
pub(super) fn points(
    groups: &[Vec<Axis>],
    seeds: u64,
) -> Result<(Vec<AxisHeader>, Vec<Point>), StudyError> {
    let counts = groups.iter().map(|group| group[0].values.len() as u64);
    let runs = counts.fold(seeds, u64::saturating_mul);
    if runs > MOST_RUNS {
        let message = format!("the sweep asks for {runs} runs, at most {MOST_RUNS} are possible");
        return Err(StudyError::Design(message));
    }
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
    Ok((headers, points.collect()))
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
mod tests {
    use super::*;

    fn sweep(sweep: &str) -> Result<Design, StudyError> {
        let mut document = Document::embedded();
        document.assign("sweep", sweep)?;
        Design::new(&document)
    }

    #[test]
    fn axes_are_combined_and_zipped_axes_advance_together() {
        let design = sweep(
            "(axes: [(\"traffic.0.process.load\", [0.1, 0.2]), Zip([(\"fabric.topology\", \
             [KAryNTree(k: 2, n: 2), Mesh(radix: [3, 3])]), (\"routing\", [FatTree(), \
             DimensionOrder()])]), (\"traffic.0.size\", [\"64 B\", \"128 B\"])], seeds: 2)",
        )
        .unwrap();
        let headers: Vec<_> = design
            .axes
            .iter()
            .map(|axis| axis.unit.as_deref())
            .collect();
        assert_eq!(
            headers,
            [Some("fraction of link rate"), None, None, Some("B")]
        );
        let cells: Vec<_> = design
            .points
            .iter()
            .map(|point| point.cells.join("|"))
            .collect();
        assert_eq!(cells.len(), 8);
        assert_eq!(
            cells[..3],
            [
                "0.1|KAryNTree(k: 2, n: 2)|FatTree()|64",
                "0.1|KAryNTree(k: 2, n: 2)|FatTree()|128",
                "0.1|Mesh(radix: [3, 3])|DimensionOrder()|64",
            ]
        );
        assert_eq!(design.runs.len(), 16);
        let seeds: Vec<_> = design
            .runs
            .iter()
            .map(|run| (run.point, run.seed))
            .collect();
        assert_eq!(seeds[..3], [(0, 1), (0, 2), (1, 1)]);
        let name = &design.runs[0].name;
        assert!(
            name.starts_with("0.1_KAryNTree-k-2-n-2-_FatTree-_64_seed1_"),
            "{name}"
        );
    }

    #[test]
    fn no_axis_is_one_point() {
        let design = sweep("(axes: [], seeds: 3)").unwrap();
        assert_eq!((design.points.len(), design.runs.len()), (1, 3));
        assert!(design.runs[2].name.starts_with("seed3_"));
    }

    #[test]
    fn senseless_sweeps_are_refused() {
        for (text, message) in [
            ("(axes: [(\"seed\", [1])])", "cannot be an axis"),
            ("(axes: [(\"sweep.seeds\", [1])])", "cannot be an axis"),
            (
                "(axes: [(\"fabric.switch.lanes\", [4]), (\"fabric.switch.lanes\", [4])])",
                "already an axis",
            ),
            (
                "(axes: [Zip([(\"fabric.switch.lanes\", [4]), (\"traffic.0.sl\", [0, 1])])])",
                "advance together",
            ),
            ("(axes: [Zip([])])", "at least one axis"),
            (
                "(axes: [(\"fabric.switch.lanes\", [4, 4])])",
                "stands here twice",
            ),
            (
                "(axes: [(\"traffic.0.process\", [Bernoulli(load: 0.1), Bernoulli(load: 0.2)]), \
                 (\"traffic.0.process.load\", [0.3, 0.4])])",
                "are the same run",
            ),
            ("(axes: [], seeds: 1000001)", "1000001 runs"),
            ("None", "no section `sweep`"),
        ] {
            let error = sweep(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn units_of_a_kind_go_to_the_header() {
        let design = sweep("(axes: [(\"traffic.0.size\", [\"64 B\", \"1 KiB\"])])").unwrap();
        assert_eq!(design.axes[0].unit, None);
        assert_eq!(design.points[1].cells, ["1 KiB"]);
    }
}
