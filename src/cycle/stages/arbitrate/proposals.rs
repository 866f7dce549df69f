//! Which requests of its heads an input may propose, and which of one head it does (D8, D80).
//!
//! Part of `Slot::Arbitrate`, for input-first matching.
//! Reads: requests, credits, outputs
//! Writes: starved marks of lanes
//! Cost: O(requests of the head)

use crate::cycle::joints::{Behind as _, Way as _};
use crate::cycle::rules::RuleSet;
use crate::cycle::view::View;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow};

/// Whether the head of a queue has a request that can be granted now; starves the lanes of those that lack room. `open`: heads request
/// several lanes.
#[inline(always)]
pub(super) fn is_eligible<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    queue: QueueRow,
    open: bool,
) -> bool {
    let head = &view.queues[queue];
    if head.head == PacketRow::NONE || !head.requesting {
        return false;
    }
    if open {
        return is_any_eligible(view, queue);
    }
    let (place, size) = (requested(view, queue), head.size);
    may_go(view, place, size)
}

/// The same of a head that requests several lanes.
#[inline(never)]
fn is_any_eligible<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, queue: QueueRow) -> bool {
    let mut any = false;
    each_eligible(view, queue, |_, _| any = true);
    any
}

/// The output and lane that a head requests which requests one.
#[inline(always)]
pub(super) fn requested<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    queue: QueueRow,
) -> (PortRow, LaneRow) {
    let head = &view.queues[queue];
    let numbering = view.shared.numbering;
    (head.out, numbering.lane(head.out, u32::from(head.out_lane)))
}

/// Whether the output of a lane is free and the lane has room; starves it if room is all that it lacks.
#[inline(always)]
fn may_go<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    (out, lane): (PortRow, LaneRow),
    size: u16,
) -> bool {
    if view.outs[out].free_at > view.now {
        return false;
    }
    if view.room(lane) >= u32::from(size) {
        return true;
    }
    view.starve(out, lane, size);
    false
}

/// Calls `act` for each lane that an open head requests and can be granted.
pub(super) fn each_eligible<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    queue: QueueRow,
    mut act: impl FnMut(&mut View<'_, W, P>, LaneRow),
) {
    let size = view.queues[queue].size;
    for number in 0..view.optional.choices[queue].requests.len() {
        let lane = view.optional.choices[queue].requests[number].lane;
        let out = view.shared.numbering.port(lane);
        if may_go(view, (out, lane), size) {
            act(view, lane);
        }
    }
}

/// The request that the input proposes of the open heads of a lane (D84: of its queues): no escape before an escape, the least
/// downstream, then in turn.
#[inline(never)]
pub(super) fn of_open_heads<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    input_lane: LaneRow,
) -> Option<(QueueRow, LaneRow)> {
    let pointer = view.optional.voq_pointers[input_lane].0;
    let mut first = None;
    for queue in view.shared.classifier().in_turn(input_lane, 0) {
        if !view.queues[queue].requesting {
            continue;
        }
        each_eligible(view, queue, |view, lane| {
            let place = place(view, lane);
            let rank = (view.preference(queue, lane), place < pointer, place);
            if first.is_none_or(|(least, _)| rank < least) {
                first = Some((rank, (queue, lane)));
            }
        });
    }
    first.map(|(_, found)| found)
}

/// Place of an output lane in the turn of the requests of an open head: by its number, then by its output.
pub(in crate::cycle) fn place<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    lane: LaneRow,
) -> u16 {
    let numbering = view.shared.numbering;
    let output = u16::from(view.outs[numbering.port(lane)].index);
    (numbering.number(lane) as u16) << 9 | output
}

/// Where that turn goes on after a grant for a lane.
pub(in crate::cycle) fn after<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    lane: LaneRow,
) -> u16 {
    place(view, lane) + 1
}
