//! A scenario with everything that a run needs.

use super::super::sections::Scenario;
use super::layout::Layout;
use super::parts::Parts;
use crate::plan::Plan;
use crate::routing::{Proof, Routes};

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// What was written.
    pub scenario: Scenario,
    /// Clock, links and graph.
    pub layout: Layout,
    /// What the engine needs.
    pub plan: Plan,
    /// Forwarding tables or adaptive routing.
    pub routes: Routes,
    /// What is known about them.
    pub proof: Proof,
}

impl Resolved {
    /// Whether another seed may have other routes or another proof on the same graph: where the engine draws, or flows enter
    /// what is proved.
    pub fn is_drawn(&self, parts: &Parts<'_>) -> bool {
        let part = &self.scenario.routing;
        let engine = part.entry(parts.engines).map(|entry| entry.build);
        let engine = engine.and_then(|build| part.build(build));
        let (plan, proof) = (&self.plan, &self.proof);
        let has_flows = plan.routes_of_flows.is_some() || proof.held.is_some();
        has_flows || proof.unreachable_pairs > 0 || engine.map_or(true, |engine| engine.is_drawn())
    }
}
