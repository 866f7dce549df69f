//! The stages before routes: the fabric in cycles, then everything that the engine needs.

use super::super::sections::traffic;
use super::super::sections::{Scenario, admission, dropping};
use super::super::syntax::Mistake;
use super::checks;
use super::layout::Layout;
use super::parts::Parts;
use super::quantity::LONGEST_PHASE;
use crate::plan::{Plan, Times};
use crate::scenario::pairs::{self, Given};
use crate::topology::faults::Failed;
use crate::topology::{BuildContext, TopologyError};
use crate::warnings;
use std::path::Path;

/// Builds clock and graph; `base` is the folder relative file names start from.
///
/// # Errors
/// What is wrong with section `fabric`.
pub fn layout(scenario: &Scenario, parts: &Parts<'_>, base: &Path) -> Result<Layout, Mistake> {
    let part = &scenario.fabric.topology;
    let topology = part.build(part.entry(parts.topologies)?.build)?;
    let misfit = |error: TopologyError| match error {
        TopologyError::Parameter { parameter, reason } => {
            part.parameter_mistake(parameter, &reason)
        }
        error => part.name.mistake(error.to_string()),
    };
    let own_rates = topology.own_rates(base).map_err(misfit)?;
    let fabric = &scenario.fabric;
    let clock = fabric.clock(&own_rates)?;
    let switch_link = fabric.link.timing().in_cycles(clock)?;
    let host_link = fabric.host_timing().in_cycles(clock)?;
    let context = BuildContext {
        seed: scenario.seed,
        clock,
        switch_link,
        host_link,
        base,
    };
    let graph = topology.build(&context).map_err(misfit)?;
    for note in graph.notes() {
        warnings::once(note);
    }
    if graph.hosts().is_empty() {
        return Err(part.name.mistake("the fabric has no host"));
    }
    let graph = graph.formed(&part.one_line());
    let idle = fabric.link.idle(&graph, switch_link);
    let graph = fabric.link.retime(clock, graph)?.recognised();
    for note in idle {
        warnings::once(&note);
    }
    let (graph, failed) = match &scenario.faults {
        Some(faults) => faults.apply(&graph, scenario.seed)?,
        None => (graph, Failed::default()),
    };
    Ok(Layout {
        clock,
        switch_link,
        host_link,
        graph,
        failed,
    })
}

/// Converts everything the engine needs and checks it against the graph; `base` is the folder relative file names
/// start from.
///
/// # Errors
/// The first value that is wrong by itself or beside another one.
pub fn plan(
    scenario: &Scenario,
    parts: &Parts<'_>,
    layout: &Layout,
    base: &Path,
) -> Result<Plan, Mistake> {
    let clock = layout.clock;
    let mut classes = traffic::plan_classes(scenario, parts, layout)?;
    let workloads = traffic::workloads(scenario, parts, layout, base, &mut classes)?;
    let host = scenario.fabric.host.plan(clock)?;
    let (mut flows, app_phases) =
        traffic::plan_flows(scenario, parts, layout, base, host.scheduler, &mut classes)?;
    traffic::plan_control(scenario, parts, layout, &mut classes)?;
    let rounds = scenario.admission.as_ref();
    let switch = scenario.fabric.switch.plan(&scenario.qos, clock)?;
    let lanes = admission::parts_of_lanes(&switch, &classes, clock.flit_bytes);
    let mut rounds = rounds
        .map(|section| section.plan(parts, clock, lanes))
        .transpose()?;
    if let Some(rounds) = &mut rounds {
        rounds.add_probes(&mut classes, &mut flows);
    }
    let observe = scenario.observe.plan(&classes, clock)?;
    let retry = scenario.fabric.link.retry.as_ref();
    let link_retry = retry.map(|section| section.plan(clock)).transpose()?;
    let mut plan = Plan {
        title: scenario.title.clone(),
        seed: scenario.seed,
        flit_bytes: clock.flit_bytes,
        reference_rate: clock.reference_rate,
        switch,
        host,
        link_retry,
        classes,
        workloads,
        flows,
        routes_of_flows: None,
        management_tables: None,
        admission: rounds,
        app_phases,
        phases: scenario.phases.plan(clock)?,
        allow_deadlock: scenario.allow_deadlock,
        allow_unreachable: scenario.allow_unreachable,
        observe,
    };
    if scenario.phases.drain.is_none() {
        let slow = Times::of(&plan, &layout.graph).crossing().saturating_mul(2);
        plan.phases.drain_limit = plan.phases.drain_limit.max(slow.min(LONGEST_PHASE));
    }
    check(scenario, &mut plan)?;
    Ok(plan)
}

/// What values are beside others.
fn check(scenario: &Scenario, plan: &mut Plan) -> Result<(), Mistake> {
    checks::flows(scenario, plan)?;
    admission::check(scenario, plan)?;
    checks::capacity(scenario, plan)?;
    checks::output_lanes(scenario, plan)?;
    checks::claims(scenario, plan)?;
    pairs::check(&Given {
        scenario,
        plan: Some(&*plan),
        routes: None,
    })?;
    checks::tables(scenario, plan)?;
    checks::congestion(scenario, plan)?;
    dropping::check(scenario, plan)?;
    checks::link_retry(scenario, plan)
}
