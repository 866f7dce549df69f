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
use crate::qos::vl_arbitration::{Rules, VlChoice};
use crate::qos::{LegacyArbiter, VlArbiter, VlArbitrationTables};
use bevy_ecs::component::Component;
use serde::{Deserialize, Serialize};

/// Arbiter of an output, hosts included, or of an input when VL arbitration acts there.
#[derive(Component, Clone, Debug, Default, Serialize, Deserialize)]
pub struct LaneArbiter {
    standard: VlArbiter,
    /// In place of it, under the legacy rules (D54).
    legacy: Option<Box<LegacyArbiter>>,
}

impl Persistent for LaneArbiter {}

/// VL arbitration as a mechanism: an arbiter for every port. The stages ask it.
pub struct LaneArbiters(VlArbitrationTables);

impl Mechanism for LaneArbiters {
    fn of(site: &Site<'_>) -> Option<Self> {
        site.plan.switch.vl_arbitration.clone().map(Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let legacy = || Box::new(LegacyArbiter::new(&self.0));
        shard.column::<OutPort, LaneArbiter>(LaneArbiter {
            standard: VlArbiter::new(&self.0),
            legacy: (self.0.rules == Rules::Legacy).then(legacy),
        });
    }
}

/// The lane that the arbiter in row `port` serves among `eligible` ones, of which there are some, where the legacy rules
/// may be in force: then it moves, and `None` is a bubble after which it is asked again in the next cycle.
#[inline]
pub(in crate::cycle) fn consult<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    port: PortRow,
    eligible: LaneMask,
) -> Option<VlChoice> {
    if view.shared.legacy_arbitration() {
        let tables = view.shared.tables()?;
        let arbiter = view.optional.vl[port].legacy.as_mut()?;
        return arbiter.consult(tables, eligible.bits());
    }
    select(view, port, eligible)
}

/// The lane that the arbiter in row `port` serves among `eligible` ones; changes nothing.
#[inline]
pub(in crate::cycle) fn select<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    port: PortRow,
    eligible: LaneMask,
) -> Option<VlChoice> {
    let tables = view.shared.tables()?;
    let arbiter = &view.optional.vl[port].standard;
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
        let size = tables.size(flits, view.shared.traffic.flit_bytes);
        let is_legacy = view.shared.legacy_arbitration();
        let arbiter = &mut view.optional.vl[port];
        match &mut arbiter.legacy {
            Some(legacy) if is_legacy => legacy.charge(tables, choice, size),
            _ => arbiter.standard.commit(tables, choice, size),
        }
    }
}
