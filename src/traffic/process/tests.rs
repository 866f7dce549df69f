//! Mean, variance and shape of every process.

use super::PROCESSES;
use crate::registry::Arguments;
use crate::rng::{Purpose, stream};
use crate::traffic::{Gap, OfferedProcess, ProcessContext};

const CONTEXT: ProcessContext = ProcessContext {
    mean_size: 4.0,
    cycles_per_flit: 2,
};

fn build(name: &str, text: &str, context: ProcessContext) -> Result<OfferedProcess, String> {
    let entry = PROCESSES.find(name).expect("registered");
    (entry.build)(Arguments { text }, context).map_err(|error| error.message)
}

/// First gap and the `count` gaps after it.
fn gaps(name: &str, text: &str, context: ProcessContext, count: usize) -> (u64, Vec<u64>) {
    let OfferedProcess { process, .. } = build(name, text, context).unwrap();
    let mut rng = stream(11, Purpose::Arrivals, 5);
    let mut state = process.start(&mut rng);
    let mut next = || match process.gap(&mut state, &mut rng) {
        Gap::After(gap) => gap,
        other => panic!("{other:?}"),
    };
    (next(), (0..count).map(|_| next()).collect())
}

fn mean_and_variance(values: &[u64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<u64>() as f64 / n;
    let square: f64 = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum();
    (mean, square / n)
}

#[track_caller]
fn close(actual: f64, expected: f64, tolerance: f64) {
    assert!(
        (actual - expected).abs() <= tolerance * expected,
        "{actual} is not {expected} within {tolerance}"
    );
}

/// Chi-square of gaps against the probabilities of gaps 1, 2, .., the last class is all the rest.
fn chi_square(values: &[u64], probabilities: &[f64]) -> f64 {
    let mut counts = vec![0u32; probabilities.len() + 1];
    for &value in values {
        counts[(value as usize - 1).min(probabilities.len())] += 1;
    }
    let rest = 1.0 - probabilities.iter().sum::<f64>();
    let n = values.len() as f64;
    let all = probabilities.iter().copied().chain([rest]);
    counts
        .iter()
        .zip(all)
        .map(|(&count, p)| (f64::from(count) - n * p).powi(2) / (n * p))
        .sum()
}

#[test]
fn bernoulli_gaps_are_geometric() {
    let p = 0.4 / 8.0;
    let (_, values) = gaps("Bernoulli", "(load: 0.4)", CONTEXT, 200_000);
    let (mean, variance) = mean_and_variance(&values);
    close(mean, 1.0 / p, 0.01);
    close(variance, (1.0 - p) / (p * p), 0.03);
    let law: Vec<f64> = (0..49).map(|k| p * (1.0 - p).powi(k)).collect();
    // 49 degrees of freedom: 85.4 is the 0.1 % point
    assert!(chi_square(&values, &law) < 85.4);
}

#[test]
fn bernoulli_with_probability_one_sends_every_cycle() {
    let context = ProcessContext {
        mean_size: 1.0,
        cycles_per_flit: 1,
    };
    let (first, values) = gaps("Bernoulli", "(load: 1.0)", context, 100);
    assert_eq!(first, 0);
    assert!(values.iter().all(|&gap| gap == 1));
}

#[test]
fn first_bernoulli_gap_may_be_zero() {
    let entry = build("Bernoulli", "(load: 1.0)", CONTEXT).unwrap();
    let firsts: Vec<u64> = (0..100_000)
        .map(|id| {
            let mut rng = stream(1, Purpose::Arrivals, id);
            let mut state = entry.process.start(&mut rng);
            match entry.process.gap(&mut state, &mut rng) {
                Gap::After(gap) => gap + 1,
                other => panic!("{other:?}"),
            }
        })
        .collect();
    close(mean_and_variance(&firsts).0, 8.0, 0.02);
    assert_eq!(firsts.iter().min(), Some(&1));
}

#[test]
fn poisson_counts_have_equal_mean_and_variance() {
    let (_, values) = gaps("Poisson", "(load: 0.08)", CONTEXT, 200_000);
    let (mean, variance) = mean_and_variance(&values);
    close(mean, 100.0, 0.01);
    close(variance, 100.0 * 100.0, 0.03);
}

#[test]
fn poisson_gaps_are_exponential_between_cycle_starts() {
    // Where arrivals rarely share a cycle, the gap of floors of two arrivals u and u + x has probability
    // P(g) = E[(1 - e^-r)] smoothed over the uniform fraction: (2 sinh(r/2))^2 / r * e^(-r g), and the arrivals
    // with gap 0 are moved on; both are checked in classes of 100 cycles, where they do not matter.
    let rate = 0.002;
    let context = ProcessContext {
        mean_size: 1.0,
        cycles_per_flit: 1,
    };
    let (_, values) = gaps("Poisson", "(load: 0.002)", context, 100_000);
    let classes: Vec<u64> = values.iter().map(|gap| gap / 100 + 1).collect();
    let law: Vec<f64> = (0..19)
        .map(|k| {
            let tail = |x: f64| libm::exp(-rate * x);
            tail((100.0 * f64::from(k) - 0.5).max(0.0)) - tail(100.0 * f64::from(k) + 99.5)
        })
        .collect();
    // 19 degrees of freedom: 43.8 is the 0.1 % point
    let chi = chi_square(&classes, &law);
    assert!(chi < 43.8, "{chi}");
}

#[test]
fn poisson_keeps_its_rate_near_one_packet_per_cycle() {
    let context = ProcessContext {
        mean_size: 1.0,
        cycles_per_flit: 1,
    };
    let (_, values) = gaps("Poisson", "(load: 0.9)", context, 1_000_000);
    close(mean_and_variance(&values).0, 1.0 / 0.9, 0.005);
    assert!(values.iter().all(|&gap| gap >= 1));
}

#[test]
fn constant_rate_is_exact_in_the_long_run() {
    let (first, values) = gaps("ConstantRate", "(load: 0.3)", CONTEXT, 30_000);
    assert!(first <= 26);
    assert!(values.iter().all(|gap| [26, 27].contains(gap)));
    let total: u64 = values.iter().sum();
    assert!(total.abs_diff(800_000) <= 1, "{total}");
    let (first, _) = gaps("ConstantRate", "(load: 0.3, phase: Zero)", CONTEXT, 1);
    assert_eq!(first, 0);
}

#[test]
fn on_off_has_its_load_and_burst_length() {
    let (_, values) = gaps(
        "OnOff",
        "(load: 0.2, burst: 10, peak: 0.8)",
        CONTEXT,
        400_000,
    );
    close(mean_and_variance(&values).0, 40.0, 0.02);
    // an interval within a burst has 10 cycles; an off gap of 0 cycles has probability 1/301
    let ends = values.iter().filter(|&&gap| gap > 10).count() as f64;
    close(values.len() as f64 / ends, 10.0 * 301.0 / 300.0, 0.02);
}

#[test]
fn on_off_without_silence_is_constant() {
    let (_, values) = gaps("OnOff", "(load: 0.5, burst: 3, peak: 0.5)", CONTEXT, 1000);
    assert!(values.iter().all(|&gap| gap == 16));
}

/// Mean and variance of the packets in that many windows of that many cycles.
fn counts_in_windows(name: &str, text: &str, cycles: u64, windows: u64) -> (f64, f64) {
    let OfferedProcess { process, .. } = build(name, text, CONTEXT).unwrap();
    let mut rng = stream(13, Purpose::Arrivals, 1);
    let mut state = process.start(&mut rng);
    let mut counts = vec![0; windows as usize];
    let mut now = 0;
    loop {
        match process.gap(&mut state, &mut rng) {
            Gap::After(gap) => now += gap,
            other => panic!("{other:?}"),
        }
        match counts.get_mut((now / cycles) as usize) {
            Some(count) => *count += 1,
            None => return mean_and_variance(&counts),
        }
    }
}

#[test]
fn normal_gaps_have_their_mean_and_deviation() {
    // mean 100 cycles; nothing is cut
    let (_, values) = gaps("NormalGaps", "(load: 0.08)", CONTEXT, 200_000);
    let (mean, variance) = mean_and_variance(&values);
    close(mean, 100.0, 0.001);
    // rounding of gaps adds two variances of a uniform fraction
    close(variance, 100.0 + 2.0 / 12.0, 0.02);
    let text = "(load: 0.08, deviation: 0)";
    let (_, values) = gaps("NormalGaps", text, CONTEXT, 1000);
    assert!(values.iter().all(|gap| (99..=101).contains(gap)));
}

#[test]
fn the_cut_keeps_the_mean_of_normal_gaps() {
    // mean 10 cycles: a deviation of 30 is cut in half its cases, and the rest is nearly exponential
    for deviation in [3.0, 10.0, 30.0, 200.0] {
        let text = format!("(load: 0.8, deviation: {deviation})");
        let (_, values) = gaps("NormalGaps", &text, CONTEXT, 200_000);
        assert!(values.iter().all(|&gap| gap >= 1), "{text}");
        close(mean_and_variance(&values).0, 10.0, 0.01);
    }
    let error = build("NormalGaps", "(load: 0.8, deviation: 300)", CONTEXT).unwrap_err();
    assert!(error.contains("at most 270.000 cycles"), "{error}");
}

/// Of stationary sources as many are in any cycle, the first one too: the first gap has mean (m^2 + s^2) / 2m, less the
/// half of a cycle by which it is rounded down.
#[test]
fn normal_gaps_start_stationary() {
    let offered = build("NormalGaps", "(load: 0.08, deviation: 50)", CONTEXT).unwrap();
    let mut firsts = Vec::new();
    let mut gaps = Vec::new();
    for id in 0..50_000 {
        let mut rng = stream(1, Purpose::Arrivals, id);
        let mut state = offered.process.start(&mut rng);
        for list in [&mut firsts, &mut gaps] {
            match offered.process.gap(&mut state, &mut rng) {
                Gap::After(gap) => list.push(gap),
                other => panic!("{other:?}"),
            }
        }
    }
    let (mean, variance) = mean_and_variance(&gaps);
    let expected = (mean * mean + variance) / (2.0 * mean) - 0.5;
    close(mean_and_variance(&firsts).0, expected, 0.02);
    assert!(firsts.contains(&0));
}

#[test]
fn normal_poisson_counts_are_normal_per_window() {
    let text = "(load: 0.08, window: 5000)";
    let (mean, variance) = counts_in_windows("NormalPoisson", text, 5000, 4000);
    close(mean, 50.0, 0.01);
    close(variance, 50.0, 0.1);
    // uniform within a window: the counts of its fifths are nearly Poisson's
    let (mean, variance) = counts_in_windows("NormalPoisson", text, 1000, 20_000);
    close(mean, 10.0, 0.01);
    close(variance, 10.0, 0.05);
}

#[test]
fn normal_poisson_keeps_its_rate_at_high_loads() {
    let context = ProcessContext {
        mean_size: 1.0,
        cycles_per_flit: 1,
    };
    let text = "(load: 0.9, window: 12)";
    let (_, values) = gaps("NormalPoisson", text, context, 400_000);
    close(mean_and_variance(&values).0, 1.0 / 0.9, 0.005);
    assert!(values.iter().all(|&gap| gap >= 1));
    let error = build("NormalPoisson", "(load: 0.9, window: 11)", context).unwrap_err();
    assert!(error.contains("use at least 12 cycles"), "{error}");
}

#[test]
fn self_similar_packets_keep_to_their_slots_and_load() {
    // an interval of 40 cycles, slots of 20
    let text = "(load: 0.2, shape: 1.8)";
    let (first, values) = gaps("SelfSimilar", text, CONTEXT, 400_000);
    assert!((first + values[0]) > 0);
    assert!(values.iter().all(|gap| gap.is_multiple_of(20)));
    close(mean_and_variance(&values).0, 40.0, 0.05);
    // slots that are no whole cycles
    let (_, values) = gaps("SelfSimilar", "(load: 0.3, shape: 1.8)", CONTEXT, 1000);
    let within = values.iter().filter(|&&gap| gap < 26).count();
    assert!(within > 500 && values.iter().all(|&gap| gap >= 13));
}

/// The share of a day that each of many sources has is what `load` says, over all of them.
#[test]
fn self_similar_sources_have_their_load_together() {
    for (text, expected, tolerance) in [
        ("(load: 0.2)", 0.2, 0.01),
        ("(load: 0.2, shape: 1.7, burst: 20, sources: 3)", 0.2, 0.01),
        ("(load: 0.2, per_slot: 0.8)", 0.2, 0.01),
        // its counter starts at 0: 2 % less in the first 5000 slots
        ("(load: 0.2, mode: Legacy)", 0.2 * 0.5723 / 0.5, 0.04),
    ] {
        let OfferedProcess { process, load } = build("SelfSimilar", text, CONTEXT).unwrap();
        close(load, expected, 0.001);
        let mut packets = 0;
        for id in 0..300 {
            let mut rng = stream(4, Purpose::Arrivals, id);
            let mut state = process.start(&mut rng);
            let mut now = 0;
            while let Gap::After(gap) = process.gap(&mut state, &mut rng) {
                now += gap;
                if now >= 100_000 {
                    break;
                }
                packets += 1;
            }
        }
        close(f64::from(packets) * 8.0 / 3e7, expected, tolerance);
    }
}

#[test]
fn self_similar_sources_that_cannot_be_are_refused() {
    for (text, expected) in [
        ("(load: 0.2, shape: 2.0)", "below 2"),
        ("(load: 0.2, shape: 1.0)", "above 1"),
        ("(load: 0.2, shape: NaN)", "`shape` is NaN"),
        ("(load: 0.2, sources: 0)", "expected 1 to 10000"),
        ("(load: 0.2, per_slot: 1.0)", "above 0 and below 1"),
        (
            "(load: 0.2, per_slot: 0.99991)",
            "made of more than 10000 bursts",
        ),
        ("(load: 0.2, sources: 1, per_slot: 0.9)", "below 0.546"),
        ("(load: 0.2, burst: 1.0)", "above 1 packet"),
        ("(load: 0.2, burst: 1e9)", "below 10^9"),
        ("(load: 0.2, burst: 3e9)", "below 10^9"),
        ("(load: 0.2, burst: 4, mode: Legacy)", "mode Legacy has"),
        ("(load: 0.9, mode: Legacy)", "a load of 1.030"),
        ("(load: 1.0, per_slot: 0.1)", "slots would take 0.800"),
        ("(load: 1e-12)", "less than one packet"),
    ] {
        let error = build("SelfSimilar", text, CONTEXT).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn saturating_starts_in_cycle_zero_and_waits_for_the_channel() {
    let offered = build("Saturating", "", CONTEXT).unwrap();
    let mut rng = stream(1, Purpose::Arrivals, 0);
    let mut state = offered.process.start(&mut rng);
    assert_eq!(offered.process.gap(&mut state, &mut rng), Gap::After(0));
    assert_eq!(offered.process.gap(&mut state, &mut rng), Gap::WhenSent);
    assert!((offered.load - 1.0).abs() < f64::EPSILON);
}

#[test]
fn loads_outside_their_range_are_refused() {
    for name in ["Bernoulli", "Poisson", "ConstantRate", "NormalGaps"] {
        for load in ["0.0", "1.01", "-0.5", "NaN", "inf", "1e-12"] {
            let text = format!("(load: {load})");
            assert!(build(name, &text, CONTEXT).is_err(), "{name}{text}");
        }
        assert!(build(name, "(load: 0.5, speed: 2)", CONTEXT).is_err());
        assert!(build(name, "", CONTEXT).is_err());
    }
    let error = build("Bernoulli", "(load: 1.5)", CONTEXT).unwrap_err();
    assert_eq!(
        error,
        "`load` is 1.5; it must be above 0 and at most 1 (fraction of the link rate)"
    );
    assert!(build("OnOff", "(load: 0.5, burst: 2, peak: 0.4)", CONTEXT).is_err());
    assert!(build("OnOff", "(load: 0.5, burst: 0.5)", CONTEXT).is_err());
}

#[test]
fn entries_are_sorted_and_unique() {
    let names: Vec<_> = PROCESSES.names().collect();
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
}
