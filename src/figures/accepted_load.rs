//! Accepted load against offered load.

use super::latency_curves::{horizontal, interval_caption, upper_ends};
use super::multiples::{drawn, series};
use super::{Figure, FigureError};
use crate::chart::LineChart;
use crate::chart::axis::Axis;
use crate::chart::lines::Guide;
use crate::results::{Across, Curves};

/// Draws it.
pub(super) fn draw(curves: &Curves<'_>) -> Result<Option<Figure>, FigureError> {
    if !curves.is_drawable() {
        return Ok(None);
    }
    let series = series(curves, |summary| Some(summary.load.accepted));
    let points = || series.iter().flat_map(|series| &series.points);
    let x = horizontal(curves, points().map(|point| point.x));
    let y = Axis::from_zero("accepted load [fraction of link rate]", upper_ends(&series));
    let is_load = curves.across == Across::Offered;
    let end = f64::min(x.range.end, y.range.end);
    let ideal = Guide {
        ends: [(0.0, 0.0), (end, end)],
        name: "accepted = offered",
    };
    let chart = LineChart {
        title: "Accepted load".into(),
        remark: String::new(),
        guides: is_load.then_some(ideal).into_iter().collect(),
        x,
        y,
        series,
    };
    let guide = if is_load {
        " The thin line is accepted = offered; a curve that leaves it has reached what the fabric carries."
    } else {
        ""
    };
    let open = if curves.has_judgements() {
        "loads that are not certainly sustained"
    } else {
        "points that are not steady"
    };
    let caption = format!(
        "Delivered load, mean over the sending hosts, as a fraction of the rate of their links.{guide}{} Open marks are \
         {open}.",
        interval_caption(curves, &chart)
    );
    Ok(Some(Figure {
        name: "accepted-load",
        caption,
        svg: drawn(curves, chart)?,
    }))
}
