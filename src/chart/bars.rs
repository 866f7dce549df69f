//! Horizontal bars with a name and a number each.

use super::axis::number;
use super::canvas::{Canvas, Hover, LABEL, Spot, fill, heading, line, shorten, width_of, write};
use super::theme::{GRID, INK, MUTED, series};
use super::{Axis, ChartError, Svg};

/// Width of the chart \[pixels\].
const WIDTH: u32 = 640;
/// Height of a bar with the gap below \[pixels\].
const ROW: i32 = 22;
/// Longest name \[letters\].
const LONGEST_NAME: usize = 30;

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it stands for.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// What stands behind it.
    pub note: String,
}

/// Draws bars from the top down; `label` names the quantity and its unit.
///
/// # Errors
/// When drawing fails.
pub fn bars(title: &str, label: &str, bars: &[Bar]) -> Result<Svg, ChartError> {
    let height = 26 + bars.len() as i32 * ROW + 56;
    Canvas::draw((WIDTH, height as u32), |area| {
        let top = heading(area, title, "")? + 6;
        let names: Vec<String> = bars
            .iter()
            .map(|bar| shorten(&bar.name, LONGEST_NAME))
            .collect();
        let notes = bars
            .iter()
            .map(|bar| width_of(&bar.note))
            .max()
            .unwrap_or(0);
        let left = names.iter().map(|name| width_of(name)).max().unwrap_or(0) + 16;
        let right = WIDTH as i32 - notes - 20;
        let bottom = top + bars.len() as i32 * ROW;
        let axis = Axis::from_zero(label, bars.iter().map(|bar| bar.value));
        let at = |value: f64| left + (value / axis.range.end * f64::from(right - left)) as i32;
        for tick in axis.ticks(5) {
            line(
                area,
                vec![(at(tick), top), (at(tick), bottom)],
                GRID.color,
                1,
            )?;
            let spot = Spot::center(at(tick), bottom + 10);
            write(area, &axis.format(tick, 5), LABEL, MUTED.color, spot)?;
        }
        let middle = Spot::center(i32::midpoint(left, right), bottom + 30);
        write(area, label, LABEL, INK.color, middle)?;
        for (row, (bar, name)) in (0..).zip(bars.iter().zip(&names)) {
            let y = top + row * ROW;
            fill(
                area,
                (left, y + 3),
                (at(bar.value), y + ROW - 3),
                series(0).color,
            )?;
            let middle = y + ROW / 2;
            write(area, name, LABEL, INK.color, Spot::right(left - 8, middle))?;
            write(
                area,
                &bar.note,
                LABEL,
                MUTED.color,
                Spot::left(right + 10, middle),
            )?;
        }
        line(area, vec![(left, top), (left, bottom)], MUTED.color, 1)?;
        let rows = (0..).zip(bars).map(|(row, bar)| Hover {
            at: (left, top + row * ROW),
            size: (right - left, ROW),
            text: format!("{}: {}", bar.name, bar.note),
        });
        Ok(rows.collect())
    })
}

/// A number of three significant digits.
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        large if large >= 100.0 => number(value, 0),
        large if large >= 10.0 => number(value, 1),
        large if large >= 1.0 => number(value, 2),
        _ => number(value, 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_names_and_numbers() {
        let bar = Bar {
            name: "Arbitrate".into(),
            value: 812.5,
            note: format!("{} ns", three_digits(812.5)),
        };
        let text = bars("cost", "time [ns per cycle]", &[bar])
            .unwrap()
            .standalone();
        for part in ["Arbitrate", "812 ns", "time [ns per cycle]"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(bars("cost", "time [ns per cycle]", &[]).is_ok());
    }

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(three_digits(12_345.6), "12\u{a0}346");
        assert_eq!(three_digits(1.2345), "1.23");
        assert_eq!(three_digits(0.012_34), "0.012");
    }
}
