//! The end of the warm-up: MSER-5 on the packets present.
//!
//! # Algorithm
//! 1. The observations are the packets in source queues and fabric at the ends of batches: a state of the system
//!    that is always defined, also where a batch delivers nothing, and follows the mean latency (Little's law).
//!    Five at a time are averaged.
//! 2. For each number `d` of averages left out at the start, the statistic is the sum of squared deviations of
//!    the others from their own mean, over the square of their number: the squared standard error of the mean if
//!    they were independent. The truncation is the `d` where it is smallest.
//! 3. A smallest value in the second half of the series means that the transient is not over: there is no answer.
//!
//! # Deviations
//! None.
//!
//! References: [`MSER`](crate::references::MSER)

use super::series::BatchSeries;

/// Batches that make one observation.
const TOGETHER: usize = 5;
/// Fewest observations the statistic is trusted with.
const LEAST: usize = 32;

/// Cycles at the start of the series that belong to the transient; `None` while it is not over.
pub fn warm_up(series: &BatchSeries) -> Option<u64> {
    let batches = series.batches().chunks_exact(TOGETHER);
    let observations: Vec<f64> = batches
        .map(|batches| batches.iter().map(|batch| batch.present as f64).sum())
        .collect();
    if observations.len() < LEAST {
        return None;
    }
    let truncated = mser(&observations);
    (truncated <= observations.len() / 2)
        .then(|| truncated as u64 * TOGETHER as u64 * series.length())
}

/// Observations to leave out at the start, by the smallest marginal standard error.
fn mser(observations: &[f64]) -> usize {
    // five observations at the end always agree by chance now and then
    let last = observations.len() - TOGETHER;
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, last);
    for (start, value) in observations.iter().enumerate().rev() {
        sum += value;
        squares += value * value;
        let count = (observations.len() - start) as f64;
        let statistic = (squares - sum * sum / count).max(0.0) / (count * count);
        if start <= last && statistic <= best.0 {
            best = (statistic, start);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::precision::Batch;
    use crate::rng::{Purpose, below, stream};

    fn series(present: impl Iterator<Item = u64>) -> BatchSeries {
        let mut series = BatchSeries::new(10);
        for present in present {
            series.push(Batch {
                present,
                ..Batch::default()
            });
        }
        series
    }

    /// Fills up to 1000 packets with a time constant of 60 batches, with noise.
    fn filling(seed: u64, batches: u32) -> BatchSeries {
        let mut rng = stream(seed, Purpose::Arrivals, 0);
        let present = (0..batches).map(|at| {
            let level = 1000.0 * (1.0 - libm::exp(-f64::from(at) / 60.0));
            level as u64 + u64::from(below(&mut rng, 41))
        });
        series(present.collect::<Vec<_>>().into_iter())
    }

    #[test]
    fn the_transient_is_cut_off() {
        for seed in 0..20 {
            let cut = warm_up(&filling(seed, 2000)).expect("most of it is stationary") / 10;
            // after 4 time constants 18 of 1000 packets are missing, less than the noise
            assert!((120..=700).contains(&cut), "{seed}: {cut} batches");
        }
    }

    #[test]
    fn there_is_no_answer_while_the_transient_lasts() {
        assert_eq!(warm_up(&filling(1, 200)), None);
        assert_eq!(warm_up(&series(0..2000)), None, "a queue that grows");
        assert_eq!(warm_up(&series((0..150).map(|_| 7))), None, "too short");
        assert_eq!(warm_up(&series((0..160).map(|_| 7))), Some(0));
    }
}
