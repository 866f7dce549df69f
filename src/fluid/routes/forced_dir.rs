//! Adaptive ascent, and on the way down sideways in the direction with more switches left.
//!
//! Guarantees: up, then at every level from the top of the way on first sideways in one direction, then down.
//! Cost: see [`setup`](super::setup).
//!
//! References: [`ZDORNOV_BIRK`] §3.2, §6.2

use super::BuildPolicy;
use super::setup::{ByCounters, Hops, Sideways, SidewaysParameters, Ties};
use crate::references::ZDORNOV_BIRK;
use crate::registry::Entry;

/// Registers `ForcedDir`.
pub(super) const ENTRY: Entry<BuildPolicy> = Entry {
    name: "ForcedDir",
    aliases: &[],
    summary: "enriched trees: as Ascent, and sideways before each step down where a horizontal link has fewer flows; \
              always towards the farther end of the chain",
    parameters: &[Hops::PARAMETER, Ties::PARAMETER],
    guarantees: &[
        "up, then level by level sideways and down; sideways only where strictly fewer flows are",
        "flows are set up in a random order",
    ],
    references: &[ZDORNOV_BIRK],
    build: |arguments| {
        let SidewaysParameters { hops, ties } = arguments.parse()?;
        Ok(Box::new(ByCounters {
            name: "ForcedDir",
            sideways: Sideways::forced(hops),
            ties,
        }))
    },
};
