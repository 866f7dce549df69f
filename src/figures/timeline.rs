//! The run over time: loads, and packets that wait.

use super::{Figure, FigureError};
use crate::chart::axis::{Axis, number};
use crate::chart::canvas::Canvas;
use crate::chart::lines::{Guide, Mark};
use crate::chart::theme::SIZE;
use crate::chart::{LineChart, Series};
use crate::report::result::{CycleCounts, TimelineRow};
use crate::results::Run;

/// Height of the axis as a multiple of the largest value.
const ROOM: f64 = 1.25;

/// Draws loads above, packets below.
pub(super) fn draw(run: &Run) -> Result<Option<Figure>, FigureError> {
    let rows = run.timeline()?;
    if rows.len() < 2 {
        return Ok(None);
    }
    let cycles = run.summary.run.cycles;
    let charts = [
        chart(
            "Traffic over time",
            "rate [flits per cycle]",
            (&rows, cycles),
            [
                ("created", |row| per_cycle(row, row.created_flits)),
                ("delivered", |row| per_cycle(row, row.delivered_flits)),
            ],
        ),
        chart(
            "Packets that are not delivered yet",
            "packets [number]",
            (&rows, cycles),
            [
                ("in source queues", |row| row.queued_packets as f64),
                ("in the fabric", |row| row.in_flight_packets as f64),
            ],
        ),
    ];
    let (width, height) = SIZE;
    let count = |cycles: u64| number(cycles as f64, 0);
    let svg = Canvas::draw((width, height * 3 / 2), |area| {
        let parts = area.split_evenly((2, 1));
        let pairs = parts.iter().zip(&charts);
        let told: Result<Vec<_>, _> = pairs.map(|(part, chart)| chart.draw(part)).collect();
        Ok(told?.concat())
    })?;
    let caption = format!(
        "All hosts together, mean or last value of each interval of the run: {} cycles of warm-up, then {} measured, then \
         {} of drain. Thin lines are the ends of warm-up and measurement. Queues that grow to the end mean saturation.",
        count(cycles.warmup),
        count(cycles.measure),
        count(cycles.drain)
    );
    Ok(Some(Figure {
        name: "timeline",
        caption,
        svg,
    }))
}

fn per_cycle(row: &TimelineRow, flits: u64) -> f64 {
    flits as f64 / row.length.max(1) as f64
}

type Column = (&'static str, fn(&TimelineRow) -> f64);

fn chart(
    title: &str,
    label: &str,
    (rows, cycles): (&[TimelineRow], CycleCounts),
    columns: [Column; 2],
) -> LineChart {
    let all = columns.iter().enumerate().map(|(number, (name, value))| {
        let points = rows.iter().map(|row| {
            // an interval is drawn at its end
            Mark::new((row.start + row.length) as f64, value(row))
        });
        Series::new(*name, number, points.collect()).plain()
    });
    let series: Vec<Series> = all.collect();
    let points = || series.iter().flat_map(|series| &series.points);
    let mut y = Axis::from_zero(label, points().map(|point| point.y));
    // room for the names of the phases
    y.range.end *= ROOM;
    let end = cycles.warmup + cycles.measure;
    let phases = [(cycles.warmup, "warm-up"), (end, "measured")];
    // a phase of no cycles has no end to show
    let phases = phases.into_iter().filter(|(end, _)| *end > 0);
    let top = y.range.end;
    let guides = phases.map(|(end, name)| Guide {
        ends: [(end as f64, 0.0), (end as f64, top)],
        name,
    });
    LineChart {
        title: title.into(),
        remark: String::new(),
        x: Axis::from_zero("time [cycles]", points().map(|point| point.x)),
        y,
        guides: guides.collect(),
        series,
    }
}
