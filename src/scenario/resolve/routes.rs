//! The stage that computes routes: the engine as written, the lanes it may use, and what to say when it cannot.

use super::super::sections::Scenario;
use super::super::syntax::Mistake;
use super::{Layout, Parts, Resolved, checks, service_levels, unreachable, wormhole};
use crate::plan::Plan;
use crate::routing::{Engine, LaneBudget, Routes, RoutingError, Tables, dump};
use std::path::Path;

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
    let part = &scenario.routing;
    let engine = part.build(part.entry(parts.engines)?.build)?;
    let budget = LaneBudget {
        lanes: plan.switch.lanes,
        service_levels: plan.service_level_count(),
    };
    let routes = if plan.allow_unreachable {
        engine.route_reachable(&layout.graph, budget, plan.seed, base)
    } else {
        engine.route(&layout.graph, budget, plan.seed, base)
    };
    let routes = routes.map_err(|error| match error {
        RoutingError::TooFewLanes { .. } => scenario.fabric.switch.lanes.mistake(error.to_string()),
        RoutingError::Unreachable { .. } => {
            let hint = unreachable::hint(&layout.graph, &engine, plan);
            part.name.mistake(format!("{error}{hint}"))
        }
        error => part.name.mistake(error.to_string()),
    })?;
    if !engine.gives_lanes() {
        service_levels::check(scenario, plan, &routes)?;
    }
    checks::arbitrated_lanes(scenario, plan, &routes)?;
    wormhole::check_routes(scenario, plan, &routes)?;
    match &routes {
        Routes::Tables(tables) => checks::lane_keys(scenario, tables)?,
        Routes::Adaptive(adaptive) => checks::adaptive_routing(scenario, adaptive)?,
    }
    Ok(routes)
}

/// Ports to the management ports of switches: by the engine, else along the ways to hosts.
///
/// # Errors
/// What is wrong with `routing`.
pub fn management(
    resolved: &Resolved,
    tables: &Tables,
    parts: &Parts<'_>,
    base: &Path,
) -> Result<Vec<u8>, Mistake> {
    let (part, graph) = (&resolved.scenario.routing, &resolved.layout.graph);
    let own = match part.build(part.entry(parts.engines)?.build)? {
        Engine::Tables(engine) => engine.management(graph, base),
        Engine::Adaptive(_) => None,
    };
    Ok(own.unwrap_or_else(|| dump::management(graph, tables)))
}
