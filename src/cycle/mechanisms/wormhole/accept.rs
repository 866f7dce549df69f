//! Inputs: which of the flits that outputs have picked in a round they let pass.
//!
//! Part of `Slot::Arbitrate`.
//! Cost: O(picks of the input) per pick

use super::passing::{Passing, Pick};
use crate::cycle::joints::{LaneChoice as _, Way as _};
use crate::fabric::rows::PortRow;

/// No pick of the round came before.
pub(super) const NO_PICK: u32 = u32::MAX;

impl<const W: usize> Passing<'_, W> {
    /// What was accepted in a round passes; what was refused is left.
    pub(super) fn settle(&mut self, is_first: bool) {
        if self.places.is_some() {
            self.end_round();
        }
        for number in 0..self.picks.len() {
            let pick = self.picks[number];
            if pick.accepted {
                self.pass(&pick, is_first);
            }
        }
        self.picks.retain(|pick| !pick.accepted);
    }

    /// First cycle in which a flit more may leave an input.
    pub(super) fn free_at(&self, input: PortRow) -> u64 {
        match &self.places {
            None => self.view.ins[input].free_at,
            Some(places) => places.free_at(input),
        }
    }

    /// An input lets the flits pass that come first in their [`Self::turn`], as many as it has places.
    pub(super) fn accept(&mut self, mut pick: Pick) {
        let now = self.view.now;
        let input = &mut self.view.ins[pick.input];
        if input.granted_in == now {
            pick.before = input.grant;
        }
        (input.granted_in, input.grant) = (now, self.picks.len() as u32);
        pick.accepted = true;
        if pick.before != NO_PICK {
            self.displace(&mut pick);
        }
        self.picks.push(pick);
    }

    /// The last in turn of those that the input would let pass gives way to a pick, or this one to it, where there is no place for both; of
    /// a header that several outputs pick (D82) the one of the other.
    #[inline(never)]
    fn displace(&mut self, pick: &mut Pick) {
        let now = self.view.now;
        let free = (self.places.as_ref()).map_or(1, |places| places.free(pick.input, now));
        let (mut taken, mut last) = (0, None);
        let mut number = pick.before;
        while let Some(rival) = self.picks.get(number as usize) {
            if rival.accepted {
                let turn = self.turn(rival);
                if rival.queue == pick.queue {
                    (taken, last) = (free, Some((number, turn)));
                    break;
                }
                taken += 1;
                if last.is_none_or(|(_, latest)| turn > latest) {
                    last = Some((number, turn));
                }
            }
            number = rival.before;
        }
        if taken >= free
            && let Some((rival, turn)) = last
        {
            pick.accepted = self.turn(pick) < turn;
            self.picks[rival as usize].accepted = !pick.accepted;
        }
    }

    /// Of the flits that an input lets pass the last one in turn moves its accept pointer; a later round begins without picks.
    fn end_round(&mut self) {
        for number in 0..self.picks.len() {
            let pick = self.picks[number];
            self.view.ins[pick.input].granted_in = u64::MAX;
            let mut before = pick.before;
            while let Some(&rival) = self.picks.get(before as usize) {
                if rival.accepted && pick.accepted {
                    let is_later = self.turn(&pick) > self.turn(&rival);
                    let earlier = if is_later { before as usize } else { number };
                    self.picks[earlier].is_latest = false;
                }
                before = rival.before;
            }
        }
    }

    /// When an input takes a pick: by priority (D71), by what heads that request several lanes prefer (D76), then around the switch
    /// from its accept pointer.
    fn turn(&self, pick: &Pick) -> (u16, (bool, u32), u16) {
        let view = &self.view;
        let index = u16::from(view.outs[pick.out].index);
        let distance = index.wrapping_sub(view.ins[pick.input].accept_pointer) & 0x1ff;
        let preference = view.preference(pick.queue, pick.lane);
        (view.kind(pick.lane), preference, distance)
    }
}
