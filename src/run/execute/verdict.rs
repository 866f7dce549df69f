//! The verdict of a run that went to its end, or to the limit of its drain.

use super::Run;
use crate::measure::{ClassRecords, Records};
use crate::run::outcome::Verdict;
use crate::run::wait_for::WaitFor;
use crate::scenario::Resolved;
use crate::scenario::plan::ClassPlan;

/// Part of the offered packets that may pile up in the source queues before a run counts as saturated.
const GROWTH: f64 = 0.02;

/// Verdict and reason; `growth` is how many packets more wait in source queues after the measurement.
pub(super) fn judge(resolved: &Resolved, records: &Records, growth: i64) -> (Verdict, String) {
    let sum = |count: fn(&ClassRecords) -> u64| records.classes.iter().map(count).sum::<u64>();
    let (created, rejected) = (
        sum(|class| class.created_packets),
        sum(|class| class.rejected),
    );
    if rejected > 0 {
        let share = rejected as f64 / created as f64 * 100.0;
        return (
            Verdict::Saturated,
            format!("full source queues rejected {share:.2} % of the packets"),
        );
    }
    let hosts = resolved.layout.graph.hosts().len();
    if growth as f64 > GROWTH * created as f64 + hosts as f64 {
        let share = growth as f64 / created as f64 * 100.0;
        return (
            Verdict::Saturated,
            format!(
                "{share:.1} % of the packets created in the measurement stayed in the source queues"
            ),
        );
    }
    if resolved.plan.classes.iter().any(ClassPlan::is_backlogged) {
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
}
