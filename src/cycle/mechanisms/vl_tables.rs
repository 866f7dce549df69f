//! VL arbitration by tables: an arbiter with weights per port.
//!
//! Part of `Slot::Arbitrate` (switches), `Slot::Transmit` (channels behind output lanes) and `Slot::Inject` (hosts);
//! only where the plan gives tables.
//!
//! Cost: O(entries of the tables) per choice.
//!
//! References: [`IBA`](crate::references::IBA) section 7.6.9

use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::rules::RuleSet;
use crate::cycle::snapshot::Persistent;
use crate::cycle::view::View;
use crate::fabric::OutPort;
use crate::fabric::mask::LaneMask;
use crate::fabric::rows::PortRow;
use crate::qos::vl_arbitration::VlChoice;
use crate::qos::{VlArbiter, VlArbitrationTables};
use bevy_ecs::component::Component;
use serde::{Deserialize, Serialize};

/// Arbiter of an output, hosts included, or of an input when VL arbitration acts there.
#[derive(Component, Clone, Debug, Default, Serialize, Deserialize)]
pub struct LaneArbiter(pub VlArbiter);

impl Persistent for LaneArbiter {}

/// VL arbitration as a mechanism: an arbiter for every port. The stages ask it.
pub struct LaneArbiters(VlArbitrationTables);

impl Mechanism for LaneArbiters {
    fn of(site: &Site<'_>) -> Option<Self> {
        site.plan.switch.vl_arbitration.clone().map(Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.column::<OutPort, LaneArbiter>(LaneArbiter(VlArbiter::new(&self.0)));
    }
}

/// The lane that the arbiter in row `port` serves among `eligible` ones.
#[inline]
pub(in crate::cycle) fn select<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    port: PortRow,
    eligible: LaneMask,
) -> Option<VlChoice> {
    let tables = view.shared.tables()?;
    let arbiter = &view.optional.vl[port].0;
    let management = view.shared.management();
    arbiter.select(tables, eligible.bits(), management.bits())
}

/// The lane that was chosen has used its weight.
#[inline]
pub(in crate::cycle) fn commit<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    port: PortRow,
    choice: VlChoice,
    flits: u16,
) {
    if let Some(tables) = view.shared.tables() {
        let bytes = u64::from(flits) * u64::from(view.shared.traffic.flit_bytes);
        view.optional.vl[port].0.commit(tables, choice, bytes);
    }
}
