//! Packets of flows whose last flit has passed the channel of their host in a cycle, for who waits for flows (D78).

use crate::cycle::snapshot::{Persistent, Resume};
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// A packet that has left its host.
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    /// Its flow (global id).
    pub flow: u32,
    /// Its class.
    pub class: u16,
    /// Its size \[flits\].
    pub flits: u16,
    /// Cycle from which on the channel is free of it.
    pub free: u64,
}

/// Those of the cycle, taken in it.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct Tails {
    #[serde(skip)]
    passed: Vec<Tail>,
}

impl Tails {
    /// A packet leaves its host.
    pub(super) fn push(&mut self, tail: Tail) {
        self.passed.push(tail);
    }

    /// Takes all of them.
    pub fn drain(&mut self) -> impl Iterator<Item = Tail> + '_ {
        self.passed.drain(..)
    }
}

impl Persistent for Tails {
    fn resume(&mut self, _: Self, _: &Resume<'_>) {}
}
