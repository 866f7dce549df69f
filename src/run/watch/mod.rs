//! One packet, cycle by cycle: where it is after every cycle, and what it waits for.
//!
//! The fabric is run one cycle at a time and looked at through [`Columns`](crate::cycle::Columns) in between, so the
//! run is the one that nobody watches. Events follow from two looks in a row; what is decided and over within one cycle (a
//! request granted at once) follows from where the packet is then.
//! Cost: per cycle one look at a counter until the packet exists, then one at every queue of the fabric.

mod flow;
mod look;
mod places;
mod reasons;
mod story;
mod teller;

pub use flow::{FlowEvent, FlowStory, FlowWhat, Hold, watch_flow};
pub use story::{Event, Reason, Story, What};

use super::outcome::{RunError, Settings};
use super::simulation::Simulation;
use super::sizing;
use super::wait_for::WaitFor;
use super::watchdog::Watchdog;
use crate::ids::HostId;
use crate::measure::{Digest, Observe};
use crate::plan::{Forwarding, Plan, Times};
use crate::scenario::Resolved;
use crate::topology::Graph;
use look::Looker;
use places::Spot;
use std::sync::atomic::{AtomicBool, Ordering};
use teller::Teller;

/// Which packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketName {
    /// Host that makes it.
    pub source: HostId,
    /// Number of its class.
    pub class: u16,
    /// Its number there, from 0.
    pub sequence: u64,
}

/// Why a packet cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The host does not send in that class.
    #[error("host {host} sends no packets of class `{class}`")]
    Silent {
        /// The host.
        host: u32,
        /// Name of the class.
        class: String,
    },
    /// Packets go flit by flit (D65): one has no place of its own.
    #[error(
        "packets that go flit by flit (`fabric.switch.forwarding: Wormhole`) are in several places at a time and cannot be \
         watched: `observe.packets` records what becomes of each"
    )]
    SingleFlits,
    /// The source makes fewer packets.
    #[error(
        "host {host} makes {made} packets of class `{class}` in {cycles} cycles, numbered from 0: there is no number {asked}"
    )]
    Never {
        /// The host.
        host: u32,
        /// Name of the class.
        class: String,
        /// Packets made.
        made: u64,
        /// Cycles simulated.
        cycles: u64,
        /// Number asked for.
        asked: u64,
    },
    /// There is no such flow.
    #[error("{}", no_flow(*asked, *flows))]
    NoFlow {
        /// Id asked for.
        asked: u32,
        /// Flows of the scenario.
        flows: usize,
    },
    /// Stopped by a signal.
    #[error("stopped at cycle {0}")]
    Stopped(u64),
    /// The run cannot go on.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Worker threads could not be started.
    #[error("cannot start the worker threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

fn no_flow(asked: u32, flows: usize) -> String {
    match flows {
        0 => String::from("no class of the scenario has `flows`"),
        1 => format!("there is no flow {asked}: the scenario has flow 0 only"),
        _ => format!("there is no flow {asked}, expected 0 to {}", flows - 1),
    }
}

/// Runs until the packet is delivered, at most as long as the phases of the scenario may last.
///
/// # Errors
/// [`WatchError`].
pub fn watch(
    resolved: &Resolved,
    name: PacketName,
    settings: Settings,
    stop: &AtomicBool,
) -> Result<Story, WatchError> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    if plan.switch.forwarding == Forwarding::Wormhole {
        return Err(WatchError::SingleFlits);
    }
    let class = &plan.classes[usize::from(name.class)];
    let host = name.source.0;
    let senders = plan.senders(name.class);
    if senders.binary_search(&name.source).is_err() {
        let class = class.name.clone();
        return Err(WatchError::Silent { host, class });
    }
    let (threads, shards) = (settings.threads, settings.shards);
    let options = sizing::choose(plan, graph, &resolved.proof, threads, shards);
    let mut simulation = Simulation::new(&unobserved(plan), graph, &resolved.routes, options)?;
    let phases = plan.phases;
    let end = phases.warmup + phases.measure + phases.drain_limit;
    // packets of messages have numbers in the order of the source, not of their making
    let is_message = class.messages.is_some();
    let mut looker = Looker::new(graph, &simulation, name);
    let mut teller = Teller::new(resolved, name);
    let mut watchdog = watchdog(plan, graph);
    let mut is_stuck = false;
    while simulation.now() < end && !teller.is_over() && !is_stuck {
        if stop.load(Ordering::Relaxed) {
            return Err(WatchError::Stopped(simulation.now()));
        }
        let cycle = simulation.now();
        simulation.run_until(cycle + 1)?;
        if !is_message && looker.made(&simulation) <= name.sequence {
            continue;
        }
        let look = looker.look(&mut simulation, cycle);
        if !is_message || teller.has_begun() || look.spot != Spot::Nowhere {
            teller.tell(cycle, look);
            is_stuck = !teller.is_over() && is_deadlocked(&simulation, plan, &mut watchdog);
        }
    }
    let made = looker.made(&simulation);
    if !teller.has_begun() {
        return Err(WatchError::Never {
            host,
            class: class.name.clone(),
            made,
            cycles: simulation.now(),
            asked: name.sequence,
        });
    }
    Ok(teller.finish(&simulation, is_stuck))
}

/// The plan without records, which nobody takes here.
fn unobserved(plan: &Plan) -> Plan {
    Plan {
        observe: Observe::default(),
        ..plan.clone()
    }
}

/// Digest of all deliveries so far.
fn digest(simulation: &Simulation) -> Digest {
    let mut digest = Digest::default();
    for records in simulation.records() {
        digest.merge(records.measured.digest);
    }
    digest
}

/// When to look for packets that can never move again.
fn watchdog(plan: &Plan, graph: &Graph) -> Watchdog {
    Watchdog::new(Times::of(plan, graph).between_looks(plan.phases.watchdog))
}

/// Whether nothing can move, or nothing has moved for long and some packets never can.
fn is_deadlocked(simulation: &Simulation, plan: &Plan, watchdog: &mut Watchdog) -> bool {
    let totals = simulation.totals();
    let hops = simulation.hops().packets;
    let is_frozen = totals.in_fabric() > 0 && simulation.is_idle();
    let is_due = watchdog.is_due(simulation.now(), hops, &totals) && watchdog.is_still();
    is_frozen || is_due && !WaitFor::of(simulation, plan.switch.lane_capacity).is_empty()
}
