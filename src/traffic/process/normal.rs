//! Normal deviates, whole or cut off below.
//!
//! # Algorithm
//! - A deviate: Box and Muller's cosine of two draws; nothing is kept for the next.
//! - One above a bound a: deviates until one is above, where a is at most 0; else Robert's rejection from an exponential at a,
//!   with rate (a + sqrt(a^2 + 4)) / 2.
//!
//! References: [`BOX_MULLER`](crate::references::BOX_MULLER), [`ROBERT_NORMAL`](crate::references::ROBERT_NORMAL)

use crate::rng::{Stream, unit_interval};
use std::f64::consts::{PI, SQRT_2};

/// The furthest bound: beyond it the normal law has no digits left in a float.
pub(super) const FURTHEST: f64 = 30.0;

/// A standard normal deviate.
pub(super) fn deviate(rng: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(unit_interval(rng)));
    radius * libm::cos(2.0 * PI * unit_interval(rng))
}

/// A standard normal deviate that is at least `bound`.
pub(super) fn deviate_above(bound: f64, rng: &mut Stream) -> f64 {
    if bound <= 0.0 {
        loop {
            let z = deviate(rng);
            if z >= bound {
                return z;
            }
        }
    }
    let rate = f64::midpoint(bound, libm::sqrt(bound * bound + 4.0));
    loop {
        let z = bound - libm::log(unit_interval(rng)) / rate;
        let off = z - rate;
        if libm::log(unit_interval(rng)) <= -off * off / 2.0 {
            return z;
        }
    }
}

/// Mean of how far deviates that are at least `bound` are above it: falls from infinity to 0 as the bound rises.
fn mean_excess(bound: f64) -> f64 {
    let density = libm::exp(-bound * bound / 2.0) / libm::sqrt(2.0 * PI);
    let above = libm::erfc(bound / SQRT_2) / 2.0;
    density / above - bound
}

/// The bound whose mean excess is that; `None` when it is below that of [`FURTHEST`].
pub(super) fn bound_with_excess(excess: f64) -> Option<f64> {
    let (mut low, mut high) = (-1.0 - excess, FURTHEST);
    if !(excess.is_finite() && mean_excess(high) <= excess) {
        return None;
    }
    // both ends are finite floats: after so many halves they are neighbours
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if mean_excess(middle) > excess {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    #[test]
    fn deviates_are_normal() {
        let mut rng = stream(1, Purpose::Arrivals, 0);
        let count = 200_000;
        let values: Vec<f64> = (0..count).map(|_| deviate(&mut rng)).collect();
        let moment = |power| values.iter().map(|z| z.powi(power)).sum::<f64>() / f64::from(count);
        // standard errors: 0.002, 0.003, 0.009, 0.022
        for (power, expected, tolerance) in [
            (1, 0.0, 0.01),
            (2, 1.0, 0.015),
            (3, 0.0, 0.04),
            (4, 3.0, 0.1),
        ] {
            assert!((moment(power) - expected).abs() < tolerance, "{power}");
        }
    }

    #[test]
    fn deviates_above_a_bound_have_its_mean_excess() {
        let mut rng = stream(2, Purpose::Arrivals, 0);
        for excess in [40.0, 3.0, 0.8, 0.4, 0.1, 0.034] {
            let bound = bound_with_excess(excess).expect("in range");
            let count = 100_000;
            let values: Vec<f64> = (0..count)
                .map(|_| deviate_above(bound, &mut rng) - bound)
                .collect();
            assert!(values.iter().all(|&above| above >= 0.0));
            let mean = values.iter().sum::<f64>() / f64::from(count);
            // a standard deviation of at most 1 and of at most the excess
            assert!(
                (mean - excess).abs() < 0.015 * excess.min(1.0),
                "{bound}: {mean}"
            );
        }
        assert_eq!(bound_with_excess(0.03), None);
        assert_eq!(bound_with_excess(f64::INFINITY), None);
    }
}
