//! The claims of a scenario against what was found: a scenario is its own test.

mod fluid;
mod fold;
mod routes;
mod show;
pub mod store;

pub use show::{FILE, MARKDOWN_HEADING, csv, lines, markdown, table, text_last};

use crate::metrics::paths::look_up;
use crate::metrics::routes::RouteValues;
use crate::metrics::{self, Metric};
use crate::scenario::expectation::{Expectation, Fold, Relation, Selection};
use crate::scenario::{Document, Parts, Resolved, Scenario, ScenarioError};
use crate::study::{Design, Table};
use serde_json::Value;
use std::collections::HashMap;

/// A claim with what was found.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The claim.
    pub expectation: Expectation,
    /// The value found; `None` when a run that it needs gave none.
    pub found: Option<f64>,
    /// The middle of the interval that it is an end of, else the value itself: what the source's is compared with.
    pub estimate: Option<f64>,
    /// The confidence interval of a mean over two seeds or more, 95 %.
    pub interval: Option<[f64; 2]>,
    /// Whether the claim holds.
    pub verdict: Verdict,
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds, and the value is the source's.
    Reproduced,
    /// It holds, but says no more than which is larger, or the value is not the source's.
    OrderingOnly,
    /// It does not hold, and the scenario says why.
    Differs,
    /// It does not hold.
    Fails,
}

/// How far a value may be from the published one where the claim's own tolerance is about another value \[fraction\].
const CLOSE: f64 = 0.1;

impl Judgement {
    fn new(expectation: &Expectation, found: Option<f64>, estimate: Option<f64>) -> Self {
        // a ratio to 0 says nothing
        let found = found.filter(|found| found.is_finite());
        let verdict = match found {
            Some(found) if expectation.holds(found) => of_holding(expectation, estimate),
            Some(_) if !expectation.deviation.is_empty() => Verdict::Differs,
            _ => Verdict::Fails,
        };
        Self {
            expectation: expectation.clone(),
            found,
            estimate: estimate.filter(|_| found.is_some()),
            interval: None,
            verdict,
        }
    }
}

/// The verdict of a claim that holds.
fn of_holding(claim: &Expectation, estimate: Option<f64>) -> Verdict {
    let is_close = |published: f64| {
        estimate.is_some_and(|estimate| (estimate - published).abs() <= CLOSE * published.abs())
    };
    let is_reproduced = match claim.published {
        // without a number of the source the expected value is the source's, or there is only an order
        None => claim.relation == Relation::Equals,
        Some(published) => published.total_cmp(&claim.value).is_eq() || is_close(published),
    };
    if is_reproduced {
        Verdict::Reproduced
    } else {
        Verdict::OrderingOnly
    }
}

/// Compares the claims about the flow level, by itself, with the summary of its runs.
pub fn of_flows(scenario: &Scenario, summary: &Value) -> Vec<Judgement> {
    let mut value = |metric: &str| metrics::fluid::value(summary, metric);
    let claims = scenario.expect.iter();
    let own = claims.filter(|claim| !claim.is_of_sweep() && is_fluid(&claim.metric.value));
    own.map(|claim| judge(claim, &mut value)).collect()
}

/// Judges a claim about single runs: its metric, or the ratio of its two, by the values that metrics have.
fn judge(claim: &Expectation, value: &mut impl FnMut(&str) -> Option<f64>) -> Judgement {
    let found = value(&claim.metric.value);
    let found = match &claim.per {
        None => found,
        Some(per) => found.zip(value(&per.value)).map(|(a, b)| a / b),
    };
    Judgement::new(claim, found, found)
}

/// Whether a metric is of the flow level.
fn is_fluid(metric: &str) -> bool {
    metrics::find(metric).is_ok_and(Metric::is_fluid)
}

/// Compares the claims about single runs with the summary of a run; those about the flow level are not for it.
pub fn of_run(resolved: &Resolved, summary: &Value) -> Vec<Judgement> {
    let mut routes = None;
    let claims = resolved.scenario.expect.iter();
    let mut value = |metric: &str| {
        let verdict = summary["run"]["verdict"].as_str().unwrap_or_default();
        let found = metrics::of_verdict(metric, verdict).or_else(|| look_up(summary, metric));
        found.or_else(|| {
            let routes = routes.get_or_insert_with(|| routes::values(resolved));
            routes.get(metric)
        })
    };
    claims
        .filter(|claim| !claim.is_of_sweep() && !is_fluid(&claim.metric.value))
        .map(|claim| judge(claim, &mut value))
        .collect()
}

/// Compares all claims with the runs of a sweep.
///
/// # Errors
/// When a scenario that a claim about routes needs cannot be read.
pub fn of_sweep(
    document: &Document,
    design: &Design,
    table: &Table<'_>,
) -> Result<Vec<Judgement>, ScenarioError> {
    let mut sweep = Sweep {
        document,
        design,
        table,
        routes: HashMap::new(),
        fluid: HashMap::new(),
    };
    let claims = document.scenario()?.expect;
    claims
        .iter()
        .map(|claim| {
            let found = sweep.value(claim)?;
            let estimate = match claim.of_middle() {
                Some(middle) => sweep.value(&middle)?,
                None => found,
            };
            let interval = sweep.interval(claim)?;
            Ok(Judgement {
                interval,
                ..Judgement::new(claim, found, estimate)
            })
        })
        .collect()
}

/// The runs of a sweep and what their routes gave.
struct Sweep<'a> {
    document: &'a Document,
    design: &'a Design,
    table: &'a Table<'a>,
    /// `[run]`
    routes: HashMap<usize, RouteValues>,
    /// Summaries of the flow level, `[run]`; `null` where it is not possible.
    fluid: HashMap<usize, Value>,
}

impl Sweep<'_> {
    /// The confidence interval of a claim about a mean of seeds; of a ratio, that of the ratios seed by seed.
    fn interval(&mut self, claim: &Expectation) -> Result<Option<[f64; 2]>, ScenarioError> {
        if !matches!(claim.seeds, Fold::Mean | Fold::Lower | Fold::Upper) {
            return Ok(None);
        }
        let mut end = |seeds| {
            let claim = Expectation {
                seeds,
                ..claim.clone()
            };
            self.value(&claim)
        };
        let both = end(Fold::Lower)?.zip(end(Fold::Upper)?);
        let ends = both.map(|(least, most)| [least, most]);
        Ok(ends.filter(|ends| ends.iter().all(|end| end.is_finite())))
    }

    /// The value of a claim; `None` when a run is missing or failed.
    fn value(&mut self, claim: &Expectation) -> Result<Option<f64>, ScenarioError> {
        let points = self.select(&claim.at);
        let Some(over) = &claim.over else {
            let values = self.of_points(claim, &points)?;
            return Ok(values.and_then(|values| fold::value(claim, &values)));
        };
        let mut divisors = self.select(over);
        if claim.points == Fold::Each {
            let partner = |&point: &usize| {
                let mut others = divisors.iter();
                others
                    .find(|&&other| self.differ_only_in(point, other, [&claim.at, over]))
                    .copied()
            };
            let Some(partners) = points.iter().map(partner).collect() else {
                return Ok(None);
            };
            divisors = partners;
        }
        let values = self.of_points(claim, &points)?;
        let divisors = self.of_points(claim, &divisors)?;
        let both = values.zip(divisors);
        Ok(both.and_then(|(values, divisors)| fold::ratio(claim, &values, &divisors)))
    }

    /// Points that have the values of a selection.
    fn select(&self, selection: &Selection) -> Vec<usize> {
        let has = |point: &usize| {
            let mut pairs = selection.iter();
            pairs.all(|(path, value)| {
                let axis = self
                    .design
                    .axes
                    .iter()
                    .position(|axis| axis.path == path.value);
                axis.is_some_and(|axis| self.design.points[*point].values[axis] == value.value)
            })
        };
        (0..self.design.points.len()).filter(has).collect()
    }

    /// Whether two points have equal values on all axes that no selection names, nor zips with one it names.
    fn differ_only_in(&self, a: usize, b: usize, selections: [&Selection; 2]) -> bool {
        let mut others = 0..self.design.axes.len();
        let points = &self.design.points;
        others.all(|axis| {
            points[a].values[axis] == points[b].values[axis] || self.is_named(axis, selections)
        })
    }

    /// Whether a selection names an axis, or one whose value decides that of `axis`: they advance together.
    fn is_named(&self, axis: usize, selections: [&Selection; 2]) -> bool {
        let Design {
            axes: headers,
            points,
            ..
        } = self.design;
        let decides = |other: usize| {
            let mut value = HashMap::new();
            points.iter().all(|point| {
                let values = &point.values;
                value.entry(&values[other]).or_insert(&values[axis]) == &&values[axis]
            })
        };
        let mut pairs = selections.into_iter().flatten();
        pairs.any(|(path, _)| {
            let named = headers.iter().position(|header| header.path == path.value);
            named.is_some_and(|named| named == axis || decides(named))
        })
    }

    /// The values of the runs of each point; `None` when one has none.
    fn of_points(
        &mut self,
        claim: &Expectation,
        points: &[usize],
    ) -> Result<Option<Vec<Vec<f64>>>, ScenarioError> {
        let mut values = Vec::with_capacity(points.len());
        for &point in points {
            let Some(mut seeds) = self.of_seeds(point, &claim.metric.value)? else {
                return Ok(None);
            };
            if let Some(per) = &claim.per {
                let Some(divisors) = self.of_seeds(point, &per.value)? else {
                    return Ok(None);
                };
                for (value, divisor) in seeds.iter_mut().zip(divisors) {
                    *value /= divisor;
                }
            }
            values.push(seeds);
        }
        Ok(Some(values))
    }

    /// The values of the runs of a point; `None` when one has none.
    fn of_seeds(&mut self, point: usize, metric: &str) -> Result<Option<Vec<f64>>, ScenarioError> {
        if is_fluid(metric) {
            return self.of_flow_level(point, metric);
        }
        let of_routes = metrics::find(metric).is_ok_and(Metric::is_of_routes);
        if !of_routes {
            return Ok(self.table.values(point, metric));
        }
        let mut values = Vec::new();
        for run in self.design.runs_of(point) {
            if !self.routes.contains_key(&run) {
                let seed = self.design.runs[run].seed;
                let document = self.design.document(self.document, point, seed)?;
                // a scenario without routes is a failed run of the table
                let Ok(resolved) = document.resolve(&Parts::registered()) else {
                    return Ok(None);
                };
                self.routes.insert(run, routes::values(&resolved));
            }
            values.push(self.routes[&run].get(metric));
        }
        Ok(values.into_iter().collect())
    }

    /// The same at flow level, which is run here.
    fn of_flow_level(
        &mut self,
        point: usize,
        metric: &str,
    ) -> Result<Option<Vec<f64>>, ScenarioError> {
        let mut values = Vec::new();
        for run in self.design.runs_of(point) {
            if !self.fluid.contains_key(&run) {
                let seed = self.design.runs[run].seed;
                let document = self.design.document(self.document, point, seed)?;
                self.fluid.insert(run, fluid::summary(&document));
            }
            values.push(metrics::fluid::value(&self.fluid[&run], metric));
        }
        Ok(values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str, found: f64) -> Verdict {
        let mut document = Document::embedded();
        let text = format!("[(metric: \"load.accepted\", {text})]");
        document.assign("expect", &text).unwrap();
        let claim = &document.scenario().unwrap().expect[0];
        Judgement::new(claim, Some(found), Some(found)).verdict
    }

    #[test]
    fn a_value_far_from_the_published_one_is_no_reproduction() {
        let ratio = "relation: AtLeast, value: 1.0, published: 1.16";
        assert_eq!(verdict(ratio, 1.25), Verdict::Reproduced);
        assert_eq!(verdict(ratio, 2.13), Verdict::OrderingOnly);
        assert_eq!(verdict(ratio, 0.99), Verdict::Fails);
        let known = format!("{ratio}, deviation: \"another switch\"");
        assert_eq!(verdict(&known, 0.99), Verdict::Differs);
        assert_eq!(verdict(&known, 2.13), Verdict::OrderingOnly);
    }

    #[test]
    fn the_tolerance_of_the_source_decides_about_its_own_value() {
        let wide = "relation: Equals, value: 1.84, tolerance: Relative(0.35), published: 1.84";
        assert_eq!(verdict(wide, 1.55), Verdict::Reproduced);
        assert_eq!(verdict(wide, 1.1), Verdict::Fails);
        let bound = "relation: AtMost, value: 12, published: 12";
        assert_eq!(verdict(bound, 8.0), Verdict::Reproduced);
    }

    /// A tenth of what was published, not of what was found.
    #[test]
    fn close_is_a_tenth_of_the_published_value() {
        let published = "relation: AtLeast, value: 0.5, published: 1.0";
        for (found, expected) in [
            (1.099, Verdict::Reproduced),
            (1.105, Verdict::OrderingOnly),
            (0.905, Verdict::Reproduced),
            (0.895, Verdict::OrderingOnly),
        ] {
            assert_eq!(verdict(published, found), expected, "{found}");
        }
        let negative = "relation: AtMost, value: 0.5, published: -2.0";
        for (found, expected) in [
            (-2.195, Verdict::Reproduced),
            (-2.205, Verdict::OrderingOnly),
            (-1.805, Verdict::Reproduced),
        ] {
            assert_eq!(verdict(negative, found), expected, "{found}");
        }
    }

    #[test]
    fn an_order_without_a_number_is_only_an_order() {
        let order = "relation: AtLeast, value: 1.05";
        assert_eq!(verdict(order, 2.9), Verdict::OrderingOnly);
        let exact = "relation: Equals, value: 0.75, tolerance: 0.005";
        assert_eq!(verdict(exact, 0.7502), Verdict::Reproduced);
    }
}
