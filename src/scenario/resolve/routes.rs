//! Routes of an engine, and what does not go with them.

use super::super::sections::Scenario;
use super::super::syntax::Mistake;
use super::checks;
use super::parts::Parts;
use super::resolved::Resolved;
use crate::plan::Plan;
use crate::routing::engines::up_down::UpDown;
use crate::routing::{Engine, LaneBudget, Routes, RoutingEngine as _, RoutingError, Tables, dump};
use crate::scenario::pairs::{self, Given};
use crate::topology::Graph;
use std::path::Path;
use std::sync::Arc;

/// Why there are no routes, and what would help.
#[derive(Clone, Debug)]
pub(super) struct Unroutable {
    pub(super) error: RoutingError,
    pub(super) advice: String,
}

pub(super) fn budget(plan: &Plan) -> LaneBudget {
    LaneBudget {
        lanes: plan.switch.lanes,
        service_levels: plan.service_level_count(),
    }
}

/// The routes of an engine alone.
pub(super) fn compute(
    engine: &Engine,
    graph: &Graph,
    plan: &Plan,
    base: &Path,
) -> Result<Routes, RoutingError> {
    if plan.allow_unreachable {
        engine.route_reachable(graph, budget(plan), plan.seed, base)
    } else {
        engine.route(graph, budget(plan), plan.seed, base)
    }
}

/// Forwarding tables of VL15 beside an adaptive engine (D83).
pub(super) fn beside(
    graph: &Graph,
    plan: &Plan,
    routes: &Routes,
) -> Result<Option<Arc<Tables>>, RoutingError> {
    let is_used = plan.classes.iter().any(|class| class.management);
    if !is_used || routes.tables().is_some() {
        return Ok(None);
    }
    let budget = LaneBudget {
        lanes: 1,
        service_levels: 1,
    };
    Ok(Some(Arc::new(
        UpDown::default().route(graph, budget, plan.seed)?,
    )))
}

/// What does not go with these routes.
pub(super) fn accept(scenario: &Scenario, plan: &Plan, routes: &Routes) -> Result<(), Mistake> {
    checks::arbitrated_lanes(scenario, plan, routes)?;
    pairs::check(&Given {
        scenario,
        plan: Some(plan),
        routes: Some(routes),
    })?;
    routes
        .tables()
        .map_or(Ok(()), |tables| checks::lane_keys(scenario, tables))
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
