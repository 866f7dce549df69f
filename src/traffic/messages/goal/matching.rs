//! Which send each receive of a GOAL schedule takes.
//!
//! # Rules
//! 1. Where no receive of a rank takes anything else than one source and one tag, and nothing is sent there with any tag, the n-th
//!    send to it from a rank with a tag is the n-th receive of these, in the order of the text.
//! 2. Else receives and sends of that rank are matched as they come when messages take no time: a receive takes the earliest send
//!    that fits it, a send the earliest receive that waits for it. Those of one time count in the order of the text. What
//!    takes what is settled before the run, whatever comes first in it.
//!
//! Cost: O(operations * log operations), and for the second rule O(waiting operations of the rank) for each.

use super::parse::{Action, Operation};
use super::{Unit, Wrong};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Source, destination and tag.
type Exact = (u32, u32, u64);

/// The send of each receive.
///
/// # Errors
/// When one of them has no other, or a receive has no room for its send.
pub(super) fn partners(
    operations: &[Operation],
    unit: Unit,
) -> Result<BTreeMap<usize, usize>, Wrong> {
    let free = free_ranks(operations);
    let mut sends: BTreeMap<Exact, VecDeque<usize>> = BTreeMap::new();
    for (number, operation) in operations.iter().enumerate() {
        if let Action::Send {
            to, tag: Some(tag), ..
        } = operation.action
            && !free.contains(&to)
        {
            sends
                .entry((operation.rank, to, tag))
                .or_default()
                .push_back(number);
        }
    }
    let mut partners = BTreeMap::new();
    for (number, operation) in operations.iter().enumerate() {
        let rank = operation.rank;
        if let Action::Receive {
            from: Some(from),
            tag: Some(tag),
            ..
        } = operation.action
            && !free.contains(&rank)
        {
            let queue = sends.get_mut(&(from, rank, tag));
            let Some(send) = queue.and_then(VecDeque::pop_front) else {
                let reason = format!(
                    "rank {rank} receives more from rank {from} with tag {tag} than that sends"
                );
                return Err((operation.line, reason));
            };
            partners.insert(number, send);
        }
    }
    if let Some(&left) = sends.values().find_map(VecDeque::front) {
        return Err((operations[left].line, "nobody receives this".into()));
    }
    if !free.is_empty() {
        Flow::new(operations, unit, &free, partners.clone()).run(&mut partners)?;
    }
    for (&receive, &send) in &partners {
        require_room(&operations[receive], &operations[send])?;
    }
    Ok(partners)
}

/// Ranks in which the second rule holds.
fn free_ranks(operations: &[Operation]) -> BTreeSet<u32> {
    let free = |operation: &Operation| match operation.action {
        Action::Send { to, tag: None, .. } => Some(to),
        Action::Receive { from, tag, .. } if from.is_none() || tag.is_none() => {
            Some(operation.rank)
        }
        _ => None,
    };
    operations.iter().filter_map(free).collect()
}

fn require_room(receive: &Operation, send: &Operation) -> Result<(), Wrong> {
    match (receive.action, send.action) {
        (Action::Receive { bytes, .. }, Action::Send { bytes: size, .. }) if size > bytes => {
            let (rank, line) = (send.rank, send.line);
            let reason = format!(
                "receives up to {bytes} bytes of what rank {rank} sends with {size} on line {line}"
            );
            Err((receive.line, reason))
        }
        _ => Ok(()),
    }
}

/// Whether a receive takes a send.
fn fits(receive: &Operation, send: &Operation) -> bool {
    match (receive.action, send.action) {
        (Action::Receive { from, tag, .. }, Action::Send { to, tag: other, .. }) => {
            let is_tag = tag.is_none() || other.is_none() || tag == other;
            to == receive.rank && from.is_none_or(|from| from == send.rank) && is_tag
        }
        _ => false,
    }
}

/// A schedule that goes on while messages take no time.
struct Flow<'a> {
    operations: &'a [Operation],
    unit: Unit,
    free: &'a BTreeSet<u32>,
    /// Known partners: send of a receive.
    known: BTreeMap<usize, usize>,
    /// What waits for the start, or the end, of an operation.
    next: Vec<Vec<(usize, bool)>>,
    /// What an operation still waits for, and the earliest time it can begin.
    left: Vec<usize>,
    begins: Vec<u64>,
    /// Operations that can begin, by time.
    ready: BTreeSet<(u64, usize)>,
    /// Sends and receives of the second rule without a partner, by rank, in the order in which they came.
    sent: BTreeMap<u32, Vec<usize>>,
    waiting: BTreeMap<u32, Vec<usize>>,
}

impl<'a> Flow<'a> {
    fn new(
        operations: &'a [Operation],
        unit: Unit,
        free: &'a BTreeSet<u32>,
        known: BTreeMap<usize, usize>,
    ) -> Self {
        let mut next = vec![Vec::new(); operations.len()];
        let mut left = vec![0; operations.len()];
        for (number, operation) in operations.iter().enumerate() {
            for &(other, immediate) in &operation.requires {
                next[other].push((number, immediate));
                left[number] += 1;
            }
        }
        // a receive ends when its send has begun
        for (&receive, &send) in &known {
            next[send].push((receive, true));
            left[receive] += 1;
        }
        let ready = (0..operations.len()).filter(|&number| left[number] == 0);
        Self {
            ready: ready.map(|number| (0, number)).collect(),
            operations,
            unit,
            free,
            known,
            next,
            left,
            begins: vec![0; operations.len()],
            sent: BTreeMap::new(),
            waiting: BTreeMap::new(),
        }
    }

    /// Enters the partners of the second rule.
    fn run(mut self, partners: &mut BTreeMap<usize, usize>) -> Result<(), Wrong> {
        while let Some((now, number)) = self.ready.pop_first() {
            self.tell(now, number, true);
            match self.operations[number].action {
                Action::Compute(units) => {
                    let end = now.saturating_add(self.unit.cycles(units));
                    self.tell(end, number, false);
                }
                Action::Send { to, .. } => {
                    self.tell(now, number, false);
                    if self.free.contains(&to)
                        && let Some(receive) = self.take(to, number)
                    {
                        partners.insert(receive, number);
                        self.tell(now, receive, false);
                    }
                }
                Action::Receive { .. } => {
                    let rank = self.operations[number].rank;
                    let send = self.known.get(&number).copied();
                    if let Some(send) = send.or_else(|| self.take(rank, number)) {
                        partners.insert(number, send);
                        self.tell(now, number, false);
                    }
                }
            }
        }
        self.require_all()
    }

    /// What a send or receive for a rank finds of the other kind; it waits if there is none.
    fn take(&mut self, rank: u32, number: usize) -> Option<usize> {
        let operations = self.operations;
        let is_send = matches!(operations[number].action, Action::Send { .. });
        let (own, others) = if is_send {
            (&mut self.sent, &mut self.waiting)
        } else {
            (&mut self.waiting, &mut self.sent)
        };
        let fits = |&other: &usize| {
            let [receive, send] = if is_send {
                [other, number]
            } else {
                [number, other]
            };
            fits(&operations[receive], &operations[send])
        };
        let others = others.entry(rank).or_default();
        if let Some(place) = others.iter().position(fits) {
            return Some(others.remove(place));
        }
        own.entry(rank).or_default().push(number);
        None
    }

    /// Whether all have come to their end.
    fn require_all(&self) -> Result<(), Wrong> {
        let line = |number: usize| self.operations[number].line;
        let first = |lists: &BTreeMap<u32, Vec<usize>>| lists.values().flatten().min().copied();
        if let Some(receive) = first(&self.waiting) {
            let rank = self.operations[receive].rank;
            let reason = format!("nothing is sent that rank {rank} could receive here");
            return Err((line(receive), reason));
        }
        if let Some(stuck) = self.left.iter().position(|&left| left > 0) {
            let reason = "waits in a circle, or for something that does";
            return Err((line(stuck), reason.into()));
        }
        match first(&self.sent) {
            Some(send) => Err((line(send), "nobody receives this".into())),
            None => Ok(()),
        }
    }

    /// An operation has begun, or ended: tells those that wait for it.
    fn tell(&mut self, at: u64, number: usize, begun: bool) {
        for place in 0..self.next[number].len() {
            let (other, immediate) = self.next[number][place];
            if immediate != begun {
                continue;
            }
            self.begins[other] = self.begins[other].max(at);
            self.left[other] -= 1;
            if self.left[other] == 0 {
                self.ready.insert((self.begins[other], other));
            }
        }
    }
}
