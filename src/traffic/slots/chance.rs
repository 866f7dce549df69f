//! Sends in each tick with the same probability, whatever was before.
//!
//! Cost: one draw per tick of the flow's slot.

use super::{BuildSlotSource, OfferedSource, SlotSource, SlotState};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::{Stream, unit_interval};
use crate::traffic::invalid;
use serde::Deserialize;
use std::sync::Arc;

/// Registers `Chance`.
pub(super) const ENTRY: Entry<BuildSlotSource> = Entry {
    name: "Chance",
    aliases: &[],
    summary: "sends in each tick with the same probability",
    parameters: &[Parameter {
        name: "probability",
        kind: "number in (0, 1]",
        default: None,
        summary: "of a packet in a tick of the flow's slot",
    }],
    guarantees: &["independent trials"],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Chance")]
struct Chance {
    probability: f64,
}

impl SlotSource for Chance {
    fn start(&self, _: &mut Stream) -> SlotState {
        SlotState::default()
    }

    fn sends(&self, _: &mut SlotState, rng: &mut Stream) -> bool {
        unit_interval(rng) <= self.probability
    }
}

fn build(arguments: Arguments<'_>) -> Result<OfferedSource, ArgumentError> {
    let chance: Chance = arguments.parse()?;
    if !(chance.probability > 0.0 && chance.probability <= 1.0) {
        return Err(invalid(format!(
            "`probability` is {}; it must be above 0 and at most 1",
            chance.probability
        )));
    }
    Ok(OfferedSource {
        per_tick: chance.probability,
        source: Arc::new(chance),
    })
}
