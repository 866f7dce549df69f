//! Credits that count from this cycle on.
//!
//! Stage: `Slot::Credits` (credit return)
//! Reads: the ramps of this cycle's calendar slot
//! Writes: credits of output lanes, visit lists of outputs and hosts that waited for them
//! Cost: O(ramps due)
//!
//! # Rules
//! 1. A packet's slots come free one by one: one ramp stands for them (see `fabric::credits`). Where ramps can overlap,
//!    each credit is a ramp of its own.
//! 2. Credits before freed inputs, heads and wake-ups: whatever looks at credits sees all that count in this cycle.
//!
//! # Deviations
//! None.

use crate::cycle::rules::RuleSet;
use crate::cycle::state::calendar::Ramp;
use crate::cycle::view::View;

/// Runs the stage.
#[inline(never)]
pub fn run<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    let now = view.now;
    let mut ramps = std::mem::take(&mut view.calendar.due(now).ramps);
    if view.place.prefetches {
        view.prefetch_ramps(&ramps);
    }
    for ramp in ramps.drain(..) {
        if view.shared.stepped_credits() && ramp.flits > 1 {
            let rest = Ramp {
                flits: ramp.flits - 1,
                ..ramp
            };
            let next = view.calendar.at(now + u64::from(ramp.step));
            next.ramps.push(rest);
            view.ramp(ramp.lane, now, 1, 1);
        } else {
            view.ramp(ramp.lane, now, ramp.flits, ramp.step);
        }
    }
    view.calendar.due(now).ramps = ramps;
}
