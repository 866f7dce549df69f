//! Whether something grows: tests on batches, each with a stated error rate.
//!
//! # Algorithm
//! - [`is_growing`]: a level whose changes are `changes` has a drift. Student's t of the mean change, one-sided. The
//!   null hypothesis is a random walk without drift, the worst case of a queue that is just stable; changes of a
//!   stationary level are correlated negatively, so there the test errs less often. A level that fills and then
//!   stands still is no growth: the second half alone must grow too, at the level of 5 %.
//! - [`rise`]: the slope of a line fitted to the batches by least squares, one-sided. Neighbouring batches of a
//!   queue are alike: the residuals count as `m (1 - r) / (1 + r)` independent ones, with `r` their lag-1
//!   correlation.
//! - [`dispersion`]: variance over mean of counts, which says how much a count of the whole may be off by chance.
//!
//! # Deviations
//! The lag-1 correlation of few residuals of a line is biased downwards by about `(2 + 4 r) / m`; that much is added.
//!
//! References: [`LAW_KELTON`](crate::references::LAW_KELTON) sections 4.4 and 9.5,
//! [`DALLY_TOWLES`](crate::references::DALLY_TOWLES) chapter 23

use super::student_t;
use statrs::distribution::{ContinuousCDF as _, Normal};

/// Level of the test of the second half.
const LASTING: f64 = 0.05;
/// Fewest changes or levels a test is made with.
pub const LEAST: usize = 8;

/// Whether the level with these changes from batch to batch grows, beyond what chance does in a part `level` of random
/// walks without drift; `false` for fewer than eight changes.
pub fn is_growing(changes: &[f64], level: f64) -> bool {
    let later = &changes[changes.len() / 2..];
    changes.len() >= LEAST && exceeds_zero(changes, level) && exceeds_zero(later, LASTING)
}

/// One-sided t test: the mean is above 0.
fn exceeds_zero(values: &[f64], level: f64) -> bool {
    let (mean, variance) = moments(values);
    let error = (variance / values.len() as f64).sqrt();
    mean > student_t(1.0 - 2.0 * level, values.len() - 1) * error
}

/// Mean and variance of a sample.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0))
}

/// By how much a line through `levels` rises from the first to the last, as a fraction of their mean, when that is beyond
/// what chance does in a part `level` of stationary series; `None` when it is not, and for fewer than eight levels.
pub fn rise(levels: &[f64], level: f64) -> Option<f64> {
    if levels.len() < LEAST {
        return None;
    }
    let count = levels.len() as f64;
    let (mean, _) = moments(levels);
    let middle = (count - 1.0) / 2.0;
    let times = || (0..levels.len()).map(|at| at as f64 - middle);
    let spread: f64 = times().map(|time| time * time).sum();
    let slope = times().zip(levels).map(|(time, y)| time * y).sum::<f64>() / spread;
    let residuals: Vec<f64> = times()
        .zip(levels)
        .map(|(time, y)| y - mean - slope * time)
        .collect();
    let squares: f64 = residuals.iter().map(|residual| residual.powi(2)).sum();
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let found = if squares > 0.0 {
        products / squares
    } else {
        0.0
    };
    let correlation = (found + (2.0 + 4.0 * found) / count).clamp(0.0, 0.95);
    let independent = (count * (1.0 - correlation) / (1.0 + correlation)).max(3.0);
    let error = (squares / (count - 2.0) / spread * count / independent).sqrt();
    let degrees = (independent - 2.0).floor().max(1.0) as usize;
    let is_rising = slope > student_t(1.0 - 2.0 * level, degrees) * error;
    (is_rising && mean > 0.0).then(|| slope * (count - 1.0) / mean)
}

/// Variance over mean of counts; `None` for fewer than eight or only zeros.
pub fn dispersion(counts: &[f64]) -> Option<f64> {
    if counts.len() < LEAST {
        return None;
    }
    let (mean, variance) = moments(counts);
    (mean > 0.0).then(|| variance / mean)
}

/// What a standard normal number exceeds with this probability; rounded as [`student_t`] is.
///
/// # Panics
/// When `level` is not between 0 and 1.
pub fn normal_bound(level: f64) -> f64 {
    const DIGITS: f64 = 1e9;
    let quantile = Normal::standard().inverse_cdf(1.0 - level);
    (quantile * DIGITS).round() / DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Rng, Stream, below, stream};

    /// About normal: mean 0, variance 1.
    fn noise(rng: &mut Stream) -> f64 {
        (0..12)
            .map(|_| f64::from(below(rng, 10_001)) / 10_000.0)
            .sum::<f64>()
            - 6.0
    }

    fn random(seed: u64) -> Stream {
        let mut rng = stream(seed, Purpose::Arrivals, 7);
        rng.next_u64();
        rng
    }

    /// How many of 2000 series of 16 are told to grow.
    fn growing(level: f64, drift: f64) -> u32 {
        let is_told = |seed| {
            let mut rng = random(seed);
            let changes: Vec<f64> = (0..16).map(|_| noise(&mut rng) + drift).collect();
            u32::from(is_growing(&changes, level))
        };
        (0..2000).map(is_told).sum()
    }

    #[test]
    fn a_walk_without_drift_is_told_to_grow_as_often_as_stated() {
        let found = growing(0.01, 0.0);
        // 20 of 2000 are stated; a few of them do not last
        assert!((5..=34).contains(&found), "{found} of 2000");
        let found = growing(0.01, 1.5);
        assert!(found > 1900, "{found} of 2000 with drift");
    }

    #[test]
    fn what_fills_and_then_stands_still_does_not_grow() {
        let told = |seed: u64| {
            let mut rng = random(seed);
            let changes: Vec<f64> = (0..16)
                .map(|at| noise(&mut rng) * 0.1 + if at < 8 { 5.0 } else { 0.0 })
                .collect();
            u32::from(is_growing(&changes, 0.001))
        };
        let found: u32 = (0..200).map(told).sum();
        assert!(found <= 20, "{found} of 200");
        assert!(!is_growing(&[0.0; 16], 0.01));
        assert!(!is_growing(&[1.0; 7], 0.01), "too few");
        assert!(is_growing(&[1.0; 8], 0.01));
    }

    /// How many of 2000 series of 32 levels around 100 are told to rise.
    fn rising(memory: f64, slope: f64) -> u32 {
        let is_told = |seed| {
            let mut rng = random(seed);
            let mut state = 0.0;
            for _ in 0..50 {
                state = memory * state + noise(&mut rng);
            }
            let levels = (0..32).map(|at| {
                state = memory * state + noise(&mut rng);
                100.0 + state + slope * f64::from(at)
            });
            u32::from(rise(&levels.collect::<Vec<_>>(), 0.01).is_some())
        };
        (0..2000).map(is_told).sum()
    }

    #[test]
    fn a_stationary_series_is_told_to_rise_about_as_often_as_stated() {
        for (memory, most) in [(0.0, 34), (0.5, 34), (0.8, 60)] {
            let found = rising(memory, 0.0);
            assert!(found <= most, "{found} of 2000 with memory {memory}");
            assert!(memory > 0.0 || found >= 3, "{found} of 2000: never");
        }
        assert!(rising(0.0, 0.2) > 1900);
        assert!(rising(0.5, 0.5) > 1900);
    }

    #[test]
    fn a_rise_is_told_in_parts_of_the_mean() {
        let found = rise(
            &(0..11).map(|at| 95.0 + f64::from(at)).collect::<Vec<_>>(),
            0.01,
        );
        assert!((found.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(rise(&[7.0; 32], 0.01), None);
        assert_eq!(
            rise(&(0..32).map(|at| -f64::from(at)).collect::<Vec<_>>(), 0.01),
            None
        );
    }

    #[test]
    fn counts_and_quantiles_are_those_of_the_books() {
        assert_eq!(dispersion(&[1.0; 7]), None);
        assert_eq!(dispersion(&[0.0; 8]), None);
        assert!(
            (dispersion(&[1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0]).unwrap() - 4.0 / 7.0).abs()
                < 1e-12
        );
        assert!((normal_bound(0.025) - 1.959_963_985).abs() < 1e-8);
        assert!((normal_bound(1e-6) - 4.753_424).abs() < 1e-5);
    }
}
