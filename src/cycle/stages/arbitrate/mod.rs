//! Matches requests to outputs: which packet starts where in this cycle.
//!
//! Stage: `Slot::Arbitrate` (VL arbitration and switch allocation)
//! Reads: requests, credits, inputs with a place left
//! Writes: grants of this cycle; starved marks and wake-ups of outputs that find nothing
//! Cost: O(outputs visited); an output without a reason to change is not visited
//!
//! # Rules
//! 1. Output-first (default): each visited free output picks a request, by inputs (`by_inputs`) or by lanes: a lane
//!    among those with an eligible request, then a request of that lane; each input accepts. Input-first is
//!    `input_first`.
//! 2. Eligible: the input has a place left and the packet fits the credits of its output lane now.
//! 3. Pointers move on accepted grants only (`cross`; those over inputs and outputs in the first round only), so all
//!    choices of a round are made on the state before the round and their order does not matter.
//! 4. An output whose grant was not accepted is looked at again in the next round or the next cycle.
//!
//! # Deviations
//! None. References: [`ISLIP`](crate::references::ISLIP) for the shape of the separable allocator.

pub(in crate::cycle) mod by_inputs;
mod by_rule;
pub mod input_first;
mod requests;

pub use self::by_rule::{OutputStream, OutputStreams};

use self::by_rule::by_rule;
use self::requests::eligible;
use crate::cycle::mechanisms::adaptive;
use crate::cycle::mechanisms::vl_tables;
use crate::cycle::rules::RuleSet;
use crate::cycle::snapshot::Persistent;
use crate::cycle::state::Grant;
use crate::cycle::view::View;
use crate::fabric::components::NONE;
use crate::plan::OutputArbitration;
use crate::qos::vl_arbitration::VlChoice;
use bevy_ecs::component::Component;
use serde::{Deserialize, Serialize};

/// Pointer over the lanes of an input, for an output that takes its turns by inputs.
#[derive(Component, Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Turn(pub u8);

impl Persistent for Turn {}

/// Runs the stage.
#[inline]
pub fn run<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    propose_visited(view, 0);
    if view.shared.switch.iterations > 1 {
        later_rounds(view);
    }
    if view.shared.speedup() != 1 || view.lists.refused {
        view.lists.refused = false;
        retry(view);
    }
}

/// A round: what the outputs on the visit list choose, as grants from `first` on, and what the inputs accept of it.
#[inline]
fn propose_visited<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, first: usize) {
    let mut visits = std::mem::take(&mut view.lists.visits);
    for out in visits.drain(..) {
        propose(view, out, first);
    }
    view.lists.visits = visits;
    accept(view, first);
}

/// Rounds after the first: inputs, credits and output lanes only fill up within a cycle, so an output that found
/// nothing finds nothing later. Looked at again are those whose grant was refused, and those that carrying out a grant
/// has visited.
#[inline(never)]
fn later_rounds<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    for _ in 1..view.shared.switch.iterations {
        let first = view.lists.grants.len();
        for number in view.lists.settled..first {
            let grant = &view.lists.grants[number];
            if !grant.accepted {
                view.visit(grant.out);
            }
        }
        super::cross::settle(view);
        if view.lists.visits.is_empty() {
            break;
        }
        propose_visited(view, first);
    }
}

/// Rule 4.
fn retry<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    let refused = view.lists.grants.iter().filter(|grant| !grant.accepted);
    for grant in refused {
        if view.outs[grant.out as usize].free_at <= view.now {
            view.calendar.at(view.now + 1).wakes.push(grant.out);
        }
    }
}

/// Round robin over a mask of `W` words: the first set bit at or after `pointer`, around the end.
#[inline]
fn first_from<const W: usize>(mask: &[u64; W], pointer: u16) -> Option<u16> {
    if W == 1 {
        let turned = mask[0].rotate_right(u32::from(pointer));
        return (turned != 0).then(|| (pointer + turned.trailing_zeros() as u16) % 64);
    }
    let word = usize::from(pointer / 64);
    let ahead = mask[word] & (u64::MAX << (pointer % 64));
    if ahead != 0 {
        return Some(word as u16 * 64 + ahead.trailing_zeros() as u16);
    }
    (1..=W)
        .map(|step| (word + step) % W)
        .find_map(|at| (mask[at] != 0).then(|| at as u16 * 64 + mask[at].trailing_zeros() as u16))
}

/// A free output that is asked for a packet.
struct Asked<const W: usize> {
    out: u32,
    /// First port row of the switch.
    first_port: u32,
    /// Input lanes whose port can send one more packet.
    free: [u64; W],
    /// Lanes with a request.
    lanes: u16,
    /// Round robin over output lanes.
    pointer: u8,
    /// Round robin over inputs.
    input_pointer: u8,
    /// First of the pointers over the lanes of each input.
    turns: u32,
}

/// An output's choice among its eligible requests becomes a grant of the round that starts at `first`.
#[inline]
fn propose<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, out: u32, first: usize) {
    let port = &mut view.outs[out as usize];
    port.visited = false;
    if port.free_at > view.now || port.request_lanes == 0 {
        return;
    }
    let switch = &view.switches[port.owner as usize];
    let asked = Asked {
        out,
        first_port: switch.first_port,
        free: switch.free,
        lanes: port.request_lanes,
        pointer: port.lane_pointer,
        input_pointer: port.input_pointer,
        turns: port.turns,
    };
    let by_inputs = if view.shared.by_inputs() {
        by_inputs::choose(view, &asked)
    } else {
        None
    };
    let found = match by_inputs {
        Some((lane, bit)) => Some((lane, bit, None)),
        None if view.shared.crossbar_tables().is_some() => by_tables(view, &asked),
        None => by_rotation(view, &asked),
    };
    let Some((lane, bit, choice)) = found else {
        return;
    };
    let mut grant = Grant {
        out,
        lane,
        queue: view.queue_of(asked.first_port, bit, out),
        input: asked.first_port + u32::from(bit >> view.shared.lane_shift),
        bit,
        accepted: false,
        by_inputs: by_inputs.is_some(),
        choice,
        packet: NONE,
    };
    if view.shared.speedup() == 1 {
        grant.accepted = accept_one(view, &grant, first);
    }
    view.lists.grants.push(grant);
}

/// Lanes by round robin from the pointer, VL15 first.
#[inline]
fn by_rotation<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    asked: &Asked<W>,
) -> Option<(u32, u16, Option<VlChoice>)> {
    let mut lanes = asked.lanes;
    while lanes != 0 {
        let number = view.shared.first_lane(lanes, asked.pointer);
        lanes &= !(1 << number);
        let lane = (asked.out << view.shared.lane_shift) + number;
        if let Some(bit) = request_of(view, asked, lane) {
            return Some((lane, bit, None));
        }
    }
    None
}

/// Lanes by VL arbitration tables.
fn by_tables<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    asked: &Asked<W>,
) -> Option<(u32, u16, Option<VlChoice>)> {
    let first = asked.out << view.shared.lane_shift;
    let mut lanes = asked.lanes;
    let mut found = 0u16;
    while lanes != 0 {
        let bit = lanes.trailing_zeros();
        lanes &= lanes - 1;
        if eligible(view, asked, first + bit).is_some() {
            found |= 1 << bit;
        }
    }
    if found == 0 {
        return None;
    }
    let choice = vl_tables::select(view, asked.out, found)?;
    let lane = first + u32::from(choice.lane);
    let bit = request_of(view, asked, lane)?;
    Some((lane, bit, Some(choice)))
}

/// The request a lane would serve now.
#[inline]
fn request_of<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    asked: &Asked<W>,
    lane: u32,
) -> Option<u16> {
    let mask = eligible(view, asked, lane)?;
    choose(view, asked.out, lane, &mask)
}

/// The output arbiter's choice among the set bits of `mask`.
#[inline]
fn choose<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    out: u32,
    lane: u32,
    mask: &[u64; W],
) -> Option<u16> {
    match view.shared.output_arbitration() {
        OutputArbitration::RoundRobin => first_from(mask, view.lanes[lane as usize].pointer),
        rule => by_rule(view, out, mask, rule),
    }
}

/// Each input accepts as many grants of this round (from `first` on) as it has places left. Inputs that send
/// one packet at a time have accepted already (`accept_one`).
#[inline]
fn accept<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, first: usize) {
    match view.shared.speedup() {
        1 => {}
        u16::MAX => view.lists.grants[first..]
            .iter_mut()
            .for_each(|grant| grant.accepted = true),
        _ => accept_several(view, first),
    }
}

/// Distance of an output from an input's accept pointer, around the switch.
#[inline]
fn distance<const W: usize, P: RuleSet>(view: &View<'_, W, P>, grant: &Grant) -> u16 {
    let index = u16::from(view.outs[grant.out as usize].index);
    index.wrapping_sub(view.ins[grant.input as usize].accept_pointer) & 0x1ff
}

/// Whether the input accepts the next grant of the round that starts at `first`: it keeps the preferred one, that
/// is the one that comes first from its accept pointer unless heads request several outputs.
#[inline]
fn accept_one<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    grant: &Grant,
    first: usize,
) -> bool {
    let number = view.lists.grants.len();
    let input = &mut view.ins[grant.input as usize];
    let rival = input.grant as usize;
    if input.granted_in == view.now && rival >= first {
        view.lists.refused = true;
        let held = view.lists.grants[rival];
        let rank = |grant: &Grant| (adaptive::preference(view, grant), distance(view, grant));
        if rank(&held) <= rank(grant) {
            return false;
        }
        view.lists.grants[rival].accepted = false;
    }
    let input = &mut view.ins[grant.input as usize];
    input.granted_in = view.now;
    input.grant = number as u32;
    true
}

/// The same for inputs that send several packets at a time: those that come first from the pointer.
fn accept_several<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, first: usize) {
    let mut order = std::mem::take(&mut view.lists.order);
    for (number, grant) in (0u32..).zip(&view.lists.grants[first..]) {
        order.push((grant.input, distance(view, grant), number));
    }
    order.sort_unstable();
    let mut input = u32::MAX;
    let mut places = 0;
    for &(of, _, number) in &order {
        if of != input {
            input = of;
            places = view.shared.speedup() - view.ins[input as usize].leaving;
        }
        if places > 0 {
            places -= 1;
            let grant = &mut view.lists.grants[first + number as usize];
            grant.accepted = true;
            if first == 0 {
                let index = u16::from(view.outs[grant.out as usize].index);
                view.ins[input as usize].accept_pointer = index + 1;
            }
        }
    }
    order.clear();
    view.lists.order = order;
}

impl<const W: usize, P: RuleSet> View<'_, W, P> {
    /// Queue of an input lane bit that holds packets for `out`.
    #[inline]
    pub fn queue_of(&self, first_port: u32, bit: u16, out: u32) -> u32 {
        let lane = (first_port << self.shared.lane_shift) + u32::from(bit);
        match self.shared.voq_stride() {
            0 => lane,
            stride => lane * stride + (out - first_port),
        }
    }
}
