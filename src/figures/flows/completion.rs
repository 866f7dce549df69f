//! How many flows were complete after so long: the distribution of completion times.

use super::{MOST_CLASSES, OfClass, by_class, left_out, steps};
use crate::chart::axis::Axis;
use crate::chart::lines::Mark;
use crate::chart::{LineChart, Series};
use crate::figures::{Figure, FigureError};
use crate::results::Run;

/// Largest over least time from which on the axis is logarithmic.
const SEVERAL: f64 = 5.0;

/// Draws a curve for every traffic class, of runs in which several flows were complete.
pub(in crate::figures) fn draw(run: &Run) -> Result<Option<Figure>, FigureError> {
    let flows = run.flows()?;
    let classes = by_class(
        &flows,
        |flow| flow.flits.is_some(),
        |flow| flow.completion.map(|cycles| cycles.max(1) as f64),
    );
    if classes
        .iter()
        .map(|class| class.values.len())
        .sum::<usize>()
        < 2
    {
        return Ok(None);
    }
    let has_one = classes.len() == 1;
    let drawn = classes.iter().take(MOST_CLASSES).enumerate();
    let series: Vec<Series> = drawn
        .map(|(number, class)| {
            let name = if has_one { "" } else { class.name };
            Series::new(name, number, curve(class)).plain()
        })
        .collect();
    let points = || series.iter().flat_map(|series| &series.points);
    let chart = LineChart {
        title: "Completion of flows".into(),
        remark: left_out(classes.len()),
        x: axis(points().map(|point| point.x)),
        y: Axis {
            range: 0.0..1.0,
            ..Axis::from_zero("complete flows [fraction]", [])
        },
        series,
        guides: Vec::new(),
    };
    let left: usize = classes
        .iter()
        .map(|class| class.count - class.values.len())
        .sum();
    Ok(Some(Figure {
        name: "flow-completion",
        caption: caption(left),
        svg: chart.svg()?,
    }))
}

/// Logarithmic where times are of several orders.
fn axis(cycles: impl Iterator<Item = f64> + Clone) -> Axis {
    const LABEL: &str = "completion time [cycles]";
    let least = cycles.clone().fold(f64::MAX, f64::min);
    let most = cycles.clone().fold(0.0, f64::max);
    if most < SEVERAL * least {
        Axis::from_zero(LABEL, cycles)
    } else {
        Axis::logarithmic(LABEL, cycles)
    }
}

fn caption(left: usize) -> String {
    let all = "Fraction of the flows with a size whose last packet was delivered within so many cycles of their start.";
    match left {
        0 => all.into(),
        left => format!(
            "{all} {left} of them were not complete at the end of the run: the curve does not reach 1."
        ),
    }
}

/// Steps up to the fraction of all flows of the class that are complete.
fn curve(class: &OfClass<'_>) -> Vec<Mark> {
    let mut points = Vec::new();
    let mut below = 0.0;
    for rank in steps(class.values.len()) {
        let cycles = class.values[rank];
        let share = (rank + 1) as f64 / class.count as f64;
        points.extend([Mark::new(cycles, below), Mark::new(cycles, share)]);
        below = share;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_that_are_not_complete_are_missing_above() {
        let class = OfClass {
            name: "a",
            count: 4,
            values: vec![10.0, 10.0, 40.0],
        };
        let points = curve(&class);
        let points: Vec<_> = points.iter().map(|point| (point.x, point.y)).collect();
        let expected = [
            (10.0, 0.0),
            (10.0, 0.25),
            (10.0, 0.25),
            (10.0, 0.5),
            (40.0, 0.5),
            (40.0, 0.75),
        ];
        assert_eq!(points, expected);
        assert!(caption(1).contains("1 of them were not complete"));
    }
}
