//! What elements tell each other.

use crate::fluid::link_worker::AppBits;
use std::sync::Arc;

/// Which PIF a message belongs to: number of the calculation, and of the PIF within it; both from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stamp {
    pub(super) calculation: u32,
    pub(super) phase: u32,
}

/// What the leader wants of all links.
#[derive(Clone, Debug)]
pub(super) enum Task {
    /// Their shares, when these are held at that level.
    Collect(Arc<AppBits>, u128),
    /// Whom this level holds.
    Distribute(u128),
}

/// What links have found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The least share, if any.
    Share(Option<u128>),
    /// All who are held.
    Held(AppBits),
}

impl Answer {
    /// With what others have found.
    pub(super) fn join(&mut self, other: Self) {
        match (self, other) {
            (Self::Share(own), Self::Share(other)) => {
                *own = own.iter().copied().chain(other).min();
            }
            (Self::Held(own), Self::Held(other)) => own.insert_all(&other),
            _ => unreachable!("elements of one PIF have one task"),
        }
    }
}

/// A message to an element, or what it does later.
#[derive(Clone, Debug)]
pub(super) enum Message {
    /// Away from the leader.
    Down(Stamp, Task),
    /// To the parent.
    Up(Stamp, Answer),
    /// A PIF has come to its end at the leader.
    Complete(Stamp),
    /// Levels of all applications, from the leader.
    Levels(u32, Arc<[u128]>),
    /// A flow of a change begins or ends, at the link of this place of its route.
    Announce { change: u32, flow: u32, place: u32 },
    /// All that is of a flow has returned to its source.
    Returned { change: u32 },
    /// The leader is to begin anew.
    Trigger,
}
