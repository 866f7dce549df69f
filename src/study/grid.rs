//! What is searched: the points of a sweep's axes, but for the loads that the search varies itself.

use super::StudyError;
use super::axes::Written;
use super::design::{self, AxisHeader, Design, Point, RunKey};
use crate::scenario::sections::sweep::Axis;
use crate::scenario::syntax::Node;
use crate::scenario::{Document, Scenario, ScenarioError};
use std::collections::BTreeSet;

/// The loads that are varied together.
#[derive(Clone, Debug, PartialEq)]
pub struct Loads {
    /// Key path and share of the largest load.
    pub classes: Vec<(String, f64)>,
}

/// One search.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Values of the axes.
    pub point: Point,
    /// What it varies.
    pub loads: Loads,
}

/// Every search that a scenario asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Axes of the scenario that no search varies.
    pub axes: Vec<AxisHeader>,
    /// Axes whose values are not used: the search varies them.
    pub replaced: Vec<String>,
    /// A search for each point of the axes; one without axes.
    pub places: Vec<Place>,
}

impl Loads {
    /// The load of one class, or of all in their proportion.
    ///
    /// # Errors
    /// When there is no such class, its process has no load, or all that is chosen are flows, which have none of the class.
    fn of(scenario: &Scenario, class: Option<&str>) -> Result<Self, StudyError> {
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
        let (mut classes, mut of_flows) = (Vec::new(), None);
        for class in chosen {
            let name = &class.name.value;
            of_flows = of_flows.or(class.flows.as_ref().map(|_| name));
            // a class without flows has one of the two
            for part in class.process.iter().chain(&class.messages) {
                let load = part.parameter("load").map(Node::to_text);
                let Some(load) = load.and_then(|load| load.parse::<f64>().ok()) else {
                    let part = &part.name.value;
                    let message = format!("`{part}` of class `{name}` has no load to vary");
                    return Err(StudyError::Design(message));
                };
                classes.push((load_of(name), load));
            }
        }
        if let Some(name) = of_flows.filter(|_| classes.is_empty()) {
            let message = format!(
                "class `{name}` has no load to vary: it has `flows`, and what is varied is the load of the `process` of a class"
            );
            return Err(StudyError::Design(message));
        }
        let largest = classes.iter().map(|class| class.1);
        let largest = largest.fold(f64::MIN_POSITIVE, f64::max);
        for class in &mut classes {
            class.1 /= largest;
        }
        Ok(Self { classes })
    }

    /// Whether the load of this class is varied.
    pub fn varies(&self, class: &str) -> bool {
        let path = load_of(class);
        self.classes.iter().any(|(other, _)| *other == path)
    }

    /// Headings of the loads.
    pub fn headers(&self) -> Vec<AxisHeader> {
        let header = |(path, _): &(String, f64)| AxisHeader {
            path: path.clone(),
            unit: Some("fraction of link rate".into()),
        };
        self.classes.iter().map(header).collect()
    }
}

/// Key path of the load of a class.
fn load_of(class: &str) -> String {
    format!("traffic.{class}.process.load")
}

impl Place {
    /// Sets the values of the point with a load.
    ///
    /// # Errors
    /// When a value does not fit its key.
    pub fn assign(
        &self,
        load: f64,
        grid: &Grid,
        document: &mut Document,
    ) -> Result<(), ScenarioError> {
        let axes = [grid.axes.clone(), self.loads.headers()].concat();
        self.at(load).assign(&axes, document)
    }

    /// The place with a load.
    pub fn at(&self, load: f64) -> Point {
        let mut point = self.point.clone();
        for (_, share) in &self.loads.classes {
            let value = (load * share).to_string();
            point.cells.push(value.clone());
            point.values.push(value);
        }
        point
    }
}

impl Grid {
    /// Its points with a load, for runs with each of these seeds: what can be said of them before any search.
    pub fn design(&self, load: f64, seeds: impl Iterator<Item = u64> + Clone) -> Design {
        let loads = self.places.first().map(|place| place.loads.headers());
        let runs = (0..self.places.len()).flat_map(|point| {
            let key = move |seed| RunKey {
                point,
                seed,
                identity: String::new(),
                name: String::new(),
            };
            seeds.clone().map(key)
        });
        Design {
            axes: [self.axes.clone(), loads.unwrap_or_default()].concat(),
            points: self.places.iter().map(|place| place.at(load)).collect(),
            runs: runs.collect(),
        }
    }

    /// The searches over all classes, or one.
    ///
    /// # Errors
    /// When a class or its load is missing at a point, or two points are the same.
    pub fn new(document: &Document, class: Option<&str>) -> Result<Self, StudyError> {
        let scenario = document.scenario()?;
        let mut replaced = Vec::new();
        let sweep = scenario.sweep.iter().flat_map(|sweep| &sweep.axes);
        let mut groups: Vec<Vec<Axis>> = sweep.cloned().collect();
        for group in &mut groups {
            group.retain(|axis| {
                let path = &axis.path.value;
                let is_kept = !is_varied(path, &scenario, class);
                replaced.extend((!is_kept).then(|| path.clone()));
                is_kept
            });
        }
        groups.retain(|group| !group.is_empty());
        design::require_few(document, &groups, None)?;
        let (axes, points) = design::points(&groups);
        let written = Written::new(document, &groups);
        let mut places: Vec<Place> = Vec::new();
        let mut senses = BTreeSet::new();
        for point in points {
            let mut document = document.clone();
            point
                .assign(&axes, &mut document)
                .map_err(|error| written.located(error, &point.pairs(&axes)))?;
            let wrong = |message: &str| at(&written, &axes, &point, message);
            let loads = Loads::of(&document.scenario()?, class)
                .map_err(|cause| wrong(&cause.to_string()))?;
            if let Some(first) = places.first()
                && first.loads.headers() != loads.headers()
            {
                return Err(wrong(
                    "its classes are others than those of the first point of the sweep",
                ));
            }
            if !senses.insert(document.sense()) {
                return Err(wrong("the sweep has this point twice, but for the load"));
            }
            places.push(Place { point, loads });
        }
        Ok(Self {
            axes,
            replaced,
            places,
        })
    }
}

/// Whether a key path is the load of a class that is varied: of `only`, or of any.
fn is_varied(path: &str, scenario: &Scenario, only: Option<&str>) -> bool {
    let class = path
        .strip_prefix("traffic.")
        .and_then(|rest| rest.strip_suffix(".process.load"));
    let Some(class) = class else { return false };
    let names = scenario.traffic.iter().map(|class| &class.name.value);
    let is_named = |(number, name): (usize, &String)| {
        (class == name || class == number.to_string()) && only.is_none_or(|only| only == name)
    };
    names.enumerate().any(is_named)
}

/// An error with its point.
fn at(written: &Written<'_>, axes: &[AxisHeader], point: &Point, message: &str) -> StudyError {
    if axes.is_empty() {
        return StudyError::Design(message.into());
    }
    let message = format!("{}: {message}", point.describe(axes));
    written.error(&point.pairs(axes), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(sweep: &str) -> Result<Grid, StudyError> {
        let mut document = Document::embedded();
        document.assign("sweep", sweep)?;
        Grid::new(&document, None)
    }

    #[test]
    fn every_point_of_the_other_axes_is_searched() {
        let grid = grid(
            "(axes: [(\"traffic.uniform.size\", [\"64 B\", \"128 B\"]), Zip([(\"traffic.uniform.process.load\", [0.3, 0.4, 0.5]), \
             (\"fabric.switch.lanes\", [1, 2, 4])])])",
        )
        .unwrap();
        assert_eq!(grid.replaced, ["traffic.uniform.process.load"]);
        assert_eq!(grid.axes.len(), 2);
        let cells: Vec<_> = grid
            .places
            .iter()
            .map(|place| place.at(0.25).cells.join("|"))
            .collect();
        assert_eq!((cells.len(), cells[0].as_str()), (6, "64|1|0.25"));
    }

    #[test]
    fn points_that_differ_in_the_load_only_are_one() {
        let one = grid("(axes: [(\"traffic.0.process.load\", [0.1, 0.2])])").unwrap();
        assert_eq!((one.places.len(), one.axes.len()), (1, 0));
        let twice = grid(
            "(axes: [Zip([(\"traffic.0.process.load\", [0.1, 0.2]), (\"fabric.switch.lanes\", \
             [4, 4])])])",
        );
        let message = twice.unwrap_err().to_string();
        assert!(
            message.contains("fabric.switch.lanes = 4: the sweep has this point twice"),
            "{message}"
        );
        let spelled = grid(
            "(axes: [Zip([(\"traffic.0.process.load\", [0.1, 0.2]), (\"traffic.0.size\", \
             [\"1 KiB\", \"1024 B\"])])])",
        );
        let message = spelled.unwrap_err().to_string();
        assert!(message.contains("has this point twice"), "{message}");
    }

    #[test]
    fn a_point_without_a_load_is_named() {
        let message =
            grid("(axes: [(\"traffic.0.process\", [Bernoulli(load: 0.1), Saturating()])])")
                .unwrap_err()
                .to_string();
        assert!(
            message.contains("traffic.0.process = Saturating(): `Saturating` of class"),
            "{message}"
        );
    }
}
