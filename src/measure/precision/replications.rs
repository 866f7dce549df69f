//! Mean and confidence interval of independent replications: Student's t.
//!
//! References: [`LAW_KELTON`](crate::references::LAW_KELTON) section 9.4.1

use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// A mean and how far off it may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Mean.
    pub mean: f64,
    /// Half of the width of the confidence interval; `None` when it cannot be told (one value).
    pub half_width: Option<f64>,
}

/// Mean of independent values with its confidence interval; `None` without a value.
///
/// # Examples
/// ```
/// use virtlane::measure::precision::replications;
///
/// // s = 1, t(2 degrees of freedom, 97.5 %) = 4.3027
/// let interval = replications(&[1.0, 2.0, 3.0], 0.95).unwrap();
/// assert_eq!(interval.mean, 2.0);
/// assert!((interval.half_width.unwrap() - 4.302_653 / 3.0_f64.sqrt()).abs() < 1e-6);
/// ```
pub fn replications(values: &[f64], confidence: f64) -> Option<Interval> {
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let half_width = (values.len() > 1).then(|| {
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        student_t(confidence, values.len() - 1) * error
    });
    Some(Interval { mean, half_width })
}

/// The factor of a two-sided confidence interval: quantile `(1 + confidence) / 2` of Student's t distribution.
///
/// Rounded to nine digits: the platform's logarithms must not decide when a run stops.
///
/// # Panics
/// When `degrees` is 0 or `confidence` is not between 0 and 1.
pub fn student_t(confidence: f64, degrees: usize) -> f64 {
    const DIGITS: f64 = 1e9;
    assert!(
        degrees > 0 && 0.0 < confidence && confidence < 1.0,
        "an interval has a level between 0 and 1 and comes from two values or more"
    );
    let distribution = StudentsT::new(0.0, 1.0, degrees as f64);
    let distribution = distribution.expect("any positive number of degrees is allowed");
    let quantile = distribution.inverse_cdf(f64::midpoint(1.0, confidence));
    (quantile * DIGITS).round() / DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream, stream, unit_interval};

    /// Law and Kelton, table T.1.
    #[test]
    fn quantiles_are_those_of_the_table() {
        for (confidence, degrees, expected) in [
            (0.95, 1, 12.706),
            (0.95, 3, 3.182),
            (0.95, 9, 2.262),
            (0.95, 30, 2.042),
            (0.90, 9, 1.833),
            (0.99, 4, 4.604),
        ] {
            let found = student_t(confidence, degrees);
            assert!((found - expected).abs() < 0.001, "{degrees}: {found}");
        }
        assert!((student_t(0.95, 1_000_000) - 1.96).abs() < 0.001);
    }

    /// Twelve uniform numbers less six: mean 0, variance 1, nearly normal.
    fn nearly_normal(rng: &mut Stream) -> f64 {
        (0..12).map(|_| unit_interval(rng)).sum::<f64>() - 6.0
    }

    /// Over 20,000 samples each: coverage is known to 0.15 %, and the mean half-width, t * c4 * sigma / sqrt(n), to
    /// 0.4 % (c4 sigma is the mean of a sample's standard deviation). Normal quantiles would cover 81, 88 and 92 %.
    #[test]
    fn intervals_cover_as_often_as_they_say_and_are_as_wide_as_theory_says() {
        for (values, t, c4) in [
            (3, 4.3027, 0.8862),
            (5, 2.7764, 0.9400),
            (10, 2.2622, 0.9727),
        ] {
            let mut rng = stream(values, Purpose::Arrivals, 2);
            let (mut covered, mut width) = (0, 0.0);
            for _ in 0..20_000 {
                let sample: Vec<f64> = (0..values).map(|_| nearly_normal(&mut rng)).collect();
                let found = replications(&sample, 0.95).unwrap();
                let half_width = found.half_width.unwrap();
                covered += u32::from(found.mean.abs() <= half_width);
                width += half_width / 20_000.0;
            }
            let percent = f64::from(covered) / 200.0;
            assert!((94.4..=95.6).contains(&percent), "{values}: {percent} %");
            let expected = t * c4 / (values as f64).sqrt();
            assert!(
                (width / expected - 1.0).abs() < 0.01,
                "{values}: {width} for {expected}"
            );
        }
    }

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(replications(&[], 0.95), None);
        let one = Interval {
            mean: 7.0,
            half_width: None,
        };
        assert_eq!(replications(&[7.0], 0.95), Some(one));
        let equal = replications(&[7.0, 7.0], 0.95).unwrap();
        assert_eq!(equal.half_width, Some(0.0));
    }
}
