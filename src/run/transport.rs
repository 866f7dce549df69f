//! What lies between shards: mail, and numbers that concern all of them. Nothing else of one shard reaches another.

use crate::cycle::counts::Reduction;
use crate::cycle::state::Mail;

/// Carries mail between windows.
pub trait Transport: Send {
    /// Takes the mail that shard `from` has written in a window, by receiving shard.
    fn post(&mut self, from: usize, outbox: &mut [Vec<Mail>]);

    /// Hands over what came for shard `to`, in the order of the senders; all have posted.
    fn exchange(&mut self, to: usize, inbox: &mut Vec<Mail>);

    /// One number out of those of all shards, of which `numbers` are those here.
    fn reduce(&mut self, by: Reduction, numbers: &mut dyn Iterator<Item = u64>) -> u64;
}

/// All shards are in this process.
#[derive(Debug)]
pub struct InProcess {
    /// Mail per receiving shard.
    boxes: Vec<Vec<Mail>>,
}

impl InProcess {
    /// Between so many shards.
    pub fn new(shards: usize) -> Self {
        Self {
            boxes: vec![Vec::new(); shards],
        }
    }
}

impl Transport for InProcess {
    fn post(&mut self, _from: usize, outbox: &mut [Vec<Mail>]) {
        for (mail, into) in outbox.iter_mut().zip(&mut self.boxes) {
            into.append(mail);
        }
    }

    fn exchange(&mut self, to: usize, inbox: &mut Vec<Mail>) {
        let mail = &mut self.boxes[to];
        if inbox.is_empty() {
            std::mem::swap(inbox, mail);
        } else {
            inbox.append(mail);
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
    use crate::fabric::rows::LaneRow;

    fn credits(lane: u32) -> Mail {
        Mail::Credits {
            lane: LaneRow(lane),
            at: 7,
            flits: 1,
            step: 1,
        }
    }

    #[test]
    fn mail_arrives_in_the_order_of_its_senders() {
        let mut transport = InProcess::new(3);
        let lanes = |mail: &[Mail]| -> Vec<u32> {
            let lane = |mail: &Mail| match mail {
                Mail::Packet { lane, .. } | Mail::Credits { lane, .. } => lane.0,
                Mail::Notice { row, .. } => *row,
                Mail::Parcel { .. } | Mail::Content(_) => unreachable!("only credits are sent"),
            };
            mail.iter().map(lane).collect()
        };
        transport.post(0, &mut [vec![], vec![credits(1)], vec![credits(2)]]);
        transport.post(
            2,
            &mut [vec![credits(3)], vec![credits(4), credits(5)], vec![]],
        );
        let mut inbox = vec![credits(0)];
        transport.exchange(1, &mut inbox);
        assert_eq!(lanes(&inbox), [0, 1, 4, 5]);
        inbox.clear();
        transport.exchange(0, &mut inbox);
        assert_eq!(lanes(&inbox), [3]);
        transport.exchange(0, &mut inbox);
        assert_eq!(lanes(&inbox), [3]);
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
