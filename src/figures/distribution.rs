//! How many packets are slower: the complement of the distribution of latencies, with its tail.

use super::{Figure, FigureError};
use crate::chart::axis::Axis;
use crate::chart::lines::Mark;
use crate::chart::{LineChart, Series};
use crate::results::Run;
use crate::results::latency_log::ClassLatency;
use hdrhistogram::Histogram;

/// Most classes of a figure; each has two curves.
const MOST_CLASSES: usize = 3;

/// Draws both clocks of every class.
pub(super) fn draw(run: &Run) -> Result<Option<Figure>, FigureError> {
    let mut classes = run.latencies()?;
    classes.retain(|class| !class.packet.is_empty());
    if classes.is_empty() {
        return Ok(None);
    }
    let has_one = classes.len() == 1;
    let all = classes.len();
    let series: Vec<Series> = classes
        .iter()
        .take(MOST_CLASSES)
        .flat_map(|class| pair(class, has_one))
        .enumerate()
        .map(|(number, (name, points))| Series::new(name, number, points).plain())
        .collect();
    let points = || series.iter().flat_map(|series| &series.points);
    if points().all(|point| point.y >= 1.0) {
        // all packets of a clock took as long: there is no curve
        return Ok(None);
    }
    let mut y = Axis::logarithmic("slower packets [fraction]", points().map(|point| point.y));
    y.range.end = 1.0;
    let chart = LineChart {
        title: "Distribution of latency".into(),
        remark: if all > MOST_CLASSES {
            format!("The first {MOST_CLASSES} of {all} classes; the table has all.")
        } else {
            String::new()
        },
        x: Axis::logarithmic("latency [cycles]", points().map(|point| point.x)),
        y,
        series,
        guides: Vec::new(),
    };
    let caption = "Fraction of the measured packets that took longer than so many cycles: where a curve crosses 0.01 is \
                   the 99th percentile. Network latency starts when a packet enters its first channel, packet latency \
                   when it is created, so the gap between the two is time in the source queue."
        .to_owned();
    Ok(Some(Figure {
        name: "latency-distribution",
        caption,
        svg: chart.svg()?,
    }))
}

/// Network and packet latency of a class.
fn pair(class: &ClassLatency, has_one: bool) -> [(String, Vec<Mark>); 2] {
    let name = |clock: &str| {
        if has_one {
            format!("{clock} latency")
        } else {
            format!("{}, {clock}", class.class)
        }
    };
    [
        (name("packet"), slower(&class.packet)),
        (name("network"), slower(&class.network)),
    ]
}

/// Value and fraction of the values above it, as steps, from 1 down to the last but one packet.
fn slower(histogram: &Histogram<u64>) -> Vec<Mark> {
    let all = histogram.len() as f64;
    let mut left = histogram.len();
    let mut points = Vec::new();
    for step in histogram.iter_recorded() {
        let value = step.value_iterated_to().max(1) as f64;
        points.push(Mark::new(value, left as f64 / all));
        left -= step.count_since_last_iteration();
        if left > 0 {
            points.push(Mark::new(value, left as f64 / all));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_packet_is_counted_once() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        histogram.record_n(10, 3).unwrap();
        histogram.record_n(40, 1).unwrap();
        let points = slower(&histogram);
        let pairs: Vec<(f64, f64)> = points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(pairs, [(10.0, 1.0), (10.0, 0.25), (40.0, 0.25)]);
    }
}
