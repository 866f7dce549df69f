//! Runs of a study that cannot be simulated, told once per reason: how many, and which values of the axes.

use super::Design;
use std::collections::BTreeSet;

/// Points told one by one, at most, where no values of axes tell them.
const MOST_POINTS: usize = 6;

/// Runs with one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Why the first of them cannot be simulated.
    pub reason: String,
    /// How many there are.
    pub runs: usize,
    /// Their points, ascending.
    pub points: Vec<usize>,
}

impl Trouble {
    /// Puts runs (point and reason) together, in order of their first. Reasons are the same when their first lines are, but
    /// for numbers: names of switches and hosts differ from seed to seed.
    pub fn by_reason(failed: impl IntoIterator<Item = (usize, String)>) -> Vec<Self> {
        let mut found: Vec<(String, Self)> = Vec::new();
        for (point, reason) in failed {
            let key = kind(&reason);
            let known = found.iter().position(|(other, _)| *other == key);
            let at = known.unwrap_or_else(|| {
                let trouble = Self {
                    reason,
                    runs: 0,
                    points: Vec::new(),
                };
                found.push((key, trouble));
                found.len() - 1
            });
            let trouble = &mut found[at].1;
            trouble.runs += 1;
            if let Err(place) = trouble.points.binary_search(&point) {
                trouble.points.insert(place, point);
            }
        }
        found.into_iter().map(|(_, trouble)| trouble).collect()
    }

    /// `20 runs (10 points), routing = Valiant()`.
    pub fn place(&self, design: &Design) -> String {
        let (runs, points) = (count(self.runs, "run"), count(self.points.len(), "point"));
        let mut text = if self.runs == self.points.len() {
            runs
        } else {
            format!("{runs} ({points})")
        };
        let values = values(design, &self.points);
        if !values.is_empty() {
            text = format!("{text}, {values}");
        }
        text
    }
}

/// The reason without what differs between runs of the same kind.
fn kind(reason: &str) -> String {
    let line = reason.lines().next().unwrap_or_default();
    let mut kind = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            c if !c.is_ascii_digit() => kind.push(c),
            _ if kind.ends_with('#') => {}
            _ => kind.push('#'),
        }
    }
    kind
}

/// Which values of the axes these points have: of the axes that do not have all of theirs, where that tells them; else the
/// points one by one.
fn values(design: &Design, points: &[usize]) -> String {
    let of = |points: &mut dyn Iterator<Item = usize>, axis: usize| -> BTreeSet<&str> {
        points
            .map(|point| design.points[point].cells[axis].as_str())
            .collect()
    };
    let axes = design.axes.iter().enumerate();
    let told: Vec<(usize, BTreeSet<&str>)> = axes
        .map(|(axis, _)| (axis, of(&mut points.iter().copied(), axis)))
        .filter(|(axis, some)| *some != of(&mut (0..design.points.len()), *axis))
        .collect();
    let is_meant = |point: &super::design::Point| {
        let mut told = told.iter();
        told.all(|(axis, some)| some.contains(point.cells[*axis].as_str()))
    };
    if design.points.iter().filter(|point| is_meant(point)).count() == points.len() {
        let words = told.iter().map(|(axis, _)| {
            let header = &design.axes[*axis];
            // in the order of the axis
            let mut some: Vec<&str> = Vec::new();
            for point in points {
                let cell = design.points[*point].cells[*axis].as_str();
                if !some.contains(&cell) {
                    some.push(cell);
                }
            }
            let unit = header.unit.as_deref().filter(|unit| !unit.contains(' '));
            let unit = unit.map_or(String::new(), |unit| format!(" {unit}"));
            format!("{} = {}{unit}", header.path, some.join(" | "))
        });
        return words.collect::<Vec<_>>().join(", ");
    }
    let shown = points.iter().take(MOST_POINTS);
    let mut words: Vec<String> = shown
        .map(|point| format!("point {} ({})", point + 1, design.describe(*point)))
        .collect();
    if let Some(more @ 1..) = points.len().checked_sub(MOST_POINTS) {
        words.push(format!("and {more} more"));
    }
    words.join("; ")
}

/// A number with its noun.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Document;

    fn design(axes: &str) -> Design {
        let mut document = Document::embedded();
        document
            .assign("sweep", &format!("(axes: [{axes}], seeds: 2)"))
            .unwrap();
        Design::new(&document).unwrap()
    }

    fn told(design: &Design, failed: &[(usize, &str)]) -> Vec<(String, String)> {
        let failed = failed.iter();
        let found =
            Trouble::by_reason(failed.map(|(point, reason)| (*point, (*reason).to_owned())));
        let told = found.into_iter();
        told.map(|trouble| (trouble.place(design), trouble.reason))
            .collect()
    }

    #[test]
    fn one_reason_is_told_once_with_the_values_that_have_it() {
        let design = design(
            "(\"routing\", [FatTree(), UpDown(), DimensionOrder()]), (\"traffic.0.process.load\", [0.1, 0.2])",
        );
        let no_grid = "routing: it is no grid";
        let all = [
            (2, "no path from S3 to H17\nmore"),
            (3, "no path from S4 to H1"),
            (4, no_grid),
            (4, no_grid),
            (5, no_grid),
            (5, no_grid),
        ];
        let found = told(&design, &all);
        assert_eq!(
            found,
            [
                (
                    "2 runs, routing = UpDown()".to_owned(),
                    "no path from S3 to H17\nmore".to_owned()
                ),
                (
                    "4 runs (2 points), routing = DimensionOrder()".to_owned(),
                    no_grid.to_owned()
                ),
            ]
        );
        let two = [(0, "a"), (1, "a"), (4, "a"), (5, "a")];
        assert_eq!(
            told(&design, &two)[0].0,
            "4 runs, routing = FatTree() | DimensionOrder()"
        );
        let all: Vec<(usize, &str)> = (0..6).map(|point| (point, "a")).collect();
        assert_eq!(told(&design, &all)[0].0, "6 runs");
    }

    #[test]
    fn points_that_no_values_tell_are_told_one_by_one() {
        let design = design(
            "(\"fabric.switch.lanes\", [1, 2, 3, 4]), (\"traffic.0.process.load\", [0.1, 0.2])",
        );
        let corner = [(0, "a"), (3, "a")];
        assert_eq!(
            told(&design, &corner)[0].0,
            "2 runs, point 1 (fabric.switch.lanes = 1, traffic.0.process.load = 0.1); point 4 (fabric.switch.lanes = 2, \
             traffic.0.process.load = 0.2)"
        );
        let many: Vec<(usize, &str)> = (0..7).map(|point| (point, "a")).collect();
        assert!(told(&design, &many)[0].0.ends_with("; and 1 more"));
    }
}
