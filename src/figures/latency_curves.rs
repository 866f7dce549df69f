//! Latency against load: mean and 99th percentile of packet latency.

use super::multiples::{drawn, is_split, series};
use super::{Figure, FigureError};
use crate::chart::LineChart;
use crate::chart::Series;
use crate::chart::axis::Axis;
use crate::chart::lines::Mark;
use crate::report::summary::Summary;
use crate::results::{Across, Curves};

/// What bands add to the axis at most, as a part of the highest mean.
const ROOM: f64 = 0.1;
/// Latencies further apart than this are drawn over a logarithmic axis.
const WIDE: f64 = 12.0;

/// Draws mean packet latency.
pub(super) fn draw_mean(curves: &Curves<'_>) -> Result<Option<Figure>, FigureError> {
    draw(curves, "latency-load", "Mean packet latency", |summary| {
        summary.latency.packet.mean
    })
}

/// Draws the 99th percentile of packet latency.
pub(super) fn draw_tail(curves: &Curves<'_>) -> Result<Option<Figure>, FigureError> {
    let tail = |summary: &Summary| summary.latency.packet.p99.map(|p99| p99 as f64);
    draw(
        curves,
        "latency-load-p99",
        "99th percentile of packet latency",
        tail,
    )
}

fn draw(
    curves: &Curves<'_>,
    name: &'static str,
    title: &str,
    number: fn(&Summary) -> Option<f64>,
) -> Result<Option<Figure>, FigureError> {
    if !curves.is_drawable() {
        return Ok(None);
    }
    let series = series(curves, number);
    let points = || series.iter().flat_map(|series| &series.points);
    let values = points().map(|point| point.y);
    let least = values.clone().fold(f64::MAX, f64::min);
    let most = values.clone().fold(0.0, f64::max);
    let label = "packet latency [cycles]";
    let chart = LineChart {
        title: title.to_owned(),
        remark: String::new(),
        x: horizontal(curves, points().map(|point| point.x)),
        y: if most > least * WIDE {
            Axis::logarithmic(label, values.chain(upper_ends(&series)))
        } else {
            Axis::from_zero(label, upper_ends(&series))
        },
        series,
        guides: Vec::new(),
    };
    let open = if curves.has_judgements() {
        "loads that are not certainly sustained"
    } else {
        "points that are not steady"
    };
    let caption = format!(
        "{title}, from creation to delivery of a packet.{} Open marks are {open}; beyond saturation the source queues \
         grow, so the latency depends on the length of the run and is no property of the fabric.",
        interval_caption(curves, &chart)
    );
    Ok(Some(Figure {
        name,
        caption,
        svg: drawn(curves, chart)?,
    }))
}

/// The axis of what curves go over.
pub(super) fn horizontal(curves: &Curves<'_>, values: impl Iterator<Item = f64>) -> Axis {
    match &curves.across {
        Across::Offered => Axis::from_zero("offered load [fraction of link rate]", values),
        Across::Setting { path, unit } => {
            let unit = if unit.is_empty() { "number" } else { unit };
            Axis::from_zero(format!("{path} [{unit}]"), values)
        }
    }
}

/// Upper ends of bands, for an axis: no higher above the highest mean than a little, so that few seeds do not press
/// the curves to the ground.
pub(super) fn upper_ends(series: &[Series]) -> impl Iterator<Item = f64> {
    let points = || series.iter().flat_map(|series| &series.points);
    let most = points().map(|point| point.y).fold(0.0, f64::max) * (1.0 + ROOM);
    points().map(move |point| (point.y + point.half_width.unwrap_or(0.0)).min(most.max(point.y)))
}

/// What bands are, and whether any is cut.
pub(super) fn interval_caption(curves: &Curves<'_>, chart: &LineChart) -> String {
    if !curves.has_replications() {
        return " There is one seed per point, so nothing tells how precise the points are.".into();
    }
    let mut points = chart.series.iter().flat_map(|series| &series.points);
    let beyond = |point: &Mark| {
        let half_width = point.half_width.unwrap_or(0.0);
        point.y + half_width > chart.y.range.end || point.y - half_width < chart.y.range.start
    };
    let cut = if points.any(beyond) {
        let points = curves.curves.iter().flat_map(|curve| &curve.points);
        let fewest = points.map(|point| point.runs.len()).min().unwrap_or(0);
        format!(
            " Where they are wider than the frame they are cut: intervals of few seeds (here {fewest} at the least) are wide."
        )
    } else {
        String::new()
    };
    let drawn = if chart.has_bands() {
        "Bands and bars"
    } else if is_split(curves) {
        // parts of few curves have both
        "Bars, and bands where there are some,"
    } else {
        "Bars"
    };
    format!(" {drawn} are 95 % confidence intervals over the seeds (Student's t).{cut}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_of_few_seeds_do_not_press_the_curves_to_the_ground() {
        let mark = |x, y, half_width| Mark {
            half_width: Some(half_width),
            ..Mark::new(x, y)
        };
        let end = |points: Vec<Mark>| {
            let series = [Series::new("two seeds", 0, points)];
            Axis::from_zero("latency", upper_ends(&series)).range.end
        };
        // 1420 +- 6556 of two seeds
        let wide = end(vec![mark(0.1, 40.0, 3.0), mark(0.5, 1420.0, 6556.0)]);
        assert!((1420.0..1700.0).contains(&wide), "{wide}");
        // what is narrow is shown whole
        let narrow = end(vec![mark(0.1, 40.0, 3.0), mark(0.5, 1000.0, 50.0)]);
        assert!((1050.0..1150.0).contains(&narrow), "{narrow}");
    }
}
