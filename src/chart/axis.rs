//! Axes: a range, and marks on round numbers.

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use std::ops::Range;

/// How values are spread over an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm; only positive values.
    Logarithmic,
}

/// An axis. Places on it are the values themselves, or their decimal logarithms.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Quantity, with its unit in brackets.
    pub label: String,
    /// Spread.
    pub scale: Scale,
    /// Smallest and largest value shown.
    pub range: Range<f64>,
}

impl Axis {
    /// From 0 over all values, with some room.
    pub fn from_zero(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let most = values.into_iter().fold(0.0, f64::max);
        let end = if most > 0.0 { most * 1.05 } else { 1.0 };
        Self {
            label: label.into(),
            scale: Scale::Linear,
            range: 0.0..end,
        }
    }

    /// All positive values, with some room; logarithmic.
    pub fn logarithmic(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let positive = values.into_iter().filter(|value| *value > 0.0);
        let (least, most) = positive.fold((f64::MAX, 0.0), |(least, most), value| {
            (f64::min(least, value), f64::max(most, value))
        });
        let range = if most > 0.0 {
            least / 1.1..most * 1.1
        } else {
            1.0..10.0
        };
        Self {
            label: label.into(),
            scale: Scale::Logarithmic,
            range,
        }
    }

    /// Place of a value; `None` where there is no such place (a logarithm of nothing).
    pub fn place(&self, value: f64) -> Option<f64> {
        match self.scale {
            Scale::Linear => Some(value),
            Scale::Logarithmic => (value > 0.0).then(|| libm::log10(value)),
        }
    }

    /// Value at a place.
    fn value(&self, place: f64) -> f64 {
        match self.scale {
            Scale::Linear => place,
            Scale::Logarithmic => libm::pow(10.0, place),
        }
    }

    /// Places of both ends.
    pub fn places(&self) -> Range<f64> {
        let end = |value| self.place(value).unwrap_or_default();
        end(self.range.start)..end(self.range.end)
    }

    /// Places of the marks, about `wanted` of them.
    pub fn ticks(&self, wanted: usize) -> Vec<f64> {
        match self.scale {
            Scale::Linear => linear_ticks(&self.range, wanted),
            Scale::Logarithmic => logarithmic_ticks(&self.places(), wanted),
        }
    }

    /// The text of one of about `wanted` marks: as many digits as tell it from its neighbours.
    pub fn format(&self, place: f64, wanted: usize) -> String {
        let value = self.value(place);
        match self.scale {
            Scale::Linear => {
                let span = self.range.end - self.range.start;
                number(value, decimals(round_step(span / wanted.max(1) as f64)))
            }
            Scale::Logarithmic => {
                let few = decimals(value);
                let shift = libm::pow(10.0, few as f64);
                let is_whole = (value * shift - (value * shift).round()).abs() < 1e-6 * shift;
                number(value, if is_whole { few } else { few + 1 })
            }
        }
    }
}

/// An axis as plotters draws it: marks where we want them.
#[derive(Clone, Debug)]
pub(super) struct Marked {
    places: Range<f64>,
    ticks: Vec<f64>,
}

impl Marked {
    /// About `wanted` marks.
    pub(super) fn new(axis: &Axis, wanted: usize) -> Self {
        Self {
            places: axis.places(),
            ticks: axis.ticks(wanted),
        }
    }
}

impl Ranged for Marked {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (from, to): (i32, i32)) -> i32 {
        let span = self.places.end - self.places.start;
        let share = (place - self.places.start) / span;
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            Vec::new()
        } else {
            self.ticks.clone()
        }
    }

    fn range(&self) -> Range<f64> {
        self.places.clone()
    }
}

/// 1, 2 or 5 times a power of ten, the next one not below `step`.
fn round_step(step: f64) -> f64 {
    let power = libm::pow(10.0, libm::log10(step).floor());
    let factor = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|f| f * power >= step * 0.999);
    factor.unwrap_or(10.0) * power
}

/// Digits behind the point that show a step.
fn decimals(step: f64) -> usize {
    (-(libm::log10(step) + 1e-9).floor()).clamp(0.0, 12.0) as usize
}

fn linear_ticks(range: &Range<f64>, wanted: usize) -> Vec<f64> {
    let span = range.end - range.start;
    if span <= 0.0 || span.is_nan() {
        return vec![range.start];
    }
    let step = round_step(span / wanted.max(1) as f64);
    let first = (range.start / step - 1e-9).ceil() as i64;
    let last = (range.end / step + 1e-9).floor() as i64;
    (first..=last).map(|tick| tick as f64 * step).collect()
}

fn logarithmic_ticks(places: &Range<f64>, wanted: usize) -> Vec<f64> {
    let inside = |place: &f64| places.start - 1e-9 <= *place && *place <= places.end + 1e-9;
    let decades = places.start.floor() as i32..=places.end.ceil() as i32;
    let ticks = |factors: &[f64]| -> Vec<f64> {
        let all = decades.clone().flat_map(|decade| {
            factors
                .iter()
                .map(move |factor| f64::from(decade) + libm::log10(*factor))
        });
        all.filter(inside).collect()
    };
    let every = (places.end - places.start) as usize / wanted.max(1) + 1;
    let coarse: Vec<f64> = ticks(&[1.0])
        .into_iter()
        .filter(|place| (place.round() as i64).rem_euclid(every as i64) == 0)
        .collect();
    let finer: [&[f64]; 3] = [
        &[1.0, 3.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
    ];
    let fine = finer.into_iter().map(ticks).find(|ticks| ticks.len() >= 3);
    match fine {
        Some(fine) if coarse.len() < 3 => fine,
        _ => coarse,
    }
}

/// A number for people: thousands set apart, few digits.
pub fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let (sign, digits) = whole
        .strip_prefix('-')
        .map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && digits.len() > 4 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('\u{a0}');
        }
        grouped.push(digit);
    }
    if rest.is_empty() {
        format!("{sign}{grouped}")
    } else {
        format!("{sign}{grouped}.{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<String> {
        let ticks = axis.ticks(6);
        ticks.into_iter().map(|tick| axis.format(tick, 6)).collect()
    }

    #[test]
    fn no_two_marks_say_the_same() {
        for wanted in 2..12 {
            for most in [0.019, 0.23, 0.31, 0.4, 1.0, 1.7, 23.0, 12_512.0] {
                for axis in [
                    Axis::from_zero("x", [most]),
                    Axis::logarithmic("x", [most / 2.5, most]),
                    Axis::logarithmic("x", [most / 900.0, most]),
                ] {
                    let texts = axis.ticks(wanted).into_iter();
                    let texts: Vec<_> = texts.map(|tick| axis.format(tick, wanted)).collect();
                    let mut different = texts.clone();
                    different.dedup();
                    assert_eq!(texts, different, "{wanted} marks up to {most}");
                }
            }
        }
    }

    #[test]
    fn marks_are_round_numbers() {
        let axis = Axis::from_zero("x", [0.95]);
        assert_eq!(texts(&axis), ["0.0", "0.2", "0.4", "0.6", "0.8"]);
        let axis = Axis::from_zero("x", [12_512.0]);
        assert_eq!(texts(&axis), ["0", "5000", "10\u{a0}000"]);
        let axis = Axis::logarithmic("x", [1.1, 99_000.0]);
        assert_eq!(
            texts(&axis),
            ["1", "10", "100", "1000", "10\u{a0}000", "100\u{a0}000"]
        );
        let axis = Axis::logarithmic("x", [0.000_011, 0.9]);
        assert_eq!(texts(&axis)[0], "0.00001");
        let axis = Axis::logarithmic("x", [20.0, 70.0]);
        assert!(texts(&axis).len() >= 3, "{:?}", texts(&axis));
    }

    #[test]
    fn nothing_has_an_axis_too() {
        assert!(!Axis::from_zero("x", []).ticks(6).is_empty());
        assert!(!Axis::logarithmic("x", [0.0]).ticks(6).is_empty());
        assert_eq!(Axis::logarithmic("x", [0.0]).place(0.0), None);
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(number(-1_234_567.25, 1), "-1\u{a0}234\u{a0}567.2");
        assert_eq!(number(1234.0, 0), "1234");
    }
}
