//! The mark of a queue that ran empty, among the non-empty queues of its input.
//!
//! Part of `Slot::Cross`. Reads: queues behind the mark, or requests of the output
//! Writes: marks of the input
//! Cost: O(queues behind the mark); O(1) with FIFOs, and where nobody requests the output

use crate::cycle::rules::RuleSet;
use crate::cycle::state::Grant;
use crate::cycle::view::View;
use crate::fabric::rows::{PacketRow, PortRow, QueueRow};

/// Whether the queue of a grant, which ran empty, leaves no other with packets behind its mark.
#[inline(always)]
pub(super) fn is_last<const W: usize, P: RuleSet>(view: &View<'_, W, P>, grant: &Grant) -> bool {
    let classifier = view.shared.classifier();
    if classifier.is_lane() || is_unasked(view, grant.out) {
        return true;
    }
    if !classifier.has_marks_of_their_own() {
        let mark = classifier.mark(view.shared.numbering, grant.queue);
        return !has_packets(view, grant.input, mark);
    }
    // with marks of their own they are those for the same output
    let (first, count) = classifier.beside(grant.queue);
    let mut queues = view.queues.part(first, count).iter();
    queues.all(|queue| queue.head == PacketRow::NONE)
}

/// Whether no queue has packets for this output, of an input that has sent one and sends one at a time: each of its heads requests.
#[inline(always)]
fn is_unasked<const W: usize, P: RuleSet>(view: &View<'_, W, P>, out: PortRow) -> bool {
    view.shared.speedup() == 1
        && view.shared.classifier().has_marks_of_their_own()
        && view.outs[out].request_lanes.is_empty()
}

/// Whether a queue behind a mark of an input has packets.
fn has_packets<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    input: PortRow,
    mark: u32,
) -> bool {
    let (classifier, numbering) = (view.shared.classifier(), view.shared.numbering);
    let mut found = false;
    classifier.each(numbering, input, mark, |first, count| {
        let mut queues = view.queues.part(first, count).iter();
        found |= queues.any(|queue| queue.head != PacketRow::NONE);
    });
    found
}

/// The queue ran empty: its mark goes, unless another queue behind the same mark has packets.
pub(in crate::cycle) fn clear_occupied<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    queue: QueueRow,
    input: PortRow,
) {
    let classifier = view.shared.classifier();
    let mark = classifier.mark(view.shared.numbering, queue);
    if classifier.is_lane() || !has_packets(view, input, mark) {
        view.ins[input].occupied.remove(mark);
    }
}
