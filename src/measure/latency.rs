//! Latencies of one clock: a histogram for percentiles, exact sums for mean and standard deviation.

use super::Histogram;
use serde::{Deserialize, Serialize};

/// Latencies below this are counted one by one \[cycles\].
const SMALL: usize = 2048;

/// Latencies of one class and clock.
///
/// Cost: a counter per small latency (16 KiB), folded into the histogram when it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyRecord {
    /// Number of values, `[latency]`.
    small: Vec<u64>,
    /// All other values.
    large: Values,
}

/// A set of latencies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Values {
    histogram: Histogram,
    count: u64,
    /// \[cycles\]
    sum: u128,
    /// [cycles^2]
    sum_of_squares: u128,
    /// Smallest and largest value \[cycles\].
    range: Option<(u64, u64)>,
}

impl Default for LatencyRecord {
    fn default() -> Self {
        Self {
            small: vec![0; SMALL],
            large: Values::default(),
        }
    }
}

/// What is reported of a [`LatencyRecord`]; `None` without a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// Number of packets.
    pub count: u64,
    /// Mean \[cycles\], exact.
    pub mean: Option<f64>,
    /// Standard deviation of these packets (divisor `count`) \[cycles\], exact.
    pub std: Option<f64>,
    /// Smallest \[cycles\], exact.
    pub min: Option<u64>,
    /// Median \[cycles\], within 0.1 %.
    pub p50: Option<u64>,
    /// 95th percentile \[cycles\], within 0.1 %.
    pub p95: Option<u64>,
    /// 99th percentile \[cycles\], within 0.1 %.
    pub p99: Option<u64>,
    /// Largest \[cycles\], exact.
    pub max: Option<u64>,
}

impl LatencyRecord {
    /// Counts one latency \[cycles\].
    #[inline]
    pub fn record(&mut self, latency: u64) {
        match self.small.get_mut(latency as usize) {
            Some(count) => *count += 1,
            None => self.large.add(latency, 1),
        }
    }

    /// Adds the values of another record.
    pub fn merge(&mut self, other: &Self) {
        for (sum, count) in self.small.iter_mut().zip(&other.small) {
            *sum += count;
        }
        self.large.merge(&other.large);
    }

    /// All values.
    pub fn values(&self) -> Values {
        let mut values = self.large.clone();
        for (latency, &count) in self.small.iter().enumerate() {
            values.add(latency as u64, count);
        }
        values
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.small.iter().sum::<u64>() + self.large.count
    }

    /// Sum of all values \[cycles\].
    pub fn sum(&self) -> u128 {
        self.values().sum
    }

    /// Mean, deviation and percentiles.
    pub fn summary(&self) -> LatencySummary {
        self.values().summary()
    }
}

impl Values {
    fn add(&mut self, latency: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.histogram.record(latency, count);
        self.count += count;
        let sum = u128::from(latency) * u128::from(count);
        self.sum += sum;
        self.sum_of_squares += sum * u128::from(latency);
        let (min, max) = self.range.unwrap_or((latency, latency));
        self.range = Some((min.min(latency), max.max(latency)));
    }

    fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
        self.range = match (self.range, other.range) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, None) | (None, one) => one,
        };
    }

    /// The histogram, for the log.
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// Mean, deviation and percentiles.
    pub fn summary(&self) -> LatencySummary {
        let Some((min, max)) = self.range else {
            return LatencySummary::default();
        };
        let quantile = |q| Some(self.histogram.quantile(q).clamp(min, max));
        LatencySummary {
            count: self.count,
            mean: Some(self.sum as f64 / self.count as f64),
            std: Some(self.variance().sqrt()),
            min: Some(min),
            p50: quantile(0.50),
            p95: quantile(0.95),
            p99: quantile(0.99),
            max: Some(max),
        }
    }

    /// (n S2 - S1^2) / n^2, the numerator in integers as long as it fits.
    fn variance(&self) -> f64 {
        let n = u128::from(self.count);
        let exact = n
            .checked_mul(self.sum_of_squares)
            .zip(self.sum.checked_mul(self.sum))
            .map(|(square, product)| (square - product) as f64);
        let count = self.count as f64;
        if let Some(numerator) = exact {
            return numerator / count / count;
        }
        let mean = self.sum as f64 / count;
        (self.sum_of_squares as f64 / count - mean * mean).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> LatencyRecord {
        let mut record = LatencyRecord::default();
        for &value in values {
            record.record(value);
        }
        record
    }

    #[test]
    fn known_answers() {
        let summary = of(&[2, 4, 4, 4, 5, 5, 7, 9]).summary();
        assert_eq!(summary.mean, Some(5.0));
        assert_eq!(summary.std, Some(2.0));
        assert_eq!((summary.min, summary.max), (Some(2), Some(9)));
        assert_eq!(summary.p50, Some(4));
        assert_eq!(summary.p99, Some(9));
        assert_eq!(of(&[]).summary(), LatencySummary::default());
    }

    #[test]
    fn percentiles_of_a_ramp() {
        let ramp: Vec<u64> = (1..=100_000).collect();
        let summary = of(&ramp).summary();
        for (actual, expected) in [
            (summary.p50, 50_000.0),
            (summary.p95, 95_000.0),
            (summary.p99, 99_000.0),
        ] {
            let actual = actual.unwrap() as f64;
            assert!((actual / expected - 1.0).abs() < 1e-3, "{actual}");
        }
    }

    #[test]
    fn deviation_survives_large_values() {
        // values whose squares differ by less than a float can tell
        let summary = of(&[1 << 39, (1 << 39) + 2]).summary();
        assert_eq!(summary.std, Some(1.0));
    }

    #[test]
    fn merging_equals_recording_together() {
        let mut left = of(&[3, 1 << 50]);
        left.merge(&of(&[7]));
        left.merge(&of(&[]));
        assert_eq!(left, of(&[3, 1 << 50, 7]));
        assert_eq!((left.count(), left.sum()), (3, (1 << 50) + 10));
    }
}
