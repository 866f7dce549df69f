//! The place a chart is drawn on: plotters' SVG area, and the few primitives all charts share.

use super::theme::{INK, MUTED, Role};
use super::{ChartError, Svg};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A part of the drawing; places in it are pixels from its upper left corner.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// plotters writes letters smaller than it is asked to.
const LETTER_SCALE: f64 = 1.24;
/// Width of a letter on average, as part of its height.
const LETTER_WIDTH: f64 = 0.56;

/// Height of titles \[pixels\].
pub const TITLE: f64 = 14.0;
/// Height of labels \[pixels\].
pub const LABEL: f64 = 11.5;

/// A rectangle of the drawing that tells a value under the pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// Upper left corner \[pixels\].
    pub at: (i32, i32),
    /// Width and height \[pixels\].
    pub size: (i32, i32),
    /// What it tells.
    pub text: String,
}

/// Where a text goes: the point, and which part of the text lies on it.
#[derive(Clone, Copy)]
pub struct Spot {
    /// \[pixels\]
    pub at: (i32, i32),
    /// Horizontal part.
    pub horizontal: HPos,
    /// Vertical part.
    pub vertical: VPos,
}

impl Spot {
    /// The text starts here and is centred on this height.
    pub const fn left(x: i32, y: i32) -> Self {
        Self {
            at: (x, y),
            horizontal: HPos::Left,
            vertical: VPos::Center,
        }
    }

    /// The text ends here and is centred on this height.
    pub const fn right(x: i32, y: i32) -> Self {
        Self {
            horizontal: HPos::Right,
            ..Self::left(x, y)
        }
    }

    /// The text is centred here.
    pub const fn center(x: i32, y: i32) -> Self {
        Self {
            horizontal: HPos::Center,
            ..Self::left(x, y)
        }
    }
}

/// Makes drawings.
#[derive(Debug)]
pub struct Canvas;

impl Canvas {
    /// Draws on an area of this size \[pixels\]; `draw` returns what is told of places.
    ///
    /// # Errors
    /// What `draw` fails with.
    pub fn draw(
        size: (u32, u32),
        draw: impl FnOnce(&Area<'_>) -> Result<Vec<Hover>, ChartError>,
    ) -> Result<Svg, ChartError> {
        let mut text = String::new();
        let hovers = {
            let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
            let hovers = draw(&area)?;
            area.present().map_err(ChartError::new)?;
            hovers
        };
        Ok(Svg::new(text, &hovers))
    }
}

/// Letters of this height and colour.
pub fn letters<'a>(height: f64, color: RGBColor) -> TextStyle<'a> {
    ("sans-serif", height * LETTER_SCALE)
        .into_font()
        .color(&color)
}

/// Writes one line.
///
/// # Errors
/// When drawing fails.
pub fn write(
    area: &Area<'_>,
    text: &str,
    height: f64,
    color: RGBColor,
    spot: Spot,
) -> Result<(), ChartError> {
    let style = letters(height, color).pos(Pos::new(spot.horizontal, spot.vertical));
    area.draw(&Text::new(text, spot.at, style))
        .map_err(ChartError::new)
}

/// Writes a title and, below it, remarks; returns the height they take \[pixels\].
///
/// # Errors
/// When drawing fails.
pub fn heading(area: &Area<'_>, title: &str, remark: &str) -> Result<i32, ChartError> {
    let width = area.dim_in_pixel().0 as i32;
    write(area, title, TITLE, INK.color, Spot::center(width / 2, 14))?;
    let mut bottom = 26;
    for line in wrap(remark, width - 20) {
        write(
            area,
            &line,
            LABEL,
            MUTED.color,
            Spot::center(width / 2, bottom + 6),
        )?;
        bottom += 16;
    }
    Ok(bottom)
}

/// Breaks a text into lines of at most `width` pixels.
fn wrap(text: &str, width: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(line) + width_of(word) + 6 <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Estimated width of a label \[pixels\].
pub fn width_of(text: &str) -> i32 {
    (text.chars().count() as f64 * LABEL * LETTER_WIDTH).ceil() as i32
}

/// A label of at most `letters` letters; longer ones lose their middle.
pub fn shorten(text: &str, letters: usize) -> String {
    let count = text.chars().count();
    if count <= letters {
        return text.to_owned();
    }
    let end = letters / 2;
    let start = letters - end - 1;
    let head: String = text.chars().take(start).collect();
    let tail: String = text.chars().skip(count - end).collect();
    format!("{head}\u{2026}{tail}")
}

/// Fills a rectangle.
///
/// # Errors
/// When drawing fails.
pub fn fill(
    area: &Area<'_>,
    from: (i32, i32),
    to: (i32, i32),
    color: RGBColor,
) -> Result<(), ChartError> {
    area.draw(&Rectangle::new([from, to], color.filled()))
        .map_err(ChartError::new)
}

/// Draws a line through points.
///
/// # Errors
/// When drawing fails.
pub fn line(
    area: &Area<'_>,
    points: Vec<(i32, i32)>,
    color: RGBColor,
    width: u32,
) -> Result<(), ChartError> {
    area.draw(&PathElement::new(points, color.stroke_width(width)))
        .map_err(ChartError::new)
}

/// Marks by the number of the series, as polygons around the point \[pixels\]; as many as there are colours.
const MARKS: [&[(i32, i32)]; 12] = [
    // circle
    &[
        (0, -4),
        (3, -3),
        (4, 0),
        (3, 3),
        (0, 4),
        (-3, 3),
        (-4, 0),
        (-3, -3),
    ],
    // square
    &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
    // triangle
    &[(0, -5), (5, 4), (-5, 4)],
    // diamond
    &[(0, -6), (5, 0), (0, 6), (-5, 0)],
    // triangle on its tip
    &[(0, 5), (5, -4), (-5, -4)],
    // cross
    &[
        (-2, -5),
        (2, -5),
        (2, -2),
        (5, -2),
        (5, 2),
        (2, 2),
        (2, 5),
        (-2, 5),
        (-2, 2),
        (-5, 2),
        (-5, -2),
        (-2, -2),
    ],
    // hourglass
    &[(-5, -5), (5, -5), (1, 0), (5, 5), (-5, 5), (-1, 0)],
    // triangle to the left
    &[(-5, 0), (4, -5), (4, 5)],
    // star of four rays
    &[
        (0, -7),
        (2, -2),
        (7, 0),
        (2, 2),
        (0, 7),
        (-2, 2),
        (-7, 0),
        (-2, -2),
    ],
    // triangle to the right
    &[(5, 0), (-4, -5), (-4, 5)],
    // bow tie
    &[(-5, -5), (0, -1), (5, -5), (5, 5), (0, 1), (-5, 5)],
    // oblique cross
    &[
        (-5, -3),
        (-3, -5),
        (0, -2),
        (3, -5),
        (5, -3),
        (2, 0),
        (5, 3),
        (3, 5),
        (0, 2),
        (-3, 5),
        (-5, 3),
        (-2, 0),
    ],
];

/// The mark of a point: its shape goes with the number of the series. Open marks show the paper inside.
///
/// # Errors
/// When drawing fails.
pub fn mark(
    area: &Area<'_>,
    number: usize,
    role: &Role,
    (x, y): (i32, i32),
    is_open: bool,
) -> Result<(), ChartError> {
    let shape = MARKS[number % MARKS.len()];
    let scaled = |size: i32| -> Vec<(i32, i32)> {
        let points = shape.iter();
        points
            .map(|(dx, dy)| (x + dx * size / 4, y + dy * size / 4))
            .collect()
    };
    let polygon = |points, color: RGBColor| {
        area.draw(&Polygon::new(points, color.filled()))
            .map_err(ChartError::new)
    };
    if is_open {
        polygon(scaled(5), role.color)?;
        polygon(scaled(3), super::theme::PAPER.color)
    } else {
        polygon(scaled(4), role.color)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_lose_their_middle() {
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("abcdefgh", 5), "ab\u{2026}gh");
    }

    #[test]
    fn every_series_has_a_mark_of_its_own() {
        let shapes: std::collections::BTreeSet<_> = MARKS.iter().collect();
        assert_eq!(shapes.len(), super::super::theme::SERIES.len());
    }

    #[test]
    fn lines_break_between_words() {
        let lines = wrap("one two three four", width_of("one two  "));
        assert_eq!(lines, ["one two", "three", "four"]);
        assert!(wrap("", 10).is_empty());
    }
}
