//! An output of which one input asks for one lane: no arbiter has anything to choose from.
//!
//! Part of `Slot::Arbitrate`, for output-first matching without `reserve`. Two in three outputs that are visited are asked by one input.
//! Reads: as `arbitrate`
//! Writes: as `arbitrate`; of a grant that is certain what `cross` writes
//! Cost: O(1)
//!
//! # Exactness
//! A grant is certain when no other output of the round can choose the input: all its packets are behind one mark, so its heads ask
//! this output only, which grants once in a round, and the input has a place, else its requests would not stand. Carrying the grant
//! out before the other outputs of the round have chosen changes nothing that they see: what it takes belongs to this output and this
//! input, and the input's credits count at their sender in a later cycle.
//!
//! # Deviations
//! None.

use crate::cycle::joints::Behind as _;
use crate::cycle::rules::RuleSet;
use crate::cycle::stages::cross::carry_out_here;
use crate::cycle::state::Grant;
use crate::cycle::view::View;
use crate::fabric::mask::Common;
use crate::fabric::rows::{LaneRow, PortRow};

/// What an output does that is asked for one lane.
pub(super) enum Found {
    /// Several inputs ask for it.
    Several,
    /// Nothing that can be granted now.
    Nothing,
    /// This request (output lane, bit within the switch).
    One(LaneRow, u16),
}

/// Whether outputs may look for a request that stands alone.
#[inline(always)]
pub(super) fn may_look<const W: usize, P: RuleSet>(view: &View<'_, W, P>) -> bool {
    !view.shared.reserve()
}

/// The request for the only lane of an output that is asked for, which is no longer marked starved.
#[inline(always)]
pub(super) fn look<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    out: PortRow,
    number: u32,
) -> Found {
    let shared = view.shared;
    let lane = shared.numbering.lane(out, number);
    let switch = &view.switches[view.outs[out].owner];
    let row = &mut view.lanes[lane];
    row.need = 0;
    let bit = match switch.free.in_common(&row.requests) {
        Common::Nothing => return Found::Nothing,
        Common::One(bit) => bit,
        Common::Several => return Found::Several,
    };
    if !shared.credits_alone() || !row.covers(shared.traffic.largest, view.now) {
        let queue = view.queue_of(switch.first_port, bit, lane);
        let size = view.queues[queue].size;
        if view.room(lane) < u32::from(size) {
            view.starve(out, lane, size);
            return Found::Nothing;
        }
    }
    Found::One(lane, bit)
}

/// Carries out a grant of the round that starts at `first` when its input will accept it for certain; `false`: it is not certain.
#[inline(always)]
pub(super) fn carry_out_at_once<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    grant: &mut Grant,
    first: usize,
) -> bool {
    let shared = view.shared;
    let is_certain = may_look(view)
        && !shared.open()
        && shared.classifier().has_marks_of_their_own()
        && !view.ins[grant.input].occupied.has_several();
    if !is_certain {
        return false;
    }
    let is_first = first == 0;
    if is_first && !matches!(shared.speedup(), 1 | u16::MAX) {
        view.ins[grant.input].accept_pointer = u16::from(view.outs[grant.out].index) + 1;
    }
    carry_out_now(view, grant, is_first);
    true
}

/// Carries out a grant that is certain, and counts its hop; `first`: it is of the first round.
#[inline(always)]
pub(super) fn carry_out_now<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    grant: &mut Grant,
    first: bool,
) {
    let queue = &view.queues[grant.queue];
    let hops = &mut view.lists.hops;
    hops.packets += 1;
    hops.flits += u64::from(queue.size);
    hops.longest = hops.longest.max(queue.waited(view.now));
    grant.accepted = true;
    grant.packet = carry_out_here::<W, P, true>(view, grant, first);
}
