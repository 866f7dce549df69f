//! A slow sink that takes single flits (D12, D78).

use crate::reference::link::Link;
use crate::reference::packet::Flit;

/// Takes one flit at a time, lanes in turn.
#[derive(Debug)]
pub(in crate::reference) struct FlitSink {
    /// Cycles per flit.
    pace: u64,
    lanes: usize,
    /// Next lane; VL15 is the last one.
    pointer: usize,
    /// First cycle in which it can take a flit again.
    free_at: u64,
}

impl FlitSink {
    pub(in crate::reference) fn new(pace: u64, lanes: usize) -> Self {
        Self {
            pace,
            lanes,
            pointer: 0,
            free_at: 0,
        }
    }

    /// The flit that it takes in this cycle, whose arrivals are in the buffer.
    pub(in crate::reference) fn take(&mut self, link: &Link, now: u64) -> Option<Flit> {
        if now < self.free_at {
            return None;
        }
        let mut circle = (0..self.lanes).map(|step| (self.pointer + step) % self.lanes);
        let (lane, flit) = circle.find_map(|lane| {
            // flits of a lane stand in the order in which they came
            let mut stored = link.buffer.iter();
            let first = stored.find(|stored| stored.lane == lane)?;
            Some((lane, first.flit))
        })?;
        self.pointer = (lane + 1) % self.lanes;
        self.free_at = now + self.pace;
        Some(flit)
    }
}
