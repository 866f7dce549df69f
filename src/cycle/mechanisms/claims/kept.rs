//! What the claims of a cycle keep from its rounds: lanes, outputs, places of inputs.
//!
//! Rounds see a barred lane without credits, a kept output and an input without a place; at the end of `Slot::Arbitrate` all is
//! as it was. Credits that come back meanwhile are added to what is left, so they are not lost.

use crate::cycle::rules::RuleSet;
use crate::cycle::view::View;
use crate::fabric::rows::{LaneRow, PortRow};

/// A lane that only its claimant may take.
#[derive(Clone, Copy, Debug)]
struct Barred {
    lane: LaneRow,
    /// Lane with its credits.
    credit_row: LaneRow,
    /// Credits that are hidden \[flits\].
    hidden: u32,
    /// What its claimant lacks room for \[flits\]; 0 = nothing.
    lacks: u16,
}

/// An output and a place of an input that a claim has taken.
#[derive(Clone, Copy, Debug)]
struct Taken {
    out: PortRow,
    input: PortRow,
    /// It has been granted: nothing waits.
    is_granted: bool,
    /// From when on the output was free, where it is hidden.
    out_free_at: Option<u64>,
    /// The same of an input that sends one packet at a time.
    input_free_at: Option<u64>,
    /// Places of the input that are hidden.
    places: u16,
}

/// Places of an input that claims have taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Places {
    /// All.
    pub(super) all: u16,
    /// Those of claims that wait.
    pub(super) waiting: u16,
}

/// Everything that is kept in a cycle.
#[derive(Debug, Default)]
pub(super) struct Kept {
    barred: Vec<Barred>,
    taken: Vec<Taken>,
}

impl Kept {
    /// Bars a lane; `false`: a claim before has barred it.
    pub(super) fn bar(&mut self, lane: LaneRow, credit_row: LaneRow) -> bool {
        let is_new = self
            .barred
            .iter()
            .all(|other| other.credit_row != credit_row);
        if is_new {
            self.barred.push(Barred {
                lane,
                credit_row,
                hidden: 0,
                lacks: 0,
            });
        }
        is_new
    }

    /// The claimant that has barred last has no room for its flits.
    pub(super) fn lacks(&mut self, flits: u16) {
        if let Some(last) = self.barred.last_mut() {
            last.lacks = flits;
        }
    }

    /// Whether a claim has taken an output.
    pub(super) fn has_taken(&self, out: PortRow) -> bool {
        self.taken.iter().any(|taken| taken.out == out)
    }

    /// Places of an input that claims have taken.
    pub(super) fn places(&self, input: PortRow) -> Places {
        let mut places = Places::default();
        for taken in self.taken.iter().filter(|taken| taken.input == input) {
            places.all += 1;
            places.waiting += u16::from(!taken.is_granted);
        }
        places
    }

    /// A claim takes an output and a place of an input.
    pub(super) fn take(&mut self, out: PortRow, input: PortRow, is_granted: bool) {
        self.taken.push(Taken {
            out,
            input,
            is_granted,
            out_free_at: None,
            input_free_at: None,
            places: 0,
        });
    }

    /// The walk is over: what is kept is hidden from the rounds.
    pub(super) fn conceal<const W: usize, P: RuleSet>(&mut self, view: &mut View<'_, W, P>) {
        let now = view.now;
        for barred in &mut self.barred {
            barred.hidden = view.lanes[barred.credit_row].conceal(now);
        }
        for taken in self.taken.iter_mut().filter(|taken| !taken.is_granted) {
            let out = &mut view.outs[taken.out];
            if out.free_at <= now {
                taken.out_free_at = Some(out.free_at);
                out.free_at = now + 1;
            }
            let (input, speedup) = (&mut view.ins[taken.input], view.shared.speedup());
            if speedup == 1 && input.free_at <= now {
                taken.input_free_at = Some(input.free_at);
                input.free_at = now + 1;
                view.close_input(taken.input);
            } else if speedup != 1 && speedup != u16::MAX && input.leaving < speedup {
                taken.places = 1;
                input.leaving += 1;
                if input.leaving == speedup {
                    view.close_input(taken.input);
                }
            }
        }
    }

    /// Whether nothing is barred.
    pub(super) fn is_empty(&self) -> bool {
        self.barred.is_empty()
    }

    /// The rounds are over: gives everything back.
    pub(super) fn reveal<const W: usize, P: RuleSet>(&mut self, view: &mut View<'_, W, P>) {
        for taken in self.taken.drain(..).rev() {
            if let Some(free_at) = taken.out_free_at {
                view.outs[taken.out].free_at = free_at;
            }
            if let Some(free_at) = taken.input_free_at {
                view.ins[taken.input].free_at = free_at;
                view.open_input(taken.input);
            }
            if taken.places > 0 {
                let speedup = view.shared.speedup();
                let input = &mut view.ins[taken.input];
                input.leaving -= taken.places;
                if input.leaving < speedup {
                    view.open_input(taken.input);
                }
            }
        }
        for barred in self.barred.drain(..) {
            view.lanes[barred.credit_row].reveal(barred.hidden);
            let out = view.shared.numbering.port(barred.lane);
            // what rounds noted of a lane without credits says nothing
            if view.shared.pool() {
                for lane in view.shared.numbering.lanes_of(out) {
                    view.lanes[lane].need = 0;
                }
            } else {
                view.lanes[barred.lane].need = 0;
            }
            if barred.lacks > 0 {
                view.starve(out, barred.lane, barred.lacks);
            }
        }
    }
}
