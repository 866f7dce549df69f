//! VL arbitration by tables: an arbiter with weights per port.
//!
//! Part of `Slot::Arbitrate` (switches), `Slot::Transmit` (channels behind output lanes) and `Slot::Inject` (hosts);
//! only where the plan gives tables. With input-first matching inputs have arbiters of their own.
//!
//! Cost: O(entries of the tables) per choice.
//!
//! References: [`IBA`](crate::references::IBA) section 7.6.9

use crate::cycle::columns::{InputLaneArbiter, LaneArbiter};
use crate::cycle::joints::LaneChoice;
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

impl<const W: usize, P: RuleSet> LaneChoice for View<'_, W, P> {
    #[inline]
    fn consult(&mut self, port: PortRow, eligible: LaneMask) -> Option<VlChoice> {
        self.optional.vl[port].consult(self.shared, eligible)
    }

    #[inline]
    fn consult_input(&mut self, port: PortRow, eligible: LaneMask) -> Option<VlChoice> {
        self.optional.vl_inputs[port]
            .0
            .consult(self.shared, eligible)
    }

    #[inline]
    fn commit(&mut self, port: PortRow, choice: VlChoice, flits: u16) {
        self.optional.vl[port].commit(self.shared, choice, flits);
    }

    #[inline(always)]
    fn commit_grant(&mut self, grant: &Grant, flits: u16) {
        let Some(choice) = grant.choice else {
            return;
        };
        match self.shared.matching() {
            Matching::OutputFirst => self.commit(grant.out, choice, flits),
            Matching::InputFirst => {
                self.optional.vl_inputs[grant.input]
                    .0
                    .commit(self.shared, choice, flits);
            }
        }
    }

    #[inline]
    fn kind(&self, lane: LaneRow) -> u16 {
        let shared = self.shared;
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
}
