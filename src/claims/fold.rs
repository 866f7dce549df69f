//! From the values of runs to the one value of a claim: over seeds, over points, and over what it is divided by.

use crate::scenario::expectation::{Expectation, Fold};

/// The value of points, given as `[point][seed]`; `None` when there are none.
pub(super) fn value(claim: &Expectation, points: &[Vec<f64>]) -> Option<f64> {
    claim.fold(claim.points, &by_point(claim, points)?)
}

/// The value of points divided by that of other ones; of `Each`, pair by pair.
///
/// A geometric mean and the ends of an interval are those of the ratios run by run, with the runs of equal seeds in pairs (the
/// same network): both sides vary with it. The interval is that of the geometric mean, too: its logarithms', for then a ratio
/// says what its inverse says; with arithmetic means each of two points can be the larger one. Without a value where a ratio is
/// not positive.
///
/// Source: P. J. Fleming, J. J. Wallace, "How not to lie with statistics: the correct way to summarize benchmark results", 1986.
pub(super) fn ratio(
    claim: &Expectation,
    points: &[Vec<f64>],
    divisors: &[Vec<f64>],
) -> Option<f64> {
    let of_logarithms = match claim.seeds {
        Fold::Geometric => Some(Fold::Mean),
        end @ (Fold::Lower | Fold::Upper) => Some(end),
        Fold::Each | Fold::Mean | Fold::Max | Fold::Min => None,
    };
    match (claim.points, of_logarithms) {
        (Fold::Each, Some(fold)) => {
            let pairs = points.iter().zip(divisors);
            let ratios: Vec<f64> = pairs
                .map(|(a, b)| run_by_run(claim, fold, a, b))
                .collect::<Option<_>>()?;
            claim.fold(Fold::Each, &ratios)
        }
        (Fold::Each, None) => {
            let ratios = divided(&by_point(claim, points)?, &by_point(claim, divisors)?)?;
            claim.fold(Fold::Each, &ratios)
        }
        (_, Some(fold)) => {
            let (points, divisors) = (by_seed(claim, points)?, by_seed(claim, divisors)?);
            run_by_run(claim, fold, &points, &divisors)
        }
        (_, None) => Some(value(claim, points)? / value(claim, divisors)?),
    }
}

/// What a fold makes of the logarithms of ratios run by run, as a ratio.
fn run_by_run(claim: &Expectation, fold: Fold, values: &[f64], divisors: &[f64]) -> Option<f64> {
    let ratios = divided(values, divisors)?;
    let logarithms: Vec<f64> = ratios.into_iter().map(f64::ln).collect();
    let ratio = claim.fold(fold, &logarithms)?.exp();
    (ratio > 0.0 && ratio.is_finite()).then_some(ratio)
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

    /// Ratios of 0.8 and 1.0: t of 12.706 for a degree of freedom, and half of their logarithms' difference as standard error.
    #[test]
    fn an_interval_contains_more_than_the_ratio_of_means() {
        let (points, divisors) = ([vec![80.0, 300.0]], [vec![100.0, 300.0]]);
        let found = ratio(&claim("seeds: Upper"), &points, &divisors).unwrap();
        let expected = 0.8_f64.sqrt() * 1.25_f64.powf(12.706 / 2.0);
        assert!((found / expected - 1.0).abs() < 1e-4, "{found}");
        let found = ratio(&claim("seeds: Mean"), &points, &divisors).unwrap();
        assert!((found - 0.95).abs() < 1e-12, "{found}");
    }

    /// 9, 1 and 1 of 1, 9 and 2: the arithmetic means of both ratios are above 1.
    #[test]
    fn a_ratio_and_its_inverse_say_the_same() {
        let (points, others) = ([vec![9.0, 1.0, 1.0]], [vec![1.0, 9.0, 2.0]]);
        for points_fold in ["Each", "Max"] {
            let claim = |end: &str| claim(&format!("points: {points_fold}, seeds: {end}"));
            let upper = ratio(&claim("Upper"), &points, &others).unwrap();
            let lower = ratio(&claim("Lower"), &others, &points).unwrap();
            assert!(
                (upper * lower - 1.0).abs() < 1e-12,
                "{points_fold}: {upper}, {lower}"
            );
        }
    }

    #[test]
    fn a_ratio_that_is_no_number_is_not_hidden() {
        let (points, divisors) = ([vec![0.0], vec![1.0]], [vec![0.0], vec![2.0]]);
        for seeds in ["Mean", "Each"] {
            assert_eq!(
                ratio(&claim(&format!("seeds: {seeds}")), &points, &divisors),
                None
            );
        }
        for (points_fold, seeds) in [("Max", "Min"), ("Each", "Each"), ("Mean", "Max")] {
            let claim = claim(&format!("points: {points_fold}, seeds: {seeds}"));
            assert_eq!(value(&claim, &[vec![-f64::NAN, 0.5], vec![0.5, 0.5]]), None);
        }
    }

    /// It has no logarithm, and no other point hides that.
    #[test]
    fn a_ratio_of_zero_has_neither_geometric_mean_nor_interval() {
        let points = [vec![0.0, 1.0], vec![3.0, 3.1]];
        let divisors = [vec![1.0, 1.0], vec![1.0, 1.0]];
        for (points_fold, seeds) in [("Each", "Upper"), ("Min", "Upper"), ("Each", "Geometric")] {
            let claim = claim(&format!("points: {points_fold}, seeds: {seeds}"));
            assert_eq!(
                ratio(&claim, &points, &divisors),
                None,
                "{points_fold}, {seeds}"
            );
        }
    }

    /// 0.5, 2 and 8 run by run, 0.5 by means.
    #[test]
    fn the_geometric_mean_is_that_of_the_pairs() {
        let (points, divisors) = ([vec![50.0, 2.0, 8.0]], [vec![100.0, 1.0, 1.0]]);
        for points_fold in ["Each", "Max"] {
            let claim = claim(&format!("points: {points_fold}, seeds: Geometric"));
            let found = ratio(&claim, &points, &divisors).unwrap();
            assert!((found - 2.0).abs() < 1e-12, "{points_fold}: {found}");
        }
        let found = value(&claim("seeds: Geometric"), &[vec![1.0, 4.0, 16.0]]).unwrap();
        assert!((found - 4.0).abs() < 1e-12, "{found}");
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
