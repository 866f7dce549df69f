//! Why a run ended: its verdict and the reason.

use super::Run;
use crate::measure::Records;
use crate::run::outcome::Verdict;
use crate::run::wait_for::WaitFor;

/// Part of the offered flits that may pile up in the source queues before a run counts as saturated.
const GROWTH: f64 = 0.02;

impl Run<'_> {
    /// The drain limit is reached with tagged packets left: saturated, unless some wait in a circle.
    pub(super) fn out_of_time(&mut self, limit: u64) {
        let left = self.tagged_left();
        let waits = WaitFor::of(&mut self.simulation);
        self.ended = Some(match waits.describe(&self.resolved.layout.graph) {
            Some(cycle) if !self.resolved.proof.acyclic => (
                Verdict::Deadlocked,
                format!("some packets can never move again\n{cycle}"),
            ),
            _ => (
                Verdict::Saturated,
                format!(
                    "{left} packets of the measurement were not delivered within {limit} cycles of drain"
                ),
            ),
        });
    }

    pub(super) fn verdict(&self, records: &Records, growth: u64) -> (Verdict, String) {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let sum = |count: fn(&crate::measure::ClassRecords) -> u64| {
            records.classes.iter().map(count).sum::<u64>()
        };
        let (created, rejected) = (
            sum(|class| class.created_packets),
            sum(|class| class.rejected),
        );
        let backlogged = self
            .resolved
            .plan
            .classes
            .iter()
            .any(crate::scenario::plan::ClassPlan::is_backlogged);
        if rejected > 0 {
            let share = rejected as f64 / created as f64 * 100.0;
            return (
                Verdict::Saturated,
                format!("full source queues rejected {share:.2} % of the packets"),
            );
        }
        if growth as f64 > GROWTH * created as f64 + self.resolved.layout.graph.hosts().len() as f64
        {
            let share = growth as f64 / created as f64 * 100.0;
            return (
                Verdict::Saturated,
                format!(
                    "{share:.1} % of the packets created in the measurement stayed in the source queues"
                ),
            );
        }
        if backlogged {
            return (
                Verdict::Saturated,
                String::from("saturating sources offer all the fabric takes"),
            );
        }
        (
            Verdict::Steady,
            String::from("source queues do not grow and every measured packet was delivered"),
        )
    }
}
