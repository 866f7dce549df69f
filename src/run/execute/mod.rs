//! One run from cycle 0 to its verdict: warm-up, measurement, drain.
//!
//! The run goes in steps of at most `STEP` cycles. Between two steps the driver looks at progress: it
//! looks for packets that can never move again when the watchdog says so, checks the conservation laws when asked to, and notices the end of
//! the drain. Steps are counted in cycles, so where they fall does not depend on threads or shards.

mod asked;
mod awaited;
mod counters;
mod dead;
mod jobs;
mod judged;
mod length;
mod observe;
mod overload;
mod state;
mod stuck;
mod timeline;
mod verdict;
mod waits;

use asked::Asked;
pub use length::{Batches, Ready};
use observe::HandOver;
pub use timeline::Timeline;

use super::acts::GlobalAct;
use super::checkpoint::{Continuation, Driver, Keeping, Mark};
use super::congestion;
use super::outcome::{Cost, CycleCounts, Division, Outcome, Progress, RunError, Settings, Verdict};
use super::simulation::{Options, Simulation};
use super::sizing;
use super::watchdog::Watchdog;
use crate::memory;
use crate::plan::Times;
use crate::scenario::Resolved;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Most cycles between two looks at the run.
const STEP: u64 = 4096;
/// Fewer for many hosts, so that a signal is seen soon: most cycles between two looks times hosts.
const STEP_WORK: u64 = 1 << 22;
/// Most cycles between two looks while draining.
const DRAIN_STEP: u64 = 256;
/// Part of the measurement that a probe waits for its packets, as a divisor.
const PROBE_DRAIN: u64 = 16;
/// Name of the phase that is measured.
const MEASURE: &str = "measure";
/// Rows the timeline aims at.
const TIMELINE_ROWS: u64 = 200;
/// Longest row of the timeline: below the range of the lanes' own counters \[cycles\].
const LONGEST_ROW: u64 = 1 << 31;

/// Runs a resolved scenario. `progress` is called between steps; a set `stop` ends the run early.
///
/// # Errors
/// [`RunError`]; a deadlock is a verdict, not an error.
pub fn execute(
    resolved: &Resolved,
    settings: Settings,
    progress: &mut dyn FnMut(Progress),
    stop: &AtomicBool,
) -> Result<Outcome, RunError> {
    execute_from(resolved, settings, Continuation::default(), progress, stop)
}

/// As [`execute`], from a checkpoint or with checkpoints on the way.
///
/// # Errors
/// As [`execute`]; [`RunError::Checkpoint`] when the state to start from does not fit.
pub fn execute_from<'a>(
    resolved: &'a Resolved,
    settings: Settings,
    continuation: Continuation<'a>,
    progress: &mut dyn FnMut(Progress),
    stop: &AtomicBool,
) -> Result<Outcome, RunError> {
    let demands = sizing::demands(&resolved.plan, &resolved.layout.graph);
    memory::require(&demands).map_err(RunError::Memory)?;
    let mut options = sizing::choose(
        &resolved.plan,
        &resolved.layout.graph,
        &resolved.proof,
        settings.threads,
        continuation.start.shards(settings.shards)?,
    );
    options.wanted.order = settings.check && resolved.routes.guarantees().in_order;
    options.profile = settings.profile;
    let mut run = Run::new(resolved, settings, options)?;
    run.packets.sink = continuation.packets;
    run.start(&continuation.start)?;
    run.keeping = continuation.keeping;
    run.finish(progress, stop)
}

struct Run<'a> {
    resolved: &'a Resolved,
    settings: Settings,
    options: Options,
    simulation: Simulation,
    driver: Driver,
    /// Cycles between two looks.
    step: u64,
    /// How slow the fabric is.
    times: Times,
    /// Checkpoints to make.
    keeping: Option<Keeping>,
    /// Whether it has written one to its place.
    has_saved: bool,
    /// Whether it has told that one could not be written.
    has_told_unsaved: bool,
    /// Where the records of packets go.
    packets: HandOver<'a>,
    /// Looks at congestion trees.
    observer: congestion::Observer,
    /// Why the run ended early.
    ended: Option<(Verdict, String)>,
    /// Whether the measurement was cut short because the fabric is certainly overloaded.
    is_cut: bool,
    /// What the traffic asks of the channel that is full first.
    asked: Option<Asked>,
    started: Instant,
    /// Processor time used before it started \[s\].
    cpu_before: f64,
}

impl<'a> Run<'a> {
    fn new(resolved: &'a Resolved, settings: Settings, options: Options) -> Result<Self, RunError> {
        // it takes memory for a while: before there is anything else
        let asked = Asked::of(resolved, &settings);
        let (started, cpu_before) = (Instant::now(), settings.cpu_clock.map_or(0.0, |now| now()));
        let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
        let (channels, lanes) = (graph.channels().len(), plan.switch.lane_count());
        let times = Times::of(plan, graph);
        Ok(Self {
            resolved,
            settings,
            options,
            simulation: Simulation::new(plan, graph, &resolved.routes, options)?,
            driver: Driver::new(
                Watchdog::new(times.between_looks(plan.phases.watchdog)),
                Timeline::new(&plan.phases, channels, usize::from(lanes)),
            ),
            step: (STEP_WORK / graph.hosts().len().max(1) as u64).clamp(DRAIN_STEP, STEP),
            times,
            keeping: None,
            has_saved: false,
            has_told_unsaved: false,
            packets: HandOver::new(resolved),
            observer: congestion::Observer::new(resolved),
            ended: None,
            is_cut: false,
            asked,
            started,
            cpu_before,
        })
    }

    fn finish(
        mut self,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<Outcome, RunError> {
        let warm = match self.driver.warm.clone() {
            Some(warm) => warm,
            None => self.warm_up(progress, stop)?,
        };
        let measured = match self.driver.measured.clone() {
            Some(measured) => measured,
            None => self.measure(progress, stop)?,
        };
        self.drain(measured.cycle, progress, stop)?;
        self.end();
        let [before, after] = std::mem::take(&mut self.driver.sent);
        let mut records = self.records(&before, after);
        drop(before);
        let longest = measured.waited.longest();
        records
            .counts
            .insert("waits.longest".into(), longest.into());
        let judged = self.judged(&records, &warm, &measured);
        let handed = self.packets.hand_over(&mut self.simulation);
        handed.map_err(RunError::Packets)?;
        let flow_counts = self.flow_results([&warm.made, &measured.made]);
        let flows = self.flows();
        let (flow_latencies, hop_latencies) = self.groups();
        let congestion = std::mem::take(&mut self.driver.congestion).all;
        let mut precision = self.driver.batches.estimates(self.confidence());
        if self.is_probe() && judged.leftover.packets > 0 {
            // the packets left over are those that take longest
            precision.forget_latencies();
            records.forget_latencies();
        }
        Ok(Outcome {
            verdict: judged.verdict,
            reason: judged.reason,
            cycles: self.cycle_counts(&warm, &measured),
            records,
            cost: self.cost(),
            stages: self.simulation.stage_costs(),
            division: self.division(),
            timeline: self.driver.timeline.rows,
            congestion: self.resolved.plan.observe.congestion.map(|_| congestion),
            classes: judged.classes,
            growth: judged.growth,
            precision,
            is_cut: self.is_cut,
            has_saved: self.has_saved,
            length: (!self.driver.length.is_empty()).then(|| self.driver.length.join("; ")),
            flows,
            flow_latencies,
            hop_latencies,
            flow_counts,
        })
    }

    /// What is told at the end, at the latest: what stands still beside others that move, and the last row of the timeline.
    fn end(&mut self) {
        if self.ended.is_none() {
            self.end_when_stuck(false);
        }
        let now = self.simulation.now();
        self.driver.timeline.finish(now, &self.simulation);
    }

    /// How it is divided.
    fn division(&self) -> Division {
        Division {
            threads: self.options.threads,
            shards: self.simulation.shard_count(),
        }
    }

    /// Cycles of the phases.
    fn cycle_counts(&self, warm: &Mark, measured: &Mark) -> CycleCounts {
        let now = self.simulation.now();
        CycleCounts {
            warmup: warm.cycle,
            measure: measured.cycle - warm.cycle,
            drain: now - measured.cycle,
            total: now,
        }
    }

    /// What the run has taken so far, what it goes on from included.
    fn cost(&self) -> Cost {
        let (before, cpu) = (self.driver.spent, self.settings.cpu_clock);
        Cost {
            wall_seconds: before.wall_seconds + self.started.elapsed().as_secs_f64(),
            cpu_seconds: before.cpu_seconds + cpu.map_or(0.0, |now| now() - self.cpu_before),
        }
    }

    /// Counters now.
    fn mark(&self) -> Mark {
        Mark {
            cycle: self.simulation.now(),
            queued: self.simulation.queued(),
            made: self.made(),
            waited: self.simulation.waited(),
        }
    }

    /// Runs to cycle `end`; records of packets are handed over on the way, batches closed, rows of the timeline taken.
    fn run_until(&mut self, end: u64) -> Result<(), RunError> {
        let Driver {
            batches,
            timeline,
            congestion,
            ..
        } = &mut self.driver;
        let mut trees = self.observer.act(congestion);
        let acts: &mut [&mut dyn GlobalAct] =
            &mut [&mut self.packets, batches, timeline, &mut trees];
        self.simulation.run_with(end, acts)
    }

    /// Runs to cycle `end` in steps, unless the run ends early.
    fn advance(
        &mut self,
        phase: &'static str,
        end: u64,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        let phases = &self.resolved.plan.phases;
        let planned = phases.warmup + phases.measure;
        while self.simulation.now() < end && self.ended.is_none() {
            let now = self.simulation.now();
            let others = self
                .driver
                .timeline
                .end()
                .min(self.driver.watchdog.next(now));
            self.run_until((now + self.step).min(end).min(others))?;
            self.look(stop)?;
            if phase == MEASURE {
                self.end_when_overloaded(false);
            }
            progress(Progress {
                phase,
                cycle: self.simulation.now(),
                planned,
            });
        }
        Ok(())
    }

    /// Runs until the last tagged packet is delivered or the limit is reached.
    fn drain(
        &mut self,
        start: u64,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        let phases = &self.resolved.plan.phases;
        let longest = if self.is_probe() {
            phases.drain_limit.min(phases.measure / PROBE_DRAIN)
        } else {
            phases.drain_limit
        };
        let limit = start.saturating_add(longest);
        while self.ended.is_none() {
            // looks are counted from the start of the drain, wherever in it a run was stopped
            let passed = self.simulation.now() - start;
            let is_over = passed.is_multiple_of(DRAIN_STEP) && self.tagged_left() == 0;
            if is_over || self.simulation.now() >= limit {
                return Ok(());
            }
            let next = start + (passed / DRAIN_STEP + 1) * DRAIN_STEP;
            self.advance("drain", next.min(limit), progress, stop)?;
        }
        Ok(())
    }

    /// Looks at the run between two steps.
    fn look(&mut self, stop: &AtomicBool) -> Result<(), RunError> {
        let now = self.simulation.now();
        let (totals, hops) = (self.simulation.totals(), self.simulation.hops().packets);
        if self.settings.check {
            self.check()?;
        }
        let is_frozen = totals.in_fabric() > 0 && self.simulation.is_idle();
        if is_frozen || self.driver.watchdog.is_due(now, hops, &totals) {
            self.end_when_stuck(is_frozen);
        }
        if self.ended.is_some() {
            return Ok(());
        }
        if stop.load(Ordering::Relaxed) {
            self.interrupt(format!("stopped at cycle {now}"), true);
        } else if let Some(limit) = self.resolved.plan.phases.wall_seconds
            && self.started.elapsed().as_secs_f64() >= limit
        {
            let is_saved = self.keeping.as_ref().is_some_and(|keep| keep.at_wall_time);
            let reason = format!("the wall time of {limit} s was over at cycle {now}");
            self.interrupt(reason, is_saved);
        } else {
            self.keep(now);
        }
        Ok(())
    }

    /// Tagged packets that are neither delivered nor dropped yet.
    fn tagged_left(&self) -> u64 {
        let classes = self
            .simulation
            .records()
            .flat_map(|records| &records.measured.classes);
        let (created, ended) = classes.fold((0, 0), |sum, class| {
            let ended = class.tagged_delivered + class.lost.tagged;
            (sum.0 + class.tagged_created, sum.1 + ended)
        });
        created - ended
    }

    /// Checks the conservation laws.
    fn check(&mut self) -> Result<(), RunError> {
        let cycle = self.simulation.now();
        super::laws::hold(self.resolved, &self.simulation)
            .map_err(|law| RunError::Invariant { cycle, law })
    }
}
