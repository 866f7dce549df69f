//! Releases at the beginning of a round (D53): flows that were admitted and are over give back what the desk keeps for them.
//!
//! Cost: O(flows with a size that were admitted and have not been released, times shards).

use super::Rounds;
use crate::run::inspect::gone;
use crate::run::shards::Shards;

impl Rounds {
    /// Releases the flows that are over, in the order of their ids.
    pub(super) fn release(&mut self, shards: &Shards) {
        let mut over = Vec::new();
        let (askers, flows) = (&self.askers, &self.flows);
        self.state.held.retain(|&(asker, place)| {
            let request = &askers[asker as usize][place as usize];
            let size = flows[asker as usize][place as usize].1;
            let is_over = size.is_some_and(|flits| gone(shards, request.flow) == flits);
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
