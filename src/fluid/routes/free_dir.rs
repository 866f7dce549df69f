//! Adaptive ascent, and on the way down sideways, at first in the direction of the link with the fewest flows.
//!
//! Guarantees: up, then at every level from the top of the way on first sideways in one direction, then down.
//! Cost: see [`setup`](super::setup).
//!
//! References: [`ZDORNOV_BIRK`] §3.2, §6.2

use super::setup::{Hops, Setup, Sideways, Ties};
use super::{BuildPolicy, Ends, FlowRoutes, Policy, PolicyError, Ways};
use crate::references::ZDORNOV_BIRK;
use crate::registry::Entry;
use serde::Deserialize;

/// Registers `FreeDir`.
pub(super) const ENTRY: Entry<BuildPolicy> = Entry {
    name: "FreeDir",
    aliases: &[],
    summary: "enriched trees: as ForcedDir, but the first horizontal link of a level may lead either way",
    parameters: &[Hops::PARAMETER, Ties::PARAMETER],
    guarantees: &[
        "up, then level by level sideways and down; sideways only where strictly fewer flows are",
        "flows are set up in a random order",
    ],
    references: &[ZDORNOV_BIRK],
    build: |arguments| Ok(Box::new(arguments.parse::<FreeDir>()?)),
};

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FreeDir {
    hops: Hops,
    ties: Ties,
}

impl Policy for FreeDir {
    fn routes(
        &self,
        ways: &Ways<'_>,
        flows: &[Ends],
        seed: u64,
    ) -> Result<FlowRoutes, PolicyError> {
        let sideways = Sideways::free(self.hops);
        let mut setup = Setup::new(ways.graph, "FreeDir", sideways, self.ties, seed)?;
        Ok(setup.all(flows))
    }
}
