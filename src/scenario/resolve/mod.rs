//! Scenario to plan, graph and routes, in typed stages.
//!
//! `Scenario -> Layout` (clock, graph) `-> Plan` (classes against the graph) `-> Routes -> Proof`. Each
//! stage reads the results of earlier ones only; every complaint names the key it is about.

mod advice;
mod carry;
mod checks;
pub mod fluid;
pub mod fluid_flows;
pub mod known;
pub mod layout;
pub mod network;
mod notes;
pub mod parts;
pub(super) mod quantity;
pub mod resolved;
mod routed;
mod routes;
mod service_levels;
mod set_up;
pub mod stages;
mod unreachable;

pub use known::Known;
pub use layout::Layout;
pub use parts::Parts;
pub use resolved::Resolved;
pub use routed::route;
pub use routes::management;
pub use unreachable::named as unreachable_pairs;

use super::pairs::{self, Given};
use super::prove::{prove, prove_answers};
use super::sections::Scenario;
use super::sections::traffic;
use super::syntax::Mistake;
use super::{admissible, claimed, uncounted};
use crate::ids::INFINIBAND_LANES;
use crate::warnings::once as warn_once;
use std::path::Path;

/// What needs no graph is checked first: a typing error should not wait for a large fabric.
fn check_words(scenario: &Scenario, parts: &Parts<'_>) -> Result<(), Mistake> {
    let switch = &scenario.fabric.switch;
    switch.check(&scenario.qos)?;
    scenario.qos.check(switch.lanes.value)?;
    pairs::check(&Given {
        scenario,
        plan: None,
        routes: None,
    })?;
    scenario.fabric.topology.entry(parts.topologies)?;
    scenario.routing.entry(parts.engines)?;
    scenario.fluid.check_parts(parts)?;
    let mut classes = scenario.traffic.iter();
    classes.try_for_each(|class| class.check_parts(parts))?;
    let lanes = switch.lanes.value;
    if lanes > INFINIBAND_LANES {
        warn_once(&format!(
            "{lanes} data lanes: InfiniBand has at most {INFINIBAND_LANES}, so no InfiniBand fabric is like this"
        ));
    }
    Ok(())
}

/// All stages; routes and proofs that are known are not computed again. `varied` are key paths that have other values in other
/// runs of a study, beside the axes of the scenario's sweep.
///
/// # Errors
/// The first mistake of any stage.
pub fn resolve(
    scenario: Scenario,
    parts: &Parts<'_>,
    base: &Path,
    known: &Known,
    varied: &[String],
) -> Result<Resolved, Mistake> {
    check_words(&scenario, parts)?;
    let layout = stages::layout(&scenario, parts, base)?;
    let mut plan = stages::plan(&scenario, parts, &layout, base)?;
    claimed::check_alone(&scenario, &plan)?;
    checks::event_horizon(&scenario, &layout.graph, &plan)?;
    checks::table_size(&scenario, &layout.graph)?;
    let (routes, entry) = routed::known_route(&scenario, parts, &layout, &plan, base, known)?;
    let management = routes::beside(&layout.graph, &plan, &routes)
        .map_err(|error| scenario.routing.name.mistake(format!("VL15: {error}")))?;
    plan.management_tables = management;
    checks::standing(&scenario, &mut plan, &routes);
    set_up::check(&scenario, &layout.graph, &routes, &plan)?;
    carry::enter(&scenario, parts, &layout.graph, &routes, &mut plan)?;
    let proved = known.proof(entry.as_deref(), &plan, || {
        let advice = advice::Advice {
            scenario: &scenario,
            parts,
            layout: &layout,
            plan: &plan,
            base,
        };
        prove(&layout.graph, &routes, &plan)
            .map_err(|refusal| advice.against_refusal(refusal, &routes))
    });
    let mut proof = proved.map_err(|message| scenario.routing.name.mistake(message))?;
    if proof.unreachable_pairs > 0 {
        let pairs = unreachable::named(&layout.graph, &proof);
        warn_once(&format!("pairs of hosts that are not offered: {pairs}"));
        unreachable::leave_out(&scenario, &layout.graph, &routes, &mut plan)?;
    }
    traffic::complete_flows(&scenario, &layout.graph, &routes, &proof, &mut plan)?;
    traffic::check_groups(&scenario, &layout.graph, &routes, &plan)?;
    if let Err(message) = prove_answers(&layout.graph, &routes, &plan, &mut proof) {
        let mut classes = scenario.traffic.iter();
        let queue = classes.find_map(|class| class.answers.queue.as_ref());
        return Err(match queue {
            Some(queue) => queue.mistake(message),
            None => scenario.routing.name.mistake(message),
        });
    }
    let resolved = Resolved {
        scenario,
        layout,
        plan,
        routes,
        proof,
    };
    warn(&resolved, varied);
    Ok(resolved)
}

/// Tells what is no mistake, but worth knowing.
fn warn(resolved: &Resolved, varied: &[String]) {
    let notes = notes::notes(resolved, varied);
    let shared = uncounted::shared(resolved).into_iter();
    let shared = shared.filter_map(|shared| shared.warning());
    for note in notes
        .into_iter()
        .chain(admissible::notes(resolved))
        .chain(shared)
    {
        warn_once(&note);
    }
}
