//! The requests of an output lane: which stand, which the lane has room for, and which of these it would serve.
//!
//! Part of `Slot::Arbitrate`.
//! Reads: request masks, credits, inputs with a place left
//! Writes: starved marks of lanes
//! Cost: O(1) where the lane has room for the largest packet, else O(requests)

use super::by_rule::by_rule;
use crate::cycle::joints::Behind as _;
use crate::cycle::rules::RuleSet;
use crate::cycle::view::View;
use crate::fabric::mask::{LaneMask, Mask};
use crate::fabric::rows::{LaneRow, PortRow, QueueRow, TurnRow};
use crate::plan::OutputArbitration;

/// A free output that is asked for a packet.
pub(super) struct Asked<const W: usize> {
    pub(super) out: PortRow,
    /// First port of the switch.
    pub(super) first_port: PortRow,
    /// Bits of the inputs that can send one more packet.
    pub(super) free: Mask<W>,
    /// Lanes with a request.
    pub(super) lanes: LaneMask,
    /// Round robin over output lanes.
    pub(super) pointer: u8,
    /// Round robin over inputs.
    pub(super) input_pointer: u8,
    /// First of the pointers over the lanes of each input.
    pub(super) turns: TurnRow,
}

/// Requests of a lane whose input can send one more packet.
pub(super) struct Standing<const W: usize> {
    pub(super) requests: Mask<W>,
    /// Whether there are any.
    pub(super) any: bool,
    /// Whether the lane has room for each of them.
    pub(super) has_room: bool,
}

/// The standing requests of a lane, which is no longer marked starved.
#[inline]
pub(super) fn standing<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    asked: &Asked<W>,
    lane: LaneRow,
) -> Standing<W> {
    let row = &mut view.lanes[lane];
    row.need = 0;
    let requests = &asked.free & &row.requests;
    let any = !requests.is_empty();
    let by_credits = view.shared.credits_alone() && !view.shared.reserve();
    let mut standing = Standing {
        requests,
        any,
        has_room: !any || by_credits && row.covers(view.shared.traffic.largest, view.now),
    };
    if !standing.has_room && !view.shared.reserve() {
        let mut fitting = requests;
        standing.has_room = without_room(view, asked, lane, &mut fitting).is_none();
    }
    standing
}

/// The eligible requests of a lane; none: the lane is marked starved where room is what is missing.
#[inline]
pub(super) fn eligible<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    asked: &Asked<W>,
    lane: LaneRow,
) -> Option<Mask<W>> {
    let standing = standing(view, asked, lane);
    if !standing.any {
        return None;
    }
    if standing.has_room {
        return Some(standing.requests);
    }
    let mut mask = standing.requests;
    if view.shared.reserve() {
        let winner = choose(view, lane, &mask)?;
        mask = Mask::EMPTY;
        mask.insert(winner);
    }
    let smallest = without_room(view, asked, lane, &mut mask);
    if !mask.is_empty() {
        return Some(mask);
    }
    if let Some(smallest) = smallest {
        view.starve(asked.out, lane, smallest);
    }
    None
}

/// The request a lane would serve now.
#[inline]
pub(super) fn request_of<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    asked: &Asked<W>,
    lane: LaneRow,
) -> Option<u16> {
    let mask = eligible(view, asked, lane)?;
    choose(view, lane, &mask)
}

/// The output arbiter's choice among the set bits of `mask`.
#[inline]
pub(in crate::cycle) fn choose<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    lane: LaneRow,
    mask: &Mask<W>,
) -> Option<u16> {
    match view.shared.output_arbitration() {
        OutputArbitration::RoundRobin => mask.first_from(view.lanes[lane].pointer),
        rule => by_rule(view, lane, mask, rule),
    }
}

/// Takes the requests that the lane has no room for out of `mask`; returns the size of the smallest of them.
fn without_room<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    asked: &Asked<W>,
    lane: LaneRow,
    mask: &mut Mask<W>,
) -> Option<u16> {
    let room = view.room(lane);
    let mut smallest = None;
    mask.retain(|bit| {
        let queue = view.queue_of(asked.first_port, bit, lane);
        let size = view.queues[queue].size;
        let is_too_large = u32::from(size) > room;
        if is_too_large {
            smallest = Some(smallest.map_or(size, |least: u16| least.min(size)));
        }
        !is_too_large
    });
    smallest
}

impl<const W: usize, P: RuleSet> View<'_, W, P> {
    /// The queue behind a request bit for the output lane `lane`, `first_port` the first port of the switch.
    #[inline]
    pub fn queue_of(&self, first_port: PortRow, bit: u16, lane: LaneRow) -> QueueRow {
        let numbering = self.shared.numbering;
        let out = numbering.port(lane);
        let input_lane = numbering.input_lane(first_port, bit, lane);
        (self.shared.classifier()).behind(input_lane, out.minus(first_port))
    }
}
