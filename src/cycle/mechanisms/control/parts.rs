//! Answers of several packets at the source: which of them have come whole (D45 of the model).
//!
//! The packets of an answer have numbers that follow each other, and all answers of a class as many, so number / many
//! names the answer.
//! Cost: nothing where answers are single packets; else O(answers of the flow that have come in part), one where packets keep
//! their order

use serde::{Deserialize, Serialize};

/// An answer of which packets have come.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Part {
    answer: u32,
    missing: u16,
}

/// Answers that have come in part, by row of the flow.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Parts {
    rows: Vec<Vec<Part>>,
}

impl Parts {
    /// Of so many flows.
    pub(super) fn new(rows: usize) -> Self {
        Self {
            rows: vec![Vec::new(); rows],
        }
    }

    /// The packet with this number of an answer of so many packets is delivered: whether it is the last to come.
    #[inline]
    pub(super) fn deliver(&mut self, row: u32, sequence: u32, packets: u16) -> bool {
        if packets == 1 {
            return true;
        }
        let answer = sequence / u32::from(packets);
        let parts = &mut self.rows[row as usize];
        let Some(index) = parts.iter().position(|part| part.answer == answer) else {
            parts.push(Part {
                answer,
                missing: packets - 1,
            });
            return false;
        };
        parts[index].missing -= 1;
        let is_last = parts[index].missing == 0;
        if is_last {
            parts.swap_remove(index);
        }
        is_last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_there_with_the_last_of_its_own_packets() {
        let mut parts = Parts::new(2);
        assert!(parts.deliver(1, 7, 1));
        // answers 2 (packets 6 to 8) and 3 (packets 9 to 11), mixed; those of another flow beside them
        let come = [9, 7, 10, 6, 8, 11].map(|sequence| {
            assert!(!parts.deliver(0, 12 + sequence % 2, 3));
            parts.rows[0].clear();
            parts.deliver(1, sequence, 3)
        });
        assert_eq!(come, [false, false, false, false, true, true]);
        assert!(parts.rows[1].is_empty());
    }
}
