//! Latencies of many small groups of packets, flow by flow or by hops: counted where they fall.
//!
//! Values below 2048 are exact, larger ones within 0.1 %, as in [`Histogram`](super::Histogram), of which a group would
//! take 256 KiB; here it takes some 30 bytes for each latency that occurs.
//! Cost: O(log latencies that occur) to count one.

use super::histogram::LARGEST;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Binary digits kept of a value.
const DIGITS: u32 = 11;

/// Latencies of one clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    /// How often each occurs: the largest value that is not told apart from it \[cycles\].
    counts: BTreeMap<u64, u64>,
    /// \[cycles\]
    sum: u128,
    /// Largest \[cycles\].
    most: u64,
}

impl Latencies {
    /// Counts one \[cycles\].
    fn record(&mut self, value: u64) {
        let bits = u64::BITS - value.min(LARGEST).leading_zeros();
        let lost = (1 << bits.saturating_sub(DIGITS)) - 1;
        *self.counts.entry(value.min(LARGEST) | lost).or_default() += 1;
        self.sum += u128::from(value);
        self.most = self.most.max(value);
    }

    fn merge(&mut self, other: &Self) {
        for (&value, count) in &other.counts {
            *self.counts.entry(value).or_default() += count;
        }
        self.sum += other.sum;
        self.most = self.most.max(other.most);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Mean \[cycles\]; `None` without any.
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum as f64 / count as f64)
    }

    /// Standard deviation (divisor: how many there are) \[cycles\], of values above 2048 within 0.1 %; `None` without any.
    pub fn std(&self) -> Option<f64> {
        let mean = self.mean()?;
        let squares = self.counts.iter().map(|(&value, &count)| {
            let value = value.min(self.most) as f64;
            count as f64 * (value - mean).powi(2)
        });
        Some((squares.sum::<f64>() / self.count() as f64).sqrt())
    }

    /// Largest \[cycles\]; `None` without any.
    pub fn most(&self) -> Option<u64> {
        (!self.counts.is_empty()).then_some(self.most)
    }

    /// Smallest \[cycles\], above 2048 within 0.1 %; `None` without any.
    pub fn least(&self) -> Option<u64> {
        let (&least, _) = self.counts.first_key_value()?;
        Some(least.min(self.most))
    }

    /// The smallest that so many of 1000 do not exceed \[cycles\]; `None` without any.
    pub fn quantile(&self, per_mille: u64) -> Option<u64> {
        let rank = (u128::from(self.count()) * u128::from(per_mille)).div_ceil(1000);
        let mut below = 0;
        let reached = self.counts.iter().find(|(_, count)| {
            below += u128::from(**count);
            below >= rank
        });
        reached.map(|(&value, _)| value.min(self.most))
    }
}

/// Latencies of both clocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BothLatencies {
    /// First flit on the first channel to last flit at the destination.
    pub network: Latencies,
    /// Creation to last flit at the destination.
    pub packet: Latencies,
}

impl BothLatencies {
    /// Counts a packet \[cycles\].
    pub fn record(&mut self, network: u64, packet: u64) {
        self.network.record(network);
        self.packet.record(packet);
    }

    /// Adds another group.
    pub fn merge(&mut self, other: &Self) {
        self.network.merge(&other.network);
        self.packet.merge(&other.packet);
    }
}

/// Whose latencies: class, flow of the plan if it is of one, source, destination.
pub type FlowKey = (u16, Option<u32>, u32, u32);

/// Latencies of flows.
pub type ByFlow = BTreeMap<FlowKey, BothLatencies>;

/// Latencies by class and inter-switch channels crossed.
pub type ByHops = BTreeMap<(u16, u16), BothLatencies>;

/// All groups of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Groups {
    /// Of each flow with a tagged packet delivered.
    pub flows: ByFlow,
    /// By class and inter-switch channels crossed.
    pub hops: ByHops,
}

impl Groups {
    /// Adds those of another shard.
    pub fn merge(&mut self, other: &Self) {
        for (key, latencies) in &other.flows {
            self.flows.entry(*key).or_default().merge(latencies);
        }
        for (key, latencies) in &other.hops {
            self.hops.entry(*key).or_default().merge(latencies);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Histogram;
    use crate::rng::{Purpose, below, stream};

    #[test]
    fn quantiles_are_those_of_the_dense_histogram() {
        let mut rng = stream(5, Purpose::Flows, 0);
        for width in [1, 100, 3000, 1 << 20] {
            let (mut sparse, mut other) = (Latencies::default(), Latencies::default());
            let mut dense = Histogram::new();
            let mut most = 0;
            for number in 0..997 {
                let value = u64::from(below(&mut rng, width));
                most = most.max(value);
                dense.record(value, 1);
                let part = if number % 3 == 0 {
                    &mut other
                } else {
                    &mut sparse
                };
                part.record(value);
            }
            sparse.merge(&other);
            assert_eq!((sparse.count(), sparse.most()), (997, Some(most)));
            for per_mille in [1, 500, 990, 999, 1000] {
                let expected = dense.quantile(per_mille as f64 / 1000.0).min(most);
                assert_eq!(
                    sparse.quantile(per_mille),
                    Some(expected),
                    "{width} {per_mille}"
                );
            }
        }
    }

    #[test]
    fn few_values_are_what_they_are() {
        let mut latencies = BothLatencies::default();
        assert_eq!(latencies.network.quantile(500), None);
        assert_eq!(
            (latencies.packet.mean(), latencies.packet.most()),
            (None, None)
        );
        for network in [7, 9, 2049] {
            latencies.record(network, network + 1);
        }
        assert_eq!(latencies.network.least(), Some(7));
        assert_eq!(latencies.network.quantile(500), Some(9));
        assert_eq!(latencies.network.quantile(990), Some(2049));
        assert_eq!(latencies.packet.mean(), Some(2068.0 / 3.0));
    }
}
