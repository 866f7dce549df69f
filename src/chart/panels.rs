//! Small multiples: charts of one kind side by side, for more curves than one chart tells apart.

use super::canvas::{Canvas, heading};
use super::lines::LineChart;
use super::{ChartError, Svg};

/// Panels in a row.
const COLUMNS: u32 = 2;
/// Size of a panel \[pixels\].
const PANEL: (u32, u32) = (600, 360);

/// Draws the charts below a common title, row by row.
///
/// # Errors
/// When drawing fails.
pub fn panels(title: &str, remark: &str, charts: &[LineChart]) -> Result<Svg, ChartError> {
    let rows = (charts.len() as u32).div_ceil(COLUMNS);
    let (width, height) = (COLUMNS * PANEL.0, rows * PANEL.1);
    // a title with two lines of remarks
    let head = 64;
    Canvas::draw((width, head + height), |area| {
        heading(area, title, remark)?;
        let mut told = Vec::new();
        for (number, chart) in (0..).zip(charts) {
            let corner = (
                number % COLUMNS * PANEL.0,
                head + number / COLUMNS * PANEL.1,
            );
            let part = area
                .clone()
                .shrink((corner.0 as i32, corner.1 as i32), PANEL);
            told.extend(chart.draw(&part)?);
        }
        Ok(told)
    })
}

#[cfg(test)]
mod tests {
    use super::super::axis::Axis;
    use super::super::lines::{Mark, Series};
    use super::*;

    #[test]
    fn every_chart_is_drawn_in_a_place_of_its_own() {
        let chart = |name: &str| LineChart {
            title: name.to_owned(),
            remark: String::new(),
            x: Axis::from_zero("load", [1.0]),
            y: Axis::from_zero("latency", [1.0]),
            series: vec![Series::new(
                format!("curve of {name}"),
                0,
                vec![Mark::new(0.5, 0.5)],
            )],
            guides: Vec::new(),
        };
        let names = ["one", "two", "three"];
        let text = panels("all", "a remark", &names.map(chart))
            .unwrap()
            .standalone();
        assert!(text.contains("width=\"1200\" height=\"784\""), "{text}");
        for name in names {
            assert!(text.contains(&format!("curve of {name}")), "{text}");
        }
        // what is told lies where it is drawn
        let places: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("<title>curve of"))
            .filter_map(|line| line.split("x=\"").nth(1)?.split('"').next())
            .collect();
        assert_eq!(places.len(), 3);
        assert!(
            places[0] == places[2] && places[0] != places[1],
            "{places:?}"
        );
    }
}
