//! A latency histogram: `HdrHistogram` with three significant digits.
//!
//! Values 0 to 2^40 cycles; larger ones count as 2^40, so recording never fails and never allocates. Values
//! below 2048 are exact, larger ones within 0.1 %.
//!
//! Cost: 256 KiB per histogram, touched where values fall; O(1) to record.

use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Deserializer as V2Deserializer, Serializer as _, V2Serializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// Largest value that is told apart \[cycles\].
pub const LARGEST: u64 = 1 << 40;

/// Significant decimal digits kept.
const DIGITS: u8 = 3;

/// A histogram of cycle counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram(Hdr<u64>);

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// As `HdrHistogram` V2 bytes.
impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(&self.0, &mut bytes)
            .map_err(ser::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Vec::<u8>::deserialize(deserializer)?;
        let read = V2Deserializer::new().deserialize(&mut bytes.as_slice());
        let mut histogram = Self::new();
        let counts = read.map_err(de::Error::custom)?;
        histogram.0.add(counts).map_err(de::Error::custom)?;
        Ok(histogram)
    }
}

impl Histogram {
    /// An empty histogram.
    ///
    /// # Panics
    /// Never: the bounds are constants that fit.
    pub fn new() -> Self {
        Self(Hdr::new_with_bounds(1, LARGEST, DIGITS).expect("constant bounds are valid"))
    }

    /// Counts a value \[cycles\] `count` times.
    #[inline]
    pub fn record(&mut self, value: u64, count: u64) {
        self.0.saturating_record_n(value, count);
    }

    /// Adds the counts of another histogram.
    ///
    /// # Panics
    /// Never: all histograms have the same bounds.
    pub fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("equal bounds");
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Smallest recorded value (as the histogram resolves it) such that at least the fraction `quantile`
    /// of the values are not larger \[cycles\]; 0 when empty.
    pub fn quantile(&self, quantile: f64) -> u64 {
        self.0.value_at_quantile(quantile)
    }

    /// The wrapped histogram, for the log writer.
    pub fn inner(&self) -> &Hdr<u64> {
        &self.0
    }
}
