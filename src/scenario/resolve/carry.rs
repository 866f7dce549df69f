//! What packets of flows have of the flow level: routes, and rates as limits (D66 of the model).
//!
//! Fails with: a mistake of `fluid.carry` for all that routes of flows do not go with, of `fluid.policy` and `fluid.solver`
//! for what these are not for.

use super::super::sections::Scenario;
use super::super::sections::fluid::Carry;
use super::super::syntax::Mistake;
use super::fluid_flows::{ends, known_to_solvers};
use super::network::network;
use super::parts::Parts;
use crate::fluid::check;
use crate::fluid::network::UNIT;
use crate::fluid::routes::{FlowRoutes, Ways};
use crate::ids::ChannelId;
use crate::plan::{Limit, ONE_FLIT_PER_CYCLE, Plan};
use crate::routing::{Routes, Tables};
use crate::topology::Graph;

/// Enters routes, and limits, where the scenario asks for them.
///
/// # Errors
/// What they do not go with, and what is wrong with policy or solver.
pub(super) fn enter(
    scenario: &Scenario,
    parts: &Parts<'_>,
    graph: &Graph,
    routes: &Routes,
    plan: &mut Plan,
) -> Result<(), Mistake> {
    let fluid = &scenario.fluid;
    if fluid.carry.value == Carry::Nothing {
        return Ok(());
    }
    let tables = check(scenario, routes)?;
    let policy = fluid.policy(parts)?;
    let flows = plan.flows.iter();
    let flows = flows.map(ends);
    let flows: Vec<_> = flows.collect();
    let ways = Ways {
        graph,
        tables: Some(tables),
    };
    let of_flows = policy.routes(&ways, &flows, plan.seed);
    let of_flows = of_flows.map_err(|error| fluid.policy.name.mistake(error.to_string()))?;
    if fluid.carry.value == Carry::Rates {
        limit(scenario, parts, graph, &of_flows, plan)?;
    }
    let lists = (0..of_flows.len()).map(|flow| of_flows.of(flow).iter().map(|&id| ChannelId(id)));
    plan.routes_of_flows = Some(lists.collect());
    Ok(())
}

/// The tables of everybody else, in which the lane of a route is known.
fn check<'a>(scenario: &Scenario, routes: &'a Routes) -> Result<&'a Tables, Mistake> {
    let (carry, engine) = (&scenario.fluid.carry, &scenario.routing.name.value);
    let wrong = |reason: &str| {
        carry.mistake(format!(
            "`{:?}` does not go with `routing: {engine}`{reason}",
            carry.value
        ))
    };
    let tables = routes.tables();
    let tables = tables.ok_or_else(|| wrong(": use forwarding tables"))?;
    if tables.lanes.layers == 1 {
        return Ok(tables);
    }
    Err(wrong(&format!(
        ", whose tables have {} layers: the lane of a route would not be known; choose an engine with one layer",
        tables.lanes.layers
    )))
}

/// Gives every flow without a limit, changes and control the rate that the solver finds for it.
fn limit(
    scenario: &Scenario,
    parts: &Parts<'_>,
    graph: &Graph,
    routes: &FlowRoutes,
    plan: &mut Plan,
) -> Result<(), Mistake> {
    let fluid = &scenario.fluid;
    let solver = fluid.solver(parts)?;
    let flows = known_to_solvers(scenario, plan)?;
    let links = (fluid.reserved.value, plan.host.sink_cycles_per_flit);
    let network = network(graph, links, &flows.flows, routes);
    let wrong = |message: String| fluid.solver.name.mistake(message);
    let rates = (solver.solve)(&network, plan.seed).map_err(|error| wrong(error.to_string()))?;
    check::feasible(&network, &rates).map_err(|unfair| wrong(unfair.to_string()))?;
    for (flow, &rate) in plan.flows.iter_mut().zip(&rates.rates) {
        let class = &plan.classes[usize::from(flow.class)];
        if flow.limit != Limit::None || !flow.changes.is_empty() || class.control.is_some() {
            continue;
        }
        let rate = in_flits(rate);
        let largest = u64::from(class.size.largest()) << 32;
        if largest / rate >= 1 << 31 {
            return Err(wrong(format!(
                "gives the flow from host {} to host {} so low a rate that more than 2^31 cycles are between two packets",
                flow.source, flow.destination
            )));
        }
        flow.limit = Limit::Rate(rate);
    }
    Ok(())
}

/// A rate of a solver as that of a limit, from 1 to a flit per cycle \[2^-32 flits per cycle\].
fn in_flits(rate: u128) -> u64 {
    // a rate of more than a flit per cycle is none of a host's
    let rate = rate.min(UNIT);
    // UNIT has 2^24 as a factor and is below 2^104, so that the product is below 2^112
    let exact = (rate << 8) / (UNIT >> 24);
    (exact as u64).clamp(1, ONE_FLIT_PER_CYCLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_become_limits_rounded_down() {
        assert_eq!(in_flits(UNIT), 1 << 32);
        assert_eq!(in_flits(UNIT * 3), 1 << 32);
        assert_eq!(in_flits(UNIT / 3), (1 << 32) / 3);
        assert_eq!(in_flits(UNIT / 8 * 3), 3 << 29);
        assert_eq!(in_flits(0), 1);
    }
}
