//! Latency against load: mean and 99th percentile of packet latency.

use super::{Figure, FigureError};
use crate::chart::axis::Axis;
use crate::chart::lines::Mark;
use crate::chart::{LineChart, Series};
use crate::report::summary::Summary;
use crate::results::{Across, Curve, Curves};

/// Most curves of a figure: as many as there are dashes and colours.
const MOST_CURVES: usize = 6;
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
    let ends = points().map(|point| point.y + point.half_width.unwrap_or(0.0).min(most * 0.3));
    let label = "packet latency [cycles]";
    let chart = LineChart {
        title: title.to_owned(),
        remark: remark(curves),
        x: horizontal(curves, points().map(|point| point.x)),
        y: if most > least * WIDE {
            Axis::logarithmic(label, values.chain(ends))
        } else {
            Axis::from_zero(label, ends)
        },
        series,
        guides: Vec::new(),
    };
    let open = if curves.has_judgements() {
        "loads that are not certainly sustained: beyond saturation"
    } else {
        "saturated points: there"
    };
    let caption = format!(
        "{title}, from creation to delivery of a packet.{} Open marks are {open} the source queues \
         grow, so the latency depends on the length of the run and is no property of the fabric.",
        interval_caption(curves)
    );
    Ok(Some(Figure {
        name,
        caption,
        svg: chart.svg()?,
    }))
}

/// One series per curve, at most [`MOST_CURVES`].
pub(super) fn series(curves: &Curves<'_>, number: fn(&Summary) -> Option<f64>) -> Vec<Series> {
    let shown = curves.curves.iter().take(MOST_CURVES);
    let all = shown.enumerate().map(|(place, curve)| {
        let points = marks(curve, number);
        Series::new(curve.label.clone(), place, points)
    });
    all.collect()
}

fn marks(curve: &Curve<'_>, number: fn(&Summary) -> Option<f64>) -> Vec<Mark> {
    let points = curve.points.iter().filter_map(|point| {
        let interval = point.mean(number)?;
        Some(Mark {
            x: point.x,
            y: interval.mean,
            half_width: interval.half_width,
            is_open: !point.keeps_up(),
        })
    });
    points.collect()
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

/// What is left out.
pub(super) fn remark(curves: &Curves<'_>) -> String {
    match curves.curves.len() {
        all if all > MOST_CURVES => {
            format!("The first {MOST_CURVES} of {all} curves; the table has all.")
        }
        _ => String::new(),
    }
}

/// What bands are.
pub(super) fn interval_caption(curves: &Curves<'_>) -> &'static str {
    if curves.has_replications() {
        " Bands and bars are 95 % confidence intervals over the seeds (Student's t)."
    } else {
        " There is one seed per point, so nothing tells how precise the points are."
    }
}
