//! What inputs that send several packets at a time accept where heads request several outputs (D80).
//!
//! Part of `Slot::Arbitrate`, for open adaptive routing with input speed-up and output-first matching.
//! Reads: the grants of the round, credits, requests of heads, accept pointers
//! Writes: which grants are accepted; in the first round the accept pointers
//! Cost: O(grants of the round * log)
//!
//! # Rules
//! 1. An input takes the grants of a round in order: by priority (D71), no escape before an escape, the least downstream, then from its
//!    accept pointer on, as it was before the round.
//! 2. It accepts as many as it has places left, and one of each head. Without a limit it has a place for each.
//! 3. In the first round the pointer moves to one past the output accepted last.
//!
//! # Deviations
//! None.

use super::rank;
use crate::cycle::rules::RuleSet;
use crate::cycle::view::View;
use crate::fabric::mask::LaneMask;
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
    let (mut input, mut places, mut served) = (PortRow::NONE, 0, LaneMask::EMPTY);
    for &(of, _, number) in &order {
        if of != input {
            (input, served) = (of, LaneMask::EMPTY);
            places = view.shared.speedup() - view.ins[input].leaving;
        }
        let grant = view.lists.grants[first + number as usize];
        let lane = view.shared.classifier().lane(grant.queue);
        let lane = view.shared.numbering.number(lane);
        if places == 0 || served.contains(lane) {
            continue;
        }
        places -= 1;
        served.insert(lane);
        view.lists.grants[first + number as usize].accepted = true;
        if first == 0 {
            view.ins[input].accept_pointer = u16::from(view.outs[grant.out].index) + 1;
        }
    }
    order.clear();
    view.lists.order = order;
}
