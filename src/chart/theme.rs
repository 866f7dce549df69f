//! The colours of charts, by what they are for.

use plotters::style::RGBColor;

/// A colour with a purpose; pages give it another value in dark mode.
///
/// Its share of blue is odd. Colours that stand for values have an even one, so that no page changes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    /// Colour on paper, and the mark by which it is found in finished SVG text.
    pub color: RGBColor,
    /// Name of the custom property of a page's style sheet.
    pub property: &'static str,
    /// Colour on dark pages.
    pub dark: &'static str,
    /// Dash pattern of lines.
    pub dash: Option<&'static str>,
}

const fn role(color: (u8, u8, u8), property: &'static str, dark: &'static str) -> Role {
    Role {
        color: RGBColor(color.0, color.1, color.2),
        property,
        dark,
        dash: None,
    }
}

const fn dashed(role: Role, dash: &'static str) -> Role {
    Role {
        dash: Some(dash),
        ..role
    }
}

/// Background.
pub const PAPER: Role = role((255, 255, 255), "--paper", "#14171c");
/// Titles and labels.
pub const INK: Role = role((27, 31, 39), "--ink", "#e6e8eb");
/// Axes, units and remarks.
pub const MUTED: Role = role((91, 98, 113), "--muted", "#a3abb8");
/// Lines behind the curves, cells without a value.
pub const GRID: Role = role((221, 224, 229), "--grid", "#343a44");

/// Curves in order, after the palette of Okabe and Ito: told apart without colour vision, by dash too.
pub const SERIES: [Role; 6] = [
    role((0, 114, 179), "--series-1", "#56b4e9"),
    dashed(role((200, 80, 1), "--series-2", "#ff9a52"), "7 4"),
    dashed(role((0, 135, 101), "--series-3", "#35d0a5"), "2 3"),
    dashed(role((150, 70, 135), "--series-4", "#e79ad3"), "9 3 2 3"),
    dashed(role((140, 100, 1), "--series-5", "#f0cb52"), "14 4"),
    dashed(role((80, 80, 81), "--series-6", "#c9ced6"), "5 2 1 2"),
];

/// All roles.
pub fn roles() -> impl Iterator<Item = &'static Role> {
    [&PAPER, &INK, &MUTED, &GRID].into_iter().chain(&SERIES)
}

/// The role of the curve with this number; they repeat.
pub const fn series(number: usize) -> &'static Role {
    &SERIES[number % SERIES.len()]
}

/// `#RRGGBB`, as plotters writes it.
pub fn hexadecimal(color: RGBColor) -> String {
    format!("#{:02X}{:02X}{:02X}", color.0, color.1, color.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_role_is_found_by_its_color() {
        let colors: BTreeSet<String> = roles().map(|role| hexadecimal(role.color)).collect();
        assert_eq!(colors.len(), roles().count());
        let properties: BTreeSet<&str> = roles().map(|role| role.property).collect();
        assert_eq!(properties.len(), roles().count());
    }

    #[test]
    fn no_role_can_be_a_color_of_a_map() {
        assert!(roles().all(|role| !role.color.2.is_multiple_of(2)));
    }

    #[test]
    fn curves_differ_without_color() {
        let dashes: BTreeSet<_> = SERIES.iter().map(|role| role.dash).collect();
        assert_eq!(dashes.len(), SERIES.len());
    }
}
