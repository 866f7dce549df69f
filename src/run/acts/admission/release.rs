//! Releases at the beginning of a round (D53): flows that were admitted and are over give back what the desk keeps for them.
//!
//! Cost: O(flows with a size that were admitted and have not been released, times shards).

use super::Rounds;
use super::trials::end_of;
use crate::cycle::mechanisms::dropping::Drops;
use crate::cycle::mechanisms::flows::{Flows, Tails};
use crate::run::shards::Shards;

impl Rounds {
    /// Releases the flows that are over, in the order of their ids.
    pub(super) fn release(&mut self, shards: &mut Shards) {
        let mut over = Vec::new();
        let (askers, flows) = (&self.askers, &self.flows);
        self.state.held.retain(|&(asker, place)| {
            let request = &askers[asker as usize][place as usize];
            let size = flows[asker as usize][place as usize].1;
            let is_over = size.is_some_and(|flits| gone(request.flow, shards) == flits);
            if is_over {
                over.push(request);
            }
            !is_over
        });
        over.sort_unstable_by_key(|request| request.flow);
        self.state.released += over.len() as u64;
        for request in over {
            self.plan.control.release(&mut self.state.desk, request);
        }
    }
}

/// Flits of a flow that have been delivered, rejected or dropped.
fn gone(flow: u32, shards: &mut Shards) -> u64 {
    let Some(end) = end_of(flow, shards) else {
        return 0;
    };
    let dropped = shards.each::<Drops>();
    let dropped: u64 = dropped
        .map(|drops| drops.of_flow(flow as usize).flits)
        .sum();
    let rejected = shards.resource_mut::<Flows>(end.shard as usize);
    let rejected = rejected.map_or(0, |flows| flows.rejected(end.row).flits);
    let delivered = shards.resource_mut::<Tails>(end.tail_shard as usize);
    delivered.map_or(0, |tails| tails.row(end.tail).delivered.flits) + rejected + dropped
}
