//! What makes a study of a scenario: sections `sweep` and `expect`.

use super::{Printer, quote};
use crate::scenario::expectation::{Expectation, Selection, Tolerance};
use crate::scenario::schema::{Axis, Scenario};

/// An axis as `(path, [values])`.
fn written(axis: &Axis) -> String {
    let values: Vec<_> = axis.values.iter().map(|at| at.value.as_str()).collect();
    format!("({}, [{}])", quote(&axis.path.value), values.join(", "))
}

/// Sections `sweep` and `expect`.
pub(super) fn study(printer: &mut Printer, scenario: &Scenario) {
    match &scenario.sweep {
        None => printer.key("sweep", "None"),
        Some(sweep) => printer.block("sweep: (", "),", |printer| {
            printer.block("axes: [", "],", |printer| {
                for group in &sweep.axes {
                    match &group[..] {
                        [axis] => printer.line(format!("{},", written(axis))),
                        several => {
                            let axes: Vec<_> = several.iter().map(written).collect();
                            printer.line(format!("Zip([{}]),", axes.join(", ")));
                        }
                    }
                }
            });
            printer.key("seeds", sweep.seeds);
        }),
    }
    if scenario.expect.is_empty() {
        return printer.key("expect", "[]");
    }
    printer.block("expect: [", "],", |printer| {
        for claim in &scenario.expect {
            printer.block("(", "),", |printer| expectation(printer, claim));
        }
    });
}

fn expectation(printer: &mut Printer, claim: &Expectation) {
    printer.key("claim", quote(&claim.claim));
    printer.key("metric", quote(&claim.metric.value));
    printer.key("at", selection(&claim.at));
    let none = || "None".to_owned();
    printer.key("over", claim.over.as_ref().map_or_else(none, selection));
    printer.key("points", format_args!("{:?}", claim.points));
    printer.key("seeds", format_args!("{:?}", claim.seeds));
    printer.key("relation", format_args!("{:?}", claim.relation));
    printer.key("value", format_args!("{:?}", claim.value));
    match claim.tolerance {
        Tolerance::Absolute(value) => printer.key("tolerance", format_args!("{value:?}")),
        Tolerance::Relative(value) => printer.key("tolerance", format_args!("Relative({value:?})")),
    }
    let published = claim.published.map(|value| format!("{value:?}"));
    printer.key("published", published.unwrap_or_else(none));
    printer.key("source", quote(&claim.source));
    printer.key("deviation", quote(&claim.deviation));
}

/// Points as `[(path, value)]`.
fn selection(selection: &Selection) -> String {
    let pairs = selection.iter();
    let pairs: Vec<_> = pairs
        .map(|(path, value)| format!("({}, {value})", quote(path)))
        .collect();
    format!("[{}]", pairs.join(", "))
}
