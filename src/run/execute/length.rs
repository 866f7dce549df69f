//! How long the phases are: fixed, or found in the run; and the batches that say how precise a mean is.
//!
//! Decisions fall at cycles that grow by a quarter from one to the next, and depend on counters of the
//! simulation alone: the same for any number of threads and shards. Only a limit of wall time depends on
//! the machine, and its verdict says so.

use super::Run;
use crate::cycle::records::Totals;
use crate::measure::precision::{Batch, BatchMeans, BatchSeries, CONFIDENCE, batch_means, warm_up};
use crate::run::outcome::{Estimates, Progress, RunError};
use crate::scenario::plan::Precision;
use std::sync::atomic::AtomicBool;

/// First batches of a phase that finds its own length \[cycles\].
const FIRST_BATCH: u64 = 16;
/// First decision of such a phase, in first batches: eight times the batches of an interval, and more than
/// MSER-5 needs.
const FIRST_DECISION: u64 = 256;
/// Shortest batch of a phase of fixed length \[cycles\]: shorter ones would cost time.
const SHORTEST_BATCH: u64 = 64;
/// Batches a phase of fixed length aims at.
const BATCHES: u64 = 1024;

/// Batches of a phase as it goes on.
#[derive(Debug, Default)]
pub(super) struct Batches {
    series: BatchSeries,
    /// First cycle of the open batch, and the totals then; `None` outside the phase.
    open: Option<(u64, Totals)>,
}

impl Batches {
    /// Starts a phase.
    fn start(&mut self, now: u64, totals: Totals, length: u64) {
        self.series = BatchSeries::new(length);
        self.open = Some((now, totals));
    }

    /// Ends the phase; the open batch is left out.
    fn stop(&mut self) {
        self.open = None;
    }

    /// First cycle after the open batch.
    fn end(&self) -> u64 {
        self.open
            .map_or(u64::MAX, |(start, _)| start + self.series.length())
    }

    /// Closes the open batch.
    fn close(&mut self, now: u64, totals: Totals) {
        let Some((start, before)) = self.open.replace((now, totals)) else {
            return;
        };
        self.series.push(Batch {
            cycles: now - start,
            delivered_flits: totals.delivered_flits - before.delivered_flits,
            delivered: totals.delivered - before.delivered,
            network_latency: totals.network_latency - before.network_latency,
            packet_latency: totals.packet_latency - before.packet_latency,
            present: totals.created - totals.rejected - totals.delivered,
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

/// Cycle of the decision after the one at `cycles` of a phase.
fn next_decision(cycles: u64) -> u64 {
    cycles.saturating_add(cycles / 4)
}

impl Run<'_> {
    /// Level of the intervals.
    pub(super) fn confidence(&self) -> f64 {
        let precision = self.resolved.plan.phases.precision;
        precision.map_or(CONFIDENCE, |precision| precision.confidence)
    }

    /// Runs up to cycle `end` and closes batches on the way.
    pub(super) fn run_in_batches(&mut self, end: u64) {
        while self.simulation.now() < end {
            self.simulation.run_until(end.min(self.batches.end()));
            let now = self.simulation.now();
            if now == self.batches.end() {
                self.batches.close(now, self.totals().0);
            }
        }
    }

    /// Runs the warm-up.
    pub(super) fn warm_up(
        &mut self,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        let longest = self.resolved.plan.phases.warmup;
        if !self.resolved.plan.phases.find_warmup {
            return self.advance("warm-up", longest, progress, stop);
        }
        self.batches.start(0, Totals::default(), FIRST_BATCH);
        let mut decision = FIRST_BATCH * FIRST_DECISION;
        let mut transient = None;
        while transient.is_none() && self.simulation.now() < longest && self.ended.is_none() {
            self.advance("warm-up", decision.min(longest), progress, stop)?;
            transient = warm_up(&self.batches.series);
            decision = next_decision(decision);
        }
        let now = self.simulation.now();
        self.measure_start = now;
        if self.ended.is_some() {
            self.batches = Batches::default();
            return Ok(());
        }
        self.length.push(match transient {
            Some(cycles) => {
                format!("warm-up of {now} cycles: the first {cycles} are transient (MSER-5)")
            }
            None => format!(
                "warm-up of {now} cycles, its bound: the packets present are not stationary"
            ),
        });
        Ok(())
    }

    /// Runs the measurement.
    pub(super) fn measure(
        &mut self,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        if self.ended.is_some() {
            return Ok(());
        }
        let phases = self.resolved.plan.phases;
        let start = self.measure_start;
        let end = start.saturating_add(phases.measure);
        self.set_window(start, end);
        let first = match phases.precision {
            Some(_) => FIRST_BATCH,
            None => (phases.measure / BATCHES).max(SHORTEST_BATCH),
        };
        self.batches.start(start, self.totals().0, first);
        match phases.precision {
            Some(precision) => self.measure_until(precision, end, progress, stop)?,
            None => self.advance("measure", end, progress, stop)?,
        }
        self.batches.stop();
        Ok(())
    }

    /// Measures until latency and accepted load are precise enough, at most up to cycle `end`.
    fn measure_until(
        &mut self,
        precision: Precision,
        end: u64,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        let start = self.measure_start;
        let mut decision = FIRST_BATCH * FIRST_DECISION;
        loop {
            let until = start.saturating_add(decision).min(end);
            self.advance("measure", until, progress, stop)?;
            let found = self.batches.estimates(precision.confidence);
            let (is_enough, words) = found.judge(precision.half_width);
            let cycles = self.simulation.now() - start;
            if is_enough && self.ended.is_none() {
                self.length
                    .push(format!("measurement of {cycles} cycles: {words}"));
                self.set_window(start, start + cycles);
                return Ok(());
            }
            if self.simulation.now() >= end || self.ended.is_some() {
                let bound = if self.ended.is_none() {
                    ", its bound"
                } else {
                    ""
                };
                let message = format!("measurement of {cycles} cycles{bound}: {words}");
                self.length.push(message);
                return Ok(());
            }
            decision = next_decision(decision);
        }
    }

    /// Tells every shard which cycles are measured.
    fn set_window(&mut self, start: u64, end: u64) {
        for state in self.simulation.states_mut() {
            state.work.records.set_window(start, end);
        }
    }
}
