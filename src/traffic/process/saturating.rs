//! Always one packet waiting: the next one is made when the previous one has started on the channel.
//!
//! The first packet is made in cycle 0. Load 1.0 by definition; what is measured as created follows
//! what the fabric takes.
//!
//! Cost: no draw.

use crate::registry::{ArgumentError, Arguments, Entry};
use crate::rng::Stream;
use crate::traffic::{BuildProcess, Gap, OfferedProcess, Process, ProcessContext, ProcessState};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `Saturating`.
pub(super) const ENTRY: Entry<BuildProcess> = Entry {
    name: "Saturating",
    aliases: &["Backlogged"],
    summary: "always backlogged: the next packet is made when the previous one has left",
    parameters: &[],
    guarantees: &["at most one packet waits per source"],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Saturating")]
struct Parameters {}

#[derive(Debug)]
struct Saturating;

impl Process for Saturating {
    fn start(&self, _: &mut Stream) -> ProcessState {
        ProcessState::default()
    }

    fn gap(&self, state: &mut ProcessState, _: &mut Stream) -> Gap {
        let is_first = state.calls == 0;
        state.calls += 1;
        if is_first {
            Gap::After(0)
        } else {
            Gap::WhenSent
        }
    }
}

fn build(arguments: Arguments<'_>, _: ProcessContext) -> Result<OfferedProcess, ArgumentError> {
    let Parameters {} = arguments.parse()?;
    Ok(OfferedProcess {
        process: Arc::new(Saturating),
        load: 1.0,
    })
}
