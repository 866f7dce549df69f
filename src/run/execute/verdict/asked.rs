//! What the traffic asks of the channel that is full first, in expectation, beside what a measurement saw.

use crate::routing::loads::bound::Bound;
use crate::run::outcome::Settings;
use crate::scenario::bounds::headroom;
use crate::scenario::{Resolved, credit_loops};

use super::window::{FULL_HOST, Window};

/// Part beyond a bound that is no rounding.
const BEYOND: f64 = 1e-6;

/// What the traffic asks of the channel that is full first, in expectation.
#[derive(Clone, Copy, Debug)]
pub(in crate::run::execute) struct Asked {
    /// The bound, a factor of the loads offered.
    pub(in crate::run::execute) bound: Bound,
    /// Whether channels between switches are known too.
    pub(in crate::run::execute) has_inner: bool,
}

impl Asked {
    /// Of a scenario; `None` where it is not known, or not asked.
    pub(in crate::run::execute) fn of(resolved: &Resolved, settings: &Settings) -> Option<Self> {
        if settings.measured_only {
            return None;
        }
        let bound = headroom(resolved, |_| true)?;
        let has_inner = resolved.routes.tables().is_some();
        Some(Self { bound, has_inner })
    }

    /// Load of the channel, a part of what it carries.
    fn part(&self) -> f64 {
        1.0 / self.bound.load
    }
}

impl Window<'_> {
    /// A channel that the traffic asks for more than it carries, in expectation.
    pub(super) fn asked_too_much(&self) -> Option<String> {
        let asked = self.asked.filter(|asked| asked.part() > 1.0 + BEYOND)?;
        Some(format!("{}; {}", self.demand(&asked), self.loads()))
    }

    /// What the traffic asks of a channel, in words.
    fn demand(&self, asked: &Asked) -> String {
        let (channel, part) = (self.channel_name(asked.bound.channel), asked.part());
        let carried = credit_loops::carried(&asked.bound);
        format!("the traffic asks channel {channel} for {part:.3} of {carried}")
    }

    /// A channel that the traffic asks for about all that it carries, in expectation.
    pub(super) fn asked_for_all(&self, asked: &Asked) -> Option<String> {
        let is_full = asked.part() >= FULL_HOST && self.is_irregular();
        is_full.then(|| self.demand(asked))
    }

    /// Whether a class always has a packet waiting, to the end: one of limited numbers of packets may have sent all.
    pub(super) fn offers_all(&self, class: usize) -> bool {
        self.plan().classes[class].is_backlogged() && !self.done.contains(&class)
    }

    /// Whether any does.
    pub(super) fn is_backlogged(&self) -> bool {
        (0..self.plan().classes.len()).any(|class| self.offers_all(class))
    }
}
