//! An output of which one input asks for one lane: no arbiter has anything to choose from.
//!
//! Part of `Slot::Arbitrate`, for round-robin output arbitration without VL tables and `reserve`, where credits alone say
//! whether there is room. Two in three outputs that are visited are asked by one input.
//! Reads: as `arbitrate`
//! Writes: as `arbitrate`; of a grant that is certain what `cross` writes
//! Cost: O(1)
//!
//! # Exactness
//! A grant is certain when the input has no other head: no other output can choose it, so it accepts. Carrying it out before
//! the other outputs of the round have chosen changes nothing that they see: the input asks none of them, and its credits
//! count at their sender in a later cycle.
//!
//! # Deviations
//! None.

use crate::cycle::rules::RuleSet;
use crate::cycle::stages::cross::carry_out_here;
use crate::cycle::state::Grant;
use crate::cycle::view::View;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow};

/// What an output does that is asked for one lane.
pub(super) enum Found {
    /// Several inputs ask for it.
    Several,
    /// Nothing that can be granted now.
    Nothing,
    /// This request (output lane, bit within the switch).
    One(LaneRow, u16),
}

/// Whether outputs may look for a request that stands alone. Sets of rules of which few fabrics may are compiled without it: the code
/// would cost the others 3 % of their instructions.
#[inline(always)]
pub(super) fn may_look<const W: usize, P: RuleSet>(view: &View<'_, W, P>) -> bool {
    let shared = view.shared;
    P::ALONE && shared.by_inputs() && !shared.pool() && shared.output_lane_buffer() == 0
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
    let requests = &switch.free & &row.requests;
    let Some(bit) = requests.first_from(0) else {
        return Found::Nothing;
    };
    if !requests.is_only(bit) {
        return Found::Several;
    }
    if !row.covers(shared.traffic.largest, view.now) {
        let queue = view.queue_of(switch.first_port, bit, out);
        let size = view.queues[queue].size;
        if !view.lanes[lane].covers(size, view.now) {
            view.starve(out, lane, size);
            return Found::Nothing;
        }
    }
    Found::One(lane, bit)
}

/// Carries out a grant that its input will accept for certain, in the only round; `false`: it is not certain.
#[inline(always)]
pub(super) fn carry_out_at_once<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    grant: &Grant,
) -> bool {
    let shared = view.shared;
    let is_certain = P::AT_ONCE
        && shared.iterations() == 1
        && shared.speedup() == 1
        && shared.classifier().is_lane()
        && !shared.open()
        && !view.lists.facts.granted
        && !view.ins[grant.input].occupied.has_several();
    if is_certain {
        let queue = &view.queues[grant.queue];
        let hops = &mut view.lists.hops;
        hops.packets += 1;
        hops.flits += u64::from(queue.size);
        hops.longest = hops.longest.max(queue.waited(view.now));
        let _: PacketRow = carry_out_here::<W, P, true>(view, grant, true);
    }
    is_certain
}
