//! The saturation point: the largest load that a fabric sustains, found by bisection over replications.
//!
//! # Algorithm
//! 1. A load is tried with two seeds and [judged](super::level); while it is undecided there are more: the number asked
//!    for, twice and three times as many.
//! 2. The full link rate is tried first, by whole runs with all seeds; if it is sustained there is no saturation point.
//!    Then the interval between the largest load that is sustained and the smallest that is not is halved until it is
//!    as narrow as the resolution. Around loads that stay undecided both sides are searched: what is told lies between
//!    two certain judgements, further apart than the resolution where the runs are too short for it.
//! 3. Beyond the point the fabric is *saturated* when accepted load holds up to the full link rate, *unstable* when it
//!    falls below its peak by more than the tolerance and both intervals, and *deadlocked* when a run deadlocks. Runs
//!    that were cut short do not count for it.
//! 4. Loads below and beyond the point complete the curve where that is asked for, by whole runs too.
//!
//! Which loads are tried depends on results alone, so a search that is started again finds the runs it has made.
//!
//! References: [`DALLY_TOWLES`](crate::references::DALLY_TOWLES) section 23.1

use super::level::{Judged, Judgement, Level, Sample};
use crate::measure::precision::Interval;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Fewest seeds of a load that is not clear: of two runs no interval is of use.
pub const FEWEST_SEEDS: usize = 3;
/// Runs that a load is tried with first.
const FIRST: usize = 2;
/// Times the number of seeds, at most.
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
    /// Runs of a load that is not clear from fewer; up to three times as many.
    pub seeds: usize,
    /// Whether loads around the saturation point complete the curve.
    pub has_curve: bool,
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

/// A search in progress.
struct Search<'a, E> {
    criterion: Criterion,
    evaluate: &'a mut dyn FnMut(Request) -> Result<Vec<Sample>, E>,
    /// Largest load that is sustained.
    low: f64,
    /// Loads above `low` that are undecided, ascending.
    undecided: Vec<f64>,
    /// Smallest load that is not sustained.
    high: Option<f64>,
    levels: Vec<(Level, Judged)>,
}

impl<E> Search<'_, E> {
    /// Tries a load; says whether it is sustained.
    fn try_load(&mut self, load: f64, is_whole: bool) -> Result<Judgement, E> {
        let Criterion {
            tolerance, seeds, ..
        } = self.criterion;
        let load = rounded(load);
        let mut level = Level {
            load,
            samples: Vec::new(),
        };
        let clear = (!is_whole).then_some(FIRST).filter(|first| *first < seeds);
        let rounds = (1..=MOST_ROUNDS).map(|round| round * seeds);
        let mut judged = level.judge(tolerance);
        for runs in clear.into_iter().chain(rounds) {
            let first = level.samples.len();
            let request = Request {
                load,
                first,
                count: runs - first,
                is_whole,
            };
            level.samples.extend((self.evaluate)(request)?);
            judged = level.judge(tolerance);
            if judged.judgement != Judgement::Undecided {
                break;
            }
        }
        let judgement = judged.judgement;
        let place = self
            .levels
            .partition_point(|(other, _)| other.load < level.load);
        self.levels.insert(place, (level, judged));
        Ok(judgement)
    }

    /// Tries a load between `low` and `high`, and narrows them.
    fn narrow(&mut self, load: f64, is_whole: bool) -> Result<(), E> {
        match self.try_load(load, is_whole)? {
            Judgement::Sustained => {
                self.low = load;
                self.undecided.retain(|other| *other > load);
            }
            Judgement::NotSustained => {
                self.high = Some(load);
                self.undecided.retain(|other| *other < load);
            }
            Judgement::Undecided => {
                let place = self.undecided.partition_point(|other| *other < load);
                self.undecided.insert(place, load);
            }
        }
        Ok(())
    }

    /// The load to try next: the middle between a certain load and its neighbour, whichever are further apart.
    fn next(&self) -> Option<f64> {
        let ends = [self.undecided.first(), self.undecided.last()].map(Option::<&f64>::copied);
        let below = ends[0].or(self.high).map(|end| (self.low, end));
        let above = ends[1].zip(self.high);
        let gaps = [below, above].into_iter().flatten();
        let widest = gaps.max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)))?;
        let middle = rounded(f64::midpoint(widest.0, widest.1));
        (widest.1 - widest.0 > self.criterion.resolution).then_some(middle)
    }

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
                self.try_load(load, true)?;
            }
        }
        Ok(())
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

/// Searches the saturation point. `evaluate` makes the runs that it is asked for.
///
/// # Errors
/// What `evaluate` returns.
pub fn search<E>(
    criterion: Criterion,
    evaluate: &mut dyn FnMut(Request) -> Result<Vec<Sample>, E>,
) -> Result<Saturation, E> {
    let mut search = Search {
        criterion,
        evaluate,
        low: 0.0,
        undecided: Vec::new(),
        high: None,
        levels: Vec::new(),
    };
    search.narrow(1.0, true)?;
    let is_unlimited = search.low > 0.0;
    while !is_unlimited && let Some(load) = search.next() {
        search.narrow(load, false)?;
    }
    if criterion.has_curve {
        let least = search.undecided.first().copied().or(search.high);
        search.complete(search.low.max(least.unwrap_or(0.0) / 2.0))?;
    }
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
        sustained: search.low,
        undecided: search.undecided,
        overloaded: search.high,
        behaviour,
        peak,
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
        has_curve: false,
    };

    /// A fabric to search: what it accepts, with so much noise, and where it deadlocks.
    struct Model {
        accepts: fn(f64) -> f64,
        deadlocks: fn(f64) -> bool,
        noise: f64,
        criterion: Criterion,
    }

    const MODEL: Model = Model {
        accepts: |load| load,
        deadlocks: |_| false,
        noise: 0.002,
        criterion: CRITERION,
    };

    impl Model {
        fn found(&self) -> (Saturation, Vec<Request>) {
            let mut requests = Vec::new();
            let mut evaluate = |request: Request| {
                requests.push(request);
                let Request {
                    load, first, count, ..
                } = request;
                let sample = |seed: usize| {
                    let mut rng = stream(seed as u64, Purpose::Arrivals, (load * 1e6) as u64);
                    let noise =
                        1.0 + (f64::from(below(&mut rng, 2001)) / 1000.0 - 1.0) * self.noise;
                    let accepted = (self.accepts)(load) * noise;
                    Sample {
                        offered: load,
                        accepted,
                        is_deadlocked: (self.deadlocks)(load),
                        is_cut: !request.is_whole && accepted < load * 0.94,
                        ..Sample::default()
                    }
                };
                Ok::<_, Infallible>((first..first + count).map(sample).collect())
            };
            let Ok(found) = search(self.criterion, &mut evaluate);
            (found, requests)
        }
    }

    #[test]
    fn a_plateau_is_found_with_few_runs() {
        let model = Model {
            accepts: |load| load.min(0.431),
            ..MODEL
        };
        let (found, requests) = model.found();
        // a load of 0.4353 falls short by 1 %
        let high = found.overloaded.unwrap();
        assert!(found.sustained <= 0.4358 && high > 0.431, "{found:?}");
        assert!((found.sustained - 0.4353).abs() <= 0.006, "{found:?}");
        assert!(
            found
                .undecided
                .iter()
                .all(|load| (found.sustained..high).contains(load))
        );
        assert!(high - found.sustained <= 0.005 * (1 + found.undecided.len()) as f64);
        assert_eq!(found.behaviour, Behaviour::Saturated);
        assert!(found.levels.is_sorted_by(|(a, _), (b, _)| a.load < b.load));
        // a bisection takes nine loads; two runs decide those that are clear
        let runs: usize = requests.iter().map(|request| request.count).sum();
        assert!(found.levels.len() >= 9 && runs <= 44, "{runs} runs");
        let (load, peak) = found.peak.unwrap();
        assert!(load > 0.43 && (peak.mean - 0.431).abs() < 0.002);
        assert!(found.sustained <= peak.mean / (1.0 - 0.01) + 0.001);
    }

    #[test]
    fn the_curve_is_made_of_whole_runs_where_it_is_asked_for() {
        let criterion = Criterion {
            has_curve: true,
            ..CRITERION
        };
        let model = Model {
            accepts: |load| load.min(0.431),
            criterion,
            ..MODEL
        };
        let (found, requests) = model.found();
        let whole = |factor: f64| {
            let near = |(level, _): &&(Level, Judged)| {
                (level.load - found.sustained * factor).abs() < 0.005 && level.accepted().is_some()
            };
            found.levels.iter().any(|level| near(&level))
        };
        assert!(CURVE.into_iter().all(whole));
        assert!(requests.len() >= 14);
    }

    #[test]
    fn a_fall_beyond_the_peak_is_unstable() {
        let model = Model {
            accepts: |load| if load < 0.5 { load } else { 0.8 - 0.6 * load },
            ..MODEL
        };
        let (found, _) = model.found();
        assert_eq!(found.behaviour, Behaviour::Unstable);
        assert!((found.sustained - 0.5).abs() < 0.01, "{}", found.sustained);
    }

    #[test]
    fn a_deadlock_is_no_saturation() {
        let model = Model {
            deadlocks: |load| load > 0.7,
            ..MODEL
        };
        let (found, _) = model.found();
        assert_eq!(found.behaviour, Behaviour::Deadlocked);
        assert!((found.sustained - 0.7).abs() < 0.006, "{}", found.sustained);
    }

    #[test]
    fn the_full_rate_may_be_sustained_and_nothing_may_be() {
        let (all, requests) = MODEL.found();
        assert_eq!(
            (all.behaviour, all.overloaded),
            (Behaviour::Unlimited, None)
        );
        assert!((all.sustained - 1.0).abs() < 1e-9);
        assert_eq!(requests.len(), 1);
        let model = Model {
            accepts: |load| load * 0.5,
            ..MODEL
        };
        let (nothing, _) = model.found();
        assert!(nothing.sustained.abs() < 1e-9);
        assert!(nothing.overloaded.unwrap() <= 0.005);
    }

    /// Runs too short for the resolution: what is told lies between certain judgements, not between guesses.
    #[test]
    fn loads_that_are_too_close_to_tell_stay_undecided() {
        let model = Model {
            accepts: |load| load.min(0.431),
            noise: 0.02,
            criterion: Criterion {
                resolution: 0.0005,
                ..CRITERION
            },
            ..MODEL
        };
        let (found, _) = model.found();
        let judged = |load: f64| {
            let mut levels = found.levels.iter();
            levels
                .find(|(level, _)| level.load.total_cmp(&load).is_eq())
                .map(|(_, judged)| judged.judgement)
        };
        assert!(!found.undecided.is_empty());
        assert_eq!(judged(found.sustained), Some(Judgement::Sustained));
        let high = found.overloaded.unwrap();
        assert_eq!(judged(high), Some(Judgement::NotSustained));
        assert!(found.sustained < 0.437 && 0.431 < high && high - found.sustained > 0.0005);
        for load in &found.undecided {
            assert_eq!(judged(*load), Some(Judgement::Undecided));
        }
    }
}
