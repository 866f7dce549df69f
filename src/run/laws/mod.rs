//! The conservation laws of a run between two cycles (model section 6): what [`Ledger`] says of all shards.

#[cfg(test)]
pub(crate) mod halted;
#[cfg(test)]
mod tests;

use super::simulation::Simulation;
use crate::cycle::ledger::Ledger;
use crate::scenario::Resolved;

/// Whether all laws hold. Cost: O(state of the fabric).
///
/// # Errors
/// The first that does not, in words.
pub fn hold(resolved: &Resolved, simulation: &Simulation) -> Result<(), String> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let lanes = usize::from(plan.switch.lane_count()).next_power_of_two();
    let ledger = simulation.ledger(Ledger::new(graph.channels().len(), lanes));
    ledger.settle(plan.switch.lane_capacity, |channel| {
        let channel = graph.channel(channel);
        format!(
            "{} to {}",
            graph.endpoint_name(channel.from),
            graph.endpoint_name(channel.to)
        )
    })
}
