//! What the traffic asks of a channel, beside what a measurement saw.

use crate::run::execute::asked::Asked;
use crate::scenario::credit_loops;

use super::window::{FULL_HOST, Window};

/// Part beyond a bound that is no rounding.
const BEYOND: f64 = 1e-6;

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
