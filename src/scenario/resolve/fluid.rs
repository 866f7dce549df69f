//! The stages for the flow level: no packets, so that no proof is needed, and only flows whose time is known there; and flows
//! as solvers know them.

use super::checks;
use super::fluid_flows::{Flows, FluidFlows};
use super::layout::Layout;
use super::parts::Parts;
use super::routed::route;
use super::stages::{layout, plan};
use crate::fluid::rates::Solver;
use crate::fluid::routes::Policy;
use crate::routing::Routes;
use crate::scenario::Scenario;
use crate::scenario::syntax::Mistake;
use std::path::Path;

/// A scenario at flow level.
#[derive(Debug)]
pub struct FluidScenario {
    /// What was written.
    pub scenario: Scenario,
    /// Clock, links and graph.
    pub layout: Layout,
    /// How rates are computed.
    pub solver: Solver,
    /// Over which links flows go.
    pub policy: Box<dyn Policy>,
    /// Forwarding, where the policy follows it.
    pub routes: Option<Routes>,
    /// Cycles that a host takes for a flit, where that is not the speed of its link.
    pub sink_cycles_per_flit: Option<u32>,
    /// Flows with the seed of the scenario.
    pub first: FluidFlows,
    /// Classes that have no flows.
    pub left_out: Vec<String>,
}

/// All stages.
///
/// # Errors
/// The first mistake of any stage.
pub fn resolve(
    scenario: Scenario,
    parts: &Parts<'_>,
    base: &Path,
) -> Result<FluidScenario, Mistake> {
    let solver = scenario.fluid.solver(parts)?;
    let policy = scenario.fluid.policy(parts)?;
    let switch = &scenario.fabric.switch;
    switch.check(&scenario.qos)?;
    scenario.qos.check(switch.lanes.value)?;
    let layout = layout(&scenario, parts, base)?;
    let plan = plan(&scenario, parts, &layout, base)?;
    let first = Flows::of(&scenario, &plan)?;
    let routes = if policy.needs_tables() {
        checks::table_size(&scenario, &layout.graph)?;
        Some(route(&scenario, parts, &layout, &plan, base)?)
    } else {
        None
    };
    let classes = scenario
        .traffic
        .iter()
        .filter(|class| class.flows.is_none());
    Ok(FluidScenario {
        left_out: classes.map(|class| class.name.value.clone()).collect(),
        sink_cycles_per_flit: plan.host.sink_cycles_per_flit,
        scenario,
        layout,
        solver,
        policy,
        routes,
        first,
    })
}

/// The flows with another seed.
///
/// # Errors
/// The first mistake.
pub fn flows(
    fluid: &FluidScenario,
    parts: &Parts<'_>,
    seed: u64,
    base: &Path,
) -> Result<FluidFlows, Mistake> {
    if seed == fluid.scenario.seed {
        return Ok(fluid.first.clone());
    }
    let scenario = Scenario {
        seed,
        ..fluid.scenario.clone()
    };
    let plan = plan(&scenario, parts, &fluid.layout, base)?;
    Flows::of(&scenario, &plan)
}
