//! How long the phases are: fixed, or found in the run; and the batches that say how precise a mean is.
//!
//! Decisions fall at cycles that grow by a quarter from one to the next, and depend on counters of the
//! simulation alone: the same for any number of threads and shards. Only a limit of wall time depends on
//! the machine, and its verdict says so.

use super::awaited::Awaited;
use super::verdict::{Standing, standing};
use super::{DRAIN_STEP, MEASURE, Run};
use crate::cycle::records::{Records, Totals};
use crate::measure::precision::{Batch, BatchMeans, BatchSeries, CONFIDENCE, batch_means, warm_up};
use crate::plan::{Precision, Until};
use crate::run::acts::GlobalAct;
use crate::run::checkpoint::Mark;
use crate::run::outcome::{Estimates, Progress, RunError, Verdict};
use crate::run::shards::Shards;
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;

/// First batches of a phase that finds its own length \[cycles\].
const FIRST_BATCH: u64 = 16;
/// First decision of such a phase, in first batches: eight times the batches of an interval, and more than
/// MSER-5 needs.
const FIRST_DECISION: u64 = 256;
/// First batches are longer in a slow fabric: so many make a hop and the way back of its credits. Then a decision comes after
/// 32 of these at the earliest: a batch of an interval is not shorter than one.
const BATCHES_OF_A_HOP: u64 = 8;
/// Shortest batch of a phase of fixed length \[cycles\], unless that is very short: shorter ones would cost time.
const SHORTEST_BATCH: u64 = 64;
/// Batches a phase of fixed length aims at.
const BATCHES: u64 = 1024;

/// Fewest batches of a phase of fixed length that is long enough for them.
const LEAST_BATCHES: u64 = 32;

/// Why a measurement that finds its own length may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ready {
    /// Its means are precise enough, and nothing moves.
    Precise,
    /// The fabric is certainly saturated.
    Saturated,
}

/// Batches of a phase as it goes on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Batches {
    pub(super) series: BatchSeries,
    /// First cycle of the phase.
    first: u64,
    /// First cycle of the open batch, and the totals then; `None` outside the phase.
    open: Option<(u64, Totals)>,
}

impl Batches {
    /// Starts a phase.
    fn start(&mut self, now: u64, totals: Totals, length: u64) {
        self.series = BatchSeries::new(length);
        self.first = now;
        self.open = Some((now, totals));
    }

    /// The cycle that is `cycles` after the start of the phase.
    fn cycle(&self, cycles: u64) -> u64 {
        self.first.saturating_add(cycles)
    }

    /// Ends the phase; the open batch is left out.
    fn stop(&mut self) {
        self.open = None;
    }

    /// Closes the open batch.
    fn close(&mut self, now: u64, totals: Totals) {
        let Some((start, before)) = self.open.replace((now, totals)) else {
            return;
        };
        self.series.push(Batch {
            cycles: now - start,
            created_flits: totals.created_flits - before.created_flits,
            delivered_flits: totals.delivered_flits - before.delivered_flits,
            dropped_flits: totals.dropped_flits - before.dropped_flits,
            delivered: totals.delivered - before.delivered,
            network_latency: totals.network_latency - before.network_latency,
            packet_latency: totals.packet_latency - before.packet_latency,
            present: totals.present(),
        });
    }

    /// The intervals of the phase.
    pub(super) fn estimates(&self, confidence: f64) -> Estimates {
        let series = &self.series;
        Estimates {
            confidence,
            accepted: batch_means(series, confidence, |batch| {
                (batch.delivered_flits, batch.cycles)
            }),
            network_latency: batch_means(series, confidence, |batch| {
                (batch.network_latency, batch.delivered)
            }),
            packet_latency: packet_latency(series, confidence),
        }
    }
}

fn packet_latency(series: &BatchSeries, confidence: f64) -> Option<BatchMeans> {
    batch_means(series, confidence, |batch| {
        (batch.packet_latency, batch.delivered)
    })
}

impl GlobalAct for Batches {
    fn next(&self, from: u64) -> Option<u64> {
        let (start, _) = self.open?;
        Some((start + self.series.length()).max(from))
    }

    fn act(&mut self, at: u64, shards: &mut Shards) -> Result<(), RunError> {
        self.close(at, shards.totals());
        Ok(())
    }
}

impl Run<'_> {
    /// Level of the intervals.
    pub(super) fn confidence(&self) -> f64 {
        let precision = self.resolved.plan.phases.precision;
        precision.map_or(CONFIDENCE, |precision| precision.confidence)
    }

    /// Runs the warm-up, or the rest of it, and keeps its end where that is asked for.
    pub(super) fn warm_up(
        &mut self,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<Mark, RunError> {
        let longest = self.resolved.plan.phases.warmup;
        if self.resolved.plan.phases.find_warmup {
            self.find_warm_up(longest, progress, stop)?;
        } else {
            self.advance("warm-up", longest, progress, stop)?;
        }
        let warm = self.mark();
        self.driver.sent[0] = self.sent();
        self.simulation.forget_waits();
        self.driver.warm = Some(warm.clone());
        (self.driver.congestion).start(warm.cycle, self.resolved.plan.observe.congestion);
        self.driver.decision = None;
        let file = self
            .keeping
            .as_ref()
            .and_then(|keeping| keeping.warm.clone());
        if let Some(file) = file
            && self.ended.is_none()
        {
            self.checkpoint()?.write(&file)?;
        }
        Ok(warm)
    }

    /// Warms up until the transient is over, at most up to cycle `longest`.
    fn find_warm_up(
        &mut self,
        longest: u64,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        let mut decision = self.first_decision(self.first_batch());
        loop {
            let until = self.driver.batches.cycle(decision).min(longest);
            self.advance("warm-up", until, progress, stop)?;
            if self.ended.is_some() {
                // nothing is measured: there is no interval to tell
                self.driver.batches = Batches::default();
                return Ok(());
            }
            let now = self.simulation.now();
            let words = match warm_up(&self.driver.batches.series) {
                Some(cycles) => {
                    format!("warm-up of {now} cycles: the first {cycles} are transient (MSER-5)")
                }
                None if now >= longest => format!(
                    "warm-up of {now} cycles, its bound: the packets present are not stationary"
                ),
                None => {
                    decision = self.next_decision(decision);
                    continue;
                }
            };
            self.driver.length.push(words);
            return Ok(());
        }
    }

    /// Runs the measurement, or the rest of it.
    pub(super) fn measure(
        &mut self,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<Mark, RunError> {
        if self.ended.is_none() {
            let phases = self.resolved.plan.phases;
            let start = self.driver.warm.as_ref().map_or(0, |warm| warm.cycle);
            let end = start.saturating_add(phases.measure);
            if self.driver.decision.is_none() {
                self.set_window(start, end);
            }
            if let Some(precision) = phases.precision {
                self.measure_until(precision, end, progress, stop)?;
            } else if let Some(until) = phases.until {
                self.measure_all(until, end, progress, stop)?;
            } else {
                let shortest = SHORTEST_BATCH.min(phases.measure / LEAST_BATCHES).max(1);
                self.first_decision((phases.measure / BATCHES).max(shortest));
                self.advance(MEASURE, end, progress, stop)?;
            }
            self.driver.batches.stop();
            self.end_when_overloaded(true);
        }
        self.driver.congestion.stop();
        let measured = self.mark();
        self.driver.sent[1] = self.sent();
        self.driver.measured = Some(measured.clone());
        Ok(measured)
    }

    /// Measures until latency and accepted load are precise enough and nothing moves any more, or the fabric is
    /// certainly saturated, at two decisions in a row; at most up to cycle `end`. An estimate that happens to be too
    /// narrow would end the run at once, and such runs cover the mean less often than they say.
    fn measure_until(
        &mut self,
        precision: Precision,
        end: u64,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        let mut decision = self.first_decision(self.first_batch());
        loop {
            let until = self.driver.batches.cycle(decision).min(end);
            self.advance(MEASURE, until, progress, stop)?;
            let now = self.simulation.now();
            let cycles = now - self.driver.batches.first;
            let (ready, words) = self.readiness(precision, cycles);
            let is_confirmed = ready.is_some() && ready == self.driver.ready;
            self.driver.ready = ready;
            let bound = match &self.ended {
                None if is_confirmed => {
                    self.set_window(now - cycles, now);
                    ""
                }
                None if now >= end => ", its bound",
                Some(_) => "",
                None => {
                    decision = self.next_decision(decision);
                    continue;
                }
            };
            let message = format!("measurement of {cycles} cycles{bound}: {words}");
            self.driver.length.push(message);
            return Ok(());
        }
    }

    /// Why the measurement may end after `cycles` cycles, if it may, and how it stands.
    fn readiness(&mut self, precision: Precision, cycles: u64) -> (Option<Ready>, String) {
        let records = self.measured_so_far();
        let (standing, why) = standing(&self.window(&records, cycles));
        let found = self.driver.batches.estimates(precision.confidence);
        let (is_precise, words) = found.judge(precision.half_width);
        match (standing, why) {
            (Standing::Saturated, Some(why)) => {
                (Some(Ready::Saturated), format!("saturated, {why}"))
            }
            (Standing::Moving, Some(why)) => (None, format!("{words}, but {why}")),
            _ => (is_precise.then_some(Ready::Precise), words),
        }
    }

    /// Measures until everything that is waited for is delivered, at most up to cycle `end`.
    fn measure_all(
        &mut self,
        until: Until,
        end: u64,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        let mut decision = self.first_decision(self.first_batch());
        loop {
            let stop_at = self.driver.batches.cycle(decision).min(end);
            self.advance(MEASURE, stop_at, progress, stop)?;
            let (now, start) = (self.simulation.now(), self.driver.batches.first);
            let Awaited { next, over, words } = self.awaited(until);
            let bound = match (&self.ended, next, over) {
                (None, None, _) => {
                    self.set_window(start, now);
                    ""
                }
                (None, _, _) if now >= end => ", its bound",
                (None, Some(_), Some(why)) => {
                    let reason = format!("{why} at cycle {now}: {words}");
                    self.ended = Some((Verdict::Incomplete, reason));
                    self.set_window(start, now);
                    ""
                }
                (Some(_), _, _) => "",
                (None, Some(cycles), None) => {
                    decision = decision.saturating_add(cycles.max(DRAIN_STEP));
                    self.driver.decision = Some(decision);
                    continue;
                }
            };
            let length = now - start;
            let message = format!("measurement of {length} cycles{bound}: {words}");
            self.driver.length.push(message);
            return Ok(());
        }
    }

    /// First batches of a phase that finds its own length \[cycles\].
    fn first_batch(&self) -> u64 {
        FIRST_BATCH.max(self.times.hop().div_ceil(BATCHES_OF_A_HOP))
    }

    /// The decision that a phase is on its way to, in its cycles. A phase that has not begun begins, with
    /// batches of `length` cycles.
    fn first_decision(&mut self, length: u64) -> u64 {
        if let Some(decision) = self.driver.decision {
            return decision;
        }
        let totals = self.simulation.totals();
        let now = self.simulation.now();
        self.driver.batches.start(now, totals, length);
        let decision = if self.resolved.plan.phases.until.is_some() {
            DRAIN_STEP
        } else {
            length.saturating_mul(FIRST_DECISION)
        };
        self.driver.decision = Some(decision);
        decision
    }

    /// The decision after the one at `decision` cycles of a phase.
    fn next_decision(&mut self, decision: u64) -> u64 {
        let next = decision.saturating_add(decision / 4);
        self.driver.decision = Some(next);
        next
    }

    /// Tells every shard which cycles are measured.
    fn set_window(&mut self, start: u64, end: u64) {
        for mut records in self.simulation.each_mut::<Records>() {
            records.set_window(start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Totals that grow by the cycle, as if a packet of eight flits came and went in each.
    fn totals(cycle: u64) -> Totals {
        Totals {
            created: 2 * cycle + 5,
            rejected: 2,
            injected: cycle,
            delivered: cycle,
            created_flits: 16 * cycle,
            delivered_flits: 8 * cycle,
            network_latency: 30 * cycle,
            packet_latency: 40 * cycle,
            ..Totals::default()
        }
    }

    #[test]
    fn a_batch_holds_what_came_between_its_edges_and_nothing_of_the_warm_up() {
        let mut batches = Batches::default();
        assert_eq!(batches.next(0), None);
        batches.start(1000, totals(1000), 10);
        for edge in [1010, 1020, 1030] {
            assert_eq!(batches.next(0), Some(edge));
            batches.close(edge, totals(edge));
        }
        batches.stop();
        let present = |cycle| totals(cycle).created - totals(cycle).rejected - cycle;
        let expected = [1010, 1020, 1030].map(|edge| Batch {
            cycles: 10,
            created_flits: 160,
            delivered_flits: 80,
            dropped_flits: 0,
            delivered: 10,
            network_latency: 300,
            packet_latency: 400,
            present: present(edge),
        });
        assert_eq!(batches.series.batches(), expected);
        assert_eq!((batches.cycle(30), batches.next(0)), (1030, None));
    }
}
