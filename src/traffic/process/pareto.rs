//! Lengths of ON and OFF periods of whole slots, from a Pareto distribution.
//!
//! # Rules
//! 1. A length is 1 + floor(c X) slots, X = U^(-1 / shape), U one of the 2^53 multiples of 2^-53 in (0, 1].
//! 2. Its mean is 1 + floor(c) + c^shape * zeta(shape, floor(c) + 1) + c * zeta(1 / shape) * 2^(53 (1 / shape - 1)), zeta
//!    the function of Hurwitz: the sum of P(c X >= j) over j >= 1, less what is beyond the largest X, 2^(53 / shape).
//! 3. The rest of a length that a moment meets is j >= 0 with a probability in proportion to P(length >= j): drawn by
//!    inversion of the continuous law and rejection, up to the largest length.
//!
//! The variance is infinite for shapes below 2, the mean rest would be without 2^-53.
//!
//! References: [`DEVROYE`](crate::references::DEVROYE) section X.6 (rejection for zeta laws),
//! [`SEM_JACOBSEN`](crate::references::SEM_JACOBSEN) section 6.1 (the lengths)

use crate::rng::{Stream, unit_interval};

/// Values of U: its unit is 2^-53.
const STEPS: f64 = (1u64 << 53) as f64;

/// Above this many slots neighbouring probabilities are equal to a float.
const SMOOTH: f64 = 1e6;

/// The law of the length of a period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// Index of the tail, between 1 and 2.
    shape: f64,
    /// c \[slots\].
    scale: f64,
    /// Weight of all that is beyond floor(c), relative to that of a length that is always reached.
    tail: f64,
}

impl Lengths {
    /// Lengths 1 + floor(`scale` * X) \[slots\]; `shape` is between 1 and 2.
    pub fn new(shape: f64, scale: f64) -> Self {
        let first = scale.floor() + 1.0;
        Self {
            shape,
            scale,
            tail: libm::pow(scale, shape) * hurwitz_zeta(shape, first),
        }
    }

    /// Lengths with that mean \[slots\]; `None` when it is not above 1, or out of range.
    pub fn with_mean(shape: f64, mean: f64) -> Option<Self> {
        let (mut low, mut high) = (1e-9, 1e12);
        let at = |scale| Self::new(shape, scale).mean();
        if !(at(low) < mean && mean < at(high)) {
            return None;
        }
        // a factor of 2^70 halved 130 times is a float
        for _ in 0..130 {
            let middle = f64::sqrt(low * high);
            if at(middle) < mean {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(Self::new(shape, low))
    }

    /// Mean \[slots\]: rule 2.
    pub fn mean(&self) -> f64 {
        self.mean_of(STEPS)
    }

    /// The mean with another number of values of U.
    fn mean_of(&self, steps: f64) -> f64 {
        let inverse = 1.0 / self.shape;
        let beyond = hurwitz_zeta(inverse, 1.0) * libm::pow(steps, inverse - 1.0);
        1.0 + self.scale.floor() + self.tail + self.scale * beyond
    }

    /// Draws a length \[slots\]: rule 1.
    #[inline]
    pub fn draw(&self, rng: &mut Stream) -> u64 {
        let pareto = libm::pow(unit_interval(rng), -1.0 / self.shape);
        // what is beyond all numbers is the largest
        ((self.scale * pareto) as u64).saturating_add(1)
    }

    /// Draws the slots that are left of a period that a moment meets: rule 3.
    pub fn rest(&self, rng: &mut Stream) -> u64 {
        // 0 to 1 + floor(c) are left with the same probability
        let even = 2.0 + self.scale.floor();
        let ticket = unit_interval(rng) * (even + self.tail);
        if ticket <= even {
            return ticket.ceil().max(1.0) as u64 - 1;
        }
        self.beyond(rng).saturating_add(1)
    }

    /// Draws m > floor(c) with a probability in proportion to m^-shape.
    fn beyond(&self, rng: &mut Stream) -> u64 {
        let (shape, first) = (self.shape, self.scale.floor() + 1.0);
        let ticket = unit_interval(rng) * hurwitz_zeta(shape, first);
        if ticket <= libm::pow(first, -shape) {
            return first as u64;
        }
        let index = shape - 1.0;
        let largest = self.scale * libm::pow(STEPS, 1.0 / shape);
        let least = libm::pow(largest / first, -index);
        loop {
            let level = least + (1.0 - least) * unit_interval(rng);
            let m = (first * libm::pow(level, -1.0 / index)).floor() + 1.0;
            if m > SMOOTH {
                return m as u64;
            }
            let under = (libm::pow(m - 1.0, -index) - libm::pow(m, -index)) / index;
            if unit_interval(rng) * under <= libm::pow(m, -shape) {
                return m as u64;
            }
        }
    }
}

/// The sum of (a + i)^-s over i >= 0, continued to s below 1, by Euler and Maclaurin; s is above 0 and not 1, a at least 1.
fn hurwitz_zeta(s: f64, a: f64) -> f64 {
    const TERMS: u32 = 20;
    let sum: f64 = (0..TERMS)
        .map(|i| libm::pow(a + f64::from(i), -s))
        .sum::<f64>();
    let x = a + f64::from(TERMS);
    let power = libm::pow(x, -s);
    let corrections = power * x / (s - 1.0) + power / 2.0 + s * power / (12.0 * x)
        - s * (s + 1.0) * (s + 2.0) * power / (720.0 * x * x * x);
    sum + corrections
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    #[test]
    fn zeta_is_that_of_tables() {
        for (s, a, expected) in [
            (1.5, 1.0, 2.612_375_348_685_488),
            (1.2, 1.0, 5.591_582_441_177_75),
            (0.5, 1.0, -1.460_354_508_809_587),
            (2.0, 3.0, 0.394_934_066_848_226),
        ] {
            let found = hurwitz_zeta(s, a);
            assert!(
                (found - expected).abs() < 1e-10 * expected.abs(),
                "{s} {a}: {found}"
            );
        }
    }

    /// The mean of rule 2 against the sum over all values of a coarse U.
    #[test]
    fn the_mean_counts_the_largest_value() {
        for (shape, scale) in [(1.2, 1.0), (1.5, 19.0), (1.8, 3.7), (1.5, 0.4)] {
            let steps = 1u32 << 20;
            let sum: f64 = (1..=steps)
                .map(|i| f64::from(i) / f64::from(steps))
                .map(|u| 1.0 + (scale * libm::pow(u, -1.0 / shape)).floor())
                .sum();
            let expected = sum / f64::from(steps);
            let found = Lengths::new(shape, scale).mean_of(f64::from(steps));
            assert!((found / expected - 1.0).abs() < 1e-4, "{found} {expected}");
        }
    }

    #[test]
    fn the_scale_is_found_from_the_mean() {
        for (shape, mean) in [(1.01, 7.5), (1.2, 1.3), (1.5, 61.0), (1.99, 4000.0)] {
            let lengths = Lengths::with_mean(shape, mean).expect("in range");
            assert!((lengths.mean() / mean - 1.0).abs() < 1e-9, "{lengths:?}");
        }
        assert_eq!(Lengths::with_mean(1.5, 1.0), None);
        assert_eq!(Lengths::with_mean(1.5, f64::NAN), None);
    }

    /// The largest lengths of a shape near 1 are above all that 64 bits count: they are the largest of these, and not 0.
    #[test]
    fn lengths_beyond_all_numbers_are_the_largest() {
        let lengths = Lengths::new(1.000_001, 1e12);
        let mut rng = stream(1, Purpose::Arrivals, 1);
        for _ in 0..200_000 {
            assert!(lengths.draw(&mut rng) > 1_000_000_000_000);
            // up to the largest, whatever it is
            lengths.rest(&mut rng);
        }
        let endless = Lengths::new(1.000_001, 1e30);
        assert_eq!(endless.draw(&mut rng), u64::MAX);
    }

    /// Maximum likelihood (Hill's estimate with all values) has a standard error of shape / sqrt(n): 0.005 here.
    #[test]
    fn the_index_of_the_tail_is_the_shape() {
        let mut rng = stream(3, Purpose::Arrivals, 1);
        for shape in [1.2, 1.5, 1.8] {
            // a large scale makes the floor not matter
            let lengths = Lengths::new(shape, 1e6);
            let count = 100_000;
            let sum: f64 = (0..count)
                .map(|_| libm::log((lengths.draw(&mut rng) - 1) as f64 / 1e6))
                .sum();
            let found = f64::from(count) / sum;
            // the bound of seed-003 C11
            assert!((found - shape).abs() < 0.05, "{found} for {shape}");
        }
    }

    /// Chi-square of the rest of a length against P(length >= j).
    #[test]
    fn rests_have_the_law_of_a_period_that_is_met() {
        for (shape, scale) in [(1.5, 1.0), (1.2, 3.5), (1.8, 0.3)] {
            let lengths = Lengths::new(shape, scale);
            let mut rng = stream(5, Purpose::Arrivals, 2);
            let mut counts = [0u32; 31];
            let draws = 100_000;
            for _ in 0..draws {
                counts[lengths.rest(&mut rng).min(30) as usize] += 1;
            }
            // P(1 + floor(c X) >= j), for whole c as for others
            let reached = |j: usize| match j as f64 - 1.0 {
                more if more <= scale => 1.0,
                more => libm::pow(more / scale, -shape),
            };
            let total = 2.0 + scale.floor() + lengths.tail;
            let mut left = 1.0;
            let mut chi = 0.0;
            for (j, &count) in counts.iter().enumerate() {
                let share = if j < 30 { reached(j) / total } else { left };
                left -= share;
                let expected = f64::from(draws) * share;
                chi += (f64::from(count) - expected).powi(2) / expected;
            }
            // 30 degrees of freedom: 59.7 is the 0.1 % point
            assert!(chi < 59.7, "{shape} {scale}: {chi}");
        }
    }
}
