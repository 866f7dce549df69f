//! Control of flows: receivers that answer packets, senders that set what flows may send (D39 to D41 of the model).
//!
//! Stages: `Slot::Admit` (answers are made), the head of a lane in `Slot::Inject`, `Slot::Notify` (receivers and senders are
//! called); only where a class has control. What more control packets need than answers is in [`probes`](super::probes)
//! Reads: packets that started and packets that were delivered
//! Writes: its own state, limits and windows of flows, host visit lists
//! Cost: O(log answers under way) per answer, O(log timers) per timer that is set; a flow to which nothing happens costs nothing
//!
//! # Rules
//! 1. Of one flow, in one cycle: its packet that started, its answer that was delivered, its timer. Flows do not see each
//!    other, so their order does not matter. The flows of a group have one sender, in the row of the first of them.
//! 2. What a sender sets counts from the next cycle on: nothing of this cycle comes after `Slot::Notify` that asks for it.
//! 3. A timer that is set anew leaves its old entry in the heap, where it says nothing when it comes up.
//!
//! # Deviations
//! None. The algorithms are in [`control`](crate::control).

pub mod answers;
mod build;
mod make;
mod notify;
mod parts;
mod sender;
pub(in crate::cycle::mechanisms) mod senders;

pub use answers::Answers;
pub use build::Controlling;

pub(in crate::cycle) use notify::ControlAboard;
pub use senders::Senders;
