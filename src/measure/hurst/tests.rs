//! Both estimators on exact fractional Gaussian noise, on counts without memory, and on the self-similar sources.
//!
//! The noise comes from the circulant of its covariances (Davies and Harte), which is exact.
//!
//! References: [`DAVIES_HARTE`](crate::references::DAVIES_HARTE)

use super::*;
use crate::measure::precision::replications;
use crate::registry::Arguments;
use crate::rng::{Purpose, Stream, stream, unit_interval};
use crate::traffic::{Gap, OfferedProcess, PROCESSES, ProcessContext};

/// Discrete Fourier transform of (real, imaginary), of a length that is a power of two.
fn transform(values: &mut [(f64, f64)]) {
    let count = values.len();
    let shift = usize::BITS - count.trailing_zeros();
    for i in 0..count {
        let j = i.reverse_bits() >> shift;
        if i < j {
            values.swap(i, j);
        }
    }
    let mut half = 1;
    while half < count {
        for k in 0..half {
            let angle = -PI * k as f64 / half as f64;
            let (sin, cos) = (libm::sin(angle), libm::cos(angle));
            for i in (k..count).step_by(2 * half) {
                let (a, b) = (values[i], values[i + half]);
                let turned = (b.0 * cos - b.1 * sin, b.0 * sin + b.1 * cos);
                values[i] = (a.0 + turned.0, a.1 + turned.1);
                values[i + half] = (a.0 - turned.0, a.1 - turned.1);
            }
        }
        half *= 2;
    }
}

/// Fractional Gaussian noise with variance 1.
fn noise(count: usize, h: f64, rng: &mut Stream) -> Vec<f64> {
    let power = |k: f64| libm::pow(k, 2.0 * h);
    let covariance = |k: f64| f64::midpoint(power(k + 1.0), power((k - 1.0).abs())) - power(k);
    let size = 2 * count;
    let mut circulant: Vec<_> = (0..size)
        .map(|i| (covariance(i.min(size - i) as f64), 0.0))
        .collect();
    transform(&mut circulant);
    let mut normal = || {
        let radius = f64::sqrt(-2.0 * libm::log(unit_interval(rng)));
        radius * libm::cos(2.0 * PI * unit_interval(rng))
    };
    let mut values: Vec<_> = circulant
        .iter()
        .map(|(eigenvalue, _)| {
            assert!(*eigenvalue > -1e-9, "H {h}: not a covariance");
            let root = f64::sqrt(eigenvalue.max(0.0) / size as f64);
            (root * normal(), root * normal())
        })
        .collect();
    transform(&mut values);
    values
        .into_iter()
        .take(count)
        .map(|(real, _)| real)
        .collect()
}

/// The noise as counts: large enough that rounding does not matter.
fn noise_counts(count: usize, h: f64, id: u64) -> Vec<u64> {
    let noise = noise(count, h, &mut stream(7, Purpose::Arrivals, id));
    let count = |value: f64| (1e6 + 1e4 * value).round() as u64;
    noise.into_iter().map(count).collect()
}

/// Packets per interval of one source.
fn packets(
    text: &str,
    context: ProcessContext,
    id: u64,
    (cycles, intervals): (u64, usize),
) -> Vec<u64> {
    let (name, _) = text.split_once('(').expect("NAME(...)");
    let entry = PROCESSES.find(name).expect("registered");
    let arguments = Arguments {
        text: &text[name.len()..],
    };
    let OfferedProcess { process, .. } = (entry.build)(arguments, context).expect("arguments fit");
    let mut rng = stream(1, Purpose::Arrivals, id);
    let mut state = process.start(&mut rng);
    let mut counts = vec![0; intervals];
    let mut now = 0;
    while let Gap::After(gap) = process.gap(&mut state, &mut rng) {
        now += gap;
        match counts.get_mut((now / cycles) as usize) {
            Some(count) => *count += 1,
            None => break,
        }
    }
    counts
}

/// Slots of one cycle: a packet of a flit every second cycle.
const FLIT: ProcessContext = ProcessContext {
    mean_size: 1.0,
    cycles_per_flit: 1,
};

/// Mean of both estimates over such series with its confidence interval, and how many intervals of single estimates cover h.
fn means(h: f64, series: impl Iterator<Item = Vec<u64>>) -> [(f64, f64, usize); 2] {
    let estimates: Vec<[Hurst; 2]> = series
        .map(|counts| {
            let variances = variance_time(&counts, Scales::of_variances(counts.len()));
            let ranges = rescaled_range(&counts, Scales::of_ranges(counts.len()));
            [
                variances.expect("long enough"),
                ranges.expect("long enough"),
            ]
        })
        .collect();
    [0, 1].map(|which| {
        let values: Vec<f64> = estimates.iter().map(|pair| pair[which].value).collect();
        let interval = replications(&values, CONFIDENCE).expect("several");
        let covers = |pair: &&[Hurst; 2]| (pair[which].value - h).abs() <= pair[which].half_width;
        let covered = estimates.iter().filter(covers).count();
        (
            interval.mean,
            interval.half_width.expect("several"),
            covered,
        )
    })
}

#[test]
fn both_find_h_of_fractional_gaussian_noise() {
    for h in [0.5, 0.6, 0.75, 0.9] {
        let found = means(h, (0..24).map(|id| noise_counts(1 << 14, h, id)));
        for (mean, half_width, covered) in found {
            assert!((mean - h).abs() < 0.02, "{h}: {mean} +- {half_width}");
            // of 24 intervals of 95 %, fewer than 19 cover h in one case of a thousand
            assert!(covered >= 19, "{h}: {covered}");
        }
    }
}

#[test]
fn counts_without_memory_have_one_half() {
    for text in [
        "Poisson(load: 0.1)",
        "Bernoulli(load: 0.1)",
        "NormalPoisson(load: 0.1, window: 100)",
    ] {
        let found = means(0.5, (0..8).map(|id| packets(text, FLIT, id, (50, 1 << 14))));
        for (mean, half_width, _) in found {
            assert!((mean - 0.5).abs() < 0.03, "{text}: {mean} +- {half_width}");
        }
    }
}

/// seed-003 C11, for the shape of the source: H 0.75 +- 0.1 by the slope of the variance.
#[test]
fn a_self_similar_source_has_its_h() {
    let found = means(
        0.75,
        (0..6).map(|id| packets("SelfSimilar(load: 0.5)", FLIT, id, (200, 1 << 14))),
    );
    for (mean, half_width, _) in found {
        assert!((mean - 0.75).abs() < 0.1, "{mean} +- {half_width}");
    }
}

/// All that is asked of the sources: the mean of 20 estimates within 0.03, by both estimators.
#[test]
#[ignore = "dev, 1 minute: 60 series of 26 million slots; scripts/on_demand.sh self_similar_sources_have_their_h"]
fn self_similar_sources_have_their_h() {
    for (shape, h) in [(1.8, 0.6), (1.5, 0.75), (1.2, 0.9)] {
        let text = format!("SelfSimilar(load: 0.5, shape: {shape})");
        let found = means(
            h,
            (0..20).map(|id| packets(&text, FLIT, id, (200, 1 << 17))),
        );
        for (mean, half_width, _) in found {
            assert!((mean - h).abs() < 0.03, "{h}: {mean} +- {half_width}");
        }
    }
}

/// Standard deviation of counts over their mean.
fn normalised_deviation(counts: &[u64]) -> f64 {
    let n = counts.len() as f64;
    let mean = counts.iter().sum::<u64>() as f64 / n;
    let squares: f64 = counts
        .iter()
        .map(|&count| (count as f64 - mean).powi(2))
        .sum();
    f64::sqrt(squares / (n - 1.0)) / mean
}

/// seed-003 C12: how much of the deviation is left in intervals a hundred times as long. Exactly self-similar counts keep
/// 100^(H - 1): 0.32 at the shape 1.5 of the source, 0.63 at 1.2; the 0.5 that the check asks for needs H = 0.85. Poisson's keep
/// 0.1.
#[test]
fn variability_stays_at_scale_100() {
    for (text, least, most) in [
        ("SelfSimilar(load: 0.5)", 0.33, 0.45),
        ("SelfSimilar(load: 0.5, shape: 1.2)", 0.5, 0.75),
        ("Poisson(load: 0.5)", 0.09, 0.11),
    ] {
        let ratios: Vec<f64> = (0..8)
            .map(|id| {
                let counts = packets(text, FLIT, id, (20, 100_000));
                let long: Vec<u64> = counts.chunks(100).map(|all| all.iter().sum()).collect();
                normalised_deviation(&long) / normalised_deviation(&counts)
            })
            .collect();
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        assert!((least..most).contains(&mean), "{text}: {mean}");
    }
}

#[test]
fn what_cannot_be_estimated_is_not() {
    let scales = Scales::of_variances;
    let same = vec![3; LEAST_COUNTS];
    assert_eq!(variance_time(&same, scales(LEAST_COUNTS)), None);
    let ranges = Scales::of_ranges(LEAST_COUNTS);
    assert_eq!(rescaled_range(&same, ranges), None);
    assert_eq!(variance_time(&[], scales(0)), None);
    let noise = noise_counts(LEAST_COUNTS, 0.6, 1);
    let of = |count: usize| {
        let counts = &noise[..count];
        let variances = variance_time(counts, scales(count));
        let ranges = rescaled_range(counts, Scales::of_ranges(count));
        (variances.is_some(), ranges.is_some())
    };
    assert_eq!(of(LEAST_COUNTS), (true, true));
    assert_eq!(of(LEAST_COUNTS - 1), (false, true));
    assert_eq!(of(LEAST_COUNTS / 2 - 1), (false, false));
    let endless = Scales {
        smallest: 0,
        largest: usize::MAX,
    };
    assert_eq!(variance_time(&noise, endless), None);
}
