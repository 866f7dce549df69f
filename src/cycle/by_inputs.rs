//! An output takes its turns by inputs: which input, then which of its lanes (D6 of the model).
//!
//! Part of `Stage::Arbitrate`, for round-robin output arbitration without VL tables and `reserve`.
//! Reads: as `arbitrate`
//! Writes: starved marks of lanes when nothing is eligible; in `cross` the pointers
//! Cost: O(lanes with a request), one more load where an input has several lanes to choose from
//!
//! # Algorithm
//! iSLIP's grant step over inputs, whatever their lanes. One pointer per output is what makes the outputs look at
//! different inputs after a while; a pointer for each output lane does not, and then one round finds no more than
//! random choice would.
//!
//! # Deviations
//! McKeown has one queue per (input, output); the round robin over the lanes of an input below it is ours.
//!
//! References: [`ISLIP`](crate::references::ISLIP)

use super::arbitrate::{Asked, eligible, first_from, request_of, standing};
use super::state::Grant;
use super::view::View;

/// The request an output serves now: output lane row and input lane bit.
#[inline]
pub(super) fn choose<const W: usize, const P: bool>(
    view: &mut View<'_, W, P>,
    asked: &Asked<W>,
) -> Option<(u32, u16)> {
    let first = asked.out << view.shared.lane_shift;
    let management = asked.lanes & view.shared.management();
    if management != 0 {
        let lane = first + management.trailing_zeros();
        if let Some(bit) = request_of(view, asked, lane) {
            return Some((lane, bit));
        }
    }
    let data = asked.lanes & !management;
    let (mut lanes, mut found, mut mask) = (data, 0u16, [0; W]);
    while lanes != 0 {
        let number = lanes.trailing_zeros();
        lanes &= lanes - 1;
        if let Ok(eligible) = standing(view, asked, first + number) {
            found |= 1 << number;
            for (word, eligible) in mask.iter_mut().zip(&eligible) {
                *word |= eligible;
            }
        }
    }
    if found == 0 {
        starve_all(view, asked, data);
        return None;
    }
    let bit = next_bit(view, asked, &mask);
    Some((first + lane_of(view, asked, found, bit), bit))
}

/// Nothing is eligible: the lanes wait for what they lack.
#[cold]
fn starve_all<const W: usize, const P: bool>(
    view: &mut View<'_, W, P>,
    asked: &Asked<W>,
    mut lanes: u16,
) {
    let first = asked.out << view.shared.lane_shift;
    while lanes != 0 {
        let number = lanes.trailing_zeros();
        lanes &= lanes - 1;
        eligible(view, asked, first + number);
    }
}

/// The input whose turn it is among those in `mask`, which is not empty, and its lane.
#[inline]
fn next_bit<const W: usize, const P: bool>(
    view: &View<'_, W, P>,
    asked: &Asked<W>,
    mask: &[u64; W],
) -> u16 {
    let shift = view.shared.lane_shift;
    let pointer = (u16::from(asked.input_pointer) << shift) % (W as u16 * 64);
    let bit = first_from(mask, pointer).unwrap_or(0);
    let (word, beside) = view.shared.lanes_beside(bit);
    let group = mask[word % W] & beside;
    if group & (group - 1) == 0 {
        return bit;
    }
    let first = bit & !(view.shared.lane_mask as u16);
    let lanes = (group >> (first % 64)) as u16;
    let pointer = view.work.arbiters.lane_turns[turn(asked.turns, bit, shift)];
    first + view.shared.first_lane(lanes, pointer) as u16
}

/// The output lane of a request: of an open head that requests several, the first from the lane pointer.
#[inline]
fn lane_of<const W: usize, const P: bool>(
    view: &View<'_, W, P>,
    asked: &Asked<W>,
    mut found: u16,
    bit: u16,
) -> u32 {
    let first = asked.out << view.shared.lane_shift;
    let size = if view.shared.open() {
        let queue = view.queue_of(asked.first_port, bit, asked.out);
        view.queues[queue as usize].size
    } else {
        0
    };
    while found & (found - 1) != 0 {
        let ahead = found & (u16::MAX << asked.pointer);
        let number = if ahead == 0 { found } else { ahead }.trailing_zeros();
        let requests = &view.lanes[(first + number) as usize].requests;
        let stands = requests[usize::from(bit / 64) % W] >> (bit % 64) & 1 != 0;
        if stands && (size == 0 || view.room(first + number) >= u32::from(size)) {
            return number;
        }
        found &= !(1 << number);
    }
    found.trailing_zeros()
}

/// Entry of the lane pointer of an output for the input that has the request bit `bit`.
#[inline]
fn turn(turns: u32, bit: u16, shift: u32) -> usize {
    turns as usize + usize::from(bit >> shift)
}

/// Moves the pointers of an accepted grant for a data lane; that over inputs in the `first` round only.
#[inline]
pub(super) fn advance<const W: usize, const P: bool>(
    view: &mut View<'_, W, P>,
    grant: &Grant,
    first: bool,
) {
    let shift = view.shared.lane_shift;
    let out = &mut view.outs[grant.out as usize];
    if first {
        out.input_pointer = (grant.bit >> shift) as u8 + 1;
    }
    if shift != 0 {
        let lane = grant.bit & view.shared.lane_mask as u16;
        let entry = turn(out.turns, grant.bit, shift);
        view.work.arbiters.lane_turns[entry] = (lane as u8 + 1) & view.shared.lane_mask as u8;
    }
}
