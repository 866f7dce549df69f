//! Congestion trees over time: roots and victims, and the largest tree.

use super::{Figure, FigureError};
use crate::chart::axis::Axis;
use crate::chart::canvas::Canvas;
use crate::chart::lines::Mark;
use crate::chart::theme::SIZE;
use crate::chart::{LineChart, Series};
use crate::results::Run;
use crate::results::tables::CongestionRow;

/// What a look found.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    cycle: u64,
    roots: u64,
    victims: u64,
    outside: u64,
    size: u64,
    depth: u64,
}

/// Draws roots and victims above, the largest tree below, of a run with several looks.
pub(super) fn draw(run: &Run) -> Result<Option<Figure>, FigureError> {
    let looks = looks(&run.congestion()?);
    if looks.len() < 2 {
        return Ok(None);
    }
    let charts = [
        chart(
            "Congested output lanes",
            "output lanes [number]",
            &looks,
            &[
                ("roots", |look| look.roots),
                ("victims", |look| look.victims),
                ("victims in no tree", |look| look.outside),
            ],
        ),
        chart(
            "The largest congestion tree",
            "output lanes, levels [number]",
            &looks,
            &[
                ("output lanes", |look| look.size),
                ("levels of the deepest", |look| look.depth),
            ],
        ),
    ];
    let (width, height) = SIZE;
    let svg = Canvas::draw((width, height * 3 / 2), |area| {
        let parts = area.split_evenly((2, 1));
        let pairs = parts.iter().zip(&charts);
        let told: Result<Vec<_>, _> = pairs.map(|(part, chart)| chart.draw(part)).collect();
        Ok(told?.concat())
    })?;
    Ok(Some(Figure {
        name: "congestion",
        caption: format!(
            "What {} looks within the measurement found. An output lane is congested when half a lane's buffer waits for \
             it, or as much as the marking of the switches says; a victim lacks credits of the switch behind it, a root does \
             not. A tree is a root with all victims that it holds back. Victims in no tree wait for each other or for \
             what is not congested itself.",
            looks.len()
        ),
        svg,
    }))
}

/// The rows of a look as one.
fn looks(rows: &[CongestionRow]) -> Vec<Found> {
    let mut looks: Vec<Found> = Vec::new();
    for row in rows {
        let (size, depth) = (row.size.unwrap_or(0), row.depth.unwrap_or(0));
        match looks.last_mut().filter(|look| look.cycle == row.cycle) {
            Some(look) => {
                look.size = look.size.max(size);
                look.depth = look.depth.max(depth);
            }
            None => looks.push(Found {
                cycle: row.cycle,
                roots: row.roots,
                victims: row.victims,
                outside: row.outside,
                size,
                depth,
            }),
        }
    }
    looks
}

type Column = (&'static str, fn(&Found) -> u64);

fn chart(title: &str, label: &str, looks: &[Found], columns: &[Column]) -> LineChart {
    let all = columns.iter().enumerate().map(|(number, (name, value))| {
        let points = looks
            .iter()
            .map(|look| Mark::new(look.cycle as f64, value(look) as f64));
        Series::new(*name, number, points.collect()).plain()
    });
    let series: Vec<Series> = all.collect();
    let points = || series.iter().flat_map(|series| &series.points);
    LineChart {
        title: title.into(),
        remark: String::new(),
        x: Axis::from_zero("time [cycles]", points().map(|point| point.x)),
        y: Axis::from_zero(label, points().map(|point| point.y)),
        guides: Vec::new(),
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_has_the_largest_of_its_trees() {
        let row = |cycle, size, depth| CongestionRow {
            cycle,
            roots: 2,
            victims: 3,
            outside: 1,
            size,
            depth,
        };
        let rows = [
            row(100, Some(3), Some(2)),
            row(100, Some(2), Some(1)),
            row(200, None, None),
        ];
        let found = looks(&rows);
        let sizes: Vec<_> = found.iter().map(|look| (look.size, look.depth)).collect();
        assert_eq!(sizes, [(3, 2), (0, 0)]);
    }
}
