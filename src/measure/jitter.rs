//! Jitter: how much the network latency changes from one packet of a flow to the next.
//!
//! A flow is one (class, source, destination). The jitter of a delivery is the absolute difference between
//! its network latency and that of the flow's previous delivery \[cycles\]. It is kept for classes in which
//! every source has one destination ([`Pattern::is_fixed`](crate::traffic::Pattern::is_fixed)): the whole flow
//! then ends at one host, whose shard sees all of it, and the last latency is one word per source.

use serde::{Deserialize, Serialize};

/// Jitter of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JitterRecord {
    /// Number of differences.
    pub count: u64,
    /// Their sum \[cycles\].
    pub sum: u128,
    /// The largest \[cycles\].
    pub max: u64,
}

impl JitterRecord {
    /// Counts one difference \[cycles\].
    #[inline]
    pub fn record(&mut self, difference: u64) {
        self.count += 1;
        self.sum += u128::from(difference);
        self.max = self.max.max(difference);
    }

    /// Adds the differences of another record.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// Mean \[cycles\]; `None` without a difference.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

/// Latest network latency of every flow that ends in one shard.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowLatencies {
    /// Latency + 1 \[cycles\], 0 = none yet, `[class][source host]`; empty for classes without flows.
    last: Vec<Vec<u64>>,
}

impl FlowLatencies {
    /// Tracks the classes for which `is_flow` is true.
    pub fn new(host_count: usize, is_flow: impl IntoIterator<Item = bool>) -> Self {
        let rows = is_flow.into_iter();
        Self {
            last: rows
                .map(|flow| vec![0; if flow { host_count } else { 0 }])
                .collect(),
        }
    }

    /// Difference to the flow's previous latency \[cycles\], when there is one.
    #[inline]
    pub fn observe(&mut self, class: usize, source: usize, latency: u64) -> Option<u64> {
        let last = self.last.get_mut(class)?.get_mut(source)?;
        let previous = last.checked_sub(1);
        *last = latency + 1;
        previous.map(|previous| previous.abs_diff(latency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_taken_within_a_flow() {
        let mut flows = FlowLatencies::new(2, [true, false]);
        let mut jitter = JitterRecord::default();
        for (class, source, latency) in [(0, 0, 10), (0, 1, 90), (0, 0, 14), (0, 0, 8), (1, 0, 5)] {
            if let Some(difference) = flows.observe(class, source, latency) {
                jitter.record(difference);
            }
        }
        assert_eq!(
            jitter,
            JitterRecord {
                count: 2,
                sum: 10,
                max: 6
            }
        );
        assert_eq!(flows.observe(1, 0, 9), None);
        assert_eq!(JitterRecord::default().mean(), None);
    }
}
