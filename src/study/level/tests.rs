//! Judgements of made-up runs: hosts that fall short are found, noise is none.

use super::*;
use crate::report::result::{CycleCounts, TimelineRow};
use crate::rng::{Purpose, below, stream};
use crate::study::shortfall::HostFlits;

const TOLERANCE: f64 = 0.01;
const HOSTS: usize = 30;

/// Thirty hosts that create 1000 flits, and get as many, but for noise; the first `limited` of them as `end` miss
/// `missing` more.
fn sample(seed: usize, end: End, limited: usize, missing: u64) -> Sample {
    let mut rng = stream(seed as u64, Purpose::Arrivals, 0);
    let mut noisy = |is_limited: bool| {
        950 + u64::from(below(&mut rng, 101)) - if is_limited { missing } else { 0 }
    };
    let host = |number: usize| HostFlits {
        created: 1000,
        accepted: noisy(end == End::Source && number < limited),
        destined: 1000,
        received: noisy(end == End::Destination && number < limited),
    };
    Sample {
        offered: 0.1,
        accepted: 0.1,
        hosts: (0..HOSTS).map(host).collect(),
        ..Sample::default()
    }
}

fn level(first: usize, runs: usize, end: End, limited: usize, missing: u64) -> Level {
    let seeds = first..first + runs;
    Level {
        load: 0.1,
        samples: seeds
            .map(|seed| sample(seed, end, limited, missing))
            .collect(),
    }
}

/// Judgements of a thousand levels as a search makes them: with more runs while it is undecided.
fn judged(rounds: &[usize], end: End, limited: usize, missing: u64) -> [usize; 3] {
    let mut counts = [0; 3];
    for number in 0..1000 {
        let judgements = rounds.iter().map(|&runs| {
            level(number * 100, runs, end, limited, missing)
                .judge(TOLERANCE)
                .judgement
        });
        let mut judgements = judgements.skip_while(|found| *found == Judgement::Undecided);
        counts[judgements.next().unwrap_or(Judgement::Undecided) as usize] += 1;
    }
    counts
}

const ROUNDS: [usize; 4] = [2, 4, 8, 12];

#[test]
fn hosts_that_fall_short_are_found_though_all_together_do_not() {
    for end in End::ALL {
        for limited in [1, 2, 3, 7] {
            let [sustained, not, undecided] = judged(&ROUNDS, end, limited, 80);
            assert!(
                sustained <= 10,
                "{end}, {limited}: {sustained} of 1000 sustained"
            );
            assert!(
                not >= 950,
                "{end}, {limited}: {not} not, {undecided} undecided"
            );
        }
    }
}

/// With half of the runs as with all: few runs must not tell more than they know.
#[test]
fn few_seeds_do_not_overlook_hosts_that_fall_short() {
    for end in End::ALL {
        for limited in [1, 2, 7] {
            let [sustained, ..] = judged(&[2, 3], end, limited, 80);
            assert!(
                sustained <= 10,
                "{end}, {limited}: {sustained} of 1000 sustained"
            );
        }
    }
}

/// A host alone misses up to 5 % of its flits in a run, five times the tolerance.
#[test]
fn the_noise_of_single_hosts_is_no_shortfall() {
    let [_, not, _] = judged(&ROUNDS, End::Source, 0, 0);
    assert!(not <= 5, "{not} of 1000");
    let [_, not, _] = judged(&[2, 3, 6, 9], End::Source, 0, 0);
    assert!(not <= 5, "{not} of 1000 by few seeds");
}

#[test]
fn all_together_are_judged_by_the_interval_and_told_with_the_reason() {
    let level = |accepted: [f64; 4], growth: f64| Level {
        load: 0.8,
        samples: accepted
            .map(|accepted| Sample {
                offered: 0.8,
                accepted,
                growth,
                ..Sample::default()
            })
            .to_vec(),
    };
    for (accepted, growth, judgement, reason) in [
        (
            [0.49, 0.48, 0.5, 0.49],
            0.3,
            Judgement::NotSustained,
            "accepted 0.4900 of 0.8000 offered",
        ),
        (
            [0.8; 4],
            0.3,
            Judgement::NotSustained,
            "source queues grow by 30.0 % of the packets",
        ),
        (
            [0.8, 0.801, 0.799, 0.8],
            0.0,
            Judgement::Sustained,
            "0.0 % missing, no host certainly more",
        ),
        (
            [0.8, 0.78, 0.8, 0.785],
            0.0,
            Judgement::Undecided,
            "1.1 % +- 2.1 % missing",
        ),
    ] {
        let judged = level(accepted, growth).judge(TOLERANCE);
        assert_eq!(
            (judged.judgement, judged.reason.as_str()),
            (judgement, reason)
        );
    }
}

#[test]
fn a_single_run_says_nothing_but_a_deadlock() {
    let mut level = level(0, 1, End::Source, 3, 80);
    assert_eq!(level.judge(TOLERANCE).judgement, Judgement::Undecided);
    level.samples[0].is_deadlocked = true;
    assert_eq!(level.judge(TOLERANCE).judgement, Judgement::NotSustained);
}

#[test]
fn a_fabric_that_fills_is_not_called_sustained() {
    let mut level = level(0, 12, End::Source, 0, 0);
    assert_eq!(level.judge(0.1).judgement, Judgement::Sustained);
    for (number, sample) in level.samples.iter_mut().enumerate() {
        sample.growth_inside = 0.7 + number as f64 * 0.01;
    }
    let judged = level.judge(0.1);
    assert_eq!(judged.judgement, Judgement::Undecided);
    assert_eq!(
        judged.reason,
        "packets in the fabric still grow by 75.5 %: the runs are too short"
    );
    // by chance it is half as much in some and more in others
    for (number, sample) in level.samples.iter_mut().enumerate() {
        sample.growth_inside = if number % 2 == 0 { 1.8 } else { -0.6 };
    }
    assert_eq!(level.judge(0.1).judgement, Judgement::Sustained);
}

/// Of a load that misses as much as may be missing no number of runs tells more; of another one it does.
#[test]
fn more_runs_are_made_only_where_they_may_decide() {
    let level = |short: [f64; 4]| Level {
        load: 0.5,
        samples: short
            .map(|short| Sample {
                offered: 0.5,
                accepted: 0.5 * (1.0 - short),
                ..Sample::default()
            })
            .to_vec(),
    };
    let close = level([0.008, 0.012, 0.009, 0.011]);
    assert_eq!(close.judge(TOLERANCE).judgement, Judgement::Undecided);
    assert!(close.is_hopeless(TOLERANCE, 12));
    let below = level([0.006, 0.010, 0.007, 0.009]);
    assert_eq!(below.judge(TOLERANCE).judgement, Judgement::Undecided);
    assert!(!below.is_hopeless(TOLERANCE, 12) && below.is_hopeless(TOLERANCE, 5));
    assert!((below.judge(TOLERANCE).missing - 0.008).abs() < 1e-9);
}

#[test]
fn growth_is_told_from_the_halves_of_the_measurement() {
    let row = |number: u64| TimelineRow {
        start: number * 100,
        length: 100,
        in_flight_packets: if number < 5 { 9 } else { number },
        ..TimelineRow::default()
    };
    let rows: Vec<TimelineRow> = (0..20).map(row).collect();
    let cycles = |warmup, measure| CycleCounts {
        warmup,
        measure,
        ..CycleCounts::default()
    };
    // rows 5 to 8 and 10 to 13; the row in the middle is of neither half
    let found = growth_inside(&rows, cycles(450, 950));
    assert!((found - (46.0 / 26.0 - 1.0)).abs() < 1e-12, "{found}");
    assert!(growth_inside(&rows, cycles(450, 700)).abs() < 1e-12);
    assert!(growth_inside(&[], cycles(0, 0)).abs() < 1e-12);
}
