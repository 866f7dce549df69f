//! What a run is told to have been, and what that rests on.

use super::Run;
use super::jobs::Jobs;
use super::verdict::{self, Leftover};
use crate::measure::Records;
use crate::run::checkpoint::Mark;
use crate::run::inspect::flow_counts;
use crate::run::outcome::{ClassVerdict, Growth, Verdict};

/// A verdict, and what was counted for it.
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    pub(super) classes: Vec<Option<ClassVerdict>>,
    pub(super) growth: Growth,
    pub(super) leftover: Leftover,
}

impl Run<'_> {
    /// Judges a run that has gone from the marks `warm` to `measured` and beyond.
    pub(super) fn judged(&mut self, records: &Records, warm: &Mark, measured: &Mark) -> Judged {
        let backlog = measured.queued as i64 - warm.queued as i64;
        let leftover = Leftover {
            packets: self.tagged_left(),
            drain: self.simulation.now() - measured.cycle,
        };
        let counts = flow_counts(&self.simulation, None);
        let window = self.window(records, measured.cycle - warm.cycle);
        let ways = self.times_on_ways();
        let window = window.with_flows(&counts, &ways);
        let growth = Growth {
            backlog,
            present: window.present_growth(),
        };
        let cycles = [warm.cycle, self.simulation.now()];
        let jobs = Jobs::of(self.resolved, records, &counts, cycles);
        let held = self.held_back(&window, &counts);
        let mut classes = self.judge_classes(&window, &jobs, &held);
        let judged = verdict::judge(&window, &jobs, (&classes, &held), leftover);
        let judged = self.with_starved(judged, records, [warm, measured]);
        drop(ways);
        let ended = self.ended.take().map(|(verdict, reason)| match verdict {
            Verdict::Incomplete => (verdict, reason + &jobs.missing()),
            _ => (verdict, reason),
        });
        let (verdict, reason) = ended
            .filter(|(verdict, _)| !judged.0.precedes(*verdict))
            .unwrap_or(judged);
        if verdict == Verdict::Deadlocked {
            stop_undecided(&mut classes);
        }
        Judged {
            verdict,
            reason,
            classes,
            growth,
            leftover,
        }
    }
}

/// A class that is undecided where packets can never move again will not be decided by more cycles.
fn stop_undecided(classes: &mut [Option<ClassVerdict>]) {
    let classes = classes.iter_mut().flatten();
    for class in classes.filter(|class| class.verdict == Verdict::Undecided) {
        class.verdict = Verdict::Deadlocked;
        class.reason = String::from("packets of the fabric can never move again");
    }
}
