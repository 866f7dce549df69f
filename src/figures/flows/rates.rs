//! What each flow received, the most first.

use super::{MOST_CLASSES, OfClass, by_class, left_out, steps};
use crate::chart::axis::Axis;
use crate::chart::lines::Mark;
use crate::chart::{LineChart, Series};
use crate::figures::{Figure, FigureError};
use crate::results::Run;

/// Draws a curve for every traffic class, of runs in which several flows received something.
pub(in crate::figures) fn draw(run: &Run) -> Result<Option<Figure>, FigureError> {
    let flows = run.flows()?;
    if flows.iter().filter(|flow| flow.rate > 0.0).count() < 2 {
        return Ok(None);
    }
    let classes = by_class(&flows, |_| true, |flow| Some(flow.rate));
    let drawn = classes.iter().take(MOST_CLASSES).enumerate();
    let series: Vec<Series> = drawn
        .map(|(number, class)| {
            let count = class.count;
            let name = match (classes.len(), count) {
                (1, _) => format!("{count} flows"),
                (_, 1) => format!("{}, 1 flow", class.name),
                _ => format!("{}, {count} flows", class.name),
            };
            Series::new(name, number, curve(class)).plain()
        })
        .collect();
    let points = || series.iter().flat_map(|series| &series.points);
    let chart = LineChart {
        title: "Throughput of flows, the most first".into(),
        remark: left_out(classes.len()),
        x: Axis {
            range: 0.0..100.0,
            ..Axis::from_zero("flows [%]", [])
        },
        y: Axis::from_zero(
            "received [fraction of link rate]",
            points().map(|point| point.y),
        ),
        series,
        guides: Vec::new(),
    };
    Ok(Some(Figure {
        name: "flow-rates",
        caption: "What each flow received in the measurement, over its whole length, as a fraction of the link rate of its \
                  source: a flow that starts late or ends early has less than while it was active. A flat curve is fair \
                  sharing among flows that ask for the same."
            .into(),
        svg: chart.svg()?,
    }))
}

/// A step per flow, down.
fn curve(class: &OfClass<'_>) -> Vec<Mark> {
    let count = class.values.len();
    let percent = |place: usize| 100.0 * place as f64 / count as f64;
    let mut points = Vec::new();
    let mut start = 0;
    for place in steps(count) {
        let rate = class.values[count - 1 - place];
        points.extend([start, place + 1].map(|end| Mark::new(percent(end), rate)));
        start = place + 1;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_falls_in_a_step_per_flow() {
        let class = OfClass {
            name: "a",
            count: 2,
            values: vec![0.25, 0.75],
        };
        let points = curve(&class);
        let points: Vec<_> = points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(
            points,
            [(0.0, 0.75), (50.0, 0.75), (50.0, 0.25), (100.0, 0.25)]
        );
    }
}
