//! The requests of an output lane: which stand, and which the lane has room for.
//!
//! Part of `Slot::Arbitrate`.
//! Reads: request masks, credits, inputs with a place left
//! Writes: starved marks of lanes
//! Cost: O(1) where the lane has room for the largest packet, else O(requests)

use super::{Asked, choose};
use crate::cycle::rules::RuleSet;
use crate::cycle::view::View;

/// Requests of a lane whose input can send one more packet.
pub(super) struct Standing<const W: usize> {
    pub(super) requests: [u64; W],
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
    lane: u32,
) -> Standing<W> {
    let row = &mut view.lanes[lane as usize];
    row.need = 0;
    let mut requests = asked.free;
    let mut any = 0;
    for (word, request) in requests.iter_mut().zip(&row.requests) {
        *word &= request;
        any |= *word;
    }
    let unlimited = !view.shared.pool() && !view.shared.reserve();
    let by_credits = unlimited && view.shared.output_lane_buffer() == 0;
    let mut standing = Standing {
        requests,
        any: any != 0,
        has_room: any == 0 || by_credits && row.covers(view.shared.traffic.largest, view.now),
    };
    if !standing.has_room && !view.shared.reserve() {
        standing.has_room = without_room(view, asked, lane, &mut requests).is_none();
    }
    standing
}

/// The eligible requests of a lane; none: the lane is marked starved where room is what is missing.
#[inline]
pub(super) fn eligible<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    asked: &Asked<W>,
    lane: u32,
) -> Option<[u64; W]> {
    let standing = standing(view, asked, lane);
    if !standing.any {
        return None;
    }
    if standing.has_room {
        return Some(standing.requests);
    }
    let mut mask = standing.requests;
    if view.shared.reserve() {
        let winner = choose(view, asked.out, lane, &mask)?;
        mask = [0; W];
        mask[usize::from(winner / 64)] = 1 << (winner % 64);
    }
    let smallest = without_room(view, asked, lane, &mut mask);
    if mask.iter().any(|&word| word != 0) {
        return Some(mask);
    }
    if let Some(smallest) = smallest {
        view.starve(asked.out, lane, smallest);
    }
    None
}

/// Takes the requests that the lane has no room for out of `mask`; returns the size of the smallest of them.
fn without_room<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    asked: &Asked<W>,
    lane: u32,
    mask: &mut [u64; W],
) -> Option<u16> {
    let room = view.room(lane);
    let mut smallest = None;
    for (i, word) in mask.iter_mut().enumerate() {
        let mut rest = *word;
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            let queue = view.queue_of(asked.first_port, i as u16 * 64 + bit as u16, asked.out);
            let size = view.queues[queue as usize].size;
            if u32::from(size) > room {
                *word &= !(1 << bit);
                smallest = Some(smallest.map_or(size, |least: u16| least.min(size)));
            }
        }
    }
    smallest
}
