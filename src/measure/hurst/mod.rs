//! The Hurst parameter of a series of counts: aggregated variance and rescaled range, each with its standard error.
//!
//! Counts are packets in intervals of equal length, one after the other. H is 0.5 for counts without memory, Poisson's too,
//! and above it for long-range dependent ones.
//!
//! # Algorithm
//! 1. The series is cut into 16 segments; a scale m joins intervals of one segment to blocks of m. Scales are powers of two
//!    times the smallest.
//! 2. *Aggregated variance*: the variance of the block means, around the mean of their segment, goes with m^(2H - 2). The mean of
//!    k blocks takes (1 - k^(2H - 2)) k / (k - 1) of the variance with it, half of it at H = 0.9 and k = 30; this is made
//!    good with the H found, until H stands.
//! 3. *Rescaled range*: the range of the sums of a block's deviations from its mean, over their standard deviation, goes with m^H.
//!    The standard deviation lacks 1 - m^(2H - 2) of the variance, as in 2; the range is that of m points of a path and not of
//!    the path. At H = 1/2 the mean of R/S is known (Anis and Lloyd, with Weron's factor for short blocks), so what the range lacks
//!    is known there; it is taken to fall with m^-H, as one step does against the range. At H = 1/2 this is
//!    Weron's estimator.
//! 4. H comes from a line through the logarithms by least squares, all scales alike.
//! 5. The standard error is the jackknife's: without one segment at a time. The interval takes Student's t for 15 degrees.
//!
//! On exact fractional Gaussian noise of 2^16 counts the mean of either estimate is within 0.005 of H = 0.5, 0.6, 0.75, 0.9
//! (scales from 4 on for the variance); R/S without 3 is 0.03 too high at 0.5 and 0.04 too low at 0.9.
//!
//! # Deviations
//! Taqqu and others fit all points of R/S, at several lags of one block (pox plots), and know no interval.
//!
//! Jackknife intervals take segments as independent: what they have in common, longer than a segment, moves their means and so
//! neither estimate, as both take the mean of a segment or block away.
//!
//! Cost: O(n) per scale, and O(m) for what is known of R/S.
//!
//! References: [`TAQQU_ESTIMATORS`](crate::references::TAQQU_ESTIMATORS),
//! [`MANDELBROT_WALLIS`](crate::references::MANDELBROT_WALLIS), [`ANIS_LLOYD`](crate::references::ANIS_LLOYD),
//! [`WERON`](crate::references::WERON), [`EFRON`](crate::references::EFRON)

use super::precision::{CONFIDENCE, student_t};
use serde::Serialize;
use std::f64::consts::PI;

/// Parts that the jackknife leaves out: t is within 9 % of its limit.
const SEGMENTS: usize = 16;
/// Fewest scales of a line.
const LEAST_SCALES: usize = 3;
/// Estimates stay within these: at 0 and 1 the corrections have no value.
const RANGE: (f64, f64) = (0.01, 0.999);

/// Rounds of corrections at most, and the change of H at which it stands: each round leaves less than half of the change.
const ROUNDS: usize = 100;
const STANDS: f64 = 1e-9;
/// Bound of what ranges may lack: far above what they do where H is above 0.3.
const MOST_LACKING: f64 = 0.9;

/// Fewest counts that an estimate with its own scales is made of.
pub const LEAST_COUNTS: usize = 16_384;

/// Sizes of blocks \[intervals\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scales {
    /// The smallest; the others are twice, four times, .. as long.
    pub smallest: usize,
    /// None is longer.
    pub largest: usize,
}

impl Scales {
    /// Those of [`variance_time`] for so many counts: from 16 intervals, so that what happens within intervals does not
    /// show, to a sixteenth of a segment, since counts with heavy tails vary by the rare blocks that are largest: of few blocks
    /// most series have none, and look less variable at the longest scales than they are.
    pub fn of_variances(counts: usize) -> Self {
        Self {
            smallest: 16,
            largest: counts / (16 * SEGMENTS),
        }
    }

    /// Those of [`rescaled_range`] for so many counts: from 64 intervals, since a block shows the shorter ones too, to half of a
    /// segment.
    pub fn of_ranges(counts: usize) -> Self {
        Self {
            smallest: 64,
            largest: counts / (2 * SEGMENTS),
        }
    }

    fn list(self) -> Vec<usize> {
        let doubled = |m: &usize| m.checked_mul(2);
        let from = (self.smallest > 1).then_some(self.smallest);
        std::iter::successors(from, doubled)
            .take_while(|&m| m <= self.largest)
            .collect()
    }
}

/// An estimate of H.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Hurst {
    /// The Hurst parameter.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Half of the width of its confidence interval of 95 %.
    pub half_width: f64,
}

/// What one segment adds to a scale.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    sum: f64,
    weight: f64,
}

/// A scale with the parts of all segments.
#[derive(Debug)]
struct Level {
    blocks: f64,
    m: f64,
    parts: Vec<Part>,
}

impl Level {
    /// Mean over all segments but `left_out`.
    fn mean(&self, left_out: Option<usize>) -> f64 {
        let parts = self.parts.iter().enumerate();
        let kept = parts.filter(|(segment, _)| Some(*segment) != left_out);
        let (sum, weight) = kept.fold((0.0, 0.0), |(sum, weight), (_, part)| {
            (sum + part.sum, weight + part.weight)
        });
        sum / weight
    }
}

/// H from the variance of block means; `None` when there are fewer than three scales, a segment has fewer than two blocks of
/// the largest, or counts do not vary.
pub fn variance_time(counts: &[u64], scales: Scales) -> Option<Hurst> {
    let levels = levels(counts, scales, 2, |segment, m| {
        let means: Vec<f64> = segment
            .chunks_exact(m)
            .map(|block| block.iter().sum::<u64>() as f64 / m as f64)
            .collect();
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        Part {
            sum: means.iter().map(|block| (block - mean).powi(2)).sum(),
            weight: (means.len() - 1) as f64,
        }
    })?;
    let taken = |h: f64, scale: usize| {
        let k = levels[scale].blocks;
        (1.0 - libm::pow(k, 2.0 * h - 2.0)) * k / (k - 1.0)
    };
    jackknife(|left_out| {
        let correct = |h, scale| -libm::log(taken(h, scale));
        settle(&levels, left_out, correct, |slope| 1.0 + slope / 2.0)
    })
}

/// H from the rescaled range of blocks; `None` as for [`variance_time`], with one block instead of two.
pub fn rescaled_range(counts: &[u64], scales: Scales) -> Option<Hurst> {
    let levels = levels(counts, scales, 1, |segment, m| {
        let ranges = segment.chunks_exact(m).filter_map(range);
        ranges.fold(Part::default(), |part, range| Part {
            sum: part.sum + range,
            weight: part.weight + 1.0,
        })
    })?;
    let lacking: Vec<f64> = levels.iter().map(|level| lacking(level.m)).collect();
    jackknife(|left_out| {
        let correct = |h: f64, scale: usize| {
            let m = levels[scale].m;
            let lacks = lacking[scale] * libm::pow(m, 0.5 - h);
            let deviation = 1.0 - libm::pow(m, 2.0 * h - 2.0);
            libm::log(deviation) / 2.0 - libm::log1p(-lacks.min(MOST_LACKING))
        };
        settle(&levels, left_out, correct, |slope| slope)
    })
}

/// The parts of all segments and scales.
fn levels(
    counts: &[u64],
    scales: Scales,
    least_blocks: usize,
    part: impl Fn(&[u64], usize) -> Part,
) -> Option<Vec<Level>> {
    let length = counts.len() / SEGMENTS;
    let sizes = scales.list();
    let fits = sizes.iter().all(|m| length / m >= least_blocks);
    if sizes.len() < LEAST_SCALES || !fits {
        return None;
    }
    let level = |m: usize| Level {
        blocks: (length / m) as f64,
        m: m as f64,
        parts: counts
            .chunks_exact(length)
            .take(SEGMENTS)
            .map(|segment| part(segment, m))
            .collect(),
    };
    Some(sizes.into_iter().map(level).collect())
}

/// R/S of a block; `None` when its counts are all the same.
fn range(block: &[u64]) -> Option<f64> {
    let n = block.len() as f64;
    let mean = block.iter().sum::<u64>() as f64 / n;
    let (mut sum, mut least, mut most, mut squares) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0);
    for &count in block {
        let off = count as f64 - mean;
        sum += off;
        squares += off * off;
        least = least.min(sum);
        most = most.max(sum);
    }
    (squares > 0.0).then(|| (most - least) / f64::sqrt(squares / n))
}

/// The share of the range of a Brownian bridge that that of m points lacks, with the standard deviation of them right.
fn lacking(m: f64) -> f64 {
    let gamma = libm::exp(libm::lgamma((m - 1.0) / 2.0) - libm::lgamma(m / 2.0));
    let sum: f64 = (1..m as usize)
        .map(|i| f64::sqrt((m - i as f64) / i as f64))
        .sum();
    let weron = (m - 0.5) / m;
    let expected = weron * gamma / f64::sqrt(PI) * sum;
    1.0 - expected * f64::sqrt(1.0 - 1.0 / m) / f64::sqrt(PI * m / 2.0)
}

/// H with a correction of the logarithms that depends on it, until it stands.
fn settle(
    levels: &[Level],
    left_out: Option<usize>,
    correct: impl Fn(f64, usize) -> f64,
    from_slope: impl Fn(f64) -> f64,
) -> Option<f64> {
    let mut h = 0.5;
    for _ in 0..ROUNDS {
        let points = levels.iter().enumerate().map(|(scale, level)| {
            let y = libm::log(level.mean(left_out)) + correct(h, scale);
            (libm::log(level.m), y)
        });
        let next = from_slope(slope(points)).clamp(RANGE.0, RANGE.1);
        if !next.is_finite() {
            return None;
        }
        if (next - h).abs() < STANDS {
            return Some(next);
        }
        h = next;
    }
    Some(h)
}

/// Slope of the line through these points, by least squares.
fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let count = points.clone().count() as f64;
    let (x, y) = points
        .clone()
        .fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (x, y) = (x / count, y / count);
    let (products, squares) = points.fold((0.0, 0.0), |(products, squares), point| {
        let off = point.0 - x;
        (products + off * (point.1 - y), squares + off * off)
    });
    products / squares
}

/// The estimate with all segments, and its standard error from those without one.
fn jackknife(estimate: impl Fn(Option<usize>) -> Option<f64>) -> Option<Hurst> {
    let value = estimate(None)?;
    let without: Option<Vec<f64>> = (0..SEGMENTS)
        .map(|left_out| estimate(Some(left_out)))
        .collect();
    let without = without?;
    let count = SEGMENTS as f64;
    let mean = without.iter().sum::<f64>() / count;
    let squares: f64 = without.iter().map(|h| (h - mean).powi(2)).sum();
    let standard_error = f64::sqrt(squares * (count - 1.0) / count);
    Some(Hurst {
        value,
        standard_error,
        half_width: student_t(CONFIDENCE, SEGMENTS - 1) * standard_error,
    })
}

#[cfg(test)]
mod tests;
