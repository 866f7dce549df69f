//! Contention of an output lane: the flits of the heads that request it and are not granted.
//!
//! Part of `Slot::Route` (`add`) and `Slot::Cross` (`remove`).
//! Writes: the sum of every lane
//! Cost: O(1) per request that is raised, granted or withdrawn; nothing with tables
//!
//! # Rules (D20)
//! 1. A request counts from the moment it is raised, so that heads of one cycle see those that chose before them, to the
//!    cycle in which it is granted or withdrawn.
//! 2. With a pool all lanes of an output are one.
//!
//! # Deviations
//! Fuentes et al. count packets and not flits, and all lanes of an output together.
//!
//! References: [`FUENTES_CONTENTION`](crate::references::FUENTES_CONTENTION)

use crate::cycle::snapshot::Persistent;
use serde::{Deserialize, Serialize};

/// What waits for an output lane; that of the port's first lane with a pool.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Contention {
    /// Flits of all heads that request it.
    pub flits: u32,
}

impl Persistent for Contention {}

impl Contention {
    /// A head of so many flits requests the lane.
    #[inline]
    pub(super) fn add(&mut self, flits: u16) {
        self.flits += u32::from(flits);
    }

    /// Its request is granted or withdrawn.
    #[inline]
    pub(super) fn remove(&mut self, flits: u16) {
        self.flits -= u32::from(flits);
    }
}
