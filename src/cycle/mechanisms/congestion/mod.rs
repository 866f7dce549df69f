//! Congestion detection: which packets get the FECN bit.
//!
//! Stage: `Slot::Mark`
//! Reads: this cycle's arrivals and grants, routes of the packets
//! Writes: FECN bit of granted packets, its own columns
//! Cost: O(arrivals and grants of the cycle); nothing when marking is off
//!
//! # Rules
//! 1. By requests (D16): [`requests`].
//! 2. By fill (D36): a packet is counted for the output lane that it will request when it arrives in its queue, and no longer from its
//!    grant on. InfiniBand's marking (D37) and RoCE's (D38) look at it after all arrivals and grants of the cycle.
//!
//! # Deviations
//! InfiniBand leaves to the vendor what its threshold means in bytes, and what "has credits to send" means; D37 is one reading of it.
//! References: [`IBA`](crate::references::IBA) annex A10.

mod ecn;
mod fill;
mod infiniband;
pub mod requests;

pub use fill::Filling;
pub use infiniband::Pace;

pub(in crate::cycle) use fill::FillingAboard;
