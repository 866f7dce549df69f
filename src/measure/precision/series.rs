//! Counters of a run in batches of equal length: what intervals and the end of the warm-up are told from.
//!
//! Cost: nothing per packet (totals are read between two steps of the run); at most 4096 batches are kept.
//! When they are full, each two neighbours become one.

use serde::{Deserialize, Serialize};

/// Most batches kept: a power of two.
const MOST: usize = 4096;

/// What happened in one batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Length \[cycles\].
    pub cycles: u64,
    /// Flits created.
    pub created_flits: u64,
    /// Flits delivered.
    pub delivered_flits: u64,
    /// Flits of packets that switches dropped.
    pub dropped_flits: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Sum of their network latencies \[cycles\].
    pub network_latency: u64,
    /// Sum of their packet latencies \[cycles\].
    pub packet_latency: u64,
    /// Packets in source queues and in the fabric at the end, summed over the batches that make up this one.
    pub present: u64,
}

impl Batch {
    /// Both as one.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            cycles: self.cycles + other.cycles,
            created_flits: self.created_flits + other.created_flits,
            delivered_flits: self.delivered_flits + other.delivered_flits,
            dropped_flits: self.dropped_flits + other.dropped_flits,
            delivered: self.delivered + other.delivered,
            network_latency: self.network_latency + other.network_latency,
            packet_latency: self.packet_latency + other.packet_latency,
            present: self.present + other.present,
        }
    }
}

/// Batches of equal length, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchSeries {
    batches: Vec<Batch>,
    length: u64,
}

impl BatchSeries {
    /// No batch yet; the first ones last `length` cycles.
    pub fn new(length: u64) -> Self {
        let batches = Vec::new();
        Self { batches, length }
    }

    /// Length of a batch \[cycles\]; doubles whenever 4096 batches are full.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The batches so far.
    pub fn batches(&self) -> &[Batch] {
        &self.batches
    }

    /// Cycles of all batches.
    pub fn cycles(&self) -> u64 {
        self.batches.len() as u64 * self.length
    }

    /// Adds a batch of the current length.
    pub fn push(&mut self, batch: Batch) {
        self.batches.push(batch);
        if self.batches.len() == MOST {
            for at in 0..MOST / 2 {
                self.batches[at] = self.batches[2 * at].join(self.batches[2 * at + 1]);
            }
            self.batches.truncate(MOST / 2);
            self.length *= 2;
        }
    }

    /// At most `most` batches as equal as can be, and at least half as many where there are: the last batches, joined.
    pub fn joined(&self, most: usize) -> Vec<Batch> {
        let size = self.batches.len().div_ceil(most).max(1);
        self.grouped(self.batches.len() / size, size).collect()
    }

    /// The last `groups * size` batches, `size` at a time.
    pub(super) fn grouped(&self, groups: usize, size: usize) -> impl Iterator<Item = Batch> {
        // what does not fill a group is left out at the start, next to the warm-up
        let start = self.batches.len() - groups * size;
        let chunks = self.batches[start..].chunks_exact(size);
        chunks.map(|chunk| chunk.iter().copied().fold(Batch::default(), Batch::join))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_series_gets_coarser_and_loses_nothing() {
        let mut series = BatchSeries::new(16);
        let mut cycles = 0;
        while cycles < 1_000_000 {
            let length = series.length();
            series.push(Batch {
                cycles: length,
                delivered: length,
                present: 1,
                ..Batch::default()
            });
            cycles += length;
        }
        assert_eq!(series.cycles(), cycles);
        assert!((MOST / 2..MOST).contains(&series.batches().len()));
        let total: u64 = series.batches().iter().map(|batch| batch.delivered).sum();
        assert_eq!(total, cycles);
        let first = series.batches()[0];
        assert_eq!((first.delivered, series.length()), (256, 256));
        assert_eq!(first.present, 16);
        let groups: Vec<_> = series.grouped(3, 10).collect();
        assert_eq!(groups.len(), 3);
        assert_eq!((groups[0].delivered, groups[0].cycles), (2560, 2560));
    }
}
