//! Flits that have passed the crossbar and wait in output lanes for the channel (D79).
//!
//! Cost: O(1) per flit; memory 24 bytes for each flit that an output lane has room for.

use crate::cycle::snapshot::Persistent;
use crate::fabric::rows::{LaneRow, PacketRow, Row as _};
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// A flit behind the crossbar.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Flit {
    /// First cycle in which the channel may take it.
    pub(super) ready: u64,
    /// The packet whose first flit it is, if it goes to another switch or to a sink.
    pub(super) header: PacketRow,
    /// The packet whose last flit it is, if it goes to a host.
    pub(super) last: PacketRow,
}

impl Flit {
    const NONE: Self = Self {
        ready: 0,
        header: PacketRow::NONE,
        last: PacketRow::NONE,
    };
}

/// The flits behind the crossbar, a ring for each output lane.
#[derive(Resource, Clone, Debug, Serialize, Deserialize)]
pub struct Crossed {
    /// Room of a lane.
    buffer: usize,
    flits: Vec<Flit>,
    /// Place of the oldest flit of a lane, and how many there are.
    places: Vec<(u32, u32)>,
}

impl Persistent for Crossed {}

impl Crossed {
    /// None, for so many lanes.
    pub(super) fn new(lanes: usize, buffer: u32) -> Self {
        let buffer = buffer as usize;
        Self {
            buffer,
            flits: vec![Flit::NONE; lanes * buffer],
            places: vec![(0, 0); lanes],
        }
    }

    pub(super) fn first(&self, lane: LaneRow) -> Flit {
        let place = self.places[lane.index()].0 as usize;
        self.flits[lane.index() * self.buffer + place]
    }

    pub(super) fn push(&mut self, lane: LaneRow, flit: Flit) {
        let (first, count) = &mut self.places[lane.index()];
        let place = (*first as usize + *count as usize) % self.buffer;
        *count += 1;
        self.flits[lane.index() * self.buffer + place] = flit;
    }

    pub(super) fn pop(&mut self, lane: LaneRow) -> Flit {
        let flit = self.first(lane);
        let (first, count) = &mut self.places[lane.index()];
        *first = (*first + 1) % self.buffer as u32;
        *count -= 1;
        flit
    }

    /// Those of a lane.
    pub(super) fn of(&self, lane: usize) -> impl Iterator<Item = &Flit> {
        let (first, count) = self.places.get(lane).copied().unwrap_or_default();
        let places = first as usize..first as usize + count as usize;
        places.map(move |place| &self.flits[lane * self.buffer + place % self.buffer])
    }
}
