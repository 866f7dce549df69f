//! The saturation point: the largest load that a fabric sustains, found by bisection over replications.
//!
//! # Algorithm
//! 1. A load is tried with some seeds and [judged](super::level); while it cannot be told whether it is sustained, as
//!    many seeds again are added, up to three times the first number. Then what is more likely decides.
//! 2. The full link rate is tried first; if it is sustained there is no saturation point. Then the interval
//!    between the largest load that is sustained and the smallest that is not is halved until it is as narrow as
//!    the resolution.
//! 3. Loads below and beyond it complete the curve. Beyond it the fabric is *saturated* when accepted load holds,
//!    *unstable* when it falls below its peak by more than the tolerance and both intervals, and *deadlocked*
//!    when a run deadlocks.
//!
//! Which loads are tried depends on results alone, so a search that is started again finds the runs it has made.
//!
//! References: [`DALLY_TOWLES`](crate::references::DALLY_TOWLES) section 23.1

use super::level::{Level, Sample};
use crate::measure::precision::Interval;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Times the first number of seeds, at most.
const MOST_ROUNDS: usize = 3;
/// Loads that complete the curve, as multiples of the saturation point.
const CURVE: [f64; 7] = [0.25, 0.5, 0.75, 0.9, 1.1, 1.25, 1.5];
/// Digits of a load after the point.
const DIGITS: f64 = 1e6;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// Part of the offered load that may be missing.
    pub tolerance: f64,
    /// Width of the interval around the saturation point \[fraction of link rate\].
    pub resolution: f64,
    /// Runs of a load at first.
    pub seeds: usize,
}

/// How a fabric behaves beyond its saturation point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Behaviour {
    /// It sustains the full link rate.
    Unlimited,
    /// Accepted load holds.
    Saturated,
    /// Accepted load falls.
    Unstable,
    /// It deadlocks.
    Deadlocked,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Saturation {
    /// Largest load that is sustained \[fraction of link rate\]; 0 when none is.
    pub sustained: f64,
    /// Smallest load that is not; `None` when all are.
    pub overloaded: Option<f64>,
    /// Beyond it.
    pub behaviour: Behaviour,
    /// Every load that was tried, ascending.
    pub levels: Vec<Level>,
}

impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unlimited => "unlimited",
            Self::Saturated => "saturated",
            Self::Unstable => "unstable",
            Self::Deadlocked => "deadlocked",
        })
    }
}

/// A search in progress.
struct Search<'a, E> {
    criterion: Criterion,
    evaluate: &'a mut dyn FnMut(f64, usize, usize) -> Result<Vec<Sample>, E>,
    levels: Vec<Level>,
}

impl<E> Search<'_, E> {
    /// Tries a load; says whether it is sustained.
    fn try_load(&mut self, load: f64) -> Result<bool, E> {
        let Criterion {
            tolerance, seeds, ..
        } = self.criterion;
        let load = (load * DIGITS).round() / DIGITS;
        let mut level = Level {
            load,
            samples: Vec::new(),
        };
        let verdict = loop {
            let done = level.samples.len();
            level.samples.extend((self.evaluate)(load, done, seeds)?);
            match level.judge(tolerance) {
                Some(verdict) => break verdict,
                None if level.samples.len() < MOST_ROUNDS * seeds => {}
                None => break level.decide(tolerance),
            }
        };
        let place = self.levels.partition_point(|other| other.load < load);
        self.levels.insert(place, level);
        Ok(verdict)
    }

    /// Completes the curve around the saturation point.
    fn complete(&mut self, point: f64) -> Result<(), E> {
        for factor in CURVE {
            let load = (point * factor * DIGITS).round() / DIGITS;
            let is_known = |level: &Level| (level.load - load).abs() < self.criterion.resolution;
            if load > 0.0 && load < 1.0 && !self.levels.iter().any(is_known) {
                self.try_load(load)?;
            }
        }
        Ok(())
    }

    fn behaviour(&self) -> Behaviour {
        if self.levels.iter().any(Level::is_deadlocked) {
            return Behaviour::Deadlocked;
        }
        let accepted: Vec<Interval> = self.levels.iter().filter_map(Level::accepted).collect();
        let Some(peak) = accepted.iter().max_by(|a, b| a.mean.total_cmp(&b.mean)) else {
            return Behaviour::Saturated;
        };
        let at = accepted.iter().position(|level| level == peak).unwrap_or(0);
        let lowest =
            (peak.mean - peak.half_width.unwrap_or(0.0)) * (1.0 - self.criterion.tolerance);
        let falls = |level: &Interval| level.mean + level.half_width.unwrap_or(0.0) < lowest;
        if accepted[at..].iter().any(falls) {
            Behaviour::Unstable
        } else {
            Behaviour::Saturated
        }
    }
}

/// Searches the saturation point. `evaluate(load, first, count)` runs `load` with `count` seeds from the
/// `first`-th on.
///
/// # Errors
/// What `evaluate` returns.
pub fn search<E>(
    criterion: Criterion,
    evaluate: &mut dyn FnMut(f64, usize, usize) -> Result<Vec<Sample>, E>,
) -> Result<Saturation, E> {
    let mut search = Search {
        criterion,
        evaluate,
        levels: Vec::new(),
    };
    let (mut low, mut high) = (0.0, 1.0);
    let is_unlimited = search.try_load(high)?;
    while !is_unlimited && high - low > criterion.resolution {
        let middle = f64::midpoint(low, high);
        if search.try_load(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    search.complete(if is_unlimited {
        1.0
    } else {
        low.max(high / 2.0)
    })?;
    let behaviour = if is_unlimited {
        Behaviour::Unlimited
    } else {
        search.behaviour()
    };
    Ok(Saturation {
        sustained: if is_unlimited { 1.0 } else { low },
        overloaded: (!is_unlimited).then_some(high),
        behaviour,
        levels: search.levels,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, below, stream};
    use std::convert::Infallible;

    const CRITERION: Criterion = Criterion {
        tolerance: 0.01,
        resolution: 0.005,
        seeds: 4,
    };

    /// Searches a fabric that accepts `accepts(load)`, with one percent of noise.
    fn found(accepts: fn(f64) -> f64, deadlocks: fn(f64) -> bool) -> (Saturation, usize) {
        let mut runs = 0;
        let mut evaluate = |load: f64, first: usize, count: usize| {
            runs += count;
            let sample = |seed: usize| {
                let mut rng = stream(seed as u64, Purpose::Arrivals, (load * 1e6) as u64);
                let noise = 1.0 + (f64::from(below(&mut rng, 2001)) / 1000.0 - 1.0) * 0.002;
                Sample {
                    offered: load,
                    accepted: accepts(load) * noise,
                    growth: 0.0,
                    hosts: Vec::new(),
                    is_deadlocked: deadlocks(load),
                }
            };
            Ok::<_, Infallible>((first..first + count).map(sample).collect())
        };
        let Ok(found) = search(CRITERION, &mut evaluate);
        (found, runs)
    }

    fn never(_: f64) -> bool {
        false
    }

    #[test]
    fn a_plateau_is_found() {
        let (found, runs) = found(|load| load.min(0.431), never);
        // a load of 0.4353 falls short by 1 %
        assert!(
            (found.sustained - 0.4353).abs() <= 0.005,
            "{}",
            found.sustained
        );
        let high = found.overloaded.unwrap();
        assert!(high - found.sustained <= 0.005 && high > 0.431);
        assert_eq!(found.behaviour, Behaviour::Saturated);
        assert!(found.levels.is_sorted_by(|a, b| a.load < b.load));
        assert!(found.levels.len() >= 12 && runs < 120, "{runs} runs");
    }

    #[test]
    fn a_fall_beyond_the_peak_is_unstable() {
        let fall = |load: f64| if load < 0.5 { load } else { 0.8 - 0.6 * load };
        let (found, _) = found(fall, never);
        assert_eq!(found.behaviour, Behaviour::Unstable);
        assert!((found.sustained - 0.5).abs() < 0.01, "{}", found.sustained);
    }

    #[test]
    fn a_deadlock_is_no_saturation() {
        let (found, _) = found(|load| load, |load| load > 0.7);
        assert_eq!(found.behaviour, Behaviour::Deadlocked);
        assert!((found.sustained - 0.7).abs() < 0.006, "{}", found.sustained);
    }

    #[test]
    fn the_full_rate_may_be_sustained_and_nothing_may_be() {
        let (all, _) = found(|load| load, never);
        assert_eq!(
            (all.behaviour, all.overloaded),
            (Behaviour::Unlimited, None)
        );
        assert!((all.sustained - 1.0).abs() < 1e-9);
        let (nothing, _) = found(|load| load * 0.5, never);
        assert!(nothing.sustained.abs() < 1e-9);
        assert!(nothing.overloaded.unwrap() <= 0.005);
    }
}
