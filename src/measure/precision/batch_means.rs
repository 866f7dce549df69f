//! Confidence interval of a mean from one long run: batch means, with a check for correlation.
//!
//! # Algorithm
//! 1. The series is cut into 32 batches of equal length.
//! 2. The estimate is a ratio (sum of latencies / packets, flits / cycles), so the deviation of a batch is its
//!    numerator minus the estimate times its denominator; batches with more packets count for more.
//! 3. Neighbouring deviations must not be correlated: their lag-1 correlation must stay below what one in five
//!    uncorrelated series exceeds. Otherwise batches are joined by twos and the test is repeated, down to 8.
//! 4. The half-width is Student's t times the standard error of the ratio.
//!
//! # Deviations
//! Law and Carson join batches until an estimate of the correlation is below 0.4 at 400 of them, then use 40;
//! the test here is made with the batches in use, because runs are often too short for 400.
//!
//! References: [`LAW_CARSON`](crate::references::LAW_CARSON), [`LAW_KELTON`](crate::references::LAW_KELTON)
//! sections 9.5.3 and 4.4

use super::series::{Batch, BatchSeries};
use super::student_t;
use serde::{Deserialize, Serialize};

/// Batches at first: more would not narrow the interval, t is within 4 % of its limit.
const BATCHES: usize = 32;
/// Batches at least: with fewer the standard error itself is a guess.
const LEAST_BATCHES: usize = 8;
/// Standard normal quantile of 0.8, one-sided.
const SUSPICION: f64 = 0.8416;

/// The interval of one mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchMeans {
    /// Mean of the series.
    pub mean: f64,
    /// Half of the width of the confidence interval.
    pub half_width: f64,
    /// Batches it comes from.
    pub batches: usize,
    /// Length of a batch \[cycles\].
    pub batch_cycles: u64,
    /// Lag-1 correlation of the batches.
    pub correlation: f64,
    /// Whether the batches may be taken as independent; the interval is too narrow when they may not.
    pub independent: bool,
}

impl BatchMeans {
    /// The half-width as a fraction of the mean; infinite around 0.
    pub fn relative_half_width(&self) -> f64 {
        if self.half_width == 0.0 {
            0.0
        } else {
            self.half_width / self.mean.abs()
        }
    }

    /// Mean and half-width in another unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            mean: self.mean * factor,
            half_width: self.half_width * factor,
            ..self
        }
    }
}

/// The interval of `sum of numerators / sum of denominators`; `None` for fewer than eight batches, and when a
/// series of only zeros leaves nothing to divide by.
pub fn batch_means(
    series: &BatchSeries,
    confidence: f64,
    ratio: impl Fn(&Batch) -> (u64, u64),
) -> Option<BatchMeans> {
    let available = series.batches().len();
    let mut count = BATCHES.min(available);
    while count >= LEAST_BATCHES {
        let size = available / count;
        let pairs: Vec<(f64, f64)> = series
            .grouped(count, size)
            .map(|batch| ratio(&batch))
            .map(|(numerator, denominator)| (numerator as f64, denominator as f64))
            .collect();
        let found = interval(&pairs, confidence, series.length() * size as u64)?;
        if found.independent || count / 2 < LEAST_BATCHES {
            return Some(found);
        }
        count /= 2;
    }
    None
}

/// The interval from these (numerator, denominator) as they are.
fn interval(pairs: &[(f64, f64)], confidence: f64, batch_cycles: u64) -> Option<BatchMeans> {
    let count = pairs.len() as f64;
    let numerators: f64 = pairs.iter().map(|pair| pair.0).sum();
    let denominators: f64 = pairs.iter().map(|pair| pair.1).sum();
    if denominators <= 0.0 {
        return None;
    }
    let mean = numerators / denominators;
    let deviations: Vec<f64> = pairs.iter().map(|pair| pair.0 - mean * pair.1).collect();
    let squares: f64 = deviations.iter().map(|deviation| deviation.powi(2)).sum();
    let products: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let correlation = if squares > 0.0 {
        products / squares
    } else {
        0.0
    };
    let error = (squares / (count - 1.0) / count).sqrt() / (denominators / count);
    Some(BatchMeans {
        mean,
        half_width: student_t(confidence, pairs.len() - 1) * error,
        batches: pairs.len(),
        batch_cycles,
        correlation,
        independent: correlation <= SUSPICION / count.sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Rng, Stream, stream};

    /// Uniform between 0 and 1000.
    fn noise(rng: &mut Stream) -> f64 {
        f64::from(crate::rng::below(rng, 1001))
    }

    /// First-order autoregressive sums with mean 500 per packet, one packet per cycle, after a stationary start.
    fn autoregressive(seed: u64, batches: usize, memory: f64) -> BatchSeries {
        let mut rng = stream(seed, Purpose::Arrivals, 0);
        rng.next_u64();
        let (mut series, mut level) = (BatchSeries::new(1), 500.0);
        for round in 0..batches + 200 {
            level = memory * level + (1.0 - memory) * noise(&mut rng);
            if round >= 200 {
                series.push(Batch {
                    delivered: 1,
                    packet_latency: level as u64,
                    ..Batch::default()
                });
            }
        }
        series
    }

    fn latency(batch: &Batch) -> (u64, u64) {
        (batch.packet_latency, batch.delivered)
    }

    const EMPTY: Batch = Batch {
        cycles: 10,
        created_flits: 0,
        delivered_flits: 0,
        delivered: 0,
        network_latency: 0,
        packet_latency: 0,
        present: 0,
    };

    fn flits(batch: &Batch) -> (u64, u64) {
        (batch.delivered_flits, batch.cycles)
    }

    #[test]
    fn joined_batches_keep_the_mean() {
        let mut series = BatchSeries::new(10);
        for at in 0..640 {
            series.push(Batch {
                delivered_flits: 40 + at % 3,
                ..EMPTY
            });
        }
        let found = batch_means(&series, 0.95, flits).unwrap();
        assert!((found.mean - 4.1).abs() < 0.01, "{}", found.mean);
        assert_eq!((found.batches as u64) * found.batch_cycles, 6400);
    }

    /// Share of 400 series whose interval covers the mean \[percent\].
    fn coverage(batches: usize, memory: f64) -> u32 {
        let covers = |seed| {
            let series = autoregressive(seed, batches, memory);
            let found = batch_means(&series, 0.95, latency).unwrap();
            // `as` cuts half a cycle off
            (found.mean + 0.5 - 500.0).abs() <= found.half_width
        };
        (0..400).map(|seed| u32::from(covers(seed))).sum::<u32>() / 4
    }

    #[test]
    fn intervals_of_independent_batches_cover_the_mean() {
        let percent = coverage(512, 0.0);
        assert!((92..=98).contains(&percent), "{percent} %");
    }

    #[test]
    fn intervals_of_correlated_series_still_cover_the_mean() {
        // correlated over about 20 batches, 100 times shorter than the series
        let percent = coverage(2048, 0.95);
        assert!((91..=98).contains(&percent), "{percent} %");
    }

    #[test]
    fn correlation_is_seen_and_batches_are_joined() {
        let joined = |memory| {
            let found = (0..100)
                .map(|seed| batch_means(&autoregressive(seed, 64, memory), 0.95, latency).unwrap());
            found.filter(|found| found.batches < 32).count()
        };
        let (free, bound) = (joined(0.0), joined(0.9));
        assert!(free < 30, "{free} of 100");
        assert!(bound > 90, "{bound} of 100");
    }

    #[test]
    fn short_or_empty_series_have_no_interval() {
        let mut series = BatchSeries::new(10);
        for _ in 0..7 {
            series.push(EMPTY);
        }
        assert_eq!(batch_means(&series, 0.95, latency), None);
        series.push(EMPTY);
        assert_eq!(batch_means(&series, 0.95, latency), None);
        let found = batch_means(&series, 0.95, flits).unwrap();
        assert_eq!((found.mean, found.half_width), (0.0, 0.0));
        assert!(found.relative_half_width() < 1e-12);
    }
}
