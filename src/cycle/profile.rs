//! Cost per stage: a clock per shard that the executor feeds.

use super::slot::Stage;
use crate::measure::outcome::StageCost;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Target of the spans that make up `trace.json`.
pub const TRACE: &str = "virtlane::trace";

/// Time spent in each stage of one shard.
#[derive(Debug)]
pub struct StageClock {
    names: Vec<&'static str>,
    /// `[stage]` \[ns\]
    nanoseconds: Vec<AtomicU64>,
    /// Runs of the last stage: cycles that were simulated, not jumped over.
    cycles: AtomicU64,
}

impl StageClock {
    /// A clock for these stages, which run in this order.
    pub fn new(stages: &[Stage]) -> Self {
        Self {
            names: stages.iter().map(|stage| stage.name).collect(),
            nanoseconds: stages.iter().map(|_| AtomicU64::new(0)).collect(),
            cycles: AtomicU64::new(0),
        }
    }

    /// Adds the time of one run of a stage.
    pub fn add(&self, stage: usize, time: Duration) {
        self.nanoseconds[stage].fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
        if stage + 1 == self.nanoseconds.len() {
            self.cycles.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Cost per stage over all shards, which have the same stages; the clock's own reading time is taken off.
    pub fn costs<'a>(clocks: impl Iterator<Item = &'a Self>) -> Vec<StageCost> {
        let clocks: Vec<_> = clocks.collect();
        let sum = |of: &dyn Fn(&Self) -> u64| clocks.iter().map(|&clock| of(clock)).sum::<u64>();
        let cycles = sum(&|clock| clock.cycles.load(Ordering::Relaxed));
        let Some(first) = clocks.first().filter(|_| cycles != 0) else {
            return Vec::new();
        };
        let reading = reading_time();
        let net = |stage: usize| {
            let gross = sum(&|clock| clock.nanoseconds[stage].load(Ordering::Relaxed));
            (gross as f64 - reading * cycles as f64).max(0.0)
        };
        let times: Vec<f64> = (0..first.names.len()).map(net).collect();
        let all: f64 = times.iter().sum();
        let cost = |(&time, &name): (&f64, &&'static str)| StageCost {
            name: name.to_owned(),
            share: if all > 0.0 { time / all } else { 0.0 },
            ns_per_cycle: time / cycles as f64,
        };
        times.iter().zip(&first.names).map(cost).collect()
    }
}

/// What an empty measurement shows \[ns\], the least of many.
fn reading_time() -> f64 {
    let one = |_| {
        let started = Instant::now();
        started.elapsed().as_nanos() as f64
    };
    (0..1000).map(one).fold(f64::MAX, f64::min)
}
