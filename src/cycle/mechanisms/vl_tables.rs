//! VL arbitration by tables: an arbiter with weights per port.
//!
//! Part of `Slot::Arbitrate` (switches), `Slot::Transmit` (channels behind output lanes) and `Slot::Inject` (hosts);
//! only where the plan gives tables. With input-first matching inputs have arbiters of their own.
//!
//! Cost: O(entries of the tables) per choice.
//!
//! References: [`IBA`](crate::references::IBA) section 7.6.9

use crate::cycle::columns::{InputLaneArbiter, LaneArbiter};
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::rules::RuleSet;
use crate::cycle::state::Grant;
use crate::cycle::view::View;
use crate::fabric::OutPort;
use crate::fabric::mask::LaneMask;
use crate::fabric::rows::{LaneRow, PortRow};
use crate::plan::Matching;
use crate::qos::VlArbitrationTables;
use crate::qos::vl_arbitration::VlChoice;

/// VL arbitration as a mechanism: an arbiter for every port. The stages ask it.
pub struct LaneArbiters(VlArbitrationTables);

impl Mechanism for LaneArbiters {
    fn of(site: &Site<'_>) -> Option<Self> {
        site.plan.switch.vl_arbitration.clone().map(Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let arbiter = LaneArbiter::new(&self.0);
        if shard.site().plan.switch.matching == Matching::InputFirst {
            shard.column::<OutPort, InputLaneArbiter>(InputLaneArbiter(arbiter.clone()));
        }
        shard.column::<OutPort, LaneArbiter>(arbiter);
    }
}

/// The lane that the arbiter of output `port` serves among `eligible` ones, of which there are some. Under the legacy rules
/// it moves, and `None` is a bubble after which it is asked again in the next cycle; else nothing changes.
#[inline]
pub(in crate::cycle) fn consult<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    port: PortRow,
    eligible: LaneMask,
) -> Option<VlChoice> {
    view.optional.vl[port].consult(view.shared, eligible)
}

/// [`consult`] for the lanes of input `port`.
#[inline]
pub(in crate::cycle) fn consult_input<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    port: PortRow,
    eligible: LaneMask,
) -> Option<VlChoice> {
    view.optional.vl_inputs[port]
        .0
        .consult(view.shared, eligible)
}

/// The lane that was chosen at an output has used its weight.
#[inline]
pub(in crate::cycle) fn commit<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    port: PortRow,
    choice: VlChoice,
    flits: u16,
) {
    view.optional.vl[port].commit(view.shared, choice, flits);
}

/// The lane of a crossbar grant has used its weight, at the output, or at the input if VL arbitration acts there.
#[inline]
pub(in crate::cycle) fn commit_grant<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    grant: &Grant,
    flits: u16,
) {
    let Some(choice) = grant.choice else {
        return;
    };
    match view.shared.matching() {
        Matching::OutputFirst => commit(view, grant.out, choice, flits),
        Matching::InputFirst => {
            view.optional.vl_inputs[grant.input]
                .0
                .commit(view.shared, choice, flits);
        }
    }
}

/// Which of the grants of an input it accepts first (D71), by their output lanes: those of the lowest kind; one kind without
/// such an order.
#[inline]
pub(in crate::cycle) fn kind<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    lane: LaneRow,
) -> u16 {
    let shared = view.shared;
    let Some(high) = shared.accepted_first() else {
        return 0;
    };
    let number = shared.numbering.number(lane);
    if shared.management().contains(number) {
        0
    } else if high.contains(number) {
        1
    } else {
        2
    }
}
