//! Scenario to plan, graph and routes, in typed stages.
//!
//! `Scenario -> Layout` (clock, graph) `-> Plan` (classes against the graph) `-> Routes -> Proof`. Each
//! stage reads the results of earlier ones only; every complaint names the key it is about.

mod advice;
mod carry;
mod checks;
pub mod fluid;
pub mod known;
pub mod network;
mod notes;
pub(super) mod quantity;
mod routes;
mod service_levels;
mod set_up;
mod unreachable;
mod wormhole;

pub use known::Known;
pub use routes::{management, route};
pub use unreachable::named as unreachable_pairs;

use self::quantity::LONGEST_PHASE;
use super::prove::{prove, prove_answers};
use super::sections::traffic;
use super::sections::{Scenario, admission, dropping};
use super::syntax::Mistake;
use super::uncounted;
use crate::admission::{ADMISSIONS, BuildAdmission};
use crate::control::{ALGORITHMS, BuildAlgorithm};
use crate::fluid::rates::{SOLVERS, Solver};
use crate::fluid::routes::{BuildPolicy, POLICIES};
use crate::ids::INFINIBAND_LANES;
use crate::plan::{Plan, Times};
use crate::registry::Registry;
use crate::routing::{BuildEngine, ENGINES, Proof, Routes};
use crate::topology::faults::Failed;
use crate::topology::{
    BuildContext, BuildTopology, ChannelTiming, Graph, TOPOLOGIES, TopologyError,
};
use crate::traffic::flows::BuildFlows;
use crate::traffic::messages::BuildMessages;
use crate::traffic::{
    BuildPattern, BuildProcess, FLOW_GENERATORS, MESSAGE_SOURCES, PATTERNS, PROCESSES,
    SLOT_SOURCES, slots::BuildSlotSource,
};
use crate::units::Clock;
use crate::warnings::once as warn_once;
use std::path::Path;

/// The registries names are looked up in.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// Topologies.
    pub topologies: &'a Registry<BuildTopology>,
    /// Routing engines.
    pub engines: &'a Registry<BuildEngine>,
    /// Traffic patterns.
    pub patterns: &'a Registry<BuildPattern>,
    /// Arrival processes.
    pub processes: &'a Registry<BuildProcess>,
    /// Message sources.
    pub messages: &'a Registry<BuildMessages>,
    /// Flow generators.
    pub flows: &'a Registry<BuildFlows>,
    /// Slot sources.
    pub slot_sources: &'a Registry<BuildSlotSource>,
    /// Admission controls.
    pub admission: &'a Registry<BuildAdmission>,
    /// Control algorithms.
    pub control: &'a Registry<BuildAlgorithm>,
    /// Solvers of rates at flow level.
    pub solvers: &'a Registry<Solver>,
    /// Policies of routes at flow level.
    pub policies: &'a Registry<BuildPolicy>,
}

impl Parts<'static> {
    /// Everything this program ships.
    pub fn registered() -> Self {
        Self {
            topologies: &TOPOLOGIES,
            engines: &ENGINES,
            patterns: &PATTERNS,
            processes: &PROCESSES,
            messages: &MESSAGE_SOURCES,
            flows: &FLOW_GENERATORS,
            slot_sources: &SLOT_SOURCES,
            admission: &ADMISSIONS,
            control: &ALGORITHMS,
            solvers: &SOLVERS,
            policies: &POLICIES,
        }
    }
}

/// First stage: the fabric in cycles.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Flit size and reference rate.
    pub clock: Clock,
    /// Timing of links between switches that have none of their own.
    pub switch_link: ChannelTiming,
    /// Timing of links of hosts that have none of their own.
    pub host_link: ChannelTiming,
    /// Switches, hosts and channels, without those that failed.
    pub graph: Graph,
    /// What failed.
    pub failed: Failed,
}

impl Layout {
    /// The context the graph was built in.
    pub fn context<'a>(&self, seed: u64, base: &'a Path) -> BuildContext<'a> {
        BuildContext {
            seed,
            clock: self.clock,
            switch_link: self.switch_link,
            host_link: self.host_link,
            base,
        }
    }
}

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// What was written.
    pub scenario: Scenario,
    /// Clock, links and graph.
    pub layout: Layout,
    /// What the engine needs.
    pub plan: Plan,
    /// Forwarding tables or adaptive routing.
    pub routes: Routes,
    /// What is known about them.
    pub proof: Proof,
}

impl Resolved {
    /// Whether another seed may have other routes or another proof on the same graph: where the engine draws, or flows enter
    /// what is proved.
    pub fn is_drawn(&self, parts: &Parts<'_>) -> bool {
        let part = &self.scenario.routing;
        let engine = part.entry(parts.engines).map(|entry| entry.build);
        let engine = engine.and_then(|build| part.build(build));
        let (plan, proof) = (&self.plan, &self.proof);
        let has_flows = plan.routes_of_flows.is_some() || plan.sets_up() || proof.held.is_some();
        has_flows || proof.unreachable_pairs > 0 || engine.map_or(true, |engine| engine.is_drawn())
    }
}

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
        warn_once(note);
    }
    if graph.hosts().is_empty() {
        return Err(part.name.mistake("the fabric has no host"));
    }
    let graph = fabric.link.retime(clock, graph.formed(&part.one_line()))?;
    let graph = graph.recognised();
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
    traffic::plan_control(scenario, parts, layout, &host, &mut classes)?;
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
    let mut plan = Plan {
        title: scenario.title.clone(),
        seed: scenario.seed,
        flit_bytes: clock.flit_bytes,
        reference_rate: clock.reference_rate,
        switch,
        host,
        classes,
        workloads,
        flows,
        routes_of_flows: None,
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
    checks::flows(scenario, &plan)?;
    admission::check(scenario, &plan)?;
    checks::capacity(scenario, &plan)?;
    checks::output_lanes(scenario, &plan)?;
    checks::claims(scenario, &mut plan)?;
    checks::tables(scenario, &plan)?;
    checks::congestion(scenario, &plan)?;
    dropping::check(scenario, &plan)?;
    wormhole::check(scenario, &plan)?;
    Ok(plan)
}

/// What needs no graph is checked first: a typing error should not wait for a large fabric.
fn check_words(scenario: &Scenario, parts: &Parts<'_>) -> Result<(), Mistake> {
    let switch = &scenario.fabric.switch;
    switch.check(&scenario.qos)?;
    scenario.qos.check(switch.lanes.value)?;
    scenario.qos.check_rules(switch)?;
    scenario.fabric.topology.entry(parts.topologies)?;
    scenario.routing.entry(parts.engines)?;
    scenario.fluid.check_parts(parts)?;
    let mut classes = scenario.traffic.iter();
    classes.try_for_each(|class| class.check_parts(parts))?;
    let lanes = switch.lanes.value;
    if lanes > INFINIBAND_LANES {
        warn_once(&format!(
            "{lanes} data lanes: InfiniBand has at most {INFINIBAND_LANES}, so no InfiniBand fabric is like this"
        ));
    }
    Ok(())
}

/// All stages; routes and proofs that are known are not computed again.
///
/// # Errors
/// The first mistake of any stage.
pub fn resolve(
    scenario: Scenario,
    parts: &Parts<'_>,
    base: &Path,
    known: &Known,
) -> Result<Resolved, Mistake> {
    check_words(&scenario, parts)?;
    let layout = layout(&scenario, parts, base)?;
    let mut plan = plan(&scenario, parts, &layout, base)?;
    checks::event_horizon(&scenario, &layout.graph, &plan)?;
    checks::table_size(&scenario, &layout.graph)?;
    let (routes, entry) = routes::known_route(&scenario, parts, &layout, &plan, base, known)?;
    set_up::check(&scenario, &layout.graph, &routes, &plan)?;
    carry::enter(&scenario, parts, &layout.graph, &routes, &mut plan)?;
    let proved = known.proof(entry.as_deref(), &plan, || {
        let advice = advice::Advice {
            scenario: &scenario,
            parts,
            layout: &layout,
            plan: &plan,
            base,
        };
        prove(&layout.graph, &routes, &plan)
            .map_err(|refusal| advice.against_refusal(refusal, &routes))
    });
    let mut proof = proved.map_err(|message| scenario.routing.name.mistake(message))?;
    if proof.unreachable_pairs > 0 {
        let pairs = unreachable::named(&layout.graph, &proof);
        warn_once(&format!("pairs of hosts that are not offered: {pairs}"));
        unreachable::leave_out(&scenario, &layout.graph, &routes, &mut plan)?;
    }
    checks::looks(&scenario, &plan, &routes)?;
    traffic::complete_flows(&scenario, &layout.graph, &routes, &proof, &mut plan)?;
    traffic::check_groups(&scenario, &layout.graph, &routes, &plan)?;
    if let Err(message) = prove_answers(&layout.graph, &routes, &plan, &mut proof) {
        let mut classes = scenario.traffic.iter();
        let queue = classes.find_map(|class| class.answers.queue.as_ref());
        return Err(match queue {
            Some(queue) => queue.mistake(message),
            None => scenario.routing.name.mistake(message),
        });
    }
    let resolved = Resolved {
        scenario,
        layout,
        plan,
        routes,
        proof,
    };
    for note in notes::notes(&resolved.scenario, &resolved.layout.graph, &resolved.plan) {
        warn_once(&note);
    }
    for shared in uncounted::shared(&resolved) {
        if let Some(warning) = shared.warning() {
            warn_once(&warning);
        }
    }
    Ok(resolved)
}
