//! What the traffic asks of a channel, or a process of the limit or window of its flow, beside what a measurement saw.

use crate::routing::loads::bound::Bound;
use crate::run::execute::asked::Asked;
use crate::scenario::credit_loops;
use crate::scenario::offered::ByLimit;
use crate::scenario::round_trips::RoundTrip;
use crate::topology::Endpoint;

use super::window::{FULL_HOST, Window};

impl Window<'_> {
    /// A channel that the traffic asks for more than it carries, or a flow that is offered more than its limit or window lets through,
    /// in expectation.
    pub(super) fn asked_too_much(&self) -> Option<String> {
        let asked = self.asked.as_ref()?;
        let words = self.beyond(asked, |part| part > 1.0 + asked.rounding())?;
        Some(format!("{words}; {}", self.loads()))
    }

    /// The same of what flows ask at the end of the measurement.
    pub(super) fn asked_too_much_at_end(&self, asked: &Asked) -> Option<String> {
        let is_much = |part: f64| part > 1.0 + asked.rounding();
        let words = self.of_bound(asked.at_end, is_much)?;
        Some(format!("at its end {words}"))
    }

    /// A channel that is asked for such a part of what it carries, in words.
    fn of_bound(&self, bound: Option<Bound>, is_much: impl Fn(f64) -> bool) -> Option<String> {
        let bound = bound?;
        let (channel, part) = (self.channel_name(bound.channel), 1.0 / bound.load);
        let carried = credit_loops::carried(bound.credit_loop.as_ref());
        let words = || format!("the traffic asks channel {channel} for {part:.3} of {carried}");
        is_much(part).then(words)
    }

    /// What is asked for such a part of what there is, in words.
    fn beyond(&self, asked: &Asked, is_much: impl Fn(f64) -> bool) -> Option<String> {
        let demand = self.of_bound(asked.bound, &is_much);
        let by_limit = || {
            let by_limit = asked.by_limit.filter(|_| is_much(asked.part_of_limit()))?;
            Some(self.over_limit(by_limit))
        };
        demand.or_else(by_limit)
    }

    /// What a process offers beside the limit or the window of its flow, in words.
    pub(super) fn over_limit(&self, ByLimit { flow, part, window }: ByLimit) -> String {
        let offers = self.process_offers(flow, part);
        let Some(RoundTrip {
            packets, cycles, ..
        }) = window
        else {
            return format!("{offers} of its limit");
        };
        format!(
            "{offers} of what its window lets through, {packets} per empty round trip of {cycles:.0} cycles"
        )
    }

    /// That the process of a flow offers such a part, in words.
    pub(super) fn process_offers(&self, flow: usize, part: f64) -> String {
        let ends = &self.plan().flows[flow];
        let name = |host| self.graph.endpoint_name(Endpoint::Host(host));
        let [from, to] = [ends.source, ends.destination].map(name);
        format!("the process of flow {flow} ({from} to {to}) offers {part:.3}")
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
