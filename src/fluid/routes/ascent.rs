//! Adaptive ascent: up by the links with the fewest flows, down by the only way.
//!
//! Guarantees: minimal routes; up, then down.
//! Cost: see [`setup`](super::setup).
//!
//! References: [`ZDORNOV_BIRK`] §3.2, §6.1

use super::setup::{Setup, Sideways, Ties};
use super::{BuildPolicy, Ends, FlowRoutes, Policy, PolicyError, Ways};
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
    build: |arguments| Ok(Box::new(arguments.parse::<Ascent>()?)),
};

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Ascent {
    ties: Ties,
}

impl Policy for Ascent {
    fn routes(
        &self,
        ways: &Ways<'_>,
        flows: &[Ends],
        seed: u64,
    ) -> Result<FlowRoutes, PolicyError> {
        let mut setup = Setup::new(ways.graph, "Ascent", Sideways::NEVER, self.ties, seed)?;
        Ok(setup.all(flows))
    }
}
