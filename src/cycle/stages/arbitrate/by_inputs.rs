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

use super::requests::{Asked, request_of, standing};
use crate::cycle::columns::turn;
use crate::cycle::rules::RuleSet;
use crate::cycle::view::View;
use crate::fabric::mask::{LaneMask, Mask};
use crate::fabric::rows::LaneRow;

/// The request an output serves now, as output lane and request bit, when every standing request has room;
/// `None`: it takes its turn by lanes.
#[inline]
pub(super) fn choose<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    asked: &Asked<W>,
) -> Option<(LaneRow, u16)> {
    let numbering = view.shared.numbering;
    let management = asked.lanes & view.shared.management();
    if !management.is_empty() {
        let lane = numbering.lane(asked.out, management.first());
        if let Some(bit) = request_of(view, asked, lane) {
            return Some((lane, bit));
        }
    }
    let (mut found, mut mask) = (LaneMask::EMPTY, Mask::EMPTY);
    for number in asked.lanes & !management {
        let standing = standing(view, asked, numbering.lane(asked.out, number));
        if !standing.has_room {
            return None;
        }
        if standing.any {
            found.insert(number);
            mask |= &standing.requests;
        }
    }
    if found.is_empty() {
        return None;
    }
    let bit = next_bit(view, asked, &mask);
    let number = if numbering.has_lanes_kept() {
        lane_in_turn(view, asked, found, bit)
    } else {
        lane_of(view, asked, found, bit)
    };
    Some((numbering.lane(asked.out, number), bit))
}

/// The input whose turn it is among those in `mask`, which is not empty, and its lane.
#[inline]
fn next_bit<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    asked: &Asked<W>,
    mask: &Mask<W>,
) -> u16 {
    let numbering = view.shared.numbering;
    let pointer = numbering.first_bit(asked.input_pointer) % (W as u16 * 64);
    let bit = mask.first_from(pointer).unwrap_or(0);
    let group = mask.within(numbering.beside(bit));
    if group.is_power_of_two() {
        return bit;
    }
    let first = numbering.first_bit(numbering.input_index(bit) as u8);
    let lanes = LaneMask::at(group, first);
    let pointer = view.turns[turn(asked.turns, numbering.input_index(bit))].0;
    first + view.shared.first_lane(lanes, pointer) as u16
}

/// Where a bit is an input, whose lanes request their own numbers: the one whose turn it is.
#[inline]
fn lane_in_turn<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    asked: &Asked<W>,
    found: LaneMask,
    bit: u16,
) -> u32 {
    if !found.has_several() {
        return found.first();
    }
    let numbering = view.shared.numbering;
    let requests = |&number: &u32| {
        let lane = numbering.lane(asked.out, number);
        view.lanes[lane].requests.contains(bit)
    };
    let lanes: LaneMask = found.into_iter().filter(requests).collect();
    let pointer = view.turns[turn(asked.turns, numbering.input_index(bit))].0;
    view.shared.first_lane(lanes, pointer)
}

/// The output lane of a request: of an open head that requests several, the first from the lane pointer.
#[inline]
fn lane_of<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    asked: &Asked<W>,
    mut found: LaneMask,
    bit: u16,
) -> u32 {
    while found.has_several() {
        let number = found.first_from(asked.pointer);
        let lane = view.shared.numbering.lane(asked.out, number);
        if view.lanes[lane].requests.contains(bit) {
            return number;
        }
        found.remove(number);
    }
    found.first()
}
