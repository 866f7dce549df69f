//! From the values of runs to the one value of a claim: over seeds, over points, and over what it is divided by.

use crate::scenario::expectation::{Expectation, Fold};

/// The value of points, given as `[point][seed]`; `None` when there are none.
pub(super) fn value(claim: &Expectation, points: &[Vec<f64>]) -> Option<f64> {
    claim.fold(claim.points, &by_point(claim, points)?)
}

/// The value of points divided by that of other ones; of `Each`, pair by pair. The ends of an interval are those of the ratios run by
/// run, with the runs of equal seeds in pairs (the same network): both sides vary with it.
pub(super) fn ratio(
    claim: &Expectation,
    points: &[Vec<f64>],
    divisors: &[Vec<f64>],
) -> Option<f64> {
    let run_by_run = matches!(claim.seeds, Fold::Lower | Fold::Upper);
    match (claim.points, run_by_run) {
        (Fold::Each, true) => {
            let pairs = points.iter().zip(divisors);
            let ratios: Vec<Vec<f64>> = pairs.map(|(a, b)| divided(a, b)).collect::<Option<_>>()?;
            value(claim, &ratios)
        }
        (Fold::Each, false) => {
            let ratios = divided(&by_point(claim, points)?, &by_point(claim, divisors)?)?;
            claim.fold(Fold::Each, &ratios)
        }
        (_, true) => {
            let ratios = divided(&by_seed(claim, points)?, &by_seed(claim, divisors)?)?;
            claim.fold(claim.seeds, &ratios)
        }
        (_, false) => Some(value(claim, points)? / value(claim, divisors)?),
    }
}

/// The seeds of each point as one value.
fn by_point(claim: &Expectation, points: &[Vec<f64>]) -> Option<Vec<f64>> {
    let seeds = points.iter().map(|seeds| claim.fold(claim.seeds, seeds));
    seeds.collect()
}

/// The points with each seed as one value.
fn by_seed(claim: &Expectation, points: &[Vec<f64>]) -> Option<Vec<f64>> {
    let count = points.first()?.len();
    let of = |seed: usize| {
        let values: Option<Vec<f64>> = points
            .iter()
            .map(|seeds| seeds.get(seed).copied())
            .collect();
        claim.fold(claim.points, &values?)
    };
    (0..count).map(of).collect()
}

/// Value by value; `None` when there are more of one than of the other.
fn divided(values: &[f64], divisors: &[f64]) -> Option<Vec<f64>> {
    let pairs = values.iter().zip(divisors);
    (values.len() == divisors.len()).then(|| pairs.map(|(a, b)| a / b).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Document;

    fn claim(text: &str) -> Expectation {
        let mut document = Document::embedded();
        let text = format!("[(metric: \"load.accepted\", relation: AtMost, value: 1.0, {text})]");
        document.assign("expect", &text).unwrap();
        document.scenario().unwrap().expect.remove(0)
    }

    /// Networks differ by far more than both points of one of them: the ratio is 0.9 on each, and its interval has no width,
    /// whatever those of both sides are.
    #[test]
    fn the_interval_of_a_ratio_is_that_of_the_pairs() {
        let divisors = [vec![100.0, 200.0, 900.0]];
        let points = [vec![90.0, 180.0, 810.0]];
        for end in ["Lower", "Upper"] {
            let found = ratio(&claim(&format!("seeds: {end}")), &points, &divisors);
            assert!((found.unwrap() - 0.9).abs() < 1e-12, "{end}");
        }
    }

    /// Ratios of 0.8 and 1.0: t of 12.706 for a degree of freedom and a standard error of 0.1.
    #[test]
    fn an_interval_contains_more_than_the_ratio_of_means() {
        let (points, divisors) = ([vec![80.0, 300.0]], [vec![100.0, 300.0]]);
        let found = ratio(&claim("seeds: Upper"), &points, &divisors).unwrap();
        assert!((found - (0.9 + 12.706 * 0.1)).abs() < 1e-3, "{found}");
        let found = ratio(&claim("seeds: Mean"), &points, &divisors).unwrap();
        assert!((found - 0.95).abs() < 1e-12, "{found}");
    }

    /// The larger of two points over the larger of two others, with either seed: 4 / 2 and 6 / 3.
    #[test]
    fn points_become_one_value_with_each_seed_first() {
        let points = [vec![4.0, 1.0], vec![2.0, 6.0]];
        let divisors = [vec![2.0, 1.0], vec![1.0, 3.0]];
        let found = ratio(&claim("points: Max, seeds: Lower"), &points, &divisors);
        assert!((found.unwrap() - 2.0).abs() < 1e-12);
    }

    /// Of two pairs the worse one tells.
    #[test]
    fn each_pair_has_a_ratio_of_its_own() {
        let points = [vec![1.0, 1.0], vec![3.0, 3.0]];
        let divisors = [vec![2.0, 2.0], vec![2.0, 2.0]];
        for seeds in ["Upper", "Mean"] {
            let found = ratio(&claim(&format!("seeds: {seeds}")), &points, &divisors);
            assert!((found.unwrap() - 1.5).abs() < 1e-12, "{seeds}");
        }
        let uneven = ratio(&claim("seeds: Upper"), &[vec![1.0]], &[vec![1.0, 2.0]]);
        assert_eq!(uneven, None);
    }
}
