//! Random VOQ of open engines (D84): which cases with packets as units have it.

use super::strata::Stratum;
use super::{Case, Dice};
use virtlane::plan::{Forwarding, Queues, SwitchOptions};
use virtlane::rng::{Purpose, stream};
use virtlane::routing::adaptive::Selection;

/// Cases with VOQ, of those that may have it \[percent\].
const SHARE: u32 = 50;

/// VOQ for some cases without claims, and for those whose stratum needs it; those with claims keep their FIFO queues. After everything
/// else but VL15 is drawn. From a stream of its own, so that all else is drawn as without.
pub(super) fn add<R>(case: &mut Case<R>, selection: Selection, stratum: &Stratum) {
    let seed = case.plan.seed;
    let mut dice = Dice(stream(seed, Purpose::Topology, (1 << 57) + stratum.attempt));
    let is_drawn = dice.chance(SHARE);
    let is_it = match stratum.queues() {
        Some(queues) => queues == Queues::Voq,
        None => is_drawn,
    };
    if selection != Selection::Open || !is_it || !is_allowed(&case.plan.switch) {
        return;
    }
    let fork = case.fork.as_mut().map(|fork| &mut fork.plan);
    for plan in [Some(&mut case.plan), fork].into_iter().flatten() {
        plan.switch.queues = Queues::Voq;
    }
}

/// Whether nothing is there that D84 excludes; `reserve` is not there with any open engine.
fn is_allowed(switch: &SwitchOptions) -> bool {
    switch.forwarding != Forwarding::Wormhole && switch.allocation.claims.is_none()
}
