//! Where the values of axes are written: what is said of points names file, line and key path.

use super::StudyError;
use crate::scenario::sections::sweep::Axis;
use crate::scenario::syntax::{At, Mistake};
use crate::scenario::{Document, ScenarioError};

/// Key path and value of an axis at a point.
pub(super) type Pair<'a> = (&'a str, &'a str);

/// The axes of a scenario, as they are written.
#[derive(Debug)]
pub(super) struct Written<'a> {
    document: &'a Document,
    axes: Vec<Axis>,
}

impl<'a> Written<'a> {
    /// The axes of a scenario, in groups that advance together.
    pub(super) fn new(document: &'a Document, groups: &[Vec<Axis>]) -> Self {
        let axes = groups.concat();
        Self { document, axes }
    }

    /// Where a value is written; `None` for one that is of no axis, such as a load that a search varies.
    fn find(&self, (path, value): Pair<'_>) -> Option<&At<String>> {
        let axis = self.axes.iter().find(|axis| axis.path.value == path)?;
        axis.values.iter().find(|written| written.value == value)
    }

    /// An error of a point: about one of its values, at the place in a file where that is written; else as it is.
    pub(super) fn located(&self, error: ScenarioError, point: &[Pair<'_>]) -> ScenarioError {
        let is_meant = |(path, value): &&Pair<'_>| error.place == Document::assignment(path, value);
        let value = point.iter().find(is_meant);
        let written = value.and_then(|value| self.find(*value));
        match written.filter(|written| !written.place.is_override()) {
            Some(written) => ScenarioError {
                place: self.document.locate(written.place),
                ..error
            },
            None => error,
        }
    }

    /// The error to show for a mistake in the scenario.
    pub(super) fn mistake(&self, mistake: Mistake) -> StudyError {
        self.document.error(mistake).into()
    }

    /// What is wrong with a point, at the last of its values.
    pub(super) fn error(&self, point: &[Pair<'_>], message: String) -> StudyError {
        match point.iter().rev().find_map(|value| self.find(*value)) {
            Some(written) => self.mistake(written.mistake(message)),
            None => StudyError::Design(message),
        }
    }

    /// The refusal of two points, by their numbers, that are the same run: which of their values make no difference.
    pub(super) fn same_run(&self, numbers: [usize; 2], points: [&[Pair<'_>]; 2]) -> StudyError {
        let [first, second] = numbers.map(|number| number + 1);
        let [a, b] = points;
        let (a, b) = (differing(a, b), differing(b, a));
        let message = format!(
            "points {first} and {second} of the sweep are the same run: `{}` and `{}` make no difference, expected each run once",
            words(&a),
            words(&b)
        );
        self.error(&b, message)
    }
}

/// The values of a point that are others at another one.
fn differing<'a>(own: &[Pair<'a>], other: &[Pair<'_>]) -> Vec<Pair<'a>> {
    let pairs = own.iter().zip(other);
    let differing = pairs.filter(|(own, other)| own != other);
    differing.map(|(own, _)| *own).collect()
}

fn words(values: &[Pair<'_>]) -> String {
    let values = values.iter();
    let words: Vec<String> = values
        .map(|(path, value)| format!("{path} = {value}"))
        .collect();
    words.join(", ")
}
