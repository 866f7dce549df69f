//! Searches of models whose saturation point is known.

use super::*;
use crate::rng::{Purpose, below, stream};
use std::convert::Infallible;

const CRITERION: Criterion = Criterion {
    tolerance: 0.01,
    resolution: 0.005,
    seeds: 4,
    has_curve: false,
};

/// A fabric to search: what it accepts, with so much noise, and where it deadlocks.
struct Model {
    accepts: fn(f64) -> f64,
    deadlocks: fn(f64) -> bool,
    noise: f64,
    /// What is known beforehand.
    bound: Option<f64>,
    criterion: Criterion,
}

const MODEL: Model = Model {
    accepts: |load| load,
    deadlocks: |_| false,
    noise: 0.002,
    bound: None,
    criterion: CRITERION,
};

impl Model {
    fn found(&self) -> (Saturation, Vec<Request>) {
        let mut requests = Vec::new();
        let mut evaluate = |request: Request| {
            requests.push(request);
            let Request {
                load, first, count, ..
            } = request;
            let sample = |seed: usize| {
                let mut rng = stream(seed as u64, Purpose::Arrivals, (load * 1e6) as u64);
                let noise = 1.0 + (f64::from(below(&mut rng, 2001)) / 1000.0 - 1.0) * self.noise;
                let accepted = (self.accepts)(load) * noise;
                Sample {
                    offered: load,
                    accepted,
                    is_deadlocked: (self.deadlocks)(load),
                    is_cut: !request.is_whole && accepted < load * 0.94,
                    ..Sample::default()
                }
            };
            Ok::<_, Infallible>((first..first + count).map(sample).collect())
        };
        let Ok(found) = search(self.criterion, self.bound, &mut evaluate);
        (found, requests)
    }
}

#[test]
fn a_plateau_is_found_with_few_runs() {
    let model = Model {
        accepts: |load| load.min(0.431),
        ..MODEL
    };
    let (found, requests) = model.found();
    // a load of 0.4353 falls short by 1 %
    let high = found.overloaded.unwrap();
    assert!(found.sustained <= 0.4358 && high > 0.431, "{found:?}");
    assert!((found.sustained - 0.4353).abs() <= 0.006, "{found:?}");
    assert!(
        found
            .undecided
            .iter()
            .all(|load| (found.sustained..high).contains(load))
    );
    assert!(high - found.sustained <= 0.005 * (1 + found.undecided.len()) as f64 + 1e-5);
    assert_eq!(found.behaviour, Behaviour::Saturated);
    assert!(found.levels.is_sorted_by(|(a, _), (b, _)| a.load < b.load));
    // a bisection takes nine loads, with four runs each
    let runs: usize = requests.iter().map(|request| request.count).sum();
    assert!(runs <= 28, "{runs} runs");
    let (load, peak) = found.peak.unwrap();
    assert!(load > 0.43 && (peak.mean - 0.431).abs() < 0.002);
    assert!(found.sustained <= peak.mean / (1.0 - 0.01) + 0.001);
}

/// What is accepted at the full rate says nothing about the point of a fabric whose accepted load falls, nor estimates
/// about one that deadlocks: the loads tried must still come together.
#[test]
fn the_point_is_found_wherever_it_lies() {
    for (accepts, point, widest) in [
        ((|load| load.min(0.02)) as fn(f64) -> f64, 0.0202, 0.01),
        (|load| load.min(0.97), 0.9798, 0.02),
        (|load| load.min(0.1).min(0.2 - load).max(0.01), 0.1005, 0.01),
        // hardly steeper than the noise of its runs
        (|load| load * (1.0 - 0.02 * load), 0.5, 0.15),
    ] {
        let (found, requests) = Model { accepts, ..MODEL }.found();
        let high = found.overloaded.unwrap();
        let (low, width) = (found.sustained, high - found.sustained);
        assert!(
            low <= point + 1e-3 && point - 1e-3 <= high && width <= widest,
            "{point}: {low} to {high}"
        );
        let runs: usize = requests.iter().map(|request| request.count).sum();
        let most = if widest < 0.1 { 60 } else { 200 };
        assert!(runs <= most, "{point}: {runs} runs");
    }
}

/// Noise as of a fabric with one overloaded host, which runs alone do not see: the bound is known beforehand.
#[test]
fn nothing_beyond_the_bound_is_sustained_and_no_runs_are_made_for_it() {
    let model = Model {
        bound: Some(0.25),
        ..MODEL
    };
    let (found, requests) = model.found();
    assert_eq!(found.overloaded, Some(0.252_525));
    assert!(
        found.sustained < 0.252_525 && found.sustained > 0.2475,
        "{found:?}"
    );
    let beyond = requests.iter().filter(|request| request.load > 0.2526);
    assert!(beyond.clone().all(|request| request.is_whole) && beyond.count() == 1);
    assert_eq!(found.behaviour, Behaviour::Saturated);
}

#[test]
fn the_curve_is_made_of_whole_runs_where_it_is_asked_for() {
    let criterion = Criterion {
        has_curve: true,
        ..CRITERION
    };
    let model = Model {
        accepts: |load| load.min(0.431),
        criterion,
        ..MODEL
    };
    let (found, requests) = model.found();
    let whole = |factor: f64| {
        let near = |(level, _): &&(Level, Judged)| {
            (level.load - found.sustained * factor).abs() < 0.005 && level.accepted().is_some()
        };
        found.levels.iter().any(|level| near(&level))
    };
    assert!(CURVE.into_iter().all(whole));
    assert!(requests.iter().filter(|request| request.is_whole).count() >= 7);
}

#[test]
fn a_fall_beyond_the_peak_is_unstable() {
    let model = Model {
        accepts: |load| if load < 0.5 { load } else { 0.8 - 0.6 * load },
        ..MODEL
    };
    let (found, _) = model.found();
    assert_eq!(found.behaviour, Behaviour::Unstable);
    assert!((found.sustained - 0.5).abs() < 0.01, "{}", found.sustained);
}

#[test]
fn a_deadlock_is_no_saturation() {
    let model = Model {
        deadlocks: |load| load > 0.7,
        ..MODEL
    };
    let (found, _) = model.found();
    assert_eq!(found.behaviour, Behaviour::Deadlocked);
    assert!((found.sustained - 0.7).abs() < 0.006, "{}", found.sustained);
}

#[test]
fn the_full_rate_may_be_sustained_and_nothing_may_be() {
    let (all, requests) = MODEL.found();
    assert_eq!(
        (all.behaviour, all.overloaded),
        (Behaviour::Unlimited, None)
    );
    assert!((all.sustained - 1.0).abs() < 1e-9);
    assert_eq!(requests.len(), 1);
    let model = Model {
        accepts: |load| load * 0.5,
        ..MODEL
    };
    let (nothing, _) = model.found();
    assert!(nothing.sustained.abs() < 1e-9);
    assert!(nothing.overloaded.unwrap() <= 0.005);
}

/// Runs too short for the resolution: what is told lies between certain judgements, not between guesses.
#[test]
fn loads_that_are_too_close_to_tell_stay_undecided() {
    let model = Model {
        accepts: |load| load.min(0.431),
        noise: 0.02,
        criterion: Criterion {
            resolution: 0.0005,
            ..CRITERION
        },
        ..MODEL
    };
    let (found, _) = model.found();
    let judged = |load: f64| {
        let mut levels = found.levels.iter();
        levels
            .find(|(level, _)| level.load.total_cmp(&load).is_eq())
            .map(|(_, judged)| judged.judgement)
    };
    assert!(!found.undecided.is_empty());
    assert_eq!(judged(found.sustained), Some(Judgement::Sustained));
    let high = found.overloaded.unwrap();
    assert_eq!(judged(high), Some(Judgement::NotSustained));
    assert!(found.sustained < 0.437 && 0.431 < high && high - found.sustained > 0.0005);
    for load in &found.undecided {
        assert_eq!(judged(*load), Some(Judgement::Undecided));
    }
}
