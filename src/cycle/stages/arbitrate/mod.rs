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
//!    Inputs may accept grants for lanes of the high VL table first (D71).
//! 4. An output whose grant was not accepted is looked at again in the next round or the next cycle.
//!
//! # Deviations
//! None. References: [`ISLIP`](crate::references::ISLIP) for the shape of the separable allocator.

mod alone;
pub(in crate::cycle) mod by_inputs;
mod by_rule;
pub mod input_first;
mod open_heads;
pub(in crate::cycle) mod proposals;
mod requests;

pub use self::by_rule::OutputStreams;
pub(in crate::cycle) use self::requests::choose;

use self::alone::Found;
use self::requests::{Asked, eligible, request_of};
use crate::cycle::joints::{LaneChoice as _, Way as _};
use crate::cycle::rules::RuleSet;
use crate::cycle::stages::cross::{is_first_round, settle};
use crate::cycle::state::Grant;
use crate::cycle::view::View;
use crate::fabric::mask::LaneMask;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow};
use crate::qos::vl_arbitration::VlChoice;

/// Runs the stage.
#[inline(never)]
pub fn run<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    propose_visited(view, 0);
    if view.shared.iterations() > 1 {
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
    for part in visits.chunks(view.place.group(visits.len())) {
        if view.place.prefetches {
            view.prefetch_visits(part);
        }
        for &out in part {
            propose(view, out, first);
        }
    }
    visits.clear();
    view.lists.visits = visits;
    accept(view, first);
}

/// Rounds after the first: inputs, credits and output lanes only fill up within a cycle, so an output that found
/// nothing finds nothing later. Looked at again are those whose grant was refused, and those that carrying out a grant
/// has visited.
fn later_rounds<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    for _ in 1..view.shared.iterations() {
        let first = view.lists.grants.len();
        for number in view.lists.settled..first {
            let grant = &view.lists.grants[number];
            if !grant.accepted {
                view.visit(grant.out);
            }
        }
        let is_first = is_first_round(view);
        settle(view, is_first);
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
        if view.outs[grant.out].free_at <= view.now {
            view.calendar.at(view.now + 1).wakes.push(grant.out);
        }
    }
}

/// An output's choice among its eligible requests becomes a grant of the round that starts at `first`.
#[inline]
fn propose<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, out: PortRow, first: usize) {
    let port = &mut view.outs[out];
    port.visited = false;
    if port.free_at > view.now || port.request_lanes.is_empty() {
        return;
    }
    let lanes = port.request_lanes;
    if !lanes.has_several() && alone::may_look(view) {
        match alone::look(view, out, lanes.first()) {
            Found::Several => {}
            Found::Nothing => return,
            Found::One(lane, bit) => {
                return propose_alone(view, (out, lanes), (lane, bit), first);
            }
        }
    }
    let port = &view.outs[out];
    let switch = &view.switches[port.owner];
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
    if let Some(found) = found {
        let first_port = asked.first_port;
        grant(view, (out, first_port), found, (by_inputs.is_some(), first));
    }
}

/// The only request of an output, for the only one of its `lanes`, becomes a grant of the round that starts at `first`.
#[inline(always)]
fn propose_alone<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    (out, lanes): (PortRow, LaneMask),
    (lane, bit): (LaneRow, u16),
    first: usize,
) {
    let mut choice = None;
    if view.shared.crossbar_tables().is_some() {
        choice = consult(view, out, lanes);
        if choice.is_none() {
            return;
        }
    }
    let first_port = view.switches[view.outs[out].owner].first_port;
    let by_inputs = view.shared.by_inputs();
    grant(
        view,
        (out, first_port),
        (lane, bit, choice),
        (by_inputs, first),
    );
}

/// The request that an output of a switch has chosen becomes a grant.
#[inline(always)]
fn grant<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    (out, first_port): (PortRow, PortRow),
    (lane, bit, choice): (LaneRow, u16, Option<VlChoice>),
    (by_inputs, first): (bool, usize),
) {
    let mut grant = Grant {
        out,
        lane,
        queue: view.queue_of(first_port, bit, lane),
        input: first_port.plus(view.shared.numbering.input_index(bit)),
        bit,
        accepted: false,
        by_inputs,
        choice,
        packet: PacketRow::NONE,
    };
    if alone::carry_out_at_once(view, &mut grant, first) {
        if view.lists.facts.granted {
            view.lists.grants.push(grant);
        }
        return;
    }
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
) -> Option<(LaneRow, u16, Option<VlChoice>)> {
    let mut lanes = asked.lanes;
    while !lanes.is_empty() {
        let number = view.shared.first_lane(lanes, asked.pointer);
        lanes.remove(number);
        let lane = view.shared.numbering.lane(asked.out, number);
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
) -> Option<(LaneRow, u16, Option<VlChoice>)> {
    let numbering = view.shared.numbering;
    let mut found = LaneMask::EMPTY;
    for number in asked.lanes {
        if eligible(view, asked, numbering.lane(asked.out, number)).is_some() {
            found.insert(number);
        }
    }
    if found.is_empty() {
        return None;
    }
    let choice = consult(view, asked.out, found)?;
    let lane = numbering.lane(asked.out, u32::from(choice.lane));
    let bit = request_of(view, asked, lane)?;
    Some((lane, bit, Some(choice)))
}

/// The choice of an output's arbiter with tables among lanes; after a bubble it is asked again in the next cycle.
#[inline]
fn consult<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    out: PortRow,
    found: LaneMask,
) -> Option<VlChoice> {
    let choice = view.consult(out, found);
    if choice.is_none() && view.shared.legacy_arbitration() {
        view.calendar.at(view.now + 1).wakes.push(out);
    }
    choice
}

/// Each input accepts as many grants of this round (from `first` on) as it has places left. Inputs that send
/// one packet at a time have accepted already (`accept_one`).
#[inline]
fn accept<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, first: usize) {
    match view.shared.speedup() {
        1 => {}
        _ if view.shared.open() => open_heads::accept(view, first),
        u16::MAX => view.lists.grants[first..]
            .iter_mut()
            .for_each(|grant| grant.accepted = true),
        _ => accept_several(view, first),
    }
}

/// Distance of an output from an input's accept pointer, around the switch.
#[inline]
fn distance<const W: usize, P: RuleSet>(view: &View<'_, W, P>, grant: &Grant) -> u16 {
    let index = u16::from(view.outs[grant.out].index);
    index.wrapping_sub(view.ins[grant.input].accept_pointer) & 0x1ff
}

/// The order in which an input accepts grants, the least first: by priority (D71), by what it prefers of heads that request several
/// outputs, then around the switch from its accept pointer.
#[inline(always)]
fn rank<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    grant: &Grant,
) -> (u16, (bool, u32), u16) {
    let preference = view.preference(grant.queue, grant.lane);
    (view.kind(grant.lane), preference, distance(view, grant))
}

/// Whether the input accepts the next grant of the round that starts at `first`: it keeps the preferred one, that
/// is the one that comes first from its accept pointer unless priority goes first (D71) or heads request several outputs.
#[inline]
fn accept_one<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    grant: &Grant,
    first: usize,
) -> bool {
    let number = view.lists.grants.len();
    let input = &mut view.ins[grant.input];
    let rival = input.grant as usize;
    if input.granted_in == view.now && rival >= first {
        view.lists.refused = true;
        let held = view.lists.grants[rival];
        if rank(view, &held) <= rank(view, grant) {
            return false;
        }
        view.lists.grants[rival].accepted = false;
    }
    let input = &mut view.ins[grant.input];
    input.granted_in = view.now;
    input.grant = number as u32;
    true
}

/// The same for inputs that send several packets at a time: those that come first from the pointer, by priority first.
fn accept_several<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, first: usize) {
    let mut order = std::mem::take(&mut view.lists.order);
    for (number, grant) in (0u32..).zip(&view.lists.grants[first..]) {
        let kind = view.kind(grant.lane);
        order.push((grant.input, kind << 9 | distance(view, grant), number));
    }
    order.sort_unstable();
    let mut input = PortRow::NONE;
    let mut places = 0;
    for &(of, _, number) in &order {
        if of != input {
            input = of;
            places = view.shared.speedup() - view.ins[input].leaving;
        }
        if places > 0 {
            places -= 1;
            let grant = &mut view.lists.grants[first + number as usize];
            grant.accepted = true;
            if first == 0 {
                let index = u16::from(view.outs[grant.out].index);
                view.ins[input].accept_pointer = index + 1;
            }
        }
    }
    order.clear();
    view.lists.order = order;
}
