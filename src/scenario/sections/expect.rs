//! Section `expect`: claims about the results.

use super::Sweep;
use super::sweep::{Axis, once};
use super::values::{Read, boolean, number, one_of, text};
use crate::registry::unknown;
use crate::scenario::expectation::{Fold, Relation, Selection, Tolerance};
use crate::scenario::metrics;
use crate::scenario::print::Printer;
use crate::scenario::syntax::tree::quote;
use crate::scenario::syntax::{At, Item, Mistake};
use Fold::{Each, Geometric, Lower, Max, Mean, Min, Upper};
use Relation::{AtLeast, AtMost, Equals};

section! {
    /// What a result must be: the claim a study reproduces.
    Expectation = "expect" in "expect[...]" {
        /// The claim in words
        claim: String = text, "text" or "\"\"";
        /// Path of the value in summary.json; see `virtlane list metric`
        metric: At<String> = metric, "metric";
        /// Metric that the value is divided by, run by run
        per: Option<At<String>> = metric, "metric" or None;
        /// Points of the sweep the claim is about: axes and the values they must have; default: all
        at: Selection = selection, "list of (axis, value)" or "[]";
        /// Points that the value is divided by
        over: Option<Selection> = selection, "list of (axis, value)" or None;
        /// How the points become one value; `Each` = every point by itself, with `over` against the point that has
        /// the same values on all axes not named
        points: Fold = one_of(&[Each, Mean, Max, Min]), "Each | Mean | Max | Min" or "Each";
        /// How the seeds of a point become one value; Lower, Upper = ends of the 95 % confidence interval of their mean. With
        /// `over`, Geometric, Lower and Upper = geometric mean of the ratios run by run, and the ends of its interval
        seeds: Fold = one_of(&[Each, Mean, Geometric, Max, Min, Lower, Upper]), "Mean | Geometric | Max | Min | Lower | Upper | Each" or "Mean";
        /// How the result relates to `value`
        relation: Relation = one_of(&[Equals, AtLeast, AtMost]), "Equals | AtLeast | AtMost";
        /// Expected value
        value: f64 = number, "number";
        /// Deviation allowed, absolute or as a fraction of `value`
        tolerance: Tolerance = tolerance, "number >= 0 | Relative(number >= 0)" or "0";
        /// What the source says: a claim that holds is `reproduced` when this is `value`, or when the result (for Lower and
        /// Upper the middle of the interval) is within 10 % of it, else `ordering only`
        published: Option<f64> = number, "number" or None;
        /// Where the value comes from
        source: String = text, "text" or "\"\"";
        /// Why the result is not the source's; a claim that does not hold is then `differs`, not `fails`
        deviation: String = text, "text" or "\"\"";
        /// Whether the quick form of the sweep has the claim, too, if it has its points
        quick: bool = boolean, "true | false" or "true";
    }
}

fn metric(item: &Item<'_>) -> Read<String> {
    let path = text(item)?;
    metrics::find(&path).map_err(|message| item.mistake(message))?;
    Ok(path)
}

fn tolerance(item: &Item<'_>) -> Read<Tolerance> {
    match item.variant() {
        Some(("Relative", Some(arguments))) => {
            let value = arguments.tuple(1, "a fraction such as `Relative(0.05)`")?;
            slack(&value[0]).map(Tolerance::Relative)
        }
        Some(("Relative", None)) => Err(item.unexpected("a fraction such as `Relative(0.05)`")),
        _ => slack(item).map(Tolerance::Absolute),
    }
}

/// A number that is not negative: a claim within less than nothing holds for no value.
fn slack(item: &Item<'_>) -> Read<f64> {
    match item.number() {
        Ok(number) if number >= 0.0 => Ok(number),
        _ => Err(item.unexpected("a number of at least 0, such as 0.01")),
    }
}

/// Values of axes that a point must have.
fn selection(item: &Item<'_>) -> Read<Selection> {
    let pair = |item: &Item<'_>| {
        let pair = item.tuple(2, "a value of an axis: expected `(\"key.path\", value)`")?;
        let path = pair[0].text("the key path of an axis in quotes")?;
        Ok((
            pair[0].at(path.to_owned()),
            pair[1].at(pair[1].node.to_text()),
        ))
    };
    let all = item
        .items()?
        .iter()
        .map(pair)
        .collect::<Read<Selection>>()?;
    once(all.iter().map(|(path, _)| path))?;
    Ok(all)
}

impl Expectation {
    /// Points that no axis has.
    pub(in crate::scenario) fn check(&self, sweep: Option<&Sweep>) -> Result<(), Mistake> {
        let groups = sweep.iter().flat_map(|sweep| &sweep.axes);
        let known: Vec<&Axis> = groups.flatten().collect();
        for (path, value) in self.at.iter().chain(self.over.iter().flatten()) {
            let Some(axis) = known.iter().find(|axis| axis.path.value == path.value) else {
                let paths = known.iter().map(|axis| axis.path.value.as_str());
                return Err(path.mistake(unknown("axis", &path.value, paths)));
            };
            if axis.values.iter().all(|other| other.value != value.value) {
                return Err(value.mistake(axis.lacks(&value.value)));
            }
        }
        Ok(())
    }

    /// The section.
    pub(super) fn print(&self, printer: &mut Printer) {
        printer.key("claim", quote(&self.claim));
        printer.key("metric", quote(&self.metric.value));
        printer.or_none("per", self.per.as_ref().map(|per| quote(&per.value)));
        printer.key("at", written(&self.at));
        printer.or_none("over", self.over.as_ref().map(written));
        printer.key("points", format_args!("{:?}", self.points));
        printer.key("seeds", format_args!("{:?}", self.seeds));
        printer.key("relation", format_args!("{:?}", self.relation));
        printer.key("value", format_args!("{:?}", self.value));
        match self.tolerance {
            Tolerance::Absolute(value) => printer.key("tolerance", format_args!("{value:?}")),
            Tolerance::Relative(value) => {
                printer.key("tolerance", format_args!("Relative({value:?})"));
            }
        }
        printer.or_none(
            "published",
            self.published.map(|value| format!("{value:?}")),
        );
        printer.key("source", quote(&self.source));
        printer.key("deviation", quote(&self.deviation));
        printer.key("quick", self.quick);
    }
}

/// Points as `[(path, value)]`.
fn written(selection: &Selection) -> String {
    let pairs = selection.iter();
    let pairs: Vec<_> = pairs
        .map(|(path, value)| format!("({}, {})", quote(&path.value), value.value))
        .collect();
    format!("[{}]", pairs.join(", "))
}
