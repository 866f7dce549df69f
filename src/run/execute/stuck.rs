//! Ends a run when some of its packets can never move again.

use super::Run;
use crate::run::outcome::Verdict;
use crate::run::wait_for::WaitFor;

impl Run<'_> {
    /// Ends the run when some packets can never move again, or, with `is_frozen`, nothing can.
    pub(super) fn end_when_stuck(&mut self, is_frozen: bool) {
        let (plan, graph) = (&self.resolved.plan, &self.resolved.layout.graph);
        let waits = WaitFor::of(&self.simulation, plan.switch.lane_capacity);
        if waits.is_empty() && !is_frozen {
            return;
        }
        let circle = waits.describe(graph);
        let who = circle.unwrap_or_else(|| waits.standing(graph));
        let what = if is_frozen {
            String::from("nothing can happen any more")
        } else {
            format!("{} heads can never move again", waits.len())
        };
        let (now, packets) = (self.simulation.now(), self.simulation.totals().in_fabric());
        let reason = format!("{what} at cycle {now} with {packets} packets in the fabric\n{who}");
        self.ended = Some((Verdict::Deadlocked, reason));
    }
}
