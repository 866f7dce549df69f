//! An output takes its turns by inputs: which input, then which of its lanes (D6 of the model).
//!
//! Part of `Slot::Arbitrate`, for round-robin output arbitration without VL tables and `reserve`.
//! Reads: as `arbitrate`
//! Writes: in `cross` the pointers
//! Cost: O(lanes with a request), one more load where an input has several lanes to choose from
//!
//! # Algorithm
//! iSLIP's grant step over inputs, whatever their lanes. One pointer per output is what makes the outputs look at
//! different inputs after a while; a pointer for each output lane does not, and then one round finds no more than
//! random choice would. Where a request lacks room the output takes its turn by lanes: a pointer over inputs could fall
//! into step with the credits of the lanes and starve a request.
//!
//! # Deviations
//! iSLIP has one queue per (input, output); the round robin over the lanes of an input below it is ours.
//!
//! References: [`ISLIP`](crate::references::ISLIP)

use super::requests::standing;
use super::{Asked, first_from, request_of};
use crate::cycle::rules::RuleSet;
use crate::cycle::state::Grant;
use crate::cycle::view::View;

/// The request an output serves now, as output lane row and input lane bit, when every standing request has room;
/// `None`: it takes its turn by lanes.
#[inline]
pub(super) fn choose<const W: usize, P: RuleSet>(
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
    let mut lanes = asked.lanes & !management;
    let (mut found, mut mask) = (0u16, [0; W]);
    while lanes != 0 {
        let number = lanes.trailing_zeros();
        lanes &= lanes - 1;
        let standing = standing(view, asked, first + number);
        if !standing.has_room {
            return None;
        }
        if standing.any {
            found |= 1 << number;
            for (word, requests) in mask.iter_mut().zip(&standing.requests) {
                *word |= requests;
            }
        }
    }
    if found == 0 {
        return None;
    }
    let bit = next_bit(view, asked, &mask);
    Some((first + lane_of(view, asked, found, bit), bit))
}

/// The input whose turn it is among those in `mask`, which is not empty, and its lane.
#[inline]
fn next_bit<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    asked: &Asked<W>,
    mask: &[u64; W],
) -> u16 {
    let shift = view.shared.lane_shift;
    let pointer = (u16::from(asked.input_pointer) << shift) % (W as u16 * 64);
    let bit = first_from(mask, pointer).unwrap_or(0);
    let (word, beside) = view.shared.lanes_beside(bit);
    let group = mask[word % W] & beside;
    if group.is_power_of_two() {
        return bit;
    }
    let first = bit & !(view.shared.lane_mask as u16);
    let lanes = (group >> (first % 64)) as u16;
    let pointer = view.turns[turn(asked.turns, bit, shift)].0;
    first + view.shared.first_lane(lanes, pointer) as u16
}

/// The output lane of a request: of an open head that requests several, the first from the lane pointer.
#[inline]
fn lane_of<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    asked: &Asked<W>,
    mut found: u16,
    bit: u16,
) -> u32 {
    let first = asked.out << view.shared.lane_shift;
    while found & (found - 1) != 0 {
        let ahead = found & (u16::MAX << asked.pointer);
        let number = if ahead == 0 { found } else { ahead }.trailing_zeros();
        let requests = &view.lanes[(first + number) as usize].requests;
        if requests[usize::from(bit / 64) % W] >> (bit % 64) & 1 != 0 {
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
pub(in crate::cycle) fn advance<const W: usize, P: RuleSet>(
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
        view.turns[entry].0 = (lane as u8 + 1) & view.shared.lane_mask as u8;
    }
}
