//! Where a search tries loads: first by a few runs each, to see on which side they lie; then by as many as it takes.
//!
//! # Algorithm
//! 1. *Locate.* What the estimates say is enough: the largest load that seems to miss no more than the tolerance, and the
//!    smallest that seems to miss more, are brought together to four times the resolution. With nothing below, the next
//!    load is what is accepted at the one above; then it is where a line through both estimates meets the tolerance, but
//!    not in an outer quarter, nor farther up than steps that double.
//! 2. *Prove.* The load where the line meets the tolerance is the estimate of the saturation point. Half the resolution
//!    below and above it loads are tried until their runs are certain. One that stays undecided is left, and the next is
//!    twice as far away.
//! 3. More runs are not made of a load whose interval would still reach over the tolerance with the most there may be.

use super::{Criterion, FEWEST_SEEDS, Request, rounded};
use crate::study::level::{Judged, Judgement, Level, Sample};

/// Runs that show the side.
const FIRST: usize = 2;
/// Times the number of seeds, at most.
pub(super) const MOST_ROUNDS: usize = 3;
/// Least step downwards and first step upwards, part of the load.
const STEP: f64 = 0.02;
/// Resolutions between estimates on both sides that are near enough for a line.
const NEAR: f64 = 4.0;
/// Part of the space between two estimates that is left on either side.
const MARGIN: f64 = 0.25;
/// What the distance of two loads may be off by.
const ROUNDING: f64 = 2e-6;
/// Loads of each part of a search, at most.
const MOST_LOADS: usize = 40;

/// A load and the part that is missing there.
type Estimate = (f64, f64);

/// A search in progress.
pub(super) struct Search<'a, E> {
    pub(super) criterion: Criterion,
    /// Smallest load that cannot be sustained whatever runs say.
    pub(super) limit: Option<f64>,
    pub(super) evaluate: &'a mut dyn FnMut(Request) -> Result<Vec<Sample>, E>,
    /// Ascending by load.
    pub(super) levels: Vec<(Level, Judged)>,
}

impl<E> Search<'_, E> {
    /// Largest load that is certainly sustained; 0 when none is.
    pub(super) fn low(&self) -> f64 {
        let high = self.high().unwrap_or(f64::INFINITY);
        let judged = self.loads(Judgement::Sustained);
        judged.filter(|load| *load < high).fold(0.0, f64::max)
    }

    /// Smallest load that certainly is not sustained.
    pub(super) fn high(&self) -> Option<f64> {
        let judged = self.loads(Judgement::NotSustained);
        judged.chain(self.limit).min_by(f64::total_cmp)
    }

    /// Loads with that judgement.
    fn loads(&self, judgement: Judgement) -> impl Iterator<Item = f64> {
        let meant = self.levels.iter();
        let meant = meant.filter(move |(_, judged)| judged.judgement == judgement);
        meant.map(|(level, _)| level.load)
    }

    /// Makes runs of a load until there are `runs`; says how the load is judged by all of them.
    pub(super) fn try_load(
        &mut self,
        load: f64,
        runs: usize,
        is_whole: bool,
    ) -> Result<Judgement, E> {
        let place = self.levels.partition_point(|(level, _)| level.load < load);
        let is_there =
            (self.levels.get(place)).is_some_and(|(level, _)| level.load.total_cmp(&load).is_eq());
        if !is_there {
            let samples = Vec::new();
            let level = Level { load, samples };
            let judged = level.judge(self.criterion.tolerance);
            self.levels.insert(place, (level, judged));
        }
        let (level, judged) = &mut self.levels[place];
        let first = level.samples.len();
        if first < runs {
            let count = runs - first;
            let samples = (self.evaluate)(Request {
                load,
                first,
                count,
                is_whole,
            })?;
            level.samples.extend(samples);
            *judged = level.judge(self.criterion.tolerance);
        }
        Ok(judged.judgement)
    }

    /// Makes runs of a load until it is decided, or more would not decide it.
    pub(super) fn settle(
        &mut self,
        load: f64,
        fewest: usize,
        is_whole: bool,
    ) -> Result<Judgement, E> {
        let Criterion {
            tolerance, seeds, ..
        } = self.criterion;
        let most = self.criterion.most_seeds();
        let mut runs = fewest;
        loop {
            let judgement = self.try_load(load, runs, is_whole)?;
            let is_decided = judgement != Judgement::Undecided;
            let level = self.levels.iter().find(|(level, _)| level.load >= load);
            let is_hopeless = level.is_some_and(|(level, _)| level.is_hopeless(tolerance, most));
            if is_decided || is_hopeless || runs >= most {
                return Ok(judgement);
            }
            runs = (runs + seeds.div_ceil(2)).min(most);
        }
    }

    /// The full rate, by whole runs: how the fabric behaves there.
    pub(super) fn full_rate(&mut self) -> Result<Judgement, E> {
        let Criterion {
            seeds, has_curve, ..
        } = self.criterion;
        let fewest = if has_curve { seeds } else { FEWEST_SEEDS };
        self.settle(1.0, fewest, true)
    }

    /// The largest load below the smallest that seems to miss too much, if there is one, and that one.
    fn bracket(&self) -> (Option<Estimate>, Estimate) {
        let (tolerance, low) = (self.criterion.tolerance, self.low());
        let estimates = || {
            let levels = self.levels.iter();
            let estimates = levels.map(|(level, judged)| (level.load, judged.missing));
            estimates.filter(|(load, _)| *load >= low)
        };
        let above = estimates().find(|(load, missing)| *missing > tolerance && *load > low);
        let above = above.unwrap_or((1.0, tolerance));
        let above = match self.high() {
            Some(high) if high < above.0 => (high, tolerance),
            _ => above,
        };
        (estimates().rfind(|(load, _)| *load < above.0), above)
    }

    /// The saturation point by estimate.
    fn estimate(&self, below: Option<Estimate>, above: Estimate) -> f64 {
        let tolerance = self.criterion.tolerance;
        match below {
            None => above.0 * (1.0 - above.1) / (1.0 - tolerance),
            // what is missing there is not why it is not sustained
            Some(below) if above.1 <= tolerance => f64::midpoint(below.0, above.0),
            Some(below) => {
                let part = (tolerance - below.1) / (above.1 - below.1);
                below.0 + (above.0 - below.0) * part.clamp(0.0, 1.0)
            }
        }
    }

    /// Brings estimates of both sides together.
    pub(super) fn locate(&mut self) -> Result<(), E> {
        let Criterion {
            tolerance,
            resolution,
            ..
        } = self.criterion;
        let mut steps = [0, 0];
        for _ in 0..MOST_LOADS {
            let (below, above) = self.bracket();
            let gap = above.0 - below.map_or(0.0, |below| below.0);
            if gap <= NEAR * resolution {
                break;
            }
            let load = match below {
                // what is missing there is not why it is not sustained: nothing is known but the side
                None if above.1 <= tolerance => {
                    above.0 * (1.0 - (STEP * doubled(steps[0])).min(0.5))
                }
                // what is accepted there now; nothing at all, in a deadlock
                None => (above.0 * (1.0 - above.1)).max(resolution.min(above.0 / 2.0)),
                Some(below) => {
                    let (guess, margin) = (self.estimate(Some(below), above), MARGIN * gap);
                    let step = (STEP * below.0).max(NEAR / 2.0 * resolution);
                    let farthest = below.0 + step * doubled(steps[1]);
                    guess
                        .clamp(below.0 + margin, above.0 - margin)
                        .min(farthest)
                }
            };
            let load = rounded(load);
            self.try_load(load, FIRST, false)?;
            steps[usize::from(below.is_some())] += 1;
        }
        Ok(())
    }

    /// Finds loads on both sides that are certain, as close to the saturation point as can be.
    pub(super) fn prove(&mut self) -> Result<(), E> {
        let Criterion {
            resolution, seeds, ..
        } = self.criterion;
        let slack = resolution / 4.0;
        let mut steps = [0, 0];
        for _ in 0..MOST_LOADS {
            let (low, high) = (self.low(), self.high().unwrap_or(1.0));
            let (below, above) = self.bracket();
            let point = self.estimate(below, above).clamp(low, high);
            let distance = steps.map(|step| resolution / 2.0 * doubled(step));
            let (under, over) = (point - distance[0], point + distance[1]);
            // loads are rounded
            let is_close = |widths: i32| high - low <= resolution * f64::from(widths) + ROUNDING;
            let left = steps[0] + steps[1];
            if is_close(1 + left) {
                break;
            }
            let (side, load) = if left == 0 && is_close(2) {
                (0, f64::midpoint(low, high))
            } else if under - low > slack {
                (0, under)
            } else if high - over > slack {
                (1, over)
            } else {
                break;
            };
            // runs that are there already are of use for a load nearby
            let is_near =
                |other: &f64| (load - other).abs() <= slack && low < *other && *other < high;
            let near = self.loads(Judgement::Undecided).find(is_near);
            let load = near.unwrap_or_else(|| rounded(load));
            if self.settle(load, seeds, false)? == Judgement::Undecided {
                steps[side] += 1;
            }
        }
        Ok(())
    }
}

/// Two to the power of a number of steps.
fn doubled(steps: i32) -> f64 {
    2.0_f64.powi(steps)
}
