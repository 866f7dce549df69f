//! The saturation point: the largest load that a fabric sustains, found by replications of few loads.
//!
//! # Algorithm
//! 1. The full link rate is tried first, by whole runs; if it is sustained there is no saturation point.
//! 2. A load is not sustained when a channel is asked for more than it carries by more than the tolerance: such a limit,
//!    known from routes and patterns, needs no runs.
//! 3. Loads are [tried](search()) and [judged](super::level) around the saturation point. What is told lies between two
//!    certain judgements, further apart than the resolution where the runs are too short for it.
//! 4. Beyond the point the fabric is *saturated* when accepted load holds up to the full link rate, *unstable* when it
//!    falls below its peak by more than the tolerance and both intervals, and *deadlocked* when a run deadlocks. Runs
//!    that were cut short do not count for it.
//! 5. Loads below and beyond the point complete the curve where that is asked for, by whole runs too.
//!
//! Which loads are tried depends on results alone, so a search that is started again finds the runs it has made.
//!
//! References: [`DALLY_TOWLES`](crate::references::DALLY_TOWLES) section 23.1

mod search;

use super::level::{Judged, Judgement, Level, Sample};
use crate::measure::precision::Interval;
use search::{MOST_ROUNDS, Search};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Fewest seeds of a load that is not clear: of two runs no interval is of use.
pub const FEWEST_SEEDS: usize = 3;
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
    /// Runs of a load that is not clear from fewer; up to three times as many.
    pub seeds: usize,
    /// Whether loads around the saturation point complete the curve.
    pub has_curve: bool,
}

impl Criterion {
    /// Runs of one load, each with a seed of its own, at most.
    pub fn most_seeds(&self) -> usize {
        MOST_ROUNDS * self.seeds
    }
}

/// Runs of one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// The load.
    pub load: f64,
    /// Number of the first seed.
    pub first: usize,
    /// How many.
    pub count: usize,
    /// Whether the measurement goes to its end though the fabric is certainly overloaded.
    pub is_whole: bool,
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
    /// Largest load that is certainly sustained \[fraction of link rate\]; 0 when none is.
    pub sustained: f64,
    /// Loads above it that are too close to tell, ascending \[fraction of link rate\].
    pub undecided: Vec<f64>,
    /// Smallest load that certainly is not sustained; `None` when there is none.
    pub overloaded: Option<f64>,
    /// Beyond it.
    pub behaviour: Behaviour,
    /// Largest accepted load of a whole run's load, and where.
    pub peak: Option<(f64, Interval)>,
    /// Every load that was tried, ascending.
    pub levels: Vec<(Level, Judged)>,
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

impl<E> Search<'_, E> {
    /// Completes the curve around the saturation point.
    fn complete(&mut self, point: f64) -> Result<(), E> {
        for factor in CURVE {
            let load = rounded(point * factor);
            let distance = self.criterion.resolution;
            let is_known = |(level, _): &(Level, Judged)| {
                let apart = (level.load - load).abs();
                apart * DIGITS < 1.0 || apart < distance && level.accepted().is_some()
            };
            if load > 0.0 && load < 1.0 && !self.levels.iter().any(is_known) {
                self.try_load(load, self.criterion.seeds, true)?;
            }
        }
        Ok(())
    }

    /// Loads between two that are too close to tell, ascending.
    fn undecided(&self, low: f64, high: Option<f64>) -> Vec<f64> {
        let high = high.unwrap_or(f64::INFINITY);
        let loads = self.levels.iter().map(|(level, _)| level.load);
        loads.filter(|load| low < *load && *load < high).collect()
    }

    /// Accepted load of the whole runs, by load.
    fn accepted(&self) -> Vec<(f64, Interval)> {
        let levels = self.levels.iter();
        let accepted = levels.filter_map(|(level, _)| Some((level.load, level.accepted()?)));
        accepted.collect()
    }

    fn behaviour(&self, accepted: &[(f64, Interval)], peak: Option<(f64, Interval)>) -> Behaviour {
        if self.levels.iter().any(|(level, _)| level.is_deadlocked()) {
            return Behaviour::Deadlocked;
        }
        let Some((load, peak)) = peak else {
            return Behaviour::Saturated;
        };
        let lowest =
            (peak.mean - peak.half_width.unwrap_or(0.0)) * (1.0 - self.criterion.tolerance);
        let falls = |(at, level): &(f64, Interval)| {
            *at > load && level.mean + level.half_width.unwrap_or(0.0) < lowest
        };
        if accepted.iter().any(falls) {
            Behaviour::Unstable
        } else {
            Behaviour::Saturated
        }
    }
}

fn rounded(load: f64) -> f64 {
    (load * DIGITS).round() / DIGITS
}

/// What a load is taken for that has not been decided by itself: no load above one that is not sustained is, nor is
/// any below one that is not.
fn imply(levels: &mut [(Level, Judged)], low: f64, high: Option<f64>) {
    for (level, judged) in levels {
        if judged.judgement != Judgement::Undecided {
            continue;
        }
        if level.load < low {
            judged.judgement = Judgement::Sustained;
            judged.reason = format!("{}; as {low} is", judged.reason);
        } else if let Some(high) = high.filter(|high| level.load > *high) {
            judged.judgement = Judgement::NotSustained;
            judged.reason = format!("{}; {high} is not either", judged.reason);
        }
    }
}

/// Searches the saturation point. `evaluate` makes the runs that it is asked for; `bound` is the load at which a channel
/// is full by routes and patterns alone, where that is known \[fraction of link rate\].
///
/// # Errors
/// What `evaluate` returns.
pub fn search<E>(
    criterion: Criterion,
    bound: Option<f64>,
    evaluate: &mut dyn FnMut(Request) -> Result<Vec<Sample>, E>,
) -> Result<Saturation, E> {
    let limit = bound.map(|bound| rounded(bound / (1.0 - criterion.tolerance)));
    let mut search = Search {
        criterion,
        limit: limit.filter(|limit| *limit < 1.0),
        evaluate,
        levels: Vec::new(),
    };
    let is_sustained = search.full_rate()? == Judgement::Sustained;
    let is_unlimited = is_sustained && search.limit.is_none();
    if !is_unlimited {
        search.locate()?;
        search.prove()?;
    }
    let (low, high) = (search.low(), search.high());
    if criterion.has_curve {
        let least = search.undecided(low, high).first().copied().or(high);
        search.complete(low.max(least.unwrap_or(0.0) / 2.0))?;
    }
    imply(&mut search.levels, low, high);
    let accepted = search.accepted();
    let peak = accepted
        .iter()
        .copied()
        .max_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
    let behaviour = if is_unlimited {
        Behaviour::Unlimited
    } else {
        search.behaviour(&accepted, peak)
    };
    Ok(Saturation {
        sustained: low,
        undecided: search.undecided(low, high),
        overloaded: high,
        behaviour,
        peak,
        levels: search.levels,
    })
}

#[cfg(test)]
mod tests;
