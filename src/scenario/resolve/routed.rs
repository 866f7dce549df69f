//! The stage that computes routes: the engine as written, the lanes it may use, and what to say when it cannot.

use super::super::sections::Scenario;
use super::super::syntax::Mistake;
use super::advice::Advice;
use super::known::{Entry, Known, Question};
use super::layout::Layout;
use super::parts::Parts;
use super::routes::{Unroutable, accept, budget, compute};
use super::{service_levels, unreachable};
use crate::plan::Plan;
use crate::routing::{Routes, RoutingError};
use std::path::Path;
use std::sync::Arc;

/// Computes the routes; `base` is the folder relative file names start from.
///
/// # Errors
/// What is wrong with `routing`, or the lanes it needs.
pub fn route(
    scenario: &Scenario,
    parts: &Parts<'_>,
    layout: &Layout,
    plan: &Plan,
    base: &Path,
) -> Result<Routes, Mistake> {
    let known = Known::nothing();
    known_route(scenario, parts, layout, plan, base, &known).map(|(routes, _)| routes)
}

/// The same, with what is known of these routes.
pub(super) fn known_route(
    scenario: &Scenario,
    parts: &Parts<'_>,
    layout: &Layout,
    plan: &Plan,
    base: &Path,
    known: &Known,
) -> Result<(Routes, Option<Arc<Entry>>), Mistake> {
    let part = &scenario.routing;
    let engine = part.build(part.entry(parts.engines)?.build)?;
    let question = Question {
        engine: part.one_line(),
        budget: budget(plan),
        allow_unreachable: plan.allow_unreachable,
        seed: engine.is_drawn().then_some(plan.seed),
    };
    let advice = Advice {
        scenario,
        parts,
        layout,
        plan,
        base,
    };
    let computed = || {
        compute(&engine, &layout.graph, plan, base).map_err(|error| Unroutable {
            advice: advice.against(&error),
            error,
        })
    };
    let found = known.routes(&layout.graph, question, computed);
    let (routes, entry) = found.map_err(|Unroutable { error, advice }| match error {
        RoutingError::TooFewLanes {
            engine,
            needed,
            available,
        } => {
            let lanes = &scenario.fabric.switch.lanes;
            if available < lanes.value {
                return part.name.mistake(format!(
                    "{engine} needs {needed} lanes, its `layers` allow {available}: {advice}"
                ));
            }
            lanes.mistake(format!(
                "{engine} needs {needed} lanes, the switches have {}: {advice}",
                lanes.value
            ))
        }
        RoutingError::Unreachable { .. } => {
            let hint = unreachable::hint(&layout.graph, &engine, plan);
            part.name.mistake(format!("{error}{hint}"))
        }
        error => part.name.mistake(error.to_string()),
    })?;
    if !engine.gives_lanes() {
        service_levels::check(scenario, plan, &routes)?;
    }
    accept(scenario, plan, &routes)?;
    Ok((routes, entry))
}
