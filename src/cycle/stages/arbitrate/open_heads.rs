//! What inputs that send several packets at a time accept where heads request several outputs (D80).
//!
//! Part of `Slot::Arbitrate`, for open adaptive routing with input speed-up and output-first matching.
//! Reads: the grants of the round, credits, requests of heads, accept pointers
//! Writes: which grants are accepted; in the first round the accept pointers
//! Cost: O(grants of the round * log); of an input that several grant O(these squared)
//!
//! # Rules
//! 1. An input takes the grants of a round in order: by priority (D71), no escape before an escape, the least downstream, then from its
//!    accept pointer on, as it was before the round.
//! 2. It accepts as many as it has places left, and one of each head, in whichever queue it stands (D84). Without a limit it has a place for each.
//! 3. In the first round the pointer moves to one past the output accepted last.
//!
//! # Deviations
//! None.

use super::rank;
use crate::cycle::rules::RuleSet;
use crate::cycle::view::View;
use crate::fabric::rows::PortRow;

/// Inputs accept grants of the round that starts at `first`.
pub(super) fn accept<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, first: usize) {
    let mut order = std::mem::take(&mut view.lists.order);
    let of_round = (0u32..).zip(&view.lists.grants[first..]);
    order.extend(of_round.map(|(number, grant)| (grant.input, 0, number)));
    order.sort_unstable_by_key(|&(input, _, number)| {
        let grant = &view.lists.grants[first + number as usize];
        (input, rank(view, grant))
    });
    let (mut input, mut places, mut start) = (PortRow::NONE, 0, 0);
    for (place, &(of, _, number)) in order.iter().enumerate() {
        if of != input {
            (input, start) = (of, place);
            places = view.shared.speedup() - view.ins[input].leaving;
        }
        let grants = &view.lists.grants[first..];
        let grant = grants[number as usize];
        let head = view.queues[grant.queue].head;
        let mut before = order[start..place]
            .iter()
            .map(|&(_, _, number)| grants[number as usize]);
        if places == 0 || before.any(|one| one.accepted && view.queues[one.queue].head == head) {
            continue;
        }
        places -= 1;
        view.lists.grants[first + number as usize].accepted = true;
        if first == 0 {
            view.ins[input].accept_pointer = u16::from(view.outs[grant.out].index) + 1;
        }
    }
    order.clear();
    view.lists.order = order;
}
