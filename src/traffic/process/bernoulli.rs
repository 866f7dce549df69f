//! One independent trial per cycle, drawn as geometric gaps.
//!
//! A packet is made in each cycle with probability p = load / (mean size * cycles per flit). The gap g >= 1
//! has probability p (1 - p)^(g-1); before the first packet lie g - 1 cycles, so cycle 0 is a trial like
//! every other.
//!
//! Cost: one draw and one logarithm per packet.
//!
//! References: [`DALLY_TOWLES`],
//! [`LAW_KELTON`]

use super::{LOAD, geometric, interval, inverse_log};
use crate::references::{DALLY_TOWLES, LAW_KELTON};
use crate::registry::{ArgumentError, Arguments, Entry};
use crate::rng::Stream;
use crate::traffic::{BuildProcess, Gap, OfferedProcess, Process, ProcessContext, ProcessState};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `Bernoulli`.
pub(super) const ENTRY: Entry<BuildProcess> = Entry {
    name: "Bernoulli",
    aliases: &[],
    summary: "an independent trial in every cycle (geometric gaps)",
    parameters: &[LOAD],
    guarantees: &["memoryless", "exact geometric gaps"],
    references: &[DALLY_TOWLES, LAW_KELTON],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Bernoulli")]
struct Parameters {
    load: f64,
}

#[derive(Debug)]
struct Bernoulli {
    inverse_log: f64,
}

impl Process for Bernoulli {
    fn start(&self, _: &mut Stream) -> ProcessState {
        ProcessState::default()
    }

    fn gap(&self, state: &mut ProcessState, rng: &mut Stream) -> Gap {
        let is_first = state.calls == 0;
        state.calls += 1;
        let failures = geometric(self.inverse_log, rng);
        Gap::After(failures + u64::from(!is_first))
    }
}

fn build(
    arguments: Arguments<'_>,
    context: ProcessContext,
) -> Result<OfferedProcess, ArgumentError> {
    let Parameters { load } = arguments.parse()?;
    let probability = 1.0 / interval("load", load, context)?;
    Ok(OfferedProcess {
        process: Arc::new(Bernoulli {
            inverse_log: inverse_log(probability),
        }),
        load,
    })
}
