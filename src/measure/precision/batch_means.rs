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
        dropped_flits: 0,
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

    /// Share of the intervals of `count` series that cover `mean` \[percent\].
    fn coverage(count: u64, mean: f64, series: impl Fn(u64) -> BatchSeries) -> f64 {
        let covers = |&seed: &u64| {
            let found = batch_means(&series(seed), 0.95, latency).unwrap();
            (found.mean - mean).abs() <= found.half_width
        };
        (0..count).filter(covers).count() as f64 * 100.0 / count as f64
    }

    /// Mean of [`autoregressive`]: `as` cuts half a cycle off.
    const MEAN: f64 = 499.5;
    /// Variance of [`noise`].
    const VARIANCE: f64 = (1001.0 * 1001.0 - 1.0) / 12.0;

    /// Of 20,000 series the share is known to 0.15 %. Eight batches, where the normal quantile would cover 91 %.
    #[test]
    fn intervals_of_independent_batches_cover_the_mean_as_often_as_they_say() {
        let percent = coverage(20_000, MEAN, |seed| autoregressive(seed, 8, 0.0));
        assert!((94.4..=95.6).contains(&percent), "{percent} %");
        let percent = coverage(5_000, MEAN, |seed| autoregressive(seed, 64, 0.0));
        assert!((94.0..=96.0).contains(&percent), "{percent} %");
    }

    #[test]
    fn intervals_of_correlated_series_still_cover_the_mean() {
        // correlated over about 20 batches, 100 times shorter than the series
        let percent = coverage(4_000, MEAN, |seed| autoregressive(seed, 2048, 0.95));
        assert!((93.0..=96.5).contains(&percent), "{percent} %");
    }

    /// Packets of a queue with exponential gaps and one time of service, batches of cycles: the packets of a batch
    /// are a random number. Time is counted in thousandths of the service.
    fn queue(seed: u64) -> BatchSeries {
        const SERVICE: f64 = 1000.0;
        const GAP: f64 = SERVICE / 0.6;
        let mut rng = stream(seed, Purpose::Arrivals, 1);
        let (mut series, mut batch) = (BatchSeries::new(64), Batch::default());
        let (mut now, mut waiting, mut end) = (0.0, 0.0, 200.0 * GAP);
        while series.batches().len() < 512 {
            let gap = -GAP * libm::log(crate::rng::unit_interval(&mut rng));
            now += gap;
            waiting = (waiting + SERVICE - gap).max(0.0);
            if now < 200.0 * GAP {
                continue;
            }
            while now >= end {
                series.push(batch);
                batch = Batch::default();
                end += 16.0 * GAP;
            }
            batch.delivered += 1;
            batch.packet_latency += (waiting + 0.5) as u64;
        }
        series
    }

    #[test]
    fn intervals_of_a_queue_cover_what_pollaczek_and_khinchine_say() {
        // load 0.6: 0.6 / (2 * (1 - 0.6)) of the time of service
        let percent = coverage(3_000, 750.0, queue);
        assert!((93.0..=97.0).contains(&percent), "{percent} %");
    }

    /// Mean half-width of the intervals from as many batches as asked for, over t * sigma / sqrt(n) * c4: the mean
    /// of a sample's standard deviation is c4 sigma.
    fn width(count: u64, batches: usize, factor: f64, series: impl Fn(u64) -> BatchSeries) -> f64 {
        let found = (0..count).filter_map(|seed| {
            let series = series(seed);
            let found = batch_means(&series, 0.95, latency).unwrap();
            let packets: u64 = series.batches().iter().map(|batch| batch.delivered).sum();
            let is_asked_for = found.batches == batches;
            is_asked_for.then(|| found.half_width / (VARIANCE / packets as f64).sqrt())
        });
        let widths: Vec<f64> = found.collect();
        assert!(widths.len() > 200, "{}", widths.len());
        widths.iter().sum::<f64>() / widths.len() as f64 / factor
    }

    /// Eight batches of twelve packets each, so that their sums are nearly normal, which c4 asks for.
    fn eight(seed: u64) -> BatchSeries {
        let mut rng = stream(seed, Purpose::Arrivals, 3);
        let mut series = BatchSeries::new(1);
        for _ in 0..8 {
            let sum: f64 = (0..12).map(|_| noise(&mut rng)).sum();
            series.push(Batch {
                delivered: 12,
                packet_latency: sum as u64,
                ..Batch::default()
            });
        }
        series
    }

    /// t of the table and c4 of the sizes 8 and 32.
    #[test]
    fn widths_are_those_of_theory() {
        let (few, all) = (2.3646 * 0.9650, 2.0395 * 0.9920);
        let short = width(10_000, 8, few, eight);
        assert!((short - 1.0).abs() < 0.01, "{short}");
        let long = width(3_000, 32, all, |seed| autoregressive(seed, 320, 0.0));
        assert!((long - 1.0).abs() < 0.015, "{long}");
        // the sum over all time of the correlation is the same for any memory r; batches of m see 1 - 2r / (m (1 - r^2)) of it
        let seen = f64::sqrt(1.0 - 2.0 * 0.9 / (64.0 * (1.0 - 0.9 * 0.9)));
        let bound = width(1_000, 32, all * seen, |seed| {
            autoregressive(seed, 2048, 0.9)
        });
        assert!((bound - 1.0).abs() < 0.04, "{bound}");
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
