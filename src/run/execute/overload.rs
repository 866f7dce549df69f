//! Ends a run whose fabric certainly takes less than is offered: its further cycles would say the same.
//!
//! # Guarantees
//! Decided at rows of the timeline by counters of the simulation alone: the same for any number of threads and shards,
//! and for a run that goes on from a checkpoint. Only where the routes are proved free of deadlock: else a run that takes
//! less than is offered may be one that cannot move, which its end tells.
//!
//! # Algorithm
//! What is created in a row of the measurement but not delivered is compared with what is created, as a ratio of sums
//! over the rows. The ratio must exceed the part allowed by the width of its one-sided interval of 99.95 %. In a
//! steady run the rows take turns (what one keeps back the next delivers), which makes the interval too wide, never
//! too narrow.

use super::Run;
use crate::measure::precision::student_t;
use crate::run::outcome::{Overload, TimelineRow, Verdict};

/// Rows of the timeline that it takes to be sure.
const ENOUGH_ROWS: usize = 16;
/// Two-sided level of the interval.
const LEVEL: f64 = 0.999;

/// Part of the flits created that stays undelivered, and the half-width of its interval; `None` for too few rows.
fn missing(rows: &[TimelineRow]) -> Option<(f64, f64)> {
    let created: u64 = rows.iter().map(|row| row.created_flits).sum();
    if rows.len() < ENOUGH_ROWS || created == 0 {
        return None;
    }
    let delivered: u64 = rows.iter().map(|row| row.delivered_flits).sum();
    let part = 1.0 - delivered as f64 / created as f64;
    let residual = |row: &TimelineRow| {
        let missing = row.created_flits as f64 - row.delivered_flits as f64;
        (missing - part * row.created_flits as f64).powi(2)
    };
    let count = rows.len() as f64;
    let squares: f64 = rows.iter().map(residual).sum();
    let error = (squares * count / (count - 1.0)).sqrt() / created as f64;
    Some((part, student_t(LEVEL, rows.len() - 1) * error))
}

impl Run<'_> {
    /// Whether loads are asked for, which no drain changes; where routes may deadlock a drain may tell that they do.
    pub(super) fn is_probe(&self) -> bool {
        let is_early = |overload: Overload| overload.is_early;
        self.settings.overload.is_some_and(is_early) && self.resolved.proof.acyclic
    }

    /// Ends the measurement when it is certain that the fabric is overloaded: at any row, or only `at_end`.
    pub(super) fn end_when_overloaded(&mut self, at_end: bool) {
        let Some(Overload { part, is_early }) = self.settings.overload else {
            return;
        };
        let Some(warm) = &self.driver.warm else {
            return;
        };
        let is_due = at_end || is_early && self.driver.timeline.start.0 == self.simulation.now();
        let is_meant = self.resolved.proof.acyclic && self.resolved.plan.phases.until.is_none();
        if !is_due || !is_meant || self.ended.is_some() || self.driver.measured.is_some() {
            return;
        }
        let timeline = &self.driver.timeline.rows;
        // before that a slow fabric fills
        let filled = warm.cycle.max(self.times.crossing());
        let first = timeline.partition_point(|row| row.start < filled);
        let Some((missing, half_width)) = missing(&timeline[first..]) else {
            return;
        };
        if missing - half_width <= part {
            return;
        }
        let now = self.simulation.now();
        let words = format!(
            "{:.1} % of the flits created in {} cycles were not delivered",
            missing * 100.0,
            now - warm.cycle
        );
        let reason = if at_end {
            format!("{words}; the measured packets left were not waited for")
        } else {
            self.is_cut = true;
            self.driver.length.push(format!(
                "measurement stopped at cycle {now}, certainly overloaded"
            ));
            format!("{words}: stopped at cycle {now}, certainly overloaded")
        };
        self.ended = Some((Verdict::Saturated, reason));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, below, stream};

    /// Rows of a fabric that gets 1000 flits a row, give or take, and delivers `delivered`.
    fn rows(seed: u64, delivered: u64) -> Vec<TimelineRow> {
        let mut rng = stream(seed, Purpose::Arrivals, 0);
        let row = |_| TimelineRow {
            created_flits: 900 + u64::from(below(&mut rng, 201)),
            delivered_flits: delivered - 50 + u64::from(below(&mut rng, 101)),
            ..TimelineRow::default()
        };
        (0..40).map(row).collect()
    }

    /// A run is looked at after every row: the chance to be stopped is that of all looks together.
    fn stopped(delivered: u64) -> usize {
        let is_stopped = |seed: &u64| {
            let rows = rows(*seed, delivered);
            let is_beyond = |(part, half_width): (f64, f64)| part - half_width > 0.07;
            (1..=rows.len()).any(|end| missing(&rows[..end]).is_some_and(is_beyond))
        };
        (0..2000_u64).filter(is_stopped).count()
    }

    #[test]
    fn runs_that_keep_up_or_nearly_so_are_never_stopped_and_overloaded_ones_are() {
        assert_eq!(stopped(1000), 0);
        assert_eq!(stopped(950), 0);
        // just at the bound: rows are independent here, so one run in a hundred is stopped at some look
        let wrong = stopped(930);
        assert!(wrong <= 20, "{wrong} of 2000");
        assert_eq!(stopped(850), 2000);
    }

    #[test]
    fn few_rows_say_nothing() {
        assert_eq!(missing(&rows(1, 500)[..ENOUGH_ROWS - 1]), None);
        assert_eq!(missing(&[TimelineRow::default(); 20]), None);
    }
}
