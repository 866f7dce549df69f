//! The verdict of a run that went to its end.

use crate::measure::{ClassRecords, Records};
use crate::run::outcome::Verdict;
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
