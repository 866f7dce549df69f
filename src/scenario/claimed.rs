//! What the metrics of claims name, against the plan: a class or service level that no run has is told before there is one.

use super::sections::{Expectation, Scenario};
use super::syntax::{At, Mistake};
use crate::metrics;
use crate::plan::{ClassPlan, Plan};
use crate::registry::unknown;
use std::collections::BTreeSet;

/// What stands for a class, and for a service level, in the path of a metric, behind these keys.
const CLASS: [&str; 2] = ["classes", "NAME"];
const LEVEL: [&str; 2] = ["levels", "SL"];

/// As [`check`], of a scenario for one run; the claims of a sweep are about its points, whose classes may be others.
///
/// # Errors
/// As [`check`].
pub(super) fn check_alone(scenario: &Scenario, plan: &Plan) -> Result<(), Mistake> {
    match scenario.sweep {
        None => check(&scenario.expect, plan),
        Some(_) => Ok(()),
    }
}

/// Classes, flows and messages that the metrics of claims are about are those of the plan.
///
/// # Errors
/// At the first metric that names others: which there are, and the nearest.
pub fn check<'a>(
    claims: impl IntoIterator<Item = &'a Expectation>,
    plan: &Plan,
) -> Result<(), Mistake> {
    for claim in claims {
        for metric in [Some(&claim.metric), claim.per.as_ref()]
            .into_iter()
            .flatten()
        {
            check_metric(metric, plan).map_err(|message| metric.mistake(message))?;
        }
    }
    Ok(())
}

/// What is wrong with a metric.
fn check_metric(metric: &At<String>, plan: &Plan) -> Result<(), String> {
    let path = metric.value.as_str();
    // a path that is none was refused where it was read
    let Ok(known) = metrics::find(path) else {
        return Ok(());
    };
    let pattern: Vec<&str> = known.path.split('.').collect();
    let named = |what: [&str; 2]| {
        let place = pattern.windows(2).position(|pair| *pair == what)?;
        Some((place + 1, path.split('.').nth(place + 1)?))
    };
    if let Some((place, name)) = named(CLASS) {
        // entries of the summary go by their number, too; values of routes do not
        let is_numbered = place == 1;
        return class(name, pattern.get(place + 1).copied(), plan, is_numbered);
    }
    named(LEVEL).map_or(Ok(()), |(_, sl)| level(sl, plan))
}

/// The class of a metric, of which it gives `part`.
fn class(name: &str, part: Option<&str>, plan: &Plan, is_numbered: bool) -> Result<(), String> {
    let kind = match part {
        Some("flows") => "class with flows",
        Some("messages") => "class with messages",
        _ => "class",
    };
    let is_meant = |class: &ClassPlan| match part {
        Some("flows") => class.flows.is_some(),
        Some("messages") => class.messages.is_some(),
        _ => true,
    };
    let classes = || plan.classes.iter().filter(|class| is_meant(class));
    let number = name.parse::<usize>().ok().filter(|_| is_numbered);
    let numbered = number.and_then(|number| plan.classes.get(number));
    if classes().any(|class| class.name == name) || numbered.is_some_and(is_meant) {
        return Ok(());
    }
    Err(unknown(
        kind,
        name,
        classes().map(|class| class.name.as_str()),
    ))
}

/// A service level that flows have, as text.
fn level(sl: &str, plan: &Plan) -> Result<(), String> {
    let classes = plan.classes.iter().filter(|class| class.flows.is_some());
    let levels: BTreeSet<u8> = classes
        .flat_map(|class| &class.service_levels)
        .map(|level| level.0)
        .collect();
    let levels: Vec<String> = levels.iter().map(u8::to_string).collect();
    if levels.iter().any(|level| level == sl) {
        return Ok(());
    }
    let known = match &levels[..] {
        [] => String::from("no class has flows"),
        [one] => format!("expected {one}"),
        several => format!("expected one of {}", several.join(", ")),
    };
    Err(format!("there are no flows of service level {sl}: {known}"))
}
