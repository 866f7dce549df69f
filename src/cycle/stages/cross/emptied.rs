//! The mark of a queue that ran empty, among the non-empty queues of its input.
//!
//! Part of `Slot::Cross`. Reads: queues behind the mark, or requests of the output
//! Writes: marks of the input
//! Cost: O(queues behind the mark); O(1) with FIFOs, and where nobody requests the output

use crate::cycle::rules::RuleSet;
use crate::cycle::view::View;
use crate::fabric::rows::{PacketRow, PortRow, QueueRow};

/// Whether no queue has packets for this output, of an input that has sent one and sends one at a time: each of its heads requests.
#[inline(always)]
pub(super) fn is_unasked<const W: usize, P: RuleSet>(view: &View<'_, W, P>, out: PortRow) -> bool {
    view.shared.speedup() == 1
        && view.shared.classifier().has_marks_of_their_own()
        && view.outs[out].request_lanes.is_empty()
}

/// The queue ran empty: its mark goes, unless another queue behind the same mark has packets.
pub(in crate::cycle) fn clear_occupied<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    queue: QueueRow,
    input: PortRow,
) {
    let (classifier, numbering) = (view.shared.classifier(), view.shared.numbering);
    let mark = classifier.mark(numbering, queue);
    let mut others = false;
    if !classifier.is_lane() {
        classifier.each(numbering, input, mark, |first, count| {
            let mut queues = view.queues.part(first, count).iter();
            others |= queues.any(|queue| queue.head != PacketRow::NONE);
        });
    }
    if !others {
        view.ins[input].occupied.remove(mark);
    }
}
