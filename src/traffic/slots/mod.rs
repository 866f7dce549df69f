//! Slot sources: whether a flow sends in a tick of its slot (D52 of the model).
//!
//! Pure state machines, one per flow, on the flow's own random stream, shared by the engine and the reference model.

mod chance;
mod self_similar;

use crate::registry::{ArgumentError, Arguments, Registry};
use crate::rng::Stream;
use crate::traffic::ProcessState;
use std::fmt::Debug;
use std::sync::Arc;

/// Every slot source a scenario can name. New ones: one file, one `mod` line, one line here.
pub static SLOT_SOURCES: Registry<BuildSlotSource> = Registry {
    kind: "slot source",
    entries: &[chance::ENTRY, self_similar::ENTRY],
    unclear: &[],
};

/// Whether a flow sends in a tick of its slot.
pub trait SlotSource: Debug + Send + Sync {
    /// Makes the state of one flow.
    fn start(&self, rng: &mut Stream) -> SlotState;

    /// Whether it sends in the next tick of its slot.
    fn sends(&self, state: &mut SlotState, rng: &mut Stream) -> bool;
}

/// State of a slot source for one flow; what the fields mean is the source's own business.
pub type SlotState = ProcessState;

/// A slot source with the packets that it makes.
#[derive(Clone, Debug)]
pub struct OfferedSource {
    /// The source.
    pub source: Arc<dyn SlotSource>,
    /// Mean number of packets per tick of a flow's slot, as it is asked for.
    pub per_tick: f64,
}

/// Makes a slot source from its arguments; the error names what is wrong and what is allowed.
pub type BuildSlotSource = fn(Arguments<'_>) -> Result<OfferedSource, ArgumentError>;
