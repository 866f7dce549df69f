//! The routes of the forwarding tables.
//!
//! Fails with: [`PolicyError`] when the engine routes while packets travel, or a flow has no way.
//! Cost: O(links of all routes).

use super::{BuildPolicy, Ends, FlowRoutes, Policy, PolicyError, Ways};
use crate::registry::Entry;
use serde::Deserialize;

/// Registers `Static`.
pub(super) const ENTRY: Entry<BuildPolicy> = Entry {
    name: "Static",
    aliases: &[],
    summary: "every flow on the route that the forwarding tables of `routing` give it",
    parameters: &[],
    guarantees: &["routes depend on no other flow and on no seed"],
    references: &[],
    build: |arguments| Ok(Box::new(arguments.parse::<Static>()?)),
};

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Static {}

impl Policy for Static {
    fn needs_tables(&self) -> bool {
        true
    }

    fn routes(&self, ways: &Ways<'_>, flows: &[Ends], _: u64) -> Result<FlowRoutes, PolicyError> {
        let Some(tables) = ways.tables else {
            return Err(PolicyError(
                "the routing engine routes while packets travel and has no forwarding tables; choose an engine that \
                 computes some, or another policy"
                    .into(),
            ));
        };
        let mut routes = FlowRoutes::new();
        for flow in flows {
            let path = tables.path(ways.graph, flow.source, flow.destination, flow.level);
            let path = path.ok_or_else(|| {
                let (from, to) = (flow.source, flow.destination);
                PolicyError(format!("host {from} has no way to host {to}"))
            })?;
            routes
                .channels
                .extend(path.iter().map(|(channel, _)| channel.0));
            routes.end();
        }
        Ok(routes)
    }
}
