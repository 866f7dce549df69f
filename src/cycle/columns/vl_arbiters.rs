//! Arbiters of VL arbitration by tables.
//!
//! Cost: O(entries of the tables) per choice.
//!
//! References: [`IBA`](crate::references::IBA) section 7.6.9

use crate::cycle::rules::{RuleSet, Rules as Options};
use crate::cycle::snapshot::Persistent;
use crate::fabric::mask::LaneMask;
use crate::qos::vl_arbitration::{Rules, VlChoice};
use crate::qos::{LegacyArbiter, VlArbiter, VlArbitrationTables};
use bevy_ecs::component::Component;
use serde::{Deserialize, Serialize};

/// The arbiter of an output, hosts included, or of the channel behind its output lanes.
#[derive(Component, Clone, Debug, Default, Serialize, Deserialize)]
pub struct LaneArbiter {
    standard: VlArbiter,
    /// In place of it, under the legacy rules (D54).
    legacy: Option<Box<LegacyArbiter>>,
}

impl Persistent for LaneArbiter {}

/// The arbiter of an input, with input-first matching (D8).
#[derive(Component, Clone, Debug, Default, Serialize, Deserialize)]
pub struct InputLaneArbiter(pub(in crate::cycle) LaneArbiter);

impl Persistent for InputLaneArbiter {}

impl LaneArbiter {
    /// That of a port before cycle 0.
    pub(in crate::cycle) fn new(tables: &VlArbitrationTables) -> Self {
        let legacy = || Box::new(LegacyArbiter::new(tables));
        Self {
            standard: VlArbiter::new(tables),
            legacy: (tables.rules == Rules::Legacy).then(legacy),
        }
    }

    /// The lane that it serves among `eligible` ones, of which there are some. Under the legacy rules it moves, and `None` is a
    /// bubble.
    #[inline]
    pub(in crate::cycle) fn consult<P: RuleSet>(
        &mut self,
        options: Options<'_, P>,
        eligible: LaneMask,
    ) -> Option<VlChoice> {
        let tables = options.tables()?;
        if options.legacy_arbitration() {
            return self.legacy.as_mut()?.consult(tables, eligible.bits());
        }
        let management = options.management().bits();
        self.standard.select(tables, eligible.bits(), management)
    }

    /// The lane that was chosen has used its weight.
    #[inline]
    pub(in crate::cycle) fn commit<P: RuleSet>(
        &mut self,
        options: Options<'_, P>,
        choice: VlChoice,
        flits: u16,
    ) {
        let Some(tables) = options.tables() else {
            return;
        };
        let size = tables.size(flits, options.traffic.flit_bytes);
        match &mut self.legacy {
            Some(legacy) if options.legacy_arbitration() => legacy.charge(tables, choice, size),
            _ => self.standard.commit(tables, choice, size),
        }
    }
}
