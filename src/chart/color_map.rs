//! A colour map for shares of time: dark blue (idle) to light yellow (busy), evenly lighter, the same without colour
//! vision.
//!
//! References: J. R. Nuñez, C. R. Anderton and R. S. Renslow, "Optimizing colormaps with consideration for color
//! vision deficiency", PLOS ONE 13(7), 2018 (cividis)

use super::canvas::{Area, LABEL, Spot, fill, line, write};
use super::theme::{INK, MUTED};
use super::{Axis, ChartError};
use plotters::style::RGBColor;
use std::ops::Range;

/// Cividis at every eighth of its length.
const STOPS: [(u8, u8, u8); 9] = [
    (0, 34, 78),
    (27, 52, 109),
    (66, 78, 108),
    (97, 103, 113),
    (125, 124, 120),
    (155, 149, 118),
    (190, 174, 103),
    (220, 202, 84),
    (254, 232, 56),
];

/// Colours told apart: enough for the eye, few enough for small files.
const STEPS: f64 = 40.0;
/// Letters on light cells; not a role of the theme, so that dark pages leave it.
const DARK_LETTERS: RGBColor = RGBColor(0, 0, 0);
/// Letters on dark cells.
const LIGHT_LETTERS: RGBColor = RGBColor(255, 255, 254);

/// The colour of a share between 0 and 1.
pub fn color(share: f64) -> RGBColor {
    let share = (share.clamp(0.0, 1.0) * STEPS).round() / STEPS;
    let place = share * (STOPS.len() - 1) as f64;
    let low = (place as usize).min(STOPS.len() - 2);
    let part = place - low as f64;
    let mix = |from: u8, to: u8| {
        (f64::from(from) + (f64::from(to) - f64::from(from)) * part).round() as u8
    };
    let (from, to) = (STOPS[low], STOPS[low + 1]);
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2) & !1)
}

/// The colour of letters that can be read on the colour of `share`.
pub fn letters_on(share: f64) -> RGBColor {
    if share > 0.55 {
        DARK_LETTERS
    } else {
        LIGHT_LETTERS
    }
}

/// Draws the key of the map: colours over `range`, with marks. It is 300 pixels wide, 40 high.
///
/// # Errors
/// When drawing fails.
pub fn key(
    area: &Area<'_>,
    (x, y): (i32, i32),
    range: Range<f64>,
    label: &str,
) -> Result<(), ChartError> {
    const WIDTH: i32 = 300;
    for step in 0..=STEPS as i32 {
        let at = |step: i32| x + step * WIDTH / (STEPS as i32 + 1);
        let share = f64::from(step) / STEPS;
        fill(area, (at(step), y), (at(step + 1), y + 10), color(share))?;
    }
    let axis = Axis {
        range: range.clone(),
        ..Axis::from_zero(label, [])
    };
    for tick in axis.ticks(5) {
        let share = (tick - range.start) / (range.end - range.start);
        let place = x + (share * f64::from(WIDTH)).round() as i32;
        line(area, vec![(place, y + 10), (place, y + 14)], MUTED.color, 1)?;
        let spot = Spot::center(place, y + 21);
        write(area, &axis.format(tick, 5), LABEL - 1.0, MUTED.color, spot)?;
    }
    write(
        area,
        label,
        LABEL,
        INK.color,
        Spot::center(x + WIDTH / 2, y + 35),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_grows_lighter() {
        let light = |share: f64| {
            let RGBColor(red, green, blue) = color(share);
            0.2126 * f64::from(red) + 0.7152 * f64::from(green) + 0.0722 * f64::from(blue)
        };
        for step in 0..40 {
            let share = f64::from(step) / 40.0;
            assert!(light(share) < light(share + 0.025), "{share}");
        }
        assert!(
            (0..=40).all(|step| color(f64::from(step) / 40.0).2.is_multiple_of(2)),
            "roles of the theme are odd"
        );
        assert_eq!(color(-1.0), color(0.0));
        assert_eq!(color(2.0), RGBColor(254, 232, 56));
    }
}
