//! What sources make without a fabric: packets per interval, and how these vary at longer scales.
//!
//! The sources are those of a run, with their streams; packets that a run would reject at a full source queue count.

use super::hurst::{Hurst, Scales, rescaled_range, variance_time};
use crate::ids::HostId;
use crate::plan::ClassPlan;
use crate::traffic::{Gap, Source};
use serde::Serialize;

/// Scales at which variability is told \[intervals\]: those of seed-003 E4.
pub const SCALES: [u64; 3] = [1, 10, 100];

/// Equal intervals from cycle 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// Length of one \[cycles\], at least 1.
    pub cycles: u64,
    /// How many.
    pub count: usize,
}

/// Packets that `host` makes in each of the intervals, of the `class_index`-th class.
///
/// # Errors
/// When the times of packets depend on the fabric: the process is always backlogged.
pub fn packets(
    seed: u64,
    class_index: usize,
    class: &ClassPlan,
    host: HostId,
    intervals: Intervals,
) -> Result<Vec<u64>, BackloggedError> {
    let mut source = Source::new(seed, class_index, class, host);
    let mut counts = vec![0; intervals.count];
    let mut now = 0u64;
    let mut left = class.packets_per_host.unwrap_or(u64::MAX);
    while left > 0 {
        match source.next_gap(class) {
            Gap::After(gap) => now = now.saturating_add(gap),
            Gap::WhenSent => return Err(BackloggedError),
            Gap::Never => break,
        }
        let Some(count) = counts.get_mut((now / intervals.cycles) as usize) else {
            break;
        };
        *count += 1;
        left -= 1;
    }
    Ok(counts)
}

/// Packets are made when the fabric takes them, which no process says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its packets are made when the fabric takes them")]
pub struct BackloggedError;

/// Counts at one scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Variability {
    /// Intervals that are joined.
    pub scale: u64,
    /// Mean number of packets.
    pub mean: f64,
    /// Standard deviation over the mean; nothing without two counts or without a packet.
    pub normalised_deviation: Option<f64>,
}

/// How a series of counts varies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// Packets in all.
    pub packets: u64,
    /// By scale.
    pub scales: Vec<Variability>,
    /// Hurst parameter by the variance of means; nothing for fewer than 16,384 counts, or equal ones.
    pub variance_time: Option<Hurst>,
    /// Hurst parameter by rescaled ranges.
    pub rescaled_range: Option<Hurst>,
}

impl Profile {
    /// The profile of these counts; O(n log n).
    pub fn of(counts: &[u64]) -> Self {
        Self {
            packets: counts.iter().sum(),
            scales: SCALES.map(|scale| variability(counts, scale)).to_vec(),
            variance_time: variance_time(counts, Scales::of_variances(counts.len())),
            rescaled_range: rescaled_range(counts, Scales::of_ranges(counts.len())),
        }
    }
}

/// Mean and deviation of whole groups of `scale` counts.
fn variability(counts: &[u64], scale: u64) -> Variability {
    let groups = counts.chunks_exact(scale as usize);
    let sums: Vec<f64> = groups
        .map(|group| group.iter().sum::<u64>() as f64)
        .collect();
    let count = sums.len() as f64;
    let mean = sums.iter().sum::<f64>() / count.max(1.0);
    let squares: f64 = sums.iter().map(|sum| (sum - mean).powi(2)).sum();
    let is_known = sums.len() > 1 && mean > 0.0;
    Variability {
        scale,
        mean,
        normalised_deviation: is_known.then(|| (squares / (count - 1.0)).sqrt() / mean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_join_whole_groups() {
        // ten, fourteen, ten, .. in pairs; the last count is in no group of ten
        let counts: Vec<u64> = (0..2001).map(|i| 10 + 4 * (i / 10 % 2)).collect();
        let profile = Profile::of(&counts);
        assert_eq!(profile.packets, 24_010);
        let means: Vec<f64> = profile.scales.iter().map(|at| at.mean).collect();
        assert!((means[0] - 24_010.0 / 2001.0).abs() < 1e-12);
        assert_eq!(means[1..], [120.0, 1200.0]);
        let deviation = profile.scales[1].normalised_deviation.expect("200 groups");
        assert!((deviation - 20.0 / 120.0 * (200.0_f64 / 199.0).sqrt()).abs() < 1e-12);
        assert_eq!(profile.scales[2].normalised_deviation, Some(0.0));
        assert_eq!(
            (profile.variance_time, profile.rescaled_range),
            (None, None)
        );
        assert_eq!(Profile::of(&[0; 300]).scales[1].normalised_deviation, None);
        assert_eq!(Profile::of(&[7]).scales[0].normalised_deviation, None);
    }
}
