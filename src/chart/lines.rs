//! Curves over two axes, with confidence bands, marks and a legend.

use super::axis::{Axis, Marked, number};
use super::canvas::{
    Area, Canvas, Hover, LABEL, Spot, fill, heading, letters, line, mark, shorten, width_of, write,
};
use super::paths::{cut, thin};
use super::theme::{GRID, INK, MUTED, Role, SIZE, series};
use super::{ChartError, Svg};
use plotters::prelude::*;

/// Marks aimed at on the axes.
const ACROSS: usize = 7;
const UPWARDS: usize = 6;
/// Points of a curve without marks that tell their values, at most, and half of the width and height of such a place
/// \[pixels\].
const MOST_TOLD: usize = 60;
const TOLD: i32 = 6;
/// Longest name in a legend \[letters\].
const LONGEST_NAME: usize = 60;
/// How much of the colour of a curve its band has.
const BAND: f64 = 0.2;
/// Curves with bands, at most: those of more hide each other. All have bars.
const MOST_BANDS: usize = 3;
/// Bars of curves at one place stand so far from each other, where there are no bands, and have ends so wide \[pixels\].
const BESIDE: i32 = 3;
const END: i32 = 3;

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Horizontal value.
    pub x: f64,
    /// Vertical value.
    pub y: f64,
    /// Half of the width of the confidence interval of `y`.
    pub half_width: Option<f64>,
    /// Whether the mark is drawn open.
    pub is_open: bool,
}

impl Mark {
    /// A point without an interval.
    pub const fn new(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            half_width: None,
            is_open: false,
        }
    }
}

/// One curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend; an empty name has no entry.
    pub name: String,
    /// Points from left to right.
    pub points: Vec<Mark>,
    /// Which colour, dash and mark.
    pub number: usize,
    /// Whether points are marked.
    pub has_marks: bool,
    /// Width of the line \[pixels\].
    pub width: u32,
}

impl Series {
    /// A curve with marks.
    pub fn new(name: impl Into<String>, number: usize, points: Vec<Mark>) -> Self {
        Self {
            name: name.into(),
            points,
            number,
            has_marks: true,
            width: 2,
        }
    }

    /// The curve without marks.
    #[must_use]
    pub fn plain(self) -> Self {
        Self {
            has_marks: false,
            ..self
        }
    }

    fn role(&self) -> &'static Role {
        series(self.number)
    }
}

/// A chart of curves.
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    /// Title.
    pub title: String,
    /// What is left out or drawn in another way.
    pub remark: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Curves.
    pub series: Vec<Series>,
    /// Thin lines to compare with.
    pub guides: Vec<Guide>,
}

/// A thin line from one point to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Guide {
    /// Its ends.
    pub ends: [(f64, f64); 2],
    /// What is said of it, at its second end.
    pub name: &'static str,
}

impl LineChart {
    /// Whether intervals are drawn as bands, too.
    pub fn has_bands(&self) -> bool {
        let has_intervals = |curve: &&Series| curve.points.iter().any(|p| p.half_width.is_some());
        self.series.iter().filter(has_intervals).count() <= MOST_BANDS
    }

    /// The chart as a drawing of its own.
    ///
    /// # Errors
    /// When drawing fails.
    pub fn svg(&self) -> Result<Svg, ChartError> {
        Canvas::draw(SIZE, |area| self.draw(area))
    }

    /// Draws the chart on an area; returns what its points tell.
    ///
    /// # Errors
    /// When drawing fails.
    pub fn draw(&self, area: &Area<'_>) -> Result<Vec<Hover>, ChartError> {
        let top = heading(area, &self.title, &self.remark)?;
        let top = legend(area, &self.series, top)?;
        let (width, height) = area.dim_in_pixel();
        let plot = area.clone().shrink((0, top), (width, height - top as u32));
        let mut chart = ChartBuilder::on(&plot)
            .margin(6)
            .margin_right(18)
            .x_label_area_size(40)
            .y_label_area_size(72)
            .build_cartesian_2d(Marked::new(&self.x, ACROSS), Marked::new(&self.y, UPWARDS))
            .map_err(ChartError::new)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID.color)
            .axis_style(MUTED.color)
            .label_style(letters(LABEL, MUTED.color))
            .axis_desc_style(letters(LABEL, INK.color))
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .x_label_formatter(&|place| self.x.format(*place, ACROSS))
            .y_label_formatter(&|place| self.y.format(*place, UPWARDS))
            .draw()
            .map_err(ChartError::new)?;
        let plane = Plane {
            area: chart.plotting_area().strip_coord_spec(),
            chart: self,
        };
        let mut guides = (0..).zip(&self.guides);
        guides.try_for_each(|(row, guide)| plane.guide(guide, row))?;
        if self.has_bands() {
            self.series.iter().try_for_each(|curve| plane.band(curve))?;
        }
        self.series
            .iter()
            .try_for_each(|curve| plane.curve(curve))?;
        Ok(self
            .series
            .iter()
            .flat_map(|curve| plane.told(curve))
            .collect())
    }
}

/// Four significant digits.
fn digits(value: f64) -> String {
    let magnitude = if value == 0.0 {
        0
    } else {
        libm::log10(value.abs()).floor() as i32
    };
    number(value, (3 - magnitude).clamp(0, 9) as usize)
}

/// Where the curves are drawn.
struct Plane<'a, 'b> {
    area: Area<'b>,
    chart: &'a LineChart,
}

impl Plane<'_, '_> {
    /// Pixels of a point; values beyond the axes lie on their edge.
    fn at(&self, x: f64, y: f64) -> Option<(i32, i32)> {
        let (width, height) = self.area.dim_in_pixel();
        let share = |axis: &Axis, value: f64| {
            let places = axis.places();
            let place = axis.place(value)?.clamp(places.start, places.end);
            Some((place - places.start) / (places.end - places.start))
        };
        let x = share(&self.chart.x, x)? * f64::from(width);
        let y = (1.0 - share(&self.chart.y, y)?) * f64::from(height);
        Some((x.round() as i32, y.round() as i32))
    }

    /// Pixels of a point, which may lie above or below the plane; what has no place on the axis is at its start.
    fn beyond(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let (x, _) = self.at(x, y.max(self.chart.y.range.start))?;
        let places = self.chart.y.places();
        let place = self.chart.y.place(y).unwrap_or(places.start);
        let share = (place - places.start) / (places.end - places.start);
        Some((
            f64::from(x),
            (1.0 - share) * f64::from(self.area.dim_in_pixel().1),
        ))
    }

    /// Names stand in rows, for lines may be close to each other.
    fn guide(&self, guide: &Guide, row: i32) -> Result<(), ChartError> {
        let points = guide.ends.iter().filter_map(|&(x, y)| self.at(x, y));
        let points: Vec<_> = points.collect();
        if let Some(&(x, y)) = points.last() {
            // the name of a slanted line stays clear of it
            let gap = if guide.ends[0].0 < guide.ends[1].0 {
                26
            } else {
                4
            };
            let y = y + 8 + 13 * row;
            let spot = if x - gap < width_of(guide.name) {
                Spot::left(x + gap, y)
            } else {
                Spot::right(x - gap, y)
            };
            write(&self.area, guide.name, LABEL - 1.0, MUTED.color, spot)?;
        }
        line(&self.area, points, MUTED.color, 1)
    }

    /// What the points of a curve tell, in pixels of the whole drawing.
    fn told(&self, curve: &Series) -> Vec<Hover> {
        let corner = self.area.get_base_pixel();
        let stride = if curve.has_marks {
            1
        } else {
            curve.points.len().div_ceil(MOST_TOLD).max(1)
        };
        let points = curve.points.iter().step_by(stride);
        let told = points.filter_map(|point| {
            let (x, y) = self.at(point.x, point.y)?;
            let half = point.half_width;
            let half = half.map_or(String::new(), |half| format!(" \u{b1} {}", digits(half)));
            let name = match curve.name.as_str() {
                "" => String::new(),
                name => format!("{name}\n"),
            };
            let (across, upwards) = (&self.chart.x.label, &self.chart.y.label);
            Some(Hover {
                at: (corner.0 + x - TOLD, corner.1 + y - TOLD),
                size: (2 * TOLD, 2 * TOLD),
                text: format!(
                    "{name}{across}: {}\n{upwards}: {}{half}",
                    digits(point.x),
                    digits(point.y)
                ),
            })
        });
        told.collect()
    }

    fn band(&self, curve: &Series) -> Result<(), ChartError> {
        let side = |sign: f64| {
            let with = curve
                .points
                .iter()
                .filter_map(move |p| Some((p, p.half_width?)));
            with.filter_map(move |(p, half)| self.beyond(p.x, p.y + sign * half))
        };
        let mut outline: Vec<(f64, f64)> = side(1.0).collect();
        let mut below: Vec<(f64, f64)> = side(-1.0).collect();
        below.reverse();
        outline.extend(below);
        let outline: Vec<(i32, i32)> = cut(&outline, f64::from(self.area.dim_in_pixel().1))
            .into_iter()
            .map(|(x, y)| (x.round() as i32, y.round() as i32))
            .collect();
        if outline.len() < 4 {
            return Ok(());
        }
        let color = curve.role().color.mix(BAND).filled();
        self.area
            .draw(&Polygon::new(outline, color))
            .map_err(ChartError::new)
    }

    fn curve(&self, curve: &Series) -> Result<(), ChartError> {
        let points = curve.points.iter();
        let places: Vec<_> = points
            .filter_map(|point| Some((self.at(point.x, point.y)?, point)))
            .collect();
        let role = curve.role();
        let path = thin(places.iter().map(|(place, _)| *place));
        if path.len() > 1 {
            line(&self.area, path, role.color, curve.width)?;
        }
        let marked = places
            .iter()
            .filter(|_| curve.has_marks || places.len() == 1);
        for (place, point) in marked {
            self.bar(curve, *place, point)?;
            mark(&self.area, curve.number, role, *place, point.is_open)?;
        }
        Ok(())
    }

    /// The interval of a point. Ends that lie beyond the axes have no stroke.
    fn bar(&self, curve: &Series, (x, _): (i32, i32), point: &Mark) -> Result<(), ChartError> {
        let Some(half) = point.half_width else {
            return Ok(());
        };
        let range = &self.chart.y.range;
        let least = range.start;
        let ends = [point.y - half, point.y + half];
        let ys: Vec<i32> = ends
            .iter()
            .filter_map(|&y| Some(self.at(point.x, y.max(least))?.1))
            .collect();
        let [low, high] = ys[..] else {
            return Ok(());
        };
        let color = curve.role().color;
        let x = if self.chart.has_bands() {
            x
        } else {
            let curves = &self.chart.series;
            let place = curves.iter().position(|other| other.number == curve.number);
            x + BESIDE * (2 * place.unwrap_or(0) as i32 - (curves.len() as i32 - 1)) / 2
        };
        // rectangles, for lines are dashed
        fill(&self.area, (x, high), (x + 1, low), color)?;
        for (end, y) in [(ends[0], low), (ends[1], high)] {
            if range.contains(&end) {
                fill(&self.area, (x - END, y), (x + 1 + END, y + 1), color)?;
            }
        }
        Ok(())
    }
}

/// Draws the legend in rows below `top`; returns where it ends. One curve without a name has none.
fn legend(area: &Area<'_>, series: &[Series], top: i32) -> Result<i32, ChartError> {
    const SAMPLE: i32 = 30;
    const GAP: i32 = 18;
    let width = area.dim_in_pixel().0 as i32;
    let mut rows: Vec<(i32, Vec<(&Series, String)>)> = Vec::new();
    for curve in series.iter().filter(|curve| !curve.name.is_empty()) {
        let name = shorten(&curve.name, LONGEST_NAME);
        let wide = SAMPLE + 6 + width_of(&name) + GAP;
        match rows.last_mut() {
            Some((used, row)) if *used + wide < width - 20 => {
                *used += wide;
                row.push((curve, name));
            }
            _ => rows.push((wide, vec![(curve, name)])),
        }
    }
    let mut y = top + 8;
    for (used, row) in &rows {
        let mut x = i32::midpoint(width - used, GAP);
        for (curve, name) in row {
            let role = curve.role();
            line(area, vec![(x, y), (x + SAMPLE, y)], role.color, curve.width)?;
            if curve.has_marks {
                mark(area, curve.number, role, (x + SAMPLE / 2, y), false)?;
            }
            let spot = Spot::left(x + SAMPLE + 6, y);
            write(area, name, LABEL, INK.color, spot)?;
            x += SAMPLE + 6 + width_of(name) + GAP;
        }
        y += 17;
    }
    Ok(if rows.is_empty() { top } else { y - 4 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<Mark>) -> LineChart {
        LineChart {
            title: "a & b".into(),
            remark: String::new(),
            x: Axis::from_zero("load [fraction]", points.iter().map(|p| p.x)),
            y: Axis::logarithmic("latency [cycles]", points.iter().map(|p| p.y)),
            series: vec![Series::new("mean", 1, points)],
            guides: Vec::new(),
        }
    }

    #[test]
    fn charts_name_units_and_curves() {
        let mut points = vec![Mark::new(0.1, 20.0), Mark::new(0.5, 200.0)];
        points[1].half_width = Some(10.0);
        points[0].half_width = Some(1.0);
        let text = chart(points).svg().unwrap().standalone();
        for part in [
            "load [fraction]",
            "latency [cycles]",
            "mean",
            "a &amp; b",
            "polygon",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("NaN"), "{text}");
    }

    #[test]
    fn nothing_is_drawn_without_a_fault() {
        assert!(chart(Vec::new()).svg().is_ok());
        assert!(chart(vec![Mark::new(0.0, 0.0)]).svg().is_ok());
    }
}
