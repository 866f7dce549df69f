//! Looks that mechanisms take at their shards every so many cycles.
//!
//! Cost: that of the looks.

use super::{GlobalAct, LastingAct};
use crate::cycle::ties::Regular;
use crate::run::outcome::RunError;
use crate::run::shards::Shards;

/// The looks of one mechanism.
pub(in crate::run) struct Looks(Regular);

impl Looks {
    /// Those of all mechanisms of a simulation.
    pub(in crate::run) fn all(shards: &Shards) -> Vec<Self> {
        shards.looks().iter().map(|&look| Self(look)).collect()
    }
}

impl GlobalAct for Looks {
    fn next(&self, from: u64) -> Option<u64> {
        Some(from.max(1).next_multiple_of(self.0.period))
    }

    fn act(&mut self, at: u64, shards: &mut Shards) -> Result<(), RunError> {
        for shard in 0..shards.shard_count() {
            (self.0.look)(shards.world_mut(shard), at);
        }
        Ok(())
    }
}

impl LastingAct for Looks {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn is_over(&self, _: u64) -> bool {
        true
    }

    fn will_move(&self, shards: &Shards) -> bool {
        shards.worlds().any(self.0.will_move)
    }

    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        Ok(Vec::new())
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}
