//! One flow, cycle by cycle: what it sends, what happens to its packets, what its sender is told and sets, and why it
//! does not send.
//!
//! As with a packet, the fabric is run one cycle at a time and looked at in between, so the run is the one that nobody
//! watches. Events of a cycle are told in the order of the stages.
//! Cost: per cycle one look at every queue of the fabric.

mod look;
mod packets;
mod reasons;
mod story;
mod teller;

pub use story::{FlowEvent, FlowStory, FlowWhat, Hold};

use super::{WatchError, is_deadlocked, unobserved, watchdog};
use crate::run::outcome::Settings;
use crate::run::simulation::Simulation;
use crate::run::sizing;
use crate::scenario::Resolved;
use look::FlowLooker;
use reasons::Watched;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use teller::Teller;

/// Tells of the cycles of a range what the flow with this id does: until all of it is delivered, at most as long as the
/// scenario measures; of one with a size as long as its phases may last.
///
/// # Errors
/// [`WatchError`].
pub fn watch_flow(
    resolved: &Resolved,
    id: u32,
    cycles: Range<u64>,
    settings: Settings,
    stop: &AtomicBool,
) -> Result<FlowStory, WatchError> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let unknown = || WatchError::NoFlow {
        asked: id,
        flows: plan.flows.len(),
    };
    let flow = plan.flows.get(id as usize).ok_or_else(unknown)?;
    let (threads, shards) = (settings.threads, settings.shards);
    let options = sizing::choose(plan, graph, &resolved.proof, threads, shards);
    let plan = unobserved(plan);
    let mut simulation = Simulation::new(&plan, graph, &resolved.routes, options)?;
    let phases = plan.phases;
    let drain = flow.flits.map_or(0, |_| phases.drain_limit);
    let end = (phases.warmup + phases.measure + drain).min(cycles.end);
    let looker = FlowLooker::new(graph, &simulation, &plan.flows, id);
    let mut looker = looker.ok_or_else(unknown)?;
    let watched = Watched {
        plan: &plan,
        id,
        flow,
    };
    let first = looker.look(&simulation, 0).ok_or_else(unknown)?;
    let mut teller = Teller::new(resolved, watched, cycles.start, first);
    let mut watchdog = watchdog(&plan, graph);
    let mut is_stuck = false;
    while simulation.now() < end && !teller.is_over() && !is_stuck {
        let cycle = simulation.now();
        if stop.load(Ordering::Relaxed) {
            return Err(WatchError::Stopped(cycle));
        }
        simulation.run_until(cycle + 1)?;
        if let Some(look) = looker.look(&simulation, cycle) {
            teller.tell(cycle, look);
        }
        is_stuck = is_deadlocked(&simulation, &plan, &mut watchdog);
    }
    Ok(teller.finish(&simulation, is_stuck))
}
