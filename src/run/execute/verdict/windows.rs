//! Windows of flows: what they let through in a time, and those that a process fills.
//!
//! # Algorithm
//! A window (D33), or the packets that control lets be under way (D41), goes once in the time in which a packet comes back: its
//! latency and the window's delay, or both ways and what the algorithm waits for.
//!
//! What a flow with a process offers is known beside what its window lets through in the empty fabric
//! ([`by_window`]). In a fabric with other traffic a packet takes longer: where its latency in
//! the mean makes that 0.99 of the window or more, the window may be what takes too little, and only a longer measurement tells.
//!
//! Cost: O(flows) per question, and that of the ways of those with a process and a window.

use super::super::Run;
use super::held::Held;
use super::window::{FULL_HOST, Window};
use crate::measure::FlowCounts;
use crate::plan::FlowPlan;
use crate::scenario::offered::by_window;

/// What a window lets through: so many packets in the time in which they come back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circle {
    /// At first \[packets\].
    pub(super) first: f64,
    /// At most \[packets\].
    most: f64,
    /// Until they come back \[cycles\].
    pub(super) cycles: f64,
}

impl Window<'_> {
    /// That of a flow whose packets, and answers, take so many cycles; `None`: it has no window.
    pub(super) fn circle(&self, latency: f64, flow: &FlowPlan) -> Option<Circle> {
        if let Some(window) = flow.window {
            let packets = f64::from(window.packets);
            return Some(Circle {
                first: packets,
                most: packets,
                cycles: window.delay as f64 + latency,
            });
        }
        let classes = &self.plan().classes;
        let control = classes[usize::from(flow.class)].control.as_ref()?;
        let under_way = control.algorithm.under_way()?;
        let answers = &classes[usize::from(control.answers)];
        // the last of several packets is behind the others
        let [asks, replies] = [flow.source, flow.destination]
            .map(|host| self.time_of_flit(self.graph.host_channel(host)));
        let asks = asks * self.sizes(flow).mean() * f64::from(under_way.together - 1);
        let behind = f64::from(control.algorithm.packets_per_answer() - 1);
        let replies = replies * answers.size.mean() * behind;
        Some(Circle {
            first: under_way.first.into(),
            most: under_way.most.into(),
            cycles: 2.0 * latency + under_way.waits as f64 + asks + replies,
        })
    }

    /// Packets per cycle of a class with control, or of the answers to one, that processes make and windows let through at most;
    /// `None`: it has no windows.
    pub(super) fn rate_of_windows(&self, latency: f64, number: usize) -> Option<f64> {
        let plan = self.plan();
        let asked = plan.classes[number].answers.map_or(number, usize::from);
        let control = plan.classes[asked].control.as_ref()?;
        let under_way = control.algorithm.under_way()?;
        let flows = plan.flows.iter();
        let flows = flows.filter(|flow| usize::from(flow.class) == asked);
        let rates = flows.filter_map(|flow| {
            let circle = self.circle(latency, flow)?;
            let link = self.cycles_per_flit(self.graph.host_channel(flow.source));
            let made = plan.load_of(flow).unwrap_or(1.0) / link / self.sizes(flow).mean();
            Some(made.min(circle.most / circle.cycles))
        });
        let rate: f64 = rates.sum();
        let answers = f64::from(control.algorithm.packets_per_answer());
        Some(if asked == number {
            rate
        } else {
            rate * answers / f64::from(under_way.together)
        })
    }
}

impl Run<'_> {
    /// Flows whose process may offer more than their windows let through with the latencies that packets have.
    pub(super) fn full_windows(&self, window: &Window<'_>, counts: &[FlowCounts]) -> Vec<Held> {
        if !window.is_irregular() {
            return Vec::new();
        }
        let flows = self.resolved.plan.flows.iter().zip(counts).enumerate();
        let full = flows.filter_map(|(id, (flow, counts))| {
            let by_window = by_window(self.resolved, id)?;
            let empty = by_window.window?;
            let arrived = &counts.arrived;
            let latency = arrived.network.sum as f64 / arrived.tagged.max(1) as f64;
            let late = (latency - empty.latency).max(0.0);
            let part = by_window.part * (1.0 + late / empty.cycles);
            (part >= FULL_HOST).then(|| {
                let offers = window.process_offers(id, part);
                Held {
                    class: usize::from(flow.class),
                    part: 1.0 / part,
                    words: format!(
                        "{offers} of what its window lets through with packets that take {latency:.0} cycles in the mean"
                    ),
                    is_sure: false,
                }
            })
        });
        full.collect()
    }
}
