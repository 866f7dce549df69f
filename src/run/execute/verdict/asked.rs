//! What the traffic asks of a channel, or a process of the limit of its flow, beside what a measurement saw.

use crate::run::execute::asked::Asked;
use crate::scenario::credit_loops;
use crate::scenario::offered::ByLimit;
use crate::topology::Endpoint;

use super::window::{FULL_HOST, Window};

/// Part beyond a bound that is no rounding.
pub(super) const BEYOND: f64 = 1e-6;

impl Window<'_> {
    /// A channel that the traffic asks for more than it carries, or a flow that is offered more than its limit, in expectation.
    pub(super) fn asked_too_much(&self) -> Option<String> {
        let asked = self.asked.as_ref()?;
        let words = self.beyond(asked, |part| part > 1.0 + BEYOND)?;
        Some(format!("{words}; {}", self.loads()))
    }

    /// What is asked for such a part of what there is, in words.
    fn beyond(&self, asked: &Asked, is_much: impl Fn(f64) -> bool) -> Option<String> {
        let bound = asked.bound.as_ref().filter(|_| is_much(asked.part()));
        let demand = bound.map(|bound| {
            let (channel, part) = (self.channel_name(bound.channel), asked.part());
            let carried = credit_loops::carried(bound.credit_loop.as_ref());
            format!("the traffic asks channel {channel} for {part:.3} of {carried}")
        });
        let by_limit = || {
            let by_limit = asked.by_limit.filter(|_| is_much(asked.part_of_limit()))?;
            Some(self.over_limit(by_limit))
        };
        demand.or_else(by_limit)
    }

    /// What a process offers beside the limit of its flow, in words.
    pub(super) fn over_limit(&self, ByLimit { flow, part }: ByLimit) -> String {
        let ends = &self.plan().flows[flow];
        let name = |host| self.graph.endpoint_name(Endpoint::Host(host));
        let [from, to] = [ends.source, ends.destination].map(name);
        format!("the process of flow {flow} ({from} to {to}) offers {part:.3} of its limit")
    }

    /// A channel or a limit that is asked for about all that it lets through, in expectation.
    pub(super) fn asked_for_all(&self, asked: &Asked) -> Option<String> {
        let words = self.beyond(asked, |part| part >= FULL_HOST);
        words.filter(|_| self.is_irregular())
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
