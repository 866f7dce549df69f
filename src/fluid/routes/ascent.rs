//! Adaptive ascent: up by the links with the fewest flows, down by the only way.
//!
//! Guarantees: minimal routes; up, then down.
//! Cost: see [`setup`](super::setup).
//!
//! References: [`ZDORNOV_BIRK`] §3.2, §6.1

use super::BuildPolicy;
use super::setup::{ByCounters, Sideways, Ties};
use crate::references::ZDORNOV_BIRK;
use crate::registry::Entry;
use serde::Deserialize;

/// Registers `Ascent`.
pub(super) const ENTRY: Entry<BuildPolicy> = Entry {
    name: "Ascent",
    aliases: &["AdaptiveAscent"],
    summary: "fat trees: up by the link with the fewest flows, down by the only way",
    parameters: &[Ties::PARAMETER],
    guarantees: &["minimal", "flows are set up in a random order"],
    references: &[ZDORNOV_BIRK],
    build: |arguments| {
        let Ascent { ties } = arguments.parse()?;
        Ok(Box::new(ByCounters {
            name: "Ascent",
            sideways: Sideways::NEVER,
            ties,
        }))
    },
};

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Ascent {
    ties: Ties,
}
