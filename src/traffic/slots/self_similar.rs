//! Sends in bursts of all lengths, from Pareto ON/OFF sources that feed a counter: the sources of flows of seed 003 (S19).
//!
//! # Rules
//! 1. A tick of the flow's slot is a slot of the [process](crate::traffic::process) `SelfSimilar`.
//!
//! Cost: two powers per burst; a comparison per tick.
//!
//! References: [`SEM_JACOBSEN`]

use super::{BuildSlotSource, OfferedSource, SlotSource, SlotState};
use crate::references::SEM_JACOBSEN;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::Stream;
use crate::traffic::ProcessPart;
use crate::traffic::process::aggregate::Aggregate;
use crate::traffic::process::self_similar::{
    Law, Mode, aggregate, default_per_slot, default_shape, default_sources,
};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `SelfSimilar`.
pub(super) const ENTRY: Entry<BuildSlotSource> = Entry {
    name: "SelfSimilar",
    aliases: &["ParetoOnOff"],
    summary: "bursts of all lengths from Pareto ON/OFF sources (long-range dependent)",
    parameters: &[
        Parameter {
            name: "shape",
            kind: "number in (1, 2)",
            default: Some("1.5"),
            summary: "index of the tails of bursts and silences; the Hurst parameter is (3 - shape) / 2",
        },
        Parameter {
            name: "sources",
            kind: "integer in 1..=10000",
            default: Some("10"),
            summary: "ON/OFF sources behind one counter",
        },
        Parameter {
            name: "per_slot",
            kind: "number in (0, 1), at most 0.9999 in mode Normalised [packets]",
            default: Some("0.5"),
            summary: "mean number of packets per tick of the flow's slot",
        },
        Parameter {
            name: "mode",
            kind: "Normalised | Legacy",
            default: Some("Normalised"),
            summary: "silences that give `per_slot`, or the constants of the thesis, 0.572 with the defaults",
        },
    ],
    guarantees: &["stationary from the first tick on (Normalised)"],
    references: &[SEM_JACOBSEN],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "SelfSimilar")]
struct Parameters {
    #[serde(default = "default_shape")]
    shape: f64,
    #[serde(default = "default_sources")]
    sources: u32,
    #[serde(default = "default_per_slot")]
    per_slot: f64,
    #[serde(default)]
    mode: Mode,
}

#[derive(Debug)]
struct SelfSimilar(Aggregate);

impl SlotSource for SelfSimilar {
    fn start(&self, rng: &mut Stream) -> SlotState {
        let state = self.0.start(rng);
        SlotState {
            part: Some(Box::new(ProcessPart::Aggregate(state))),
            ..SlotState::default()
        }
    }

    fn sends(&self, state: &mut SlotState, rng: &mut Stream) -> bool {
        match state.part.as_deref_mut() {
            Some(ProcessPart::Aggregate(state)) => self.0.slot(state, rng),
            _ => false,
        }
    }
}

fn build(arguments: Arguments<'_>) -> Result<OfferedSource, ArgumentError> {
    let parameters: Parameters = arguments.parse()?;
    let law = Law {
        shape: parameters.shape,
        sources: parameters.sources,
        per_slot: parameters.per_slot,
        burst: None,
        mode: parameters.mode,
    };
    Ok(OfferedSource {
        source: Arc::new(SelfSimilar(aggregate(&law)?)),
        per_tick: law.per_slot,
    })
}
