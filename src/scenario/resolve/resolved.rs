//! A scenario with everything that a run needs.

use super::super::sections::Scenario;
use super::layout::Layout;
use super::parts::Parts;
use crate::plan::{ClassPlan, Plan};
use crate::routing::loads::bound::Router;
use crate::routing::{Proof, Routes, Tables};

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
    /// Forwarding tables of the packets of a class, where it has some.
    pub fn tables_of(&self, class: &ClassPlan) -> Option<&Tables> {
        let own = self.plan.management_tables.as_deref();
        self.routes.tables().or(own.filter(|_| class.management))
    }

    /// What tells the ways of the packets of classes together.
    pub fn router_of(&self, classes: &[&ClassPlan]) -> Router<'_> {
        let Some(tables) = &self.plan.management_tables else {
            return Router::of(&self.routes);
        };
        let count = classes.iter().filter(|class| class.management).count();
        match count {
            0 => Router::of(&self.routes),
            _ if count == classes.len() => Router::Tables(tables),
            _ => Router::Unknown,
        }
    }

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
