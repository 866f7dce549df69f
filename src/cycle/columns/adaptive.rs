//! What adaptive routing keeps: the choices of heads, and the contention of an output lane, that is the flits of the heads that request it
//! and are not granted.
//!
//! Part of `Slot::Route` (`add`) and `Slot::Cross` (`remove`).
//! Writes: the sum of every lane
//! Cost: O(1) per request that is raised, granted or withdrawn; nothing with tables
//!
//! # Rules of contention (D20)
//! 1. A request counts from the moment it is raised, so that heads of one cycle see those that chose before them, to the
//!    cycle in which it is granted or withdrawn. With VOQ every packet counts from its choice on (D75).
//! 2. With a pool all lanes of an output are one.
//! 3. Where packets go flit by flit one is in the way of choices until its last flit has passed (D76), and fills nothing from its first on.
//!
//! # Deviations
//! Fuentes et al. count packets and not flits, and all lanes of an output together.
//!
//! References: [`FUENTES_CONTENTION`](crate::references::FUENTES_CONTENTION)

use super::{Request, Standing};
use crate::cycle::snapshot::{Persistent, Resume};
use crate::fabric::rows::{LaneRow, Rows};
use crate::rng::{Purpose, Stream, stream};
use serde::{Deserialize, Serialize};

/// What an input queue has for its choices; those of hosts are not used.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Choice {
    /// What is drawn.
    pub stream: Stream,
    /// What its head requests; with open selection only.
    pub requests: Vec<Request>,
    /// With VOQ, too, what stands at its lane (D84), at the first queue of that.
    pub standing: Option<Box<Standing>>,
}

impl Choice {
    /// Whether its head takes a lane only if the buffer behind it is empty.
    pub fn needs_empty(&self, lane: LaneRow) -> bool {
        let mut requests = self.requests.iter();
        requests.any(|request| request.lane == lane && request.needs_empty)
    }
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            stream: stream(0, Purpose::Adaptive, 0),
            requests: Vec::new(),
            standing: None,
        }
    }
}

impl Persistent for Choice {
    fn resume(&mut self, built: Self, how: &Resume<'_>) {
        if how.fork {
            self.stream = built.stream;
        }
    }
}

/// What waits for an output lane.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Contention {
    /// Flits of all that waits for it; with a pool those of the output, at its first lane.
    pub flits: u32,
    /// Those of the lane alone, but not of the packet that holds it (D76).
    of_lane: u32,
}

impl Persistent for Contention {}

impl Rows<'_, LaneRow, Contention> {
    /// So many flits wait for a lane, whose credits are counted in `row`.
    #[inline(always)]
    pub(in crate::cycle) fn add(&mut self, (lane, row): (LaneRow, LaneRow), flits: u16) {
        self[row].flits += u32::from(flits);
        self[lane].of_lane += u32::from(flits);
    }

    /// They are granted, or withdrawn.
    #[inline(always)]
    pub(in crate::cycle) fn remove(&mut self, (lane, row): (LaneRow, LaneRow), flits: u16) {
        self[row].flits -= u32::from(flits);
        self[lane].of_lane -= u32::from(flits);
    }

    /// They are granted, and stay in the way of others (D76).
    #[inline(always)]
    pub(in crate::cycle) fn hold(&mut self, lane: LaneRow, flits: u16) {
        self[lane].of_lane -= u32::from(flits);
    }

    /// They are in nobody's way any more; `row`: where the credits of their lane are counted.
    #[inline(always)]
    pub(in crate::cycle) fn release(&mut self, row: LaneRow, flits: u16) {
        self[row].flits -= u32::from(flits);
    }

    /// Flits that wait for a lane (D36).
    #[inline]
    pub(in crate::cycle) fn fill(&self, lane: LaneRow) -> u32 {
        self[lane].of_lane
    }
}
