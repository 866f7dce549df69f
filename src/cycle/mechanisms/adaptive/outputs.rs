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

/// So many ports are compared by bits.
pub(super) const MOST: usize = 64;

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
        self.row_of(self.head.first_port.plus(self.head.index(port)), lane)
    }

    /// The same of an output by its row.
    #[inline(always)]
    fn row_of(&self, out: PortRow, lane: u8) -> LaneRow {
        let lane = if self.shared.switch.pool {
            0
        } else {
            self.head.first_lane + lane
        };
        self.shared.numbering.lane(out, u32::from(lane))
    }

    /// How many flits wait for a candidate.
    #[inline]
    fn waiting(&self, candidate: Candidate) -> u32 {
        self.contention[self.row(candidate.port, candidate.lane)].flits
    }

    /// The place of one of the candidates for which fewest flits wait; one of several is drawn.
    pub(super) fn least(&mut self, found: &[Candidate]) -> usize {
        let (mut least, mut ties, mut first) = (u32::MAX, 0, 0);
        for (place, &candidate) in found.iter().enumerate() {
            let waiting = self.waiting(candidate);
            if waiting > least {
                continue;
            }
            if waiting < least {
                (least, ties, first) = (waiting, 0, place);
            }
            ties += 1;
        }
        if ties < 2 {
            return first;
        }
        let drawn = self.below(ties) as usize;
        let ways = (first..).zip(&found[first..]);
        let mut ways = ways.filter(|&(_, &candidate)| self.waiting(candidate) == least);
        ways.nth(drawn).map_or(first, |(place, _)| place)
    }

    /// The same for ports whose lane is the first of the group, at most [`MOST`]: places are bits.
    #[inline(always)]
    pub(super) fn least_port(&mut self, ports: &[u16]) -> usize {
        let (numbering, head) = (self.shared.numbering, &self.head);
        let first = self.row_of(head.first_port, 0);
        let (mut least, mut places, mut place) = (u32::MAX, 0_u64, 1_u64);
        for &port in ports {
            let row = LaneRow(first.0 + numbering.rows(head.index(port) as usize) as u32);
            let waiting = self.contention[row].flits;
            if waiting < least {
                (least, places) = (waiting, place);
            } else if waiting == least {
                places |= place;
            }
            place <<= 1;
        }
        let ties = places.count_ones();
        let drawn = if ties < 2 { 0 } else { self.below(ties) };
        for _ in 0..drawn {
            places &= places - 1;
        }
        places.trailing_zeros() as usize
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
