//! Scenario to plan, graph and routes, in typed stages.
//!
//! `Scenario -> Layout` (clock, graph) `-> Plan` (classes against the graph) `-> Routes -> Proof`. Each
//! stage reads the results of earlier ones only; every complaint names the key it is about.

mod checks;
mod classes;
mod clock;
mod faults;
mod links;
mod messages;
mod observe;
mod routes;
mod unreachable;

pub use routes::{management, route};
pub use unreachable::named as unreachable_pairs;

use super::prove::prove;
use super::schema::{Demand, Scenario, Switch};
use super::syntax::{At, Mistake};
use crate::plan::{HostOptions, Phases, Plan, SwitchOptions};
use crate::registry::Registry;
use crate::routing::{BuildEngine, ENGINES, Proof, Routes};
use crate::topology::faults::Failed;
use crate::topology::{
    BuildContext, BuildTopology, ChannelTiming, Graph, TOPOLOGIES, TopologyError,
};
use crate::traffic::messages::BuildMessages;
use crate::traffic::{BuildPattern, BuildProcess, MESSAGE_SOURCES, PATTERNS, PROCESSES};
use crate::units::{Amount, Clock, Time};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Longest latency or delay \[cycles\]: milliseconds on any link, far beyond a cluster.
const LONGEST_DELAY: u64 = 1_000_000;
/// Longest phase \[cycles\]: far beyond any run, and sums of a few cannot overflow.
const LONGEST_PHASE: u64 = 1_000_000_000_000_000;
/// Largest buffer \[flits\].
const LARGEST_BUFFER: u64 = 1 << 30;
/// Shortest automatic drain \[cycles\].
const SHORTEST_DRAIN: u64 = 10_000;

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
    let clock = clock::choose(scenario, &own_rates)?;
    let switch_link = clock::timing(&scenario.fabric.link, clock)?;
    let host_link = clock::timing(&scenario.fabric.host_link, clock)?;
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
    let graph = links::except(scenario, clock, graph.formed(&part.one_line()))?;
    let (graph, failed) = match &scenario.faults {
        Some(faults) => faults::apply(faults, graph, scenario.seed)?,
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

/// Warns, unless it was said before: a study builds the same fabric many times.
fn warn_once(note: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(note.to_owned()) {
        tracing::warn!("{note}");
    }
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
    let mut classes = classes::classes(scenario, parts, layout)?;
    let workloads = messages::workloads(scenario, parts, layout, base, &mut classes)?;
    let plan = Plan {
        title: scenario.title.clone(),
        seed: scenario.seed,
        flit_bytes: clock.flit_bytes,
        reference_rate: clock.reference_rate,
        switch: switch(scenario, clock)?,
        host: HostOptions {
            sink_cycles_per_flit: clock::sink(scenario, clock)?,
            source_queue: scenario.fabric.source_queue,
        },
        classes,
        workloads,
        phases: phases(scenario, clock)?,
        allow_deadlock: scenario.allow_deadlock,
        allow_unreachable: scenario.allow_unreachable,
        observe: observe::observe(scenario)?,
    };
    checks::capacity(scenario, &plan)?;
    checks::output_lanes(scenario, &plan)?;
    Ok(plan)
}

/// All stages.
///
/// # Errors
/// The first mistake of any stage.
pub fn resolve(scenario: Scenario, parts: &Parts<'_>, base: &Path) -> Result<Resolved, Mistake> {
    // what needs no graph is checked first: a typing error should not wait for a large fabric
    checks::options(&scenario)?;
    scenario.fabric.topology.entry(parts.topologies)?;
    scenario.routing.entry(parts.engines)?;
    for class in &scenario.traffic {
        match &class.demand {
            Demand::Packets { pattern, process } => {
                pattern.entry(parts.patterns)?;
                process.entry(parts.processes)?;
            }
            Demand::Messages(messages) => {
                messages.entry(parts.messages)?;
            }
        }
    }
    let layout = layout(&scenario, parts, base)?;
    let mut plan = plan(&scenario, parts, &layout, base)?;
    checks::event_horizon(&scenario, &layout.graph, &plan)?;
    checks::table_size(&scenario, &layout.graph)?;
    let routes = route(&scenario, parts, &layout, &plan, base)?;
    let proof = prove(&layout.graph, &routes, &plan)
        .map_err(|message| scenario.routing.name.mistake(message))?;
    if proof.unreachable_pairs > 0 {
        let pairs = unreachable::named(&layout.graph, &proof);
        warn_once(&format!("pairs of hosts that are not offered: {pairs}"));
        unreachable::leave_out(&scenario, &layout.graph, &routes, &mut plan)?;
    }
    Ok(Resolved {
        scenario,
        layout,
        plan,
        routes,
        proof,
    })
}

/// A time in cycles, within limits.
fn cycles(time: &At<Time>, clock: Clock, least: u64, most: u64) -> Result<u64, Mistake> {
    let cycles = time.value.cycles(clock);
    if (least..=most).contains(&cycles) {
        return Ok(cycles);
    }
    let length = match time.value {
        Time::Cycles(_) => String::new(),
        Time::Picoseconds(_) => {
            let cycle = clock.cycle_picoseconds() / 1000.0;
            format!(" = {cycles} cycles of {cycle:.3} ns")
        }
    };
    let limit = if cycles < least {
        format!(
            "at least {least} cycle{}",
            if least == 1 { "" } else { "s" }
        )
    } else {
        format!("at most {most} cycles")
    };
    Err(time.mistake(format!("`{}`{length}: expected {limit}", time.value)))
}

fn delay(time: &At<Time>, clock: Clock, least: u64) -> Result<u32, Mistake> {
    cycles(time, clock, least, LONGEST_DELAY).map(|cycles| cycles as u32)
}

/// An amount in flits, within limits.
fn flits(amount: &At<Amount>, clock: Clock, least: u64, most: u64) -> Result<u64, Mistake> {
    let flits = amount.value.flits(clock);
    if (least..=most).contains(&flits) {
        return Ok(flits);
    }
    let length = match amount.value {
        Amount::Flits(_) => String::new(),
        Amount::Bytes(_) => format!(" = {flits} flits of {} B", clock.flit_bytes),
    };
    let message = format!(
        "`{}`{length}: expected {least} to {most} flits",
        amount.value
    );
    Err(amount.mistake(message))
}

fn switch(scenario: &Scenario, clock: Clock) -> Result<SwitchOptions, Mistake> {
    let switch: &Switch = &scenario.fabric.switch;
    let buffer =
        |amount, least| flits(amount, clock, least, LARGEST_BUFFER).map(|size| size as u32);
    let options = SwitchOptions {
        lanes: switch.lanes.value,
        management_lane: scenario.management_lane.value,
        lane_capacity: buffer(&switch.lane_capacity, 1)?,
        queues: switch.queues.value,
        sharing: switch.sharing.value,
        input_speedup: switch.input_speedup.value,
        output_buffer: buffer(&switch.output_buffer, 0)?,
        output_lane_buffer: buffer(&switch.output_lane_buffer, 0)?,
        matching: switch.matching.value,
        iterations: switch.iterations,
        output_arbitration: switch.output_arbitration.value,
        reserve: switch.reserve.value,
        forwarding: switch.forwarding,
        routing_delay: delay(&switch.routing_delay, clock, 0)?,
        allocation_delay: delay(&switch.allocation_delay, clock, 0)?,
        crossbar_delay: delay(&switch.crossbar_delay, clock, 0)?,
        credit_latency: match &switch.credit_latency {
            Some(time) => Some(delay(time, clock, 1)?),
            None => None,
        },
        vl_arbitration: scenario
            .vl_arbitration
            .as_ref()
            .map(|tables| tables.value.clone()),
        marking_threshold: match &switch.marking_threshold {
            Some(amount) => Some(buffer(amount, 1)?),
            None => None,
        },
    };
    if options.output_buffer > 0 && options.output_lane_buffer > 0 {
        return Err(switch.output_lane_buffer.mistake(
            "does not go with `output_buffer`: an output has one buffer, or one for each of its lanes",
        ));
    }
    if options.routing_delay + options.allocation_delay + options.crossbar_delay == 0 {
        return Err(switch.routing_delay.mistake(
            "routing, allocation and crossbar delay are all 0 cycles: expected at least 1 in total",
        ));
    }
    Ok(options)
}

fn phases(scenario: &Scenario, clock: Clock) -> Result<Phases, Mistake> {
    let phases = &scenario.phases;
    let warmup = cycles(&phases.warmup.time, clock, 0, LONGEST_PHASE)?;
    let measure = cycles(&phases.measure.time, clock, 1, LONGEST_PHASE)?;
    let wall_time = phases.measure.wall_time.as_ref().map(|time| time.value);
    Ok(Phases {
        warmup,
        find_warmup: phases.warmup.is_automatic,
        measure,
        precision: phases.measure.precision,
        until_messages: phases.measure.until_messages,
        wall_seconds: wall_time.and_then(Time::seconds),
        drain_limit: match &phases.drain {
            Some(time) => cycles(time, clock, 0, LONGEST_PHASE)?,
            None => (warmup + measure).max(SHORTEST_DRAIN),
        },
        watchdog: cycles(&phases.watchdog, clock, 1, LONGEST_PHASE)?,
    })
}
