//! A scenario at flow level: runs with flows, routes and rates of their own, and what they give.
//!
//! ```text
//! FluidScenario ── seeds, in parallel ──> flows ── policy ──> routes ── solver ──> rates ──> Outcome
//! Outcomes ── merge, in the order of their seeds ──> Summary, tables
//! ```
//!
//! Fabric and forwarding tables are those of the scenario in all runs.

mod human;
mod outcome;
mod summary;
mod tables;
mod timeline;
mod write;

pub use human::table;
pub use outcome::{Detail, Outcome};
pub use summary::{Spread, Summary};
pub use write::write;

use crate::fluid::network::Network;
use crate::fluid::rates::{Allocation, TooLargeError};
use crate::fluid::routes::link_sets::LinkSets;
use crate::fluid::routes::{FlowRoutes, PolicyError, Ways};
use crate::memory::{self, Demand};
use crate::scenario::resolve::network::network;
use crate::scenario::{Document, FluidFlow, FluidScenario, Parts, ScenarioError};
use rayon::prelude::*;

/// Results of all runs.
#[derive(Debug)]
pub struct Results<'a> {
    /// What was run.
    pub scenario: &'a FluidScenario,
    /// Sets of channels.
    pub sets: LinkSets,
    /// Every run, by its seed.
    pub runs: Vec<Outcome>,
    /// Flows and links of the first run.
    pub detail: Detail,
}

/// Why a run cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum FlowLevelError {
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The policy is not for this fabric.
    #[error("fluid.policy: {0}")]
    Policy(#[from] PolicyError),
    /// The solver has no room for the network.
    #[error("fluid.solver: {0}")]
    Solver(#[from] TooLargeError),
    /// Rates are not what their solver promises: a mistake of the program.
    #[error("run with seed {seed}: {reason}")]
    Broken {
        /// Seed of the run.
        seed: u64,
        /// What is wrong.
        reason: String,
    },
}

/// Makes all runs, in parallel on the threads of the current pool; the results do not depend on their number.
///
/// Rates are always checked to be feasible; with `check` they are held to all that their solver promises.
///
/// # Errors
/// That of the first run that cannot be made.
pub fn run<'a>(
    document: &Document,
    scenario: &'a FluidScenario,
    check: bool,
) -> Result<Results<'a>, FlowLevelError> {
    let sets = LinkSets::new(&scenario.layout.graph);
    let first = scenario.scenario.seed;
    let asked = &scenario.scenario.fluid.runs;
    document.require_seeds(first, asked)?;
    let seeds = 0..u64::from(asked.value);
    let all = Demand {
        count: seeds.end,
        what: "runs",
        each: size_of::<Made>() as u64,
    };
    memory::require(&[all]).map_err(|message| {
        let way_out = "choose fewer runs, or several parts with other seeds";
        document.error(asked.mistake(format!("{message}: {way_out}")))
    })?;
    let made: Vec<Made> = seeds
        .into_par_iter()
        .map(|number| one(document, scenario, &sets, first + number, check))
        .collect();
    let mut runs = Vec::with_capacity(made.len());
    let mut detail = None;
    for made in made {
        let (outcome, of_first) = made?;
        runs.push(outcome);
        detail = detail.or(of_first);
    }
    Ok(Results {
        scenario,
        sets,
        runs,
        detail: detail.unwrap_or_default(),
    })
}

/// A run, with its details if it is the first.
type Made = Result<(Outcome, Option<Detail>), FlowLevelError>;

/// One run.
fn one(
    document: &Document,
    scenario: &FluidScenario,
    sets: &LinkSets,
    seed: u64,
    check: bool,
) -> Made {
    let flows = document.fluid_flows(scenario, &Parts::registered(), seed)?;
    let routes = routes(scenario, &flows.flows, seed)?;
    let (detail, rounds) = if flows.in_time() {
        let told = timeline::play(scenario, (&flows.flows, &routes), seed, check)?;
        (
            Detail::in_time(scenario, flows, &routes, &told),
            told.rounds,
        )
    } else {
        let links = (
            scenario.scenario.fluid.reserved.value,
            scenario.sink_cycles_per_flit,
        );
        let network = network(&scenario.layout.graph, links, &flows.flows, &routes);
        let rates = rates(scenario, &network, seed, check)?;
        let detail = Detail::at_once(scenario, flows, &routes, &rates);
        (detail, rates.rounds)
    };
    let outcome = Outcome::new(scenario, sets, seed, &detail, rounds);
    let is_first = seed == scenario.scenario.seed;
    Ok((outcome, is_first.then_some(detail)))
}

/// Routes of all flows, those of each phase chosen as if they were alone.
fn routes(
    scenario: &FluidScenario,
    flows: &[FluidFlow],
    seed: u64,
) -> Result<FlowRoutes, PolicyError> {
    let ways = Ways {
        graph: &scenario.layout.graph,
        tables: scenario.routes.as_ref().and_then(|routes| routes.tables()),
    };
    let phase = |flow: &FluidFlow| flow.phase.unwrap_or(0);
    let last = flows.iter().map(phase).max().unwrap_or(0);
    let mut ends = vec![Vec::new(); last as usize + 1];
    for flow in flows {
        ends[phase(flow) as usize].push(flow.ends);
    }
    let routes = ends
        .iter()
        .map(|ends| scenario.policy.routes(&ways, ends, seed));
    let phases: Vec<FlowRoutes> = routes.collect::<Result<_, PolicyError>>()?;
    let mut next = vec![0; phases.len()];
    let own = flows.iter().map(|flow| {
        let number = phase(flow) as usize;
        next[number] += 1;
        phases[number].of(next[number] - 1)
    });
    Ok(FlowRoutes::collect(own))
}

/// Rates of a network: always feasible, and with `check` all that the solver promises.
fn rates(
    scenario: &FluidScenario,
    network: &Network,
    seed: u64,
    check: bool,
) -> Result<Allocation, FlowLevelError> {
    let rates = (scenario.solver.solve)(network, seed)?;
    let checked = if check {
        (scenario.solver.check)(network, &rates)
    } else {
        crate::fluid::check::feasible(network, &rates)
    };
    checked.map_err(|unfair| FlowLevelError::Broken {
        seed,
        reason: unfair.to_string(),
    })?;
    Ok(rates)
}
