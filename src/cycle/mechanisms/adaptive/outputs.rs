//! What a head sees of the outputs of its switch: what waits for them, what lies downstream, and its stream.
//!
//! Cost: O(1) per question.

use crate::cycle::columns::Contention;
use crate::cycle::rules::RuleSet;
use crate::cycle::state::{Adaptation, Shared};
use crate::cycle::view::View;
use crate::fabric::OutLane;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow, Seen};
use crate::ids::SwitchId;
use crate::rng::{Stream, below};
use crate::routing::adaptive::{Candidate, Local};

/// A head at its switch.
#[derive(Clone, Copy)]
pub(super) struct Head<'a> {
    pub(super) adaptation: &'a Adaptation,
    pub(super) queue: QueueRow,
    pub(super) packet: PacketRow,
    pub(super) switch: SwitchId,
    /// Indices of the ports of its switch among the connected ones, from port 1 on.
    pub(super) indices: &'a [u8],
    pub(super) first_port: PortRow,
    pub(super) first_lane: u8,
}

impl Head<'_> {
    /// Index of a port among the connected ones.
    #[inline]
    pub(super) fn index(&self, port: u16) -> u32 {
        u32::from(self.indices[usize::from(port) - 1])
    }
}

/// What a head sees of its switch.
pub(super) struct Outputs<'a, const W: usize> {
    head: Head<'a>,
    lanes: Seen<'a, LaneRow, OutLane<W>>,
    contention: Seen<'a, LaneRow, Contention>,
    stream: &'a mut Stream,
    shared: &'a Shared,
    now: u64,
}

impl<'a, const W: usize> Outputs<'a, W> {
    pub(super) fn new<P: RuleSet>(view: &'a mut View<'_, W, P>, head: Head<'a>) -> Self {
        Self {
            head,
            lanes: view.lanes.seen(),
            contention: view.optional.contention.seen(),
            stream: &mut view.optional.choices[head.queue].stream,
            shared: view.shared.shared(),
            now: view.now,
        }
    }
}

impl<const W: usize> Outputs<'_, W> {
    /// The lane of an output; the first one with a pool.
    fn row(&self, port: u16, lane: u8) -> LaneRow {
        let out = self.head.first_port.plus(self.head.index(port));
        let lane = if self.shared.switch.pool {
            0
        } else {
            self.head.first_lane + lane
        };
        self.shared.numbering.lane(out, u32::from(lane))
    }

    /// The places of the candidates for which fewest flits wait.
    #[inline(always)]
    pub(super) fn find_least(&self, found: &[Candidate], places: &mut Vec<u32>) {
        let mut least = u32::MAX;
        places.clear();
        for (place, candidate) in (0..).zip(found) {
            let waiting = self.contention[self.row(candidate.port, candidate.lane)].flits;
            if waiting > least {
                continue;
            }
            if waiting < least {
                least = waiting;
                places.clear();
            }
            places.push(place);
        }
    }
}

impl<const W: usize> Local for Outputs<'_, W> {
    fn load(&self, port: u16, lane: u8) -> u32 {
        let row = self.row(port, lane);
        let credits = self.lanes[row].available(self.now);
        self.head.adaptation.capacity.saturating_sub(credits)
    }

    fn below(&mut self, bound: u32) -> u32 {
        below(self.stream, bound)
    }
}
