//! Which input queue a packet joins: the rows of queues, and everything that is computed with them.
//!
//! A queue belongs to one input lane, whose space and credits its packets use, and has one packet at a time that requests.
//! Other code knows queues by their rows and asks here for the rest. A new way to sort packets (by destination, by a hash
//! of the flow) is a variant of [`Classifier`] and has to supply
//!
//! | what | for |
//! |---|---|
//! | [`Classifier::queues_per_lane`] | the number of rows |
//! | [`Classifier::classify`] | the queue of a packet that arrives |
//! | [`Classifier::lane`] | whose space a queue uses, and its request bit |
//! | [`Classifier::behind`] | the queue that a request bit of an output lane stands for |
//! | [`Classifier::mark`], [`Classifier::each`] | its bit among the non-empty queues of an input, and the queues behind such a bit |
//!
//! A request bit stands for an input lane: two queues of one lane whose heads may request the same output lane need a bit
//! each, and with it more bits than lanes in [`Numbering`].
//!
//! Cost: O(1); nothing for FIFOs.

use super::numbering::Numbering;
use super::rows::{LaneRow, PortRow, QueueRow};

/// Marks of the non-empty queues of an input: bits of one word.
const MARKS: u32 = 64;

/// How the packets of an input lane are sorted into queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classifier {
    /// FIFO: a lane is one queue, in the same row.
    Lane,
    /// VOQ: a queue for every output of the switch; those of an input for one output are beside each other, one for each lane.
    LaneAndOutput {
        /// Outputs of the widest switch.
        outputs: u32,
        /// Lane rows of a port, as a power of two.
        shift: u32,
    },
}

impl Classifier {
    /// Whether a lane and its queue have the same row.
    #[inline(always)]
    pub fn is_lane(self) -> bool {
        matches!(self, Self::Lane)
    }

    /// Rows of queues per row of a lane.
    #[inline(always)]
    pub fn queues_per_lane(self) -> u32 {
        match self {
            Self::Lane => 1,
            Self::LaneAndOutput { outputs, .. } => outputs,
        }
    }

    /// Queue and mark of a packet in `lane` that goes to the output with the number `output`.
    #[inline(always)]
    pub fn classify(
        self,
        numbering: Numbering,
        lane: LaneRow,
        output: impl FnOnce() -> u32,
    ) -> (QueueRow, u32) {
        match self {
            Self::Lane => (QueueRow(lane.0), numbering.number(lane)),
            Self::LaneAndOutput { .. } => {
                let output = output();
                (self.behind(lane, output), output % MARKS)
            }
        }
    }

    /// Lane of a queue.
    #[inline(always)]
    pub fn lane(self, queue: QueueRow) -> LaneRow {
        match self {
            Self::Lane => LaneRow(queue.0),
            Self::LaneAndOutput { outputs, shift } => {
                let input = (queue.0 >> shift) / outputs;
                LaneRow(input << shift | low(queue.0, shift))
            }
        }
    }

    /// Number within its input of the lane of a queue.
    #[inline(always)]
    pub fn lane_number(self, numbering: Numbering, queue: QueueRow) -> u32 {
        // with and without queues per output the lowest bits of the row are those of the lane
        numbering.number(LaneRow(queue.0))
    }

    /// Number of the output that all packets of a queue go to; none of a FIFO.
    #[inline(always)]
    pub fn output(self, queue: QueueRow) -> Option<u32> {
        match self {
            Self::Lane => None,
            Self::LaneAndOutput { outputs, shift } => Some((queue.0 >> shift) % outputs),
        }
    }

    /// The queues of an input for the output of one, which are beside each other: the first, and how many.
    #[inline(always)]
    pub fn beside(self, queue: QueueRow) -> (QueueRow, u32) {
        match self {
            Self::Lane => (queue, 1),
            Self::LaneAndOutput { shift, .. } => {
                (QueueRow(queue.0 - low(queue.0, shift)), 1 << shift)
            }
        }
    }

    /// The queue whose head the request of `lane` for the output with the number `output` is.
    #[inline(always)]
    pub fn behind(self, lane: LaneRow, output: u32) -> QueueRow {
        match self {
            Self::Lane => QueueRow(lane.0),
            Self::LaneAndOutput { outputs, shift } => {
                let place = (lane.0 >> shift) * outputs + output;
                QueueRow(place << shift | low(lane.0, shift))
            }
        }
    }

    /// Mark of a queue among the non-empty ones of its input; several queues may share one.
    #[inline(always)]
    pub fn mark(self, numbering: Numbering, queue: QueueRow) -> u32 {
        match self {
            Self::Lane => numbering.number(LaneRow(queue.0)),
            Self::LaneAndOutput { outputs, shift } => (queue.0 >> shift) % outputs % MARKS,
        }
    }

    /// The same of a queue whose packets go to the output with the number `output`.
    #[inline(always)]
    pub fn mark_for(self, numbering: Numbering, queue: QueueRow, output: u32) -> u32 {
        match self {
            Self::Lane => self.lane_number(numbering, queue),
            Self::LaneAndOutput { .. } => output % MARKS,
        }
    }

    /// Whether queues with the same mark hold packets for the same output, or are one.
    #[inline(always)]
    pub fn has_marks_of_their_own(self) -> bool {
        match self {
            Self::Lane => true,
            Self::LaneAndOutput { outputs, .. } => outputs <= MARKS,
        }
    }

    /// Calls `act` for the queues of an input that have this mark: for the first of some that are beside each other, and their number.
    #[inline(always)]
    pub fn each(
        self,
        numbering: Numbering,
        input: PortRow,
        mark: u32,
        mut act: impl FnMut(QueueRow, u32),
    ) {
        match self {
            Self::Lane => act(QueueRow(numbering.lane(input, mark).0), 1),
            Self::LaneAndOutput { outputs, shift } => {
                let mut output = mark;
                loop {
                    let first = (input.0 * outputs + output) << shift;
                    act(QueueRow(first), 1 << shift);
                    output += MARKS;
                    if output >= outputs {
                        break;
                    }
                }
            }
        }
    }

    /// The queues of a lane, round robin from number `pointer` on.
    #[inline]
    pub fn in_turn(self, lane: LaneRow, pointer: u16) -> impl Iterator<Item = QueueRow> {
        let queues = self.queues_per_lane();
        let number = move |step| (u32::from(pointer) + step) % queues;
        (0..queues).map(move |step| self.behind(lane, number(step)))
    }

    /// The number after that of the queue for `output`, round robin over the queues of a lane.
    #[inline]
    pub fn after(self, output: u8) -> u16 {
        (u16::from(output) + 1) % self.queues_per_lane() as u16
    }
}

/// The lowest bits of a row.
#[inline(always)]
fn low(row: u32, bits: u32) -> u32 {
    row & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn a_queue_is_found_again_by_lane_output_and_mark() {
        let (numbering, shift) = (Numbering::new(4), 2);
        for (classifier, outputs) in [
            (Classifier::Lane, 1),
            (Classifier::LaneAndOutput { outputs: 64, shift }, 64),
            (
                Classifier::LaneAndOutput {
                    outputs: 130,
                    shift,
                },
                130,
            ),
        ] {
            let (mut rows, mut outputs_of) = (Vec::new(), BTreeMap::new());
            for lane in numbering.lanes_of(PortRow(3)) {
                for output in 0..outputs {
                    let (queue, mark) = classifier.classify(numbering, lane, || output);
                    assert_eq!(classifier.lane(queue), lane);
                    assert_eq!(classifier.behind(lane, output), queue);
                    assert_eq!(classifier.mark(numbering, queue), mark);
                    assert_eq!(classifier.mark_for(numbering, queue, output), mark);
                    let number = classifier.lane_number(numbering, queue);
                    assert_eq!(number, numbering.number(lane));
                    let is_output = classifier.output(queue) == Some(output);
                    assert!(is_output || classifier.is_lane());
                    let (first, count) = classifier.beside(queue);
                    let others = (first.0..first.0 + count).map(QueueRow);
                    let others: Vec<_> = others.map(|other| classifier.output(other)).collect();
                    let alike = vec![classifier.output(queue); others.len()];
                    assert_eq!(others, alike);
                    let of_mark: &mut BTreeSet<u32> = outputs_of.entry(mark).or_default();
                    of_mark.insert(output);
                    let mut shared = Vec::new();
                    classifier.each(numbering, PortRow(3), mark, |first, count| {
                        shared.extend((first.0..first.0 + count).map(QueueRow));
                    });
                    assert!(shared.contains(&queue));
                    let first = classifier.in_turn(lane, output as u16).next();
                    assert_eq!(first, Some(queue));
                    rows.push(queue);
                }
            }
            let is_one = outputs_of.values().all(|outputs| outputs.len() == 1);
            assert_eq!(classifier.has_marks_of_their_own(), is_one);
            let count = rows.len() as u32;
            assert_eq!(count, 4 * classifier.queues_per_lane());
            let first = 12 * classifier.queues_per_lane();
            rows.sort_unstable();
            assert!(rows.into_iter().eq((first..first + count).map(QueueRow)));
        }
    }
}
