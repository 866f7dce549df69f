//! The colours of charts, by what they are for.

use plotters::style::RGBColor;

/// Size of a chart on its own \[pixels\].
pub const SIZE: (u32, u32) = (640, 400);

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

/// Curves in order: blue, vermilion, green and purple after Okabe and Ito, then what stays farthest from all before it, also
/// for readers without red or green cones. Every one has a dash and a mark of its own, too.
pub const SERIES: [Role; 12] = [
    role((0, 114, 179), "--series-1", "#56b4e9"),
    dashed(role((200, 80, 1), "--series-2", "#ff9a52"), "7 4"),
    dashed(role((0, 135, 101), "--series-3", "#35d0a5"), "2 3"),
    dashed(role((150, 70, 135), "--series-4", "#ae61f3"), "9 3 2 3"),
    dashed(role((128, 62, 19), "--series-5", "#e9f261"), "14 4"),
    dashed(role((80, 80, 81), "--series-6", "#f2f2f3"), "5 2 1 2"),
    dashed(role((66, 166, 67), "--series-7", "#2ca619"), "12 3 2 3 2 3"),
    dashed(role((61, 51, 129), "--series-8", "#22d4e1"), "4 6"),
    dashed(role((194, 97, 243), "--series-9", "#c777ad"), "18 3 5 3"),
    dashed(role((91, 36, 243), "--series-10", "#f22477"), "1 5"),
    dashed(role((33, 51, 21), "--series-11", "#24f293"), "8 2 8 7"),
    dashed(role((45, 20, 51), "--series-12", "#f26161"), "3 2 3 2 10 2"),
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

    /// Light that eyes of all cones, without red and without green cones get of a colour (Machado and others, 2009).
    const EYES: [[[f64; 3]; 3]; 3] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ];

    /// Place of a colour in CIE L*a*b*, as an eye sees it, and its luminance.
    fn seen(color: [u8; 3], eye: [[f64; 3]; 3]) -> ([f64; 3], f64) {
        let light = color.map(|part| match f64::from(part) / 255.0 {
            dark if dark <= 0.040_45 => dark / 12.92,
            part => libm::pow((part + 0.055) / 1.055, 2.4),
        });
        let sum = |row: [f64; 3], of: [f64; 3]| (0..3).map(|at| row[at] * of[at]).sum::<f64>();
        let light = eye.map(|row| sum(row, light).clamp(0.0, 1.0));
        let y = sum([0.2126, 0.7152, 0.0722], light);
        let bent = |value: f64| match value {
            small if small <= 0.008_856 => 7.787 * small + 16.0 / 116.0,
            value => libm::cbrt(value),
        };
        let x = bent(sum([0.4124, 0.3576, 0.1805], light) / 0.9505);
        let z = bent(sum([0.0193, 0.1192, 0.9505], light) / 1.089);
        let middle = bent(y);
        (
            [
                116.0 * middle - 16.0,
                500.0 * (x - middle),
                200.0 * (middle - z),
            ],
            y,
        )
    }

    fn parts(hexadecimal: &str) -> [u8; 3] {
        [1, 3, 5].map(|at| u8::from_str_radix(&hexadecimal[at..at + 2], 16).unwrap())
    }

    #[test]
    fn curves_differ_for_every_eye_on_light_and_on_dark_pages() {
        let light = SERIES.map(|role| hexadecimal(role.color));
        let dark = SERIES.map(|role| role.dark.to_owned());
        for (colors, paper) in [
            (light, hexadecimal(PAPER.color)),
            (dark, PAPER.dark.to_owned()),
        ] {
            let paper = seen(parts(&paper), EYES[0]).1;
            for (number, color) in colors.iter().enumerate() {
                let luminance = seen(parts(color), EYES[0]).1;
                let contrast = (luminance.max(paper) + 0.05) / (luminance.min(paper) + 0.05);
                assert!(contrast >= 3.0, "{color}: {contrast}");
                for other in &colors[..number] {
                    for eye in EYES {
                        let [one, two] = [color, other].map(|color| seen(parts(color), eye).0);
                        let distance = (0..3).map(|at| (one[at] - two[at]).powi(2)).sum::<f64>();
                        assert!(distance.sqrt() >= 14.0, "{color} and {other}: {distance}");
                    }
                }
            }
        }
    }
}
