//! The verdict of a run that went to its end, or to the limit of its drain.

use super::Run;
use crate::measure::{ClassRecords, Records};
use crate::run::outcome::Verdict;
use crate::run::wait_for::WaitFor;
use crate::scenario::Resolved;
use crate::scenario::plan::ClassPlan;
use std::fmt;

/// Part of the offered packets that may pile up in the source queues before a run counts as saturated.
const GROWTH: f64 = 0.02;

/// How far the messages of a run have come.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageCount {
    /// Messages of all classes.
    pub(super) all: u64,
    /// Those that are not delivered.
    pub(super) left: u64,
    /// Latest delivery \[cycle\].
    pub(super) last: u64,
}

impl fmt::Display for MessageCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delivered = self.all - self.left;
        write!(f, "{delivered} of {} messages delivered", self.all)?;
        match delivered {
            0 => Ok(()),
            _ => write!(f, ", the last in cycle {}", self.last),
        }
    }
}

/// Verdict and reason; `growth` is how many packets more wait in source queues after the measurement.
pub(super) fn judge(
    resolved: &Resolved,
    records: &Records,
    messages: MessageCount,
    growth: i64,
) -> (Verdict, String) {
    if resolved.plan.phases.until_messages && messages.left > 0 {
        let reason = format!("the bound of the measurement came first: {messages}");
        return (Verdict::Saturated, reason);
    }
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
    /// How far the messages have come.
    pub(super) fn messages(&self) -> MessageCount {
        let classes = &self.resolved.plan.classes;
        let all = classes.iter().filter_map(|class| class.messages).sum();
        let (mut delivered, mut last) = (0, 0);
        for state in self.simulation.states() {
            let classes = state.work.records.measured.classes.iter();
            for messages in classes.filter_map(|class| class.messages.as_ref()) {
                delivered += messages.delivered;
                last = last.max(messages.last_delivery);
            }
        }
        let left = all - delivered;
        MessageCount { all, left, last }
    }

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
