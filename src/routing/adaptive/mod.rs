//! Adaptive routing: what an engine tells the fabric instead of forwarding tables.
//!
//! The rules around it (when a head chooses, what load is, whose random stream is used) are decision D20 of
//! `docs/model.md`. Here is only what engines provide; functions are pure, all state travels with the packet
//! as its [`Course`]. Engines of this program are written leg by leg ([`Legs`]), which is what can be proved.

mod any_lane;
mod explore;
mod extended;
pub mod legs;
mod proof;
mod totals;

#[cfg(test)]
mod tests;

pub use any_lane::{AnyLane, Lanes};
pub use legs::{Leg, Legs};
pub use proof::verify;

use super::Guarantees;
use crate::ids::{HostId, SlId, SwitchId};
use std::sync::Arc;

/// What a packet remembers of its route from switch to switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Course {
    /// Switch the packet goes through first; [`Course::DIRECT`] = none (any more).
    pub via: u32,
    /// The engine's own word: leg, directions, ...
    pub word: u16,
}

impl Course {
    /// `via` of a packet that goes straight to its destination.
    pub const DIRECT: u32 = u32::MAX;

    /// Straight to the destination, with nothing to remember.
    pub const STRAIGHT: Self = Self {
        via: Self::DIRECT,
        word: 0,
    };

    /// In two phases over `via`, with the words of the first and the last; straight, in the last, when `via` is an end.
    pub fn through(via: SwitchId, ends: [SwitchId; 2], [first, last]: [u16; 2]) -> Self {
        if ends.contains(&via) {
            return Self {
                via: Self::DIRECT,
                word: last,
            };
        }
        Self {
            via: via.0,
            word: first,
        }
    }
}

/// One way a head may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// Output port (from 1).
    pub port: u16,
    /// Lane within the group of the packet's service level.
    pub lane: u8,
    /// Belongs to the escape network that keeps an open engine free of deadlock.
    pub escape: bool,
}

impl Candidate {
    /// A port, on lane 0 and no escape.
    #[inline]
    pub fn at(port: u16) -> Self {
        Self {
            port,
            lane: 0,
            escape: false,
        }
    }
}

/// How a head uses its candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Requests the first one listed.
    First,
    /// Requests one drawn with equal chances.
    Random,
    /// Requests one for which fewest flits wait; ties are drawn.
    LeastLoad,
    /// Requests all; the first accepted grant withdraws the others.
    Open,
}

/// What a departing packet may look at.
pub trait Local {
    /// What lies downstream of an output port (from 1) and a lane of the packet's group \[flits\].
    fn load(&self, port: u16, lane: u8) -> u32;

    /// A uniform integer in `0..bound`; `bound` is at least 1.
    fn below(&mut self, bound: u32) -> u32;
}

/// An adaptive routing function.
pub trait AdaptiveRouting: Send + Sync + std::fmt::Debug {
    /// Lanes of a group.
    fn width(&self) -> u8;

    /// How heads use their candidates.
    fn selection(&self) -> Selection;

    /// Course of a packet that starts at `source`; straight on, with word 0, unless the engine has courses.
    fn depart(&self, source: SwitchId, destination: HostId, local: &mut dyn Local) -> Course {
        let _ = (source, destination, local);
        Course {
            via: Course::DIRECT,
            word: 0,
        }
    }

    /// Course of a packet that has come to `at`; the one that it has, unless it changes on the way.
    fn advance(&self, at: SwitchId, destination: HostId, course: Course) -> Course {
        let _ = (at, destination);
        course
    }

    /// Ways on from `at`, in the engine's order; replaces what `found` held.
    fn candidates(
        &self,
        at: SwitchId,
        destination: HostId,
        course: Course,
        found: &mut Vec<Candidate>,
    );

    /// The ports of [`Self::candidates`], in that order, where no candidate has another lane than 0 or is an escape, and the function
    /// keeps them in a list.
    fn ports(&self, _at: SwitchId, _destination: HostId, _course: Course) -> Option<&[u16]> {
        None
    }

    /// The same function leg by leg, for the proof; without it there is none, unless ports are those of tables.
    fn legs(&self) -> Option<&dyn Legs> {
        None
    }

    /// The function, when it takes any lane of the ways that tables tell.
    fn any_lane(&self) -> Option<&AnyLane> {
        None
    }
}

/// What an adaptive engine returns.
#[derive(Clone, Debug)]
pub struct Adaptive {
    /// Registered name of the engine.
    pub engine: String,
    /// The routing function.
    pub routing: Arc<dyn AdaptiveRouting>,
    /// What the engine promises; checked by [`verify`] before every run.
    pub guarantees: Guarantees,
    /// What the engine wants `virtlane routes` to show, as (name, value).
    pub remarks: Vec<(String, String)>,
}

/// First lane of the group of `sl`, with groups of `width` out of `lanes` lanes (D20).
pub fn first_lane(width: u8, lanes: u8, sl: SlId) -> u8 {
    let groups = (lanes / width).max(1);
    sl.0 % groups * width
}
