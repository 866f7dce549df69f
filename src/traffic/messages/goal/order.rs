//! From operations to messages: in an order in which nothing waits for something later, with what each one waits for.
//!
//! Start and end of an operation are maxima of terms `message complete + delay` and of a time from cycle 0 on. A computation
//! moves them all; a receive joins those of what it requires and the message received; a send is a term of its own.
//!
//! Cost: O(operations + terms); the terms of an operation are the messages it may wait for last.

use super::super::After;
use super::matching::partners;
use super::parse::{Action, Operation};
use super::{HostId, Message, MessageClass, Unit, Wrong};
use std::collections::{BTreeMap, VecDeque};

/// Most terms of an operation.
const MOST_TERMS: usize = 1 << 16;

/// A time that depends on messages: the latest of `base` and, for each operation that sends one, its completion + delay.
#[derive(Clone, Debug, Default)]
struct Latest {
    base: u64,
    terms: BTreeMap<usize, u64>,
}

impl Latest {
    fn join(&mut self, other: &Self) {
        self.base = self.base.max(other.base);
        for (&send, &delay) in &other.terms {
            let known = self.terms.entry(send).or_default();
            *known = delay.max(*known);
        }
    }

    fn delayed(mut self, cycles: u64) -> Self {
        self.base = self.base.saturating_add(cycles);
        for delay in self.terms.values_mut() {
            *delay = delay.saturating_add(cycles);
        }
        self
    }
}

/// The messages of a schedule, times not falling.
///
/// # Errors
/// When a rank has no host, a send has no receive or the other way round or one for less, or operations require each other in a circle.
pub(super) fn messages(
    operations: &[Operation],
    class: &MessageClass,
    unit: Unit,
) -> Result<Vec<Message>, Wrong> {
    let partners = partners(operations, unit)?;
    let order = order(operations, &partners)?;
    let mut starts: Vec<Latest> = vec![Latest::default(); operations.len()];
    let mut ends: Vec<Latest> = vec![Latest::default(); operations.len()];
    for &number in &order {
        let operation = &operations[number];
        let mut start = Latest::default();
        for &(other, immediate) in &operation.requires {
            start.join(if immediate {
                &starts[other]
            } else {
                &ends[other]
            });
        }
        if start.terms.len() > MOST_TERMS {
            let reason = format!("waits for more than {MOST_TERMS} messages");
            return Err((operation.line, reason));
        }
        let end = match operation.action {
            Action::Compute(units) => start.clone().delayed(unit.cycles(units)),
            // what a rank sends to itself is on no link
            Action::Send { to, .. } if to == operation.rank => start.clone(),
            Action::Send { .. } => Latest {
                base: start.base,
                terms: BTreeMap::from([(number, 0)]),
            },
            Action::Receive { .. } => {
                let send = partners[&number];
                let mut end = start.clone();
                end.join(&ends[send]);
                end
            }
        };
        (starts[number], ends[number]) = (start, end);
    }
    assemble(operations, class, &order, &starts)
}

/// The messages of all sends, by their times; those of one time stay in `order`.
fn assemble(
    operations: &[Operation],
    class: &MessageClass,
    order: &[usize],
    starts: &[Latest],
) -> Result<Vec<Message>, Wrong> {
    let is_send = |number: &&usize| {
        let operation = &operations[**number];
        matches!(operation.action, Action::Send { to, .. } if to != operation.rank)
    };
    let mut sends: Vec<usize> = order.iter().filter(is_send).copied().collect();
    sends.sort_by_key(|&send| starts[send].base);
    let numbers: BTreeMap<usize, u64> = sends.iter().copied().zip(0..).collect();
    let message = |&send: &usize| {
        let Operation {
            line, rank, action, ..
        } = operations[send];
        let Action::Send { bytes, to, .. } = action else {
            return Err((line, "is no send".into()));
        };
        let host = |rank: u32| -> Result<HostId, Wrong> {
            let host = class.host("rank with a host", &rank.to_string());
            host.map_err(|reason| (line, reason))
        };
        let terms = starts[send].terms.iter();
        let after = terms.map(|(other, &delay)| After {
            message: numbers[other],
            delay,
        });
        Ok(Message {
            line,
            time: starts[send].base,
            source: host(rank)?,
            destination: host(to)?,
            class: class.number,
            bytes,
            after: after.collect(),
        })
    };
    sends.iter().map(message).collect()
}

/// The operations in an order in which each comes after what it requires, and a receive after its send.
fn order(operations: &[Operation], partners: &BTreeMap<usize, usize>) -> Result<Vec<usize>, Wrong> {
    let mut left: Vec<usize> = vec![0; operations.len()];
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); operations.len()];
    for (number, operation) in operations.iter().enumerate() {
        let required = operation.requires.iter().map(|(other, _)| *other);
        for other in required.chain(partners.get(&number).copied()) {
            left[number] += 1;
            next[other].push(number);
        }
    }
    let mut ready: VecDeque<usize> = (0..left.len())
        .filter(|&number| left[number] == 0)
        .collect();
    let mut order = Vec::with_capacity(left.len());
    while let Some(number) = ready.pop_front() {
        order.push(number);
        for &other in &next[number] {
            left[other] -= 1;
            if left[other] == 0 {
                ready.push_back(other);
            }
        }
    }
    match left.iter().position(|&left| left > 0) {
        Some(stuck) => Err((
            operations[stuck].line,
            "waits in a circle, or for something that does".into(),
        )),
        None => Ok(order),
    }
}
