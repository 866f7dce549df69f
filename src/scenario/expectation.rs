//! Section `expect`: claims about the results, which make a scenario its own test.
//!
//! In a run a claim is about one value of its summary. In a sweep it is about the points it selects: the values of
//! the seeds of a point give one value, the points give one value, and that may be taken as a ratio to the same of
//! other points: "LASH accepts 1.2 times what turn prohibition accepts".

pub use super::sections::Expectation;

use crate::measure::precision::{CONFIDENCE, replications};

use super::syntax::At;

/// Points of a sweep: key paths of axes, each with the value it must have.
pub type Selection = Vec<(At<String>, At<String>)>;

/// How several values become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Each must be as expected; the one that is farthest from it is shown.
    Each,
    /// Their mean.
    Mean,
    /// Their geometric mean; of ratios, that of the inverse is the inverse, and no single one decides it.
    Geometric,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The lower end of the confidence interval of their mean, at least two of them: an order holds outside of it.
    Lower,
    /// The upper end.
    Upper,
}

/// How a result relates to the expected value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Equal within the tolerance.
    Equals,
    /// Not below it by more than the tolerance.
    AtLeast,
    /// Not above it by more than the tolerance.
    AtMost,
}

/// Deviation from an expected value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// In the unit of the metric.
    Absolute(f64),
    /// Fraction of the expected value.
    Relative(f64),
}

impl Expectation {
    /// Whether `result` is as expected.
    pub fn holds(&self, result: f64) -> bool {
        self.excess(result) <= self.slack()
    }

    /// How far `result` lies on the wrong side of the expected value; negative on the right side.
    fn excess(&self, result: f64) -> f64 {
        match self.relation {
            Relation::Equals => (result - self.value).abs(),
            Relation::AtLeast => self.value - result,
            Relation::AtMost => result - self.value,
        }
    }

    fn slack(&self) -> f64 {
        match self.tolerance {
            Tolerance::Absolute(slack) => slack,
            Tolerance::Relative(fraction) => fraction * self.value.abs(),
        }
    }

    /// The same claim about the middle of the interval, of one about an end of it: sources print means.
    pub fn of_middle(&self) -> Option<Self> {
        let is_end = matches!(self.seeds, Fold::Lower | Fold::Upper);
        let middle = if self.over.is_some() {
            Fold::Geometric
        } else {
            Fold::Mean
        };
        is_end.then(|| Self {
            seeds: middle,
            ..self.clone()
        })
    }

    /// One value of several; `None` when there are none, or when one is no number (0 of 0): the others must not hide it.
    pub fn fold(&self, how: Fold, values: &[f64]) -> Option<f64> {
        if values.iter().any(|value| value.is_nan()) {
            return None;
        }
        let mean = |values: &[f64]| replications(values, CONFIDENCE).map(|found| found.mean);
        let interval = || {
            let found = replications(values, CONFIDENCE)?;
            Some((found.mean, found.half_width?))
        };
        let each = values.iter().copied();
        match how {
            Fold::Each => each.max_by(|a, b| self.excess(*a).total_cmp(&self.excess(*b))),
            Fold::Mean => mean(values),
            // of a negative one there is none
            Fold::Geometric => mean(&each.map(f64::ln).collect::<Vec<_>>())
                .map(f64::exp)
                .filter(|mean| !mean.is_nan()),
            Fold::Max => each.reduce(f64::max),
            Fold::Min => each.reduce(f64::min),
            Fold::Lower => interval().map(|(mean, half)| mean - half),
            Fold::Upper => interval().map(|(mean, half)| mean + half),
        }
    }

    /// Whether a point of a sweep, by its axes and values, is one of those that the claim selects or divides by.
    pub fn is_about(&self, point: &[(&str, &str)]) -> bool {
        let has = |selection: &Selection| {
            let mut selected = selection.iter();
            selected.all(|(path, value)| point.contains(&(&*path.value, &*value.value)))
        };
        has(&self.at) || self.over.as_ref().is_some_and(has)
    }

    /// Whether the claim is about the points of a sweep, and not about every single run.
    pub fn is_of_sweep(&self) -> bool {
        !self.at.is_empty()
            || self.over.is_some()
            || self.points != Fold::Each
            || self.seeds != Fold::Mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Document;

    fn expectation(text: &str) -> Result<Expectation, String> {
        let mut document = Document::embedded();
        let wrong = |error: crate::scenario::ScenarioError| error.to_string();
        document
            .assign(
                "sweep",
                "(axes: [(\"traffic.0.process.load\", [0.1, 0.5]), (\"fabric.switch.lanes\", [2, 4])])",
            )
            .map_err(wrong)?;
        let text = format!("[(metric: \"load.accepted\", {text})]");
        document.assign("expect", &text).map_err(wrong)?;
        let mut scenario = document.scenario().map_err(wrong)?;
        Ok(scenario.expect.remove(0))
    }

    #[test]
    fn points_that_no_axis_has_are_refused() {
        let error = |text: &str| expectation(text).unwrap_err();
        let rest = "relation: AtLeast, value: 0.5";
        let message = error(&format!("at: [(\"fabric.switch.lane\", 2)], {rest}"));
        assert!(
            message.contains("did you mean `fabric.switch.lanes`?"),
            "{message}"
        );
        let message = error(&format!("over: [(\"fabric.switch.lanes\", 3)], {rest}"));
        assert!(message.contains("has no value 3: 2, 4"), "{message}");
        let message = error(&format!("seeds: Largest, {rest}"));
        assert!(message.contains("Max"), "{message}");
        let found = expectation(&format!(
            "at: [(\"fabric.switch.lanes\", 2)], points: Max, {rest}"
        ));
        let at = found.unwrap().at;
        let at: Vec<_> = at
            .iter()
            .map(|(path, value)| (&*path.value, &*value.value))
            .collect();
        assert_eq!(at, [("fabric.switch.lanes", "2")]);
    }

    #[test]
    fn a_tolerance_is_not_negative() {
        let rest = "relation: AtLeast, value: 0.5";
        for tolerance in ["-1", "Relative(-0.1)", "NaN", "\"0.1\"", "Relative"] {
            let message = expectation(&format!("tolerance: {tolerance}, {rest}")).unwrap_err();
            let place = "expect[0].tolerance";
            assert!(message.contains(place), "{tolerance}: {message}");
            assert!(message.contains("such as"), "{tolerance}: {message}");
        }
        for tolerance in ["0", "1e-3", "Relative(0)", "Relative(2.5)"] {
            let found = expectation(&format!("tolerance: {tolerance}, {rest}"));
            assert!(found.is_ok(), "{tolerance}: {found:?}");
        }
    }

    #[test]
    fn a_claim_is_about_the_points_it_selects_and_divides_by() {
        let points = [("2", "0.1"), ("2", "0.5"), ("4", "0.1"), ("4", "0.5")];
        let about = |text: &str| -> Vec<bool> {
            let claim = expectation(&format!("{text}relation: AtLeast, value: 0")).unwrap();
            let is_about = |(lanes, load): &(&str, &str)| {
                claim.is_about(&[
                    ("traffic.0.process.load", *load),
                    ("fabric.switch.lanes", *lanes),
                ])
            };
            points.iter().map(is_about).collect()
        };
        let lanes = |lanes: u32| format!("[(\"fabric.switch.lanes\", {lanes})]");
        assert_eq!(about(""), [true; 4]);
        assert_eq!(
            about(&format!("at: {}, ", lanes(4))),
            [false, false, true, true]
        );
        assert_eq!(
            about(&format!("at: {}, over: {}, ", lanes(4), lanes(2))),
            [true; 4]
        );
    }

    /// s = 1, t(2 degrees of freedom, 97.5 %) = 4.3027.
    #[test]
    fn the_ends_of_the_interval_are_told_of_two_values_or_more() {
        let order = expectation("seeds: Lower, relation: AtLeast, value: 1").unwrap();
        let fold = |how, values: &[f64]| order.fold(how, values);
        let half = 4.302_653 / 3.0_f64.sqrt();
        let values = [1.0, 2.0, 3.0];
        assert!((fold(Fold::Lower, &values).unwrap() - (2.0 - half)).abs() < 1e-6);
        assert!((fold(Fold::Upper, &values).unwrap() - (2.0 + half)).abs() < 1e-6);
        assert_eq!(fold(Fold::Lower, &[2.0]), None);
    }

    #[test]
    fn the_worst_of_each_is_shown() {
        let each = |text: &str| {
            let expectation = expectation(text).unwrap();
            expectation.fold(Fold::Each, &[0.2, 0.9, 0.5]).unwrap()
        };
        assert_eq!(
            each("relation: AtLeast, value: 0.5").to_bits(),
            0.2_f64.to_bits()
        );
        assert_eq!(
            each("relation: AtMost, value: 0.5").to_bits(),
            0.9_f64.to_bits()
        );
        assert_eq!(
            each("relation: Equals, value: 0.4").to_bits(),
            0.9_f64.to_bits()
        );
    }
}
