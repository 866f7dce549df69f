//! Matches requests to outputs: which packet starts where in this cycle.
//!
//! Stage: `Stage::Arbitrate` (VL arbitration and switch allocation)
//! Reads: requests, credits, inputs with a place left
//! Writes: grants of this cycle; starved marks and wake-ups of outputs that find nothing
//! Cost: O(outputs visited); an output without a reason to change is not visited
//!
//! # Rules
//! 1. Output-first (default): each visited free output picks a lane among those with an eligible request,
//!    then a request of that lane; each input accepts. Input-first is `input_first`.
//! 2. Eligible: the input has a place left and the packet fits the credits of its output lane now.
//! 3. Pointers move on accepted grants only (`cross`), so all choices of a round are made on the state
//!    before the round and their order does not matter.
//! 4. An output whose grant was not accepted is looked at again in the next round or the next cycle.
//!
//! # Deviations
//! None. References: [`ISLIP`](crate::references::ISLIP) for the shape of the separable allocator.

use super::input_first;
use super::state::Grant;
use super::view::View;
use crate::fabric::components::NONE;
use crate::qos::vl_arbitration::VlChoice;
use crate::rng::below;
use crate::scenario::plan::{Matching, OutputArbitration};

/// Runs the stage.
#[inline]
pub fn run<const W: usize>(view: &mut View<'_, W>) {
    if view.work.visits.is_empty() {
        return;
    }
    if view.shared.matching == Matching::InputFirst {
        return input_first::run(view);
    }
    let mut visits = std::mem::take(&mut view.work.visits);
    for &out in &visits {
        view.outs[out as usize].visited = false;
        propose(view, out);
    }
    accept(view, 0);
    for _ in 1..view.shared.iterations {
        let settled = view.work.grants.len();
        super::cross::settle(view);
        for &out in &visits {
            if view.outs[out as usize].free_at <= view.now {
                propose(view, out);
            }
        }
        if view.work.grants.len() == settled {
            break;
        }
        accept(view, settled);
    }
    visits.clear();
    view.work.visits = visits;
    for i in 0..view.work.grants.len() {
        let grant = view.work.grants[i];
        if !grant.accepted && view.outs[grant.out as usize].free_at <= view.now {
            view.work.calendar.at(view.now + 1).wakes.push(grant.out);
        }
    }
}

/// Round robin over a mask of `W` words: the first set bit at or after `pointer`, around the end.
#[inline]
pub(super) fn first_from<const W: usize>(mask: &[u64; W], pointer: u16) -> Option<u16> {
    let word = usize::from(pointer / 64);
    let ahead = mask[word] & (u64::MAX << (pointer % 64));
    if ahead != 0 {
        return Some(word as u16 * 64 + ahead.trailing_zeros() as u16);
    }
    (1..=W)
        .map(|step| (word + step) % W)
        .find_map(|at| (mask[at] != 0).then(|| at as u16 * 64 + mask[at].trailing_zeros() as u16))
}

/// An output's choice among its eligible requests becomes a grant to be accepted.
#[inline]
fn propose<const W: usize>(view: &mut View<'_, W>, out: u32) {
    let port = &view.outs[out as usize];
    if port.free_at > view.now || port.request_lanes == 0 {
        return;
    }
    let found = if view.shared.tables.is_some() {
        by_tables(view, out)
    } else {
        by_rotation(view, out)
    };
    let Some((lane, bit, choice)) = found else {
        return;
    };
    let first_port = view.switches[view.outs[out as usize].owner as usize].first_port;
    let queue = view.queue_of(first_port, bit, out);
    view.work.grants.push(Grant {
        out,
        lane,
        queue,
        input: first_port + u32::from(bit >> view.shared.lane_shift),
        bit,
        accepted: false,
        choice,
        packet: NONE,
    });
}

/// Lanes by round robin from the pointer, VL15 first.
#[inline]
fn by_rotation<const W: usize>(
    view: &mut View<'_, W>,
    out: u32,
) -> Option<(u32, u16, Option<VlChoice>)> {
    let port = &view.outs[out as usize];
    let first = out << view.shared.lane_shift;
    let asked = port.request_lanes;
    if asked & (asked - 1) == 0 {
        let lane = first + asked.trailing_zeros();
        return request_of(view, out, lane).map(|bit| (lane, bit, None));
    }
    let pointer = port.lane_pointer;
    let management = asked & view.shared.management;
    let data = asked & !view.shared.management;
    let ahead = data & (u16::MAX << pointer);
    for mut lanes in [management, ahead, data & !ahead] {
        while lanes != 0 {
            let lane = first + lanes.trailing_zeros();
            lanes &= lanes - 1;
            if let Some(bit) = request_of(view, out, lane) {
                return Some((lane, bit, None));
            }
        }
    }
    None
}

/// Lanes by VL arbitration tables.
fn by_tables<const W: usize>(
    view: &mut View<'_, W>,
    out: u32,
) -> Option<(u32, u16, Option<VlChoice>)> {
    let first = out << view.shared.lane_shift;
    let mut asked = view.outs[out as usize].request_lanes;
    let mut eligible = 0u16;
    while asked != 0 {
        let bit = asked.trailing_zeros();
        asked &= asked - 1;
        if has_eligible(view, out, first + bit) {
            eligible |= 1 << bit;
        }
    }
    if eligible == 0 {
        return None;
    }
    let tables = view.shared.tables.as_ref()?;
    let choice =
        view.work.arbiters.vl[out as usize].select(tables, eligible, view.shared.management)?;
    let lane = first + u32::from(choice.lane);
    let bit = request_of(view, out, lane)?;
    Some((lane, bit, Some(choice)))
}

/// Requests of a lane whose input has a place left.
#[inline]
fn candidates<const W: usize>(view: &View<'_, W>, out: u32, lane: u32) -> Option<[u64; W]> {
    let free = &view.switches[view.outs[out as usize].owner as usize].free;
    let requests = &view.lanes[lane as usize].requests;
    let mut mask = [0; W];
    let mut any = 0;
    for ((mask, free), request) in mask.iter_mut().zip(free).zip(requests) {
        *mask = free & request;
        any |= *mask;
    }
    (any != 0).then_some(mask)
}

/// Drops the requests that do not fit `credits` from `mask`; returns the smallest size that was dropped.
fn keep_fitting<const W: usize>(
    view: &View<'_, W>,
    out: u32,
    mask: &mut [u64; W],
    credits: u32,
) -> u16 {
    let first_port = view.switches[view.outs[out as usize].owner as usize].first_port;
    let mut smallest = u16::MAX;
    for (i, word) in mask.iter_mut().enumerate() {
        let mut rest = *word;
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            let queue = view.queue_of(first_port, i as u16 * 64 + bit as u16, out);
            let size = view.queues[queue as usize].size;
            if u32::from(size) > credits {
                *word &= !(1 << bit);
                smallest = smallest.min(size);
            }
        }
    }
    smallest
}

/// The eligible requests of a lane; none: the lane is marked starved where credits are what is missing.
#[inline]
fn eligible<const W: usize>(view: &mut View<'_, W>, out: u32, lane: u32) -> Option<[u64; W]> {
    let mut mask = candidates(view, out, lane)?;
    let lane_bit = 1u16 << (lane & view.shared.lane_mask);
    view.outs[out as usize].starved &= !lane_bit;
    if view.outs[out as usize].boundless {
        return Some(mask);
    }
    let credits = view.credits(lane);
    if view.shared.reserve {
        let winner = choose(view, out, lane, &mask)?;
        mask = [0; W];
        mask[usize::from(winner / 64)] = 1 << (winner % 64);
    }
    if credits >= u32::from(view.shared.largest) {
        return Some(mask);
    }
    let dropped = keep_fitting(view, out, &mut mask, credits);
    if mask.iter().any(|&word| word != 0) {
        return Some(mask);
    }
    view.starve(out, lane, dropped);
    None
}

/// Whether a lane has an eligible request.
fn has_eligible<const W: usize>(view: &mut View<'_, W>, out: u32, lane: u32) -> bool {
    eligible(view, out, lane).is_some()
}

/// The request a lane would serve now.
#[inline]
fn request_of<const W: usize>(view: &mut View<'_, W>, out: u32, lane: u32) -> Option<u16> {
    let mask = eligible(view, out, lane)?;
    choose(view, out, lane, &mask)
}

/// The output arbiter's choice among the set bits of `mask`.
#[inline]
fn choose<const W: usize>(
    view: &mut View<'_, W>,
    out: u32,
    lane: u32,
    mask: &[u64; W],
) -> Option<u16> {
    match view.shared.output_arbitration {
        OutputArbitration::RoundRobin => first_from(mask, view.lanes[lane as usize].pointer),
        rule => by_rule(view, out, mask, rule),
    }
}

/// First come first served, oldest first or random among the set bits of `mask`.
pub(super) fn by_rule<const W: usize>(
    view: &mut View<'_, W>,
    out: u32,
    mask: &[u64; W],
    rule: OutputArbitration,
) -> Option<u16> {
    let bits = || {
        mask.iter().enumerate().flat_map(|(i, &word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 != 0)
                .map(move |bit| i as u16 * 64 + bit)
        })
    };
    if rule == OutputArbitration::Random {
        let count = bits().count() as u32;
        if count < 2 {
            return bits().next();
        }
        let pick = below(&mut view.work.arbiters.streams[out as usize], count);
        return bits().nth(pick as usize);
    }
    let first_port = view.switches[view.outs[out as usize].owner as usize].first_port;
    bits().min_by_key(|&bit| {
        let queue = view.queue_of(first_port, bit, out);
        let record = &view.records[view.queues[queue as usize].head as usize];
        if rule == OutputArbitration::OldestFirst {
            record.created
        } else {
            record.requested
        }
    })
}

/// Each input accepts as many grants of this round (from `first` on) as it has places left.
#[inline]
pub(super) fn accept<const W: usize>(view: &mut View<'_, W>, first: usize) {
    match view.shared.speedup {
        1 => accept_one(view, first),
        u16::MAX => view.work.grants[first..]
            .iter_mut()
            .for_each(|grant| grant.accepted = true),
        _ => accept_several(view, first),
    }
}

/// Distance of an output from an input's accept pointer, around the switch.
#[inline]
fn distance<const W: usize>(view: &View<'_, W>, grant: &Grant) -> u16 {
    let index = u16::from(view.outs[grant.out as usize].index);
    index.wrapping_sub(view.ins[grant.input as usize].accept_pointer) & 0x1ff
}

fn accept_one<const W: usize>(view: &mut View<'_, W>, first: usize) {
    let stamp = view.now;
    for i in first..view.work.grants.len() {
        let grant = view.work.grants[i];
        let input = &view.ins[grant.input as usize];
        let rival = input.grant as usize;
        if input.granted_in == stamp && rival >= first && view.work.grants[rival].accepted {
            let held = view.work.grants[rival];
            if distance(view, &held) <= distance(view, &grant) {
                continue;
            }
            view.work.grants[rival].accepted = false;
        }
        let input = &mut view.ins[grant.input as usize];
        input.granted_in = stamp;
        input.grant = i as u32;
        view.work.grants[i].accepted = true;
    }
}

fn accept_several<const W: usize>(view: &mut View<'_, W>, first: usize) {
    let mut order: Vec<usize> = (first..view.work.grants.len()).collect();
    order.sort_by_key(|&i| {
        (
            view.work.grants[i].input,
            distance(view, &view.work.grants[i]),
        )
    });
    let mut input = u32::MAX;
    let mut places = 0;
    for i in order {
        let grant = view.work.grants[i];
        if grant.input != input {
            input = grant.input;
            places = view.shared.speedup - view.ins[input as usize].leaving;
        }
        if places > 0 {
            places -= 1;
            view.work.grants[i].accepted = true;
        }
    }
}

impl<const W: usize> View<'_, W> {
    /// Queue of an input lane bit that holds packets for `out`.
    #[inline]
    pub fn queue_of(&self, first_port: u32, bit: u16, out: u32) -> u32 {
        let lane = (first_port << self.shared.lane_shift) + u32::from(bit);
        match self.shared.voq_stride {
            0 => lane,
            stride => lane * stride + (out - first_port),
        }
    }
}
