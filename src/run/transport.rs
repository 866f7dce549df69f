//! What lies between shards: mail, and numbers that concern all of them. Nothing else of one shard reaches another.

use crate::cycle::counts::Reduction;
use crate::cycle::state::Mail;

/// Carries mail between windows.
pub trait Transport: Send {
    /// Takes the mail that shard `from` has written in a window, by receiving shard.
    fn post(&mut self, from: usize, outbox: &mut [Mail]);

    /// Hands over what came for shard `to`, by sender; all have posted.
    fn exchange(&mut self, to: usize, inbox: &mut Vec<Mail>);

    /// One number out of those of all shards, of which `numbers` are those here.
    fn reduce(&mut self, by: Reduction, numbers: &mut dyn Iterator<Item = u64>) -> u64;
}

/// All shards are in this process.
#[derive(Debug)]
pub struct InProcess {
    /// Mail, `[receiving shard][sending shard]`.
    boxes: Vec<Vec<Mail>>,
}

impl InProcess {
    /// Between so many shards.
    pub fn new(shards: usize) -> Self {
        Self {
            boxes: vec![vec![Mail::default(); shards]; shards],
        }
    }
}

impl Transport for InProcess {
    fn post(&mut self, from: usize, outbox: &mut [Mail]) {
        for (mail, into) in outbox.iter_mut().zip(&mut self.boxes) {
            if !mail.is_empty() {
                into[from].append(mail);
            }
        }
    }

    fn exchange(&mut self, to: usize, inbox: &mut Vec<Mail>) {
        let boxes = &mut self.boxes[to];
        inbox.resize_with(boxes.len(), Mail::default);
        for (mail, into) in boxes.iter_mut().zip(inbox) {
            if !mail.is_empty() {
                into.append(mail);
            }
        }
    }

    fn reduce(&mut self, by: Reduction, numbers: &mut dyn Iterator<Item = u64>) -> u64 {
        match by {
            // numbers with a sign are given modulo 2^64
            Reduction::Sum => numbers.fold(0, u64::wrapping_add),
            Reduction::Least => numbers.min().unwrap_or(u64::MAX),
            Reduction::Most => numbers.max().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::state::CreditMail;
    use crate::fabric::rows::LaneRow;

    /// Mail with credits of these lanes.
    fn credits(lanes: &[u32]) -> Mail {
        let mut mail = Mail::default();
        for &lane in lanes {
            mail.add_credits(CreditMail {
                at: 7,
                lane: LaneRow(lane),
                flits: 1,
                step: 1,
            });
        }
        mail
    }

    #[test]
    fn mail_arrives_by_senders_and_once() {
        let mut transport = InProcess::new(3);
        let lanes = |inbox: &[Mail]| -> Vec<Vec<u32>> {
            let lanes = |mail: &Mail| mail.credits().iter().map(|item| item.lane.0).collect();
            inbox.iter().map(lanes).collect()
        };
        transport.post(0, &mut [Mail::default(), credits(&[1]), credits(&[2])]);
        transport.post(2, &mut [credits(&[3]), credits(&[4, 5]), Mail::default()]);
        let mut inbox = vec![credits(&[0]), Mail::default()];
        transport.exchange(1, &mut inbox);
        assert_eq!(lanes(&inbox), [vec![0, 1], vec![], vec![4, 5]]);
        let mut inbox = Vec::new();
        transport.exchange(0, &mut inbox);
        assert_eq!(lanes(&inbox), [vec![], vec![], vec![3]]);
        transport.exchange(0, &mut inbox);
        assert_eq!(lanes(&inbox), [vec![], vec![], vec![3]]);
    }

    #[test]
    fn numbers_become_one() {
        let mut transport = InProcess::new(2);
        let mut reduce = |by, numbers: &[u64]| transport.reduce(by, &mut numbers.iter().copied());
        assert_eq!(reduce(Reduction::Sum, &[3, 4]), 7);
        assert_eq!(reduce(Reduction::Least, &[3, 4]), 3);
        assert_eq!(reduce(Reduction::Most, &[3, 4]), 4);
        assert_eq!(reduce(Reduction::Least, &[]), u64::MAX);
    }
}
