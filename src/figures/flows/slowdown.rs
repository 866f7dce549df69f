//! How much slower than alone flows were, by their size.

use crate::chart::axis::Axis;
use crate::chart::lines::{Guide, Mark};
use crate::chart::{LineChart, Series};
use crate::figures::{Figure, FigureError};
use crate::metrics::paths::{at, look_up};
use crate::results::Run;
use serde_json::Value;

/// Fewer flows than this have no percentile of their own below the slowest.
const ENOUGH: f64 = 100.0;

/// Curves: what of the slowdowns of a size class, and how it is called.
const CURVES: [(&str, &str); 2] = [
    ("slowdown.p50", "median"),
    ("slowdown.p99", "99th percentile"),
];

/// Draws the median and the tail, of runs with complete flows of several size classes.
pub(in crate::figures) fn draw(run: &Run) -> Result<Option<Figure>, FigureError> {
    let values = &run.summary.values;
    let classes: Vec<&Value> = match at(values, "flows.sizes").and_then(Value::as_object) {
        Some(classes) => classes.values().collect(),
        None => return Ok(None),
    };
    let series: Vec<Series> = CURVES
        .iter()
        .enumerate()
        .map(|(number, &(path, name))| Series::new(name, number, points(&classes, path)))
        .collect();
    // one size class is a row of the table; without tables of routes no time in the empty fabric is known
    if series[0].points.len() < 2 {
        return Ok(None);
    }
    let points = || series.iter().flat_map(|series| &series.points);
    let x = Axis::logarithmic("size [flits]", points().map(|point| point.x));
    let slowdowns = points().map(|point| point.y).chain([1.0]);
    let ends = [(x.range.start, 1.0), (x.range.end, 1.0)];
    let chart = LineChart {
        title: "Slowdown of flows by size".into(),
        remark: String::new(),
        y: Axis::logarithmic("slowdown [1 = alone in the empty fabric]", slowdowns),
        x,
        series,
        guides: vec![Guide { ends, name: "" }],
    };
    Ok(Some(Figure {
        name: "flow-slowdown",
        caption: "Completion time over that of the same flow alone in the empty fabric, of the complete flows of each size \
                  class: sizes from a power of two to below the next, drawn at their mean size. An open mark has fewer \
                  than 100 flows: there the 99th percentile is the slowest."
            .into(),
        svg: chart.svg()?,
    }))
}

/// A point for every size class that has the value.
fn points(classes: &[&Value], path: &str) -> Vec<Mark> {
    let point = |class: &&Value| {
        let (size, value) = (look_up(class, "size")?, look_up(class, path)?);
        let complete = look_up(class, "complete")?;
        Some(Mark {
            is_open: complete < ENOUGH,
            ..Mark::new(size, value)
        })
    };
    classes.iter().filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn classes_without_complete_flows_have_no_point() {
        let few = json!({ "size": 1.5, "complete": 99, "slowdown": { "p50": 2.0, "p99": 3.0 } });
        let none = json!({ "size": 16.0, "complete": 0 });
        let many = json!({ "size": 40.0, "complete": 100, "slowdown": { "p50": 2.5, "p99": 9.0 } });
        let points = points(&[&few, &none, &many], "slowdown.p99");
        let points: Vec<_> = points
            .iter()
            .map(|point| (point.x, point.y, point.is_open))
            .collect();
        assert_eq!(points, [(1.5, 3.0, true), (40.0, 9.0, false)]);
    }
}
